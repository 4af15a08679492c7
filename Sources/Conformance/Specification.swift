public import Automata
import Basics

/// A machine prepared for tracking: the states that an observer can distinguish, in flat tables.
///
/// A *node* is a state together with the last status shown, or a point between leaving a state and having shown all
/// outputs of the transition: its effects, the new status, the entry actions. An observation is therefore always one
/// look-up, and a transition with five effects needs no code of its own.
///
/// It is a class because it is large, immutable, and shared by all trackers of the machine.
public final class Specification: Sendable {
  /// A step from one node to another.
  struct Step: Sendable {
    var node: Int32
    /// Whether the step enters its state, which restarts the timers of the state.
    var enters: Bool
    var plus: Int8
    var earliest: Interval
    var latest: Interval
    var `guard`: Guard
    /// The row of the definition, for explanations and coverage.
    var transition: Int32
    /// The first symbol shown, or -1 without one.
    var symbol: Int32 = -1
    /// Whether the step is a response: an event causes it, or it may be taken at once within a window. A step that
    /// must wait first is a timer.
    var isAnswer = true
    /// Whether its row requires one of several conditions, among them `loss`.
    var isByLoss = false
    /// Whether it must be taken by some time.
    var hasDeadline = false
    /// The rows of one event with the same conditions, of which the first that may be taken is taken: those of one
    /// number, which are adjacent in ``caused``. Only in machines with data.
    var group: Int32 = 0
    /// Which of ``earlierRows`` must not be taken for a spontaneous row to be taken: the first and the end.
    var earlierStart: Int32 = 0
    var earlierEnd: Int32 = 0

    @inline(__always) var earlier: Range<Int> { Int(earlierStart)..<Int(earlierEnd) }
  }

  /// The contents of a node.
  struct Node: Sendable {
    /// The machine's state, which is being entered or was entered.
    var state: Int
    /// The last status shown.
    var shown: Int
    /// The options that a device in this node may have, as bits: at least one of each choice.
    var options: UInt64
    /// The symbols that must be shown before the state is settled; statuses first, then effects above
    /// ``statusCount``.
    var pending: [Int]
  }

  /// The machine.
  public let machine: Machine
  /// The vocabulary that model and device share.
  public let vocabulary: Vocabulary
  /// Whether the device must show effects.
  public let showsEffects: Bool

  let nodes: [Node]
  /// The nodes without pending symbols.
  let isResting: [Bool]
  /// The nodes in which the last status may be repeated without meaning: all resting nodes, and those with a pending
  /// effect, since a device may show its status before each effect.
  let mayRepeat: [Bool]
  /// For each node the equivalent nodes of devices with more options; empty without choices.
  let wider: [[Int]]
  /// Where the steps of (node, event) begin in ``caused``.
  let causedStart: [Int32]
  let caused: [Step]
  /// Where a node's observable steps begin in ``visible``.
  let visibleStart: [Int32]
  let visible: [Step]
  /// Where a node's silent steps begin in ``silent``.
  let silentStart: [Int32]
  let silent: [Step]
  /// Where a node's urgent steps begin in ``urgent``.
  let urgentStart: [Int32]
  /// The spontaneous steps that must be taken by a deadline.
  let urgent: [Step]
  /// For each node, the longest time limit of these steps, without the value that a condition adds.
  let windows: [Interval]
  /// Where a node's steps on reported events begin in ``reported``; ``reportedEvents`` has the event of each step.
  let reportedStart: [Int32]
  let reported: [Step]
  let reportedEvents: [Int32]
  /// Whether each event has such a step in some node. A report of any other event changes only conditions.
  let moving: [Bool]
  /// For each event, the conditions that begin when the device reports it, as bits.
  let begun: [UInt64]
  /// The conditions that begin only with an event, as bits: what the device reports about itself.
  let deviceConditions: UInt64
  /// For each status, the conditions that it ends when it is shown, as bits.
  let ended: [UInt64]
  /// The conditions that lasting faults do not begin, because the device reports their events, as bits.
  let isReported: UInt64
  /// The conditions whose value a reading reports, with the name of the reading.
  let readings: [(reading: String, condition: Int)]
  /// For each node, the stimuli that it allows under some conditions, as bits; for machines of up to 64 events.
  let legal: [UInt64]
  /// For each node, the stimuli that it allows and that change nothing, timers included, as bits; for machines of
  /// up to 64 events.
  let idle: [UInt64]
  /// Whether any node has an idle stimulus.
  let hasIdle: Bool
  /// The events that the tester can cause, as bits, for machines of up to 64 events.
  let stimuliMask: UInt64
  /// Whether each event sets a condition.
  let sets: [Bool]
  /// For each condition, the conditions under which a stimulus that sets it may not arrive, as bits.
  let uncertainUnder: [UInt64]
  /// For each condition without stimuli, the conditions that may hide its changes, as bits.
  let hidden: [UInt64]
  /// Whether no row depends on time, or on conditions other than those that always hold, and there are no silent
  /// steps.
  public let isPlain: Bool
  /// The conditions that hold in every test, as bits.
  let held: UInt64
  /// The condition `loss`, as a bit; zero if it does not always hold, or if no row requires it.
  let loss: UInt64
  /// The same tables as words, for plain machines of up to 64 nodes; empty for others.
  let words: Words
  /// The nodes of each start: several if an option of the device matters at once.
  let startNodes: [[Int]]
  /// The cells of the machine, for coverage.
  let cells: CellTable
  /// The data of the machine; `nil` without any.
  let data: MachineData?
  /// The readings that rows show: each symbol behind those of the effects stands for one reading of one row.
  let dueSymbols: [MachineData.Due]
  /// The rows that come before spontaneous rows in their groups; see ``Step/earlier``.
  let earlierRows: [Int32]

