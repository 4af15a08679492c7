import Basics
import Documents
import Expressions

extension MachineFile {
  /// Reads a state chart in SCXML (W3C, https://www.w3.org/TR/scxml/) as the machine of its configurations.
  ///
  /// The events that transitions name are stimuli. An event that the chart sends to itself after a delay is a timer, and
  /// one that it sends to others is an effect; with a parameter it is a reading. Transitions without an event, and
  /// events of the chart itself, are carried out when the file is read.
  init(scxml bytes: [UInt8], name: String) throws(DocumentError) {
    let source = Source(name: name, bytes: bytes)
    if let problem = ForeignFormat.problem(inSCXML: bytes) {
      throw DocumentError(source: source, problems: [problem])
    }
    let document = try XMLDocument(bytes, name: name, limits: Limits(bytes: 4 << 20))
    func failure(_ problems: [SCXMLProblem]) -> DocumentError {
      let ordered = problems.sorted { $0.range.lowerBound < $1.range.lowerBound }
      return DocumentError(
        source: source,
        problems: ordered.prefix(100).map { problem in
          Problem(
            problem.code, at: document.position(at: problem.range.lowerBound),
            to: document.position(at: problem.range.upperBound), problem.message, hint: problem.hint)
        }, omitted: max(0, ordered.count - 100))
    }
    guard document.root.name == "scxml", [SCXMLChart.namespace, ""].contains(document.root.namespace) else {
      throw failure([
        SCXMLProblem(
          .wrongValue, at: document.root.range, "expected `<scxml>`, found `<\(document.root.name)>`")
      ])
    }
    var reader = SCXMLChartReader()
    let file = name.split(separator: "/").last.map(String.init) ?? name
    reader.read(document.root, name: file.hasSuffix(".scxml") ? String(file.dropLast(6)) : file)
    guard reader.problems.isEmpty else { throw failure(reader.problems) }
    var builder = SCXMLBuilder(reader.chart)
    do throws(SCXMLProblem) { try builder.build() } catch { throw failure([error]) }
    let places = builder.places { range in
      (document.position(at: range.lowerBound), document.position(at: range.upperBound))
    }
    let definition = builder.machine
    let findings = definition.findings()
    let problems = places.problems(findings.map(\.place)) { number, start, end in
      let fault = findings[number].fault
      let hint: Advice? =
        fault == .noEvents
        ? "a stimulus is an event that a transition names and that the chart does not send itself"
        : definition.hint(for: fault)
      return Problem(fault.code, at: start, to: end, fault.description, hint: hint)
    }
    if !problems.isEmpty {
      throw DocumentError(source: source, problems: problems, omitted: findings.count - problems.count)
    }
    let notes = builder.restarted.map { range in
      var note = Problem(
        .repeatedTimer, at: document.position(at: range.lowerBound),
        to: document.position(at: range.upperBound),
        "this event may be sent again while it is pending; the machine then starts its timer again",
        hint: "cancel it where its state is left: `<cancel sendid=\"…\"/>` in `<onexit>`")
      note.severity = .warning
      return note
    }
    self.init(definition, places, in: source, notes: notes)
  }
}

/// Makes the machine of a chart: its states are the configurations that can be reached.
private struct SCXMLBuilder {
  /// A state of the machine.
  private struct Place {
    var configuration: SCXMLConfiguration
    var name = ""
    /// The delayed events that may be pending.
    var pending: Set<Int> = []
    /// What each event does, in the order of the events, and then each delayed event.
    var reactions: [Reaction] = []
  }

  private enum Cause: Equatable {
    case stimulus(String)
    case delayed(Int)
  }

  private struct Reaction {
    var cause: Cause
    var walks: [SCXMLWalk]
  }

  /// A row before its expressions are written.
  private struct Row {
    var cause: Cause
    var source: Int
    var target: Int
    var walk: SCXMLWalk
    var range: Range<Int>
  }

