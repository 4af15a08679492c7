import Automata
public import Basics

/// Every state that the device could be in, given what was done and what was seen.
///
/// A stimulus moves the set, time moves it (a timer that may or must have fired), an observation keeps only
/// what allows it. When the set is empty the device has done what no state allows: a divergence.
///
///     perform ──▶ (observe)* ──▶ settle ──▶ …
///
/// ``settle(at:)`` says that everything up to a moment has been observed: only then is silence evidence.
/// Beside each possible state stand the earliest and the latest moment at which it can have been entered,
/// so timers are exact where the entry was seen and never too strict where it was not.
public struct Tracker: Sendable {
  struct Entry: Sendable {
    var earliest: Instant
    var latest: Instant

    static let start = Entry(earliest: .zero, latest: .zero)
  }

  /// What is tracked.
  public let specification: Specification
  /// How far an observation's time may lie from when it happened.
  public let slack: Interval
  /// What was counted up to the last operation.
  private var counted: CellCoverage

  var possible: NodeSet
  /// The set before the last operation: what a divergence is explained with.
  private(set) var before: NodeSet
  /// Where the device would be if it refused the last stimulus.
  var refusing: NodeSet
  private var next: NodeSet
  var entries: [Entry]
  private var nextEntries: [Entry]
  var circumstances: UInt64 = 0
  /// The circumstances that may hold or not, since nobody knows whether what set them arrived.
  var uncertain: UInt64 = 0
  /// The circumstances that have changed in this test, and when they did the last time.
  var changing: UInt64 = 0
  var changed: [Instant]
  /// The circumstances whose change was not felt yet when something came, or was there, that hides it: until that is over
  /// what is shown may be from before.
  var unfelt: UInt64 = 0
  /// Until when some change may not have had its effect yet.
  var unsettled = Instant.zero
  /// What brings each circumstance about now: a bit for each of its faults, the highest for its own name.
  var holders: [UInt64]
  var values: [Interval]
  /// What they were before they were set the last time.
  var former: [Interval]
  /// Those that a stimulus has set on the present link, and when one was set last in this test.
  var sent: UInt64 = 0
  var sentAt: [Instant?]
  /// When the next fault that lasts for a given time is over, or never; and those faults.
  var nextExpiry = Instant.never
  var expiries: [(time: Instant, fault: Fault)] = []

  /// How often in this test what was seen can only be explained by what takes the circumstance `loss`: a link that
  /// the air lost, an advertisement that nobody heard. Counted where the specification holds `loss` in every test.
  public private(set) var losses = 0
  /// Whether what is shown comes of a way that the device may take and need not: it reported of itself what brings these
  /// circumstances about, as bits; or none, and it ended a link, say, on which it was sent what no client says. That is
  /// over with the next status after the one that it led to.
  public private(set) var liberty: UInt64?
  /// Whether what it led to was shown.
  private var isLibertyShown = false
  /// The states that are possible without any loss since the last one: those of ``possible`` in a small machine.
  private var undisturbed: UInt64 = 0
  /// Whether something other than a loss explains what is being observed, in a machine that is not small.
  private var isExplained = true

  // What the hot path needs of the specification, at hand.
  private let isSmall: Bool
  private let isPlain: Bool
  private let followsLosses: Bool
  let urgentStart: [Int32]
  let urgent: [Specification.Step]
  private let causedWords: [UInt64]
  private let visibleWords: [UInt64]
  private let legalWords: [UInt64]
  private let states: [Int]
  let eventCount: Int
  private let symbolCount: Int
  private let statusCount: Int
  private let resting: UInt64
  /// Whether each event sets a circumstance, and the circumstances under which it may not arrive.
  private let sets: [Bool]
  let unsure: [UInt64]
  /// How long the device may still behave as before a circumstance changed.
  let delays: [Interval]
  /// The events that the tester can cause, as bits.
  let stimuliMask: UInt64
  /// Whether what is allowed depends on the state alone.
  let isUnconditional: Bool