  /// The tables of a small plain machine, where a set of nodes is one word.
  struct Words: Sendable {
    /// The nodes that a stimulus leads to, by node and event; zero if the node refuses the stimulus.
    var caused: [UInt64] = []
    /// The nodes that an observation leads to, by node and symbol; zero if the node does not allow the observation.
    var visible: [UInt64] = []
    /// The same tables without the steps that require a loss; empty if there are none.
    var causedWithoutLoss: [UInt64] = []
    var visibleWithoutLoss: [UInt64] = []
    /// The nodes in which everything has been shown.
    var resting: UInt64 = 0
  }

  /// The range of a node's steps on an event in ``caused``.
  @inline(__always)
  func causedSteps(of node: Int, on event: Int) -> Range<Int> {
    let cell = node &* eventCount &+ event
    return Int(causedStart[cell])..<Int(causedStart[cell + 1])
  }

  /// The range of a node's steps in ``visible``.
  @inline(__always)
  func visibleSteps(of node: Int) -> Range<Int> { Int(visibleStart[node])..<Int(visibleStart[node + 1]) }

  /// The range of a node's steps in ``silent``.
  @inline(__always)
  func silentSteps(of node: Int) -> Range<Int> { Int(silentStart[node])..<Int(silentStart[node + 1]) }

  /// The range of a node's steps in ``urgent``.
  @inline(__always)
  func urgentSteps(of node: Int) -> Range<Int> { Int(urgentStart[node])..<Int(urgentStart[node + 1]) }

  /// The range of a node's steps in ``reported``.
  @inline(__always)
  func reportedSteps(of node: Int) -> Range<Int> { Int(reportedStart[node])..<Int(reportedStart[node + 1]) }

  /// Returns the steps that a node takes without the tester, the observable ones first.
  func freeSteps(of node: Int) -> [Step] {
    Array(visible[visibleSteps(of: node)]) + Array(silent[silentSteps(of: node)])
  }

  /// Whether the machine leaves permanent choices to the device.
  var hasChoices: Bool { !machine.choices.isEmpty }
  var statusCount: Int { vocabulary.statuses.count }
  var eventCount: Int { machine.eventCount }
  var symbolCount: Int { vocabulary.statuses.count + vocabulary.effects.count + dueSymbols.count }
  /// The first symbol of a reading.
  var firstDueSymbol: Int { vocabulary.statuses.count + vocabulary.effects.count }
  /// Whether ``words`` contains the tables of the machine.
  @inline(__always) var isSmall: Bool { !words.caused.isEmpty }

