import Automata
public import Basics

/// The set of states that the device could be in, given the stimuli and observations so far.
///
/// A stimulus moves the set; time moves it, since timers may or must fire; an observation keeps only the states that
/// allow it. If the set is empty, the device did something that no state allows: a divergence.
///
///     perform ──▶ (observe)* ──▶ settle ──▶ …
///
/// ``settle(at:)`` states that everything up to a moment has been observed: only then is silence evidence. Each
/// possible state has the earliest and the latest moment at which it can have been entered, so that timers are exact
/// if the entry was seen and never too strict if it was not.
///
/// A small machine without timers and conditions is tracked in bit sets, any other with times. Callers see no
/// difference.
public struct Tracker: Sendable {
  /// The tracked machine.
  public let specification: Specification
  /// How far the time of an observation may deviate from that of the event.
  public let slack: Interval
  /// The permitted deviation that explains the current observation: the conditions, as bits, that the device reported
  /// about itself; or no bits, if it ended a link after an injected action, for example. It ends with the second
  /// status after the event.
  public private(set) var permittedDeviation: UInt64?
  /// Whether more states are possible than are tracked, so that there is no verdict.
  public var isUndecided: Bool { timed.isUndecided }
  /// Whether the first status after the deviation was shown.
  private var isDeviationShown = false
  /// The reading that the settings imply, if the latest reading contradicts it.
  private var contradicted: Reading?
  /// The coverage up to the last operation.
  private var counted: CellCoverage
  private var word: WordTracker
  /// The tracker for a machine that is not small; for a small one, only the conditions around the device.
  private var timed: TimedTracker

  // Copies of the specification's properties for the hot path.
  private let isSmall: Bool
  private let isPlain: Bool
  private let legalWords: [UInt64]
  private let states: [Int]
  private let statusCount: Int
  private let stimuliMask: UInt64
  #if DEBUG
  private var check: TrackerCheck?
  #endif

  /// Makes a tracker in the machine's default start.
  public init(_ specification: Specification, slack: Interval = .zero) {
    self.specification = specification
    self.slack = slack
    isSmall = specification.isSmall
    isPlain = specification.isPlain
    legalWords = specification.legal
    states = specification.nodes.map(\.state)
    statusCount = specification.statusCount
    stimuliMask = specification.stimuliMask
    counted = CellCoverage(specification.cells)
    word = WordTracker(specification)
    timed = TimedTracker(specification, slack: slack)
    #if DEBUG
    check = TrackerCheck(specification)
    #endif
    start(in: specification.startNodes.count - 1)
  }

  /// The number of observations in this test that only the condition `loss` explains: a link lost on the air, an
  /// advertisement not received. Counted if the specification holds `loss` in every test.
  public var losses: Int { isSmall ? word.losses : timed.losses }

  /// The cells visited since the tracker was made.
  public var coverage: CellCoverage {
    var coverage = counted
    let node = isSmall ? word.single : timed.possible.single
    if node >= 0 { coverage.enter(states[node]) }
    return coverage
  }

  /// Starts in the start with a number, at time zero. Coverage is kept.
  public mutating func start(in number: Int) {
    countState()
    counted.lose()
    permittedDeviation = nil
    contradicted = nil
    timed.environment.start()
    occupy([number])
  }

  /// Starts in every start that does not contradict a device's settings.
  mutating func start(inAnyOf condition: StartCondition) {
    let numbers = specification.machine.starts(for: condition)
    guard let last = numbers.last else { return }
    start(in: last)
    occupy(numbers)
  }

  private mutating func occupy(_ starts: [Int], at now: Instant = .zero) {
    if isSmall {
      word.start(in: starts.flatMap { specification.startNodes[$0] })
    } else {
      timed.start(in: starts.map { ($0, specification.startNodes[$0]) }, at: now)
    }
    verify { $0.start(in: $1) }
  }

  /// In a debug build, compares the possible states after an operation with the machine's rows.
  ///
  /// - Parameter operation: performs the same operation on the check.
  @inline(__always)
  private mutating func verify(_ operation: (inout TrackerCheck, Set<TrackerCheck.Position>) -> Void) {
    #if DEBUG
    guard var check else { return }
    self.check = nil
    var positions: Set<TrackerCheck.Position> = []
    forEachPossible { number in
      let node = specification.nodes[number]
      positions.insert(.init(state: node.state, shown: node.shown, pending: node.pending))
    }
    operation(&check, positions)
    assert(
      positions == check.possible,
      "the tables and the rows of \(specification.machine.definition.name) differ")
    self.check = check
    #endif
  }

