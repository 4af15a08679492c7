import Automata
import Basics

/// What holds around a device as its tester knows it: an ``Environment``, with when each condition changed, since what
/// changed may not be felt yet, and with what ends by itself.
struct FeltEnvironment: Sendable {
  typealias Member = PossibleNodes.Member

  /// What is remembered of changes, with times counted back from the present: two moments with equal ones have equal
  /// futures.
  struct Snapshot: Hashable, Sendable {
    /// A condition, how long ago something happened to it, and what it was set to before.
    struct Event: Hashable, Sendable {
      var number: Int
      var age: Interval
      var former = Span()
    }

    /// A fault that ends by itself.
    struct End: Hashable, Sendable {
      var fault: String
      var rest: Interval
    }

    var environment: Environment
    var unfelt: UInt64
    var changes: [Event]
    var settings: [Event]
    /// Those that were set to more, or to less, and how long ago.
    var resettings: [Event]
    var ends: [End]
    /// What was set at earlier moments that still count.
    var pasts: [EntryConditions.Past]
  }

  /// What a condition may be set to.
  struct Span: Hashable, Sendable {
    var least = Interval.zero
    var most = Interval.zero

    /// Allows what another one does, too.
    mutating func widen(to other: Span) {
      (least, most) = (min(least, other.least), max(most, other.most))
    }
  }

  private(set) var environment: Environment
  /// When the next fault that lasts for a given time is over, or never.
  private(set) var nextExpiry = Instant.never
  /// Up to when each fault lasts that ends by itself.
  private var expiries: [(time: Instant, fault: String)] = []
  /// The conditions that have changed in this test, as bits, and when they did the last time.
  private var changing: UInt64 = 0
  private var changed: [Instant]
  /// The conditions whose change was not felt yet when something came, or was there, that hides it: until that is over
  /// what is shown may be from before.
  private var unfelt: UInt64 = 0
  /// Until when some change may not have had its effect yet.
  private var unsettled = Instant.zero
  /// What they were before they were set the last time.
  private var former: [Span]
  /// Those that a stimulus has set on the present link, and when one was set last in this test.
  private var sent: UInt64 = 0
  private var sentAt: [Instant?]
  /// When what they are set to was last changed.
  private var resetAt: [Instant?]
  /// What counts from the entry of a state was like at earlier moments.
  private(set) var entries: EntryConditions

  /// Those of which it is sure what they are set to, as bits: a reading that tells otherwise is wrong.
  private var sure: UInt64 = 0

  private let specification: Specification
  private let slack: Interval
  private let table: ConditionTable
  private let delays: [Interval]
  /// Those that count from the entry of a state, without those of ``entries``.
  private let fromEntry: UInt64

  init(_ specification: Specification, slack: Interval) {
    self.specification = specification
    self.slack = slack
    table = specification.machine.environment
    delays = table.delays
    entries = EntryConditions(specification, slack: slack)
    fromEntry = table.fromEntry & ~entries.numbers
    environment = Environment(table, holding: specification.held)
    changed = delays.map { _ in .zero }
    former = delays.map { _ in Span() }
    sentAt = delays.map { _ in nil }
    resetAt = sentAt
    beginEntries()
  }

  /// The conditions that hold, as bits, and those that may hold or not.
  @inline(__always) var conditions: UInt64 { environment.conditions }
  @inline(__always) private var open: UInt64 { environment.open }

  /// Goes back to the beginning of a test.
  mutating func start() {
    environment.reset()
    entries.restart()
    settle()
    sent = 0
    sure = 0
    nextExpiry = .never
    expiries.removeAll(keepingCapacity: true)
    for index in former.indices {
      sentAt[index] = nil
      resetAt[index] = nil
      former[index] = Span()
    }
  }

  /// Lets everything be as it is from the very start, with nothing under way from before.
  mutating func settle() {
    changing = 0
    unfelt = 0
    unsettled = .zero
    beginEntries()
  }

