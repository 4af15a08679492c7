import Automata
import Basics
import TestSupport
import Testing

private let sound = MachineDefinition(
  name: "M", states: [State("A"), State("B")], events: [Event("go"), Event("come", .spontaneous)],
  conditions: [Condition("jam")],
  transitions: [
    Transition(.event("go"), from: .states(["A"]), to: .states(["B"])),
    Transition(.event("come"), from: .wildcard, to: .states(["A"])),
  ], starts: [Start("A")])

private struct Flaw: Sendable, CustomTestStringConvertible {
  let faults: [DefinitionFault]
  let place: DefinitionFinding.Place
  let spoil: @Sendable (inout MachineDefinition) -> Void
  var testDescription: String { faults.map(\.description).joined(separator: "; ") }

  init(
    _ faults: DefinitionFault..., at place: DefinitionFinding.Place,
    spoil: @escaping @Sendable (inout MachineDefinition) -> Void
  ) {
    self.faults = faults
    self.place = place
    self.spoil = spoil
  }
}

private func add(
  _ machine: inout MachineDefinition, _ event: String, from: Transition.Source = .states(["B"]),
  to: Transition.Target = .states(["A"]), window: Window = .any, given: [String] = [], unless: [String] = []
) {
  machine.transitions.append(
    Transition(.event(event), from: from, to: to, window: window, given: given, unless: unless))
}

private let flaws: [Flaw] = [
  Flaw(.emptyMachineName, at: .machine) { $0.name = "" },
  Flaw(.noStart, at: .machine) { $0.starts = [] },
  Flaw(.startNotDefined("X"), at: .start(1)) { $0.starts.append(Start("X")) },
  Flaw(.duplicateSetting(state: "A", setting: "on"), at: .start(0)) {
    $0.starts[0].conditions = [.init("on", true), .init("on", false)]
  },
  Flaw(.emptyStateName, at: .state(2)) { $0.states.append(State("")) },
  Flaw(.duplicateState("A"), at: .state(2)) { $0.states.append(State("A")) },
  Flaw(.emptyEventName, at: .event(2)) { $0.events.append(Event("")) },
  Flaw(.duplicateEvent("go"), at: .event(2)) { $0.events.append(Event("go")) },
  Flaw(.noTransitions(event: "idle"), at: .event(2)) { $0.events.append(Event("idle")) },
  Flaw(.duplicateCondition("jam"), at: .condition(1)) { $0.conditions.append(Condition("jam")) },
  Flaw(.setterNotDefined(condition: "x", stimulus: "set"), at: .condition(1)) {
    $0.conditions.append(Condition("x", stimuli: ["set"]))
  },
  Flaw(.conditionNotDefined(event: "jam", condition: "x"), at: .condition(0)) {
    $0.conditions[0].unsure = ["x"]
  },
  Flaw(.negativeDelay(condition: "jam"), at: .condition(0)) {
    $0.conditions[0].delay = .seconds(-1)
  },
  Flaw(.eventNotDefined("fly"), at: .row(2)) { add(&$0, "fly") },
  Flaw(.fromNotDefined(event: "go", state: "X"), at: .row(2)) { add(&$0, "go", from: .states(["X"])) },
  Flaw(.toNotDefined(event: "go", state: "X"), at: .row(2)) { add(&$0, "go", to: .states(["X"])) },
  Flaw(.emptyFrom(event: "go"), at: .row(2)) { add(&$0, "go", from: .states([])) },
  Flaw(.emptyTo(event: "go", from: "B"), at: .row(2)) { add(&$0, "go", to: .states([])) },
  Flaw(.duplicateTo(event: "go", from: "B", state: "A"), at: .row(2)) {
    add(&$0, "go", to: .states(["A", "A"]))
  },
  Flaw(.shiftChangesStatus(event: "go", from: "B", to: "A"), at: .row(2)) {
    add(&$0, "go", to: .shift(["A"]))
  },
  Flaw(.duplicateFrom(event: "go", state: "A"), at: .row(2)) { add(&$0, "go", from: .states(["A"])) },
  Flaw(.duplicateFrom(event: "go", state: "B"), at: .row(2)) { add(&$0, "go", from: .states(["B", "B"])) },
  Flaw(.severalWildcards(event: "come"), at: .row(2)) { add(&$0, "come", from: .wildcard) },
  Flaw(.conditionNotDefined(event: "go", condition: "x"), at: .row(2)) { add(&$0, "go", given: ["x"]) },
  Flaw(.conditionNotDefined(event: "go", condition: "x"), at: .row(2)) {
    add(&$0, "go", unless: ["x"])
  },
  Flaw(.windowOnStimulus(event: "go"), at: .row(2)) { add(&$0, "go", window: .within(.seconds(1))) },
  Flaw(.emptyWindow(event: "come"), at: .row(2)) {
    add(&$0, "come", window: Window(earliest: .seconds(2), latest: .seconds(1)))
  },
  Flaw(.negativeWindow(event: "come"), at: .row(2)) {
    add(&$0, "come", window: Window(earliest: .seconds(-2), latest: .seconds(1)))
  },
  Flaw(.negativeWindow(event: "come"), at: .row(2)) {
    $0.conditions = [Condition("c")]
    add(&$0, "come", window: Window(earliest: .seconds(-2), latest: .seconds(-1), plus: "c"))
  },
  Flaw(.repeatedDeadline(event: "come"), at: .row(2)) {
    add(&$0, "come", to: .stay, window: .within(.seconds(2)))
  },
  Flaw(.wildcardTimer, at: .row(2)) {
    $0.transitions.append(
      Transition(.timer, from: .wildcard, to: .states(["A"]), window: .after(.seconds(1))))
  },
  Flaw(.endlessTimers(state: "A"), at: .row(2)) {
    for (from, to) in [("A", "B"), ("B", "A")] {
      $0.transitions.append(
        Transition(.timer, from: .states([from]), to: .states([to]), window: .after(.zero)))
    }
  },
  Flaw(.tooLarge(what: "conditions", count: 65, limit: 64), at: .machine) {
    $0.conditions = (0..<65).map { Condition("c\($0)") }
  },
  Flaw(.tooLarge(what: "faults of a condition", count: 64, limit: 63), at: .machine) {
    $0.conditions[0].faults = (0..<64).map { "f\($0)" }
  },
  Flaw(.tooLarge(what: "edges", count: 4_000_002, limit: 2_000_000), at: .machine) {
    $0.states += (0..<1998).map { State("s\($0)") }
    let names = $0.states.map(\.name)
    $0.transitions = [
      Transition(.event("go"), from: .states(names), to: .states(names)),
      Transition(.event("come"), from: .states(["A"]), to: .states(["A", "B"])),
    ]
  },
]

