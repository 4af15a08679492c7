import Basics
import Documents
import Automata
public import Conformance

/// The subject of fuzzing: a machine, a device, and the conditions in which tests start.
public struct FuzzTarget: Sendable {
  /// The machine.
  public let machine: MachineLibrary.Entry
  /// The names of the machine.
  public let vocabulary: Vocabulary
  /// The device, with its own options only.
  public let device: DeviceSpec
  /// The seed of the device's random choices.
  public let seed: UInt64
  /// The conditions in which tests start; the default one is the last.
  public private(set) var starts: [StartCondition]
  /// The numbers of the machine's starts for these conditions.
  public private(set) var startNumbers: [Int]
  /// The stimuli and faults that tests must not use on this device, by name.
  public private(set) var withheld: [String]
  /// The start settings that hold in every case with this device by default.
  private let usual: [Argument]
  /// The device's abilities.
  private let abilities: Abilities
  /// The stimuli that move something that wears.
  private let moving: [String]
  /// The abilities of the device that this one replaces, if it does.
  private(set) var original: Abilities?

  /// The maximum number of events of a machine that can be fuzzed.
  private static var maximumEvents: Int { 64 }

  /// Determines what can be tested with a device.
  ///
  /// - Parameters:
  ///   - machine: the machine.
  ///   - spec: the device; settings that are not its options are start conditions of every test.
  ///   - seed: the seed of the device's random choices.
  /// - Throws: what is wrong with the device, or why it does not fit the machine.
  public init(
    _ machine: MachineLibrary.Entry, _ spec: DeviceSpec, seed: UInt64, provider: any DeviceProvider
  ) throws(DeviceProblem) {
    let options = try Self.options(of: spec, provider)
    let description = try provider.describe(options.device)
    self.machine = machine
    vocabulary = Vocabulary(machine: machine.machine)
    self.seed = seed
    device = options.device
    withheld = description.withheld.map(\.stimulus)
    try description.check(spec, against: machine)
    let eventCount = machine.machine.eventCount
    guard eventCount <= Self.maximumEvents else {
      throw DeviceProblem(
        .name,
        "the machine `\(machine.label)` has \(eventCount) events; up to \(Self.maximumEvents) can be fuzzed")
    }
    if let known = description.abilities.settings,
      let item = options.start.settings.first(where: { !known.contains($0.name) })
    {
      throw .unknown(.setting(item.name), "setting", item.name, of: known + description.options)
    }
    for setting in spec.settings where options.start.setting(setting.name) != nil {
      try description.check(setting)
    }
    let conditions = machine.machine.definition.starts.map { start in
      Self.condition(start, options.start, description)
    }
    starts = conditions.compactMap(\.self)
    startNumbers = conditions.indices.filter { conditions[$0] != nil }
    abilities = description.abilities
    moving = description.moving ?? DeviceDescription.usuallyMoving
    usual = description.usual.filter { $0.stimulus == nil }.map(\.setting)
    if starts.isEmpty { throw DeviceProblem(.name, "the machine has no start with these settings") }
  }

  /// The stimuli of the machine that the device does not accept, by name: no test can send them.
  public var undriven: [String] {
    guard let served = abilities.stimuli else { return [] }
    let known = served + withheld
    return machine.machine.stimulusNames.filter { !known.contains($0) }
  }

  /// Throws if tests have no act with a name; the acts are those of ``Alphabet``.
  ///
  /// - Parameters:
  ///   - isWanted: whether the device must support it; an unsupported one is left out anyway.
  ///   - twin: the reference device that may be explored in place of the target, with its own acts.
  public func checkAct(_ name: String, isWanted: Bool, twin: FuzzTarget?) throws(DeviceProblem) {
    guard !abilities.areUnknown else { return }
    let specification = machine.specification(abilities)
    let names = [abilities, twin?.abilities].compactMap(\.self).flatMap { abilities in
      Alphabet(specification, abilities).acts.filter { !isWanted || !$0.variants.isEmpty }.map(\.name)
    }
    if !names.contains(name) { throw .unknown(.name, "stimulus or fault", name, of: names) }
  }

  /// Throws if tests with some settings could only wait.
  public func checkActs(_ settings: FuzzSettings) throws(DeviceProblem) {
    let alphabet = alphabet(machine.specification(abilities), abilities, settings)
    let waits = alphabet.settle...alphabet.edge
    let isLeft = alphabet.acts.indices.contains { act in
      !waits.contains(act) && alphabet.acts[act].weight > 0 && !alphabet.acts[act].variants.isEmpty
    }
    guard !isLeft else { return }
    throw DeviceProblem(
      .name, "no stimulus and no fault of \(device) is left that a test could try",
      hint: "give one of them a weight, or leave out fewer levels")
  }

