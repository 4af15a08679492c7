public import Documents
import Expressions
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
    if !variables.isEmpty {
      entries.append(("variables", .mapping(variables.map { ($0.name, $0.node) })))
    }
    entries.append(("starts", .list(starts.map(\.node))))
    entries.append(("transitions", .list(transitions.map(\.node))))
    if !rules.isEmpty { entries.append(("rules", .list(rules.map(\.node)))) }
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
    let machine = try Document.read(bytes, name: name, limits: limits) {
      MachineReader($0).read()
    }
    self.init(
      machine.definition, machine.places, in: Source(name: name, bytes: bytes), regionNotes: machine.notes)
  }
}

// MARK: - Saving

extension TraceRule {
  fileprivate var node: Node {
    var entries: [(String, Node)] = [
      ("rule", .text(machine.name)), ("states", .list(machine.states.map(\.node))),
      ("events", .list(machine.events.map(\.node))),
    ]
    if !machine.conditions.isEmpty {
      entries.append(("conditions", .list(machine.conditions.map { .text($0.name) }, layout: .flow)))
    }
    if !machine.variables.isEmpty {
      entries.append(("variables", .mapping(machine.variables.map { ($0.name, $0.node) })))
    }
    entries.append(("starts", .list(machine.starts.map(\.node))))
    entries.append(("transitions", .list(machine.transitions.map(\.node))))
    return .mapping(entries)
  }
}

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
    case .instant(.zero): word(.instant)
    case .instant(let precision): .mapping([("instant", .text(precision.description))], layout: .flow)
    case .list(let element, let capacity):
      .mapping([("list", element.node), ("size", .plain(String(capacity)))], layout: .flow)
    case .map(let key, let value, let capacity):
      .mapping(
        [("map", .list([key.node, value.node], layout: .flow)), ("size", .plain(String(capacity)))],
        layout: .flow)
    case .record(let fields): .mapping([("record", fields.node)], layout: .flow)
    }
  }
}

extension Variable {
  fileprivate var node: Node {
    guard let first else { return form.kind.node }
    return .mapping([("form", form.kind.node), ("first", expression(first))], layout: .flow)
  }
}

/// Returns an expression as a scalar.
private func expression(_ text: String) -> Node { .text(text) }

extension [Assignment] {
  fileprivate var node: Node { .mapping(map { ($0.variable, expression($0.value)) }, layout: .flow) }
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
    if !set.isEmpty { entries.append(("set", set.node)) }
    if !start.isEmpty { entries.append(("start", names(start))) }
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
    let isTimed = data.earliest != nil || data.latest != nil
    for (key, value) in window.entries(isTimer: trigger == .timer && !isTimed) where data.time(key) == nil {
      entries.append((key, .text(value)))
    }
    for key in ["after", "not-before", "within"] {
      if let value = data.time(key) { entries.append((key, expression(value))) }
    }
    if let timer = data.timer { entries.append(("timer", .text(timer))) }
    if data.keepsTimer { entries.append(("keep-timer", .plain("true"))) }
    for (key, list) in [("given", given), ("unless", unless), ("option", options)] where !list.isEmpty {
      entries.append((key, names(list)))
    }
    if let when = data.when { entries.append(("when", expression(when))) }
    if !data.set.isEmpty { entries.append(("set", data.set.node)) }
    for (key, list) in [("start", data.start), ("stop", data.stop)] where !list.isEmpty {
      entries.append((key, names(list)))
    }
    for (key, list) in [("first", before), ("then", after)] where !list.isEmpty {
      entries.append((key, effects(list)))
    }
    if let shows { entries.append(("shows", .text(shows))) }
    if origin == .ours { entries.append(("ours", .plain("true"))) }
    return .mapping(entries, layout: .flow)
  }
}

extension Transition {
  /// Returns effects, among them the readings of the row.
  private func effects(_ list: [String]) -> Node {
    guard list.contains(where: { name in data.due.contains { $0.reading == name } }) else {
      return names(list)
    }
    return .list(
      list.map { name in
        guard let due = data.due.first(where: { $0.reading == name }) else { return .text(name) }
        let value = due.value.map { [("is", expression($0))] } ?? []
        return .mapping([("reading", .text(name))] + value, layout: .flow)
      }, layout: .flow)
  }
}

