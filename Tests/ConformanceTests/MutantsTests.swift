import Automata
import Conformance
import Models
import Basics
import TestSupport
import Testing

/// Two lamps that look alike: only the second can be broken by a kick, and only after it was lit.
private func lamp() -> MachineDefinition {
  var machine = MachineDefinition(name: "lamp")
  machine.events = [Event("press"), Event("kick"), Event("glow", .spontaneous)]
  machine.conditions = [Condition("power", faults: ["power"])]
  machine.states = [State("off"), State("on"), State("on (warm)"), State("broken")]
  machine.transitions = [
    Transition(.event("press"), from: .states(["off"]), to: .states(["on"]), given: ["power"]),
    Transition(
      .event("glow"), from: .states(["on"]), to: .states(["on (warm)"]),
      window: Window(earliest: .seconds(2), latest: .seconds(3))),
    Transition(.event("kick"), from: .states(["on (warm)"]), to: .states(["broken"])),
    Transition(.event("press"), from: .states(["on", "on (warm)"]), to: .states(["off"])),
  ]
  machine.starts = [Start("off")]
  return machine
}

@Suite("Mutants")
struct MutantsTests {
  @Test("every transition is wrong in every way, in the order of the table")
  func all() throws {
    let mutants = Mutants(of: try Machine(lamp()))
    // swift-format-ignore
    expect(mutants.indices.map { "\(mutants.kind(of: $0).rawValue): \(mutants.summary(of: $0))" }, [
      "wrong status: off, press (on): leads to off",
      "wrong state: off, press (on): leads to on (warm)",
      "wrong status: off, press (on): leads to broken",
      "missing: off, press (on): is refused",
      "lost condition: off, press (on): does not depend on power",
      "wrong status: on, press (off): leads to on",
      "wrong status: on, press (off): leads to on (warm)",
      "wrong status: on, press (off): leads to broken",
      "missing: on, press (off): is refused",
      "wrong status: on, glow (on (warm)): leads to off",
      "wrong state: on, glow (on (warm)): leads to on",
      "wrong status: on, glow (on (warm)): leads to broken",
      "missing: on, glow (on (warm)): never happens",
      "wrong timer: on, glow (on (warm)): comes after 4.5 s",
      "wrong timer: on, glow (on (warm)): comes after 1 s",
      "wrong status: on (warm), press (off): leads to on",
      "wrong status: on (warm), press (off): leads to on (warm)",
      "wrong status: on (warm), press (off): leads to broken",
      "missing: on (warm), press (off): is refused",
      "wrong status: on (warm), kick (broken): leads to off",
      "wrong status: on (warm), kick (broken): leads to on",
      "wrong status: on (warm), kick (broken): leads to on (warm)",
      "missing: on (warm), kick (broken): is refused",
    ] + ["off, kick", "on, kick", "broken, press", "broken, kick"].flatMap { cell in
      ["off", "on", "on (warm)", "broken"].filter { $0 != cell.prefix { $0 != "," } }
        .map { "extra: \(cell): is obeyed and leads to \($0)" }
    })
  }

  @Test("a mutant differs from its machine in one cell", arguments: [MachineDefinition.socket, .sesame])
  func oneCell(definition: MachineDefinition) throws {
    let machine = try Machine(definition)
    let mutants = Mutants(of: machine)
    for number in mutants.sample(120, seed: 3) {
      let mutant = mutants[number]
      func ways(_ machine: Machine, _ edges: [Machine.Edge]) -> [String] {
        edges.map {
          "\($0.event ?? -1) \($0.target) \($0.earliest) \($0.latest) \($0.guard.given) \($0.guard.unless)"
        }
      }
      let differing = machine.caused.indices.filter {
        ways(machine, machine.caused[$0]) != ways(mutant.machine, mutant.machine.caused[$0])
      }
      let states = machine.spontaneous.indices.filter {
        ways(machine, machine.spontaneous[$0]) != ways(mutant.machine, mutant.machine.spontaneous[$0])
      }
      expect(differing, mutant.stimulus.map { [mutant.state * machine.eventCount + $0] } ?? [])
      expect(states, mutant.stimulus == nil ? [mutant.state] : [])
    }
  }

  @Test("a sample is the same for a seed, another for another, and has of each kind")
  func sample() throws {
    let mutants = Mutants(of: try Machine(.sesame))
    let sample = mutants.sample(60, seed: 1)
    expect(sample.count, 60)
    expect(mutants.sample(60, seed: 1), sample)
    #expect(mutants.sample(60, seed: 2) != sample)
    expect(
      Mutant.Kind.allCases.map { kind in sample.filter { mutants.kind(of: $0) == kind }.count },
      [10, 10, 10, 10, 10, 10, 0, 0])
    expect(mutants.sample(1_000_000, seed: 1).count, mutants.count)
  }
}