  private(set) var machine = MachineDefinition(name: "")
  private var ranges: (states: [Range<Int>], events: [Range<Int>], rows: [Range<Int>]) = ([], [], [])
  private var variableRanges: [Range<Int>] = []
  private let chart: SCXMLChart
  private var steps: SCXMLSteps
  private let constants: [String: SCXMLExpression]
  private var stimuli: [String] = []
  /// For each transition, the numbers of the stimuli that it is for.
  private var eventNumbers: [[Int]] = []
  private var firsts: [String: SCXMLExpression] = [:]
  private var firstTimers: [Int] = []
  /// The number of the state in which the chart starts.
  private var first = 0
  private var places: [Place] = []
  private var numbers: [SCXMLConfiguration: Int] = [:]
  private var rows: [Row] = []
  private var timerNames: [Int: String] = [:]

  /// The most states of the machine, and the most rows.
  private static let maximumStates = 3000
  private static let maximumRows = 30_000

  init(_ chart: SCXMLChart) {
    self.chart = chart
    constants = Self.constants(of: chart)
    steps = SCXMLSteps(chart, constants: constants)
  }

  mutating func build() throws(SCXMLProblem) {
    machine.name = chart.name
    try findEvents()
    try begin()
    try explore()
    orderPlaces()
    namePlaces()
    collectRows()
    try write()
  }

  func places(_ position: (Range<Int>) -> DefinitionPlaces.Place) -> DefinitionPlaces {
    let whole = position(chart.states[0].range)
    return DefinitionPlaces(
      machine: whole, states: ranges.states.map(position), events: ranges.events.map(position),
      variables: variableRanges.map(position), starts: machine.starts.map { _ in whole },
      rows: ranges.rows.map(position))
  }

  /// Where delayed events are sent that may be pending then.
  var restarted: [Range<Int>] { steps.restarted.sorted().map { chart.sends[$0].range } }

  // MARK: Events and values

  /// The variables that keep a constant first value.
  private static func constants(of chart: SCXMLChart) -> [String: SCXMLExpression] {
    let blocks =
      chart.transitions.map(\.actions) + chart.states.flatMap { $0.entry + $0.exit }
      + chart.states.compactMap { $0.initial?.actions }
    let changed = Set(blocks.joined().flatMap(SCXMLChart.variables(setBy:)))
    var constants: [String: SCXMLExpression] = [:]
    for variable in chart.variables where !changed.contains(variable.name) {
      switch variable.first?.form {
      case .flag, .integer, .number, .text: constants[variable.name] = variable.first
      default: break
      }
    }
    return constants
  }

  /// What the interpreter of a chart sends: such an event is no stimulus.
  private static func isOfInterpreter(_ event: String) -> Bool {
    ["done", "error", "error.execution", "error.communication", "error.platform"].contains(event)
      || event == "done.state" || event.hasPrefix("done.state.") || event.hasPrefix("done.invoke")
  }

  private mutating func findEvents() throws(SCXMLProblem) {
    var own = Set<String>()
    for number in chart.sends.indices {
      let isDelayed = try steps.delay(of: number).map { $0 != .constant(.zero) } ?? false
      // The name of an event without a delay may depend on the event that is processed.
      let known = try? steps.name(of: number)
      if let known, chart.sends[number].isOwn { own.insert(known) }
      guard isDelayed else { continue }
      let name = if let known { known } else { try steps.name(of: number) }
      let base = chart.sends[number].id ?? name
      let others = timerNames.values.count { $0 == base || $0.hasPrefix(base + " ") }
      timerNames[number] = others == 0 ? base : "\(base) \(others + 1)"
    }
    var seen = own
    for transition in chart.transitions {
      for event in transition.events ?? [] where event != "*" && !Self.isOfInterpreter(event) {
        guard seen.insert(event).inserted else { continue }
        stimuli.append(event)
        ranges.events.append(transition.range)
      }
    }
    eventNumbers = steps.eventNumbers(of: stimuli)
  }

  // MARK: States

  private mutating func begin() throws(SCXMLProblem) {
    for variable in chart.variables {
      guard constants[variable.name] == nil else { continue }
      let first = variable.first ?? SCXMLExpression(.nothing, at: variable.range)
      firsts[variable.name] = try first.resolved(
        in: SCXMLExpression.Context(values: firsts, constants: constants, isActive: { _ in false }))
    }
    let walks = try steps.begin(firsts)
    if let decision = walks.first?.decisions.first {
      throw SCXMLProblem(
        .unsupported, at: decision.condition.range,
        "the first state depends on this condition, which the first values do not decide",
        hint: "give each variable in it a constant first value")
    }
    guard let walk = walks.first else { return }
    // A variable without a value is unknown until it gets one.
    firsts = walk.values.filter { value in if case .nothing = value.value.form { false } else { true } }
    firstTimers = walk.timers.filter { $0.value == .starts }.keys.sorted()
    for (number, delay) in walk.delays { firsts[Self.delayVariable(number)] = delay.value }
    _ = reach(walk.configuration, pending: Set(firstTimers))
  }

