public import Documents
import Basics

// A machine in YAML:
//
//     machine: door
//     summary: A door that opens and closes.
//     states:
//       - Closed
//       - { name: Opened, entry: [ring] }
//     events:
//       - open
//       - blowShut: spontaneous
//       - knock: { arguments: { times: { integer: [1, 9] }, delay: duration, by: [hand, foot] } }
//     circumstances:
//       - { name: wind, faults: [storm] }
//     readings: { battery: number, wind: { integer: [0, 12] } }
//     starts:
//       - { state: Closed, when: { locked: false } }
//     transitions:
//       - { event: open, from: Closed, to: Opened, first: [creak], then: [greet] }
//       - { event: blowShut, from: Opened, to: Closed, within: 3 s, given: wind, ours: true }
//       - { from: Opened, to: Closed, after: 1 h }
//
// A row without an event is a timer; `from: "*"` is every state without a row of its own, `to: "="` stays, and
// `shift` stands in place of `to` where the time of the state goes on in the next.

private let anyState = "*"
private let sameState = "="

extension MachineDefinition {
  /// The whole definition as YAML, which ``init(yaml:name:)`` reads back equal.
  public func yaml() -> String {
    var entries: [(String, Node)] = [("machine", .text(name))]
    if !summary.isEmpty { entries.append(("summary", .text(summary))) }
    entries.append(("states", .list(states.map(\.node))))
    entries.append(("events", .list(events.map(\.node))))
    if !circumstances.isEmpty { entries.append(("circumstances", .list(circumstances.map(\.node)))) }
    if !readings.isEmpty { entries.append(("readings", readings.node)) }
    entries.append(("starts", .list(starts.map(\.node))))
    entries.append(("transitions", .list(transitions.map(\.node))))
    return Node.mapping(entries).yaml()
  }

  /// Reads a machine from a YAML file.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: What messages call it, usually its path.
  /// - Throws: Everything that is wrong with the file or with the machine in it, each with its line and column.
  public init(yaml bytes: [UInt8], name: String) throws(DocumentError) {
    let limits = Limits(bytes: 32 << 20, nodes: 4_000_000)
    self = try Document.read(bytes, name: name, limits: limits) { MachineReader($0).read() }
  }
}

// MARK: - Saving

extension State {
  fileprivate var node: Node {
    var entries: [(String, Node)] = [("name", .text(name))]
    if status != State.status(of: name) { entries.append(("status", .text(status))) }
    if !entry.isEmpty { entries.append(("entry", names(entry))) }
    return entries.count == 1 ? .text(name) : .mapping(entries, layout: .flow)
  }
}

extension Event {
  fileprivate var node: Node {
    guard let arguments else {
      return kind == .stimulus ? .text(name) : .mapping([(name, .text(kind.rawValue))])
    }
    var entries: [(String, Node)] = kind == .stimulus ? [] : [("kind", .text(kind.rawValue))]
    entries.append((arguments.isAlternative ? "one-of" : "arguments", arguments.forms.node))
    return .mapping([(name, .mapping(entries, layout: .flow))])
  }
}

/// The words of a file for what a value may be.
private enum FormWord: String, CaseIterable {
  case text, hex, flag, integer, number, duration
}

extension [ValueForm] {
  fileprivate var node: Node { .mapping(map { ($0.name, $0.kind.node) }, layout: .flow) }
}

extension ValueForm.Kind {
  fileprivate var node: Node {
    func limits(_ word: FormWord, _ first: String, _ last: String) -> Node {
      .mapping([(word.rawValue, .list([.plain(first), .plain(last)], layout: .flow))], layout: .flow)
    }
    func word(_ word: FormWord) -> Node { .text(word.rawValue) }
    return switch self {
    case .text: word(.text)
    case .hexadecimal: word(.hex)
    case .flag: word(.flag)
    case .anyWholeNumber: word(.integer)
    case .wholeNumber(let range): limits(.integer, "\(range.lowerBound)", "\(range.upperBound)")
    case .anyNumber: word(.number)
    case .number(let range): limits(.number, "\(range.lowerBound)", "\(range.upperBound)")
    case .anyDuration: word(.duration)
    case .duration(let range): limits(.duration, "\(range.lowerBound)", "\(range.upperBound)")
    case .choice(let words): .list(words.map { .text($0) }, layout: .flow)
    }
  }
}