  /// Prepares a machine.
  ///
  /// - Parameters:
  ///   - showsEffects: whether the device shows effects; if not, none are expected.
  ///   - conditions: the conditions that hold in every test. A machine whose rows depend on no other conditions,
  ///     and not on time, is tracked as fast as a machine without conditions.
  ///   - reports: the events that the device reports: they happen if and only if it reports them.
  public init(
    _ machine: Machine, showsEffects: Bool = true, holding conditions: [String] = [],
    reporting reports: [String] = []
  ) {
    self.machine = machine
    self.showsEffects = showsEffects
    let vocabulary = Vocabulary(machine: machine)
    self.vocabulary = vocabulary
    cells = CellTable(machine)
    held = conditions.reduce(0) { mask, name in
      mask | (machine.condition(named: name).map { 1 << UInt64($0) } ?? 0)
    }
    let builder = NodeBuilder(
      machine: machine, vocabulary: vocabulary, showsEffects: showsEffects, holding: held,
      reporting: Set(reports.compactMap(machine.event(named:))))
    data = machine.data
    dueSymbols = builder.dueSymbols
    startNodes = machine.definition.starts.map { builder.rests(in: machine.state(named: $0.state) ?? 0) }
    builder.expandAll()
    earlierRows = builder.earlierRows
    nodes = builder.nodes
    isResting = builder.nodes.map(\.pending.isEmpty)
    mayRepeat = builder.nodes.map { ($0.pending.first ?? .max) >= vocabulary.statuses.count }
    wider = machine.choices.isEmpty ? [] : builder.nodes.indices.map { builder.nodesWider(than: $0) }
    (causedStart, caused) = flatten(builder.caused)
    (visibleStart, visible) = flatten(builder.visible)
    (silentStart, silent) = flatten(builder.silent)
    (urgentStart, urgent) = flatten(builder.spontaneous.map { $0.filter(\.hasDeadline) })
    windows = builder.spontaneous.map { steps in
      steps.map(\.latest).filter { $0 != .forever }.max() ?? .zero
    }
    (reportedStart, reported) = flatten(builder.reported)
    let rows = machine.definition.transitions
    reportedEvents = reported.map { step in
      guard case .event(let name) = rows[Int(step.transition)].trigger else { return -1 }
      return Int32(machine.event(named: name) ?? -1)
    }
    let reportedSet = Set(reportedEvents)
    moving = (0..<machine.eventCount).map { reportedSet.contains(Int32($0)) }
    let eventCount = machine.eventCount
    legal = builder.nodes.indices.map { node in
      guard eventCount <= 64 else { return 0 }
      return (0..<eventCount).reduce(0) { mask, event in
        builder.caused[node * eventCount + event].isEmpty ? mask : mask | 1 << UInt64(event)
      }
    }
    idle = builder.nodes.indices.map { node in
      guard eventCount <= 64 else { return 0 }
      return (0..<eventCount).reduce(0) { mask, event in
        let steps = builder.caused[node * eventCount + event]
        let stays =
          !steps.isEmpty
          && steps.allSatisfy { step in
            let changes = machine.data?.rules[Int(step.transition)].map { !$0.changesNothing } ?? false
            return Int(step.node) == node && !step.enters && !changes
          }
        return stays ? mask | 1 << UInt64(event) : mask
      }
    }
    hasIdle = idle.contains { $0 != 0 }
    stimuliMask = (0..<min(eventCount, 64)).reduce(0) { mask, event in
      machine.isStimulus(event) ? mask | 1 << UInt64(event) : mask
    }
    isPlain = builder.isPlain && machine.data == nil
    loss = builder.loss
    let conditions = machine.definition.conditions
    func mask(_ isIncluded: (Condition) -> Bool) -> UInt64 {
      conditions.indices.reduce(0) { isIncluded(conditions[$1]) ? $0 | 1 << UInt64($1) : $0 }
    }
    begun = machine.environment.begunBy
    deviceConditions = mask {
      !$0.events.isEmpty && $0.faults.isEmpty && $0.moments.isEmpty && $0.stimuli.isEmpty
    }
    ended = vocabulary.statuses.map { machine.environment.ended(by: $0) }
    isReported = mask { $0.events.contains { reports.contains($0) } }
    readings = conditions.enumerated().compactMap { number, item in item.reading.map { ($0, number) } }
    sets = machine.environment.setBy.map { $0 != 0 }
    uncertainUnder = conditions.map { item in
      item.unsure.reduce(0) { mask, name in
        machine.condition(named: name).map { mask | 1 << UInt64($0) } ?? mask
      }
    }
    hidden = zip(conditions, uncertainUnder).map { $0.stimuli.isEmpty ? $1 : 0 }
    words = isPlain && reports.isEmpty && builder.nodes.count <= 64 ? builder.words() : Words()
  }
}

