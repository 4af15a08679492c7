import Basics
import Documents

/// What is active in a chart between two events: a state of the machine.
struct SCXMLConfiguration: Hashable {
  /// The active states, in the order of the document.
  var active: [Int]
  /// For each history that has one, the states to return to.
  var memory: [Int: [Int]] = [:]
  /// Whether the chart has ended.
  var isOver = false
}

/// One way in which a chart can process an event, up to where it waits for the next one.
///
/// Values are expressions of the values before the event, so the conditions on the way are those of one row.
struct SCXMLWalk {
  /// A condition on the way.
  struct Decision {
    var condition: SCXMLExpression
    /// What it has in common with equal conditions.
    var key: String
    /// Whether it is true on this way.
    var isTrue: Bool
    /// Whether this way comes before the one on which it has the other outcome.
    var isFirst: Bool
  }

  /// An effect that the device shows.
  struct Effect {
    var name: String
    var data: [SCXMLChart.Parameter]
  }

  enum TimerChange { case starts, stops }

  var configuration: SCXMLConfiguration
  var decisions: [Decision] = []
  var values: [String: SCXMLExpression] = [:]
  var effects: [Effect] = []
  /// What happens to the timer of each delayed event.
  var timers: [Int: TimerChange] = [:]
  /// The lengths of timers that start and are not constants.
  var delays: [Int: (value: SCXMLExpression, unit: SCXMLDelay.Unit)] = [:]
  var event: SCXMLEvent?
  /// The events that wait: those of the machine itself come before those that it sends.
  var raised: [SCXMLEvent] = []
  var sent: [SCXMLEvent] = []
  /// The first transition that is taken, if any is.
  var first: Int?
  /// Whether a state was left or entered.
  var moves = false
  var steps = 0
}

/// Carries out the steps of a chart, as the algorithm of the standard does (W3C SCXML, appendix D).
///
/// Where a condition depends on values, both ways are followed; the ways on which it is true come first.
struct SCXMLSteps {
  let chart: SCXMLChart
  /// The events that some transition names.
  private let descriptors: [String]
  /// The values of variables that nothing sets.
  private let constants: [String: SCXMLExpression]
  /// The delayed events that may be pending in the state from which the walks begin.
  var pending: Set<Int> = []
  /// The delayed event that is processed.
  var firing: Int?
  /// The delayed events that are sent again while they may be pending.
  private(set) var restarted: Set<Int> = []
  /// The number of steps until now.
  private var work = 0

  /// The most steps that follow one event, and those of all walks together.
  private static let maximumSteps = 200
  private static let maximumWork = 200_000
  /// The most ways in which one event can be processed.
  private static let maximumWalks = 2000

  init(_ chart: SCXMLChart, constants: [String: SCXMLExpression]) {
    self.chart = chart
    self.constants = constants
    descriptors = chart.transitions.flatMap { $0.events ?? [] }
  }

  /// Whether some transition is for an event.
  func isHandled(_ event: String) -> Bool { SCXMLChart.matches(descriptors, event) }

  /// For each transition, the numbers of the events that it is for.
  func eventNumbers(of events: [String]) -> [[Int]] {
    chart.transitions.map { transition in
      guard let descriptors = transition.events else { return [] }
      return events.indices.filter { SCXMLChart.matches(descriptors, events[$0]) }
    }
  }

  // MARK: Reactions to events

  /// Enters the first states.
  mutating func begin(_ values: [String: SCXMLExpression]) throws(SCXMLProblem) -> [SCXMLWalk] {
    var walk = SCXMLWalk(configuration: SCXMLConfiguration(active: []))
    walk.values = values
    var walks = [walk]
    try forEach(chart.states[0].entry, &walks)
    let initial = chart.states[0].initial
    let targets = initial?.targets ?? Array(chart.parts(of: 0).prefix(1))
    guard !targets.isEmpty else {
      throw SCXMLProblem(.missingPart, at: chart.states[0].range, "no states are defined")
    }
    try forEach([initial?.actions ?? []], &walks)
    var settled: [SCXMLWalk] = []
    for walk in walks {
      for walk in try enter(walk, [(targets, 0)]) { settled += try settle(walk) }
    }
    return settled
  }

