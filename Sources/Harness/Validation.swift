public import Documents
import Automata
import Basics

/// What kind of file somebody writes.
public enum DocumentKind: Sendable {
  case scenario, machine
  /// Options of commands by profile; see ``SettingsFormat``.
  case settings

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
      if begins(with: "profiles:") {
        self = .settings
        return
      }
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

/// How a file of settings is written, which those know who have commands.
public struct SettingsFormat {
  /// Its form, for who completes it.
  public let form: Form
  /// Reads it, and does nothing.
  public let check: ([UInt8], _ name: String) throws(DocumentError) -> Void

  /// Puts a form and its reader together.
  public init(form: Form, check: @escaping ([UInt8], String) throws(DocumentError) -> Void) {
    (self.form, self.check) = (form, check)
  }
}

/// Scenarios, files of machines and files of settings that are checked, and not run.
public struct Validation {
  /// What there is to say of them: of each file in its order, and first what machines are warned of.
  public private(set) var diagnostics: [Diagnostic] = []
  /// Folders that hold no scenario.
  public private(set) var empty: [String] = []
  /// How many scenarios are well-formed.
  public private(set) var scenarios = 0
  /// How many files of machines are.
  public private(set) var machines = 0
  /// How many files of settings are.
  public private(set) var settings = 0

  /// Checks every file under some paths.
  public init(_ paths: [String], reader: ScenarioReader, settings format: SettingsFormat) {
    let found = ScenarioFiles.find(paths)
    empty = found.empty
    var errors = found.problems
    for path in found.files {
      do {
        switch try Self.check(path, reader, format) {
        case .scenario: scenarios += 1
        case .machine: machines += 1
        case .settings: settings += 1
        }
      } catch {
        // Several scenarios may name one machine.
        let known = errors
        errors += error.diagnostics.filter { !known.contains($0) }
      }
    }
    diagnostics = reader.machines.warnings + errors
  }

  private static func check(
    _ path: String, _ reader: ScenarioReader, _ settings: SettingsFormat
  ) throws(DocumentError) -> DocumentKind {
    // What cannot be read is no machine either, and whoever reads it says why.
    let bytes = try? ScenarioFiles.read(path, limits: MachineLibrary.limits)
    let kind = bytes.map { DocumentKind(of: $0, name: path) } ?? .scenario
    switch kind {
    case .scenario:
      _ = try ScenarioFiles.read(path) { bytes throws(DocumentError) in try reader.read(bytes, path: path) }
    case .machine: try reader.machines.check(path)
    case .settings: try settings.check(bytes ?? [], path)
    }
    return kind
  }

  /// Whether something cannot be used.
  public var hasErrors: Bool { diagnostics.contains { $0.problem.severity == .error } }

  /// How many files are well-formed, for a person; `nil` where there is none.
  public var summary: String? {
    let parts = [(scenarios, "scenario"), (machines, "machine"), (settings, "file of settings")]
      .filter { $0.0 > 0 }
      .map { count, name in
        "\(count) " + (count == 1 ? name : name.hasPrefix("file") ? "files of settings" : name + "s")
      }
    let isOne = scenarios + machines + settings == 1
    return parts.isEmpty ? nil : parts.joined(separator: " and ") + (isOne ? " is" : " are") + " well-formed"
  }
}
