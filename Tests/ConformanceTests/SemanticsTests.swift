import Automata
import Conformance
import Basics
import TestSupport
import Testing

/// Small machines with all that a row can depend on: several outcomes, conditions that faults and stimuli bring about,
/// timers, and changes of which nothing is seen.
private struct SemanticMachines {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed, for: "semantic machines") }

  mutating func next() -> MachineDefinition {
    let states = (0..<2 + generator.below(5)).map { "s\($0)" }
    let stimuli = (0..<1 + generator.below(4)).map { "e\($0)" }
    let happenings = (0..<generator.below(3)).map { "h\($0)" }
    let conditions = (0..<generator.below(4)).map { "c\($0)" }
    let statuses = (0..<1 + generator.below(states.count)).map { "t\($0)" }
    var machine = MachineDefinition(name: "drawn")
    machine.states = states.map {
      State($0, status: pick(statuses), entry: chance(4) ? ["n\(generator.below(2))"] : [])
    }
    machine.events = stimuli.map { Event($0) } + happenings.map { Event($0, .spontaneous) }
    for name in conditions {
      machine.conditions.append(
        Condition(
          name, faults: chance(4) ? [] : ["f" + name, "shared"].dropLast(chance(3) ? 0 : 1),
          until: chance(4) ? [machine.states[generator.below(states.count)].status] : [],
          stimuli: chance(2) ? [pick(stimuli)] : [], countsFromEntry: chance(2),
          delay: .milliseconds(Int64(100 * generator.below(3)))))
    }
    for event in machine.events {
      let isStimulus = event.kind == .stimulus
      // A state may have rows for the same event under other conditions.
      for state in states where chance(isStimulus ? 2 : 3) || state == states[0] {
        machine.transitions.append(row(.event(event.name), state, states, conditions, isStimulus))
        if machine.transitions[machine.transitions.count - 1].given != [], chance(2) {
          machine.transitions.append(row(.event(event.name), state, states, [], isStimulus))
        }
      }
      if isStimulus, chance(4) {
        var row = row(.event(event.name), states[0], states, conditions, true)
        row.from = .wildcard
        machine.transitions.append(row)
      }
    }
    for state in states where chance(3) {
      machine.transitions.append(row(.timer, state, states, conditions, false))
    }
    machine.starts = [Start(pick(states))]
    return machine
  }

  private mutating func row(
    _ trigger: Transition.Trigger, _ state: String, _ states: [String], _ conditions: [String],
    _ isStimulus: Bool
  ) -> Transition {
    let targets = Array(states.shuffled(using: &generator).prefix(chance(3) ? 2 : 1))
    var row = Transition(trigger, from: .states([state]), to: .states(targets))
    if chance(4) { row.before = ["b\(generator.below(2))"] }
    if chance(4) { row.after = ["a\(generator.below(2))"] }
    if chance(6) { row.shows = "o" }
    if !conditions.isEmpty {
      if chance(3) { row.given = [pick(conditions)] }
      if chance(4) { row.unless = [pick(conditions)] }
    }
    if !isStimulus {
      let earliest = Interval.milliseconds(Int64(500 * generator.below(5)))
      let latest = earliest + .milliseconds(Int64(500 * (1 + generator.below(4))))
      row.window = chance(4) ? Window(earliest: earliest) : Window(earliest: earliest, latest: latest)
      if chance(3), let name = conditions.first { row.window.plus = name }
    }
    // What must happen by a time and leaves the state as it is would be due again at once, for ever.
    if row.window.latest == .forever, chance(6) { row.to = .stay }
    return row
  }

  private mutating func chance(_ bound: Int) -> Bool { generator.below(bound) == 0 }

  private mutating func pick(_ names: [String]) -> String { names[generator.below(names.count)] }
}

