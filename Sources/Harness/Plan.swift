import Documents
import Automata
public import Conformance
public import Basics

/// One run of a scenario: on a device, with a seed.
public struct Case: Sendable {
  /// The path of the scenario without the extension `.yaml`, and the number of the round if there are several.
  ///
  /// Unique in a run: no other extension is removed, so `a.yaml` and `a.yml` have different ids.
  public var id: String
  /// The title of the scenario.
  public var name: String
  /// The path of the scenario.
  public var file: String
  /// A hash of the scenario file's text; `nil` if the scenario comes from no file.
  public var text: String?
  /// A hash of the files of the device's program; `nil` if the device is not a program.
  public var program: String?
  /// The scenario.
  public var scenario: Scenario
  /// The machine.
  public var machine: MachineLibrary.Entry
  /// The device with its options.
  public var device: DeviceSpec
  /// The condition in which the test starts.
  public var start: StartCondition
  /// The seed of all random choices.
  public var seed: UInt64
  /// The settings of the replacement device. They distinguish this case from the case of the same scenario on its
  /// own device.
  public var settings: [DeviceSpec.Setting] = []
  /// The firmware of the device, if it is known before the run.
  public var firmware: String?
  /// The number of this attempt, from 1. Retries of a case that failed have the numbers from 2.
  public var attempt = 1
  /// Why the case is skipped; `nil` if it runs.
  public var skipReason: String?
}

extension Case {
  /// Returns the case as a self-contained scenario, for a file in `folder`: reading the file on the same device
  /// gives an equal case.
  public func standalone(in folder: String) -> Scenario {
    var copy = complete(in: folder)
    // The command line specifies a real lock and its transport: a scenario does not refer to a lock's file. The
    // scenario keeps its own device, which may not support what every case on a real lock starts with.
    if device.kind == .lock { (copy.device, copy.start) = (scenario.device, scenario.start) }
    return copy
  }

  /// The scenario with everything that the case adds to it.
  private func complete(in folder: String) -> Scenario {
    var copy = scenario
    if device.kind != .lock { copy.device = device }
    copy.start = start
    copy.seed = seed
    copy.machine = machine.reference(from: folder)
    return copy
  }

  /// A hash of the case: two cases with the same digest are the same test of the same device.
  public var digest: String {
    var fingerprint = Fingerprint(complete(in: ".").yaml())
    for part in [machine.hash, device.description, firmware ?? ""] { fingerprint.mix("\n" + part) }
    return fingerprint.description
  }
}

/// The cases of a run: which scenarios of a set run, on which devices, and in which order.
public struct Plan: Sendable {
  /// The selection that the user requested.
  public struct Selection: Sendable {
    /// The device that replaces those of the scenarios.
    public var device: DeviceSpec?
    /// The filters; a scenario runs if it matches one of them, or if there is none.
    public var filters: [ScenarioFilter] = []
    /// The ids of the cases that failed in an earlier run (ids without the number of the round), and what to do with
    /// these cases.
    public var failed: (ids: Set<ExactText>, use: FailedUse)?
    /// The paths of the scenarios that run before all others.
    public var leading: Set<ExactText> = []
    /// The part of the scenarios that runs, numbered from 1, and the number of parts.
    public var shard: (part: Int, count: Int) = (1, 1)
    /// The number of rounds. Each scenario runs once per round, with another seed; retries are not rounds.
    public var rounds = 1
    /// The seed of scenarios that define none.
    public var seed: UInt64 = 0
    /// Whether the seed also replaces those that scenarios define.
    public var seedOverrides = false

    /// Selects everything, once.
    public init() {}
  }

  /// The cases in order, with all rounds of a scenario one after the other. Each case is created on access, so
  /// that additional rounds need no memory.
  public struct Cases: RandomAccessCollection, Sendable {
    fileprivate var firstRoundCases: [Case] = []
    fileprivate let selection: Selection

    fileprivate init(selection: Selection) { self.selection = selection }

    /// Lists the cases of all scenarios of a set without choosing devices for them, so they cannot be run.
    public init(undriven set: ScenarioSet, _ selection: Selection) {
      self.init(selection: selection)
      firstRoundCases = set.items.map { Plan.case(of: $0, selection) }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { firstRoundCases.count * selection.rounds }

    public subscript(index: Int) -> Case {
      var test = firstRoundCases[index / selection.rounds]
      guard selection.rounds > 1 else { return test }
      let round = index % selection.rounds + 1
      test.id += "#\(round)"
      test.seed = Plan.seed(of: test.scenario, round: round, selection)
      return test
    }
  }

