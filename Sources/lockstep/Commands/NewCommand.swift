import Basics
import CommandLine
import Devices
import Journal
import System

extension Command {
  static var new: Command {
    Command(
      "new", "Lays out a project for a lock of your own.",
      discussion: """
        Makes the folder NAME with a machine, the programs that are the lock, three scenarios, a bench, a night and a recipe
        for CI, all of which are green at once. A driver is for a lock with Bluetooth; with --kind exec the lock is one program
        without any. Nothing is ever overwritten.

        """,
      examples: [
        Example("lockstep new keypad", "A driver, and a lock behind Bluetooth."),
        Example("lockstep new keypad --kind exec", "A lock that is one program."),
      ],
      options: [
        .value(
          "kind", \.kind, Template.Kind.allCases.map(\.rawValue).joined(separator: "|"),
          "What it begins with. driver unless given.", example: "exec",
          as: .choice(Template.Kind.allCases.map(\.rawValue))),
        .quiet(\.isQuiet, "Says nothing of what it made."),
      ],
      operands: .init(
        placeholder: "NAME", summary: "The folder to be made; its last part is the name.", count: 1...1,
        as: .folder,
        path: \.name), defaults: NewArguments(), perform: NewArguments.perform)
  }
}

private struct NewArguments {
  var name: [String] = []
  var kind: String?
  var isQuiet = false

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let kind = try kind.map { text throws(UsageError) -> Template.Kind in
      guard let kind = Template.Kind(rawValue: text) else {
        throw UsageError("'--kind' expects driver or exec, not '\(text)'")
      }
      return kind
    }
    let folder = name[0]
    let own = String(folder.split(separator: "/").last ?? "")
    guard !Template.taken.contains(own) else {
      throw UsageError("a project is not called '\(own)': one of its files is")
    }
    guard let template = Template(kind ?? .driver, named: own) else {
      throw UsageError(
        "a name has up to 40 letters, digits, '-' and '_', a letter first, and is not '\(own)'")
    }
    guard fileKind(folder) == .missing else {
      throw UsageError("\(folder) is there already: nothing is overwritten")
    }
    let files: [String]
    do {
      files = try template.write(to: folder)
    } catch {
      console.say("lockstep: \(error)")
      return .labFault
    }
    guard !isQuiet else { return .agree }
    for file in files { console.print("  \(folder)/\(file)") }
    console.print(
      """

      Next:
        cd \(shellWord(folder))
        lockstep run scenarios
        lockstep fuzz \(template.machine) --device '\(template.device)' --steps 5000
      """)
    return .agree
  }
}