@Suite("The search for a test that tells a wrong machine from the right one")
struct DistinguishingSearchTests {
  /// What a test does, in words.
  private func words(_ test: DistinguishingTest, _ machine: Machine) -> [String] {
    test.actions.map { action, isForbidden in
      switch action {
      case .stimulus(let stimulus):
        (isForbidden ? "not " : "") + machine.definition.events[stimulus.number].name
      case .fault(let fault): "fault \(fault.name) \(fault.value)"
      case .wait(let interval): "wait \(interval)"
      case .settle, .next, .edge, .drawn: "?"
      }
    }
  }

  @Test("finds the shortest tests, or that there is none")
  func lampTests() throws {
    let machine = try Machine(lamp())
    let mutants = Mutants(of: machine)
    let search = DistinguishingSearch(Specification(machine))
    func result(_ summary: String) throws -> [String] {
      let number = try #require(mutants.indices.first { mutants.summary(of: $0) == summary })
      switch search.distinguish(mutants[number]) {
      case .test(let test): return words(test, machine)
      case .equivalent: return ["equivalent"]
      case .undecided: return ["undecided"]
      }
    }
    expect(try result("off, press (on): does not depend on power"), ["not press"])
    // For a tenth of a second after the fault, a refusal could still be right.
    expect(try result("off, press (on): is refused"), ["fault power yes", "wait 101 ms", "press"])
    expect(
      try result("on, glow (on (warm)): comes after 1 s"),
      ["fault power yes", "press", "wait 1 s", "not kick"])
    expect(
      try result("on, glow (on (warm)): never happens"), ["fault power yes", "press", "wait 3 s", "kick"])
    expect(
      try result("off, press (on): leads to on (warm)"), ["fault power yes", "press", "not kick"])
    // What is broken stays broken, and shows it; what would lead elsewhere is seen at once.
    expect(
      try result("broken, kick: is obeyed and leads to off"),
      ["fault power yes", "press", "wait 2 s", "kick", "not kick"])
  }

  /// A machine of which one state is never left as it was entered: what leads there is as good as what does not.
  @Test("proves that a mutant is equivalent, without timers exactly")
  func equivalent() throws {
    var machine = MachineDefinition(name: "twins")
    machine.events = [Event("go"), Event("back")]
    machine.states = [
      State("home"), State("away (left)", status: "away"), State("away (right)", status: "away"),
    ]
    machine.transitions = [
      Transition(.event("go"), from: .states(["home"]), to: .states(["away (left)"])),
      Transition(.event("back"), from: .states(["away (left)", "away (right)"]), to: .states(["home"])),
    ]
    machine.starts = [Start("home")]
    let twins = try Machine(machine)
    let mutants = Mutants(of: twins)
    let search = DistinguishingSearch(Specification(twins))
    var equivalent: [String] = []
    for number in mutants.indices {
      switch search.distinguish(mutants[number]) {
      case .equivalent(let pairs):
        equivalent.append(mutants.summary(of: number))
        #expect(pairs > 0)
      case .undecided: Issue.record("\(mutants.summary(of: number)) is undecided")
      case .test: break
      }
    }
    // The right one is never reached by itself, so nothing that is wrong with it shows.
    expect(
      equivalent.filter { !$0.hasPrefix("away (right)") },
      [
        "home, go (away (left)): leads to away (right)",
        // What is refused may be ignored too.
        "away (left), go: is obeyed and leads to away (right)",
      ])
    expect(
      mutants.indices.filter { mutants.summary(of: $0).hasPrefix("away (right)") }.count,
      equivalent.filter { $0.hasPrefix("away (right)") }.count)
  }

  @Test(
    "every mutant of the tables without timers is decided", arguments: [MachineDefinition.door, .launcher])
  func decided(definition: MachineDefinition) throws {
    let machine = try Machine(definition)
    let search = DistinguishingSearch(Specification(machine))
    for mutant in Mutants(of: machine) {
      if case .undecided = search.distinguish(mutant) { Issue.record("\(mutant.summary) is undecided") }
    }
  }

  /// Random tests on whatever the search calls equivalent: the canary of its proofs.
  @Test(
    "what is equivalent is not told apart by chance either", arguments: [MachineDefinition.launcher, .socket])
  func equivalentIsTrue(definition: MachineDefinition) throws {
    let machine = try Machine(definition)
    let specification = Specification(machine)
    let mutants = Mutants(of: machine)
    let search = DistinguishingSearch(specification)
    var count = 0
    for number in mutants.sample(100, seed: 5) {
      let mutant = mutants[number]
      guard case .equivalent = search.distinguish(mutant) else { continue }
      count += 1
      let device = MachineDevice(mutant.machine, .seeded(9))
      let alphabet = Alphabet(specification, device.abilities)
      let starts = machine.startConditions(of: device.abilities)
      var explorer = Explorer(alphabet, starts: starts.count, seed: 9)
      var engine = TestEngine(specification, alphabet, starts: starts, device, recorder: NoRecorder())
      expect(try engine.perform(all: &explorer, maximum: 400)?.divergence, nil)
    }
    #expect(count > 0)
  }
}
