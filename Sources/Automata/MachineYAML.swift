public import Documents
import Basics

// A machine in YAML; the page "Machine files" explains all keys:
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
//     conditions:
//       - { name: wind, faults: [storm] }
//     choices: { greeting: [polite, rude] }
//     readings: { battery: number, wind: { integer: [0, 12] } }
//     starts:
//       - { state: Closed, when: { locked: false } }
//     transitions:
//       - { event: open, from: Closed, to: Opened, first: [creak], then: [greet], option: polite }
//       - { event: blowShut, from: Opened, to: Closed, within: 3 s, given: wind, ours: true }
//       - { from: Opened, to: Closed, after: 1 h }
//
// A row without an event is a timer. `from: "*"` stands for every state without a row of its own, and `to: "="`
// stays. `shift` replaces `to` where the time of the state continues in the next one.

extension MachineDefinition {
  /// Returns the whole definition as YAML, which ``init(yaml:name:)`` reads back equal.
  public func yaml() -> String {
    var entries: [(String, Node)] = [("machine", .text(name))]
    if !summary.isEmpty { entries.append(("summary", .text(summary))) }
    entries.append(("states", .list(states.map(\.node))))
    entries.append(("events", .list(events.map(\.node))))
    if !conditions.isEmpty { entries.append(("conditions", .list(conditions.map(\.node)))) }
    if !choices.isEmpty {
      entries.append(("choices", .mapping(choices.map { ($0.name, names($0.options)) })))
    }
    if !readings.isEmpty { entries.append(("readings", readings.node)) }
    entries.append(("starts", .list(starts.map(\.node))))
    entries.append(("transitions", .list(transitions.map(\.node))))
    return Node.mapping(entries).yaml()
  }

  /// Reads a machine from a YAML file.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the file in messages, usually its path.
  /// - Throws: All problems of the file or of the machine in it, each with its line and column.
  public init(yaml bytes: [UInt8], name: String) throws(DocumentError) {
    self = try MachineFile(yaml: bytes, name: name).definition
  }
}

extension MachineFile {
  /// Reads a YAML file; see ``MachineDefinition/init(yaml:name:)``.
  init(yaml bytes: [UInt8], name: String) throws(DocumentError) {
    if let problem = ForeignFormat.problem(in: bytes) {
      throw DocumentError(source: Source(name: name, bytes: bytes), problems: [problem])
    }
    let limits = Limits(bytes: 32 << 20, nodes: 4_000_000)
    let (definition, places) = try Document.read(bytes, name: name, limits: limits) {
      MachineReader($0).read()
    }
    self.init(definition, places, in: Source(name: name, bytes: bytes))
  }
}

// MARK: - Saving

