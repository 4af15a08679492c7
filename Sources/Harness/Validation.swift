public import Documents
import Automata
import Basics

/// What kind of file somebody writes.
public enum DocumentKind: Sendable {
  case scenario, machine

  /// Tells it by the first key that only one of them has, so that it is known of a file that cannot be read, too; what
  /// has none is taken for a scenario.
  public init(of bytes: [UInt8], name: String) {
    self = DocumentKind(recognizing: bytes, name: name) ?? .scenario
  }

  /// Tells it where it is known: `nil` of a file that has nothing to do with Lockstep.
  public init?(recognizing bytes: [UInt8], name: String) {
    if name.hasSuffix(".dot") || name.hasSuffix(".gv") {
      self = .machine
      return
    }
    var namesMachine = false
    for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      func begins(with keys: String...) -> Bool { keys.contains { line.starts(with: $0.utf8) } }
      if begins(with: "machine:", "device:") { namesMachine = true }
      // Others have `steps` of their own.
      if begins(with: "scenario:") || (namesMachine && begins(with: "steps:")) {
        self = .scenario
        return
      }
      if namesMachine, begins(with: "states:", "transitions:") {
        self = .machine
        return
      }
    }
    return nil
  }
}

/// Scenarios and files of machines that are checked, and not run.
public struct Validation {
  /// What there is to say of them: of each file in its order, and first what machines are warned of.
  public private(set) var diagnostics: [Diagnostic] = []
  /// Folders that hold no scenario.
  public private(set) var empty: [String] = []
  /// How many scenarios are well-formed.
  public private(set) var scenarios = 0
  /// How many files of machines are.
  public private(set) var machines = 0

  /// Checks every file under some paths.
  public init(_ paths: [String], reader: ScenarioReader) {
    let found = ScenarioFiles.find(paths)
    empty = found.empty
    var errors = found.problems
    for path in found.files {
      do {
        switch try Self.check(path, reader) {
        case .scenario: scenarios += 1
        case .machine: machines += 1
        }
      } catch {
        // Several scenarios may name one machine.
        let known = errors
        errors += error.diagnostics.filter { !known.contains($0) }
      }
    }
    diagnostics = reader.machines.warnings + errors
  }

  private static func check(_ path: String, _ reader: ScenarioReader) throws(DocumentError) -> DocumentKind {
    // What cannot be read is no machine either, and whoever reads it says why.
    let bytes = try? ScenarioFiles.read(path, limits: MachineLibrary.limits)
    let kind = bytes.map { DocumentKind(of: $0, name: path) } ?? .scenario
    switch kind {
    case .scenario:
      _ = try ScenarioFiles.read(path) { bytes throws(DocumentError) in try reader.read(bytes, path: path) }
    case .machine: try reader.machines.check(path)
    }
    return kind
  }

  /// Whether something cannot be used.
  public var hasErrors: Bool { diagnostics.contains { $0.problem.severity == .error } }

  /// How many files are well-formed, for a person; `nil` where there is none.
  public var summary: String? {
    let parts = [(scenarios, "scenario"), (machines, "machine")].filter { $0.0 > 0 }
      .map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
    let isOne = scenarios + machines == 1
    return parts.isEmpty ? nil : parts.joined(separator: " and ") + (isOne ? " is" : " are") + " well-formed"
  }
}
