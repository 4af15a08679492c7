public import Basics

/// A checked machine: a dense table decides every (state, event) pair.
///
/// States, events and conditions are numbered in the order of the definition, and the numbers index every table
/// below. A pair without edges is a refusal: data, never a trap.
public struct Machine: Equatable, Sendable {
  /// A transition from one state to another.
  public struct Edge: Equatable, Sendable {
    /// The number of its row in the definition.
    public let transition: Int
    /// The event's number, or `nil` for a timer.
    public let event: Int?
    /// The state that it leads to; for a row that says *stay*, the same state.
    public let target: Int
    /// Whether it restarts the state's timers and runs its entry actions.
    public let enters: Bool
    /// The earliest time at which it can happen, if the tester does not cause it.
    public let earliest: Interval
    /// The latest time at which it must happen, if the tester does not cause it.
    public let latest: Interval
    /// The condition whose value is added to ``earliest`` and to ``latest``.
    public let plus: Int?
    /// The conditions under which it can be taken.
    public let `guard`: Guard
    /// The options that a device must have one of to take it, as bits; zero for every device.
    public let options: UInt64
    /// Whether it must be taken by some time if the tester does not cause it.
    public let hasDeadline: Bool
  }

  /// The definition that the author wrote.
  public let definition: MachineDefinition
  /// The number of events, stimuli and spontaneous ones together.
  public let eventCount: Int
  /// The edges that the tester causes, for each (state, event) pair: `caused[state * events + event]`.
  public let caused: [[Edge]]
  /// The edges that the tester does not cause, by state.
  public let spontaneous: [[Edge]]
  /// The target of each (state, event) pair that always leads to one state: `next[state * events + event]`. It is -1
  /// for a refusal, a choice of the device, or a row that depends on conditions or options.
  public let next: [Int16]
  /// What begins and ends conditions.
  public let environment: ConditionTable
  /// The names of the options of all choices, in the order of the definition: an option's index is its bit number.
  public let options: [String]
  /// The options of each choice, as bits.
  public let choices: [UInt64]
  /// The data of the rows, compiled; `nil` for a machine without data.
  public let data: MachineData?
  /// The ``hash``, once it has been requested.
  let hashOnce = MachineHash()

  /// The maximum number of states, and of events.
  public static let limit = 30_000
  /// The maximum number of options of all choices together.
  public static let optionLimit = 16
  /// The maximum number of edges of all rows, so that a short file cannot exhaust the memory.
  public static let edgeLimit = 2_000_000
  /// The maximum number of words of all variables.
  public static let dataLimit = 100_000

  /// Checks a definition and builds its table.
  ///
  /// - Throws: Every fault of the definition, not only the first.
  public init(_ definition: MachineDefinition) throws(DefinitionError) {
    let faults = definition.faults()
    guard faults.isEmpty else { throw DefinitionError(faults) }
    self.init(checked: definition)
  }

  /// Returns the machine with other rows, which may use only names of this machine.
  ///
  /// This is for machines that are wrong on purpose: a row may have no source state, and an event may have no row.
  public func replacingRows(with transitions: [Transition]) -> Machine {
    var changed = definition
    changed.transitions = transitions
    return Machine(checked: changed)
  }

  private init(checked definition: MachineDefinition) {
    self.definition = definition
    environment = ConditionTable(definition)
    data = definition.hasData ? definition.compiledData().data : nil
    let numbers = Numbers(definition)
    options = definition.choices.flatMap(\.options)
    choices = definition.choices.map { numbers.bits(of: $0.options) }
    let eventCount = definition.events.count
    self.eventCount = eventCount
    var caused = [[Edge]](repeating: [], count: definition.states.count * eventCount)
    var spontaneous = [[Edge]](repeating: [], count: definition.states.count)
    for (row, transition) in definition.transitions.enumerated() {
      let event = numbers.event(transition.trigger)
      for source in numbers.sources(of: transition) {
        let targets = numbers.targets(of: transition, from: source)
        let edges = targets.map { numbers.edge(row, transition, event: event, target: $0) }
        if let event, transition.isCausedByTester(definition.events[event].kind) {
          caused[source * eventCount + event] += edges
        } else {
          spontaneous[source] += edges
        }
      }
    }
    self.caused = caused
    self.spontaneous = spontaneous
    next = caused.map { edges in
      guard edges.count == 1, edges[0].guard.isEmpty, edges[0].options == 0,
        definition.transitions[edges[0].transition].data.when == nil
      else { return -1 }
      return Int16(edges[0].target)
    }
  }

  /// The machine's name.
  public var name: String { definition.name }
  /// The number of states.
  public var stateCount: Int { definition.states.count }
  /// The number of the state in which a test starts by default.
  public var usualStart: Int { definition.starts.last.flatMap { state(named: $0.state) } ?? 0 }