  /// Processes an event, up to where the chart waits for the next one.
  mutating func process(
    _ event: SCXMLEvent, in configuration: SCXMLConfiguration
  ) throws(SCXMLProblem) -> [SCXMLWalk] {
    var walk = SCXMLWalk(configuration: configuration)
    walk.event = event
    var settled: [SCXMLWalk] = []
    for (walk, enabled) in try select(walk, on: event.name) {
      if enabled.isEmpty {
        settled.append(walk)
      } else {
        for walk in try take(enabled, walk) { settled += try settle(walk) }
      }
    }
    return settled
  }

  /// Takes transitions without an event, and processes the events of the chart itself, until it waits.
  private mutating func settle(
    _ walk: SCXMLWalk, isAtRest: Bool = false
  ) throws(SCXMLProblem) -> [SCXMLWalk] {
    if walk.configuration.isOver { return [walk] }
    var walk = walk
    walk.steps += 1
    work += 1
    guard walk.steps < Self.maximumSteps, work < Self.maximumWork else {
      throw SCXMLProblem(
        .wrongRow, at: walk.first.map { chart.transitions[$0].range } ?? chart.states[0].range,
        "transitions without an event, and events of the machine itself, follow this without an end",
        hint: "let each of them lead to a state that waits for an event")
    }
    var settled: [SCXMLWalk] = []
    for (branch, enabled) in isAtRest ? [(walk, [])] : try select(walk, on: nil) {
      if !enabled.isEmpty {
        for walk in try take(enabled, branch) { settled += try settle(walk) }
        if settled.count > Self.maximumWalks { throw tooLarge }
        continue
      }
      var branch = branch
      guard let event = branch.nextEvent() else {
        forget(in: &branch.configuration)
        settled.append(branch)
        continue
      }
      for (walk, enabled) in try select(branch, on: event.name) {
        if enabled.isEmpty {
          settled += try settle(walk, isAtRest: true)
        } else {
          for walk in try take(enabled, walk) { settled += try settle(walk) }
        }
      }
    }
    return settled
  }

  // MARK: Selection

  private typealias Selection = (walk: SCXMLWalk, enabled: [Int])

  /// Returns the transitions that an event enables, or those without an event; one selection for each outcome of their
  /// conditions.
  private mutating func select(
    _ walk: SCXMLWalk, on event: String?
  ) throws(SCXMLProblem) -> [Selection] {
    var selections: [Selection] = [(walk, [])]
    for state in walk.configuration.active where chart.isAtomic(state) {
      var next: [Selection] = []
      for selection in selections { next += try choose(selection, for: state, on: event) }
      selections = next
      if selections.count > Self.maximumWalks { throw tooLarge }
    }
    return selections.map { ($0.walk, withoutConflicts($0.enabled, $0.walk.configuration)) }
  }

  private var tooLarge: SCXMLProblem {
    SCXMLProblem(
      .tooLarge, at: chart.states[0].range, "the conditions of this chart make too many rows",
      hint: "split the chart into several machines")
  }

  /// Selects the transition of a state or of the innermost state around it.
  private func choose(
    _ selection: Selection, for state: Int, on event: String?
  ) throws(SCXMLProblem) -> [Selection] {
    var selections: [Selection] = []
    let enabled = selection.enabled
    var walk = selection.walk
    var source = state
    while source >= 0 {
      for number in chart.states[source].transitions where isFor(event, number) {
        let (yes, no) = try decide(chart.transitions[number].condition, walk)
        if let yes { selections.append((yes, enabled.contains(number) ? enabled : enabled + [number])) }
        guard let no else { return selections }
        walk = no
      }
      source = chart.states[source].parent
    }
    selections.append((walk, enabled))
    return selections
  }

  private func isFor(_ event: String?, _ number: Int) -> Bool {
    guard let event else { return chart.transitions[number].events == nil }
    return SCXMLChart.matches(chart.transitions[number].events ?? [], event)
  }