extension RowData {
  /// Returns the expression of a time: the value of a key of a row, or `nil` if that is no expression.
  fileprivate func time(_ key: String) -> String? {
    let isExact = earliest != nil && earliest == latest
    return switch key {
    case "after": isExact ? earliest : nil
    case "not-before": isExact ? nil : earliest
    case "within": isExact ? nil : latest
    default: nil
    }
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
struct MachineReader {
  /// A definition that was read, with its positions.
  typealias Machine = (definition: MachineDefinition, places: DefinitionPlaces, notes: [RegionNote])

  let root: Cursor

  init(_ root: Cursor) { self.root = root }

  /// The parts of a machine other than its states and rows.
  struct Shared {
    var definition: MachineDefinition
    var events: [Cursor]
    var conditions: [Cursor]
    var choices: [Cursor]
    /// The names and the values of the variables.
    var variables: [(key: Cursor, value: Cursor)]
  }

  func read() -> Machine? {
    guard let fields = root.fields(MachineGrammar.machine) else { return nil }
    let hasRegions = fields.optional("regions") != nil
    let isWhole = fields.obey(hasRegions ? MachineGrammar.machineRules : MachineGrammar.statesOrRegions)
    let shared = shared(fields)
    guard var machine = hasRegions ? regions(fields, shared, isWhole: isWhole) : flat(fields, shared) else {
      return nil
    }
    let rules = fields.optional("rules").map { self.rules($0, of: machine.definition) } ?? []
    guard let rules else { return nil }
    machine.definition.rules = rules
    return machine
  }

  /// Reads states and rows.
  ///
  /// - Parameter isRule: whether the first state is the start of a machine without any.
  private func flat(_ fields: Fields, _ shared: Shared?, isRule: Bool = false) -> Machine? {
    let states = (isRule ? fields.required("states") : fields.optional("states"))?.list()
    let hasStarts = !isRule || fields.optional("starts") != nil
    let starts = hasStarts ? fields.required("starts")?.list() : []
    let rows = fields.required("transitions")?.list()
    let stateList = states?.compactMap { state($0) } ?? []
    let startList = starts?.compactMap(start) ?? []
    let rowList = rows?.compactMap { transition($0) } ?? []
    // If a part could not be read, the numbers of the others no longer give their positions.
    guard let shared, let states, let starts, let rows, stateList.count == states.count,
      startList.count == starts.count, rowList.count == rows.count
    else { return nil }
    var definition = shared.definition
    definition.states = stateList
    definition.starts = hasStarts ? startList : stateList.prefix(1).map { Start($0.name) }
    definition.transitions = rowList
    let findings = definition.findings()
    for finding in findings {
      let cursor =
        switch finding.place {
        case .machine: root
        case .state(let number): states[number]
        case .event(let number): shared.events[number]
        case .condition(let number): shared.conditions[number]
        case .choice(let number): shared.choices[number]
        case .variable(let number): shared.variables[number].value
        case .start(let number): hasStarts ? starts[number] : root
        case .row(let number): rows[number]
        }
      report(finding.fault, at: cursor, hint: definition.hint(for: finding.fault))
    }
    guard findings.isEmpty else { return nil }
    var places = places(of: shared)
    places.states = Self.places(states)
    places.starts = Self.places(starts)
    places.rows = Self.places(rows)
    return (definition, places, [])
  }

  /// Reads the rules of a machine.
  func rules(_ cursor: Cursor, of device: MachineDefinition) -> [TraceRule]? {
    guard let list = cursor.list() else { return nil }
    let rules = list.compactMap { MachineReader($0).rule(of: device) }
    guard rules.count == list.count else { return nil }
    var isValid = true
    for (number, rule) in rules.enumerated() {
      let name = rule.machine.name
      if rules[..<number].contains(where: { $0.machine.name == name }) {
        list[number].narrowed(to: name).report(
          DefinitionFault.duplicateState(name).code, "rule '\(name)' is defined twice")
        isValid = false
      }
      if !rule.machine.states.contains(where: { $0.status == TraceRule.broken }) {
        list[number].reportExpected(
          "a state with `status: broken`", hint: "without one, the rule can never be broken")
        isValid = false
      }
    }
    return isValid ? rules : nil
  }

  private func rule(of device: MachineDefinition) -> TraceRule? {
    guard let fields = root.fields(MachineGrammar.rule) else { return nil }
    let name = fields.required("rule")?.text("a name")
    let events = fields.optional("events").map { $0.list() ?? [] } ?? []
    let conditions = fields.optional("conditions").map { $0.list() ?? [] } ?? []
    let variables = fields.optional("variables").map { $0.entries() ?? [] } ?? []
    var definition = MachineDefinition(name: name ?? "")
    definition.events = events.compactMap(event)
    definition.conditions = conditions.compactMap { $0.text("a condition").map { Condition($0) } }
    definition.variables = variables.compactMap { key, value in
      key.text("a variable").flatMap { variable($0, value) }
    }
    guard name != nil, definition.events.count == events.count,
      definition.conditions.count == conditions.count, definition.variables.count == variables.count
    else { return nil }
    var isComplete = true
    for (cursor, condition) in zip(conditions, definition.conditions)
    where !device.conditions.contains(where: { $0.name == condition.name }) {
      cursor.report(
        DefinitionFault.conditionNotDefined(event: "", condition: condition.name).code,
        "the machine has no condition '\(condition.name)'",
        hint: .nearest(to: condition.name, of: device.conditions.map(\.name)))
      isComplete = false
    }
    // The other events are those that rows name.
    let rows = fields.optional("transitions")?.list() ?? []
    for row in rows {
      if let entries = row.node.entries, !entries.contains(where: { $0.key.text == "event" }) {
        row.reportExpected(
          "a row with an event",
          hint: "a rule has no timers: compare `now` with a variable of the form `instant`")
        isComplete = false
      }
      guard let name = row.node.entries?.first(where: { $0.key.text == "event" })?.value.text,
        !definition.events.contains(where: { $0.name == name })
      else { continue }
      if let event = TraceRule.event(named: name, of: device) {
        definition.events.append(event)
      } else {
        let near = nearestName(to: name, in: TraceRule.events(of: device))
        report(.eventNotDefined(name), at: row, hint: near.map { .name($0, insteadOf: name) })
        isComplete = false
      }
    }
    let extra = definition.events.count - events.count
    let shared = Shared(
      definition: definition, events: events + [Cursor](repeating: root, count: extra),
      conditions: conditions,
      choices: [], variables: variables)
    return flat(fields, isComplete ? shared : nil, isRule: true).map { TraceRule($0.definition) }
  }

  /// Reports a fault of the machine at the part that has it.
  func report(_ fault: DefinitionFault, at cursor: Cursor, hint: Advice?) {
    if case .expression(let expression) = fault {
      return cursor.narrowed(to: expression.text).report(
        fault.code, fault.description, hint: hint, part: expression.fault.range)
    }
    // The position of the wrong name is more precise than that of the whole row.
    (fault.name.map(cursor.narrowed(to:)) ?? cursor).report(fault.code, fault.description, hint: hint)
  }

  static func places(_ cursors: [Cursor]) -> [DefinitionPlaces.Place] {
    cursors.map { ($0.position, $0.node.end) }
  }

  /// Returns the positions of all parts but states, starts and rows.
  func places(of shared: Shared) -> DefinitionPlaces {
    DefinitionPlaces(
      machine: (root.position, root.node.end), events: Self.places(shared.events),
      conditions: Self.places(shared.conditions), choices: Self.places(shared.choices),
      variables: Self.places(shared.variables.map(\.key)))
  }

  private func shared(_ fields: Fields) -> Shared? {
    let name = fields.required("machine")?.text("a name")
    let summary = fields.optional("summary").map { $0.text() ?? "" } ?? ""
    let events = fields.required("events")?.list()
    let conditions = fields.optional("conditions")?.list() ?? []
    let choices = fields.optional("choices").map { $0.entries() ?? [] } ?? []
    let readings = fields.optional("readings").map { forms($0, "a reading") } ?? []
    let variables = fields.optional("variables").map { $0.entries() ?? [] } ?? []
    var definition = MachineDefinition(name: name ?? "", summary: summary)
    definition.events = events?.compactMap(event) ?? []
    definition.conditions = conditions.compactMap(condition)
    definition.choices = choices.compactMap { key, value in
      key.text("a choice").map { DeviceChoice($0, names(value)) }
    }
    definition.variables = variables.compactMap { key, value in
      key.text("a variable").flatMap { variable($0, value) }
    }
    guard name != nil, let events, let readings, definition.events.count == events.count,
      definition.conditions.count == conditions.count, definition.choices.count == choices.count,
      definition.variables.count == variables.count
    else { return nil }
    definition.readings = readings
    return Shared(
      definition: definition, events: events, conditions: conditions, choices: choices.map(\.key),
      variables: variables)
  }

  func state(_ cursor: Cursor, keys: [Form.Field] = MachineGrammar.state) -> State? {
    if cursor.node.entries == nil { return cursor.text("a state").map { State($0) } }
    guard let fields = cursor.fields(keys),
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
    if let first = cursor.node.entries?.first?.key.text, ["list", "map", "record", "instant"].contains(first)
    {
      return compound(cursor, first)
    }
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
      case .instant: .instant(precision: .zero)
      }
    }
    switch word {
    case .integer: return limits(value) { $0.integer(as: Int.self) }.map { .wholeNumber($0) }
    case .number: return limits(value) { $0.number() }.map { .number($0) }
    case .duration: return limits(value) { $0.duration() }.map { .duration($0) }
    case .text, .hex, .flag, .instant:
      key.report("`\(name)` has no limits")
      return nil
    }
  }

