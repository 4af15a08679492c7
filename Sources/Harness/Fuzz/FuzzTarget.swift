import Documents
import Automata
public import Conformance

/// What is fuzzed: a machine, a device, and the conditions in which tests start.
public struct FuzzTarget: Sendable {
  /// The machine.
  public let machine: MachineLibrary.Entry
  /// The names of what it knows.
  public let vocabulary: Vocabulary
  /// The device, with options of its own only.
  public let device: DeviceSpec
  /// The seed of everything that the device draws.
  public let seed: UInt64
  /// The conditions in which tests start; the usual one is the last.
  public private(set) var starts: [StartCondition]
  /// The numbers of the machine's starts that these conditions stand for.
  public private(set) var startNumbers: [Int]
  /// What is left out of tests, by name, since the device must not be asked for it.
  public private(set) var withheld: [String]
  /// What holds of every start with this device, as of every case, without being asked for.
  private let usual: [Argument]
  /// What the device can do.
  private let abilities: Abilities
  /// The stimuli that set something in motion that wears.
  private let moving: [String]
  /// What the device can do that this one stands in for, if it does.
  private(set) var original: Abilities?

  /// The most events of a machine that can be fuzzed.
  private static var maximumEvents: Int { 64 }

  /// Finds out what can be done with a device.
  ///
  /// - Parameters:
  ///   - machine: the machine.
  ///   - spec: the device; settings that are no options of it are start conditions of every test.
  ///   - seed: the seed of everything that the device draws.
  /// - Throws: what is wrong with the device, or why it does not go with the machine.
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
    if starts.isEmpty { throw DeviceProblem(.name, "no start of the machine goes with these settings") }
  }

  /// The stimuli of the machine that the device does not take, by name: no test can give them.
  public var undriven: [String] {
    guard let served = abilities.stimuli else { return [] }
    let known = served + withheld
    return machine.machine.stimulusNames.filter { !known.contains($0) }
  }

  /// Throws when a test has no act of a name; the acts are those of ``Alphabet``.
  ///
  /// - Parameters:
  ///   - isWanted: whether it must be one that the device can be given; one that it cannot is left out at any rate.
  ///   - twin: what may be explored in place of the target, with acts of its own.
  public func checkAct(_ name: String, isWanted: Bool, twin: FuzzTarget?) throws(DeviceProblem) {
    guard !abilities.areUnknown else { return }
    let specification = machine.specification(abilities)
    let names = [abilities, twin?.abilities].compactMap(\.self).flatMap { abilities in
      Alphabet(specification, abilities).acts.filter { !isWanted || !$0.variants.isEmpty }.map(\.name)
    }
    if !names.contains(name) { throw .unknown(.name, "stimulus or fault", name, of: names) }
  }

  /// Throws when tests with some settings would do nothing but wait.
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

  /// What tests may do with the device.
  func alphabet(
    _ specification: Specification, _ abilities: Abilities, _ settings: FuzzSettings
  ) -> Alphabet {
    Alphabet(
      specification, original.map(abilities.limited) ?? abilities, levels: settings.levels,
      weights: settings.weights + withheld.map { ($0, 0) }, moving: moving)
  }

  /// The target when it stands in for another one of the same machine: its tests do only what both can do, and start only
  /// where both can; `nil` where there is no such start.
  public func standing(in other: FuzzTarget) -> FuzzTarget? {
    var twin = self
    twin.original = other.abilities
    twin.withheld += other.withheld
    let kept = startNumbers.indices.filter { other.startNumbers.contains(startNumbers[$0]) }
    twin.starts = kept.map { starts[$0] }
    twin.startNumbers = kept.map { startNumbers[$0] }
    return kept.isEmpty ? nil : twin
  }

  /// A start as it is written: without what holds of every case.
  func written(_ start: StartCondition) -> StartCondition {
    StartCondition(start.settings.filter { !usual.contains($0) })
  }

  /// Tells a device's options from the conditions in which tests start.
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

  /// The condition of a device that a start of the machine stands for; `nil` when the device cannot be in it.
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
        // A setting that cannot be asked for is as it usually is.
        continue
      }
      condition.settings.append(Argument(item.name, .flag(item.value)))
    }
    // What holds of every case, holds of every test.
    for usual in device.usual where usual.stimulus == nil && condition.setting(usual.setting.name) == nil {
      condition.settings.append(usual.setting)
    }
    return condition
  }
}

extension DeviceDescription {
  /// Throws where a device does not go with a machine.
  public func check(_ spec: DeviceSpec, against machine: MachineLibrary.Entry) throws(DeviceProblem) {
    try checkNames(in: machine)
    if let (message, hint) = stranger(spec, to: machine) {
      throw DeviceProblem(.name, message, hint: .words(hint))
    }
    guard let machines, !machine.isFile, !machines.contains(machine.machine.name) else { return }
    throw DeviceProblem(
      .name, "\(spec.name) cannot be compared with the machine `\(machine.label)`",
      hint: "it goes with \(machines.joined(separator: ", "))")
  }

  /// Why a device has nothing in common with a file's machine, and what it supports: no stimulus of the machine, and
  /// no fault. `nil` if they share something, or the device must be asked each time.
  func stranger(_ spec: DeviceSpec, to machine: MachineLibrary.Entry) -> (message: String, hint: String)? {
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

  /// Some names, and how many more there are.
  private static func list(_ names: [String]) -> String {
    let shown = 12
    let rest = names.count > shown ? " and \(names.count - shown) more" : ""
    return names.prefix(shown).joined(separator: ", ") + rest
  }
}
