public import Documents
import Automata
import Basics

/// The kind of a file.
public enum DocumentKind: Sendable {
  case scenario, machine
  /// Options of commands, by profile; see ``SettingsFormat``.
  case settings
  /// Not a test: a bench, a night or a lock, which the commands that use it check.
  case equipment

  /// Recognizes a file by the first key that only one kind has, which also works for a file that cannot be
  /// read; `nil` for a file that has nothing to do with Lockstep.
  public init?(recognizing bytes: [UInt8], name: String) {
    if MachineNotation(ofFile: name) != .yaml {
      self = .machine
      return
    }
    let text = bytes.dropFirst(byteOrderMarkLength(bytes))
    let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard let kind = Self.kind(of: lines.lazy.compactMap(topKey)) ?? Self.kind(of: bracedKeys(text))
    else { return nil }
    self = kind
  }

  private static func kind(of keys: some Sequence<String>) -> DocumentKind? {
    var (namesMachine, namesBench) = (false, false)
    for key in keys {
      switch key {
      case "machine", "device": namesMachine = true
      case "bench": namesBench = true
      case "profiles": return .settings
      case "scenario": return .scenario
      // Other kinds have their own `steps` and `locks`.
      case "steps" where namesMachine: return .scenario
      case "states" where namesMachine, "regions" where namesMachine, "transitions" where namesMachine:
        return .machine
      case "locks" where namesBench: return .equipment
      case "nightly", "driver", "secret", "public-key": return .equipment
      default: continue
      }
    }
    return nil
  }
}

/// The keys of a document that is one mapping in braces, as JSON is.
private func bracedKeys(_ bytes: ArraySlice<UInt8>) -> [String] {
  guard bytes.drop(while: " \n\r\t".utf8.contains).starts(with: "{".utf8),
    let document = try? Document(Array(bytes), name: ""), case .mapping(let entries) = document.root.content
  else { return [] }
  return entries.compactMap { $0.key.text }
}

/// The key at the beginning of a line, bare or quoted.
private func topKey(_ line: ArraySlice<UInt8>) -> String? {
  guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
    colon + 1 == line.endIndex || line[colon + 1] == UInt8(ascii: " ")
      || line[colon + 1] == UInt8(ascii: "\t")
  else { return nil }
  var key = line[..<colon]
  while key.last == UInt8(ascii: " ") { key.removeLast() }
  if key.count > 1, let quote = key.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
    key.last == quote
  {
    key = key.dropFirst().dropLast()
  }
  let isBare = key.allSatisfy { ("a"..."z").contains(UnicodeScalar($0)) || $0 == UInt8(ascii: "-") }
  return isBare && !key.isEmpty ? String(decoding: key, as: UTF8.self) : nil
}

/// The format of a settings file, which the command line defines.
public struct SettingsFormat {
  /// Its form, for completion.
  public let form: Form
  /// Reads the file, and discards the result.
  public let check: ([UInt8], _ name: String) throws(DocumentError) -> Void

  /// Makes a format.
  public init(form: Form, check: @escaping ([UInt8], String) throws(DocumentError) -> Void) {
    (self.form, self.check) = (form, check)
  }
}

/// The check of scenarios, machine files and settings files, without running anything.
public struct Validation {
  /// The diagnostics in the order of the files, those of machines first.
  public private(set) var diagnostics: [Diagnostic] = []
  /// Folders without any scenario.
  public private(set) var empty: [String] = []
  /// The number of well-formed scenarios.
  public private(set) var scenarios = 0
  /// The number of well-formed machine files.
  public private(set) var machines = 0
  /// The number of well-formed settings files.
  public private(set) var settings = 0

  /// Checks every file under some paths.
  ///
  /// - Parameter results: see ``ScenarioFiles/find(_:besides:)``.
  public init(
    _ paths: [String], besides results: [String] = [], reader: ScenarioReader, settings format: SettingsFormat
  ) {
    let found = ScenarioFiles.find(paths, besides: results)
    empty = found.empty
    var errors = found.problems
    for path in found.files {
      // An unreadable file is treated as a scenario, whose reader reports the reason.
      let bytes = try? ScenarioFiles.read(path, limits: MachineLibrary.limits)
      var kind = bytes.flatMap { DocumentKind(recognizing: $0, name: path) } ?? .scenario
      if kind == .equipment {
        guard found.isNamed(path) else { continue }
        kind = .scenario
      }
      do {
        switch kind {
        case .scenario, .equipment:
          _ = try ScenarioFiles.read(path) { bytes throws(DocumentError) in
            try reader.read(bytes, path: path)
          }
          scenarios += 1
        case .machine:
          try reader.machines.check(path)
          machines += 1
        case .settings:
          try format.check(bytes ?? [], path)
          settings += 1
        }
      } catch {
        // Several scenarios may use the same machine, whose problems are listed once.
        let known = errors
        errors += error.diagnostics.filter { !known.contains($0) }
      }
    }
    diagnostics = reader.machines.warnings + errors
  }

  /// Whether some file cannot be used.
  public var hasErrors: Bool { diagnostics.contains { $0.problem.severity == .error } }

  /// The number of well-formed files, as text; `nil` if there is none.
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