  /// The states that the device could be in.
  public var possibleStates: [Int] {
    var found: [Int] = []
    forEachPossible { node in
      if !found.contains(states[node]) { found.append(states[node]) }
    }
    return found
  }

  /// The options that the device may have, given its observations in this test, as bits; zero for a machine without
  /// choices.
  public var options: UInt64 {
    var options: UInt64 = 0
    if specification.hasChoices { forEachPossible { options |= specification.nodes[$0].options } }
    return options
  }

  /// Returns the number of the start that fits a device's settings: the last one that none of them contradicts;
  /// `nil` if they contradict every start.
  public func start(for condition: StartCondition) -> Int? {
    specification.machine.start(for: condition)
  }

  @inline(__always)
  private func forEachPossible(_ body: (Int) -> Void) {
    if isSmall {
      forEachBit(of: word.possible, body)
    } else {
      for member in timed.possible.members { body(member.node) }
    }
  }

  /// Counts the state of the device, if it is known.
  private mutating func countState() {
    let node = isSmall ? word.single : timed.possible.single
    if node >= 0, specification.isResting[node] { counted.enter(states[node]) }
  }
}

extension Machine {
  /// Returns the number of the start that fits a device's settings; see ``Tracker/start(for:)``.
  func start(for condition: StartCondition) -> Int? {
    if condition.settings.isEmpty { return definition.starts.count - 1 }
    return starts(for: condition).last
  }

  /// Returns the numbers of all starts that a device's settings do not contradict.
  func starts(for condition: StartCondition) -> [Int] {
    definition.starts.indices.filter { number in
      definition.starts[number].conditions.allSatisfy { item in
        condition.flag(item.name).map { $0 == item.value } ?? true
      }
    }
  }
}

extension Tracker {
  /// Moves the set by a stimulus. A state that does not allow it may refuse or ignore it, and stays.
  ///
  /// - Returns: whether some possible state allows it.
  @discardableResult
  public mutating func perform(_ stimulus: Stimulus, at now: Instant) -> Bool {
    let isAllowed: Bool
    if isSmall {
      count(stimulus.number, in: word.single)
      isAllowed = word.perform(stimulus.number)
    } else {
      isAllowed = follow(stimulus, at: now)
    }
    verify { check, _ in check.perform(stimulus.number) }
    return isAllowed
  }

  private mutating func follow(_ stimulus: Stimulus, at now: Instant) -> Bool {
    timed.approach(now)
    count(stimulus.number, in: timed.possible.single)
    return timed.perform(stimulus, at: now)
  }

  @inline(__always)
  private mutating func count(_ event: Int, in node: Int) {
    if node >= 0 { counted.count(event, in: states[node]) } else { counted.lose() }
  }

  /// Keeps the states that allow an observation, and follows their transitions.
  ///
  /// - Returns: whether any state is left.
  public mutating func observe(_ observation: Observation, at now: Instant) -> Bool {
    let isLeft = take(observation, at: now)
    let firstEffect = statusCount
    verify { check, _ in
      switch observation {
      case .status(let number): check.reveal(number)
      case .effect(let number): check.reveal(firstEffect + number)
      case .refused: check.refuse()
      case .unknown: check.removeAll()
      case .event, .reading, .violation: break
      }
    }
    return isLeft
  }

  @inline(__always)
  private mutating func take(_ observation: Observation, at now: Instant) -> Bool {
    switch observation {
    case .status(let number):
      return isSmall ? word.reveal(number) : reveal(number, isStatus: true, at: now)
    case .effect(let number):
      let symbol = statusCount + number
      return isSmall ? word.reveal(symbol) : reveal(symbol, isStatus: false, at: now)
    case .refused:
      return isSmall ? word.refuse() : timed.refuse()
    case .unknown:
      if isSmall { word.removeAll() } else { timed.removeAll() }
      return false
    case .event(let seen):
      return happen(seen.number, at: now)
    case .reading(let reading):
      if let data = specification.data, let number = specification.machine.reading(named: reading.name),
        data.isDue(number)
      {
        return timed.reveal(number, value: reading.value, at: now)
      }
      guard let known = timed.environment.learn(from: reading, at: now) else { return true }
      contradicted = Reading(reading.name, .integer(Int(known.nanoseconds / 1_000_000_000)))
      return false
    case .violation:
      return true
    }
  }

  private mutating func reveal(_ symbol: Int, isStatus: Bool, at now: Instant) -> Bool {
    let isLeft = timed.reveal(symbol, isStatus: isStatus, at: now)
    if isStatus, permittedDeviation != nil {
      if isDeviationShown { permittedDeviation = nil }
      isDeviationShown = true
    }
    countState()
    return isLeft
  }