@Suite("Validation: what is wrong with a definition")
struct ValidationTests {
  @Test("each fault is found, once, and at its place", arguments: flaws)
  fileprivate func fault(_ flaw: Flaw) {
    var definition = sound
    flaw.spoil(&definition)
    expect(definition.findings(), flaw.faults.map { DefinitionFinding($0, at: flaw.place) })
    #expect(throws: DefinitionError(flaw.faults)) { try Machine(definition) }
  }

  @Test("an empty definition and one with many faults are told all of them at once, in words")
  func many() throws {
    expect(MachineDefinition(name: "").faults(), [.emptyMachineName, .noStates, .noEvents, .noStart])
    var definition = sound
    definition.states.append(State("A"))
    add(&definition, "fly", from: .states(["X"]), given: ["wind"])
    let error = DefinitionError(definition.faults())
    expect(
      error.description,
      """
      state 'A' is defined twice
      a row names event 'fly', which is not defined
      'fly' starts from 'X', which is not defined
      'fly' depends on condition 'wind', which is not defined
      """)
  }

  @Test("the table has a cell for each pair, and a wildcard fills those that nothing else does")
  func dense() throws {
    var definition = sound
    definition.events.append(Event("reset"))
    definition.transitions += [
      Transition(.event("reset"), from: .wildcard, to: .states(["A"])),
      Transition(.event("reset"), from: .states(["A"]), to: .stay),
    ]
    let machine = try Machine(definition)
    expect(machine.next, [1, -1, 0, -1, -1, 0])
    expect(machine.edges(from: 0, on: 2).map(\.enters), [false])
    expect(machine.edges(from: 1, on: 2).map(\.enters), [true])
    expect(machine.spontaneous.map { $0.map(\.target) }, [[0], [0]])
    expect(
      ["A", "B", "C"].map { machine.state(named: $0) }, [0, 1, nil])
    expect(machine.event(named: "reset"), 2)
    expect(machine.condition(named: "jam"), 0)
    expect((0..<3).map { machine.isStimulus($0) }, [true, false, true])
    expect(machine.usualStart, 0)
  }
}
