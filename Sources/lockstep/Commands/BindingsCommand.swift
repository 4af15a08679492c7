import Basics
import CommandLine
import Programs
import Journal
import System

extension Command {
  static var bindings: Command {
    Command(
      "bindings",
      "Prints a file with which your program becomes a device, or another test framework runs scenarios.",
      discussion: """
        The file is self-contained, and you can change it.

        For a program as a device, which communicates over 'exec:'; you only write the behaviour of the lock:

        \(list(.device))

        For scenarios as tests of another framework, which calls 'lockstep run':

        \(list(.tests))
        """,
      examples: [
        Example(
          "lockstep bindings python > lockstep_device.py",
          "For a lock in Python; its first lines say how it is used."),
        Example("lockstep bindings pytest > lockstep_pytest.py", "Scenarios as tests of pytest."),
      ],
      operands: .init(
        placeholder: "NAME", summary: "The language of your program, or the framework.", count: 1...1,
        as: .choice(Binding.all.map(\.language)), path: \.self), defaults: [String]()
    ) { names, console throws(UsageError) in
      let languages = Binding.all.map(\.language)
      guard let binding = Binding.all.first(where: { $0.language == names[0] }) else {
        throw UsageError("unknown language or framework '\(names[0])': \(hint(for: names[0], of: languages))")
      }
      console.print(binding.text)
      return .agree
    }
  }

  /// Lists the files for a purpose, one per line.
  private static func list(_ purpose: Binding.Purpose) -> String {
    Binding.all.filter { $0.purpose == purpose }.map { "  \($0.language.leftAligned(in: 8))\($0.fileName)\n" }
      .joined()
  }
}
