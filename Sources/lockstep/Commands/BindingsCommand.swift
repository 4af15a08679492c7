import Basics
import CommandLine
import Devices
import Journal
import System

extension Command {
  static var bindings: Command {
    Command(
      "bindings", "Prints the file with which a program of yours is a device.",
      discussion: """
        It speaks the lines of 'exec:', so that only what the lock does is left to write. The file needs nothing beside it: it is yours.


        """
          + Binding.all.map { "  \($0.language.leftAligned(in: 8))\($0.fileName)\n" }.joined(),
      examples: [
        Example(
          "lockstep bindings python > lockstep_device.py",
          "For a lock in Python; its first lines say how it is used.")
      ],
      operands: .init(
        placeholder: "LANGUAGE", summary: "The language that your program is written in.", count: 1...1,
        as: .choice(Binding.all.map(\.language)), path: \.self), defaults: [String]()
    ) { names, console throws(UsageError) in
      let languages = Binding.all.map(\.language)
      guard let binding = Binding.all.first(where: { $0.language == names[0] }) else {
        throw UsageError("unknown language '\(names[0])': \(hint(for: names[0], of: languages))")
      }
      console.print(binding.text)
      return .agree
    }
  }
}
