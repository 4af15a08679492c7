import Automata
import Basics

/// The conditions around a device as its tester knows them: an ``Environment`` with the time of each change, since a
/// change may take effect after a delay, and with the faults that end by themselves.
struct EffectiveEnvironment: Sendable {
  typealias Member = PossibleNodes.Member

  /// The history of changes, with times relative to the present: two moments with equal snapshots have equal futures.
  struct Snapshot: Hashable, Sendable {
    /// An event of a condition: how long ago it happened, and the previous value.
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
    var withoutEffect: UInt64
    var changes: [Event]
    var settings: [Event]
    /// The conditions whose value was raised or lowered, and how long ago.
    var resettings: [Event]
    var ends: [End]
    /// The earlier values that still count.
    var pasts: [EntryConditions.Past]
  }

  /// The range of values that a condition may be set to.
  struct Span: Hashable, Sendable {
    var least = Interval.zero
    var most = Interval.zero

    /// Widens the range to include another one.
    mutating func widen(to other: Span) {
      (least, most) = (min(least, other.least), max(most, other.most))
    }
  }

  private(set) var environment: Environment
  /// When the next fault with a duration ends, or never.
  private(set) var nextExpiry = Instant.never
  /// The end of each fault that ends by itself.
  private var expiries: [(time: Instant, fault: String)] = []
  /// The conditions that have changed in this test, as bits, and the time of the latest change.
  private var changing: UInt64 = 0
  private var changed: [Instant]
  /// The conditions whose change had not taken effect when another condition hid it: until that ends, observations
  /// may be from before the change.
  private var withoutEffect: UInt64 = 0
  /// Until when some change may not have taken effect.
  private var unsettled = Instant.zero
  /// The values before the latest setting.
  private var former: [Span]
  /// The conditions set by a stimulus on the present link, and the time of the latest such setting in this test.
  private var sent: UInt64 = 0
  private var sentAt: [Instant?]
  /// When the value of each condition last changed.
  private var resetAt: [Instant?]
  /// The earlier values of conditions that count from the entry of a state.
  private(set) var entries: EntryConditions

  /// The conditions whose value is certain, as bits: a different reading is wrong.
  private var sure: UInt64 = 0

  private let specification: Specification
  private let slack: Interval
  private let table: ConditionTable
  private let delays: [Interval]
  /// The conditions that count from the entry of a state, without those of ``entries``.
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

  /// The conditions that hold, as bits, and those that may hold.
  @inline(__always) var conditions: UInt64 { environment.conditions }
  @inline(__always) private var open: UInt64 { environment.open }

  /// Starts a test.
  mutating func start() {
    environment.reset()
    entries.restart()
    completeChanges()
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

  /// Treats everything as if it had always been so, with no change in progress.
  mutating func completeChanges() {
    changing = 0
    withoutEffect = 0
    unsettled = .zero
    beginEntries()
  }

  /// Treats all conditions that count from the entry of a state as if they had always been so.
  private mutating func beginEntries() {
    forEachBit(of: entries.numbers) { entries.begin($0, as: setting(of: $0)) }
  }

  private func setting(of number: Int) -> EntryConditions.Setting {
    let bit: UInt64 = 1 << UInt64(number)
    return EntryConditions.Setting(
      holds: conditions & bit != 0, isOpen: open & bit != 0, isHeld: environment.isHeld(number),
      span: Span(least: environment.least[number], most: environment.values[number]))
  }

  /// Makes it unknown whether a condition holds.
  mutating func makeUnknown(_ number: Int) {
    environment.makeUnknown(number)
    entries.begin(number, as: setting(of: number))
    sure &= ~(1 << UInt64(number))
  }

  /// Makes the value of a condition certain at the beginning of a test.
  mutating func assure(_ number: Int) { sure |= 1 << UInt64(number) }
}

extension EffectiveEnvironment {
  /// Applies a fault or a start setting to the conditions that depend on it.
  mutating func apply(_ fault: Fault, at now: Instant) {
    let isOn = !fault.value.isNothing
    let table = table
    for effect in table.effects(of: fault.name) where isOn || !effect.isMoment || effect.isNamed {
      let number = effect.condition
      if isOn, effect.isMoment { lastForAMoment(number, at: now) }
      // If the device reports what really happened, a fault alone is only an intention of the tester.
      guard effect.isOwn || specification.isReported >> UInt64(number) & 1 == 0 else { continue }
      if !effect.isOwn, table.lasting >> UInt64(number) & 1 == 0 { keepTime(of: fault, at: now) }
      // A condition that was open may have changed only now.
      if open >> UInt64(number) & 1 == 1 { recordChange(of: number, besides: recent(at: now), at: now) }
      change(number, at: now) { $0.apply(effect, isOn: isOn, in: table) }
      if environment.isHeld(number) { makeSettingsUnknown(since: number, at: now) }
    }
  }

