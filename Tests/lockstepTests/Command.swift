import CommandLine
import Foundation
import Glibc
import Journal
import Synchronization
import System
import TestSupport
import Testing

@testable import lockstep

/// The command, called as a function: ``call(_:in:takesSettings:)``, ``line(_:in:takesSettings:)``; or as a process, for tests of
/// signals, streams, locks, worker processes and the environment.
struct Command {
  /// The output of a command and its exit status.
  struct Result {
    var status: Int32
    var output: String
    var errors: String
  }

  /// The folder of the repository.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The program beside the tests. Before it is started, or called, the environment is made that of a machine on which it never ran:
  /// what a lab remembers of its locks lies in a folder of these tests.
  static let path = {
    let state = FileManager.default.temporaryDirectory.appending(path: "lockstep-state-\(getpid())")
    unsafe setenv("XDG_STATE_HOME", state.path, 1)
    atexit {
      try? FileManager.default.removeItem(atPath: ProcessInfo.processInfo.environment["XDG_STATE_HOME"] ?? "")
    }
    for name in ["LOCKSTEP_CONFIG", "LOCKSTEP_PROFILE", "LOCKSTEP_STATE"] { unsafe unsetenv(name) }
    return BuiltProgram.lockstep
  }()

  /// A folder of its own, which goes with it.
  final class Folder {
    let path: String

    init() throws {
      let place = FileManager.default.temporaryDirectory.appending(path: "lockstep-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      path = place.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, and the folders above it.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
      let file = URL(filePath: path).appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return file.path
    }

    func read(_ name: String) throws -> String {
      try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

    /// Appends to a file that is there.
    func append(_ name: String, _ text: String) throws { try write(name, try read(name) + text) }

    /// The text of all files of a pattern, in the order of their names: `Reports/runs/*/journal.jsonl`.
    func read(all pattern: String) throws -> String {
      try ShellWords.split(pattern, in: path).map { try read($0) }.joined()
    }

    /// Copies a file or a folder to a name below.
    func copy(_ source: String, to name: String) throws {
      let target = URL(filePath: path).appending(path: name)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      let source = URL(filePath: source, relativeTo: URL(filePath: path, directoryHint: .isDirectory)).path
      try FileManager.default.copyItem(atPath: source, toPath: target.path)
    }

    /// Gives a file or a folder another name, in place of what has it.
    func move(_ name: String, to new: String) {
      #expect(unsafe rename(path + "/" + name, path + "/" + new) == 0, "\(name) is not moved to \(new)")
    }

    /// Removes a file or a folder, if it is there.
    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: path + "/" + name) }

    /// Makes a folder and those above it.
    func makeFolder(_ name: String) throws {
      try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
    }

    /// Makes a pipe for its owner.
    func makePipe(_ name: String) { #expect(unsafe mkfifo(path + "/" + name, 0o600) == 0, "no pipe \(name)") }

    /// The names in a folder below.
    func names(_ name: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + name)) ?? []).sorted()
    }
  }

  /// Calls the command in this process.
  ///
  /// - Parameters:
  ///   - folder: its working folder.
  ///   - takesSettings: whether settings files below and above the folder are read.
  static func call(
    _ words: String..., in folder: String = root, takesSettings: Bool = false
  ) throws -> Result {
    try call(words, in: folder, takesSettings: takesSettings)
  }

  /// Calls the command in this process.
  static func call(
    _ words: [String], in folder: String = root, takesSettings: Bool = false
  ) throws -> Result {
    try call(.words(words), in: folder, takesSettings)
  }

  /// Calls the command in this process with the words of a line, which are told apart as a shell does: with quotes and patterns, without
  /// variables and operators.
  static func line(
    _ line: String, in folder: String = root, takesSettings: Bool = false
  ) throws -> Result {
    try call(.line(line), in: folder, takesSettings)
  }

  private enum Words {
    case words([String])
    case line(String)
  }

  /// One call at a time: what this process was asked for is one thing.
  private static let turn = Mutex(())

  /// Calls the command on a thread whose working folder is not that of the process.
  private static func call(_ words: Words, in folder: String, _ takesSettings: Bool) throws -> Result {
    FailedWrites.ignore()
    _ = path
    let out = try Folder()
    let (output, errors) = (out.path + "/output", out.path + "/errors")
    let status = Mutex<Swift.Result<Int32, any Error>?>(nil)
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
      let result = Swift.Result {
        try #require(setOwnFolder(folder))
        let words =
          switch words {
          case .words(let words): words
          case .line(let line): try ShellWords.split(line)
          }
        let console = try Console(
          output: OutputFile(creating: output), errors: OutputFile(creating: errors))
        return turn.withLock { _ in
          Invocation.words = words
          return CommandSet.lockstep.perform(words, on: console, takesSettings: takesSettings).rawValue
        }
      }
      status.withLock { $0 = result }
      end.signal()
    }
    // That of a program's first thread.
    thread.stackSize = 8 << 20
    thread.start()
    end.wait()
    return Result(
      status: try #require(status.withLock { $0 }).get(), output: try out.read("output"),
      errors: try out.read("errors"))
  }

  /// Gives this thread, and those that it starts, a working folder of their own.
  private static func setOwnFolder(_ folder: String) -> Bool {
    typealias Unshare = @convention(c) (Int32) -> Int32
    let fileSystem: Int32 = 0x200  // CLONE_FS, which Glibc's module does not have
    let unshare = unsafe unsafeBitCast(dlsym(nil, "unshare"), to: Unshare.self)
    return unsafe unshare(fileSystem) == 0 && chdir(folder) == 0
  }

  /// Runs the command to its end.
  static func run(_ arguments: String..., in folder: String = root) throws -> Result {
    try run(arguments, in: folder)
  }

  /// Runs the command to its end.
  static func run(_ arguments: [String], in folder: String = root) throws -> Result {
    try run(path, arguments, in: folder)
  }

  /// Runs a line of the shell to its end, with the command as `$LOCKSTEP` and the workbench as `$WORKBENCH`.
  static func shell(_ line: String, in folder: String = root) throws -> Result {
    try run("/bin/sh", ["-c", line], in: folder)
  }

  private static func run(_ program: String, _ arguments: [String], in folder: String) throws -> Result {
    let out = try Folder()
    let status = try start(program, arguments, in: folder, out: out).waitUntilExit()
    return Result(status: status, output: try out.read("output"), errors: try out.read("errors"))
  }

  /// Starts a program whose output goes to files of a folder.
  static func start(
    _ program: String, _ arguments: [String], in folder: String = root, out: Folder
  ) throws -> Program {
    try Program(
      program, arguments, in: folder,
      adding: [
        "LOCKSTEP": path, "WORKBENCH": BuiltProgram.workbench, "LOCKSTEP_CONFIG": "none", "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
      ],
      output: out.path + "/output",
      errors: out.path + "/errors")
  }
}
