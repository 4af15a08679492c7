import Programs
import Files
import System

/// A keypad lock with three timers as a program, for measuring programs in virtual time; it is the same in each
/// language.
struct ExecKeypad {
  /// The program.
  let program: String
  /// The files in its folder: the machine, the program, and the binding for the protocol.
  private let files: [(name: String, text: String)]

  /// Writes the files into a new folder.
  func write(to folder: String) throws(FileFault) {
    try makeFolder(folder)
    for file in files { try WholeFile.replace(folder + "/" + file.name, with: file.text) }
  }

  private init(_ language: String, _ name: String, _ program: EmbeddedFile) {
    self.program = program.text
    files =
      [("keypad.yaml", Self.machine), (name, self.program)]
      + Binding.all.filter { $0.language == language }.map { ($0.fileName, $0.text) }
  }

  static let python = ExecKeypad("python", "keypad.py", .benchKeypad)
  static let c = ExecKeypad("c", "keypad.c", .benchKeypadInC)
  static let machine = EmbeddedFile.benchKeypadMachine.text
}