  private mutating func happen(_ event: Int, at now: Instant) -> Bool {
    let deviceConditions = specification.begun[event] & specification.deviceConditions
    if deviceConditions != 0 { takeDeviation(deviceConditions) }
    guard isSmall else {
      let (isPossible, isDeviation) = timed.happen(event, at: now)
      if isDeviation { takeDeviation(0) }
      return isPossible
    }
    word.stay()
    var over = UInt64.max
    forEachPossible { over &= specification.ended[specification.nodes[$0].shown] }
    timed.environment.expire(at: now)
    timed.environment.begin(specification.begun[event], over: over, at: now)
    return true
  }

  private mutating func takeDeviation(_ conditions: UInt64) {
    permittedDeviation = conditions
    isDeviationShown = false
  }

  /// States that everything up to a moment has been observed.
  ///
  /// - Returns: whether any state is left. A state that had to show something, or to be left, by now is removed.
  public mutating func settle(at now: Instant) -> Bool {
    let isLeft = isSmall ? word.settle() : settleTimed(at: now)
    verify { check, _ in check.settle() }
    assert(!isLeft || deadline ?? .never > now, "a deadline that is over")
    return isLeft
  }

  private mutating func settleTimed(at now: Instant) -> Bool {
    let isLeft = timed.settle(at: now)
    if !isPlain { countState() }
    return isLeft
  }

  /// The deadline of the next observation; `nil` if the device may stay silent indefinitely.
  public var deadline: Instant? {
    isPlain ? nil : timedDeadline()
  }

  /// A separate method, since its caller is on the path of every event and must stay cheap.
  private func timedDeadline() -> Instant? {
    let deadline = timed.deadline
    return deadline == .never ? nil : deadline
  }

  /// Returns the bounds of the next spontaneous event; `nil` if nothing has a deadline.
  func timerBounds(at now: Instant) -> TimerBounds? { isSmall || isPlain ? nil : timed.bounds(at: now) }

  /// The time up to which the model need not be consulted: its deadline, or the end of a fault.
  public var horizon: Instant { min(deadline ?? .never, timed.environment.nextExpiry) }

  /// Whether a response of the device is pending: the next event does not need the tester.
  public var isAwaiting: Bool { !isSmall && timed.isAwaiting }

  /// Returns whether rows show a reading, so that it must not come at any other time.
  func isDue(_ reading: String) -> Bool {
    guard let data = specification.data, let number = specification.machine.reading(named: reading) else {
      return false
    }
    return data.isDue(number)
  }

  /// Returns in what a reading differs from the one that was due before it; `nil` if none was due, or the reading has
  /// another form.
  func wrong(_ reading: Reading) -> WrongReading? {
    guard let number = specification.machine.reading(named: reading.name) else { return nil }
    return timed.wrong(reading, number: number)
  }

  /// Returns whether the device can be in no other states than some.
  func isCertainly(in isIncluded: [Bool]) -> Bool {
    var isCertain = true
    forEachPossible { isCertain = isCertain && isIncluded[states[$0]] }
    return isCertain
  }

  /// The values of the last arguments and of the variables that expressions name, in the first possible state, with
  /// what gave each variable its value.
  func values(
    ofNamesIn expressions: [String], onEvent event: Int
  ) -> [(name: String, value: Value, origin: String?)] {
    timed.values(ofNamesIn: expressions, onEvent: event)
  }

  /// Returns a drawn stimulus with the values that the model holds in the first possible state.
  func stimulus(_ drawn: DrawnStimulus) -> Stimulus { timed.stimulus(drawn) }

  /// Returns the values that each variable of the machine may have, at most so many of each; none for a machine without data.
  public func possibleValues(most: Int) -> [PossibleValues] { timed.possibleValues(most: most) }

  /// Returns whether some possible state allows a stimulus.
  public func allows(_ stimulus: Int) -> Bool {
    var allowed = false
    forEachPossible { allowed = allowed || timed.allows(stimulus, in: $0) }
    return allowed
  }

  /// Applies a fault or a start setting to the conditions that depend on it.
  ///
  /// A condition ends with the last of the faults that hold it.
  public mutating func apply(_ fault: Fault, at now: Instant) { timed.environment.apply(fault, at: now) }

  /// Treats the conditions as if they had always been so, with no change in progress.
  public mutating func completeConditionChanges() { timed.environment.completeChanges() }

  /// Makes it unknown whether a condition holds, by name.
  mutating func makeUnknown(_ condition: String) {
    if let number = specification.machine.condition(named: condition) {
      timed.environment.makeUnknown(number)
    }
  }

