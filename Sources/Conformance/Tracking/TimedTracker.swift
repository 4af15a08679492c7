import Automata
import Basics

/// Tracks any machine: with timers, with conditions, or with more nodes than a word has bits.
///
/// Each possible node has the earliest and the latest moment at which it can have been entered. The cost of a step
/// depends on the number of possible nodes, not on the size of the machine.
struct TimedTracker: Sendable {
  typealias Member = PossibleNodes.Member

  /// The conditions around the device.
  var environment: EffectiveEnvironment
  /// The possible nodes.
  private(set) var possible = PossibleNodes()
  /// The possible nodes before the last operation.
  private(set) var before = PossibleNodes()
  /// The number of observations that only a loss explains.
  private(set) var losses = 0
  /// The moment up to which time has passed.
  private(set) var moment = Instant.zero
  /// The nodes in which the device would be if it refused the last stimulus.
  private var refusing = PossibleNodes()
  private var next = PossibleNodes()
  /// Whether something other than a loss explains the current observation.
  private var isExplained = true

  /// How long after its entry the device was last seen to leave each node spontaneously, in all tests; negative if
  /// never.
  private var departures: [Interval]

  private let specification: Specification
  private let slack: Interval
  private let isPlain: Bool
  private let hasChoices: Bool
  /// The nodes whose time of entry matters; only for machines with choices.
  private let isTimed: [Bool]

  init(_ specification: Specification, slack: Interval) {
    self.specification = specification
    self.slack = slack
    isPlain = specification.isPlain
    hasChoices = specification.hasChoices
    isTimed = hasChoices ? specification.timedNodes() : []
    departures = [Interval](repeating: Self.unseen, count: specification.nodes.count)
    environment = EffectiveEnvironment(specification, slack: slack)
  }

  /// Starts a test in some nodes, entered at a moment.
  mutating func start(in nodes: [Int], at now: Instant = .zero) {
    possible.removeAll()
    for node in nodes {
      possible.insert(Member(node: node, earliest: now, latest: now, order: environment.entries.order))
    }
    before.copy(possible)
    refusing.removeAll()
    losses = 0
    moment = now
  }

  /// Lets time pass up to a stimulus.
  mutating func approach(_ now: Instant) {
    environment.expire(at: now)
    if !isPlain { close(at: now) }
  }

  /// Moves by a stimulus, and returns whether a possible node allows it; time must have passed up to it.
  mutating func perform(_ stimulus: Stimulus, at now: Instant) -> Bool {
    begin()
    refusing.removeAll()
    if specification.sets[stimulus.number] { environment.beginChange() }
    var allowed = false
    for index in before.members.indices {
      let member = before.members[index]
      let isAllowed = move(member, on: stimulus.number, at: now)
      if isAllowed { allowed = true }
      if !isAllowed || mayRefuse(stimulus.number, in: member.node, at: now) {
        refusing.insert(member)
        next.insert(member)
      }
    }
    swap(&possible, &next)
    assert(!possible.isEmpty || before.isEmpty, "a stimulus after which nothing is possible")
    if hasChoices { removeNarrower() }
    if allowed, specification.sets[stimulus.number] {
      environment.set(by: stimulus, isObeyed: refusing.isEmpty, at: now)
      environment.prune(to: possible.members, at: now)
    }
    check(at: now)
    return allowed
  }

  /// Keeps the nodes that show a symbol, follows their steps, and returns whether any is left.
  mutating func reveal(_ symbol: Int, isStatus: Bool, at now: Instant) -> Bool {
    environment.expire(at: now)
    if !isPlain { pass(until: now) }
    begin()
    isExplained = specification.loss == 0
    for index in before.members.indices {
      reveal(symbol, isStatus: isStatus, from: before.members[index], at: now)
    }
    swap(&possible, &next)
    if !isExplained, !possible.isEmpty { losses += 1 }
    if !refusing.isEmpty {
      next.removeAll()
      for index in refusing.members.indices {
        reveal(symbol, isStatus: isStatus, from: refusing.members[index], at: now)
      }
      swap(&refusing, &next)
    }
    if hasChoices { removeNarrower() }
    if isStatus, specification.ended[symbol] != 0 { end(specification.ended[symbol], at: now) }
    if !possible.isEmpty { environment.prune(to: possible.members, at: now) }
    check(at: now)
    return !possible.isEmpty
  }