  /// Returns the form of a list, a map, a record or a moment.
  private func compound(_ cursor: Cursor, _ word: String) -> ValueForm.Kind? {
    switch word {
    case "list":
      guard let fields = cursor.fields(MachineGrammar.list),
        let element = fields.required("list").flatMap(kind), let size = size(fields)
      else { return nil }
      return .list(element, capacity: size)
    case "map":
      guard let fields = cursor.fields(MachineGrammar.map), let cursor = fields.required("map"),
        let members = cursor.list(), let size = size(fields)
      else { return nil }
      guard members.count == 2 else {
        cursor.reportExpected("the form of the keys and that of the values, as in [text, integer]")
        return nil
      }
      guard let key = kind(members[0]), let value = kind(members[1]) else { return nil }
      return .map(key, value, capacity: size)
    case "record":
      return cursor.fields(MachineGrammar.record)?.required("record").flatMap { forms($0, "a field") }
        .map { .record($0) }
    default:
      return cursor.fields(MachineGrammar.instant)?.required("instant")?.duration()
        .map { .instant(precision: $0) }
    }
  }

  private func size(_ fields: Fields) -> Int? {
    guard let cursor = fields.required("size"), let size = cursor.integer(as: Int.self) else { return nil }
    guard (1...1000).contains(size) else {
      cursor.reportExpected("a size from 1 to 1000")
      return nil
    }
    return size
  }

