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

  /// The valuations of a machine with data.
  private(set) var data: DataState?
  /// Whether more nodes are possible than are tracked, so that there is no verdict.
  private(set) var isUndecided = false

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
    data = specification.data.map { DataState($0, slack: slack) }
    hasChoices = specification.hasChoices
    isTimed = hasChoices ? specification.timedNodes() : []
    departures = [Interval](repeating: Self.unseen, count: specification.nodes.count)
    environment = EffectiveEnvironment(specification, slack: slack)
  }

  /// Starts a test in some nodes, entered at a moment.
  ///
  /// - Parameter starts: The nodes of each start, and the number of the start in the definition.
  mutating func start(in starts: [(number: Int, nodes: [Int])], at now: Instant = .zero) {
    possible.removeAll()
    isUndecided = false
    data?.removeAll()
    for start in starts {
      let valuation = data?.start(in: start.number, at: now) ?? 0
      for node in start.nodes {
        possible.insert(
          Member(
            node: node, valuation: valuation, earliest: now, latest: now, order: environment.entries.order))
      }
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
    data?.write(stimulus)
    var allowed = false
    for index in before.members.indices {
      var member = before.members[index]
      var isSure = true
      let isAllowed =
        data == nil
        ? move(member, on: stimulus.number, at: now)
        : move(&member, on: stimulus.number, at: now, isSure: &isSure)
      if isAllowed { allowed = true }
      if !isAllowed || !isSure || mayRefuse(stimulus.number, in: member.node, at: now) {
        refusing.insert(member)
        next.insert(member)
      }
    }
    swap(&possible, &next)
    limit()
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
    limit()
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
        guard isPossible(step, from: member, at: now), let valuation = take(step, from: member, at: now)
        else { continue }
        if !takesLoss(step, from: member) { isExplained = true }
        let given = step.guard.given
        if given == 0 || given & environment.mayHold(in: member, at: now) & ~momentary != 0 { isOwn = true }
        var target = target(of: step, from: member, isEntry: step.enters, at: now, slack: slack)
        target.valuation = valuation
        next.insert(target)
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
    for member in before.members where refusing.contains(member) { next.insert(member) }
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
        guard mustHold(step, in: member) else { continue }
        let end = end(of: step, from: member)
        guard end < first else { continue }
        first = end
        let since = origin(of: step, from: member)?.latest ?? member.latest
        let opening = min(since + beginning(of: step, from: member, at: now), end - slack)
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
        if step.isAnswer, mustHold(step, in: member) { return true }
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
    if let count = data?.count, count > Self.maximumValuations { compact() }
  }

  /// Gives up if too many nodes are possible.
  @inline(__always)
  private mutating func limit() {
    if possible.members.count > Self.maximumMembers { isUndecided = true }
  }

  /// The number of valuations above which those that are no longer possible are removed.
  private static var maximumValuations: Int { 4096 }
  /// The number of possible nodes above which there is no verdict.
  private static var maximumMembers: Int { 4096 }

  /// Removes the valuations of nodes that are no longer possible.
  @inline(never)
  private mutating func compact() {
    guard var data else { return }
    self.data = nil
    var contents: [Int32: (words: [Int64], states: [UInt8])] = [:]
    for member in before.members + refusing.members + possible.members where contents[member.valuation] == nil
    {
      contents[member.valuation] = data.content(of: member.valuation)
    }
    data.removeAll()
    var numbers: [Int32: Int32] = [:]
    for (old, content) in contents.sorted(by: { $0.key < $1.key }) { numbers[old] = data.number(of: content) }
    for index in 0..<3 {
      func renumber(_ nodes: inout PossibleNodes) { nodes.renumber { numbers[$0] ?? 0 } }
      switch index {
      case 0: renumber(&before)
      case 1: renumber(&refusing)
      default: renumber(&possible)
      }
    }
    self.data = data
  }

  /// Removes nodes that an equivalent node of devices with more options covers.
  @inline(never)
  private mutating func removeNarrower() {
    guard possible.single < 0 else { return }
    next.removeAll()
    for member in possible.members where refusing.contains(member) || !isNarrower(member) {
      next.insert(member)
    }
    swap(&possible, &next)
  }

  private func isNarrower(_ member: Member) -> Bool {
    specification.wider[member.node].contains { node in
      guard let wider = possible.member(node, member.valuation) else { return false }
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

  /// Adds the results of a stimulus in one node of a machine with data; false if the node does not allow it.
  ///
  /// - Parameters:
  ///   - member: The node; if it may also refuse the stimulus, it then has what is known in that case.
  ///   - isSure: Set to false if the node may also refuse it, because of what is unknown.
  @inline(never)
  private mutating func move(
    _ member: inout Member, on event: Int, at now: Instant, isSure: inout Bool
  ) -> Bool {
    isSure = false
    var allowed = false
    var group: Int32 = -1
    var row: Int32 = -1
    // Whether the rows of the group before this one leave it to be taken, and whether this row is taken.
    var open = DataState.Outcome.yes
    var outcome = DataState.Outcome.no
    var valuation = member.valuation
    data?.set(now: now, since: member)
    for index in specification.causedSteps(of: member.node, on: event) {
      let step = specification.caused[index]
      if step.group != group { (group, row, open) = (step.group, -1, .yes) }
      if step.transition != row {
        row = step.transition
        outcome = .no
        guard open != .no, environment.mayHold(step.guard, at: now) else { continue }
        let rule = specification.data?.rules[Int(row)]
        data?.load(member.valuation)
        let own = data?.outcome(of: rule?.when) ?? .yes
        outcome = own == .yes ? open : own
        switch own {
        case .yes:
          // Either this row is taken, or one before it.
          isSure = true
          open = .no
        case .maybe: open = .maybe
        case .no: continue
        }
        valuation = member.valuation
        // Where the row is not taken, the rows after it and a refusal have this valuation.
        if own == .maybe, let rule { member.valuation = data?.leave(rule) ?? member.valuation }
        data?.load(valuation)
        if let rule {
          valuation =
            data?.take(rule, row: Int(row), isMaybe: own == .maybe, start: (now, now)) ?? valuation
        }
      }
      guard outcome != .no else { continue }
      allowed = true
      var target = target(of: step, from: member, isEntry: step.enters, at: now)
      target.valuation = valuation
      next.insert(target)
    }
    return allowed
  }

  /// Returns the valuation with which a spontaneous step is taken, or `nil` if its data do not allow it.
  private mutating func take(
    _ step: Specification.Step, from member: Member, at now: Instant
  ) -> Int32? {
    guard data != nil, step.transition >= 0 else { return member.valuation }
    // An observation may be later than what it shows, by up to the slack: that is small.
    return take(step, from: member, at: now, start: (now - slack, now))
  }

  @inline(never)
  private mutating func take(
    _ step: Specification.Step, from member: Member, at now: Instant?,
    start: (earliest: Instant, latest: Instant)
  ) -> Int32? {
    guard let rules = specification.data?.rules, var data else { return member.valuation }
    self.data = nil
    defer { self.data = data }
    data.load(member.valuation)
    data.set(now: now, since: member)
    let row = Int(step.transition)
    var outcome = data.outcome(of: rules[row]?.when)
    if outcome != .no {
      for index in step.earlier {
        switch data.outcome(of: rules[Int(specification.earlierRows[index])]?.when) {
        case .yes: return nil
        case .maybe: outcome = .maybe
        case .no: break
        }
      }
    }
    guard outcome != .no else { return nil }
    guard let rule = rules[row] else { return member.valuation }
    return data.take(rule, row: row, isMaybe: outcome == .maybe, start: start)
  }

  /// Keeps the nodes that show a reading, and returns whether any is left.
  mutating func reveal(_ reading: Int, value: Value, at now: Instant) -> Bool {
    environment.expire(at: now)
    pass(until: now)
    guard data?.write(observed: value, of: reading) == true else {
      begin()
      swap(&possible, &next)
      return false
    }
    begin()
    for index in before.members.indices { show(reading, from: before.members[index], at: now) }
    swap(&possible, &next)
    next.removeAll()
    for index in refusing.members.indices { show(reading, from: refusing.members[index], at: now) }
    swap(&refusing, &next)
    keepRefusingPossible()
    check(at: now)
    return !possible.isEmpty
  }

  private mutating func show(_ reading: Int, from member: Member, at now: Instant) {
    for index in specification.visibleSteps(of: member.node) {
      let step = specification.visible[index]
      let symbol = Int(step.symbol) - specification.firstDueSymbol
      guard symbol >= 0, specification.dueSymbols[symbol].reading == reading,
        isPossible(step, from: member, at: now), let taken = take(step, from: member, at: now)
      else { continue }
      data?.load(taken)
      guard let valuation = data?.meet(specification.dueSymbols[symbol]) else { continue }
      if step.hasDeadline { noteDeparture(from: member, at: now) }
      let isEntry = step.enters && step.transition >= 0
      var target = target(of: step, from: member, isEntry: isEntry, at: now, slack: slack)
      target.valuation = valuation
      next.insert(target)
    }
  }

  /// Returns a drawn stimulus with the values of the first possible node.
  func stimulus(_ drawn: DrawnStimulus) -> Stimulus {
    guard var data, let member = possible.members.first ?? before.members.first else {
      return Stimulus(drawn.number)
    }
    guard let aim = drawn.aim else { return data.stimulus(drawn, in: member.valuation) }
    for index in aim.candidates.indices {
      data.load(member.valuation)
      let arguments = aim.candidates[(aim.first + index) % aim.candidates.count]
      let stimulus = data.stimulus(drawn.number, arguments)
      if row(of: stimulus, from: member, with: &data) == aim.row { return stimulus }
    }
    return data.stimulus(drawn, in: member.valuation)
  }

  /// Returns the row that a stimulus takes in a node, if it is certain.
  private func row(of stimulus: Stimulus, from member: Member, with data: inout DataState) -> Int? {
    data.write(stimulus)
    data.set(now: moment, since: member)
    for index in specification.causedSteps(of: member.node, on: stimulus.number) {
      let step = specification.caused[index]
      guard environment.mayHold(step.guard, at: moment) else { continue }
      switch data.outcome(of: specification.data?.rules[Int(step.transition)]?.when) {
      case .yes: return Int(step.transition)
      case .maybe: return nil
      case .no: continue
      }
    }
    return nil
  }

  /// Mixes what matters of the data of the first possible node.
  func mixData(into position: inout Fingerprint) {
    guard let data, let member = possible.members.first else { return }
    data.mix(member.valuation, into: &position)
  }

  /// The value of a reading that is due with a valuation.
  func dueValue(of reading: Int, in valuation: Int32) -> Value {
    guard var data else { return .unknown }
    data.load(valuation)
    return data.dueValue(of: reading)
  }

  /// Returns in what a reading differs from the one that was due in the first node that shows it.
  func wrong(_ reading: Reading, number: Int) -> WrongReading? {
    var copy = self
    for member in before.members {
      for index in specification.visibleSteps(of: member.node) {
        let symbol = Int(specification.visible[index].symbol) - specification.firstDueSymbol
        guard symbol >= 0, specification.dueSymbols[symbol].reading == number,
          let taken = copy.take(specification.visible[index], from: member, at: moment),
          let found = copy.data?.difference(of: reading, number: number, in: taken)
        else { continue }
        var wrong = WrongReading(
          reading: reading.name, part: found.part, due: found.due, shown: found.shown, origin: nil)
        if let due = specification.dueSymbols[symbol].text, let data {
          wrong.origin = data.origin(ofNamesIn: due).flatMap(words(for:))
        }
        return wrong
      }
    }
    return nil
  }

  /// The values of the last arguments and of the variables that expressions name, in the first possible node, with
  /// what gave each variable its value.
  func values(
    ofNamesIn expressions: [String], onEvent event: Int
  ) -> [(name: String, value: Value, origin: String?)] {
    guard var data, let member = possible.members.first else { return [] }
    return data.values(ofNamesIn: expressions, onEvent: event, in: member.valuation).map { value in
      (value.name, value.value, value.origin.flatMap(words(for:)))
    }
  }

  /// What gave a variable its value, as words; `nil` if it has its first value.
  private func words(for origin: DataState.Origin) -> String? {
    origin.row < 0 ? nil : "as \(trigger(ofRow: origin.row)) at \(origin.time) left it"
  }

  private func trigger(ofRow row: Int) -> String {
    let transition = specification.machine.definition.transitions[row]
    return switch transition.trigger {
    case .event(let name): name
    case .timer: "a timer"
    }
  }

  /// Whether a step must be taken by some time: its conditions hold, and so does its `when`.
  private func mustHold(_ step: Specification.Step, in member: Member) -> Bool {
    guard environment.mustHold(step.guard, in: member) else { return false }
    guard let rule = rule(of: step), let data else { return true }
    return data.must(rule, in: member)
      && step.earlier.allSatisfy { index in
        let earlier = specification.data?.rules[Int(specification.earlierRows[index])]
        return earlier.map { data.mustNot($0, in: member) } ?? false
      }
  }

  @inline(__always)
  private func rule(of step: Specification.Step) -> MachineData.Rule? {
    guard let rules = specification.data?.rules, step.transition >= 0 else { return nil }
    return rules[Int(step.transition)]
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
      } else if isPossible(step, from: member, at: now), let valuation = take(step, from: member, at: now) {
        if !takesLoss(step, from: member) { isExplained = true }
        if step.hasDeadline { noteDeparture(from: member, at: now) }
        // A pending state counts as entered when its transition began.
        let isEntry = step.enters && step.transition >= 0
        var target = target(of: step, from: member, isEntry: isEntry, at: now, slack: slack)
        target.valuation = valuation
        next.insert(target)
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
        node: Int(step.node), valuation: member.valuation, earliest: member.earliest, latest: member.latest,
        order: member.order)
    }
    let order = self.slack == .zero ? environment.entries.order : -1
    return Member(
      node: Int(step.node), valuation: member.valuation, earliest: now - slack, latest: now, order: order)
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
        let (node, valuation) = (next.members[index].node, next.members[index].valuation)
        for index in specification.silentSteps(of: node) {
          let step = specification.silent[index]
          guard let from = possible.member(node, valuation), let found = silent(step, from: from, at: now)
          else {
            continue
          }
          if possible.insert(found) { changed = true }
        }
      }
    }
  }

  /// The result of a silent step; `nil` if it cannot have been taken.
  private mutating func silent(_ step: Specification.Step, from: Member, at now: Instant) -> Member? {
    guard environment.mayHold(step.guard, in: from, at: now), let since = origin(of: step, from: from) else {
      return nil
    }
    let earliest = since.earliest + beginning(of: step, from: from, at: now) - slack
    guard earliest <= now else { return nil }
    let latest = step.enters ? min(end(of: step, from: from), now) : from.latest
    let entry = step.enters ? earliest : from.earliest
    var valuation = from.valuation
    if data != nil {
      let last = max(earliest, min(end(of: step, from: from), now))
      guard let taken = take(step, from: from, at: earliest == last ? last : nil, start: (earliest, last))
      else {
        return nil
      }
      valuation = taken
    }
    return Member(
      node: Int(step.node), valuation: valuation, earliest: entry, latest: max(earliest, latest),
      order: step.enters ? -1 : from.order)
  }

  /// The moments from which the time of a step counts: the entry of the node, or the start of a timer; `nil` if the
  /// timer does not run.
  @inline(__always)
  private func origin(
    of step: Specification.Step, from member: Member
  ) -> (earliest: Instant, latest: Instant)? {
    guard let rule = rule(of: step), rule.timer >= 0 else { return (member.earliest, member.latest) }
    return data?.start(ofTimer: rule.timer, in: member.valuation)
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
    for member in refusing.members where possible.contains(member) { next.insert(member) }
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
    guard let since = origin(of: step, from: member) else { return false }
    return since.earliest + beginning(of: step, from: member, at: now) - slack <= now
      && (!step.hasDeadline || now <= end(of: step, from: member))
  }

  /// The minimum duration of a step at this moment, if the latest setting may not count yet; measured from the entry
  /// of its node.
  func beginning(of step: Specification.Step, from member: Member, at now: Instant) -> Interval {
    guard step.plus >= 0 else {
      guard let program = rule(of: step)?.earliest, let data else { return step.earliest }
      return data.interval(program, in: member) ?? .zero
    }
    // A row that requires the condition alone is not taken if that is set to nothing.
    let isGuarded = step.guard.given == 1 << UInt64(step.plus)
    let least = environment.least(of: Int(step.plus), orNothing: !isGuarded, in: member, at: now)
    return least.map { max(.zero, step.earliest + $0) } ?? .zero
  }

  /// The maximum duration of a step, measured from the entry of its node, if known.
  func limit(of step: Specification.Step, from member: Member) -> Interval {
    if !step.hasDeadline { return .forever }
    let end = beginning(of: step, since: member) + length(of: step, from: member)
    let since = origin(of: step, from: member)?.latest ?? member.latest
    return end == .never ? .forever : end - since
  }

  /// Whether the deadline of a step has passed.
  func isOver(_ step: Specification.Step, from member: Member) -> Bool {
    step.hasDeadline && mustHold(step, in: member) && end(of: step, from: member) <= moment
  }

  /// The maximum duration of a step once its time counts.
  private func length(of step: Specification.Step, from member: Member) -> Interval {
    if let program = rule(of: step)?.latest, let data {
      return data.interval(program, in: member) ?? .forever
    }
    return step.plus < 0 ? step.latest : step.latest + environment.most(of: Int(step.plus), in: member)
  }

  /// The latest moment from which the time of a step counts.
  private func beginning(of step: Specification.Step, since member: Member) -> Instant {
    guard let origin = origin(of: step, from: member) else { return .never }
    let since = environment.beginning(of: step.guard, since: origin.latest)
    return step.plus < 0 ? since : environment.beginning(of: Int(step.plus), since: since)
  }

  /// The latest moment at which a step is taken.
  private func end(of step: Specification.Step, from member: Member) -> Instant {
    let end = beginning(of: step, since: member) + length(of: step, from: member) + slack
    guard let rule = rule(of: step), end != .never, let data else { return end }
    // A time may be over before the state was entered, before the row could be taken, or before the time was changed: then the
    // row is taken at once.
    return max(
      end, member.latest + slack,
      rule.when == nil && rule.latest == nil && step.earlier.isEmpty
        ? .zero : data.change(in: member.valuation) + slack)
  }

  /// The moment by which a state must have been left, or never.
  private func end(of member: Member) -> Instant {
    var end = Instant.never
    for index in specification.urgentSteps(of: member.node) {
      let step = specification.urgent[index]
      if mustHold(step, in: member) {
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
      refusing.members.allSatisfy { possible.contains($0) }, "a refusal by what is not possible")
    assert(
      zip(possible.members, possible.members.dropFirst()).allSatisfy { $0.key < $1.key },
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
        return Tracker.Snapshot.Node(
          number: member.node, longest: .zero, shortest: .zero,
          data: data?.relative(member.valuation, to: now) ?? [])
      }
      return Tracker.Snapshot.Node(
        number: member.node, longest: now - member.earliest, shortest: now - member.latest,
        order: pasts.isEmpty ? -1 : order(member.order), data: data?.relative(member.valuation, to: now) ?? []
      )
    }
    return Tracker.Snapshot(
      nodes: nodes, environment: environment.snapshot(at: now, members: members, pasts: pasts))
  }

  /// Restores a snapshot as of a moment.
  mutating func restore(_ snapshot: Tracker.Snapshot, at now: Instant) {
    possible.removeAll()
    data?.removeAll()
    for node in snapshot.nodes {
      possible.insert(
        Member(
          node: node.number, valuation: data?.number(ofRelative: node.data, to: now) ?? 0,
          earliest: now - node.longest, latest: now - node.shortest, order: node.order))
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
        if earliest > .zero, let since = origin(of: step, from: member) {
          times.append(since.earliest + earliest)
        }
        if step.hasDeadline { times.append(end(of: step, from: member)) }
      }
    }
    return times.reduce(.never) { $1 > now ? min($0, $1) : $0 }
  }
}