  private mutating func reach(_ configuration: SCXMLConfiguration, pending: Set<Int>) -> Int {
    if let number = numbers[configuration] {
      if !configuration.isOver { places[number].pending.formUnion(pending) }
      return number
    }
    numbers[configuration] = places.count
    places.append(
      Place(configuration: configuration, pending: configuration.isOver ? [] : pending))
    return places.count - 1
  }

  private mutating func explore() throws(SCXMLProblem) {
    /// For each state, how many events were pending when it was looked at.
    var known: [Int] = []
    var isChanging = true
    while isChanging {
      isChanging = false
      var (number, rowCount) = (0, 0)
      while number < places.count {
        if number == known.count { known.append(-1) }
        if known[number] != places[number].pending.count {
          known[number] = places[number].pending.count
          isChanging = true
          try look(at: number)
        }
        rowCount += places[number].reactions.reduce(0) { $0 + $1.walks.count }
        number += 1
        if rowCount > Self.maximumRows {
          throw SCXMLProblem(
            .tooLarge, at: chart.states[0].range, "this chart has more than \(Self.maximumRows) transitions",
            hint: "split it into several machines")
        }
        if places.count > Self.maximumStates {
          throw SCXMLProblem(
            .tooLarge, at: chart.states[0].range,
            "this chart has more than \(Self.maximumStates) configurations",
            hint: "split its parallel states into several machines")
        }
      }
    }
  }

  private mutating func look(at number: Int) throws(SCXMLProblem) {
    let place = places[number]
    var reactions: [Reaction] = []
    guard !place.configuration.isOver else { return }
    steps.pending = place.pending
    steps.firing = nil
    let transitions = place.configuration.active.flatMap { chart.states[$0].transitions }
    for number in Set(transitions.flatMap { eventNumbers[$0] }).sorted() {
      let event = SCXMLEvent(name: stimuli[number])
      let walks = try steps.process(event, in: place.configuration)
      reactions.append(Reaction(cause: .stimulus(event.name), walks: walks))
    }
    for timer in place.pending.sorted() {
      steps.firing = timer
      let name = try steps.name(of: timer)
      let data = chart.sends[timer].parameters
      if chart.sends[timer].isOwn, steps.isHandled(name) {
        let walks = try steps.process(SCXMLEvent(name: name, data: data), in: place.configuration)
        reactions.append(Reaction(cause: .delayed(timer), walks: walks))
      } else {
        var walk = SCXMLWalk(configuration: place.configuration)
        walk.effects = [SCXMLWalk.Effect(name: name, data: data)]
        reactions.append(Reaction(cause: .delayed(timer), walks: [walk]))
      }
    }
    for reaction in reactions {
      for walk in reaction.walks {
        var pending = place.pending
        if case .delayed(let timer) = reaction.cause { pending.remove(timer) }
        for (timer, change) in walk.timers {
          if change == .starts { pending.insert(timer) } else { pending.remove(timer) }
        }
        _ = reach(walk.configuration, pending: pending)
      }
    }
    places[number].reactions = reactions
  }

  /// Brings the states into the order of the document.
  private mutating func orderPlaces() {
    let start = places.first?.configuration
    places = places.enumerated().sorted { left, right in
      let (first, second) = (left.element.configuration.active, right.element.configuration.active)
      return first == second ? left.offset < right.offset : first.lexicographicallyPrecedes(second)
    }.map(\.element)
    for (number, place) in places.enumerated() { numbers[place.configuration] = number }
    first = start.flatMap { numbers[$0] } ?? 0
  }

  /// Names each state after the innermost states that are active in it.
  private mutating func namePlaces() {
    var names = Set<String>()
    for index in places.indices {
      let configuration = places[index].configuration
      var name = atoms(of: configuration).map { chart.states[$0].id }.joined(separator: "+")
      if names.contains(name) {
        let memory = configuration.memory.values.joined().sorted().map { chart.states[$0].id }
        name += " (after \(memory.joined(separator: ", ")))"
      }
      let base = name
      var count = 2
      while !names.insert(name).inserted {
        name = "\(base.hasSuffix(")") ? "\(base.dropLast()) " : "\(base) (")\(count))"
        count += 1
      }
      places[index].name = name
    }
  }

