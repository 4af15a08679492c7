import Basics
import Automata
import Conformance
public import Documents

/// Reads scenarios, and checks every name in them against the machine and the device.
public struct ScenarioReader {
  let machines: MachineLibrary
  let provider: any DeviceProvider
  /// Whether to start programs and read the files of real locks to learn their abilities.
  private let asksDevices: Bool

  /// Makes a reader.
  ///
  /// - Parameter asksDevices: whether to start programs and read the files of real locks to learn their
  ///   abilities. A file that is only checked starts none.
  public init(machines: MachineLibrary, provider: any DeviceProvider, asksDevices: Bool = true) {
    self.machines = machines
    self.provider = provider
    self.asksDevices = asksDevices
  }

  /// Reads the scenario of a file.
  ///
  /// - Throws: everything that is wrong with it, each with its place.
  public func read(_ bytes: [UInt8], path: String) throws(DocumentError) -> Scenario {
    try Document.read(bytes, name: path) { scenario(of: $0, in: Path.folder(of: path)) }
  }

  /// Reads a scenario that was written elsewhere, where its machine and device had other names and paths.
  ///
  /// - Parameters:
  ///   - machine: the machine, whatever the text calls it.
  ///   - device: replaces a program or a lock file.
  /// - Throws: everything that is wrong with it, each with its place.
  func read(
    _ bytes: [UInt8], path: String, of machine: MachineLibrary.Entry, on device: DeviceSpec
  ) throws(DocumentError) -> Scenario {
    try Document.read(bytes, name: path) {
      scenario(of: $0, in: Path.folder(of: path), machine, device)
    }
  }

  /// Checks the text of a scenario, and discards the scenario.
  ///
  /// - Throws: everything that is wrong with it, each with its place.
  public func check(_ bytes: [UInt8], path: String) throws(DocumentError) {
    try Document.read(bytes, name: path) { cursor -> Void? in
      _ = scenario(of: cursor, in: Path.folder(of: path))
      return ()
    }
  }

  /// The options of the machine's choices that the device is held to.
  private func assumed(_ cursor: Cursor, _ machine: Machine?) -> [String] {
    cursor.listOrOne().compactMap { item in
      guard let name = item.text("an option"), let machine else { return nil }
      if machine.options.contains(name) { return name }
      item.report(
        .unknownOption, "no choice of the machine has an option `\(name)`",
        hint: .nearest(to: name, of: machine.options))
      return nil
    }
  }

  private func scenario(
    of cursor: Cursor, in folder: String, _ known: MachineLibrary.Entry? = nil, _ own: DeviceSpec? = nil
  ) -> Scenario? {
    guard let fields = cursor.fields(ScenarioGrammar.any.scenario) else { return nil }
    var others = OptionalFields(fields)
    let name = fields.required("scenario")
    let title = name?.text()
    var reading = DeviceReading(provider: provider, asksDevices: asksDevices, own: own)
    if let device = fields.optional("device") { reading.read(device) }
    let named = fields.optional("machine")
    let machine = known ?? machine(named, reading, of: cursor, in: folder)
    if reading.cursor == nil, let machine {
      reading.take(usualDeviceOf: machine)
    } else if let machine {
      reading.check(against: machine)
      reading.checkNames(in: machine)
    }
    let start = machine.flatMap { reading.start(in: $0) }
    let seed = others.read("seed") { $0.integer(as: UInt64.self) }
    let tags = fields.optional("tags")?.list()?.compactMap { $0.text() }
    let assumed = fields.optional("assume").flatMap { self.assumed($0, machine?.machine) } ?? []
    var steps = StepReader(machine: machine?.machine, device: reading.description)
    let list = fields.required("steps").flatMap { steps.steps(of: $0) }
    guard let title, let machine, let start, others.isValid, let list else { return nil }
    return Scenario(
      title: title, machine: named?.node.text ?? machine.machine.name,
      device: reading.spec,
      start: start, seed: seed, tags: tags ?? [], assumed: assumed, steps: list,
      line: name?.position.line ?? 1)
  }

  private func machine(
    _ cursor: Cursor?, _ device: DeviceReading, of scenario: Cursor, in folder: String
  ) -> MachineLibrary.Entry? {
    guard let cursor else {
      if let usual = device.description?.machines?.first { return try? machines.machine(usual) }
      // The machine of a device that could not be read is unknown.
      if device.cursor == nil || device.description != nil {
        scenario.report(.missingKey, "missing key `machine`")
      }
      return nil
    }
    guard let text = cursor.text("the name or the path of a machine") else { return nil }
    do {
      return try machines.machine(text, in: folder)
    } catch {
      cursor.report(error.code, error.message, hint: error.advice, related: error.diagnostics)
      return nil
    }
  }
}