extension Vocabulary {
  /// Makes the vocabulary of a machine: its events, its statuses in the order of the states, and its effects.
  public init(machine: Machine) {
    let definition = machine.definition
    let rows = definition.transitions
    self.init(
      stimuli: definition.events.map(\.name),
      statuses: unique(definition.states.map(\.status) + rows.compactMap(\.shows)),
      effects: unique(rows.flatMap { $0.before + $0.after } + definition.states.flatMap(\.entry))
        .filter { !definition.shownReadings.contains($0) },
      soleArguments: definition.events.map(Self.onlyArgument(of:)))
  }

  fileprivate static func onlyArgument(of event: Event) -> String? {
    event.arguments.flatMap { $0.forms.count == 1 ? $0.forms[0].name : nil }
  }
}

extension Machine {
  /// Returns the name of a stimulus's only argument: the declared name or, without one, ``Argument/only``.
  func nameOfOnlyArgument(of stimulus: String) -> String {
    let event = definition.events.first { $0.name == stimulus }
    return event.flatMap(Vocabulary.onlyArgument(of:)) ?? Argument.only
  }
}

private func unique(_ names: [String]) -> [String] {
  var seen = Set<String>()
  return names.filter { seen.insert($0).inserted }
}

/// Concatenates lists, and returns where each list begins; the last start is the total count.
func flatten<Element>(_ lists: [[Element]]) -> (starts: [Int32], all: [Element]) {
  var starts: [Int32] = []
  starts.reserveCapacity(lists.count + 1)
  var all: [Element] = []
  all.reserveCapacity(lists.reduce(0) { $0 + $1.count })
  for list in lists {
    starts.append(Int32(all.count))
    all += list
  }
  starts.append(Int32(all.count))
  return (starts, all)
}

/// Finds the nodes that are reachable from the starts of a machine.
///
/// A class, so that its growing lists are never copied: for a large machine, copies would take quadratic time.
private final class NodeBuilder {
  private struct Key: Hashable {
    var state: Int
    var shown: Int
    var options: UInt64
    var pending: [Int]
  }

  let machine: Machine
  let vocabulary: Vocabulary
  let showsEffects: Bool
  private(set) var nodes: [Specification.Node] = []
  private(set) var caused: [[Specification.Step]] = []
  private(set) var visible: [[Specification.Step]] = []
  private(set) var silent: [[Specification.Step]] = []
  private(set) var spontaneous: [[Specification.Step]] = []
  private(set) var reported: [[Specification.Step]] = []
  private let reports: Set<Int>
  private var numbers: [Key: Int] = [:]
  /// The condition `loss`, as a bit; zero if it does not always hold, or if no row requires it.
  let loss: UInt64
  private let held: UInt64
  /// For each state, the options of the choices that matter as soon as the state is entered, as bits.
  private let deciding: [UInt64]
  private let statusOf: [Int]
  private let statuses: [String: Int]
  private let effects: [String: Int]
  /// The readings that rows show, in the order of the rows, and for each row the symbols of its readings by name.
  let dueSymbols: [MachineData.Due]
  private let rowSymbols: [[String: Int]]
  private(set) var earlierRows: [Int32] = []