  private func atoms(of configuration: SCXMLConfiguration) -> [Int] {
    configuration.active.filter(chart.isAtomic)
  }

  /// What an observer sees in a configuration: the statuses of its innermost states, each once.
  private func status(of configuration: SCXMLConfiguration) -> String {
    var statuses: [String] = []
    for atom in atoms(of: configuration) {
      var state = atom
      while state >= 0, chart.states[state].status == nil { state = chart.states[state].parent }
      let status = state < 0 ? chart.states[atom].id : chart.states[state].status ?? ""
      if !statuses.contains(status) { statuses.append(status) }
    }
    return statuses.joined(separator: "+")
  }

  // MARK: Rows

  private mutating func collectRows() {
    for (source, place) in places.enumerated() {
      for reaction in place.reactions {
        for walk in reaction.walks {
          guard let target = numbers[walk.configuration] else { continue }
          let range: Range<Int>
          switch (walk.first, reaction.cause) {
          case (let first?, _): range = chart.transitions[first].range
          // An event for which there is no transition is discarded, and a device may refuse it.
          case (nil, .stimulus): continue
          case (nil, .delayed(let timer)): range = chart.sends[timer].range
          }
          rows.append(
            Row(cause: reaction.cause, source: source, target: target, walk: walk, range: range))
        }
      }
    }
    removeIdleTimers()
  }

  /// Removes the delayed events that never change anything.
  private mutating func removeIdleTimers() {
    for timer in timerNames.keys.sorted() {
      let isIdle = rows.allSatisfy { row in
        row.cause != .delayed(timer) || row.walk.first == nil && row.walk.effects.isEmpty
      }
      guard isIdle else { continue }
      timerNames[timer] = nil
      rows.removeAll { $0.cause == .delayed(timer) }
    }
  }

  /// The delayed events that count from the entry of their states, so that they need no timer of their own: every row
  /// into a state in which one is pending starts it, and no row that stays there does.
  private func timersOfStates() -> Set<Int> {
    Set(
      timerNames.keys.filter { timer in
        guard case .constant? = try? steps.delay(of: timer) else { return false }
        if places[first].pending.contains(timer) != firstTimers.contains(timer) { return false }
        return rows.allSatisfy { row in
          let change = row.walk.timers[timer]
          if !row.walk.moves { return change == nil && row.cause != .delayed(timer) }
          return !places[row.target].pending.contains(timer) || change == .starts
        }
      })
  }

  // MARK: Writing

  private static func delayVariable(_ number: Int) -> String { "delay \(number)" }

  private mutating func write() throws(SCXMLProblem) {
    var used = try findUsed()
    let order = chart.variables.map(\.name).filter { used.contains($0) && constants[$0] == nil }
    used = Set(order)
    var types = SCXMLTypes(variables: chart.variables.map(\.name))
    try findTypes(&types, used)
    types.nameVariables(order, besides: timerNames.keys.map(delayName))
    writeStates()
    try writeVariables(order, types)
    let ofStates = timersOfStates()
    var written: [(row: Transition, range: Range<Int>)] = []
    for (index, row) in rows.enumerated() {
      // After a row without a condition, no other row of its event is taken.
      if case .stimulus = row.cause, index > 0, rows[index - 1].cause == row.cause,
        rows[index - 1].source == row.source, written.last?.row.data.when == nil
      {
        continue
      }
      written.append((try transition(row, types, used, ofStates), row.range))
    }
    merge(written)
    writeEvents(types)
    let start = Start(
      places[first].name,
      start: firstTimers.filter { !ofStates.contains($0) }.compactMap { timerNames[$0] })
    machine.starts = [start]
    for name in order { variableRanges.append(chart.variables.first { $0.name == name }?.range ?? 0..<0) }
    variableRanges += machine.variables.dropFirst(order.count).map { _ in chart.states[0].range }
  }