  private func variable(_ name: String, _ cursor: Cursor) -> Variable? {
    guard cursor.node.entries?.contains(where: { $0.key.text == "form" }) == true else {
      return kind(cursor).map { Variable(ValueForm(name, $0)) }
    }
    guard let fields = cursor.fields(MachineGrammar.variable),
      let kind = fields.required("form").flatMap(kind)
    else { return nil }
    return Variable(ValueForm(name, kind), first: fields.optional("first")?.text("an expression"))
  }

  private func assignments(_ cursor: Cursor?) -> [Assignment]? {
    guard let cursor else { return [] }
    guard let entries = cursor.entries() else { return nil }
    let assignments = entries.compactMap { key, value -> Assignment? in
      guard let name = key.text("a variable"), let text = value.text("an expression") else { return nil }
      return Assignment(name, text)
    }
    return assignments.count == entries.count ? assignments : nil
  }

  /// Returns the names of effects, and of the readings among them those values that are due.
  private func effects(_ cursor: Cursor?) -> (names: [String], due: [DueReading]) {
    var names: [String] = []
    var due: [DueReading] = []
    for item in cursor?.listOrOne() ?? [] {
      guard item.node.entries != nil else {
        if let name = item.text("an effect") { names.append(name) }
        continue
      }
      guard let fields = item.fields(MachineGrammar.due),
        let name = fields.required("reading")?.text("a reading")
      else { continue }
      names.append(name)
      due.append(DueReading(name, fields.optional("is")?.text("an expression")))
    }
    return (names, due)
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
    return start(state, fields)
  }