  /// Returns the walk on which a condition is true, and that on which it is false; `nil` for what cannot be.
  private func decide(
    _ condition: SCXMLExpression?, _ walk: SCXMLWalk
  ) throws(SCXMLProblem) -> (yes: SCXMLWalk?, no: SCXMLWalk?) {
    guard let condition else { return (walk, nil) }
    var resolved = try condition.resolved(in: context(of: walk))
    var isNegated = false
    while case .not(let operand) = resolved.form {
      resolved = operand
      isNegated.toggle()
    }
    resolved.range = condition.range
    let key = resolved.key
    let known = resolved.truth ?? walk.decisions.first { $0.key == key }?.isTrue
    if let known { return known != isNegated ? (walk, nil) : (nil, walk) }
    var (whenTrue, whenFalse) = (walk, walk)
    whenTrue.decisions.append(
      SCXMLWalk.Decision(condition: resolved, key: key, isTrue: true, isFirst: !isNegated))
    whenFalse.decisions.append(
      SCXMLWalk.Decision(condition: resolved, key: key, isTrue: false, isFirst: isNegated))
    return isNegated ? (whenFalse, whenTrue) : (whenTrue, whenFalse)
  }

  private func context(of walk: SCXMLWalk) -> SCXMLExpression.Context {
    SCXMLExpression.Context(
      values: walk.values, constants: constants, event: walk.event,
      isActive: { id in walk.configuration.active.contains { chart.states[$0].id == id } })
  }

  /// Removes transitions that others preempt: those of inner states win, and then the first.
  private func withoutConflicts(_ enabled: [Int], _ configuration: SCXMLConfiguration) -> [Int] {
    guard enabled.count > 1 else { return enabled }
    var kept: [Int] = []
    for number in enabled {
      let left = Set(exits(of: number, configuration))
      let rivals = kept.filter { !left.isDisjoint(with: exits(of: $0, configuration)) }
      let source = chart.transitions[number].source
      if rivals.allSatisfy({ chart.isDescendant(source, of: chart.transitions[$0].source) }) {
        kept.removeAll(where: rivals.contains)
        kept.append(number)
      }
    }
    return kept
  }

  // MARK: Steps

  /// The states that a transition leaves.
  private func exits(of number: Int, _ configuration: SCXMLConfiguration) -> [Int] {
    guard let domain = domain(of: number, configuration) else { return [] }
    return configuration.active.filter { chart.isDescendant($0, of: domain) }
  }

  /// The innermost state that a transition does not leave; `nil` if it leaves none.
  private func domain(of number: Int, _ configuration: SCXMLConfiguration) -> Int? {
    let transition = chart.transitions[number]
    let targets = transition.targets.flatMap { destinations($0, configuration) }
    guard !targets.isEmpty else { return nil }
    let source = transition.source
    if transition.isInternal, isCompound(source),
      targets.allSatisfy({ chart.isDescendant($0, of: source) })
    {
      return source
    }
    var domain = chart.states[source].parent
    while domain > 0,
      !isCompound(domain) || !targets.allSatisfy({ chart.isDescendant($0, of: domain) })
    {
      domain = chart.states[domain].parent
    }
    return max(0, domain)
  }

  private func isCompound(_ state: Int) -> Bool {
    chart.states[state].kind == .state && !chart.parts(of: state).isEmpty
  }

  /// The states to which a target leads: those that a history remembers, or itself.
  private func destinations(_ target: Int, _ configuration: SCXMLConfiguration, depth: Int = 0) -> [Int] {
    guard case .history = chart.states[target].kind, depth < 10 else { return [target] }
    let next = configuration.memory[target] ?? chart.states[target].initial?.targets ?? []
    return next.flatMap { destinations($0, configuration, depth: depth + 1) }
  }

  /// Takes transitions: leaves states, carries out actions, and enters states.
  private mutating func take(_ enabled: [Int], _ walk: SCXMLWalk) throws(SCXMLProblem) -> [SCXMLWalk] {
    let before = walk.configuration
    let left = Set(enabled.flatMap { exits(of: $0, before) }).sorted(by: >)
    var walk = walk
    walk.first = walk.first ?? enabled.first
    remember(left, &walk.configuration)
    if !left.isEmpty { walk.moves = true }
    var walks = [walk]
    for state in left {
      try forEach(chart.states[state].exit, &walks)
      for index in walks.indices { walks[index].configuration.active.removeAll { $0 == state } }
    }
    try forEach(enabled.map { chart.transitions[$0].actions }, &walks)
    let targets = enabled.compactMap { number in
      domain(of: number, before).map { (chart.transitions[number].targets, $0) }
    }
    guard !targets.isEmpty else { return walks }
    var entered: [SCXMLWalk] = []
    for walk in walks { entered += try enter(walk, targets) }
    return entered
  }

