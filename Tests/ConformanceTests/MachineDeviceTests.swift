import Automata
import Conformance
import Models
import Basics
import TestSupport
import Testing

/// Random choices: legal and forbidden stimuli, waits around timers' edges, faults.
private struct RandomChoices: ChoiceSource {
  let alphabet: Alphabet
  let starts: Int
  let length: Int
  var generator: SeededGenerator
  private var left = 0

  mutating func begin() -> Int {
    left = length
    return generator.below(starts)
  }

  mutating func next(in explorationState: ExplorationState) -> Choice? {
    guard left > 0 else { return nil }
    left -= 1
    // As many legal stimuli as all else, or nothing would be reached.
    let acts = alphabet.acts.indices.filter { !alphabet.acts[$0].variants.isEmpty }
    let legal = acts.filter { $0 < alphabet.eventCount && explorationState.legal >> UInt64($0) & 1 == 1 }
    let pool = generator.below(2) == 0 && !legal.isEmpty ? legal : acts
    let act = pool[generator.below(pool.count)]
    return Choice(act, variant: generator.below(alphabet.acts[act].variants.count))
  }

  init(_ alphabet: Alphabet, starts: Int, length: Int, seed: UInt64) {
    (self.alphabet, self.starts, self.length) = (alphabet, starts, length)
    generator = SeededGenerator(seed: seed, for: "walk")
  }
}

/// Drives a device of one machine against another by random choices.
private func walk(
  _ device: Machine, against model: Machine, _ preference: MachineDevice.Preference,
  showsEffects: Bool = true,
  seed: UInt64, tests: Int = 8, length: Int = 50
) throws -> Divergence? {
  let specification = Specification(model, showsEffects: showsEffects)
  let device = MachineDevice(device, preference, showsEffects: showsEffects)
  let alphabet = Alphabet(specification, device.abilities)
  let starts = model.definition.starts.map { start in
    StartCondition(start.conditions.map { Argument($0.name, .flag($0.value)) })
  }
  var engine = TestEngine(specification, alphabet, starts: starts, device, recorder: NoRecorder())
  var choices = RandomChoices(alphabet, starts: starts.count, length: length, seed: seed)
  return try engine.perform(all: &choices, maximum: tests * length)?.divergence
}

@Suite("A machine as a device")
struct MachineDeviceTests {
  @Test("compared with its own machine it never diverges", arguments: MachineDefinition.catalog)
  func agreesWithItself(definition: MachineDefinition) throws {
    let machine = try Machine(definition)
    for seed in 0..<20 as Range<UInt64> {
      let divergence = try walk(
        machine, against: machine, .seeded(seed), showsEffects: seed % 2 == 0, seed: seed)
      expect(divergence, nil)
    }
    for preference in [MachineDevice.Preference.first, .last] {
      expect(try walk(machine, against: machine, preference, seed: 7), nil)
    }
  }

  /// The canary: the walk that finds nothing in the test above finds what is wrong.
  @Test("a walk finds a timer that is late by a millisecond", arguments: [MachineDefinition.socket, .sesame])
  func findsLateTimer(definition: MachineDefinition) throws {
    var wrong = definition
    for row in wrong.transitions.indices where wrong.transitions[row].window.latest != .forever {
      wrong.transitions[row].window.earliest = wrong.transitions[row].window.latest + .milliseconds(1)
      wrong.transitions[row].window.latest = wrong.transitions[row].window.earliest
    }
    let found = try walk(Machine(wrong), against: Machine(definition), .first, seed: 1)
    #expect(found != nil)
  }

  @Test(
    "what counts from the entry of a state goes on as it was set then",
    arguments: [
      (true, 5, ["10.000 shut", "30.000 shut"]), (true, 0, ["10.000 shut"]),
      (false, 5, ["5.000 shut", "30.000 shut"]),
      (false, 0, []),
    ])
  func countsFromEntry(fromEntry: Bool, seconds: Int, shown: [String]) throws {
    var definition = MachineDefinition(name: "door")
    definition.events = [Event("set"), Event("open")]
    definition.conditions = [
      Condition("alarm", stimuli: ["set"], countsFromEntry: fromEntry, delay: .zero)
    ]
    definition.states = [State("shut"), State("ajar")]
    definition.transitions = [
      Transition(.event("set"), from: .wildcard, to: .stay),
      Transition(.event("open"), from: .states(["shut"]), to: .states(["ajar"])),
      Transition(
        .timer, from: .states(["ajar"]), to: .states(["shut"]),
        window: Window(earliest: .zero, latest: .seconds(1), plus: "alarm"), given: ["alarm"]),
    ]
    definition.starts = [Start("shut")]
    let specification = Specification(try Machine(definition))
    var lockstep = Lockstep(specification, MachineDevice(specification), recorder: TraceList())
    func set(_ seconds: Int) -> Stimulus { Stimulus(0, [Argument("seconds", .integer(seconds))]) }
    _ = try lockstep.reset()
    for (second, stimulus) in [(0, set(10)), (0, Stimulus(1)), (3, set(seconds)), (25, Stimulus(1))] {
      expect(try lockstep.pass(until: .zero + .seconds(Int64(second))), nil)
      // It is still open where nothing is under way.
      if second < 25 || !shown.isEmpty { expect(try lockstep.perform(stimulus), nil) }
    }
    expect(try lockstep.pass(until: .zero + .seconds(60)), nil)
    expect(
      lockstep.recorder.entries.compactMap { entry in
        guard case .observation(.status(0)) = entry.event, entry.time > .zero else { return nil }
        return "\(entry.time.secondsText) shut"
      }, shown)
  }

  @Test("preferences decide what a machine leaves open, and a script plays them back")
  func preferences() throws {
    var machine = MachineDefinition(name: "coin")
    machine.events = [Event("toss"), Event("landed", .spontaneous)]
    machine.states = [State("idle"), State("air"), State("heads"), State("tails")]
    machine.transitions = [
      Transition(.event("toss"), from: .states(["idle"]), to: .states(["air"])),
      Transition(
        .event("landed"), from: .states(["air"]), to: .states(["heads", "tails"]),
        window: Window(earliest: .seconds(1), latest: .seconds(2))),
    ]
    machine.starts = [Start("idle")]
    func trace(_ preference: MachineDevice.Preference) throws -> [String] {
      let specification = Specification(try Machine(machine))
      let device = MachineDevice(try Machine(machine), preference)
      var lockstep = Lockstep(specification, device, recorder: TraceList())
      _ = try lockstep.reset()
      expect(try lockstep.perform(Stimulus(0)), nil)
      expect(try lockstep.pass(until: .zero + .seconds(10)), nil)
      return lockstep.recorder.entries.compactMap { entry in
        guard case .observation(let shown) = entry.event else { return nil }
        return "\(entry.time.secondsText) \(specification.vocabulary.text(of: shown))"
      }
    }
    let start = try trace(.first)[0]
    expect(try trace(.first), [start, try trace(.first)[1]])
    expect(try trace(.first)[1].hasSuffix(" heads"), true)
    expect(try trace(.last)[1].hasSuffix(" tails"), true)
    expect(
      try trace(.scripted([.take(0), .fire(1, at: .zero + .milliseconds(1500))]))[1],
      try trace(.first)[1].replacing("1.000", with: "1.500").replacing("heads", with: "tails"))
    var lands = Set<String>()
    for seed in 0..<40 as Range<UInt64> { lands.insert(try trace(.seeded(seed))[1]) }
    #expect(lands.count > 10)
  }
}