  /// Lets everything that counts from the entry of a state always have been as it is.
  private mutating func beginEntries() {
    forEachBit(of: entries.numbers) { entries.begin($0, as: setting(of: $0)) }
  }

  private func setting(of number: Int) -> EntryConditions.Setting {
    let bit: UInt64 = 1 << UInt64(number)
    return EntryConditions.Setting(
      holds: conditions & bit != 0, isOpen: open & bit != 0, isHeld: environment.isHeld(number),
      span: Span(least: environment.least[number], most: environment.values[number]))
  }

  /// Lets it be open whether a condition holds.
  mutating func doubt(_ number: Int) {
    environment.doubt(number)
    entries.begin(number, as: setting(of: number))
    sure &= ~(1 << UInt64(number))
  }

  /// Lets it be sure that a condition is as it is at the beginning of a test.
  mutating func assure(_ number: Int) { sure |= 1 << UInt64(number) }
}

extension FeltEnvironment {
  /// Lets a fault or a start setting bring about, or take away, the conditions that depend on it.
  mutating func apply(_ fault: Fault, at now: Instant) {
    let isOn = !fault.value.isNothing
    let table = table
    for effect in table.effects(of: fault.name) where isOn || !effect.isMoment || effect.isNamed {
      let number = effect.condition
      if isOn, effect.isMoment { lastForAMoment(number, at: now) }
      // Where the device reports what really happened, a fault alone is only what the tester wanted.
      guard effect.isOwn || specification.isReported >> UInt64(number) & 1 == 0 else { continue }
      if !effect.isOwn, table.lasting >> UInt64(number) & 1 == 0 { keepTime(of: fault, at: now) }
      // Of what was open it may be that it changes only now.
      if open >> UInt64(number) & 1 == 1 { note(number, besides: recent(at: now), at: now) }
      change(number, at: now) { $0.apply(effect, isOn: isOn, in: table) }
      if environment.isHeld(number) { doubtSettings(since: number, at: now) }
    }
  }

  /// Notes when a fault is over by itself: one given a duration lasts so long, unless it is given again.
  private mutating func keepTime(of fault: Fault, at now: Instant) {
    expiries.removeAll { $0.fault == fault.name }
    if case .duration(let interval) = fault.value, !fault.value.isNothing {
      expiries.append((now + interval, fault.name))
    }
    findNextExpiry()
  }

  /// Ends a condition once what was over at once is not felt any more.
  private mutating func lastForAMoment(_ number: Int, at now: Instant) {
    let name = specification.machine.definition.conditions[number].name
    expiries.removeAll { $0.fault == name }
    expiries.append((now + delays[number], name))
    findNextExpiry()
  }

  private mutating func findNextExpiry() { nextExpiry = expiries.reduce(.never) { min($0, $1.time) } }

  /// Ends the faults whose time is over.
  @inline(__always)
  mutating func expire(at now: Instant) {
    if nextExpiry <= now { endFaults(at: now) }
  }

  @inline(never)
  private mutating func endFaults(at now: Instant) {
    while let index = expiries.firstIndex(where: { $0.time <= now }) {
      let (time, fault) = expiries.remove(at: index)
      findNextExpiry()
      apply(Fault(fault, .flag(false)), at: time)
    }
  }

  /// Lets conditions begin that an event which was reported brings about.
  ///
  /// - Parameter over: those that what is possible has ended: the event came late, and what it was about is over.
  mutating func begin(_ conditions: UInt64, over: UInt64, at now: Instant) {
    forEachBit(of: conditions) { number in
      if over >> UInt64(number) & 1 == 0 { change(number, at: now, since: now - slack) { $0.begin(number) } }
      if table.momentary >> UInt64(number) & 1 == 1 { lastForAMoment(number, at: now) }
      doubtSettings(since: number, at: now)
    }
  }

