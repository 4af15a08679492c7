import Foundation
import Testing
import TestSupport

/// The command as a process.
struct Command {
  /// What a process said, and how it ended.
  struct Result {
    var status: Int32
    var output: String
    var errors: String
  }

  /// The folder of the repository.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The program beside the tests.
  static let path = BuiltProgram.lockstep

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

    /// The names in a folder below.
    func names(_ name: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + name)) ?? []).sorted()
    }
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