  /// The cases.
  public private(set) var cases: Cases
  /// The seed of cases whose scenario defines none.
  public var seed: UInt64 { cases.selection.seed }
  /// The devices of the scenarios that are not skipped.
  public var devices: [DeviceSpec] { cases.firstRoundCases.filter { $0.skipReason == nil }.map(\.device) }

  /// Plans a run.
  ///
  /// - Throws: a problem with the requested device, or with a scenario that has no device.
  public init(_ set: ScenarioSet, _ selection: Selection, provider: any DeviceProvider) throws(DeviceProblem)
  {
    let replacement = try selection.device.map { spec throws(DeviceProblem) in
      try Replacement(spec, provider: provider)
    }
    cases = Cases(selection: selection)
    var wanted = set.items.filter { item in
      selection.filters.isEmpty || selection.filters.contains { $0.matches(item) }
    }
    if let (ids, use) = selection.failed { wanted = use.applied(to: wanted, failed: ids) }
    if !selection.leading.isEmpty {
      let isLeading = { (item: ScenarioSet.Item) in selection.leading.contains(ExactText(item.path)) }
      wanted = wanted.filter(isLeading) + wanted.filter { !isLeading($0) }
    }
    for (number, item) in wanted.enumerated()
    where number % selection.shard.count == selection.shard.part - 1 {
      cases.firstRoundCases.append(
        try Plan.firstRoundCase(of: item, selection, replacement: replacement, provider: provider))
    }
    // Consecutive cases mostly have the same device: the files of its program are read once.
    var cached: (device: DeviceSpec, hash: String?)?
    for index in cases.firstRoundCases.indices {
      let device = cases.firstRoundCases[index].device
      if cached?.device != device { cached = (device, device.programHash) }
      cases.firstRoundCases[index].program = cached?.hash
    }
  }

  /// Throws if a device cannot replace those of scenarios.
  public static func check(_ device: DeviceSpec, provider: any DeviceProvider) throws(DeviceProblem) {
    _ = try Replacement(device, provider: provider)
  }

  /// Returns the case of a scenario in the first round.
  private static func firstRoundCase(
    of item: ScenarioSet.Item, _ selection: Selection, replacement: Replacement?, provider: any DeviceProvider
  ) throws(DeviceProblem) -> Case {
    let scenario = item.scenario
    var test = Plan.case(of: item, selection)
    let description: DeviceDescription
    if let replacement {
      description = replacement.description
      try replacement.apply(to: &test, provider: provider)
      test.removeWeights(ofNoActOn: description)
    } else if let own = scenario.device {
      description = try provider.describe(own)
    } else {
      throw DeviceProblem(
        .name, "\(item.path) names no device, and the machine `\(item.machine.label)` has no default device",
        hint: "give one with --device")
    }
    try description.checkNames(in: item.machine)
    test.firmware = description.firmware
    if test.skipReason == nil { test.skipReason = test.unmetNeed(on: description) }
    test.addStartConditions(description.abilities)
    test.addUsualSettings(description.usual)
    return test
  }

  /// Returns the case of a scenario in the first round, without a skip reason.
  private static func `case`(of item: ScenarioSet.Item, _ selection: Selection) -> Case {
    let scenario = item.scenario
    return Case(
      id: id(of: item.path), name: scenario.title, file: item.path, text: item.text, scenario: scenario,
      machine: item.machine, device: scenario.device ?? DeviceSpec(.emulator, ""), start: scenario.start,
      seed: seed(of: scenario, round: 1, selection))
  }

  /// Returns the id of a scenario's case, without the round.
  public static func id(of path: String) -> String {
    path.hasSuffix(".yaml") ? String(path.dropLast(5)) : path
  }

  private static func seed(of scenario: Scenario, round: Int, _ selection: Selection) -> UInt64 {
    let own = selection.seedOverrides ? nil : scenario.seed
    let seed = own ?? selection.seed
    if round == 1 { return seed }
    var generator = SeededGenerator(seed: seed, for: "round \(round)")
    // At most 53 bits, which every JSON reader represents exactly.
    return generator.next() >> 11
  }
}

/// What to do with the cases that failed in an earlier run.
public enum FailedUse: Sendable {
  /// Runs only these cases, or all selected cases if none of them failed.
  case only
  /// Runs these cases before the others.
  case first