  /// Records when a fault ends by itself: after its duration, unless it is injected again.
  private mutating func keepTime(of fault: Fault, at now: Instant) {
    expiries.removeAll { $0.fault == fault.name }
    if case .duration(let interval) = fault.value, !fault.value.isNothing {
      expiries.append((now + interval, fault.name))
    }
    findNextExpiry()
  }

  /// Ends a momentary condition once it no longer has an effect.
  private mutating func lastForAMoment(_ number: Int, at now: Instant) {
    let name = specification.machine.definition.conditions[number].name
    expiries.removeAll { $0.fault == name }
    expiries.append((now + delays[number], name))
    findNextExpiry()
  }

  private mutating func findNextExpiry() { nextExpiry = expiries.reduce(.never) { min($0, $1.time) } }

  /// Ends the faults whose duration is over.
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

  /// Begins the conditions of a reported event.
  ///
  /// - Parameter over: the conditions that every possible node has already ended: the event was reported late.
  mutating func begin(_ conditions: UInt64, over: UInt64, at now: Instant) {
    forEachBit(of: conditions) { number in
      if over >> UInt64(number) & 1 == 0 { change(number, at: now, since: now - slack) { $0.begin(number) } }
      if table.momentary >> UInt64(number) & 1 == 1 { lastForAMoment(number, at: now) }
      makeSettingsUnknown(since: number, at: now)
    }
  }

  /// Ends the conditions that a status ends, with any change in progress.
  ///
  /// - Parameter entry: the earliest moment at which the state that shows the status may have been entered, after the
  ///   end of the conditions.
  mutating func end(_ conditions: UInt64, since entry: Instant, at now: Instant) {
    // A momentary condition that may end a link may have ended it before the setting arrived.
    if table.momentary & mayHold(at: now) != 0 { makeSettingsUnknown(at: now) }
    sent = 0
    forEachBit(of: conditions & ~environment.held) { number in
      change(number, at: now, since: entry) { $0.end(number) }
    }
  }

  /// Makes recent settings unknown that a condition beginning now may have prevented from arriving.
  private mutating func makeSettingsUnknown(since number: Int, at now: Instant) {
    makeSettingsUnknown(under: 1 << UInt64(number), at: now)
  }

  /// Makes recent settings unknown that may have been lost with the link.
  mutating func makeSettingsUnknown(at now: Instant) {
    makeSettingsUnknown(under: .max, at: now)
  }

  private mutating func makeSettingsUnknown(under conditions: UInt64, at now: Instant) {
    let uncertainUnder = specification.uncertainUnder
    for other in uncertainUnder.indices
    where uncertainUnder[other] & conditions != 0 && isFresh(other, at: now) {
      let former = former[other]
      sure &= ~(1 << UInt64(other))
      change(other, at: now) { $0.makeUnknown(other, orStill: former.most, orLess: former.least) }
    }
  }

  /// Returns whether the stimulus that last set a condition may not have taken effect yet on this link.
  private func mayBeUnderWay(_ number: Int, at now: Instant) -> Bool {
    sent >> UInt64(number) & 1 == 1 && isFresh(number, at: now)
  }