  /// Makes the values certain of all conditions that readings report.
  mutating func assureSettings() {
    for (_, number) in specification.readings { timed.environment.assure(number) }
  }

  /// Returns the conditions that hold or may hold, as bits.
  func mayHold(at now: Instant) -> UInt64 { timed.environment.mayHold(at: now) }

  /// Returns whether a stimulus is allowed now, or may become allowed without the tester.
  ///
  /// Follows the spontaneous transitions from every possible state, under the present conditions. A step of a
  /// scenario waits while this is true and no possible state allows the stimulus yet.
  public func mayAllow(_ stimulus: Int) -> Bool {
    let machine = specification.machine
    let space = StateSpace<Int, Void>(from: possibleStates) { state, go in
      for edge in machine.spontaneous[state] where timed.environment.mayHoldSomewhere(edge.guard) {
        go((), edge.target, 1)
      }
    } isGoal: { state in
      machine.edges(from: state, on: stimulus).contains { timed.environment.mayHold($0.guard) }
    }
    return space.found != nil
  }
}

// Support for a search over products, which moves a tracker to other states and times.
extension Tracker {
  /// Starts in a start of the machine at a moment, with faults that count from the beginning.
  mutating func start(in number: Int, under faults: [Fault], at now: Instant) {
    start(in: number)
    occupy([number], at: now)
    for fault in faults { timed.environment.apply(fault, at: now) }
    timed.environment.completeChanges()
  }

  /// Returns the set of possible states, with times relative to a moment.
  ///
  /// - Parameter isTimed: the nodes whose time of entry matters; see ``Specification/timedNodes()``.
  func snapshot(at now: Instant, isTimed: [Bool]) -> Snapshot {
    guard isSmall else { return timed.snapshot(at: now, isTimed: isTimed) }
    var nodes: [Snapshot.Node] = []
    forEachPossible { nodes.append(Snapshot.Node(number: $0, longest: .zero, shortest: .zero)) }
    return Snapshot(nodes: nodes, environment: timed.environment.snapshot(at: now, members: [], pasts: []))
  }

  /// Restores a snapshot as of a moment.
  mutating func restore(_ snapshot: Snapshot, at now: Instant) {
    if isSmall {
      word.start(in: snapshot.nodes.map(\.number))
      timed.environment.restore(snapshot.environment, at: now)
    } else {
      timed.restore(snapshot, at: now)
    }
    verify { $0.start(in: $1) }
  }

  /// Returns when time alone next changes what the device may do, or never.
  func nextEdge(after now: Instant, isTimed: [Bool]) -> Instant {
    isPlain ? .never : timed.nextEdge(after: now, isTimed: isTimed)
  }

  /// Returns when the next changed condition takes effect, or never.
  func nextSettlement(after now: Instant) -> Instant {
    timed.environment.settlements().reduce(.never) { $1 > now ? min($0, $1) : $0 }
  }
}

extension Tracker {
  /// The stimuli that every possible state allows, as bits; only for machines of up to 64 events without
  /// conditions.
  ///
  /// Mutating, because it is on the path of every event, and a nonmutating accessor would receive a copy.
  public var legalStimuli: UInt64 {
    @inline(never) mutating get {
      let node = isSmall ? word.single : timed.possible.single
      return node >= 0 ? legalWords[node] : legalInAll
    }
  }

  private var legalInAll: UInt64 {
    var legal = UInt64.max
    forEachPossible { legal &= legalWords[$0] }
    return legal
  }

  /// The position of the test in the model's state space; only for machines of up to 64 events.
  ///
  /// Mutating, because it is on the path of every event, and a nonmutating accessor would receive a copy.
  public var explorationState: ExplorationState {
    @inline(__always) mutating get {
      let node = isSmall ? word.single : timed.possible.single
      guard isPlain, node >= 0 else { return openExplorationState }
      let legal = legalStimuli
      return ExplorationState(
        position: UInt64(truncatingIfNeeded: node), node: node, legal: legal, forbidden: stimuliMask & ~legal,
        idle: specification.hasIdle ? specification.idle[node] : 0, deadline: .never, window: .zero,
        isAwaiting: false)
    }
  }