  /// Ends the conditions that a status ends: what they were about, and what was under way, is over.
  ///
  /// - Parameter entry: when what shows the status may have been entered at the earliest: it was entered after that.
  mutating func end(_ conditions: UInt64, since entry: Instant, at now: Instant) {
    // What may end a link for a moment may have ended it before what was set arrived.
    if table.momentary & mayHold(at: now) != 0 { doubtSettings(at: now) }
    sent = 0
    forEachBit(of: conditions & ~environment.held) { number in
      change(number, at: now, since: entry) { $0.end(number) }
    }
  }

  /// What was set so lately that it may still be on its way may be lost under a condition that begins now.
  private mutating func doubtSettings(since number: Int, at now: Instant) {
    doubtSettings(unsureUnder: 1 << UInt64(number), at: now)
  }

  /// What was set so lately that it may still be on its way may be lost with the way.
  mutating func doubtSettings(at now: Instant) {
    doubtSettings(unsureUnder: .max, at: now)
  }

  private mutating func doubtSettings(unsureUnder conditions: UInt64, at now: Instant) {
    let unsure = specification.unsure
    for other in unsure.indices where unsure[other] & conditions != 0 && isFresh(other, at: now) {
      let former = former[other]
      sure &= ~(1 << UInt64(other))
      change(other, at: now) { $0.doubt(other, orStill: former.most, orLess: former.least) }
    }
  }

  /// Whether the stimulus that set a condition last may not have had its effect yet on this link.
  private func mayBeUnderWay(_ number: Int, at now: Instant) -> Bool {
    sent >> UInt64(number) & 1 == 1 && isFresh(number, at: now)
  }

  /// Whether a condition was set so lately that it may not have had its effect yet.
  private func isFresh(_ number: Int, at now: Instant) -> Bool {
    sentAt[number].map { now <= $0 + delays[number] + slack } ?? false
  }

  /// Takes a reading at its word that tells what a condition is set to, unless a setting may have crossed it, or been
  /// lost just now: a client may tell what it knows from before.
  ///
  /// - Returns: what the condition is sure to be set to, where the reading tells otherwise.
  mutating func learn(from reading: Reading, at now: Instant) -> Interval? {
    for (name, number) in specification.told
    where name == reading.name && mayHold(at: now) & specification.unsure[number] == 0 {
      let value: Interval
      switch reading.value {
      case .integer(let seconds): value = .seconds(Int64(clamping: seconds))
      case .duration(let interval): value = interval
      case .flag, .number, .text: continue
      }
      guard !mayBeUnderWay(number, at: now) else { continue }
      let wasOpen = open >> UInt64(number) & 1 == 1
      if !wasOpen, sure >> UInt64(number) & 1 == 1 {
        // A device tells whole seconds.
        let known = environment.values[number]
        if value - known >= .seconds(1) || known - value >= .seconds(1) { return known }
      }
      guard wasOpen || changing >> UInt64(number) & 1 == 0 else { continue }
      sure |= 1 << UInt64(number)
      former[number] = Span(least: value, most: value)
      change(number, at: now, isLearned: true) { $0.set(number, to: value) }
      entries.learn(number, is: setting(of: number), wasOpen: wasOpen, at: now)
      if wasOpen { note(number, besides: recent(at: now), at: now) }
    }
    return nil
  }

  /// Lets a stimulus set conditions.
  ///
  /// - Parameter isObeyed: whether no possible state refuses it.
  mutating func set(by stimulus: Stimulus, isObeyed: Bool, at now: Instant) {
    forEachBit(of: table.setBy[stimulus.number]) { number in
      let value = stimulus.setting
      let bit: UInt64 = 1 << UInt64(number)
      sent |= bit
      var before = Span(least: environment.least[number], most: environment.values[number])
      if isFresh(number, at: now) { before.widen(to: former[number]) }
      sentAt[number] = now
      former[number] = before
      if isObeyed, mayHold(at: now) & specification.unsure[number] == 0 {
        if open & bit != 0 { note(number, besides: recent(at: now), at: now) }
        sure |= bit
        change(number, at: now, isBegun: true) { $0.set(number, to: value) }
      } else {
        // It arrived, or it did not: what was set before may hold as well.
        sure &= ~bit
        change(number, at: now, isBegun: true) { $0.set(number, perhapsTo: value) }
      }
    }
  }