extension Circumstance {
  fileprivate var node: Node {
    var entries: [(String, Node)] = [("name", .text(name))]
    for (key, list) in [
      ("faults", faults), ("moments", moments), ("events", events), ("until", until), ("stimuli", stimuli),
      ("unsure", unsure),
    ] where !list.isEmpty {
      entries.append((key, names(list)))
    }
    if let reading { entries.append(("reading", .text(reading))) }
    if countsFromEntry { entries.append(("from-entry", .plain("true"))) }
    if delay != Self.usualDelay { entries.append(("delay", .text(delay.description))) }
    return entries.count == 1 ? .text(name) : .mapping(entries, layout: .flow)
  }
}

extension Start {
  fileprivate var node: Node {
    var entries: [(String, Node)] = [("state", .text(state))]
    if !conditions.isEmpty {
      let settings = conditions.map { ($0.name, Node.plain($0.value ? "true" : "false")) }
      entries.append(("when", .mapping(settings, layout: .flow)))
    }
    return .mapping(entries, layout: .flow)
  }
}

extension Transition {
  fileprivate var node: Node {
    var entries: [(String, Node)] = []
    if case .event(let name) = trigger { entries.append(("event", .text(name))) }
    switch from {
    case .states(let states): entries.append(("from", names(states, unless: anyState)))
    case .wildcard: entries.append(("from", .text(anyState)))
    }
    switch to {
    case .states(let states): entries.append(("to", names(states, unless: sameState)))
    case .shift(let states): entries.append(("shift", names(states)))
    case .stay: entries.append(("to", .text(sameState)))
    }
    for (key, value) in window.entries(isTimer: trigger == .timer) { entries.append((key, .text(value))) }
    for (key, list) in [("given", given), ("unless", unless), ("first", before), ("then", after)]
    where !list.isEmpty {
      entries.append((key, names(list)))
    }
    if let shows { entries.append(("shows", .text(shows))) }
    if origin == .ours { entries.append(("ours", .plain("true"))) }
    return .mapping(entries, layout: .flow)
  }
}

extension Window {
  /// The window as keys and values of a file: `after` for an exact time, else what differs from any time.
  func entries(isTimer: Bool) -> [(key: String, value: String)] {
    if self == .any { return isTimer ? [("within", "forever")] : [] }
    if earliest == latest, plus == nil { return [("after", earliest.description)] }
    var entries: [(key: String, value: String)] = []
    if earliest != .zero { entries.append(("not-before", earliest.description)) }
    if latest != .forever { entries.append(("within", latest.description)) }
    if let plus { entries.append(("plus", plus)) }
    return entries
  }
}

/// Names in a list; a lone one by itself, where that does not mean something else.
private func names(_ names: [String], unless word: String? = nil) -> Node {
  if names.count == 1, names[0] != word { return .text(names[0]) }
  return .list(names.map { .text($0) }, layout: .flow)
}

// MARK: - Loading

/// Reads a definition and remembers where each part of it stands.
private struct MachineReader {
  private let root: Cursor

  init(_ root: Cursor) { self.root = root }

  func read() -> MachineDefinition? {
    let keys = [
      "machine", "summary", "states", "events", "circumstances", "readings", "starts", "transitions",
    ]
    guard let fields = root.fields(keys) else { return nil }
    let name = fields.required("machine")?.text("a name")
    let summary = fields.optional("summary").map { $0.text() ?? "" } ?? ""
    let states = fields.required("states")?.list() ?? []
    let events = fields.required("events")?.list() ?? []
    let circumstances = fields.optional("circumstances")?.list() ?? []
    let readings = fields.optional("readings").map { forms($0, "a reading") } ?? []
    let starts = fields.required("starts")?.list() ?? []
    let rows = fields.required("transitions")?.list() ?? []
    var definition = MachineDefinition(name: name ?? "", summary: summary)
    definition.states = states.compactMap(state)
    definition.events = events.compactMap(event)
    definition.circumstances = circumstances.compactMap(circumstance)
    definition.starts = starts.compactMap(start)
    definition.transitions = rows.compactMap(transition)
    // Once a part could not be read, the numbers of the others no longer say where they stand.
    guard name != nil, let readings, definition.states.count == states.count,
      definition.events.count == events.count,
      definition.circumstances.count == circumstances.count, definition.starts.count == starts.count,
      definition.transitions.count == rows.count
    else { return nil }
    definition.readings = readings
    let findings = definition.findings()
    for finding in findings {
      let place =
        switch finding.place {
        case .machine: root
        case .state(let number): states[number]
        case .event(let number): events[number]
        case .circumstance(let number): circumstances[number]
        case .start(let number): starts[number]
        case .row(let number): rows[number]
        }
      place.report(finding.fault.description)
    }
    return findings.isEmpty ? definition : nil
  }