  /// Whether a condition was set so recently that it may not have taken effect.
  private func isFresh(_ number: Int, at now: Instant) -> Bool {
    sentAt[number].map { now <= $0 + delays[number] + slack } ?? false
  }

  /// Learns a condition's value from a reading, unless a setting may have crossed it or was just lost: a client may
  /// report an older value.
  ///
  /// - Returns: the certain value of the condition, if the reading contradicts it.
  mutating func learn(from reading: Reading, at now: Instant) -> Interval? {
    for (name, number) in specification.readings
    where name == reading.name && mayHold(at: now) & specification.uncertainUnder[number] == 0 {
      let value: Interval
      switch reading.value {
      case .integer(let seconds): value = .seconds(Int64(clamping: seconds))
      case .duration(let interval): value = interval
      default: continue
      }
      guard !mayBeUnderWay(number, at: now) else { continue }
      let wasOpen = open >> UInt64(number) & 1 == 1
      if !wasOpen, sure >> UInt64(number) & 1 == 1 {
        // A device reports whole seconds.
        let known = environment.values[number]
        if value - known >= .seconds(1) || known - value >= .seconds(1) { return known }
      }
      guard wasOpen || changing >> UInt64(number) & 1 == 0 else { continue }
      sure |= 1 << UInt64(number)
      former[number] = Span(least: value, most: value)
      change(number, at: now, isLearned: true) { $0.set(number, to: value) }
      entries.learn(number, is: setting(of: number), wasOpen: wasOpen, at: now)
      if wasOpen { recordChange(of: number, besides: recent(at: now), at: now) }
    }
    return nil
  }

  /// Sets conditions by a stimulus.
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
      if isObeyed, mayHold(at: now) & specification.uncertainUnder[number] == 0 {
        if open & bit != 0 { recordChange(of: number, besides: recent(at: now), at: now) }
        sure |= bit
        change(number, at: now, isBegun: true) { $0.set(number, to: value) }
      } else {
        // The setting may not have arrived: the previous value may hold as well.
        sure &= ~bit
        change(number, at: now, isBegun: true) { $0.set(number, perhapsTo: value) }
      }
    }
  }

  /// Begins a change caused by a stimulus; states that it leads to are entered after it.
  mutating func beginChange() { entries.beginChange() }

  /// Drops the values under which no possible node can have been entered.
  @inline(__always)
  mutating func prune(to members: [PossibleNodes.Member], at now: Instant) {
    if entries.numbers != 0, entries.hasPast { entries.prune(to: members, at: now) }
  }

  /// Applies an event to a condition, and records when the condition changes.
  ///
  /// - Parameters:
  ///   - time: the earliest moment at which a state may have been entered after it; now by default.
  ///   - isBegun: whether it is part of the change that was begun last.
  ///   - isLearned: whether only our knowledge changes, not the condition.
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
    // A change that is taking effect now does so under the previous conditions.
    let recent = recent(at: now)
    body(&environment)
    if conditions != before {
      recordChange(of: number, besides: recent, at: now)
    }
    if environment.values[number] != value { resetAt[number] = now }
  }

  /// Records that a condition changes now, while changes of others need not have taken effect.
  private mutating func recordChange(of number: Int, besides recent: UInt64, at now: Instant) {
    changing |= 1 << UInt64(number)
    changed[number] = now
    withoutEffect = hidden(recent | 1 << UInt64(number), by: recentlyChanged(at: now))
    findUnsettled()
  }

  /// Determines until when some change may not have taken effect.
  private mutating func findUnsettled() {
    unsettled = .zero
    forEachBit(of: changing) { unsettled = max(unsettled, changed[$0] + delays[$0] + slack) }
    forEachBit(of: withoutEffect) { if specification.hidden[$0] & conditions != 0 { unsettled = .never } }
  }
}