  /// Lets a change begin that a stimulus makes, and which nodes have been entered after that it leads to.
  mutating func beginChange() { entries.beginChange() }

  /// Forgets what no possible node can have been entered under.
  @inline(__always)
  mutating func prune(to members: [PossibleNodes.Member], at now: Instant) {
    if entries.numbers != 0, entries.hasPast { entries.prune(to: members, at: now) }
  }

  /// Lets something happen to a condition, and notes when it changes.
  ///
  /// - Parameters:
  ///   - time: from when on a state may have been entered after that, unless now.
  ///   - isBegun: whether it is a part of the change that was begun last.
  ///   - isLearned: whether it is no change of the condition.
  private mutating func change(
    _ number: Int, at now: Instant, since time: Instant? = nil, isBegun: Bool = false,
    isLearned: Bool = false,
    _ body: (inout Environment) -> Void
  ) {
    defer {
      if entries.has(number), !isLearned {
        entries.change(number, to: setting(of: number), since: time ?? now, at: now, isBegun: isBegun)
      }
    }
    let (before, value) = (conditions, environment.values[number])
    // What is just being felt is so under what held so far.
    let recent = recent(at: now)
    body(&environment)
    if conditions != before {
      note(number, besides: recent, at: now)
    }
    if environment.values[number] != value { resetAt[number] = now }
  }

  /// Notes that a condition changes now, while what others were changed to need not be felt yet.
  private mutating func note(_ number: Int, besides recent: UInt64, at now: Instant) {
    changing |= 1 << UInt64(number)
    changed[number] = now
    unfelt = hidden(recent | 1 << UInt64(number), by: recentlyChanged(at: now))
    findUnsettled()
  }

  /// Finds until when some change may not have had its effect yet.
  private mutating func findUnsettled() {
    unsettled = .zero
    forEachBit(of: changing) { unsettled = max(unsettled, changed[$0] + delays[$0] + slack) }
    forEachBit(of: unfelt) { if specification.hidden[$0] & conditions != 0 { unsettled = .never } }
  }
}

extension FeltEnvironment {
  /// The conditions that hold, or may, as bits.
  func mayHold(at now: Instant) -> UInt64 { conditions | open(at: now) }

  /// The conditions that may hold or not, since it is not known or since they may not be felt yet, as bits.
  @inline(__always)
  func open(at now: Instant) -> UInt64 { now <= unsettled ? open | recent(at: now) : open }

  /// Whether a requirement may hold, whether or not what has changed is felt.
  @inline(__always)
  func mayHold(_ requirement: Guard) -> Bool { requirement.mayHold(under: conditions, open: open) }

  /// Whether a requirement may hold for the device just now.
  @inline(__always)
  func mayHold(_ requirement: Guard, at now: Instant) -> Bool {
    requirement.isEmpty || requirement.mayHold(under: conditions, open: open(at: now))
  }

  /// The same for what happens by itself in a node.
  func mayHold(_ requirement: Guard, in member: Member) -> Bool {
    if requirement.isEmpty { return true }
    let (conditions, open) = around(member, open: open)
    return requirement.mayHold(under: conditions, open: open)
  }

  /// Whether a requirement may hold for what happens by itself in a node just now.
  func mayHold(_ requirement: Guard, in member: Member, at now: Instant) -> Bool {
    if requirement.isEmpty { return true }
    let (conditions, open) = around(member, open: open(at: now))
    return requirement.mayHold(under: conditions, open: open)
  }