  /// Applies an event that the tester's own client saw: every possible node in which it can occur has taken its
  /// transition.
  ///
  /// - Returns: whether any node is left, and whether the device used a permitted deviation.
  mutating func happen(_ event: Int, at now: Instant) -> (isPossible: Bool, isDeviation: Bool) {
    environment.expire(at: now)
    if !isPlain { pass(until: now) }
    before.copy(possible)
    environment.begin(specification.begun[event], over: over, at: now)
    guard specification.moving[event] else { return (true, false) }
    begin()
    refusing.removeAll()
    var isExplained = specification.loss == 0
    let momentary = specification.machine.environment.momentary
    var isOwn = momentary == 0
    for member in before.members {
      for index in specification.reportedSteps(of: member.node)
      where specification.reportedEvents[index] == Int32(event) {
        let step = specification.reported[index]
        guard isPossible(step, from: member, at: now) else { continue }
        if !takesLoss(step, from: member) { isExplained = true }
        let given = step.guard.given
        if given == 0 || given & environment.mayHold(in: member, at: now) & ~momentary != 0 { isOwn = true }
        next.insert(target(of: step, from: member, isEntry: step.enters, at: now, slack: slack))
      }
    }
    swap(&possible, &next)
    if !isExplained, !possible.isEmpty { losses += 1 }
    environment.makeSettingsUnknown(at: now)
    check(at: now)
    return (!possible.isEmpty, !isOwn && !possible.isEmpty)
  }

  /// Keeps the nodes that refuse the last stimulus.
  mutating func refuse() -> Bool {
    begin()
    for member in before.members where refusing.contains(member.node) { next.insert(member) }
    swap(&possible, &next)
    return !possible.isEmpty
  }

  /// Removes all nodes.
  mutating func removeAll() {
    begin()
    swap(&possible, &next)
    refusing.removeAll()
  }

  /// Keeps the nodes that may stay silent up to a moment, and returns whether any is left.
  mutating func settle(at now: Instant) -> Bool {
    environment.expire(at: now)
    if !isPlain { close(at: now) }
    begin()
    for index in before.members.indices {
      let member = before.members[index]
      if specification.isResting[member.node], isPlain || end(of: member) > now { next.insert(member) }
    }
    swap(&possible, &next)
    keepRefusingPossible()
    check(at: now)
    return !possible.isEmpty
  }

  /// The deadline of the next observation, or never.
  var deadline: Instant {
    if isPlain { return .never }
    if hasChoices, possible.single < 0 { return firstDeadline }
    var deadline = Instant.zero
    for member in possible.members where specification.isResting[member.node] {
      deadline = max(deadline, end(of: member))
    }
    return deadline
  }

  /// The deadline of the next observation for a device with some of the options: silence then shows that it has
  /// others.
  private var firstDeadline: Instant {
    var first = Instant.never
    forEachBit(of: possible.members.reduce(0) { $0 | specification.nodes[$1.node].options }) { option in
      var deadline = Instant.zero
      for member in possible.members where specification.nodes[member.node].options >> UInt64(option) & 1 == 1
      {
        if specification.isResting[member.node] { deadline = max(deadline, end(of: member)) }
      }
      first = min(first, deadline)
    }
    return first
  }

  private static var unseen: Interval { .milliseconds(-1) }

  /// Records that the device has left a node spontaneously.
  private mutating func noteDeparture(from member: Member, at now: Instant) {
    if before.single >= 0, specification.isResting[member.node] {
      departures[member.node] = now - member.latest
    }
  }