extension EffectiveEnvironment {
  /// Returns the conditions that hold or may hold, as bits.
  func mayHold(at now: Instant) -> UInt64 { conditions | open(at: now) }

  /// Returns the conditions that may hold, because they are unknown or may not have taken effect, as bits.
  @inline(__always)
  func open(at now: Instant) -> UInt64 { now <= unsettled ? open | recent(at: now) : open }

  /// Returns whether a requirement may hold, regardless of whether changes have taken effect.
  @inline(__always)
  func mayHold(_ requirement: Guard) -> Bool { requirement.mayHold(under: conditions, open: open) }

  /// Returns whether a requirement may hold for the device at this moment.
  @inline(__always)
  func mayHold(_ requirement: Guard, at now: Instant) -> Bool {
    requirement.isEmpty || requirement.mayHold(under: conditions, open: open(at: now))
  }

  /// Returns whether a requirement may hold for a spontaneous event in a node, regardless of whether changes have
  /// taken effect.
  func mayHold(_ requirement: Guard, in member: Member) -> Bool {
    if requirement.isEmpty { return true }
    let (conditions, open) = possibleConditions(around: member, open: open)
    return requirement.mayHold(under: conditions, open: open)
  }

  /// Returns whether a requirement may hold at this moment for a spontaneous event in a node.
  func mayHold(_ requirement: Guard, in member: Member, at now: Instant) -> Bool {
    if requirement.isEmpty { return true }
    let (conditions, open) = possibleConditions(around: member, open: open(at: now))
    return requirement.mayHold(under: conditions, open: open)
  }

  /// Returns whether a requirement certainly holds in a node.
  func mustHold(_ requirement: Guard, in member: Member) -> Bool {
    if requirement.isEmpty { return true }
    let (conditions, open) = possibleConditions(around: member, open: open)
    return requirement.mustHold(under: conditions, open: open)
  }

  /// Whether a requirement may hold in some state that may have been entered, regardless of whether changes have
  /// taken effect.
  func mayHoldSomewhere(_ requirement: Guard) -> Bool {
    requirement.mayHold(under: conditions, open: open | entries.changed)
  }

  /// Returns the conditions that hold or may hold for a spontaneous event in a node, as bits.
  func mayHold(in member: Member, at now: Instant) -> UInt64 {
    let (conditions, open) = possibleConditions(around: member, open: open(at: now))
    return conditions | open
  }

  /// Returns the conditions that hold for a spontaneous event in a node, as bits.
  func conditions(in member: Member) -> UInt64 { possibleConditions(around: member, open: 0).conditions }

  /// The conditions that hold, and those that may hold, for a spontaneous event in a node.
  private func possibleConditions(around member: Member, open: UInt64) -> (conditions: UInt64, open: UInt64) {
    // When it may have been entered, allowing for a late observation: later changes may come after that.
    let entry = min(member.latest, member.earliest + slack)
    var (conditions, open) = (conditions, open | lateChanges(since: entry))
    if entries.numbers != 0 { entries.replace(&conditions, &open, in: member) }
    return (conditions, open)
  }

  /// How late the tester may see an event of its own client: link delays do not affect it, and a program is delayed
  /// only briefly.
  private var ownSlack: Interval { min(slack, .milliseconds(300)) }

  /// The conditions that count from the entry of a state and changed after it. They belong to the tester's own
  /// client, such as its key.
  private func lateChanges(since entry: Instant) -> UInt64 {
    guard changing & fromEntry != 0 else { return 0 }
    var late: UInt64 = 0
    forEachBit(of: changing & fromEntry) {
      if changed[$0] >= entry - ownSlack { late |= 1 << UInt64($0) }
    }
    return late
  }

  /// Returns the maximum that a condition's value may add to the time of a row, in a node.
  func most(of number: Int, in member: Member) -> Interval {
    entries.has(number) ? entries.most(of: number, in: member) : environment.values[number]
  }