  /// Lets histories remember what is active in their states before these are left.
  private func remember(_ left: [Int], _ configuration: inout SCXMLConfiguration) {
    for state in left {
      for child in chart.states[state].children {
        guard case .history(let isDeep) = chart.states[child].kind else { continue }
        configuration.memory[child] = configuration.active.filter {
          isDeep
            ? chart.isAtomic($0) && chart.isDescendant($0, of: state) : chart.states[$0].parent == state
        }
      }
    }
  }

  /// Lets histories forget what makes no difference: what is remembered again before it is used, and what the history
  /// has at first anyway.
  private func forget(in configuration: inout SCXMLConfiguration) {
    for (history, states) in configuration.memory {
      let initial = chart.states[history].initial
      let isRefreshed =
        configuration.active.contains(chart.states[history].parent)
        && !chart.transitions.contains { $0.isInternal && $0.targets.contains(history) }
      if isRefreshed || initial?.targets == states && initial?.actions.isEmpty == true {
        configuration.memory[history] = nil
      }
    }
  }

  /// The states that are entered, and the actions of initial transitions on the way.
  private struct Entry {
    var states: Set<Int> = []
    var actions: [Int: [SCXMLChart.Action]] = [:]
  }

  private mutating func enter(
    _ walk: SCXMLWalk, _ targets: [(states: [Int], domain: Int)]
  ) throws(SCXMLProblem) -> [SCXMLWalk] {
    var entry = Entry()
    for (states, domain) in targets {
      for state in states { addDescendants(of: state, to: &entry, walk.configuration) }
      for state in states.flatMap({ destinations($0, walk.configuration) }) {
        addAncestors(of: state, below: domain, to: &entry, walk.configuration)
      }
    }
    var walks = [walk]
    for index in walks.indices { walks[index].moves = true }
    for state in entry.states.subtracting(walk.configuration.active).sorted() {
      for index in walks.indices {
        walks[index].configuration.active.append(state)
        walks[index].configuration.active.sort()
      }
      try forEach(chart.states[state].entry, &walks)
      if let actions = entry.actions[state] { try forEach([actions], &walks) }
      if chart.states[state].kind == .final {
        for index in walks.indices { try end(in: state, &walks[index]) }
      }
    }
    return walks
  }

  private func addDescendants(of state: Int, to entry: inout Entry, _ configuration: SCXMLConfiguration) {
    let parent = chart.states[state].parent
    if case .history = chart.states[state].kind {
      guard !entry.states.contains(state) else { return }
      let targets = configuration.memory[state] ?? chart.states[state].initial?.targets ?? []
      if configuration.memory[state] == nil {
        entry.actions[parent, default: []] += chart.states[state].initial?.actions ?? []
      }
      for target in targets where target != state { addDescendants(of: target, to: &entry, configuration) }
      for target in targets where target != state {
        addAncestors(of: target, below: parent, to: &entry, configuration)
      }
      return
    }
    guard entry.states.insert(state).inserted else { return }
    switch chart.states[state].kind {
    case .parallel: addParts(of: state, to: &entry, configuration)
    case .state where isCompound(state):
      let initial = chart.states[state].initial
      entry.actions[state, default: []] += initial?.actions ?? []
      let targets = initial?.targets ?? Array(chart.parts(of: state).prefix(1))
      for target in targets { addDescendants(of: target, to: &entry, configuration) }
      for target in targets { addAncestors(of: target, below: state, to: &entry, configuration) }
    default: break
    }
  }

  private func addAncestors(
    of state: Int, below ancestor: Int, to entry: inout Entry, _ configuration: SCXMLConfiguration
  ) {
    var parent = chart.states[state].parent
    while parent > ancestor {
      entry.states.insert(parent)
      if chart.states[parent].kind == .parallel { addParts(of: parent, to: &entry, configuration) }
      parent = chart.states[parent].parent
    }
  }

