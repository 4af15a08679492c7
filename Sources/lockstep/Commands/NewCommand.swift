import Basics
import CommandLine
import Programs
import Journal
import System

extension Command {
  static var new: Command {
    Command(
      "new", "Creates a project for your own lock.",
      discussion: """
        Creates the folder NAME with a machine, the programs of the lock, scenarios, a bench, a night and a configuration for
        CI; all of its tests pass. The lock has two users, codes that can be changed, three tries and a log. A driver project is
        for a lock with Bluetooth; with --kind exec the lock is a single program without Bluetooth. Existing files are never
        overwritten. The first line of each YAML file names its schema, with which editors complete and check it; after an
        update, 'lockstep schema --out schema' writes the schemas again.

        """,
      examples: [
        Example("lockstep new keypad", "A driver, and a lock behind Bluetooth."),
        Example("lockstep new keypad --kind exec", "A lock that is one program."),
      ],
      options: [
        .value(
          "kind", \.kind, Template.Kind.allCases.map(\.rawValue).joined(separator: "|"),
          "The kind of project. Default: driver.", example: "exec",
          as: .choice(Template.Kind.allCases.map(\.rawValue))),
        .value(
          "out", \.out, "DIR",
          "The folder in which NAME is created. Default: the current folder.",
          example: "projects", as: .folder, short: "o"),
        .quiet(\.isQuiet, "Does not print what it created."),
      ],
      operands: .init(
        placeholder: "NAME", summary: "The folder to create; its last component is the name of the project.",
        count: 1...1,
        as: .folder,
        path: \.name), defaults: NewArguments(), perform: NewArguments.perform)
  }
}

private struct NewArguments {
  var name: [String] = []
  var kind: String?
  var out: String?
  var isQuiet = false

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let kind = try kind.map { text throws(UsageError) -> Template.Kind in
      guard let kind = Template.Kind(rawValue: text) else {
        throw UsageError("'--kind' expects driver or exec, not '\(text)'")
      }
      return kind
    }
    let folder = out.map { Path.join($0, name[0]) } ?? name[0]
    let own = String(folder.split(separator: "/").last ?? "")
    guard !Template.taken.contains(own) else {
      throw UsageError("a project is not called '\(own)': one of its files is")
    }
    guard let template = Template(kind ?? .driver, named: own) else {
      throw UsageError(
        "a name has up to 40 letters, digits, '-' and '_', a letter first, and is not '\(own)'")
    }
    switch fileKind(folder) {
    case .missing: break
    case .unknown(let code): throw Self.unwritten(FileFault(.write, path: folder, code: code))
    case .file, .folder, .other:
      throw UsageError(
        "\(folder) is there already: nothing is overwritten; --out DIR makes it in another folder")
    }
    let files: [String]
    do {
      files = try template.write(
        to: folder, schemas: Schema.ofFiles.map { Template.File("schema/\($0.fileName)", $0.text()) })
    } catch {
      // Half a project would prevent a second attempt.
      try? removeFolder(folder)
      throw Self.unwritten(error)
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

  /// Returns the error that the project cannot be written, with the remedy.
  private static func unwritten(_ fault: FileFault) -> UsageError {
    var fault = fault
    fault.attempt = nil
    return UsageError(
      "the project cannot be written: \(fault); --out DIR makes it in another folder",
      status: .labFault)
  }
}