  /// Makes a tracker that stands at the machine's usual start.
  public init(_ specification: Specification, slack: Interval = .zero) {
    self.specification = specification
    self.slack = slack
    isSmall = specification.isSmall
    isPlain = specification.isPlain
    followsLosses = specification.isSmall && specification.loss != 0
    urgentStart = specification.urgentStart
    urgent = specification.urgent
    causedWords = specification.words.caused
    visibleWords = specification.words.visible
    legalWords = specification.legal
    states = specification.nodes.map(\.state)
    eventCount = specification.eventCount
    symbolCount = specification.symbolCount
    statusCount = specification.statusCount
    resting = specification.resting.first
    sets = specification.sets
    unsure = specification.unsure
    delays = specification.machine.definition.circumstances.map(\.delay)
    stimuliMask = specification.stimuliMask
    isUnconditional = specification.isPlain
    let count = specification.nodes.count
    let empty = NodeSet(capacity: count)
    possible = empty
    before = empty
    refusing = empty
    next = empty
    entries = [Entry](repeating: .start, count: specification.isPlain ? 0 : count)
    nextEntries = entries
    counted = CellCoverage(specification.cells)
    let circumstanceCount = specification.machine.definition.circumstances.count
    changed = [Instant](repeating: .zero, count: circumstanceCount)
    holders = [UInt64](repeating: 0, count: circumstanceCount)
    values = [Interval](repeating: .zero, count: circumstanceCount)
    former = values
    sentAt = [Instant?](repeating: nil, count: circumstanceCount)
    start(in: specification.startNodes.count - 1)
  }

  /// Which cells were visited, since the tracker was made.
  public var coverage: CellCoverage {
    var coverage = counted
    let node = possible.single
    if node >= 0 { coverage.enter(specification.nodes[node].state) }
    return coverage
  }

  /// Goes to a start of the machine, by its number, at time zero. What was visited stays counted.
  public mutating func start(in number: Int) {
    countState()
    counted.lose()
    possible.removeAll()
    possible.insert(specification.startNodes[number])
    before = possible
    refusing.removeAll()
    losses = 0
    liberty = nil
    undisturbed = possible.first
    circumstances = specification.held
    uncertain = 0
    settleCircumstances()
    sent = 0
    for index in sentAt.indices { sentAt[index] = nil }
    nextExpiry = .never
    expiries.removeAll()
    for index in values.indices {
      values[index] = .zero
      former[index] = .zero
      holders[index] = 0
    }
    for index in entries.indices { entries[index] = .start }
  }

  /// Goes to every start of the machine that settings of a device do not contradict.
  mutating func start(inAnyOf condition: StartCondition) {
    let numbers = specification.machine.starts(for: condition)
    guard let last = numbers.last else { return }
    start(in: last)
    for number in numbers { possible.insert(specification.startNodes[number]) }
    before = possible
    undisturbed = possible.first
  }

  /// The states that the device could be in.
  public var possibleStates: [Int] {
    var states: [Int] = []
    possible.forEach { node in
      let state = specification.nodes[node].state
      if !states.contains(state) { states.append(state) }
    }
    return states
  }

  /// The stimuli that every possible state allows, as bits; only for machines of up to 64 events without
  /// circumstances.
  ///
  /// Mutating, because it is on the path of every event, and what only reads would be handed a copy.
  public var legalStimuli: UInt64 {
    @inline(never) mutating get {
      let nodes = possible.first
      return isSmall && nodes != 0 && nodes & (nodes &- 1) == 0
        ? legalWords[nodes.trailingZeroBitCount] : legalInAll
    }
  }

  private var legalInAll: UInt64 {
    var legal = UInt64.max
    var word = possible.first
    while word != 0 {
      legal &= legalWords[word.trailingZeroBitCount]
      word &= word &- 1
    }
    for index in possible.rest.indices {
      var word = possible.rest[index]
      while word != 0 {
        legal &= legalWords[64 * (index + 1) + word.trailingZeroBitCount]
        word &= word &- 1
      }
    }
    return legal
  }

  /// Whether some possible state allows a stimulus.
  public func allows(_ stimulus: Int) -> Bool {
    var allowed = false
    possible.forEach { node in
      forEachStep(on: stimulus, from: node) { _ in allowed = true }
    }
    return allowed
  }

  /// The number of the start that settings of a device stand for: the last one that none of them contradicts.
  ///
  /// `nil` when they contradict every start.
  public func start(for condition: StartCondition) -> Int? {
    specification.machine.start(for: condition)
  }
}

extension Machine {
  /// The number of the start that settings of a device stand for; see ``Tracker/start(for:)``.
  func start(for condition: StartCondition) -> Int? {
    if condition.settings.isEmpty { return definition.starts.count - 1 }
    return starts(for: condition).last
  }

