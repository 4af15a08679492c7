import Basics
import Databases
import Documents
import Foundation
import Testing
import TestSupport

/// A program that plays a lock, or controllers, for a test; it ends with it.
final class EmulatedBench {
  let folder: Command.Folder
  private let out: Command.Folder
  let process: Program
  /// What it said first.
  let announcement: JSON

  /// Starts `lockstep emulate` and waits until it says that it is there.
  init(_ arguments: [String], in folder: Command.Folder) throws {
    self.folder = folder
    out = try Command.Folder()
    process = try Command.start(
      Command.path, ["emulate"] + arguments + ["--format", "json", "--duration", "600s"], in: folder.path,
      out: out)
    let out = out
    try eventually(by: process) { try out.read("output").contains("\n") }
    let line = try out.read("output").split(separator: "\n").first.map(String.init)
    let errors = try out.read("errors")
    announcement = try JSON(parsing: try #require(line, "\(errors)"))
  }

  deinit { stop() }

  /// What it said so far.
  var said: String { get throws { try out.read("output") } }
  var complaints: String { get throws { try out.read("errors") } }

  /// How a client reaches the controllers that it serves.
  var transports: [String] {
    let places = announcement["advertising"]?["on"] ?? announcement["listening"]
    guard case .list(let items)? = places else { return [] }
    return items.compactMap { item in
      guard case .text(let text) = item else { return nil }
      return text.replacing("tcp-server:", with: "tcp-client:")
    }
  }

  /// Ends it as a user would, and gives its exit status.
  @discardableResult
  func stop() -> Int32 {
    if process.isRunning { process.signal(SIGTERM) }
    return process.waitUntilExit()
  }

  /// Ends it as a power cut would.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

extension Command {
  /// Drives scenarios against a lock on the air, or fuzzes it, with the cycle counter in the same folder.
  static func drive(
    _ operands: [String], by command: String = "run", _ bench: EmulatedBench, lock: String = "lock.yaml",
    _ options: [String] = []
  ) throws -> Result {
    let out = try Folder()
    let process = try start(drive: operands, by: command, bench, lock: lock, options, out: out)
    process.waitUntilExit()
    return Result(
      status: process.waitUntilExit(), output: try out.read("output"), errors: try out.read("errors"))
  }

  static func start(
    drive operands: [String], by command: String = "run", _ bench: EmulatedBench, lock: String = "lock.yaml",
    _ options: [String] = [], out: Folder
  ) throws -> Program {
    let words =
      [command] + operands + [
        "--transport", bench.transports[0], "--device", "lock:\(lock)", "--out", "Reports",
      ]
      + (command == "run" ? ["--show-progress", "none"] : []) + options
    let line = "LOCKSTEP_STATE=\(bench.folder.path)/state/lockstep exec \"$LOCKSTEP\" \"$@\""
    return try start("/bin/sh", ["-c", line, "sh"] + words, in: bench.folder.path, out: out)
  }
}

extension Command.Folder {
  /// The journal of the last run.
  func journal() throws -> String {
    try read("Reports/runs/\(names("Reports/runs").last ?? "none")/journal.jsonl")
  }

  /// Waits until the lock has shown in the last run that it is unlocked; in one after a run, where one is named.
  func awaitUnlocked(
    by process: Program, after run: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    eventually(by: process, sourceLocation: sourceLocation) {
      guard names("Reports/runs").last != run, let journal = try? journal() else { return false }
      return journal.contains(#""status":"unlocked""#)
    }
  }

  /// How often the lock of this folder has moved.
  func movements() -> Int {
    Int(state("SELECT sum(movements) FROM locks").first?.first?.integer ?? 0)
  }

  /// What is asked of the state that is kept in this folder; nothing where there is none.
  func state(_ question: String) -> [[SQLValue]] {
    var rows: [[SQLValue]] = []
    let file = try? SQLiteDatabase(
      path + "/state/lockstep/state.sqlite", .reading, application: 0x4C6B_5374, lockTimeout: 5000)
    try? file?.query(question, []) { rows.append($0) }
    return rows
  }

  /// The secret in a lock file.
  func secret(_ name: String = "lock.yaml") throws -> String {
    let line = try read(name).split(separator: "\n").first { $0.hasPrefix("secret: ") }
    return String(try #require(line).dropFirst(8).filter { $0 != "\"" })
  }

  /// Every file below that holds a text.
  func files(with text: String) -> [String] {
    let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return all.filter { name in
      FileManager.default.contents(atPath: path + "/" + name)?.range(of: Data(text.utf8)) != nil
    }
  }
}

/// A scenario that opens a session and does something in it.
func visit(
  _ title: String, _ steps: String..., start: String = "registered: true, configured: true"
) -> String {
  """
  scenario: \(title)
  machine: sesame
  device: { lock: sesame5, \(start) }
  steps:
    - closeTo
    - connect
    - until: { status: [locked, unlocked, readytoRegister] }

  """ + steps.map { "  - \($0)\n" }.joined()
}