  fileprivate func applied(to items: [ScenarioSet.Item], failed: Set<ExactText>) -> [ScenarioSet.Item] {
    let isFailed = { (item: ScenarioSet.Item) in failed.contains(ExactText(Plan.id(of: item.path))) }
    let found = items.filter(isFailed)
    switch self {
    case .only: return found.isEmpty ? items : found
    case .first: return found + items.filter { !isFailed($0) }
    }
  }
}

/// A device that replaces those of the scenarios.
private struct Replacement {
  let spec: DeviceSpec
  let description: DeviceDescription

  init(_ spec: DeviceSpec, provider: any DeviceProvider) throws(DeviceProblem) {
    let options = try provider.describe(DeviceSpec(spec.kind, spec.name)).options
    let own = spec.settings.filter { options.contains($0.name) }
    // The device's abilities may depend on its options.
    description = try provider.describe(DeviceSpec(spec.kind, spec.name, own))
    let settings = description.abilities.settings
    for setting in spec.settings where !options.contains(setting.name) {
      guard settings?.contains(setting.name) ?? true else {
        throw .unknown(.setting(setting.name), "setting", setting.name, of: options + (settings ?? []))
      }
      try description.check(setting)
    }
    self.spec = spec
  }

  /// Replaces the device of a case, and sets the skip reason if the case cannot run on it.
  func apply(to test: inout Case, provider: any DeviceProvider) throws(DeviceProblem) {
    let replaced = test.device
    if let machines = description.machines, !test.machine.isFile, !machines.contains(test.machine.label) {
      test.skipReason = "\(spec.name) cannot be compared with the machine \(test.machine.label)"
    } else if test.scenario.device != nil, let family = description.family,
      let wanted = try? provider.describe(replaced).family, wanted != family
    {
      test.skipReason = "written for the family \(wanted); \(spec.name) is of the family \(family)"
    }
    // The scenario relies on the options of its device, so the replacement gets the same options unless it sets
    // them itself. If the replacement lacks one of these options, the case is skipped. Options that only describe
    // the replaced device are dropped: its defects, whether its lock is treated as a real one (`as`), the state in
    // which its lock is found at the start (`found`), and the options of its driver.
    let dropped = ["defect", "as", "found"] + (replaced.kind == .driver ? DeviceSpec.driverOptions : [])
    var settings = replaced.settings.filter { !dropped.contains($0.name) }
    if let option = settings.first(where: { !description.options.contains($0.name) }) {
      test.skipReason = test.skipReason ?? "needs the option \(option.name), which \(spec.name) does not have"
    }
    settings.removeAll { item in spec.settings.contains { $0.name == item.name } }
    for setting in spec.settings {
      if description.options.contains(setting.name) {
        settings.append(setting)
      } else {
        let isFlag = test.machine.machine.isStartFlag(setting.name)
        let value = Value(plain: setting.value).asCondition(isFlag: isFlag)
        test.start.settings.removeAll { $0.name == setting.name }
        test.start.settings.append(Argument(setting.name, value))
      }
    }
    // A condition that is an option of this device is written, and read, as its option.
    for item in test.start.settings where description.hasOptionAndCondition(item.name) {
      test.start.settings.removeAll { $0.name == item.name }
      if settings.contains(where: { $0.name == item.name }) { continue }
      settings.append(DeviceSpec.Setting(item.name, item.value.description))
    }
    test.device = DeviceSpec(spec.kind, spec.name, settings)
    test.settings = spec.ownSettings
    // A case on a different emulated lock is a different case, with the lock in its settings. Cases on real
    // locks and on programs already differ in their device.
    if (replaced.kind, spec.kind) == (.emulator, .emulator), replaced.name != spec.name {
      test.settings.append(DeviceSpec.Setting("lock", spec.name))
    }
  }
}

extension DeviceDescription {
  fileprivate func hasOptionAndCondition(_ name: String) -> Bool {
    options.contains(name) && abilities.settings?.contains(name) ?? true
  }