  /// Returns the minimum that a condition's value may add at this moment, if the latest setting may not count yet;
  /// `nil` if the time may run from before the setting.
  ///
  /// - Parameter orNothing: whether the time counts also if the condition is set to nothing.
  func least(of number: Int, orNothing: Bool, in member: Member, at now: Instant) -> Interval? {
    if entries.has(number) { return entries.least(of: number, orNothing: orNothing, in: member) }
    // A condition that a fault holds may also be set to nothing.
    let orNothing = orNothing || environment.isHeld(number)
    let least = environment.least[number]
    guard let sent = sentAt[number], isFresh(number, at: now) else {
      return orNothing && open >> UInt64(number) & 1 == 1 ? nil : least
    }
    if orNothing { return nil }
    guard former[number].most > .zero else { return least }
    return member.earliest > sent ? min(least, former[number].least) : nil
  }

  /// Returns from when the time of a row counts. A change of one of its conditions restarts it, unless the change
  /// leaves running timers alone. It does not start before a condition that prevented it has lost its effect.
  func beginning(of requirement: Guard, since entry: Instant) -> Instant {
    var since = entry
    forEachBit(of: changing & requirement.conditions & ~entries.numbers) { number in
      let isInhibiting = requirement.unless >> UInt64(number) & 1 == 1
      since = max(since, isInhibiting ? changed[number] + delays[number] : changed[number])
    }
    return since
  }

  /// Returns from when a time counts that includes a condition's value. Each change of the value restarts it,
  /// unless the change leaves running timers alone.
  func beginning(of setting: Int, since entry: Instant) -> Instant {
    entries.has(setting) ? entry : resetAt[setting].map { max($0, entry) } ?? entry
  }

  /// Returns the conditions that changed so recently that the device, or the current observation of it, may still
  /// follow the previous value.
  private func recent(at now: Instant) -> UInt64 {
    let recent = recentlyChanged(at: now)
    return withoutEffect == 0 ? recent : recent | hidden(withoutEffect, by: recent)
  }

  private func recentlyChanged(at now: Instant) -> UInt64 {
    var recent: UInt64 = 0
    forEachBit(of: changing) { number in
      let isOwn = fromEntry >> UInt64(number) & 1 == 1
      if now <= changed[number] + delays[number] + (isOwn ? .zero : slack) { recent |= 1 << UInt64(number) }
    }
    return recent
  }

  /// Returns those of some changes that a condition hides at this moment, or may still hide after a recent change.
  private func hidden(_ changes: UInt64, by recent: UInt64) -> UInt64 {
    var hidden: UInt64 = 0
    forEachBit(of: changes) {
      if specification.hidden[$0] & (conditions | recent) != 0 { hidden |= 1 << UInt64($0) }
    }
    return hidden
  }
}

extension EffectiveEnvironment {
  /// The history, with times relative to a moment.
  ///
  /// - Parameters:
  ///   - members: the nodes whose time still counts, and may restart with a later change.
  ///   - pasts: the earlier values that count from the entry.
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
      environment: environment, withoutEffect: withoutEffect & recent(at: now), changes: changes,
      settings: settings,
      resettings: resettings,
      ends: expiries.map { Snapshot.End(fault: $0.fault, rest: $0.time - now) }, pasts: pasts)
  }

  /// Restores a snapshot as of a moment.
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
    withoutEffect = snapshot.withoutEffect
    findUnsettled()
  }

  /// Returns when the pending changes have taken effect, with a millisecond added to each.
  func settlements() -> [Instant] {
    var times: [Instant] = []
    forEachBit(of: changing) { times.append(changed[$0] + delays[$0] + .milliseconds(1)) }
    return times
  }
}

extension Stimulus {
  /// The value that the stimulus sets: a duration, or a number of seconds; otherwise zero.
  var setting: Interval {
    switch arguments.first?.value {
    case .duration(let interval): interval
    case .integer(let seconds): .seconds(Int64(clamping: seconds))
    default: .zero
    }
  }
}
