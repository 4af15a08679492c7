import Basics
import CommandLine
import Expressions
import Journal
import System
import lockstep

extension Command {
  /// Evaluates expressions without variables, for tests against other implementations of the language.
  static var expressions: Command {
    Command(
      "expressions", "Evaluates expressions, for 'Tests/Peers/cel'.",
      operands: .init(
        placeholder: "FILE", summary: "A file with an expression a line, each as a JSON text.", count: 1...1,
        as: .file, path: \.self), defaults: [String]()
    ) { files, console throws(UsageError) in
      guard let bytes = try? WholeFile.bytes(of: files[0]) else {
        throw UsageError("cannot read \(files[0])")
      }
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        guard let text = (try? JSON(parsing: String(decoding: line, as: UTF8.self)))?.string else {
          throw UsageError("a line is not a JSON text")
        }
        console.print(result(of: text).line)
      }
      return .agree
    }
  }

  private static func result(of text: String) -> JSON {
    var strings = Strings()
    do throws(ExpressionFault) {
      let program = try Program(text, in: Scope(), strings: &strings)
      var frame = Frame(width: program.width)
      program.run(in: &frame, strings: &strings)
      let value = frame.value(program.type, at: program.result, strings)
      return .omittingNil(["type": .text(program.type.description), "value": .text(value.description)])
    } catch {
      return .omittingNil(["fault": .text(error.description)])
    }
  }
}