  /// Returns the bounds of the next spontaneous event; if several timers run, those of the first to end.
  func bounds(at now: Instant) -> TimerBounds? {
    let deadline = deadline
    guard deadline != .never else { return nil }
    var bounds = TimerBounds(entry: now, opening: deadline, expected: deadline, closing: deadline)
    var first = Instant.never
    for member in possible.members where specification.isResting[member.node] {
      for index in specification.urgentSteps(of: member.node) {
        let step = specification.urgent[index]
        guard environment.mustHold(step.guard, in: member) else { continue }
        let end = end(of: step, from: member)
        guard end < first else { continue }
        first = end
        let opening = min(member.latest + beginning(of: step, from: member, at: now), end - slack)
        let seen = member.latest + departures[member.node]
        let middle = opening + Interval(nanoseconds: (end - slack - opening).nanoseconds / 2)
        // A departure that was seen under other settings does not count.
        let isSeen = departures[member.node] >= .zero && seen >= opening - slack && seen <= end
        bounds = TimerBounds(
          entry: member.latest, opening: opening, expected: isSeen ? seen : middle, closing: deadline)
      }
    }
    return bounds
  }

  /// Whether a spontaneous event is due.
  var isAwaiting: Bool {
    for member in possible.members {
      for index in specification.urgentSteps(of: member.node) {
        let step = specification.urgent[index]
        if step.isAnswer, environment.mustHold(step.guard, in: member) { return true }
      }
    }
    return false
  }

  /// Whether a node allows a stimulus, regardless of whether changes have taken effect.
  func allows(_ event: Int, in node: Int) -> Bool {
    for index in specification.causedSteps(of: node, on: event)
    where environment.mayHold(specification.caused[index].guard) {
      return true
    }
    return false
  }
}

extension TimedTracker {
  /// Makes the possible nodes the previous ones, and empties the next set.
  @inline(__always)
  private mutating func begin() {
    swap(&before, &possible)
    next.removeAll()
  }

  /// Removes nodes that an equivalent node of devices with more options covers.
  @inline(never)
  private mutating func removeNarrower() {
    guard possible.single < 0 else { return }
    next.removeAll()
    for member in possible.members where refusing.contains(member.node) || !isNarrower(member) {
      next.insert(member)
    }
    swap(&possible, &next)
  }

  private func isNarrower(_ member: Member) -> Bool {
    specification.wider[member.node].contains { node in
      guard let wider = possible.member(node) else { return false }
      return !isTimed[node]
        || wider.earliest <= member.earliest && member.latest <= wider.latest
          && (wider.order < 0 || wider.order == member.order)
    }
  }

  /// Adds the result of a stimulus in one node; false if the node does not allow it.
  @inline(__always)
  private mutating func move(_ member: Member, on event: Int, at now: Instant) -> Bool {
    var allowed = false
    for index in specification.causedSteps(of: member.node, on: event) {
      let step = specification.caused[index]
      guard isPlain || environment.mayHold(step.guard, at: now) else { continue }
      allowed = true
      next.insert(target(of: step, from: member, isEntry: step.enters, at: now))
    }
    return allowed
  }

  @inline(__always)
  private mutating func reveal(_ symbol: Int, isStatus: Bool, from member: Member, at now: Instant) {
    // A repeated status means nothing new.
    if isStatus, specification.nodes[member.node].shown == symbol, specification.mayRepeat[member.node] {
      isExplained = true
      next.insert(member)
    }
    for index in specification.visibleSteps(of: member.node) {
      let step = specification.visible[index]
      guard step.symbol == symbol else { continue }
      if isPlain {
        if !step.isByLoss { isExplained = true }
        next.insert(Member(node: Int(step.node)))
      } else if isPossible(step, from: member, at: now) {
        if !takesLoss(step, from: member) { isExplained = true }
        if step.latest != .forever { noteDeparture(from: member, at: now) }
        // A pending state counts as entered when its transition began.
        let isEntry = step.enters && step.transition >= 0
        next.insert(target(of: step, from: member, isEntry: isEntry, at: now, slack: slack))
      }
    }
  }

  /// The result of a step at this moment.
  @inline(__always)
  private func target(
    of step: Specification.Step, from member: Member, isEntry: Bool, at now: Instant,
    slack: Interval = .zero
  ) -> Member {
    if isPlain { return Member(node: Int(step.node)) }
    guard isEntry else {
      return Member(
        node: Int(step.node), earliest: member.earliest, latest: member.latest, order: member.order)
    }
    let order = self.slack == .zero ? environment.entries.order : -1
    return Member(node: Int(step.node), earliest: now - slack, latest: now, order: order)
  }