  /// The variables on whose values something depends.
  private func findUsed() throws(SCXMLProblem) -> Set<String> {
    var used = Set<String>()
    func add(_ expression: SCXMLExpression) {
      expression.forEach { if case .name(let name) = $0.form { used.insert(name) } }
    }
    for row in rows {
      row.walk.decisions.forEach { add($0.condition) }
      row.walk.effects.flatMap(\.data).forEach { add($0.value) }
      row.walk.delays.values.forEach { add($0.value) }
    }
    var count = -1
    while count != used.count {
      count = used.count
      for row in rows {
        for (name, value) in row.walk.values where used.contains(name) { add(value) }
      }
    }
    return used
  }

  private func findTypes(_ types: inout SCXMLTypes, _ used: Set<String>) throws(SCXMLProblem) {
    var values: [(variable: String, value: SCXMLExpression)] = []
    for variable in chart.variables where used.contains(variable.name) {
      if let first = firsts[variable.name] { values.append((variable.name, first)) }
      for row in rows {
        if let value = row.walk.values[variable.name] { values.append((variable.name, value)) }
      }
    }
    // What is found out about one value may tell the types of those before it.
    for pass in 0..<4 {
      if pass == 2 { types.decide() }
      for (variable, value) in values { try types.use(value, for: variable) }
      for row in rows {
        for decision in row.walk.decisions { try types.use(condition: decision.condition) }
        for effect in row.walk.effects {
          if let value = effect.value { try types.use(value, forReading: effect.name) }
        }
        for delay in row.walk.delays.values { try types.use(delay.value) }
        for value in row.walk.values.values { types.useArguments(of: value) }
      }
    }
    let readings = rows.flatMap(\.walk.effects).compactMap { effect in
      effect.value.map { (effect.name, $0) }
    }
    try types.measure(values, readings)
  }

  private mutating func writeStates() {
    for place in places {
      let atoms = atoms(of: place.configuration)
      var region = ""
      if atoms.count == 1, let atom = atoms.first {
        var top = atom
        while chart.states[top].parent > 0 { top = chart.states[top].parent }
        if top != atom { region = chart.states[top].id }
      }
      machine.states.append(State(place.name, status: status(of: place.configuration), region: region))
      ranges.states.append(chart.states[atoms.first ?? 0].range)
    }
    // A state that is never active is reported as one that cannot be reached.
    let active = Set(places.flatMap(\.configuration.active))
    for number in chart.states.indices.dropFirst() where chart.isAtomic(number) && !active.contains(number) {
      if case .history = chart.states[number].kind { continue }
      machine.states.append(State(chart.states[number].id))
      ranges.states.append(chart.states[number].range)
    }
  }

  private mutating func writeVariables(_ order: [String], _ types: SCXMLTypes) throws(SCXMLProblem) {
    for name in order {
      let form = ValueForm(types.names[name] ?? name, types.form(of: name))
      let first = try firsts[name].map { value throws(SCXMLProblem) in try types.text(of: value, for: name) }
      machine.variables.append(Variable(form, first: first))
    }
    for timer in timerNames.keys.sorted() {
      guard case .value(_, let unit)? = try steps.delay(of: timer) else { continue }
      let first = try firsts[Self.delayVariable(timer)].map { value throws(SCXMLProblem) in
        try types.text(ofDelay: value, unit)
      }
      machine.variables.append(
        Variable(ValueForm(delayName(timer), .anyDuration), first: first ?? "duration('0s')"))
    }
  }

  /// The variable that holds the length of a timer that is not constant.
  private func delayName(_ timer: Int) -> String { "delay\(timer)" }