extension State {
  fileprivate var node: Node {
    var entries: [(String, Node)] = [("name", .text(name))]
    if status != State.status(of: name) { entries.append(("status", .text(status))) }
    if !entry.isEmpty { entries.append(("entry", names(entry))) }
    if !region.isEmpty { entries.append(("region", .text(region))) }
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

extension [ValueForm] {
  fileprivate var node: Node { .mapping(map { ($0.name, $0.kind.node) }, layout: .flow) }
}

extension ValueForm.Kind {
  fileprivate var node: Node {
    func limits(_ word: MachineGrammar.ValueWord, _ first: String, _ last: String) -> Node {
      .mapping([(word.rawValue, .list([.plain(first), .plain(last)], layout: .flow))], layout: .flow)
    }
    func word(_ word: MachineGrammar.ValueWord) -> Node { .text(word.rawValue) }
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

extension Condition {
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
    case .states(let states): entries.append(("from", names(states, unless: MachineGrammar.anyState)))
    case .wildcard: entries.append(("from", .text(MachineGrammar.anyState)))
    }
    switch to {
    case .states(let states): entries.append(("to", names(states, unless: MachineGrammar.sameState)))
    case .shift(let states): entries.append(("shift", names(states)))
    case .stay: entries.append(("to", .text(MachineGrammar.sameState)))
    }
    for (key, value) in window.entries(isTimer: trigger == .timer) { entries.append((key, .text(value))) }
    for (key, list) in [
      ("given", given), ("unless", unless), ("option", options), ("first", before), ("then", after),
    ] where !list.isEmpty {
      entries.append((key, names(list)))
    }
    if let shows { entries.append(("shows", .text(shows))) }
    if origin == .ours { entries.append(("ours", .plain("true"))) }
    return .mapping(entries, layout: .flow)
  }
}

extension Window {
  /// Returns the window as keys and values of a file: `after` for an exact time, and otherwise each limit that is
  /// set.
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

/// Returns names as a list, or a single name by itself unless it would mean something else.
private func names(_ names: [String], unless word: String? = nil) -> Node {
  if names.count == 1, names[0] != word { return .text(names[0]) }
  return .list(names.map { .text($0) }, layout: .flow)
}

// MARK: - Loading

/// Reads a definition and records the position of each part.
private struct MachineReader {
  private let root: Cursor

  init(_ root: Cursor) { self.root = root }

  func read() -> (MachineDefinition, DefinitionPlaces)? {
    guard let fields = root.fields(MachineGrammar.machine) else { return nil }
    let name = fields.required("machine")?.text("a name")
    let summary = fields.optional("summary").map { $0.text() ?? "" } ?? ""
    let states = fields.required("states")?.list()
    let events = fields.required("events")?.list()
    let conditions = fields.optional("conditions")?.list() ?? []
    let choices = fields.optional("choices").map { $0.entries() ?? [] } ?? []
    let readings = fields.optional("readings").map { forms($0, "a reading") } ?? []
    let starts = fields.required("starts")?.list()
    let rows = fields.required("transitions")?.list()
    var definition = MachineDefinition(name: name ?? "", summary: summary)
    definition.states = states?.compactMap(state) ?? []
    definition.events = events?.compactMap(event) ?? []
    definition.conditions = conditions.compactMap(condition)
    definition.choices = choices.compactMap { key, value in
      key.text("a choice").map { DeviceChoice($0, names(value)) }
    }
    definition.starts = starts?.compactMap(start) ?? []
    definition.transitions = rows?.compactMap(transition) ?? []
    // If a part could not be read, the numbers of the others no longer give their positions.
    guard name != nil, let states, let events, let starts, let rows, let readings,
      definition.states.count == states.count,
      definition.events.count == events.count,
      definition.conditions.count == conditions.count, definition.choices.count == choices.count,
      definition.starts.count == starts.count,
      definition.transitions.count == rows.count
    else { return nil }
    definition.readings = readings
    let findings = definition.findings()
    for finding in findings {
      let cursor =
        switch finding.place {
        case .machine: root
        case .state(let number): states[number]
        case .event(let number): events[number]
        case .condition(let number): conditions[number]
        case .choice(let number): choices[number].key
        case .start(let number): starts[number]
        case .row(let number): rows[number]
        }
      let fault = finding.fault
      // The position of the wrong name is more precise than that of the whole row.
      (fault.name.map(cursor.narrowed(to:)) ?? cursor).report(
        fault.code, fault.description, hint: definition.hint(for: fault))
    }
    func places(_ cursors: [Cursor]) -> [DefinitionPlaces.Place] {
      cursors.map { ($0.position, $0.node.end) }
    }
    return findings.isEmpty
      ? (
        definition,
        DefinitionPlaces(
          machine: (root.position, root.node.end), states: places(states), events: places(events),
          conditions: places(conditions), choices: places(choices.map(\.key)), starts: places(starts),
          rows: places(rows))
      ) : nil
  }

  private func state(_ cursor: Cursor) -> State? {
    if cursor.node.entries == nil { return cursor.text("a state").map { State($0) } }
    guard let fields = cursor.fields(MachineGrammar.state),
      let name = fields.required("name")?.text("a name")
    else { return nil }
    return State(
      name, status: fields.optional("status")?.text("a status"), entry: names(fields.optional("entry")),
      region: fields.optional("region")?.text("a region") ?? "")
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
    guard let fields = first.value.fields(MachineGrammar.eventKeys), fields.obey(MachineGrammar.eventRules)
    else { return nil }
    var others = OptionalFields(fields)
    let kind = others.read("kind") { $0.choice("kind", as: Event.Kind.self) } ?? .stimulus
    let all = others.read("arguments") { forms($0, "an argument") }.map { ArgumentForms($0) }
    let oneOf = others.read("one-of") { forms($0, "an argument") }.map {
      ArgumentForms($0, isAlternative: true)
    }
    return others.isValid ? Event(name, kind, arguments: all ?? oneOf) : nil
  }

  /// Returns the names in a mapping, each with the form of its value.
  private func forms(_ cursor: Cursor, _ noun: String) -> [ValueForm]? {
    guard let entries = cursor.entries() else { return nil }
    let forms = entries.compactMap { key, value -> ValueForm? in
      guard let name = key.text(noun), let kind = kind(value) else { return nil }
      return ValueForm(name, kind)
    }
    return forms.count == entries.count ? forms : nil
  }

  /// Returns the form of a value: a word, a word with limits, or the words to choose from.
  private func kind(_ cursor: Cursor) -> ValueForm.Kind? {
    if cursor.node.members != nil {
      let words = names(cursor)
      if words.isEmpty { cursor.reportExpected("words to choose from") }
      return words.isEmpty ? nil : .choice(words)
    }
    guard
      let (name, key, value) = cursor.variant("type", of: MachineGrammar.ValueWord.allCases.map(\.rawValue)),
      let word = MachineGrammar.ValueWord(rawValue: name)
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
    case .duration: return limits(value) { $0.duration() }.map { .duration($0) }
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
    guard let minimum = read(members[0]), let maximum = read(members[1]) else { return nil }
    guard minimum <= maximum else {
      cursor.report("the least is more than the most")
      return nil
    }
    return minimum...maximum
  }

  private func condition(_ cursor: Cursor) -> Condition? {
    if cursor.node.entries == nil { return cursor.text("a condition").map { Condition($0) } }
    guard
      let fields = cursor.fields(MachineGrammar.condition),
      let name = fields.required("name")?.text("a name")
    else { return nil }
    let delay = fields.optional("delay").flatMap { $0.duration() } ?? Condition.usualDelay
    return Condition(
      name, faults: names(fields.optional("faults")), moments: names(fields.optional("moments")),
      events: names(fields.optional("events")), until: names(fields.optional("until")),
      stimuli: names(fields.optional("stimuli")), unsure: names(fields.optional("unsure")),
      reading: fields.optional("reading")?.text("a reading"),
      countsFromEntry: fields.optional("from-entry")?.flag() ?? false,
      delay: delay)
  }

  private func start(_ cursor: Cursor) -> Start? {
    guard let fields = cursor.fields(MachineGrammar.start),
      let state = fields.required("state")?.text("a state")
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
    guard let fields = cursor.fields(MachineGrammar.row), let from = fields.required("from"),
      fields.obey(MachineGrammar.rowRules)
    else { return nil }
    let trigger = fields.optional("event").map { $0.text("an event").map(Transition.Trigger.event) } ?? .timer
    guard let trigger, let window = window(fields) else { return nil }
    return Transition(
      trigger, from: from.node.text == MachineGrammar.anyState ? .wildcard : .states(names(from)),
      to: target(fields), window: window,
      before: names(fields.optional("first")), after: names(fields.optional("then")),
      shows: fields.optional("shows")?.text(), given: names(fields.optional("given")),
      unless: names(fields.optional("unless")), options: names(fields.optional("option")),
      origin: fields.optional("ours")?.flag() ?? false ? .ours : .seed)
  }

  private func target(_ fields: Fields) -> Transition.Target {
    if let shift = fields.optional("shift") { return .shift(names(shift)) }
    let to = fields.optional("to")
    return to?.node.text == MachineGrammar.sameState ? .stay : .states(names(to))
  }

  private func window(_ fields: Fields) -> Window? {
    if let after = fields.optional("after") { return after.duration().map { .after($0) } }
    var window = Window.any
    let plus = fields.optional("plus")
    if let cursor = fields.optional("not-before") {
      guard let earliest = plus == nil ? cursor.duration() : cursor.signedDuration() else { return nil }
      window.earliest = earliest
    }
    if let cursor = fields.optional("within") {
      guard let latest = cursor.duration() else { return nil }
      window.latest = latest
    }
    if let cursor = plus {
      guard let plus = cursor.text("a condition") else { return nil }
      window.plus = plus
    }
    return window
  }

  private func names(_ cursor: Cursor?) -> [String] {
    cursor?.listOrOne().compactMap { $0.text("a name") } ?? []
  }
}