  /// Lets time pass without an observation: states that had to be left meanwhile were left.
  private mutating func pass(until now: Instant) {
    close(at: now)
    guard possible.single < 0 else { return }
    begin()
    for index in before.members.indices {
      let member = before.members[index]
      if !specification.isResting[member.node] || end(of: member) >= now { next.insert(member) }
    }
    // If all of them had to be left, their deadline reports it.
    if next.isEmpty { swap(&possible, &before) } else { swap(&possible, &next) }
    keepRefusingPossible()
  }

  /// Follows unobservable steps until no new node is possible.
  private mutating func close(at now: Instant) {
    assert(now >= moment, "time that goes back")
    moment = now
    guard !specification.silent.isEmpty else { return }
    var changed = true
    while changed {
      changed = false
      // New nodes are followed in the next pass, so that one pass visits each node once.
      next.copy(possible)
      for index in next.members.indices {
        let node = next.members[index].node
        for index in specification.silentSteps(of: node) {
          let step = specification.silent[index]
          guard let from = possible.member(node), let found = silent(step, from: from, at: now) else {
            continue
          }
          if possible.insert(found) { changed = true }
        }
      }
    }
  }

  /// The result of a silent step; `nil` if it cannot have been taken.
  private func silent(_ step: Specification.Step, from: Member, at now: Instant) -> Member? {
    guard environment.mayHold(step.guard, in: from, at: now) else { return nil }
    let earliest = from.earliest + beginning(of: step, from: from, at: now) - slack
    guard earliest <= now else { return nil }
    let latest = step.enters ? min(end(of: step, from: from), now) : from.latest
    let entry = step.enters ? earliest : from.earliest
    return Member(
      node: Int(step.node), earliest: entry, latest: max(earliest, latest),
      order: step.enters ? -1 : from.order)
  }

  /// Ends conditions with a status. The state that shows it was entered after that, or continues; which, is unknown.
  private mutating func end(_ conditions: UInt64, at now: Instant) {
    if conditions & environment.entries.numbers != 0 { possible.forgetOrder() }
    let entry = possible.members.reduce(now - slack) { min($0, $1.earliest) }
    environment.end(conditions, since: entry, at: now)
  }

  /// Removes nodes from the refusing set that are no longer possible.
  private mutating func keepRefusingPossible() {
    guard !refusing.isEmpty else { return }
    next.removeAll()
    for member in refusing.members where possible.contains(member.node) { next.insert(member) }
    swap(&refusing, &next)
  }

  /// The conditions that every possible node has ended by the status that it shows.
  private var over: UInt64 {
    possible.members.reduce(.max) { $0 & specification.ended[specification.nodes[$1.node].shown] }
  }

  /// Whether a step requires the condition `loss`.
  private func takesLoss(_ step: Specification.Step, from member: Member) -> Bool {
    step.isByLoss && step.guard.given & environment.conditions(in: member) & ~specification.loss == 0
  }

  /// Whether an allowed stimulus may also be refused, because conditions are unknown.
  private func mayRefuse(_ event: Int, in node: Int, at now: Instant) -> Bool {
    let open = environment.open(at: now)
    guard open != 0 else { return false }
    return Guard.mayAllFail(
      specification.caused[specification.causedSteps(of: node, on: event)].map(\.guard),
      under: environment.conditions, open: open)
  }

  /// Whether a step can have been taken at this moment, given the entry of its node.
  private func isPossible(_ step: Specification.Step, from member: Member, at now: Instant) -> Bool {
    let enabled = environment.mayHold(step.guard, in: member, at: now)
    // A pending symbol is shown at once, whenever its state was entered; a machine without timers ignores the time.
    guard enabled, !isPlain, specification.isResting[member.node] else { return enabled }
    return member.earliest + beginning(of: step, from: member, at: now) - slack <= now
      && (step.latest == .forever || now <= end(of: step, from: member))
  }

  /// The minimum duration of a step at this moment, if the latest setting may not count yet; measured from the entry
  /// of its node.
  func beginning(of step: Specification.Step, from member: Member, at now: Instant) -> Interval {
    guard step.plus >= 0 else { return step.earliest }
    // A row that requires the condition alone is not taken if that is set to nothing.
    let isGuarded = step.guard.given == 1 << UInt64(step.plus)
    let least = environment.least(of: Int(step.plus), orNothing: !isGuarded, in: member, at: now)
    return least.map { max(.zero, step.earliest + $0) } ?? .zero
  }