  init(
    machine: Machine, vocabulary: Vocabulary, showsEffects: Bool, holding held: UInt64,
    reporting reports: Set<Int>
  ) {
    self.reports = reports
    self.machine = machine
    self.vocabulary = vocabulary
    self.showsEffects = showsEffects
    self.held = held
    let loss: UInt64 = machine.condition(named: "loss").map { 1 << UInt64($0) } ?? 0
    let asks = machine.definition.transitions.contains { $0.given.contains("loss") }
    self.loss = asks ? loss & held : 0
    var statuses: [String: Int] = [:]
    for (number, name) in vocabulary.statuses.enumerated() { statuses[name] = number }
    var effects: [String: Int] = [:]
    for (number, name) in vocabulary.effects.enumerated() {
      effects[name] = vocabulary.statuses.count + number
    }
    self.statuses = statuses
    self.effects = effects
    var dueSymbols: [MachineData.Due] = []
    rowSymbols = (machine.data?.rules ?? []).map { rule in
      var symbols: [String: Int] = [:]
      for due in rule?.due ?? [] {
        symbols[machine.definition.readings[due.reading].name] =
          vocabulary.statuses.count + vocabulary.effects.count + dueSymbols.count
        dueSymbols.append(due)
      }
      return symbols
    }
    self.dueSymbols = dueSymbols
    statusOf = machine.definition.states.map { statuses[$0.status] ?? 0 }
    deciding = machine.definition.states.indices.map { machine.decidingOptions(in: $0) }
  }

  /// Returns the nodes that differ from a node only in having more options.
  func nodesWider(than number: Int) -> [Int] {
    let node = nodes[number]
    return masks.filter { $0 != node.options && $0 & node.options == node.options }.compactMap {
      numbers[Key(state: node.state, shown: node.shown, options: $0, pending: node.pending)]
    }
  }

  /// The distinct option sets of the nodes.
  private lazy var masks = Set(nodes.map(\.options)).sorted()

  func rests(in state: Int) -> [Int] {
    nodes(state, shown: statusOf[state], options: machine.allOptions, pending: [])
  }

  /// Returns the number of a node, and adds the node if it is new.
  private func node(_ state: Int, shown: Int, options: UInt64, pending: [Int]) -> Int {
    let key = Key(state: state, shown: shown, options: options, pending: pending)
    if let number = numbers[key] { return number }
    numbers[key] = nodes.count
    nodes.append(Specification.Node(state: state, shown: shown, options: options, pending: pending))
    return nodes.count - 1
  }

  /// Returns the nodes with which a state is entered: one for each option that matters there.
  private func nodes(_ state: Int, shown: Int, options: UInt64, pending: [Int]) -> [Int] {
    machine.variants(of: options, deciding: deciding[state]).map {
      node(state, shown: shown, options: $0, pending: pending)
    }
  }

  func expandAll() {
    var number = 0
    while number < nodes.count {
      expand(number)
      number += 1
    }
  }

  private func expand(_ number: Int) {
    let node = nodes[number]
    if let symbol = node.pending.first {
      caused += [[Specification.Step]](repeating: [], count: machine.eventCount)
      silent.append([])
      spontaneous.append([])
      reported.append([])
      let shown = symbol < vocabulary.statuses.count ? symbol : node.shown
      let rest = self.node(
        node.state, shown: shown, options: node.options, pending: Array(node.pending.dropFirst()))
      visible.append([
        Specification.Step(
          node: Int32(rest), enters: true, plus: -1, earliest: .zero, latest: .forever, guard: Guard(),
          transition: -1, symbol: Int32(symbol))
      ])
      return
    }
    for event in 0..<machine.eventCount {
      var steps: [Specification.Step] = []
      for (group, edge) in machine.groupedEdges(from: node.state, on: event) where canHold(edge) {
        steps += targets(of: edge, from: node).map {
          var step = step(along: edge, target: $0)
          step.group = Int32(group)
          return step
        }
      }
      caused.append(steps)
    }
    var quiet: [Specification.Step] = []
    var shown: [Specification.Step] = []
    var all: [Specification.Step] = []
    var reported: [Specification.Step] = []
    for edge in machine.spontaneous[node.state] where canHold(edge) {
      let first = Int32(earlierRows.count)
      earlierRows += machine.rows(before: edge, from: node.state).map { Int32($0) }
      let end = Int32(earlierRows.count)
      func step(along edge: Machine.Edge, target: Int) -> Specification.Step {
        var step = self.step(along: edge, target: target)
        (step.earlierStart, step.earlierEnd) = (first, end)
        return step
      }
      for target in targets(of: edge, from: node) {
        if let event = edge.event, reports.contains(event) {
          reported.append(step(along: edge, target: target))
          continue
        }
        all.append(step(along: edge, target: target))
        if let symbol = nodes[target].pending.first {
          // The observation that begins the transition also shows its first symbol.
          let status = symbol < vocabulary.statuses.count ? symbol : node.shown
          let rest = self.node(
            nodes[target].state, shown: status, options: nodes[target].options,
            pending: Array(nodes[target].pending.dropFirst()))
          var first = step(along: edge, target: rest)
          first.symbol = Int32(symbol)
          shown.append(first)
        } else {
          quiet.append(step(along: edge, target: target))
        }
      }
    }
    visible.append(shown)
    silent.append(quiet)
    spontaneous.append(all)
    self.reported.append(reported)
  }