/// The `device:` of a scenario.
private struct DeviceReading {
  let provider: any DeviceProvider
  let asksDevices: Bool
  /// The device that replaces a program or a lock file of the same kind.
  let own: DeviceSpec?
  private(set) var cursor: Cursor?
  private(set) var spec: DeviceSpec?
  private(set) var description: DeviceDescription?
  /// The name and value of each setting, with their places.
  private var settings: [(name: String, key: Cursor, value: Cursor)] = []

  init(provider: any DeviceProvider, asksDevices: Bool, own: DeviceSpec?) {
    self.own = own
    self.provider = provider
    self.asksDevices = asksDevices
  }

  mutating func read(_ cursor: Cursor) {
    self.cursor = cursor
    let place: Cursor
    if let entries = cursor.node.entries == nil ? nil : cursor.entries() {
      guard let (found, at) = mapping(entries, of: cursor) else { return }
      (spec, place) = (found, at)
    } else {
      guard let text = cursor.text("a device") else { return }
      do {
        spec = try DeviceSpec(text: text)
      } catch {
        return cursor.report(error.code, error.message, hint: error.advice)
      }
      place = cursor
    }
    if let own, let named = spec, named.kind == own.kind, own.kind != .emulator {
      spec = DeviceSpec(own.kind, own.name, named.settings)
    }
    guard let spec, asksDevices || spec.kind == .emulator else { return }
    do {
      description = try provider.describe(DeviceSpec(spec.kind, spec.name))
    } catch {
      place.report(error.code, error.message, hint: error.advice)
    }
  }

  private mutating func mapping(
    _ entries: [(key: Cursor, value: Cursor)], of cursor: Cursor
  ) -> (DeviceSpec, Cursor)? {
    let kinds = ScenarioGrammar.deviceKeys
    let named = entries.filter { kinds.contains($0.key.node.text ?? "") }
    guard let (key, value) = named.first else {
      cursor.report(.missingKey, "missing key `lock`, `emulator`, `exec` or `driver`")
      return nil
    }
    if named.count > 1 { named[1].key.report(.conflict, "a device has only one name") }
    settings = entries.filter { !kinds.contains($0.key.node.text ?? "") }
      .map { ($0.key.node.text ?? "", $0.key, $0.value) }
    guard let name = value.text("a device") else { return nil }
    switch key.node.text {
    case "exec": return (DeviceSpec(.exec, name), value)
    case "driver": return (DeviceSpec(.driver, name), value)
    case "lock" where !provider.emulators.contains(name) && (name.contains("/") || name.contains(".")):
      return (DeviceSpec(.lock, name), value)
    default:
      do {
        return (try DeviceSpec(text: "emulator:" + name), value)
      } catch {
        value.report(error.code, error.message, hint: error.advice)
        return nil
      }
    }
  }

  mutating func take(usualDeviceOf machine: MachineLibrary.Entry) {
    guard let usual = provider.usualDevice(of: machine.machine.name) else { return }
    spec = usual
    description = try? provider.describe(usual)
  }

  /// Checks that device and machine fit.
  func check(against machine: MachineLibrary.Entry) {
    if let cursor, let spec, let (message, hint) = description?.mismatch(spec, to: machine) {
      return cursor.report(.impossible, message, hint: .words(hint))
    }
    guard let cursor, let spec, let machines = description?.machines, !machine.isFile,
      !machines.contains(machine.label)
    else { return }
    cursor.report(
      .impossible, "`\(spec.name)` cannot be compared with the machine `\(machine.label)`",
      hint: "its machine is \(machines.joined(separator: " or "))")
  }

  /// Checks that the names in the device's description exist in the machine.
  func checkNames(in machine: MachineLibrary.Entry) {
    do throws(DeviceProblem) {
      try description?.checkNames(in: machine)
    } catch {
      cursor?.report(error.code, error.message, hint: error.advice)
    }
  }