/// Drives a device of one machine against the model of another: stimuli, forbidden ones too, faults that last for a time or
/// until they are taken away, and waits.
private func divergence(
  of device: Machine, from model: Machine, seed: UInt64, tests: Int = 3, length: Int = 40
) throws -> Divergence? {
  let showsEffects = seed % 3 != 0
  let specification = Specification(model, showsEffects: showsEffects)
  var lockstep = Lockstep(
    specification, MachineDevice(device, .seeded(seed), showsEffects: showsEffects), recorder: NoRecorder())
  var generator = SeededGenerator(seed: seed, for: "semantics")
  let events = model.definition.events.indices.filter { model.isStimulus($0) }
  let faults = model.definition.conditions.flatMap { $0.faults + [$0.name] }
  for _ in 0..<tests {
    if let divergence = try lockstep.begin(StartCondition()) { return divergence }
    for _ in 0..<length {
      let action: TestAction
      switch generator.below(faults.isEmpty ? 7 : 10) {
      case 0..<5:
        let seconds = Interval.seconds(Int64(generator.below(3)))
        let arguments = generator.below(2) == 0 ? [] : [Argument("value", .duration(seconds))]
        action = .stimulus(Stimulus(events[generator.below(events.count)], arguments))
      case 5: action = .wait(.milliseconds(Int64([1, 100, 250, 500, 1000, 2000][generator.below(6)])))
      case 6: action = .edge(TimerEdge(.closing, .milliseconds(Int64(generator.below(3) - 1))))
      default:
        let values: [Value] = [
          .flag(true), .flag(false), .duration(.seconds(1)), .duration(.milliseconds(300)),
        ]
        action = .fault(Fault(faults[generator.below(faults.count)], values[generator.below(values.count)]))
      }
      if let divergence = try lockstep.carryOut(action).divergence { return divergence }
    }
    if let divergence = try lockstep.settle() { return divergence }
  }
  return nil
}

extension Machine {
  /// The machine without rows that are warned of as said twice, and with something to be seen where one that is never
  /// taken is taken: where it is missing, a row from any state would stand in its place.
  fileprivate func betraying(_ warnings: [DefinitionWarning]) -> Machine {
    var rows = definition.transitions
    func part(_ states: [String], of row: Int, shows: String?) {
      guard case .states(let names) = rows[row].from else { return }
      var other = rows[row]
      other.from = .states(names.filter(states.contains))
      other.shows = shows
      rows[row].from = .states(names.filter { !states.contains($0) })
      if shows != nil { rows.append(other) }
    }
    let all = definition.states.map(\.name)
    for warning in warnings {
      switch (warning.kind, warning.place) {
      case (.unreachable(let state), _): rows.indices.forEach { part([state], of: $0, shows: "betrayed") }
      case (.preempted(_, let states, _), .row(let row)): part(states, of: row, shows: "betrayed")
      case (.repeated(_, let states), .row(let row)): part(states, of: row, shows: nil)
      case (_, .row(let row)): part(all, of: row, shows: "betrayed")
      default: break
      }
    }
    return replacingRows(with: rows)
  }
}

@Suite("What a machine does and what its model allows")
struct SemanticsTests {
  @Test("whatever a machine does, read row by row, the model allows", arguments: 0..<8 as Range<UInt64>)
  func modelAllowsWhatMachineDoes(part: UInt64) throws {
    var count = 0
    for seed in part * 150..<(part + 1) * 150 {
      var machines = SemanticMachines(seed: seed)
      guard let machine = try? Machine(machines.next()) else { continue }
      count += 1
      let found = try divergence(of: machine, from: machine, seed: seed)
      #expect(found == nil, "seed \(seed): \(found.map { "\($0)" } ?? "")")
    }
    #expect(count >= 75, "of a hundred and fifty drawn machines")
  }

  @Test(
    "what a machine is warned of, a device of it never does: a model that would see it sees nothing",
    arguments: 0..<8 as Range<UInt64>)
  func warnedOfNeverHappens(part: UInt64) throws {
    var count = 0
    for seed in part * 150..<(part + 1) * 150 {
      var machines = SemanticMachines(seed: seed)
      guard let machine = try? Machine(machines.next()) else { continue }
      let warnings = machine.warnings()
      guard !warnings.isEmpty else { continue }
      count += 1
      let found = try divergence(of: machine, from: machine.betraying(warnings), seed: seed)
      #expect(found == nil, "seed \(seed): \(warnings) \(found.map { "\($0)" } ?? "")")
    }
    #expect(count >= 30, "of a hundred and fifty drawn machines")
  }

  /// The canary: the walk that finds nothing in the test above finds what is wrong.
  @Test("a machine that does what its rows do not say is noticed", arguments: Change.allCases)
  private func wrongMachinesAreNoticed(change: Change) throws {
    var count = 0
    var noticed = 0
    for seed in 0..<60 as Range<UInt64> {
      var machines = SemanticMachines(seed: seed)
      guard let machine = try? Machine(machines.next()), let wrong = change.wrong(machine) else { continue }
      count += 1
      let isFound = try (0..<3).contains { turn in
        try divergence(of: wrong, from: machine, seed: seed + 1000 * turn) != nil
      }
      noticed += isFound ? 1 : 0
    }
    // Many a change changes nothing that can be seen, or is never come to.
    #expect(count >= 10)
    #expect(noticed * 5 > count, "\(noticed) of \(count)")
  }