  /// Adds each region of a parallel state into which no target leads.
  private func addParts(of state: Int, to entry: inout Entry, _ configuration: SCXMLConfiguration) {
    for part in chart.parts(of: state)
    where !entry.states.contains(where: { $0 == part || chart.isDescendant($0, of: part) }) {
      addDescendants(of: part, to: &entry, configuration)
    }
  }

  /// Ends the state around a final state.
  private func end(in state: Int, _ walk: inout SCXMLWalk) throws(SCXMLProblem) {
    let parent = chart.states[state].parent
    guard parent > 0 else {
      walk.configuration.isOver = true
      return
    }
    let data = try parameters(chart.states[state].data, walk)
    raise(SCXMLEvent(name: "done.state.\(chart.states[parent].id)", data: data), &walk)
    let around = chart.states[parent].parent
    if around > 0, chart.states[around].kind == .parallel, isDone(around, walk.configuration) {
      raise(SCXMLEvent(name: "done.state.\(chart.states[around].id)", data: []), &walk)
    }
  }

  private func raise(_ event: SCXMLEvent, _ walk: inout SCXMLWalk) {
    if isHandled(event.name) { walk.raised.append(event) }
  }

  private func isDone(_ state: Int, _ configuration: SCXMLConfiguration) -> Bool {
    let parts = chart.parts(of: state)
    return switch chart.states[state].kind {
    case .parallel: parts.allSatisfy { isDone($0, configuration) }
    default: parts.contains { chart.states[$0].kind == .final && configuration.active.contains($0) }
    }
  }

  // MARK: Actions

  /// Carries out blocks of actions on each walk.
  private mutating func forEach(
    _ blocks: [[SCXMLChart.Action]], _ walks: inout [SCXMLWalk]
  ) throws(SCXMLProblem) {
    for block in blocks {
      for action in block {
        var next: [SCXMLWalk] = []
        for walk in walks { next += try carryOut(action, walk) }
        walks = next
        if walks.count > Self.maximumWalks { throw tooLarge }
      }
    }
  }

  private mutating func carryOut(
    _ action: SCXMLChart.Action, _ walk: SCXMLWalk
  ) throws(SCXMLProblem) -> [SCXMLWalk] {
    var walk = walk
    switch action {
    case .assign(let assignment):
      walk.values[assignment.variable] = try assignment.value.resolved(in: context(of: walk))
    case .send(let number): try send(number, &walk)
    case .cancel(let id, let range):
      guard case .text(let name) = try id.resolved(in: context(of: walk)).form else {
        throw SCXMLProblem(
          .unsupported, at: range, "which event is cancelled depends on values",
          hint: "cancel it by a constant `sendid`")
      }
      for number in chart.sends.indices where chart.sends[number].id == name { walk.timers[number] = .stops }
    case .choice(let branches):
      var walks: [SCXMLWalk] = []
      for branch in branches {
        let (yes, no) = try decide(branch.condition, walk)
        if let yes {
          var branchWalks = [yes]
          try forEach([branch.actions], &branchWalks)
          walks += branchWalks
        }
        guard let no else { return walks }
        walk = no
      }
      return walks + [walk]
    }
    return [walk]
  }

  private func parameters(
    _ parameters: [SCXMLChart.Parameter], _ walk: SCXMLWalk
  ) throws(SCXMLProblem) -> [SCXMLChart.Parameter] {
    var resolved: [SCXMLChart.Parameter] = []
    for parameter in parameters {
      resolved.append(
        SCXMLChart.Parameter(
          name: parameter.name, value: try parameter.value.resolved(in: context(of: walk))))
    }
    return resolved
  }

  private mutating func send(_ number: Int, _ walk: inout SCXMLWalk) throws(SCXMLProblem) {
    let send = chart.sends[number]
    if let delay = try delay(of: number), delay != .constant(.zero) {
      return try start(number, delay, &walk)
    }
    let name = try name(of: number, in: context(of: walk))
    let data = try parameters(send.parameters, walk)
    if send.isOwn, isHandled(name) {
      let event = SCXMLEvent(name: name, data: data)
      if send.isRaised { walk.raised.append(event) } else { walk.sent.append(event) }
    } else if !send.isRaised {
      walk.effects.append(SCXMLWalk.Effect(name: name, data: data))
    }
  }