  /// Separates start conditions from options, and checks both.
  mutating func start(in machine: MachineLibrary.Entry) -> StartCondition? {
    guard let spec else { return StartCondition() }
    guard let description else { return nil }
    let named = SettingSorting(machine: machine.machine, device: description)
    var start = StartCondition()
    var options: [DeviceSpec.Setting] = []
    var isWhole = true

    for setting in spec.settings where named.isOption(setting.name) { options.append(setting) }
    for (name, _, value) in settings where named.isOption(name) {
      options += value.listOrOne().compactMap { $0.text() }.map { DeviceSpec.Setting(name, $0) }
    }
    self.spec?.settings = options
    do {
      try self.spec?.check()
    } catch {
      cursor?.report(error.code, error.message, hint: error.advice)
      isWhole = false
    }
    checkValues()
    // With its options the device may support other conditions, which saved failures contain.
    let sorting = named.adding(self.description)

    func take(_ name: String, _ value: Value, at place: Cursor?) {
      let setting = Argument(name, value)
      start.settings.append(setting)
      guard let problem = sorting.problem(with: setting) else { return }
      place?.report(problem)
      isWhole = false
    }

    for setting in spec.settings {
      switch sorting.kind(of: setting.name) {
      case .option: break
      case .condition(let isFlag):
        take(setting.name, Value(plain: setting.value).asCondition(isFlag: isFlag), at: cursor)
      case .unknown(let problem):
        cursor?.report(problem.code, problem.message, hint: problem.advice)
        isWhole = false
      }
    }
    for (name, key, value) in settings {
      switch sorting.kind(of: name) {
      case .option: break
      case .condition(let isFlag):
        let given = value.anyValue()
        if let given, !isFlag || given.isYesOrNo {
          take(name, given.asCondition(isFlag: isFlag), at: value)
        } else {
          if given != nil { value.reportExpected("yes or no") }
          isWhole = false
        }
      case .unknown(let problem):
        key.report(problem.code, problem.message, hint: problem.advice)
        isWhole = false
      }
    }
    guard isWhole else { return nil }
    return sorting.hasStart(for: start, report: cursor) ? start : nil
  }

  /// Checks the options, and updates the device's abilities under them.
  private mutating func checkValues() {
    guard let spec else { return }
    do {
      description = try provider.describe(spec)
    } catch {
      var place = cursor
      switch error.part {
      case .name: break
      case .setting(let name): place = settings.first { $0.name == name }?.key ?? place
      case .value(let name): place = settings.first { $0.name == name }?.value ?? place
      }
      place?.report(error.code, error.message, hint: error.advice)
    }
  }
}

/// Which settings of a device are start conditions, and which are its own options.
struct SettingSorting {
  enum Kind {
    /// An option of the device.
    case option
    /// A start condition; a machine's own conditions are flags.
    case condition(isFlag: Bool)
    case unknown(DeviceProblem)
  }

  let machine: Machine
  /// The device without its options, and perhaps the device with them.
  private var devices: [DeviceDescription]

  init(machine: Machine, device: DeviceDescription) {
    self.machine = machine
    devices = [device]
  }

  /// The same, with the conditions that a device supports under its options.
  func adding(_ device: DeviceDescription?) -> SettingSorting {
    var copy = self
    if let device { copy.devices.append(device) }
    return copy
  }

  func isOption(_ name: String) -> Bool { devices[0].options.contains(name) }

  func kind(of name: String) -> Kind {
    if isOption(name) { return .option }
    if supporting(name) != nil { return .condition(isFlag: machine.isStartFlag(name)) }
    var known: [String] = []
    for setting in devices.flatMap({ $0.abilities.settings ?? [] }) where !known.contains(setting) {
      known.append(setting)
    }
    return .unknown(.unknown(.setting(name), "setting", name, of: known + devices[0].options))
  }

  /// What is wrong with the value of a condition; `nil` if nothing is.
  func problem(with setting: Argument) -> String? {
    supporting(setting.name)?.abilities.particulars.problem(with: setting)
  }

  private func supporting(_ name: String) -> DeviceDescription? {
    devices.first { $0.abilities.settings?.contains(name) ?? true }
  }

  func hasStart(for condition: StartCondition, report cursor: Cursor?) -> Bool {
    let isPossible = machine.definition.starts.contains { start in
      start.conditions.allSatisfy { item in condition.flag(item.name).map { $0 == item.value } ?? true }
    }
    if !isPossible {
      cursor?.report(.impossible, "the machine `\(machine.name)` has no start with these settings")
    }
    return isPossible
  }
}

extension Cursor {
  /// A flag, a number, a duration or text; a quoted value is text, and null is invalid.
  func anyValue() -> Value? {
    guard let text = text("a value") else { return nil }
    guard !isNull else {
      report("`\(text)` is not a value", hint: "for text, write it in quotes")
      return nil
    }
    if case .scalar(_, .quoted) = node.content { return .text(text) }
    return Value(plain: text)
  }
}

extension Machine {
  /// Whether a name is a condition of the machine's starts, which is on or off.
  func isStartFlag(_ name: String) -> Bool {
    definition.starts.contains { start in start.conditions.contains { $0.name == name } }
  }
}

extension Value {
  /// The value of a start condition: a flag where the condition is one and the value is `yes` or `no` in any form.
  func asCondition(isFlag: Bool) -> Value { isFlag && isYesOrNo ? .flag(!isNothing) : self }
}
