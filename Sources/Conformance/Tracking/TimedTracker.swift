import Automata
import Basics

/// Follows any machine: one with timers, with conditions, or with more nodes than a word has bits.
///
/// Beside each possible node stand the earliest and the latest moment at which it can have been entered. What a step
/// costs depends on how much is possible, and not on how large the machine is.
struct TimedTracker: Sendable {
  typealias Member = PossibleNodes.Member

  /// What holds around the device.
  var environment: FeltEnvironment
  /// The nodes that are possible.
  private(set) var possible = PossibleNodes()
  /// Those before the last operation.
  private(set) var before = PossibleNodes()
  /// How often what was seen can only be explained by a loss.
  private(set) var losses = 0
  /// Up to when time was let pass.
  private(set) var moment = Instant.zero
  /// Where the device would be if it refused the last stimulus.
  private var refusing = PossibleNodes()
  private var next = PossibleNodes()
  /// Whether something other than a loss explains what is being observed.
  private var isExplained = true

  /// How long after its entry the device was last seen to leave a node by itself, in all tests; less than zero where it was not.
  private var departures: [Interval]

  private let specification: Specification
  private let slack: Interval
  private let isPlain: Bool
  private let hasChoices: Bool
  /// The nodes in which it matters when they were entered; only where there are choices.
  private let isTimed: [Bool]

  init(_ specification: Specification, slack: Interval) {
    self.specification = specification
    self.slack = slack
    isPlain = specification.isPlain
    hasChoices = specification.hasChoices
    isTimed = hasChoices ? specification.timedNodes() : []
    departures = [Interval](repeating: Self.unseen, count: specification.nodes.count)
    environment = FeltEnvironment(specification, slack: slack)
  }

  /// Goes to some nodes, entered at a moment, at the beginning of a test.
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

  /// Moves by a stimulus, up to whose time it was let pass; whether some possible node allows it.
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

  /// Keeps what shows a symbol, and moves on with it; whether any is left.
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

  /// Takes in an event that the tester's own end saw happen: every possible node in which it can has gone on with it.
  ///
  /// - Returns: whether any is left, and whether the device took a way that it need not take.
  mutating func happen(_ event: Int, at now: Instant) -> (isPossible: Bool, isLiberty: Bool) {
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
    environment.doubtSettings(at: now)
    check(at: now)
    return (!possible.isEmpty, !isOwn && !possible.isEmpty)
  }

  /// Keeps what refuses the last stimulus.
  mutating func refuse() -> Bool {
    begin()
    for member in before.members where refusing.contains(member.node) { next.insert(member) }
    swap(&possible, &next)
    return !possible.isEmpty
  }

  /// Keeps nothing.
  mutating func removeAll() {
    begin()
    swap(&possible, &next)
    refusing.removeAll()
  }

  /// Keeps what may stay silent up to a moment; whether any is left.
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

  /// By when something must be observed, or never.
  var deadline: Instant {
    if isPlain { return .never }
    if hasChoices, possible.single < 0 { return firstDeadline }
    var deadline = Instant.zero
    for member in possible.members where specification.isResting[member.node] {
      deadline = max(deadline, end(of: member))
    }
    return deadline
  }

  /// By when something must be observed of a device with one of the options, whichever that is: silence then tells that it has
  /// another one.
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

  /// The device has left a node by itself.
  private mutating func noteDeparture(from member: Member, at now: Instant) {
    if before.single >= 0, specification.isResting[member.node] {
      departures[member.node] = now - member.latest
    }
  }

  /// The bounds of what the device does by itself next, of the first timer that ends where several run.
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
        // What was seen under other settings says nothing.
        let isSeen = departures[member.node] >= .zero && seen >= opening - slack && seen <= end
        bounds = TimerBounds(
          entry: member.latest, opening: opening, expected: isSeen ? seen : middle, closing: deadline)
      }
    }
    return bounds
  }

  /// Whether an event that the tester does not cause is due.
  var isAwaiting: Bool {
    for member in possible.members {
      for index in specification.urgentSteps(of: member.node) {
        let step = specification.urgent[index]
        if step.isAnswer, environment.mustHold(step.guard, in: member) { return true }
      }
    }
    return false
  }

  /// Whether a node allows a stimulus, whether or not what has changed is felt.
  func allows(_ event: Int, in node: Int) -> Bool {
    for index in specification.causedSteps(of: node, on: event)
    where environment.mayHold(specification.caused[index].guard) {
      return true
    }
    return false
  }
}

extension TimedTracker {
  /// What is possible becomes what was, and what comes next is empty.
  @inline(__always)
  private mutating func begin() {
    swap(&before, &possible)
    next.removeAll()
  }

  /// Removes what another node says already, of devices with more options.
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