  /// The acts of tests.
  func alphabet(
    _ specification: Specification, _ abilities: Abilities, _ settings: FuzzSettings
  ) -> Alphabet {
    Alphabet(
      specification, original.map(abilities.limited) ?? abilities, levels: settings.levels,
      weights: settings.weights + withheld.map { ($0, 0) }, moving: moving)
  }

  /// This target as a replacement for another one of the same machine, restricted to the acts and starts that both
  /// support.
  ///
  /// - Returns: `nil` if there is no common start.
  public func standing(in other: FuzzTarget) -> FuzzTarget? {
    var twin = self
    twin.original = other.abilities
    twin.withheld += other.withheld
    let kept = startNumbers.indices.filter { other.startNumbers.contains(startNumbers[$0]) }
    twin.starts = kept.map { starts[$0] }
    twin.startNumbers = kept.map { startNumbers[$0] }
    return kept.isEmpty ? nil : twin
  }

  /// A start as written in a scenario: without the settings that hold in every case.
  func written(_ start: StartCondition) -> StartCondition {
    StartCondition(start.settings.filter { !usual.contains($0) })
  }

  /// Separates a device's options from the conditions in which tests start.
  private static func options(
    of spec: DeviceSpec, _ provider: any DeviceProvider
  ) throws(DeviceProblem) -> (device: DeviceSpec, start: StartCondition) {
    let known = try provider.describe(DeviceSpec(spec.kind, spec.name)).options
    var device = DeviceSpec(spec.kind, spec.name)
    var start = StartCondition()
    for setting in spec.settings {
      if known.contains(setting.name) {
        device.settings.append(setting)
      } else {
        start.settings.append(Argument(setting.name, Value(plain: setting.value)))
      }
    }
    return (device, start)
  }

  /// The start condition of a device for a start of the machine; `nil` if the device cannot have it.
  private static func condition(
    _ start: Start, _ wanted: StartCondition, _ device: DeviceDescription
  ) -> StartCondition? {
    var condition = wanted
    for item in start.conditions {
      if let flag = wanted.flag(item.name) {
        guard flag == item.value else { return nil }
        continue
      }
      if let given = device.given.first(where: { $0.name == item.name })?.value {
        guard given.isNothing != item.value else { return nil }
      }
      guard device.abilities.settings?.contains(item.name) ?? true else {
        // A setting that the device does not support has its default.
        continue
      }
      condition.settings.append(Argument(item.name, .flag(item.value)))
    }
    // What holds in every case also holds in every test.
    for usual in device.usual where usual.stimulus == nil && condition.setting(usual.setting.name) == nil {
      condition.settings.append(usual.setting)
    }
    return condition
  }
}

extension DeviceDescription {
  /// Throws if a device does not fit a machine.
  public func check(_ spec: DeviceSpec, against machine: MachineLibrary.Entry) throws(DeviceProblem) {
    try checkNames(in: machine)
    if let (message, hint) = mismatch(spec, to: machine) {
      throw DeviceProblem(.name, message, hint: .words(hint))
    }
    guard let machines, !machine.isFile, !machines.contains(machine.machine.name) else { return }
    throw DeviceProblem(
      .name, "\(spec.name) cannot be compared with the machine `\(machine.label)`",
      hint: "it goes with \(machines.joined(separator: ", "))")
  }

  /// Why a device and a file's machine have no stimulus and no fault in common, with what the device
  /// supports.
  ///
  /// - Returns: `nil` if they share something, or if the device must be asked each time.
  func mismatch(_ spec: DeviceSpec, to machine: MachineLibrary.Entry) -> (message: String, hint: String)? {
    let wanted = machine.machine.stimulusNames
    guard machine.isFile, let served = abilities.stimuli, !wanted.isEmpty else { return nil }
    let known = served + withheld.map(\.stimulus)
    let faults = machine.machine.definition.conditions.flatMap(\.faults)
    guard !wanted.contains(where: known.contains), !faults.contains(where: abilities.faults.contains) else {
      return nil
    }
    return (
      "`\(spec.name)` takes no stimulus of the machine `\(machine.label)`: \(Self.list(wanted))",
      "it takes \(known.isEmpty ? "none" : Self.list(known))"
    )
  }

  /// Some of the names, and the number of the others.
  private static func list(_ names: [String]) -> String {
    let shown = 12
    let rest = names.count > shown ? " and \(names.count - shown) more" : ""
    return names.prefix(shown).joined(separator: ", ") + rest
  }
}