  private func transition(
    _ row: Row, _ types: SCXMLTypes, _ used: Set<String>, _ ofStates: Set<Int>
  ) throws(SCXMLProblem) -> Transition {
    var data = RowData()
    data.when = try condition(of: row, types)
    for variable in chart.variables where used.contains(variable.name) {
      guard let value = row.walk.values[variable.name] else { continue }
      if case .name(variable.name) = value.form { continue }
      data.set.append(
        Assignment(types.names[variable.name] ?? variable.name, try types.text(of: value, for: variable.name))
      )
    }
    for (timer, delay) in row.walk.delays.sorted(by: { $0.key < $1.key }) where timerNames[timer] != nil {
      data.set.append(Assignment(delayName(timer), try types.text(ofDelay: delay.value, delay.unit)))
    }
    for (timer, change) in row.walk.timers.sorted(by: { $0.key < $1.key }) where !ofStates.contains(timer) {
      guard let name = timerNames[timer] else { continue }
      if change == .starts {
        data.start.append(name)
      } else if places[row.source].pending.contains(timer), row.cause != .delayed(timer) {
        data.stop.append(name)
      }
    }
    for effect in row.walk.effects {
      guard let value = effect.value else { continue }
      data.due.append(DueReading(effect.name, try types.text(of: value, forReading: effect.name)))
    }
    var window = Window.any
    var trigger = Transition.Trigger.timer
    switch row.cause {
    case .stimulus(let event): trigger = .event(event)
    case .delayed(let timer):
      if stimuli.isEmpty { trigger = .event(try steps.name(of: timer)) }
      if !ofStates.contains(timer) { data.timer = timerNames[timer] }
      if case .constant(let delay)? = try steps.delay(of: timer) {
        window = .after(delay)
      } else {
        data.earliest = delayName(timer)
        data.latest = delayName(timer)
      }
    }
    return Transition(
      trigger, from: .states([places[row.source].name]),
      to: row.walk.moves ? .states([places[row.target].name]) : .stay, window: window,
      after: row.walk.effects.map(\.name), data: data)
  }

  /// The condition of a row. The rows of a stimulus form a list, so that of each decision only the first outcome needs to
  /// be tested; those of timers form none.
  private func condition(of row: Row, _ types: SCXMLTypes) throws(SCXMLProblem) -> String? {
    let decisions = row.walk.decisions.filter { decision in
      if case .stimulus = row.cause { decision.isFirst } else { true }
    }
    return try types.text(of: decisions.map { ($0.condition, $0.isTrue) })
  }

  /// Writes lists of rows that are the same in several states once.
  private mutating func merge(_ written: [(row: Transition, range: Range<Int>)]) {
    struct List {
      var rows: [Transition]
      var ranges: [Range<Int>]
    }
    var lists: [List] = []
    var positions: [String: [Int]] = [:]
    var index = 0
    while index < written.count {
      var end = index + 1
      let first = written[index].row
      if case .event = first.trigger {
        while end < written.count, written[end].row.trigger == first.trigger,
          written[end].row.from == first.from
        {
          end += 1
        }
      }
      let rows = written[index..<end].map(\.row)
      let key = "\(first.trigger)"
      let same = positions[key, default: []].first { position in
        zip(lists[position].rows, rows).allSatisfy { left, right in
          var right = right
          right.from = left.from
          return left == right
        } && lists[position].rows.count == rows.count
          && lists[position].ranges == written[index..<end].map(\.range)
      }
      if let same, case .states(let names) = first.from {
        for row in lists[same].rows.indices {
          guard case .states(let others) = lists[same].rows[row].from else { continue }
          lists[same].rows[row].from = .states(others + names)
        }
      } else {
        positions[key, default: []].append(lists.count)
        lists.append(List(rows: rows, ranges: written[index..<end].map(\.range)))
      }
      index = end
    }
    machine.transitions = lists.flatMap(\.rows)
    ranges.rows = lists.flatMap(\.ranges)
  }

  private mutating func writeEvents(_ types: SCXMLTypes) {
    let used = Set(
      machine.transitions.compactMap { row in if case .event(let name) = row.trigger { name } else { nil } })
    var events: [Event] = []
    var ofEvents: [Range<Int>] = []
    for (name, range) in zip(stimuli, ranges.events) where used.contains(name) {
      let arguments = types.arguments(of: name)
      events.append(Event(name, arguments: arguments.isEmpty ? nil : ArgumentForms(arguments)))
      ofEvents.append(range)
    }
    if stimuli.isEmpty {
      for name in used.sorted() {
        events.append(Event(name, .spontaneous))
        ofEvents.append(chart.states[0].range)
      }
    }
    machine.events = events
    ranges.events = ofEvents
    machine.readings = types.readings.map { ValueForm($0, types.form(ofReading: $0)) }
  }
}

extension SCXMLWalk.Effect {
  /// The value that it shows: that of its parameter, or a record of several; `nil` without parameters.
  fileprivate var value: SCXMLExpression? {
    guard let first = data.first else { return nil }
    if data.count == 1 { return first.value }
    return SCXMLExpression(.record(data.map { ($0.name, $0.value) }), at: first.value.range)
  }
}