  private func state(_ cursor: Cursor) -> State? {
    if cursor.node.entries == nil { return cursor.text("a state").map { State($0) } }
    guard let fields = cursor.fields(["name", "status", "entry"]),
      let name = fields.required("name")?.text("a name")
    else { return nil }
    return State(
      name, status: fields.optional("status")?.text("a status"), entry: names(fields.optional("entry")))
  }

  private func event(_ cursor: Cursor) -> Event? {
    guard cursor.node.entries != nil else { return cursor.text("an event").map { Event($0) } }
    guard let entries = cursor.entries(), let first = entries.first, entries.count == 1 else {
      cursor.reportExpected("an event, or an event and its kind", hint: "as in `linkUp: spontaneous`")
      return nil
    }
    guard let name = first.key.text("an event") else { return nil }
    guard first.value.node.entries != nil else {
      return first.value.choice("kind", as: Event.Kind.self).map { Event(name, $0) }
    }
    guard let fields = first.value.fields(["kind", "arguments", "one-of"]),
      fields.optional("one-of") == nil || fields.obey([.one(["one-of", "arguments"])])
    else { return nil }
    var others = OptionalFields(fields)
    let kind = others.read("kind") { $0.choice("kind", as: Event.Kind.self) } ?? .stimulus
    let all = others.read("arguments") { forms($0, "an argument") }.map { ArgumentForms($0) }
    let oneOf = others.read("one-of") { forms($0, "an argument") }.map {
      ArgumentForms($0, isAlternative: true)
    }
    return others.isWhole ? Event(name, kind, arguments: all ?? oneOf) : nil
  }

  /// What stands under each name.
  private func forms(_ cursor: Cursor, _ noun: String) -> [ValueForm]? {
    guard let entries = cursor.entries() else { return nil }
    let forms = entries.compactMap { key, value -> ValueForm? in
      guard let name = key.text(noun), let kind = kind(value) else { return nil }
      return ValueForm(name, kind)
    }
    return forms.count == entries.count ? forms : nil
  }

  /// What a value may be: a word, a word with limits, or the words to choose from.
  private func kind(_ cursor: Cursor) -> ValueForm.Kind? {
    if cursor.node.members != nil {
      let words = names(cursor)
      if words.isEmpty { cursor.reportExpected("words to choose from") }
      return words.isEmpty ? nil : .choice(words)
    }
    guard let (name, key, value) = cursor.variant("type", of: FormWord.allCases.map(\.rawValue)),
      let word = FormWord(rawValue: name)
    else { return nil }
    guard let value else {
      return switch word {
      case .text: .text
      case .hex: .hexadecimal
      case .flag: .flag
      case .integer: .anyWholeNumber
      case .number: .anyNumber
      case .duration: .anyDuration
      }
    }
    switch word {
    case .integer: return limits(value) { $0.integer(as: Int.self) }.map { .wholeNumber($0) }
    case .number: return limits(value) { $0.number() }.map { .number($0) }
    case .duration: return limits(value) { interval($0) }.map { .duration($0) }
    case .text, .hex, .flag:
      key.report("`\(name)` has no limits")
      return nil
    }
  }

  private func limits<Limit: Comparable>(
    _ cursor: Cursor, _ read: (Cursor) -> Limit?
  ) -> ClosedRange<Limit>? {
    guard let members = cursor.list(), members.count == 2 else {
      if cursor.node.members != nil { cursor.reportExpected("the least and the most, as in [1, 9]") }
      return nil
    }
    guard let least = read(members[0]), let most = read(members[1]) else { return nil }
    guard least <= most else {
      cursor.report("the least is more than the most")
      return nil
    }
    return least...most
  }