  /// The maximum duration of a step, measured from the entry of its node, if known.
  func limit(of step: Specification.Step, from member: Member) -> Interval {
    if step.latest == .forever { return .forever }
    let end = beginning(of: step, since: member) + length(of: step, from: member)
    return end == .never ? .forever : end - member.latest
  }

  /// Whether the deadline of a step has passed.
  func isOver(_ step: Specification.Step, from member: Member) -> Bool {
    step.latest != .forever && environment.mustHold(step.guard, in: member)
      && end(of: step, from: member) <= moment
  }

  /// The maximum duration of a step once its time counts.
  private func length(of step: Specification.Step, from member: Member) -> Interval {
    step.plus < 0 ? step.latest : step.latest + environment.most(of: Int(step.plus), in: member)
  }

  /// The latest moment from which the time of a step counts.
  private func beginning(of step: Specification.Step, since member: Member) -> Instant {
    let since = environment.beginning(of: step.guard, since: member.latest)
    return step.plus < 0 ? since : environment.beginning(of: Int(step.plus), since: since)
  }

  /// The latest moment at which a step is taken.
  private func end(of step: Specification.Step, from member: Member) -> Instant {
    beginning(of: step, since: member) + length(of: step, from: member) + slack
  }

  /// The moment by which a state must have been left, or never.
  private func end(of member: Member) -> Instant {
    var end = Instant.never
    for index in specification.urgentSteps(of: member.node) {
      let step = specification.urgent[index]
      if environment.mustHold(step.guard, in: member) {
        end = min(end, self.end(of: step, from: member))
      }
    }
    return end
  }

  /// Checks the invariants of the tracker itself.
  @inline(__always)
  private func check(at now: Instant) {
    assert(possible.members.allSatisfy { $0.latest <= now }, "a node that is entered later")
    assert(
      possible.members.allSatisfy { specification.nodes.indices.contains($0.node) },
      "a node that the machine does not have")
    assert(
      refusing.members.allSatisfy { possible.contains($0.node) }, "a refusal by what is not possible")
    assert(
      zip(possible.members, possible.members.dropFirst()).allSatisfy { $0.node < $1.node },
      "nodes out of order")
  }
}

extension TimedTracker {
  /// The possible nodes and the history, with times relative to a moment.
  ///
  /// - Parameter isTimed: the nodes whose time of entry matters.
  func snapshot(at now: Instant, isTimed: [Bool]) -> Tracker.Snapshot {
    let members = possible.members.filter { isTimed[$0.node] }
    let (pasts, order) = environment.entries.snapshot(members, at: now)
    let nodes = possible.members.map { member in
      guard isTimed[member.node] else {
        return Tracker.Snapshot.Node(number: member.node, longest: .zero, shortest: .zero)
      }
      return Tracker.Snapshot.Node(
        number: member.node, longest: now - member.earliest, shortest: now - member.latest,
        order: pasts.isEmpty ? -1 : order(member.order))
    }
    return Tracker.Snapshot(
      nodes: nodes, environment: environment.snapshot(at: now, members: members, pasts: pasts))
  }

  /// Restores a snapshot as of a moment.
  mutating func restore(_ snapshot: Tracker.Snapshot, at now: Instant) {
    possible.removeAll()
    for node in snapshot.nodes {
      possible.insert(
        Member(
          node: node.number, earliest: now - node.longest, latest: now - node.shortest, order: node.order))
    }
    before.copy(possible)
    refusing.removeAll()
    moment = now
    environment.restore(snapshot.environment, at: now)
  }

  /// Returns when time alone next changes what the device may do: at the next end of a window, or never.
  func nextEdge(after now: Instant, isTimed: [Bool]) -> Instant {
    var times: [Instant] = []
    for member in possible.members where isTimed[member.node] {
      for step in specification.freeSteps(of: member.node) {
        let earliest = beginning(of: step, from: member, at: now)
        if earliest > .zero { times.append(member.earliest + earliest) }
        if step.latest != .forever { times.append(end(of: step, from: member)) }
      }
    }
    return times.reduce(.never) { $1 > now ? min($0, $1) : $0 }
  }
}
