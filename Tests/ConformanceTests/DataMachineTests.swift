import Automata
import Basics
import Conformance
import Documents
import Models
import TestSupport
import Testing

/// Runs generated tests of a machine on a device of it or of a wrong one, and returns the first failure.
private func search(
  _ device: MachineDefinition, as model: MachineDefinition = .keypad, seed: UInt64, events: Int = 20_000,
  without strategy: Explorer.Strategy? = nil
) throws -> (execution: Execution?, events: Int) {
  let specification = Specification(try Machine(model))
  let device = MachineDevice(try Machine(device), .seeded(seed))
  let alphabet = Alphabet(specification, device.abilities)
  var settings = Explorer.Settings()
  settings.isSimulated = true
  settings.without = strategy
  var explorer = Explorer(alphabet, starts: 1, settings: settings, seed: seed)
  var engine = TestEngine(
    specification, alphabet, starts: [StartCondition()], device, recorder: NoRecorder())
  return (try engine.perform(all: &explorer, maximum: events), engine.events)
}

/// Makes a wrong keypad: replaces a text in the machine's file.
private func keypad(_ text: String, by other: String) throws -> MachineDefinition {
  let file = MachineDefinition.keypadFile
  let parts = file.split(separator: text, omittingEmptySubsequences: false)
  try #require(parts.count >= 2, "\(text)")
  return try MachineDefinition(yaml: Array(parts.joined(separator: other).utf8), name: "wrong keypad")
}

/// Reads a machine of some states with the rest of its file.
private func machine(_ text: String) throws -> Machine {
  try Machine(MachineDefinition(yaml: Array(text.utf8), name: "m.yaml"))
}