  /// The numbers of all starts that settings of a device do not contradict.
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
    let event = stimulus.number
    if isSmall { return perform(small: event) }
    if nextExpiry <= now { expire(at: now) }
    if !specification.isPlain { close(at: now) }
    before = possible
    next.removeAll()
    refusing.removeAll()
    let node = possible.single
    if node >= 0 { counted.count(event, in: specification.nodes[node].state) } else { counted.lose() }
    var allowed = false
    before.forEach { node in
      let isAllowed = move(node, on: event, at: now)
      if isAllowed { allowed = true }
      if !isAllowed || mayRefuse(event, in: node, at: now) {
        refusing.insert(node)
        add(node, entry(node))
      }
    }
    takeNext()
    if allowed, sets[event] { set(by: stimulus, at: now) }
    return allowed
  }

  /// Keeps the states that allow an observation, and moves on with it.
  ///
  /// - Returns: whether any is left.
  public mutating func observe(_ observation: Observation, at now: Instant) -> Bool {
    switch observation {
    case .status(let number):
      return isSmall ? reveal(small: number) : reveal(number, isStatus: true, at: now)
    case .effect(let number):
      let symbol = statusCount + number
      return isSmall ? reveal(small: symbol) : reveal(symbol, isStatus: false, at: now)
    case .refused:
      before = possible
      possible.formIntersection(refusing)
      if followsLosses { keepUndisturbed(undisturbed & possible.first) }
      return !possible.isEmpty
    case .unknown:
      before = possible
      possible.removeAll()
      return false
    case .event(let seen):
      return happen(seen.number, at: now)
    case .reading(let reading):
      learn(from: reading, at: now)
      return true
    case .violation:
      return true
    }
  }

  /// Says that everything up to a moment has been observed.
  ///
  /// - Returns: whether any state is left: one that should have shown something, or been left, by now is not.
  public mutating func settle(at now: Instant) -> Bool {
    if isSmall {
      before.first = possible.first
      possible.first &= resting
      if followsLosses { keepUndisturbed(undisturbed & resting) }
      return possible.first != 0
    }
    if nextExpiry <= now { expire(at: now) }
    before = possible
    if specification.isPlain {
      possible.formIntersection(specification.resting)
      return !possible.isEmpty
    }
    close(at: now)
    before = possible
    before.forEach { node in
      if !specification.resting.contains(node) || end(of: node) <= now { possible.remove(node) }
    }
    countState()
    return !possible.isEmpty
  }

  /// By when something must be observed, or `nil` when the device may stay silent for ever.
  public var deadline: Instant? {
    isPlain ? nil : timedDeadline()
  }

  /// Apart from its caller, which is on the path of every event and must not pay for a closure.
  private func timedDeadline() -> Instant? {
    var deadline = Instant.zero
    possible.forEach { node in
      if specification.resting.contains(node) { deadline = max(deadline, end(of: node)) }
    }
    return deadline == .never ? nil : deadline
  }

  /// Up to when time may pass before the model has to look again: its deadline, or the end of a fault.
  var horizon: Instant { min(deadline ?? .never, nextExpiry) }

  /// Whether an event that the tester does not cause is due: what comes next is the device's to do.
  public var isAwaiting: Bool {
    var awaiting = false
    possible.forEach { node in
      for index in urgentSteps(of: node)
      where urgent[index].isEvent && isDue(urgent[index], besides: lateChanges(since: node)) {
        awaiting = true
      }
    }
    return awaiting
  }
}

extension Tracker {
  /// ``perform(_:at:)`` on one word.
  private mutating func perform(small event: Int) -> Bool {
    let nodes = possible.first
    before.first = nodes
    if nodes & (nodes &- 1) == 0, nodes != 0 {
      counted.count(event, in: states[nodes.trailingZeroBitCount])
    } else {
      counted.lose()
    }
    var next: UInt64 = 0
    var refused: UInt64 = 0
    var rest = nodes
    while rest != 0 {
      let node = rest.trailingZeroBitCount
      let targets = causedWords[node &* eventCount &+ event]
      next |= targets
      if targets == 0 { refused |= 1 &<< UInt64(truncatingIfNeeded: node) }
      rest &= rest &- 1
    }
    refusing.first = refused
    possible.first = next | refused
    if followsLosses { moveUndisturbed(on: event) }
    return next != 0
  }