  /// Returns the fixed value of a start setting if it contradicts `item`: the device has the setting switched on and
  /// `item` requires it switched off, or the reverse. Otherwise returns `nil`.
  fileprivate func fixedValue(differingFrom item: Argument) -> Value? {
    guard let value = given.first(where: { $0.name == item.name })?.value else { return nil }
    return value.isNothing == item.value.isNothing ? nil : value
  }
}

extension Case {
  /// Returns why the device cannot run the scenario: something that the scenario needs and the device lacks.
  fileprivate func unmetNeed(on device: DeviceDescription) -> String? {
    let abilities = device.abilities
    guard !abilities.areUnknown else { return nil }
    if let settings = abilities.settings,
      let item = start.settings.first(where: { !settings.contains($0.name) })
    {
      return "needs the start setting \(item.name), which \(self.device.name) does not support"
    }
    if let item = start.settings.first(where: { device.fixedValue(differingFrom: $0) != nil }),
      let given = device.fixedValue(differingFrom: item)
    {
      return
        "needs \(item.name): \(item.value) at the start, but \(self.device.name) starts with \(item.name): \(given)"
    }
    for step in scenario.steps.flattened {
      switch step.action {
      case .perform(let call), .performNow(let call), .refuse(let call):
        if let reason = device.withheld.first(where: { $0.stimulus == call.name })?.reason {
          return "needs the stimulus \(call.name): \(reason)"
        }
        if let stimuli = abilities.stimuli, !stimuli.contains(call.name) {
          return "needs the stimulus \(call.name), which \(self.device.name) does not have"
        }
        if !call.arguments.isEmpty,
          let problem = abilities.particulars.problem(with: call.name, call.arguments)
        {
          return "needs the stimulus \(call.name) as \(self.device.name) does not accept it: \(problem)"
        }
      case .fault(let fault):
        if !abilities.faults.contains(fault.name) {
          return "needs the fault \(fault.name), which \(self.device.name) cannot inject"
        }
        if let reason = device.reason(fault) {
          return "needs the fault \(fault.name) \(fault.value): \(reason)"
        }
        if let problem = abilities.particulars.problem(with: fault) {
          return "needs the fault \(fault.name) as \(self.device.name) cannot inject it: \(problem)"
        }
      case .expect(let expectation), .until(let expectation):
        if let need = unmetNeed(of: expectation, on: device) { return need }
      case .wait, .settle, .next, .fuzz, .repeated, .note: break
      }
    }
    return nil
  }

  private func unmetNeed(of expectation: Expectation, on device: DeviceDescription) -> String? {
    for condition in expectation.conditions {
      switch condition {
      case .effect where !device.abilities.showsEffects:
        return "needs effects, which \(self.device.name) does not show"
      case .reading(let name, _) where !device.readings.contains(name):
        return "needs the reading \(name), which \(self.device.name) does not report"
      default: break
      }
    }
    return nil
  }

  /// Removes the weights of random events that are neither stimuli nor faults with this device: they have no effect.
  fileprivate mutating func removeWeights(ofNoActOn device: DeviceDescription) {
    guard !device.abilities.areUnknown else { return }
    let definition = machine.machine.definition
    let events = definition.events.filter { $0.kind != .spontaneous }.map(\.name)
    let names = events + device.abilities.faults + definition.conditions.flatMap { [$0.name] + $0.faults }
    scenario.steps = scenario.steps.map { $0.removingWeights(except: names.contains) }
  }

  /// Adds the start settings that scenarios assume on this device and that this scenario does not set. A
  /// setting that concerns one stimulus is added only if the scenario performs that stimulus.
  fileprivate mutating func addUsualSettings(_ usual: [UsualSetting]) {
    for item in usual where start.setting(item.setting.name) == nil {
      let isRelevant =
        item.stimulus.map { name in
          scenario.steps.flattened.contains { step in
            switch step.action {
            case .perform(let call), .performNow(let call): call.name == name
            default: false
            }
          }
        } ?? true
      if isRelevant { start.settings.append(item.setting) }
    }
  }

  /// Adds the conditions of the machine's start that the scenario does not set, as far as the device supports
  /// them. If several starts agree with the scenario's settings, the last one counts.
  fileprivate mutating func addStartConditions(_ abilities: Abilities) {
    let start = machine.machine.definition.starts.last { start in
      start.conditions.allSatisfy { item in self.start.flag(item.name).map { $0 == item.value } ?? true }
    }
    guard let start else { return skipReason = skipReason ?? "the machine has no start with these settings" }
    for item in start.conditions where self.start.setting(item.name) == nil {
      guard abilities.settings?.contains(item.name) ?? true else { continue }
      self.start.settings.append(Argument(item.name, .flag(item.value)))
    }
  }
}

extension Step {
  /// The same step, where random events have no weights but those of some names.
  fileprivate func removingWeights(except isKept: (String) -> Bool) -> Step {
    var step = self
    switch action {
    case .fuzz(var events):
      events.weights.removeAll { !isKept($0.name) }
      step.action = .fuzz(events)
    case .repeated(let times, let steps):
      step.action = .repeated(times, steps.map { $0.removingWeights(except: isKept) })
    case .perform, .performNow, .refuse, .fault, .wait, .settle, .next, .expect, .until, .note: break
    }
    return step
  }
}