/// Follows what is given and shown, one line each, and returns for each whether the model allows it:
///
///     go n=1        a stimulus            -> beep      an effect
///     = locked      a status              total: 3     a reading
///     at 7          seconds go by, in silence          refused
private func follow(_ machine: Machine, _ lines: [String]) throws -> [Bool] {
  var tracker = Tracker(Specification(machine))
  let vocabulary = tracker.specification.vocabulary
  var now = Instant.zero
  return try lines.map { line in
    let words = line.split(separator: " ").map(String.init)
    func observe(_ observation: Observation) -> Bool { tracker.observe(observation, at: now) }
    switch words[0] {
    case "->": return observe(vocabulary.observation(ofEffect: words[1]))
    case "=": return observe(vocabulary.observation(ofStatus: words[1]))
    case "refused": return observe(.refused(""))
    case "at":
      now = .zero + .seconds(try #require(Int64(words[1])))
      return tracker.settle(at: now)
    case let name where name.hasSuffix(":"):
      let value = Int(words[1]).map { Value.integer($0) } ?? .text(words[1])
      return observe(.reading(Reading(String(name.dropLast()), value)))
    default:
      let arguments = words.dropFirst().map { word in
        let parts = word.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        return Argument(parts[0], Int(parts[1]).map { .integer($0) } ?? .text(parts[1]))
      }
      let settled = tracker.settle(at: now)
      let allowed = tracker.perform(
        Stimulus(try #require(vocabulary.stimulus(words[0]), "\(words[0])"), Array(arguments)), at: now)
      return settled && allowed
    }
  }
}

@Suite("Machines with data")
struct DataMachineTests {
  @Test("a keypad agrees with itself", arguments: 1...3 as ClosedRange<UInt64>)
  func agrees(seed: UInt64) throws {
    let (execution, _) = try search(.keypad, seed: seed)
    #expect(execution?.divergence == nil, "\(execution?.actions.suffix(12) ?? [])")
  }

  @Test(
    "a wrong keypad is found",
    arguments: [
      ("tries[user] < 2", "tries[user] < 3"),
      ("tries: \"{'anna': 0, 'bob': 0}\",", ""),
      (".take(10)", ".take(9)"),
      ("log: \"[]\"", "log: \"[]\", number: 0"),
      ("then: [alarm]", "then: []"),
      ("codes[user] == code", "code.startsWith(codes[user])"),
      ("to: unlocked\n    then: [beep]", "to: \"=\"\n    then: [beep]"),
      ("'time': now", "'time': now - duration('5s')"),
      ("set: { codes: codes.remove(user) }", "set: { codes: codes }"),
    ] as [(String, String)])
  func finds(text: String, other: String) throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let (execution, events) = try search(keypad(text, by: other), seed: seed, events: 40_000)
      #expect(execution != nil, "\(events) events, seed \(seed)")
    }
  }

  @Test("a keypad behind a link agrees with itself", arguments: 1...3 as ClosedRange<UInt64>)
  func agreesBehindLink(seed: UInt64) throws {
    let (execution, _) = try search(.keypadBLE, as: .keypadBLE, seed: seed)
    #expect(execution?.divergence == nil, "\(execution?.actions.suffix(12) ?? [])")
    #expect(MachineDefinition.keypadBLEFile.split(separator: "\n").count <= 90)
  }

  @Test(
    "a wrong keypad behind a link is found",
    arguments: [
      // A new connection lifts the lock-out, forgets wrong tries, or starts the time to lock again.
      (
        "to: lockedOut, set: *refused }",
        "to: lockedOut, set: *refused }\n      - { event: connect, from: lockedOut, to: locked }"
      ),
      (
        "start: locked\n    transitions:",
        "start: locked\n    transitions:\n      - { event: connect, from: \"*\", to: \"=\", set: { tries: \"{'anna': 0, 'bob': 0}\" } }"
      ),
      (
        "start: locked\n    transitions:",
        "start: locked\n    transitions:\n      - { event: connect, from: unlocked, to: unlocked }"
      ),
      // The lock does not lock by itself while the link is away.
      ("to: locked, after: 7 s }", "to: locked, after: 7 s, in: { link: connected } }"),
    ] as [(String, String)])
  func findsBehindLink(text: String, other: String) throws {
    let file = MachineDefinition.keypadBLEFile
    try #require(file.contains(text), "\(text)")
    let wrong = try MachineDefinition(
      yaml: Array(file.replacing(text, with: other).utf8), name: "wrong keypad")
    for seed in 1...3 as ClosedRange<UInt64> {
      let (execution, events) = try search(wrong, as: .keypadBLE, seed: seed, events: 60_000)
      #expect(execution != nil, "\(events) events, seed \(seed)")
    }
  }

  @Test("what is drawn for data can be left out", arguments: [Explorer.Strategy.omission, .probing])
  func strategies(strategy: Explorer.Strategy) throws {
    let wrong = try keypad("'time': now", by: "'time': now - duration('5s')")
    func events(_ strategy: Explorer.Strategy?) throws -> [Int] {
      try (1...4 as ClosedRange<UInt64>).map { try search(wrong, seed: $0, without: strategy).events }
    }
    #expect(try events(strategy) != events(nil))
  }

  /// A machine of one state with the rows of a stimulus.
  private func counter(
    _ rows: String, variables: String = "{ n: { form: { integer: [0, 3] }, first: 1 } }"
  ) throws -> Machine {
    try machine(
      """
      machine: m
      states: [on]
      variables: \(variables)
      readings: { total: { integer: [0, 9] } }
      events: [{ go: { arguments: { k: { integer: [0, 9] } } } }, tell]
      starts: [{ state: on }]
      transitions:
      \(rows.split(separator: "\n").map { "  - \($0)" }.joined(separator: "\n"))
        - { event: tell, from: on, to: "=", then: [{ reading: total, is: n }] }
      """)
  }

  @Test("what the variables may be is told with each step, several values and unknown ones too")
  func possibleValues() throws {
    let codes = try machine(
      """
      machine: m
      states: [on, up, down]
      variables: { n: { form: { integer: [0, 9] }, first: 1 }, pin: text, log: { form: { list: text, size: 2 }, first: "[]" } }
      events: [{ go: { arguments: { k: text } } }]
      starts: [{ state: on }]
      transitions:
        - { event: go, from: on, when: k == pin, to: "=", set: { n: n + 1, log: "log.prepend(k).take(2)" } }
        - { event: go, from: on, to: "=", set: { n: n + 2 }, then: buzz }
      """)
    var tracker = Tracker(Specification(codes))
    let vocabulary = tracker.specification.vocabulary
    func values(most: Int = 4) -> [String] {
      tracker.possibleValues(most: most).map { item in
        "\(item.name) \(item.values.map(\.description).sorted().joined(separator: " | "))\(item.isMore ? " …" : "")"
      }
    }
    func go(_ code: String) {
      _ = tracker.perform(Stimulus(0, [Argument("k", .text(code))]), at: .zero)
    }
    expect(values(), ["n 1", "pin unknown", "log []"])
    go("a")
    expect(values(), ["n 2 | 3", "pin a | unknown", "log ['a'] | []"])
    expect(values(most: 1), ["n 2 …", "pin a …", "log ['a'] …"])
    _ = tracker.observe(vocabulary.observation(ofEffect: "buzz"), at: .zero)
    expect(values(), ["n 3", "pin unknown", "log []"])
    go("b")
    _ = tracker.settle(at: .zero + .seconds(1))
    expect(values(), ["n 4", "pin b", "log ['b']"])
    let plain = try machine(
      "machine: m\nstates: [on]\nevents: [go]\nstarts: [{ state: on }]\ntransitions: [{ event: go, from: on, to: '=' }]\n"
    )
    expect(Tracker(Specification(plain)).possibleValues(most: 4).count, 0)
  }

  @Test(
    "of several rows the first is taken whose `when` is true, and a row without one if no other is")
  func order() throws {
    let machine = try counter(
      """
      { event: go, from: on, when: k > 5, to: "=", then: high }
      { event: go, from: on, when: k > 2, to: "=", then: middle }
      { event: go, from: on, to: "=", then: low }
      """)
    expect(
      try follow(
        machine, ["go k=9", "-> high", "go k=3", "-> middle", "go k=0", "-> low", "go k=9", "-> middle"]),
      [true, true, true, true, true, true, true, false])
  }

  @Test("where no row is taken, the stimulus must be refused")
  func refusal() throws {
    let machine = try counter("{ event: go, from: on, when: k > n, to: \"=\", then: done }")
    expect(try follow(machine, ["go k=1", "refused", "go k=2", "-> done"]), [false, true, true, true])
    expect(try follow(machine, ["go k=2", "refused"]), [true, false])
  }

  @Test("where one row needs data and another an option, a device without the option may refuse")
  func refusalOfOption() throws {
    let machine = try machine(
      """
      machine: m
      states: [on]
      variables: { b: { form: integer, first: 0 } }
      choices: { c: [o1, o2] }
      events: [go, up]
      starts: [{ state: on }]
      transitions:
        - { event: go, from: on, when: b > 0, to: "=", then: done }
        - { event: go, from: on, option: o2, to: "=", then: done }
        - { event: up, from: on, to: "=", set: { b: 1 } }

      """)
    expect(try follow(machine, ["go", "refused", "up", "go", "-> done"]), [true, true, true, true, true])
    expect(try follow(machine, ["go", "-> done", "go", "refused"]), [true, true, true, false])
    expect(try follow(machine, ["go", "refused", "go", "-> done"]), [true, true, false, false])
  }

  @Test("new values are computed from the old ones, and stay within their limits")
  func assignment() throws {
    let both = "{ n: { form: integer, first: 1 }, m: { form: integer, first: 7 } }"
    let swapping = try counter("{ event: go, from: on, to: \"=\", set: { n: m, m: n } }", variables: both)
    expect(
      try follow(swapping, ["go k=0", "tell", "total: 7", "go k=0", "tell", "total: 1"]),
      [true, true, true, true, true, true])
    let adding = try counter("{ event: go, from: on, to: \"=\", set: { n: n + k } }")
    expect(try follow(adding, ["go k=9", "tell", "total: 3"]), [true, true, true])
    expect(try follow(adding, ["go k=9", "tell", "total: 4"]), [true, true, false])
  }

  @Test("a reading that rows show comes when they are taken, and at no other time")
  func readings() throws {
    let machine = try counter("{ event: go, from: on, to: \"=\" }")
    expect(try follow(machine, ["go k=0", "total: 1"]), [true, false])
    expect(try follow(machine, ["tell", "at 1"]), [true, false])
    expect(try follow(machine, ["tell", "total: 12"]), [true, false])
  }

  @Test("what is not known is followed in all ways, and learned from what tells it")
  func unknown() throws {
    let open = "{ n: { integer: [0, 3] } }"
    let machine = try counter(
      """
      { event: go, from: on, when: k == n, to: "=", then: hit }
      { event: go, from: on, to: "=", then: miss }
      """, variables: open)
    // A hit tells the number; a miss leaves the others open.
    expect(
      try follow(machine, ["go k=1", "-> miss", "go k=2", "-> hit", "go k=2", "-> miss"]),
      [true, true, true, true, true, false])
    // A reading tells it too.
    expect(
      try follow(machine, ["go k=1", "-> miss", "tell", "total: 3", "go k=3", "-> miss"]),
      [true, true, true, true, true, false])
    let choosing = try counter(
      "{ event: go, from: on, to: \"=\", set: { n: unknown } }")
    expect(
      try follow(choosing, ["tell", "total: 1", "go k=0", "tell", "total: 3", "tell", "total: 2"]),
      [true, true, true, true, true, true, false])
  }

  @Test("a named timer runs on in other states, and a row of it needs it running")
  func timers() throws {
    let machine = try machine(
      """
      machine: m
      states: [shut, shut (away), open]
      events: [block, leave, back, lift]
      starts: [{ state: open }]
      transitions:
        - { event: block, from: open, to: shut, start: out }
        - { event: leave, from: shut, to: shut (away) }
        - { event: back, from: shut (away), to: shut }
        - { event: lift, from: shut, to: "=", stop: out }
        - { from: [shut, shut (away)], to: open, timer: out, after: 60 s }
      """)
    expect(
      try follow(machine, ["block", "= shut", "at 20", "leave", "at 40", "back", "at 59", "at 60"]),
      [true, true, true, true, true, true, true, false])
    expect(
      try follow(machine, ["block", "= shut", "at 20", "leave", "at 60"]), [true, true, true, true, false])
    expect(
      try follow(machine, ["block", "= shut", "at 20", "lift", "at 90"]), [true, true, true, true, true])
    expect(try follow(machine, ["block", "= shut", "at 59", "= open"]), [true, true, true, false])
  }

  @Test("a named timer may run from the start, may run on when its row is taken, and goes with a value")
  func lastingTimers() throws {
    let machine = try machine(
      """
      machine: m
      states: [on, off]
      conditions: [{ name: v, stimuli: set }]
      events: [{ set: { arguments: { delay: { integer: [0, 9] } } } }, beep: spontaneous]
      starts: [{ state: on, start: out }]
      transitions:
        - { event: set, from: on, to: on }
        - { event: beep, from: on, to: "=", timer: out, keep-timer: true, not-before: 2 s, then: beep }
        - { from: on, to: off, timer: out, given: v, within: 1 s, plus: v }
        - { from: on, to: off, timer: out, unless: v, after: 9 s }
      """)
    expect(try follow(machine, ["at 1", "-> beep"]), [true, false])
    expect(
      try follow(machine, ["at 2", "-> beep", "at 3", "-> beep", "at 8", "at 9"]),
      [true, true, true, true, true, false])
    // The time counts from the start of the timer, although the state is entered again.
    expect(try follow(machine, ["at 3", "set delay=2", "= off"]), [true, true, true])
    expect(try follow(machine, ["at 3", "set delay=4", "= off"]), [true, true, false])
    expect(
      try follow(machine, ["at 3", "set delay=2", "at 5", "at 7"]), [true, true, true, false])
  }

  @Test("the time of a row may be an expression")
  func times() throws {
    let machine = try machine(
      """
      machine: m
      states: [open, shut]
      variables: { delay: { form: duration, first: seconds(5) } }
      events: [{ set: { arguments: { delay2: duration } } }, open]
      starts: [{ state: shut }]
      transitions:
        - { event: open, from: shut, to: open }
        - { from: open, to: shut, not-before: delay, within: delay + seconds(1) }
        - { event: set, from: shut, to: "=", set: { delay: delay * 2 } }
      """)
    expect(try follow(machine, ["open", "= open", "at 5", "at 6"]), [true, true, true, false])
    expect(
      try follow(machine, ["set delay2=1", "open", "= open", "at 9", "= shut"]),
      [true, true, true, true, false])
    expect(try follow(machine, ["open", "= open", "at 4", "= shut"]), [true, true, true, false])
  }

  @Test("where too much is possible there is no verdict")
  func undecided() throws {
    let machine = try machine(
      """
      machine: m
      states: [on (a), on (b)]
      variables: { n: { form: integer, first: 0 } }
      events: [go]
      starts: [{ state: on (a) }]
      transitions:
        - { event: go, from: on (a), to: [on (a), on (b)], set: { n: n * 2 } }
        - { event: go, from: on (b), to: [on (a), on (b)], set: { n: n * 2 + 1 } }
      """)
    var lockstep = Lockstep(Specification(machine), MachineDevice(machine), recorder: NoRecorder())
    #expect(try lockstep.reset() == nil)
    var fault: LabFault?
    do {
      for _ in 0..<20 { #expect(try lockstep.perform(Stimulus(0)) == nil) }
    } catch {
      fault = error
    }
    #expect(fault?.symptom == .undecided)
  }

  @Test(
    "a wrong reading says which part differs and what gave the value that is due",
    arguments: [
      ("'event': 'refused'", "'event': 'wrong'", "log[0].event is wrong, and refused is due"),
      (".take(10)", ".take(1)", "log.size() is 1, and 2 is due"),
    ])
  func explains(text: String, other: String, summary: String) throws {
    let device = MachineDevice(try Machine(keypad(text, by: other)))
    var lockstep = Lockstep(Specification(try Machine(.keypad)), device, recorder: NoRecorder())
    var divergence = try lockstep.reset()
    let enter = Stimulus(0, [Argument("user", .text("anna")), Argument("code", .text("0"))])
    for stimulus in [enter, enter, Stimulus(4)] where divergence == nil {
      divergence = try lockstep.perform(stimulus)
    }
    #expect(divergence?.summary == summary + ", as enter at 0.000 s left it")
  }
}

// MARK: - Random machines

/// Makes machines with random rows over a few variables.
private struct RandomMachine {
  var generator: SeededGenerator

  private static let guards = [
    "a < 2", "a == n", "f", "!f && n > 1", "l.contains(n)", "l.size() < 2", "t == s", "n == 0 || f",
    "m[n] == a", "n in m", "a + n < 4", "l.size() > 0 && l[0] == n", "s.startsWith(t)",
  ]
  private static let changes = [
    ("a", "a + 1"), ("a", "n"), ("a", "f ? 0 : a"), ("f", "!f"), ("f", "a == n"),
    ("l", "l.append(n).take(3)"),
    ("l", "l.prepend(a).take(3)"), ("l", "l.drop(1)"), ("t", "s"), ("m", "m.put(n, a)"), ("m", "m.remove(n)"),
    ("a", "unknown"), ("a", "m[n]"), ("t", "unknown"),
  ]

  mutating func pick<Member>(_ list: [Member]) -> Member { list[generator.below(list.count)] }

  mutating func definition() -> MachineDefinition {
    let names = ["A", "A (2)", "B"]
    var definition = MachineDefinition(name: "random", states: names.map { State($0) }, starts: [Start("A")])
    definition.variables = [
      Variable(ValueForm("a", .wholeNumber(0...3)), first: pick(["0", "1", nil])),
      Variable(ValueForm("f", .flag), first: "false"),
      Variable(ValueForm("l", .list(.wholeNumber(0...3), capacity: 3)), first: "[]"),
      Variable(ValueForm("t", .text), first: pick(["'x'", nil])),
      Variable(ValueForm("m", .map(.wholeNumber(0...3), .wholeNumber(0...3), capacity: 2)), first: "{}"),
    ]
    definition.readings = [
      ValueForm("a?", .wholeNumber(0...3)), ValueForm("l?", .list(.wholeNumber(0...3), capacity: 3)),
      ValueForm("t?", .text),
    ]
    let arguments = ArgumentForms([
      ValueForm("n", .wholeNumber(0...3)), ValueForm("s", .choice(["x", "y", ""])),
    ])
    definition.events = ["e", "g", "h"].map { Event($0, arguments: arguments) }
    for event in definition.events {
      for state in names where generator.below(4) > 0 {
        for _ in 0..<generator.below(3) {
          definition.transitions.append(row(.event(event.name), from: state, names, isGuarded: true))
        }
        if generator.below(3) > 0 {
          definition.transitions.append(row(.event(event.name), from: state, names, isGuarded: false))
        }
      }
      // An event needs a row.
      definition.transitions.append(
        row(.event(event.name), from: pick(names), names, isGuarded: true, isFirst: true))
    }
    for state in names where generator.below(2) == 0 {
      var row = row(.timer, from: state, names.filter { $0 != state }, isGuarded: generator.below(2) == 0)
      row.window = .after(.seconds(Int64(1 + generator.below(5))))
      if generator.below(2) == 0 { row.data.timer = "T" }
      // What a timer does, everybody sees.
      row.after = ["ring"]
      row.data.due = []
      definition.transitions.append(row)
    }
    definition.transitions[0].data.start = ["T"]
    return definition
  }

  private mutating func row(
    _ trigger: Transition.Trigger, from state: String, _ names: [String], isGuarded: Bool,
    isFirst: Bool = false
  ) -> Transition {
    let isTimer = trigger == .timer
    let guards = Self.guards.filter { !isTimer || !$0.contains("n") && !$0.contains("s") }
    let changes = Self.changes.filter { !isTimer || !$0.1.contains("n") && !$0.1.contains("s") }
    var row = Transition(
      trigger, from: .states([state]),
      to: generator.below(3) == 0 && !isTimer ? .stay : .states([pick(names)]))
    if isGuarded { row.data.when = pick(guards) }
    for _ in 0..<generator.below(3) {
      let (variable, value) = pick(changes)
      if !row.data.set.contains(where: { $0.variable == variable }) {
        row.data.set.append(Assignment(variable, value))
      }
    }
    if generator.below(2) == 0 { row.after.append(pick(["beep", "buzz"])) }
    if generator.below(2) == 0 {
      let (reading, value) = pick([("a?", "a"), ("l?", "l"), ("t?", "t")])
      row.after.append(reading)
      row.data.due = [DueReading(reading, value)]
    }
    if !isTimer, generator.below(4) == 0 { row.data.start = ["T"] }
    if !isTimer, generator.below(8) == 0 { row.data.stop = ["T"] }
    return row
  }
}

@Suite("Random machines with data")
struct RandomDataMachineTests {
  /// Random machines that are well-formed: a row may repeat another one.
  private func machines(_ count: Int, seed: UInt64) -> [Machine] {
    var random = RandomMachine(generator: SeededGenerator(seed: seed, for: "data machines"))
    var machines: [Machine] = []
    while machines.count < count {
      if let machine = try? Machine(random.definition()) { machines.append(machine) }
    }
    return machines
  }

  private func walk(_ device: Machine, as model: Machine, seed: UInt64, events: Int) throws -> Divergence? {
    let specification = Specification(model)
    let device = MachineDevice(device, .seeded(seed))
    let alphabet = Alphabet(specification, device.abilities)
    var explorer = Explorer(alphabet, starts: 1, settings: Explorer.Settings(), seed: seed)
    var engine = TestEngine(
      specification, alphabet, starts: [StartCondition()], device, recorder: NoRecorder())
    return try engine.perform(all: &explorer, maximum: events)?.divergence
  }

  @Test(
    "a device that interprets the rows of a machine agrees with its tables",
    arguments: 1...4 as ClosedRange<UInt64>)
  func agree(seed: UInt64) throws {
    for (number, machine) in machines(60, seed: seed).enumerated() {
      let divergence = try walk(machine, as: machine, seed: seed, events: 300)
      #expect(divergence == nil, "\(number): \(divergence?.summary ?? "")\n\(machine.definition.yaml())")
      if divergence != nil { return }
    }
  }

  @Test("and a machine with one wrong expression is found in half of the cases")
  func mutants() throws {
    var (found, all) = (0, 0)
    for machine in machines(20, seed: 9) {
      let mutants = Mutants(of: machine)
      for number in mutants.indices.filter({ [.wrongGuard, .wrongValue].contains(mutants.kind(of: $0)) })
        .prefix(6)
      {
        all += 1
        if try walk(mutants[number].machine, as: machine, seed: 5, events: 1500) != nil { found += 1 }
      }
    }
    #expect(all > 60 && 5 * found > 2 * all, "\(found) of \(all)")
  }

  /// A machine file with one or two random errors.
  private func mutated(_ generator: inout SeededGenerator) -> String {
    var tokens = words(of: MachineDefinition.keypadFile)
    for _ in 0..<(1 + generator.below(2)) {
      let index = generator.below(tokens.count)
      let other = tokens[generator.below(tokens.count)]
      switch generator.below(5) {
      case 0: tokens.remove(at: index)
      case 1: tokens[index] = other
      case 2: tokens.insert(other, at: index)
      case 3: tokens[index] = String(tokens[index].reversed())
      default:
        tokens[index] =
          ["0", "-1", "unknown", "now", "[", "}", "\"", "'", "&&", "é", "99999999999999999999"][
            generator.below(11)]
      }
    }
    return tokens.joined()
  }

  /// The words of a text, and what is between them.
  private func words(of text: String) -> [String] {
    var words: [String] = []
    var isWord = false
    for character in text {
      let belongs = character.isLetter || character.isNumber
      if belongs, isWord { words[words.count - 1].append(character) } else { words.append(String(character)) }
      isWord = belongs
    }
    return words
  }

  @Test("a machine file with errors is refused with places, or is a machine that agrees with itself")
  func errors() throws {
    var generator = SeededGenerator(seed: 7, for: "machine files")
    var (refused, read) = (0, 0)
    for number in 0..<300 {
      let text = mutated(&generator)
      let result = Result { () throws(DocumentError) in
        try MachineDefinition(yaml: Array(text.utf8), name: "keypad.yaml")
      }
      switch result {
      case .success(let definition):
        read += 1
        let machine = try Machine(definition)
        #expect(
          (try? MachineDefinition(yaml: Array(definition.yaml().utf8), name: "again")) == definition,
          "\(text)")
        let divergence = try walk(machine, as: machine, seed: UInt64(number), events: 40)
        #expect(divergence == nil, "\(divergence?.summary ?? "")\n\(text)")
      case .failure(let error):
        refused += 1
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(
          error.diagnostics.allSatisfy { (1...lines + 1).contains($0.problem.position.line) }, "\(text)")
      }
    }
    #expect(refused > 100 && read > 10, "\(refused) and \(read)")
  }

  @Test("a machine is read back equal from its file")
  func files() throws {
    for machine in machines(100, seed: 3) {
      let text = machine.definition.yaml()
      #expect(try MachineDefinition(yaml: Array(text.utf8), name: "m.yaml") == machine.definition, "\(text)")
    }
  }
}