  /// ``observe(_:at:)`` on one word.
  private mutating func reveal(small symbol: Int) -> Bool {
    let nodes = possible.first
    before.first = nodes
    possible.first = targets(of: nodes, showing: symbol)
    if refusing.first != 0 { refusing.first = targets(of: refusing.first, showing: symbol) }
    if followsLosses { revealUndisturbed(symbol) }
    return possible.first != 0
  }

  // What would have been possible without losses is followed beside what is, and apart from it: a machine without
  // losses pays one branch.

  @inline(never)
  private mutating func moveUndisturbed(on event: Int) {
    let words = specification.words.causedWithoutLoss
    var next: UInt64 = 0
    forEachBit(of: undisturbed) { node in
      let targets = words[node * eventCount + event]
      next |= targets == 0 ? 1 << UInt64(node) : targets
    }
    undisturbed = next
  }

  @inline(never)
  private mutating func revealUndisturbed(_ symbol: Int) {
    let words = specification.words.visibleWithoutLoss
    var next: UInt64 = 0
    forEachBit(of: undisturbed) { next |= words[$0 * symbolCount + symbol] }
    keepUndisturbed(next)
  }

  /// Notes a loss when nothing else explains what the set of possible states has come to.
  private mutating func keepUndisturbed(_ nodes: UInt64) {
    undisturbed = nodes
    guard nodes == 0, possible.first != 0 else { return }
    losses += 1
    undisturbed = possible.first
  }

  @inline(__always)
  private func targets(of nodes: UInt64, showing symbol: Int) -> UInt64 {
    var targets: UInt64 = 0
    var rest = nodes
    while rest != 0 {
      targets |= visibleWords[rest.trailingZeroBitCount &* symbolCount &+ symbol]
      rest &= rest &- 1
    }
    return targets
  }

  /// Adds what a stimulus leads to from one node; false when it is not allowed there.
  @inline(__always)
  private mutating func move(_ node: Int, on event: Int, at now: Instant) -> Bool {
    let cell = node * specification.eventCount + event
    var index = Int(specification.causedStart[cell])
    let end = Int(specification.causedStart[cell + 1])
    var allowed = false
    while index < end {
      let step = specification.caused[index]
      if specification.isPlain || mayBeEnabled(step, at: now) {
        allowed = true
        add(Int(step.node), step.enters ? Entry(earliest: now, latest: now) : entry(node))
      }
      index += 1
    }
    return allowed
  }

  func forEachStep(on event: Int, from node: Int, _ body: (Specification.Step) -> Void) {
    let cell = node * specification.eventCount + event
    for index in Int(specification.causedStart[cell])..<Int(specification.causedStart[cell + 1])
    where isEnabled(specification.caused[index]) {
      body(specification.caused[index])
    }
  }

  /// Counts the state that the device is in, when it is known.
  private mutating func countState() {
    let node = possible.single
    if node >= 0, specification.resting.contains(node) { counted.enter(specification.nodes[node].state) }
  }

  private mutating func reveal(_ symbol: Int, isStatus: Bool, at now: Instant) -> Bool {
    if nextExpiry <= now { expire(at: now) }
    if !specification.isPlain { pass(until: now) }
    before = possible
    next.removeAll()
    isExplained = specification.loss == 0
    before.forEach { reveal(symbol, isStatus: isStatus, from: $0, at: now) }
    let refused = refusing
    takeNext()
    if !isExplained, !possible.isEmpty { losses += 1 }
    if !refused.isEmpty {
      next.removeAll()
      refused.forEach { reveal(symbol, isStatus: isStatus, from: $0, at: now) }
      refusing = next
    }
    if isStatus, specification.ended[symbol] != 0 { end(specification.ended[symbol], at: now) }
    if isStatus, liberty != nil {
      if isLibertyShown { liberty = nil }
      isLibertyShown = true
    }
    countState()
    return !possible.isEmpty
  }