  /// Adds what a stimulus leads to from one node; false when it is not allowed there.
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
    // A status that is shown again says nothing new.
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
        // What is pending was entered, or not, when its transition began.
        let isEntry = step.enters && step.transition >= 0
        next.insert(target(of: step, from: member, isEntry: isEntry, at: now, slack: slack))
      }
    }
  }

  /// What a step leads to just now.
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

  /// Lets time pass in which nothing was seen: states that must have been left meanwhile were left.
  private mutating func pass(until now: Instant) {
    close(at: now)
    guard possible.single < 0 else { return }
    begin()
    for index in before.members.indices {
      let member = before.members[index]
      if !specification.isResting[member.node] || end(of: member) >= now { next.insert(member) }
    }
    // That all of them were to be left is found out at their deadline.
    if next.isEmpty { swap(&possible, &before) } else { swap(&possible, &next) }
    keepRefusingPossible()
  }

  /// Follows what can have happened without being seen, until nothing new is possible.
  private mutating func close(at now: Instant) {
    assert(now >= moment, "time that goes back")
    moment = now
    guard !specification.silent.isEmpty else { return }
    var changed = true
    while changed {
      changed = false
      // What is found is gone on from in the next round, so that one round looks at each once.
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

  /// What a silent step can have led to; `nil` when it cannot have been taken.
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

  /// Ends conditions with a status. What shows it was entered after that, or goes on; which it is, is open.
  private mutating func end(_ conditions: UInt64, at now: Instant) {
    if conditions & environment.entries.numbers != 0 { possible.forgetOrder() }
    let entry = possible.members.reduce(now - slack) { min($0, $1.earliest) }
    environment.end(conditions, since: entry, at: now)
  }

  /// What cannot be any more cannot refuse either.
  private mutating func keepRefusingPossible() {
    guard !refusing.isEmpty else { return }
    next.removeAll()
    for member in refusing.members where possible.contains(member.node) { next.insert(member) }
    swap(&refusing, &next)
  }

  /// The conditions that every possible node has ended by what it shows.
  private var over: UInt64 {
    possible.members.reduce(.max) { $0 & specification.ended[specification.nodes[$1.node].shown] }
  }

  /// Whether a step that can be taken could not be taken without the condition `loss`.
  private func takesLoss(_ step: Specification.Step, from member: Member) -> Bool {
    step.isByLoss && step.guard.given & environment.conditions(in: member) & ~specification.loss == 0
  }

  /// Whether a stimulus that may be allowed may be refused as well, since it is open which conditions hold.
  private func mayRefuse(_ event: Int, in node: Int, at now: Instant) -> Bool {
    let open = environment.open(at: now)
    guard open != 0 else { return false }
    return Guard.mayAllFail(
      specification.caused[specification.causedSteps(of: node, on: event)].map(\.guard),
      under: environment.conditions, open: open)
  }

  /// Whether a step can have been taken just now, given when its node was entered.
  private func isPossible(_ step: Specification.Step, from member: Member, at now: Instant) -> Bool {
    let enabled = environment.mayHold(step.guard, in: member, at: now)
    // What is pending is shown at once, whenever its state was entered; and a machine without timers asks not when.
    guard enabled, !isPlain, specification.isResting[member.node] else { return enabled }
    return member.earliest + beginning(of: step, from: member, at: now) - slack <= now
      && (step.latest == .forever || now <= end(of: step, from: member))
  }

  /// How long a step takes at the least for the device just now, for which what was set may not count yet, where it has
  /// entered a node.
  func beginning(of step: Specification.Step, from member: Member, at now: Instant) -> Interval {
    guard step.plus >= 0 else { return step.earliest }
    // A row that asks for the condition alone is not taken where that is set to nothing.
    let isGuarded = step.guard.given == 1 << UInt64(step.plus)
    let least = environment.least(of: Int(step.plus), orNothing: !isGuarded, in: member, at: now)
    return least.map { max(.zero, step.earliest + $0) } ?? .zero
  }

  /// How long a step may take at the most, counted from the entry of its node, where that is known.
  func limit(of step: Specification.Step, from member: Member) -> Interval {
    if step.latest == .forever { return .forever }
    let end = beginning(of: step, since: member) + length(of: step, from: member)
    return end == .never ? .forever : end - member.latest
  }

  /// Whether the time is over by which a step had to be taken.
  func isOver(_ step: Specification.Step, from member: Member) -> Bool {
    step.latest != .forever && environment.mustHold(step.guard, in: member)
      && end(of: step, from: member) <= moment
  }

  /// How long a step may take at the most once its time counts.
  private func length(of step: Specification.Step, from member: Member) -> Interval {
    step.plus < 0 ? step.latest : step.latest + environment.most(of: Int(step.plus), in: member)
  }

  /// From when on the time of a step counts at the latest.
  private func beginning(of step: Specification.Step, since member: Member) -> Instant {
    let since = environment.beginning(of: step.guard, since: member.latest)
    return step.plus < 0 ? since : environment.beginning(of: Int(step.plus), since: since)
  }

  /// By when a step is taken at the latest.
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

  /// What must hold of the tracker itself, whatever a device does.
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
  /// What is possible and what is remembered, with times counted back from a moment.
  ///
  /// - Parameter isTimed: the nodes in which it matters when they were entered.
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

  /// Goes back to what a snapshot remembers, as of a moment.
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

  /// When what the device may do changes next by time alone: at an end of a window, or, where there is none ahead, once a
  /// condition that changed is felt.
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
