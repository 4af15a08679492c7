import Automata
import Basics

/// Definitions without faults, drawn at random, with everything that a definition can say.
struct RandomMachines {
  private var generator: SeededGenerator
  private var sharesStatus = false

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func next() -> MachineDefinition {
    let states = names("s", 1 + generator.below(5))
    let events = names("e", 1 + generator.below(5))
    let conditions = names("c", generator.below(4))
    var machine = MachineDefinition(name: name("m"), summary: chance(2) ? "" : name("sum"))
    // Only among states of one status can a row shift.
    sharesStatus = chance(3)
    let status = name("t")
    machine.states = states.map {
      State(
        $0, status: sharesStatus ? status : chance(4) ? name("t") : nil, entry: list("n"),
        region: $0.utf8.count % 3 == 0 ? "a part" : "")
    }
    machine.events = events.map { Event($0, Event.Kind.allCases[generator.below(3)]) }
    machine.conditions = conditions.map {
      Condition(
        $0, faults: list("f"), moments: chance(4) ? list("m") : [], events: chance(4) ? [pick(events)] : [],
        until: chance(3) ? [machine.states[0].status] : [], stimuli: chance(3) ? [pick(events)] : [],
        unsure: chance(3) ? [pick(conditions)] : [], reading: chance(4) ? name("r") : nil,
        countsFromEntry: chance(3),
        delay: chance(5) ? .forever : .milliseconds(Int64(100 * generator.below(3))))
    }
    for event in machine.events { machine.transitions += rows(of: event, states, conditions) }
    for state in states where chance(3) {
      let window = Window(earliest: .seconds(1), latest: chance(4) ? .forever : .seconds(2))
      machine.transitions.append(
        Transition(.timer, from: .states([state]), to: .states([pick(states)]), window: window))
    }
    machine.starts = (0...generator.below(2)).map { _ in
      Start(pick(states), when: names("w", generator.below(3)).map { .init($0, chance(2)) })
    }
    return machine
  }

  private mutating func rows(of event: Event, _ states: [String], _ conditions: [String]) -> [Transition] {
    var rows: [Transition] = []
    var open = states
    while !open.isEmpty, rows.isEmpty || chance(2) {
      let sources = Array(open.prefix(1 + generator.below(open.count)))
      open.removeFirst(sources.count)
      rows.append(row(of: event, from: .states(sources), states, conditions))
    }
    if chance(3) { rows.append(row(of: event, from: .wildcard, states, conditions)) }
    return rows
  }

  private mutating func row(
    of event: Event, from: Transition.Source, _ states: [String], _ conditions: [String]
  ) -> Transition {
    let targets = Array(states.shuffled(using: &generator).prefix(1 + generator.below(states.count)))
    var row = Transition(
      .event(event.name), from: from, to: chance(5) ? .stay : .states(targets), before: list("b"),
      after: list("a"), origin: chance(3) ? .ours : .seed)
    if sharesStatus, chance(2) { row.to = .shift(targets) }
    if event.kind != .stimulus { row.window = window(conditions) }
    // What must happen by a time cannot stay where it is due.
    if row.to == .stay, row.window.latest != .forever { row.to = .states(targets) }
    if chance(4) { row.shows = name("o") }
    if !conditions.isEmpty, chance(3) { row.given = [pick(conditions)] }
    if !conditions.isEmpty, chance(3) { row.unless = [pick(conditions)] }
    return row
  }

  private mutating func window(_ conditions: [String]) -> Window {
    let earliest = Interval.milliseconds(Int64(1 + generator.below(5000)))
    let plus = conditions.isEmpty || !chance(3) ? nil : pick(conditions)
    // What is added to a value may be less than nothing.
    if plus != nil, chance(2) { return Window(earliest: .zero - earliest, latest: earliest, plus: plus) }
    switch generator.below(5) {
    case 0: return .any
    case 1: return .after(earliest)
    case 2: return Window(latest: earliest, plus: plus)
    case 3: return Window(earliest: earliest, latest: .forever, plus: plus)
    default: return Window(earliest: earliest, latest: earliest + .microseconds(7), plus: plus)
    }
  }

  private mutating func chance(_ bound: Int) -> Bool { generator.below(bound) == 0 }

  private mutating func pick(_ names: [String]) -> String { names[generator.below(names.count)] }

  private mutating func list(_ stem: String) -> [String] { (0..<generator.below(3)).map { _ in name(stem) } }

  private mutating func names(_ stem: String, _ count: Int) -> [String] {
    (0..<count).map { name(stem) + String($0) }
  }

  /// A name that no format can take as it stands: marks of every notation, accents, quotes, control characters.
  private mutating func name(_ stem: String) -> String {
    let odd = [
      "", "", "", " (region)", "*", "=", ",", ":", "%", "\\", "\"", "'", "\n", "\t", "\u{301}", "🔒", "#",
      " -->",
      "[x]", "{y}", "|", "/", "&z", "true", "- ", "__start0", "é", "\u{7F}", "\\n", "%41", "<b>", ";",
    ]
    let before = odd[generator.below(odd.count)]
    return before + stem + odd[generator.below(odd.count)]
  }
}