  /// The position if several states are possible, or if time or conditions matter.
  private var openExplorationState: ExplorationState {
    @inline(never) mutating get {
      var legal = stimuliMask
      var somewhere: UInt64 = 0
      var idle = UInt64.max
      var window = Interval.zero
      // Identifies the possible nodes and the conditions.
      var position = Fingerprint()
      position.mix(timed.environment.conditions)
      forEachPossible { node in
        let mask = allowed(in: node)
        legal &= mask
        somewhere |= mask
        idle &= specification.idle[node]
        window = max(window, specification.windows[node])
        position.mix(UInt64(truncatingIfNeeded: node + 1))
      }
      timed.mixData(into: &position)
      return ExplorationState(
        position: position.value | 1 << 63, node: isSmall ? word.single : timed.possible.single, legal: legal,
        forbidden: stimuliMask & ~somewhere, idle: legal & idle, deadline: deadline ?? .never, window: window,
        isAwaiting: isAwaiting, changed: timed.data?.changed ?? 0)
    }
  }

  /// Returns the stimuli that a node allows under the present conditions, as bits.
  private func allowed(in node: Int) -> UInt64 {
    var mask: UInt64 = 0
    forEachBit(of: specification.legal[node]) { event in
      if timed.allows(event, in: node) { mask |= 1 << UInt64(event) }
    }
    return mask
  }
}

extension Tracker {
  /// Returns what the set before the last operation allowed, in the order of the definition.
  public func allowances() -> [Divergence.Allowance] {
    if let reading = contradicted {
      let shows = specification.vocabulary.text(of: .reading(reading))
      let names = specification.machine.definition.states.map(\.name)
      return possibleStates.map { Divergence.Allowance(state: names[$0], cause: "", shows: shows) }
    }
    var allowances: [Divergence.Allowance] = []
    func add(_ member: TimedTracker.Member) {
      for allowance in self.allowances(of: member) where !allowances.contains(allowance) {
        allowances.append(allowance)
      }
    }
    if isSmall {
      forEachBit(of: word.before) { add(TimedTracker.Member(node: $0)) }
    } else {
      timed.before.members.forEach(add)
    }
    return allowances
  }

  private func allowances(of member: TimedTracker.Member) -> [Divergence.Allowance] {
    func name(ofSymbol symbol: Int) -> String { self.name(ofSymbol: symbol, in: member) }
    let number = member.node
    let node = specification.nodes[number]
    let state = specification.machine.definition.states[node.state].name
    if let symbol = node.pending.first {
      return [
        Divergence.Allowance(
          state: state, cause: "", shows: name(ofSymbol: symbol),
          following: node.pending.dropFirst().map(name(ofSymbol:)), isDue: true, isRequired: true)
      ]
    }
    let urgent = specification.urgent[specification.urgentSteps(of: number)]
    var allowances: [Divergence.Allowance] = []
    let lasting = Divergence.Allowance(
      state: state, cause: "", shows: specification.vocabulary.statuses[node.shown])
    if urgent.allSatisfy({ !timed.environment.mayHold($0.guard, in: member) }) { allowances.append(lasting) }
    let steps = specification.visible[specification.visibleSteps(of: number)].filter {
      timed.environment.mayHold($0.guard, in: member)
    }
    for step in steps {
      // If one event has a row with a deadline and a row without one, only the former is an allowance.
      let alike = steps.filter { $0.symbol == step.symbol && trigger(of: $0) == trigger(of: step) }
      if !step.hasDeadline, alike.contains(where: \.hasDeadline) { continue }
      // Both ends are relative to the entry of the state, the second one even if its time has restarted since.
      let earliest = alike.reduce(.forever) {
        min($0, timed.beginning(of: $1, from: member, at: timed.moment))
      }
      let window = Window(earliest: earliest, latest: timed.limit(of: step, from: member))
      allowances.append(
        Divergence.Allowance(
          state: state, cause: cause(of: step, in: window), shows: name(ofSymbol: Int(step.symbol)),
          isDue: step.hasDeadline, isRequired: timed.isOver(step, from: member)))
    }
    // A state that must be left by an unobservable step keeps its status, before and after.
    return allowances.isEmpty ? [lasting] : allowances
  }

  private func trigger(of step: Specification.Step) -> Transition.Trigger {
    specification.machine.definition.transitions[Int(step.transition)].trigger
  }

  private func cause(of step: Specification.Step, in window: Window) -> String {
    switch trigger(of: step) {
    case .timer: return window.description
    case .event(let name): return window == .any ? name : "\(name) \(window)"
    }
  }

  private func name(ofSymbol symbol: Int, in member: TimedTracker.Member) -> String {
    if symbol < statusCount { return specification.vocabulary.statuses[symbol] }
    if symbol < specification.firstDueSymbol { return specification.vocabulary.effects[symbol - statusCount] }
    let reading = specification.dueSymbols[symbol - specification.firstDueSymbol].reading
    let name = specification.machine.definition.readings[reading].name
    return specification.vocabulary.text(
      of: .reading(Reading(name, timed.dueValue(of: reading, in: member.valuation))))
  }
}