  /// Whether the possible steps depend on the node alone, and every step is observable.
  var isPlain: Bool {
    guard silent.allSatisfy(\.isEmpty) else { return false }
    return caused.allSatisfy { $0.allSatisfy(isPlain) } && spontaneous.allSatisfy { $0.allSatisfy(isPlain) }
  }

  private func isPlain(_ step: Specification.Step) -> Bool {
    let isUntimed = step.earliest == .zero && step.latest == .forever && step.plus < 0
    return isUntimed && step.guard.mustHold(under: held, open: ~held)
  }

  /// Converts the tables of a plain machine to words.
  func words() -> Specification.Words {
    var words = Specification.Words()
    words.caused = causedWords { _ in true }
    words.visible = visibleWords { _ in true }
    words.resting = nodes.indices.reduce(0) { nodes[$1].pending.isEmpty ? $0 | 1 << UInt64($1) : $0 }
    guard loss != 0 else { return words }
    words.causedWithoutLoss = causedWords { !$0.isByLoss }
    words.visibleWithoutLoss = visibleWords { !$0.isByLoss }
    return words
  }

  private func causedWords(where isIncluded: (Specification.Step) -> Bool) -> [UInt64] {
    caused.map { $0.filter(isIncluded).reduce(0) { $0 | 1 << UInt64($1.node) } }
  }

  private func visibleWords(where isIncluded: (Specification.Step) -> Bool) -> [UInt64] {
    let symbols = vocabulary.statuses.count + vocabulary.effects.count
    var words = [UInt64](repeating: 0, count: nodes.count * symbols)
    for (number, node) in nodes.enumerated() {
      // A repeated status carries no information.
      if (node.pending.first ?? symbols) >= vocabulary.statuses.count {
        words[number * symbols + node.shown] |= 1 << UInt64(number)
      }
      for step in visible[number] where isIncluded(step) {
        words[number * symbols + Int(step.symbol)] |= 1 << UInt64(step.node)
      }
    }
    return words
  }

  /// Whether an edge can be taken under the conditions that always hold.
  private func canHold(_ edge: Machine.Edge) -> Bool {
    edge.guard.mayHold(under: held, open: ~held)
  }

  /// Returns the nodes that a transition leads to, with all its outputs pending; none if a device in the node has
  /// another option.
  private func targets(of edge: Machine.Edge, from node: Specification.Node) -> [Int] {
    guard let options = machine.options(node.options, along: edge) else { return [] }
    let row = machine.definition.transitions[edge.transition]
    let status = row.shows.flatMap { statuses[$0] } ?? (edge.enters ? statusOf[edge.target] : node.shown)
    // A device without effects shows the readings that are due nevertheless.
    func symbol(_ name: String) -> Int? {
      let reading = rowSymbols.isEmpty ? nil : rowSymbols[edge.transition][name]
      return reading ?? (showsEffects ? effects[name] : nil)
    }
    var symbols = row.before.compactMap(symbol)
    if status != node.shown { symbols.append(status) }
    symbols += row.after.compactMap(symbol)
    if showsEffects, edge.enters {
      symbols += machine.definition.states[edge.target].entry.compactMap { effects[$0] }
    }
    return nodes(
      edge.target, shown: symbols.isEmpty ? status : node.shown, options: options, pending: symbols)
  }

  private func step(along edge: Machine.Edge, target: Int) -> Specification.Step {
    Specification.Step(
      node: Int32(target), enters: edge.enters, plus: Int8(edge.plus ?? -1), earliest: edge.earliest,
      latest: edge.latest, guard: edge.guard, transition: Int32(edge.transition),
      isAnswer: edge.event != nil || edge.plus == nil && edge.earliest == .zero && edge.latest > .zero,
      isByLoss: edge.guard.given & loss != 0, hasDeadline: edge.hasDeadline)
  }
}