  /// Whether a requirement is sure to hold in a node.
  func mustHold(_ requirement: Guard, in member: Member) -> Bool {
    if requirement.isEmpty { return true }
    let (conditions, open) = around(member, open: open)
    return requirement.mustHold(under: conditions, open: open)
  }

  /// Whether a requirement may hold in some state that may have been entered, whether or not what has changed is felt.
  func mayHoldSomewhere(_ requirement: Guard) -> Bool {
    requirement.mayHold(under: conditions, open: open | entries.changed)
  }

  /// The conditions that hold for what happens by itself in a node, or may, as bits.
  func mayHold(in member: Member, at now: Instant) -> UInt64 {
    let (conditions, open) = around(member, open: open(at: now))
    return conditions | open
  }

  /// The conditions that hold for what happens by itself in a node, as bits.
  func conditions(in member: Member) -> UInt64 { around(member, open: 0).conditions }

  /// What holds for what happens by itself in a node, and what may hold or not.
  private func around(_ member: Member, open: UInt64) -> (conditions: UInt64, open: UInt64) {
    // When it may have been entered already, but for what an observation is late: what changed since may be later.
    let entry = min(member.latest, member.earliest + slack)
    var (conditions, open) = (conditions, open | lateChanges(since: entry))
    if entries.numbers != 0 { entries.replace(&conditions, &open, in: member) }
    return (conditions, open)
  }

  /// How late the tester may see what its own end does: what a link holds up does not concern that, and a program is
  /// held up for a moment only.
  private var ownSlack: Interval { min(slack, .milliseconds(300)) }

  /// The conditions that count from the entry of a state, and changed after it was entered. They are of the tester's
  /// own end, such as what it proves itself with.
  private func lateChanges(since entry: Instant) -> UInt64 {
    guard changing & fromEntry != 0 else { return 0 }
    var late: UInt64 = 0
    forEachBit(of: changing & fromEntry) {
      if changed[$0] >= entry - ownSlack { late |= 1 << UInt64($0) }
    }
    return late
  }

  /// The most that may be added to the time of a row by what a condition is set to, in a node.
  func most(of number: Int, in member: Member) -> Interval {
    entries.has(number) ? entries.most(of: number, in: member) : environment.values[number]
  }

  /// The least that may have been added, just now, for which what was set last may not count yet: none where a time may
  /// run from before it was set.
  ///
  /// - Parameter orNothing: whether a time counts with the condition also where it is set to nothing.
  func least(of number: Int, orNothing: Bool, in member: Member, at now: Instant) -> Interval? {
    if entries.has(number) { return entries.least(of: number, orNothing: orNothing, in: member) }
    // What something else holds may be set to nothing as well.
    let orNothing = orNothing || environment.isHeld(number)
    let least = environment.least[number]
    guard let sent = sentAt[number], isFresh(number, at: now) else {
      return orNothing && open >> UInt64(number) & 1 == 1 ? nil : least
    }
    if orNothing { return nil }
    guard former[number].most > .zero else { return least }
    return member.earliest > sent ? min(least, former[number].least) : nil
  }

  /// From when on the time of a row counts: again when a condition that it depends on changes, unless that leaves alone
  /// what is under way, and not before one that prevented it has worn off.
  func beginning(of requirement: Guard, since entry: Instant) -> Instant {
    var since = entry
    forEachBit(of: changing & requirement.conditions & ~entries.numbers) { number in
      let wears = requirement.unless >> UInt64(number) & 1 == 1
      since = max(since, wears ? changed[number] + delays[number] : changed[number])
    }
    return since
  }

  /// From when on a time counts to which is added what a condition is set to: again from each change of it, unless that
  /// leaves alone what is under way.
  func beginning(of setting: Int, since entry: Instant) -> Instant {
    entries.has(setting) ? entry : resetAt[setting].map { max($0, entry) } ?? entry
  }