  private mutating func start(
    _ number: Int, _ delay: SCXMLDelay, _ walk: inout SCXMLWalk
  ) throws(SCXMLProblem) {
    let send = chart.sends[number]
    let mayBePending =
      walk.timers[number] == .starts
      || walk.timers[number] == nil && pending.contains(number) && firing != number
    if mayBePending { restarted.insert(number) }
    for parameter in send.parameters where !parameter.value.isConstant {
      throw SCXMLProblem(
        .unsupported, at: parameter.value.range, "an event with a delay carries only constants",
        hint: "keep the value in a variable")
    }
    walk.timers[number] = .starts
    if case .value(let value, let unit) = delay {
      walk.delays[number] = (try value.resolved(in: context(of: walk)), unit)
    }
  }

  /// The name of a delayed event.
  func name(of number: Int) throws(SCXMLProblem) -> String {
    try name(
      of: number, in: SCXMLExpression.Context(values: [:], constants: constants, isActive: { _ in false }))
  }

  private func name(
    of number: Int, in context: SCXMLExpression.Context
  ) throws(SCXMLProblem) -> String {
    let send = chart.sends[number]
    guard let event = send.event, case .text(let name) = try event.resolved(in: context).form else {
      throw SCXMLProblem(
        .unsupported, at: send.event?.range ?? send.range, "which event is sent depends on values",
        hint: "use `<if>` with an event of a constant name in each case")
    }
    return name
  }

  /// The delay of an event that is sent; `nil` if it has none.
  func delay(of number: Int) throws(SCXMLProblem) -> SCXMLDelay? {
    guard let delay = chart.sends[number].delay else { return nil }
    let context = SCXMLExpression.Context(values: [:], constants: constants, isActive: { _ in false })
    return try SCXMLDelay(try delay.resolved(in: context), at: delay.range)
  }
}

/// After how long an event arrives.
enum SCXMLDelay: Equatable {
  case constant(Interval)
  /// A number of seconds or of milliseconds.
  case value(SCXMLExpression, unit: Unit)

  enum Unit: String {
    case seconds = "s"
    case milliseconds = "ms"
  }

  static func == (left: Self, right: Self) -> Bool {
    if case (.constant(let left), .constant(let right)) = (left, right) { left == right } else { false }
  }

  /// Reads a delay: a text such as `5s` or `0.5s`, or a sum such as `delay + 's'`.
  init(_ delay: SCXMLExpression, at range: Range<Int>) throws(SCXMLProblem) {
    switch delay.form {
    case .text(let text):
      let number = text.prefix { $0.isNumber || $0 == "." }
      let unit = text.dropFirst(number.count)
      let digits = number.hasPrefix(".") ? "0" + number : String(number)
      if Double(digits) == 0, unit.isEmpty {
        self = .constant(.zero)
      } else if Unit(rawValue: String(unit)) != nil, let interval = Interval(text: "\(digits) \(unit)") {
        self = .constant(interval)
      } else {
        throw SCXMLProblem(
          .wrongDuration, at: range, "`\(text)` is no delay", hint: "as in 5s, 0.5s or 200ms")
      }
    case .integer(0): self = .constant(.zero)
    case .binary(.plus, let value, let unit):
      guard case .text(let text) = unit.form, let unit = Unit(rawValue: text) else { fallthrough }
      self = .value(value, unit: unit)
    default:
      throw SCXMLProblem(
        .unsupported, at: range, "this delay is neither a constant nor a number with its unit",
        hint: "as in `'5s'` or `seconds + 's'`")
    }
  }
}

extension SCXMLWalk {
  /// Removes the next event that waits.
  fileprivate mutating func nextEvent() -> SCXMLEvent? {
    if raised.isEmpty, sent.isEmpty { return nil }
    let next = raised.isEmpty ? sent.removeFirst() : raised.removeFirst()
    event = next
    return next
  }
}
