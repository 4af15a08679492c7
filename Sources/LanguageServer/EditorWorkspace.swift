import Automata
import Basics
import Documents
import Harness

/// The names that documents can refer to: built-in machines, machine files and devices.
///
/// The content of files is cached until something changes; documents open in the editor replace their files.
final class EditorWorkspace {
  private let definitions: [MachineDefinition]
  private let provider: any DeviceProvider
  private let settings: SettingsFormat
  private let read: (String) throws(MachineLibrary.Missing) -> MachineFile
  private var overlays: [String: [UInt8]] = [:]
  private var files: [String: MachineFile] = [:]
  private var library: MachineLibrary?
  private var forms: (label: String, device: DeviceSpec?, forms: ScenarioForms)?

  typealias ScenarioForms = (scenario: Form, definitions: [(name: String, form: Form)])

  init(
    _ definitions: [MachineDefinition], provider: any DeviceProvider, settings: SettingsFormat,
    read: @escaping (String) throws(MachineLibrary.Missing) -> MachineFile
  ) {
    self.definitions = definitions
    self.provider = provider
    self.settings = settings
    self.read = read
  }

  func overlay(_ path: String, _ bytes: [UInt8]?) { overlays[path] = bytes }

  func hasOverlay(_ path: String) -> Bool { overlays[path] != nil }

  func forget() {
    library = nil
    files = [:]
    forms = nil
  }

  private var machines: MachineLibrary {
    if let library { return library }
    let made = MachineLibrary(definitions) { [unowned self] path throws(MachineLibrary.Missing) in
      try self.file(path)
    }
    library = made
    return made
  }

  /// The names of the built-in machines.
  var machineNames: [String] { definitions.map(\.name) }

  /// The names of the emulated devices.
  var deviceNames: [String] { provider.emulators }

  func file(_ path: String) throws(MachineLibrary.Missing) -> MachineFile {
    if let known = files[path] { return known }
    let file: MachineFile
    if let bytes = overlays[path] {
      do {
        file = try MachineFile(bytes, name: path)
      } catch {
        throw MachineLibrary.Missing(error)
      }
    } else {
      file = try read(path)
    }
    files[path] = file
    return file
  }

  /// Returns the problems of a document, as reported by `lockstep validate`.
  func problems(of document: OpenDocument) -> [Problem] {
    switch document.kind {
    case nil, .equipment?: []
    case .scenario?:
      problems { () throws(DocumentError) in
        try ScenarioReader(machines: machines, provider: provider, asksDevices: false)
          .check(document.text.bytes, path: document.path)
      }
    case .machine?: machineProblems(document)
    case .settings?:
      problems { () throws(DocumentError) in try settings.check(document.text.bytes, document.path) }
    }
  }

  private func machineProblems(_ document: OpenDocument) -> [Problem] {
    do throws(DocumentError) {
      let file = try MachineFile(document.text.bytes, name: document.path)
      guard let machine = try? Machine(file.definition) else { return [] }
      return file.warnings(of: machine).map(\.problem)
    } catch {
      return Self.listed(error)
    }
  }

  private func problems(_ check: () throws(DocumentError) -> Void) -> [Problem] {
    do throws(DocumentError) {
      try check()
      return []
    } catch {
      return Self.listed(error)
    }
  }

  /// Returns the listed problems, and one more if others were omitted.
  private static func listed(_ error: DocumentError) -> [Problem] {
    error.problems
      + (error.omitted > 0 ? [Problem(.more, "and \(error.omitted) more", severity: .error)] : [])
  }
}

// MARK: - References of scenarios

extension EditorWorkspace {
  /// Returns the machine of an incomplete scenario; `nil` if it is unknown.
  func machine(of document: OpenDocument) -> MachineLibrary.Entry? {
    let head = ScenarioHead(document.text)
    if let name = head.machine { return try? machines.machine(name, in: Path.folder(of: document.path)) }
    guard let device = head.device, let usual = try? provider.describe(DeviceSpec(device.kind, device.name)),
      device.kind == .emulator, let name = usual.machines?.first
    else { return nil }
    return try? machines.machine(name)
  }

  /// Returns the forms of a document.
  func forms(of document: OpenDocument) -> ScenarioForms {
    guard document.kind != .settings else { return (settings.form, []) }
    guard document.kind != .machine else { return (MachineDefinition.form, []) }
    guard document.kind != .equipment else { return (.value, []) }
    let device = ScenarioHead(document.text).device
    guard let machine = machine(of: document) else {
      return Scenario.forms(of: nil, on: nil, provider: provider)
    }
    if let forms, forms.label == machine.label, forms.device == device { return forms.forms }
    let made = Scenario.forms(of: machine, on: device, provider: provider)
    forms = (machine.label, device, made)
    return made
  }
}

/// The machine and device that an incomplete scenario names.
struct ScenarioHead {
  var machine: String?
  var device: DeviceSpec?

  init(_ text: EditorText) {
    let lines = String(decoding: text.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    machine = lines.lazy.compactMap { Self.value(of: "machine", in: $0) }.first
    guard let first = lines.firstIndex(where: { $0.hasPrefix("device:") }) else { return }
    let below = lines[(first + 1)...].prefix { $0.first == " " }
    if let word = Self.value(of: "device", in: lines[first]), !word.hasPrefix("{") {
      device = try? DeviceSpec(text: word)
      return
    }
    for kind in ["lock", "emulator", "exec", "driver"] {
      for line in [lines[first].dropFirst(7)] + below {
        let trimmed = line.drop { " {,".contains($0) }
        guard let word = Self.value(of: kind, in: trimmed) else { continue }
        let name = String(word.prefix { $0 != "," && $0 != "}" })
        device =
          switch kind {
          case "exec", "driver": DeviceSpec(kind == "exec" ? .exec : .driver, name)
          case "lock" where name.contains("/") || name.contains("."): DeviceSpec(.lock, name)
          default: try? DeviceSpec(text: "emulator:" + name)
          }
        return
      }
    }
  }

  /// Returns the value of a key at the beginning of a line.
  private static func value(of key: String, in line: Substring) -> String? {
    guard line.hasPrefix(key + ":") else { return nil }
    var rest = line.dropFirst(key.count + 1).drop { $0 == " " }
    if let comment = rest.firstRange(of: " #") { rest = rest[..<comment.lowerBound] }
    while rest.last == " " { rest.removeLast() }
    if let quote = rest.first, quote == "\"" || quote == "'" {
      rest = rest.dropFirst().prefix { $0 != quote }
    }
    return rest.isEmpty ? nil : String(rest)
  }
}