  /// Takes in an event that the tester's own end saw happen: every possible state in which it can has gone on with it.
  private mutating func happen(_ event: Int, at now: Instant) -> Bool {
    if nextExpiry <= now { expire(at: now) }
    if !specification.isPlain { pass(until: now) }
    before = possible
    begin(specification.begun[event], at: now)
    let own = specification.begun[event] & specification.own
    if own != 0 { takeLiberty(own) }
    guard specification.moving[event] else { return true }
    next.removeAll()
    refusing.removeAll()
    var isExplained = specification.loss == 0
    var isOwn = specification.momentary == 0
    before.forEach { node in
      let range = Int(specification.reportedStart[node])..<Int(specification.reportedStart[node + 1])
      for index in range where specification.reportedEvents[index] == Int32(event) {
        let step = specification.reported[index]
        guard isPossible(step, from: node, at: now) else { continue }
        if !takesLoss(step) { isExplained = true }
        if step.given == 0 || step.given & mayHold(at: now) & ~specification.momentary != 0 { isOwn = true }
        add(Int(step.node), step.enters ? Entry(earliest: now - slack, latest: now) : entry(node))
      }
    }
    takeNext()
    if !isExplained, !possible.isEmpty { losses += 1 }
    if !isOwn, !possible.isEmpty { takeLiberty(0) }
    doubtSettings(at: now)
    return !possible.isEmpty
  }

  private mutating func takeLiberty(_ circumstances: UInt64) {
    liberty = circumstances
    isLibertyShown = false
  }

  @inline(__always)
  private mutating func reveal(_ symbol: Int, isStatus: Bool, from node: Int, at now: Instant) {
    // A status that is shown again says nothing new.
    if isStatus, specification.nodes[node].shown == symbol, specification.resting.contains(node) {
      isExplained = true
      add(node, entry(node))
    }
    var index = Int(specification.visibleStart[node])
    let end = Int(specification.visibleStart[node + 1])
    while index < end {
      let step = specification.visible[index]
      index += 1
      guard step.symbol == symbol else { continue }
      if specification.isPlain {
        if !step.isByLoss { isExplained = true }
        next.insert(Int(step.node))
      } else if isPossible(step, from: node, at: now) {
        // What is pending was entered, or not, when its transition began.
        let isEntry = step.enters && step.transition >= 0
        if !takesLoss(step) { isExplained = true }
        add(Int(step.node), isEntry ? Entry(earliest: now - slack, latest: now) : entry(node))
      }
    }
  }

  /// Lets time pass in which nothing was seen: states that must have been left meanwhile were left.
  private mutating func pass(until now: Instant) {
    close(at: now)
    guard possible.single < 0 else { return }
    before = possible
    before.forEach { node in
      if specification.resting.contains(node), end(of: node) < now { possible.remove(node) }
    }
    // That all of them were to be left is found out at their deadline.
    if possible.isEmpty { possible = before }
  }

  /// Follows what can have happened without being seen, until nothing new is possible.
  private mutating func close(at now: Instant) {
    guard !specification.silent.isEmpty else { return }
    var changed = true
    while changed {
      changed = false
      possible.forEach { node in
        for index in Int(specification.silentStart[node])..<Int(specification.silentStart[node + 1]) {
          let step = specification.silent[index]
          guard mayBeEnabled(step, from: node, at: now) else { continue }
          let from = entries[node]
          let earliest = from.earliest + step.earliest - slack
          guard earliest <= now else { continue }
          let latest = step.enters ? min(end(of: step, from: node), now) : from.latest
          let entry = Entry(earliest: step.enters ? earliest : from.earliest, latest: max(earliest, latest))
          changed = include(Int(step.node), entry) || changed
        }
      }
    }
  }

  /// Adds a node to the possible ones; true when that is news.
  private mutating func include(_ node: Int, _ entry: Entry) -> Bool {
    guard possible.contains(node) else {
      possible.insert(node)
      entries[node] = entry
      return true
    }
    let old = entries[node]
    entries[node] = Entry(
      earliest: min(old.earliest, entry.earliest), latest: max(old.latest, entry.latest))
    return entries[node].earliest != old.earliest || entries[node].latest != old.latest
  }

  @inline(__always)
  private mutating func add(_ node: Int, _ entry: Entry) {
    if !specification.isPlain {
      if next.contains(node) {
        let old = nextEntries[node]
        nextEntries[node] = Entry(
          earliest: min(old.earliest, entry.earliest), latest: max(old.latest, entry.latest))
      } else {
        nextEntries[node] = entry
      }
    }
    next.insert(node)
  }

  @inline(__always)
  private mutating func takeNext() {
    swap(&possible, &next)
    swap(&entries, &nextEntries)
  }

  @inline(__always)
  private func entry(_ node: Int) -> Entry { specification.isPlain ? .start : entries[node] }
}

/// Calls the body with each bit that is set, in rising order.
func forEachBit(of word: UInt64, _ body: (Int) -> Void) {
  var word = word
  while word != 0 {
    body(word.trailingZeroBitCount)
    word &= word &- 1
  }
}