  private func circumstance(_ cursor: Cursor) -> Circumstance? {
    if cursor.node.entries == nil { return cursor.text("a circumstance").map { Circumstance($0) } }
    guard
      let fields = cursor.fields([
        "name", "faults", "moments", "events", "until", "stimuli", "unsure", "reading", "from-entry", "delay",
      ]),
      let name = fields.required("name")?.text("a name")
    else { return nil }
    let delay = fields.optional("delay").flatMap(interval) ?? Circumstance.usualDelay
    return Circumstance(
      name, faults: names(fields.optional("faults")), moments: names(fields.optional("moments")),
      events: names(fields.optional("events")), until: names(fields.optional("until")),
      stimuli: names(fields.optional("stimuli")), unsure: names(fields.optional("unsure")),
      reading: fields.optional("reading")?.text("a reading"),
      countsFromEntry: fields.optional("from-entry")?.flag() ?? false,
      delay: delay)
  }

  private func start(_ cursor: Cursor) -> Start? {
    guard let fields = cursor.fields(["state", "when"]), let state = fields.required("state")?.text("a state")
    else { return nil }
    let conditions = (fields.optional("when")?.entries() ?? []).compactMap { key, value in
      if let name = key.text("a setting"), let flag = value.flag() {
        Start.Condition(name, flag)
      } else {
        nil
      }
    }
    return Start(state, when: conditions)
  }

  private func transition(_ cursor: Cursor) -> Transition? {
    let keys = [
      "event", "from", "to", "shift", "after", "within", "not-before", "plus", "given", "unless", "first",
      "then",
      "shows", "ours",
    ]
    guard let fields = cursor.fields(keys), let from = fields.required("from"), let to = target(fields)
    else { return nil }
    let event = fields.optional("event")
    let trigger = event.map { $0.text("an event").map(Transition.Trigger.event) } ?? .timer
    guard let trigger, let window = window(fields, isTimer: event == nil, cursor) else { return nil }
    return Transition(
      trigger, from: from.node.text == anyState ? .wildcard : .states(names(from)),
      to: to, window: window,
      before: names(fields.optional("first")), after: names(fields.optional("then")),
      shows: fields.optional("shows")?.text(), given: names(fields.optional("given")),
      unless: names(fields.optional("unless")),
      origin: fields.optional("ours")?.flag() ?? false ? .ours : .seed)
  }

  private func target(_ fields: Fields) -> Transition.Target? {
    guard let shift = fields.optional("shift") else {
      return fields.required("to").map { $0.node.text == sameState ? .stay : .states(names($0)) }
    }
    fields.key("to")?.report("a row leads `to` a state or makes a `shift`, not both")
    return fields.key("to") == nil ? .shift(names(shift)) : nil
  }

  private func window(_ fields: Fields, isTimer: Bool, _ row: Cursor) -> Window? {
    let limits = ["within", "not-before", "plus"].compactMap { fields.key($0) }
    if let after = fields.optional("after") {
      for limit in limits { limit.report("`after` says the time exactly, so this cannot be added") }
      return limits.isEmpty ? interval(after).map { .after($0) } : nil
    }
    if isTimer, limits.isEmpty {
      row.report("a row without an event needs a time", hint: "as in `after: 3 s`")
      return nil
    }
    var window = Window.any
    if let cursor = fields.optional("not-before") {
      guard let earliest = interval(cursor) else { return nil }
      window.earliest = earliest
    }
    if let cursor = fields.optional("within") {
      guard let latest = interval(cursor) else { return nil }
      window.latest = latest
    }
    if let cursor = fields.optional("plus") {
      guard let plus = cursor.text("a circumstance") else { return nil }
      window.plus = plus
    }
    return window
  }

  private func interval(_ cursor: Cursor) -> Interval? {
    cursor.value("a duration such as 3 s") { Interval(word: $0) }
  }

  private func names(_ cursor: Cursor?) -> [String] {
    cursor?.listOrOne().compactMap { $0.text("a name") } ?? []
  }
}