  /// Returns a start with the rest of its keys.
  func start(_ state: String, _ fields: Fields) -> Start? {
    let conditions = (fields.optional("when")?.entries() ?? []).compactMap { key, value in
      if let name = key.text("a setting"), let flag = value.flag() {
        Start.Condition(name, flag)
      } else {
        nil
      }
    }
    guard let set = assignments(fields.optional("set")) else { return nil }
    return Start(state, when: conditions, set: set, start: names(fields.optional("start")))
  }

  func transition(_ cursor: Cursor, keys: [Form.Field] = MachineGrammar.row) -> Transition? {
    guard let fields = cursor.fields(keys), let from = fields.required("from"),
      fields.obey(MachineGrammar.rowRules)
    else { return nil }
    let trigger = fields.optional("event").map { $0.text("an event").map(Transition.Trigger.event) } ?? .timer
    guard let trigger, let window = window(fields), let set = assignments(fields.optional("set")) else {
      return nil
    }
    let (before, dueBefore) = effects(fields.optional("first"))
    let (after, dueAfter) = effects(fields.optional("then"))
    let exact = fields.optional("after").flatMap(time)
    let data = RowData(
      when: fields.optional("when")?.text("an expression"), set: set, due: dueBefore + dueAfter,
      start: names(fields.optional("start")), stop: names(fields.optional("stop")),
      timer: fields.optional("timer")?.text("a timer"),
      keepsTimer: fields.optional("keep-timer")?.flag() ?? false,
      earliest: exact ?? fields.optional("not-before").flatMap(time),
      latest: exact ?? fields.optional("within").flatMap(time))
    return Transition(
      trigger, from: from.node.text == MachineGrammar.anyState ? .wildcard : .states(names(from)),
      to: target(fields), window: window,
      before: before, after: after,
      shows: fields.optional("shows")?.text(), given: names(fields.optional("given")),
      unless: names(fields.optional("unless")), options: names(fields.optional("option")),
      data: data, origin: fields.optional("ours")?.flag() ?? false ? .ours : .seed)
  }

  private func target(_ fields: Fields) -> Transition.Target {
    if let shift = fields.optional("shift") { return .shift(names(shift)) }
    let to = fields.optional("to")
    return to?.node.text == MachineGrammar.sameState ? .stay : .states(names(to))
  }

  /// Returns the expression of a time, or `nil` if the scalar is a duration or malformed: an expression begins with a
  /// letter or a bracket.
  private func time(_ cursor: Cursor) -> String? {
    guard let text = cursor.node.text, let first = text.first, text != MachineGrammar.forever else {
      return nil
    }
    return first.isLetter || first == "(" ? text : nil
  }

  private func window(_ fields: Fields) -> Window? {
    if let after = fields.optional("after") {
      return time(after) == nil ? after.duration().map { .after($0) } : .any
    }
    var window = Window.any
    let plus = fields.optional("plus")
    if let cursor = fields.optional("not-before"), time(cursor) == nil {
      guard let earliest = plus == nil ? cursor.duration() : cursor.signedDuration() else { return nil }
      window.earliest = earliest
    }
    if let cursor = fields.optional("within"), time(cursor) == nil {
      guard let latest = cursor.duration() else { return nil }
      window.latest = latest
    }
    if let cursor = plus {
      guard let plus = cursor.text("a condition") else { return nil }
      window.plus = plus
    }
    return window
  }

  func names(_ cursor: Cursor?) -> [String] {
    cursor?.listOrOne().compactMap { $0.text("a name") } ?? []
  }
}