  /// The conditions that changed so lately that the device may still behave as before, or what it shows be from before.
  private func recent(at now: Instant) -> UInt64 {
    let recent = recentlyChanged(at: now)
    return unfelt == 0 ? recent : recent | hidden(unfelt, by: recent)
  }

  private func recentlyChanged(at now: Instant) -> UInt64 {
    var recent: UInt64 = 0
    forEachBit(of: changing) { number in
      let isOwn = fromEntry >> UInt64(number) & 1 == 1
      if now <= changed[number] + delays[number] + (isOwn ? .zero : slack) { recent |= 1 << UInt64(number) }
    }
    return recent
  }

  /// Those of some changes that are hidden just now, or may still be by what changed lately.
  private func hidden(_ changes: UInt64, by recent: UInt64) -> UInt64 {
    var hidden: UInt64 = 0
    forEachBit(of: changes) {
      if specification.hidden[$0] & (conditions | recent) != 0 { hidden |= 1 << UInt64($0) }
    }
    return hidden
  }
}

extension FeltEnvironment {
  /// What is remembered, with times counted back from a moment.
  ///
  /// - Parameters:
  ///   - members: the nodes whose time still counts: it may count again from a later change.
  ///   - pasts: what is remembered of what counts from the entry.
  func snapshot(at now: Instant, members: [Member], pasts: [EntryConditions.Past]) -> Snapshot {
    var changes: [Snapshot.Event] = []
    forEachBit(of: changing) { number in
      let isOwn = fromEntry >> UInt64(number) & 1 == 1
      let counts = members.contains {
        isOwn ? min($0.latest, $0.earliest + slack) <= changed[number] : $0.latest < changed[number]
      }
      if now - changed[number] <= delays[number] || counts {
        changes.append(Snapshot.Event(number: number, age: now - changed[number]))
      }
    }
    let settings: [Snapshot.Event] = sentAt.indices.compactMap { number in
      guard let time = sentAt[number], isFresh(number, at: now) else { return nil }
      return Snapshot.Event(number: number, age: now - time, former: former[number])
    }
    let resettings: [Snapshot.Event] = resetAt.indices.compactMap { number in
      guard let time = resetAt[number], members.contains(where: { $0.latest < time }) else { return nil }
      return Snapshot.Event(number: number, age: now - time)
    }
    return Snapshot(
      environment: environment, unfelt: unfelt & recent(at: now), changes: changes, settings: settings,
      resettings: resettings,
      ends: expiries.map { Snapshot.End(fault: $0.fault, rest: $0.time - now) }, pasts: pasts)
  }

  /// Goes back to what a snapshot remembers, as of a moment.
  mutating func restore(_ snapshot: Snapshot, at now: Instant) {
    start()
    environment = snapshot.environment
    for change in snapshot.changes {
      changing |= 1 << UInt64(change.number)
      changed[change.number] = now - change.age
    }
    for setting in snapshot.settings {
      sent |= 1 << UInt64(setting.number)
      sentAt[setting.number] = now - setting.age
      former[setting.number] = setting.former
    }
    for setting in snapshot.resettings { resetAt[setting.number] = now - setting.age }
    expiries = snapshot.ends.map { (now + $0.rest, $0.fault) }
    findNextExpiry()
    entries.restore(snapshot.pasts, at: now)
    unfelt = snapshot.unfelt
    findUnsettled()
  }

  /// When the changes that are still to be felt are, each a millisecond later.
  func settlements() -> [Instant] {
    var times: [Instant] = []
    forEachBit(of: changing) { times.append(changed[$0] + delays[$0] + .milliseconds(1)) }
    return times
  }
}

extension Stimulus {
  /// What the stimulus sets a condition to: a duration, or a number of seconds; else nothing.
  var setting: Interval {
    switch arguments.first?.value {
    case .duration(let interval): interval
    case .integer(let seconds): .seconds(Int64(clamping: seconds))
    default: .zero
    }
  }
}