  @Test("a status ends what the stimulus that led to it has set")
  func statusEndsWhatStimulusSet() throws {
    var machine = MachineDefinition(name: "ends")
    machine.states = [State("a"), State("b")]
    machine.events = [Event("set"), Event("go")]
    machine.conditions = [Condition("c", until: ["b"], stimuli: ["set"])]
    machine.transitions = [
      Transition(.event("set"), from: .states(["a"]), to: .states(["b"])),
      Transition(.event("go"), from: .states(["b"]), to: .states(["a"]), given: ["c"]),
    ]
    machine.starts = [Start("a")]
    let checked = try Machine(machine)
    var lockstep = Lockstep(
      Specification(checked), MachineDevice(checked), recorder: TraceList())
    let actions: [TestAction] = [
      .stimulus(Stimulus(0, [Argument("value", .duration(.seconds(2)))])), .wait(.seconds(1)),
      .stimulus(Stimulus(1)),
    ]
    #expect(try lockstep.begin(StartCondition()) == nil)
    for action in actions { #expect(try lockstep.carryOut(action).divergence == nil) }
    #expect(lockstep.refusal != nil)
  }

  @Test("what may be set to nothing holds no more than before, whatever it was set to earlier")
  func perhapsSetToNothing() throws {
    var machine = MachineDefinition(name: "set")
    machine.states = [State("a")]
    machine.events = [Event("set")]
    machine.conditions = [Condition("c", faults: ["f"], stimuli: ["set"])]
    machine.transitions = [Transition(.event("set"), from: .states(["a"]), to: .stay)]
    machine.starts = [Start("a")]
    var environment = Environment(try Machine(machine).environment)
    environment.begin(0)
    environment.set(0, perhapsTo: .seconds(2))
    environment.end(0)
    environment.set(0, perhapsTo: .zero)
    #expect(environment.conditions == 0 && environment.open == 0)
    environment.set(0, perhapsTo: .seconds(1))
    #expect(environment.conditions | environment.open == 1 && environment.open == 1)
  }

  @Test(
    "what counts from the entry of a state may count or not where it is open when that was",
    arguments: [0, 1])
  func entryIsOpen(second: Int64) throws {
    var machine = MachineDefinition(name: "entry")
    machine.states = [State("x", status: "t"), State("y", status: "t"), State("z")]
    machine.events = [Event("go")]
    machine.conditions = [Condition("c", faults: ["f"], countsFromEntry: true)]
    machine.transitions = [
      Transition(.event("go"), from: .states(["x"]), to: .stay),
      Transition(.timer, from: .states(["x"]), to: .states(["y"]), window: .within(.seconds(2))),
      Transition(
        .timer, from: .states(["y"]), to: .states(["z"]), window: .within(.seconds(3)), given: ["c"]),
    ]
    machine.starts = [Start("x")]
    var tracker = Tracker(Specification(try Machine(machine)))
    tracker.apply(Fault("f", .flag(true)), at: .zero + .seconds(second))
    if second == 0 { tracker.completeConditionChanges() }
    // From the start on it counts; after a second the state may have been entered before.
    #expect(tracker.settle(at: .zero + .seconds(10)) == (second == 1))
  }

  /// One thing that a reading of the definition can get wrong.
  private enum Change: CaseIterable {
    case given, unless, target, stay, time, early, refusal, effects, entry, ending, setting, fault, counting

    func wrong(_ machine: Machine) -> Machine? {
      var changed = machine.definition
      for row in changed.transitions.indices { change(&changed.transitions[row], of: machine) }
      for item in changed.conditions.indices { change(&changed.conditions[item]) }
      switch self {
      case .refusal: changed.transitions.removeAll { $0.from == .states([changed.starts[0].state]) }
      case .entry: for state in changed.states.indices { changed.states[state].entry = [] }
      default: break
      }
      if changed.transitions != machine.definition.transitions {
        return machine.replacingRows(with: changed.transitions)
      }
      return changed == machine.definition ? nil : try? Machine(changed)
    }

    private func change(_ row: inout Transition, of machine: Machine) {
      switch self {
      case .given: row.given = []
      case .unless: row.unless = []
      case .target where row.to != .stay:
        row.to = .states([machine.definition.states[machine.stateCount - 1].name])
      case .stay where row.window.latest == .forever: row.to = .stay
      case .time where row.window.latest != .forever:
        row.window.latest = row.window.latest + .seconds(5)
        row.window.earliest = row.window.latest
      case .early: row.window.earliest = .zero
      case .effects: swap(&row.before, &row.after)
      default: break
      }
    }

    private func change(_ item: inout Condition) {
      switch self {
      case .ending: item.until = []
      case .setting: item.stimuli = []
      case .fault: item.faults = []
      // Faults may be felt at any time; what is set is known.
      case .counting where item.stimuli != []: item.countsFromEntry.toggle()
      default: break
      }
    }
  }
}