  /// Returns the state to which the event always leads, or `nil` if ``next`` has none.
  @inlinable
  public func step(_ state: Int, _ event: Int) -> Int? {
    let target = next[state * eventCount + event]
    return target < 0 ? nil : Int(target)
  }

  /// Returns the edges of a stimulus from a state; no edge means a refusal.
  public func edges(from state: Int, on event: Int) -> [Edge] { caused[state * eventCount + event] }

  /// Returns the number of the state with a name.
  public func state(named name: String) -> Int? { definition.states.firstIndex { $0.name == name } }

  /// Returns the number of the event with a name.
  public func event(named name: String) -> Int? { definition.events.firstIndex { $0.name == name } }

  /// Returns the number of the condition with a name.
  public func condition(named name: String) -> Int? {
    definition.conditions.firstIndex { $0.name == name }
  }

  /// Returns the number of the reading with a name.
  public func reading(named name: String) -> Int? { definition.readings.firstIndex { $0.name == name } }

  /// The names of the events that the tester can cause, in the order of the definition.
  public var stimulusNames: [String] {
    definition.events.filter { $0.kind != .spontaneous }.map(\.name)
  }

  /// Returns whether the tester can cause the event in some state.
  public func isStimulus(_ event: Int) -> Bool { definition.events[event].kind != .spontaneous }
}

extension Transition.Target {
  /// Whether timers restart and entry actions run.
  var enters: Bool {
    switch self {
    case .states: true
    case .stay, .shift: false
    }
  }
}

extension Transition {
  /// Whether the row has a time.
  var isTimed: Bool { window != .any || data.isTimed }

  /// Returns whether the tester causes the row. With kind `both`, that is a row without a window.
  func isCausedByTester(_ kind: Event.Kind) -> Bool {
    switch kind {
    case .stimulus: true
    case .spontaneous: false
    case .both: !isTimed
    }
  }
}

/// Numbers for the names of a definition without faults.
private struct Numbers {
  private var states: [String: Int] = [:]
  private var events: [String: Int] = [:]
  private var conditions: [String: Int] = [:]
  private var options: [String: Int] = [:]
  /// For each event with a wildcard row, the states that its other rows name.
  private var named: [String: Set<Int>] = [:]

  init(_ definition: MachineDefinition) {
    for (number, state) in definition.states.enumerated() { states[state.name] = number }
    for (number, event) in definition.events.enumerated() { events[event.name] = number }
    for (number, item) in definition.conditions.enumerated() { conditions[item.name] = number }
    for (number, name) in definition.choices.flatMap(\.options).enumerated() { options[name] = number }
    for case .event(let event) in definition.transitions.lazy.filter({ $0.from == .wildcard }).map(\.trigger)
    {
      named[event] = []
    }
    for transition in definition.transitions {
      guard case .event(let event) = transition.trigger, case .states(let names) = transition.from else {
        continue
      }
      named[event]?.formUnion(names.compactMap { states[$0] })
    }
  }

  func event(_ trigger: Transition.Trigger) -> Int? {
    switch trigger {
    case .event(let name): events[name]
    case .timer: nil
    }
  }

  /// Returns the source states of a row; a wildcard stands for every state that no other row of its event names.
  func sources(of transition: Transition) -> [Int] {
    switch (transition.from, transition.trigger) {
    case (.states(let names), _): names.compactMap { states[$0] }
    case (.wildcard, .event(let event)): (0..<states.count).filter { named[event]?.contains($0) == false }
    case (.wildcard, .timer): []
    }
  }

  func targets(of transition: Transition, from source: Int) -> [Int] {
    switch transition.to {
    case .states(let names), .shift(let names): names.compactMap { states[$0] }
    case .stay: [source]
    }
  }

  func edge(_ row: Int, _ transition: Transition, event: Int?, target: Int) -> Machine.Edge {
    Machine.Edge(
      transition: row, event: event, target: target, enters: transition.to.enters,
      earliest: transition.window.earliest, latest: transition.window.latest,
      plus: transition.window.plus.flatMap { conditions[$0] },
      guard: Guard(given: mask(transition.given), unless: mask(transition.unless)),
      options: bits(of: transition.options),
      hasDeadline: transition.window.latest != .forever || transition.data.latest != nil)
  }

  /// Returns the bits of options.
  func bits(of names: [String]) -> UInt64 {
    names.reduce(0) { mask, name in mask | (options[name].map { 1 << UInt64($0) } ?? 0) }
  }

  private func mask(_ names: [String]) -> UInt64 {
    names.reduce(0) { mask, name in mask | (conditions[name].map { 1 << UInt64($0) } ?? 0) }
  }
}
