import Automata
public import Basics

// What depends on circumstances and on time: which steps can be taken just now, and by when one must have been. What
// follows a stimulus or an observation from node to node lives in Tracker.swift.

extension Tracker {
  /// Lets the circumstances be as they are from the very start, with nothing under way from before.
  public mutating func settleCircumstances() {
    changing = 0
    unfelt = 0
    unsettled = .zero
  }

  /// Lets it be open whether a circumstance holds, by name.
  mutating func doubt(_ circumstance: String) {
    let circumstances = specification.machine.definition.circumstances
    guard let number = circumstances.firstIndex(where: { $0.name == circumstance }) else { return }
    uncertain |= 1 << UInt64(number) & ~specification.held
  }

  /// Lets a fault or a start setting bring about, or take away, the circumstances that depend on it.
  ///
  /// A circumstance ends with the last of the faults that hold it.
  public mutating func apply(_ fault: Fault, at now: Instant) {
    for (number, item) in specification.machine.definition.circumstances.enumerated() {
      let isMoment = item.moments.contains(fault.name) && !fault.value.isNothing
      if isMoment { lastForAMoment(number, at: now) }
      let isOwn = item.name == fault.name || isMoment
      let place = isOwn ? 63 : item.faults.firstIndex(of: fault.name) ?? -1
      // Where the device reports what really happened, a fault alone is only what the tester wanted.
      guard place >= 0, place == 63 || specification.isReported >> UInt64(number) & 1 == 0 else { continue }
      let holder: UInt64 = 1 << UInt64(min(place, 63))
      if !fault.value.isNothing {
        holders[number] |= holder
      } else if item.until.isEmpty {
        holders[number] &= ~holder
      }
      if item.until.isEmpty, place != 63 { keepTime(of: fault, at: now) }
      hold(number, holders[number] != 0, at: now)
      if holders[number] != 0 { doubtSettings(since: number, at: now) }
    }
  }

  /// Notes when a fault is over by itself: one given a duration lasts so long, unless it is given again.
  private mutating func keepTime(of fault: Fault, at now: Instant) {
    if case .duration(let interval) = fault.value, !fault.value.isNothing {
      last(until: now + interval, Fault(fault.name, .flag(false)))
    } else {
      expiries.removeAll { $0.fault.name == fault.name }
      findNextExpiry()
    }
  }

  /// Notes what ends a fault, and when.
  private mutating func last(until end: Instant, _ fault: Fault) {
    expiries.removeAll { $0.fault.name == fault.name }
    expiries.append((end, fault))
    findNextExpiry()
  }

  /// Ends a circumstance once what was over at once is not felt any more.
  private mutating func lastForAMoment(_ number: Int, at now: Instant) {
    let item = specification.machine.definition.circumstances[number]
    last(until: now + item.delay, Fault(item.name, .flag(false)))
  }

  private mutating func findNextExpiry() { nextExpiry = expiries.reduce(.never) { min($0, $1.time) } }

  /// Ends the faults whose time is over.
  mutating func expire(at now: Instant) {
    while let index = expiries.firstIndex(where: { $0.time <= now }) {
      let (time, fault) = expiries.remove(at: index)
      findNextExpiry()
      apply(fault, at: time)
    }
  }

  /// Lets circumstances begin that an event which was reported brings about.
  ///
  /// Where a status is shown that ends one, the event came late: what it was about is over.
  mutating func begin(_ circumstances: UInt64, at now: Instant) {
    var bits = circumstances
    while bits != 0 {
      let number = bits.trailingZeroBitCount
      bits &= bits &- 1
      var isOver = true
      possible.forEach { node in
        if specification.ended[specification.nodes[node].shown] >> UInt64(number) & 1 == 0 { isOver = false }
      }
      if !isOver { hold(number, true, at: now) }
      if specification.momentary >> UInt64(number) & 1 == 1 { lastForAMoment(number, at: now) }
      doubtSettings(since: number, at: now)
    }
  }

  /// Ends the circumstances that a status ends: what they were about, and what was under way, is over.
  mutating func end(_ circumstances: UInt64, at now: Instant) {
    // What may end a link for a moment may have ended it before what was set arrived.
    if specification.momentary & mayHold(at: now) != 0 { doubtSettings(at: now) }
    sent = 0
    var bits = circumstances & self.circumstances & ~specification.held
    while bits != 0 {
      let number = bits.trailingZeroBitCount
      bits &= bits &- 1
      holders[number] = 0
      hold(number, false, at: now)
    }
  }

  /// What was set so lately that it may still be on its way may be lost under a circumstance that begins now.
  mutating func doubtSettings(since number: Int, at now: Instant) {
    doubtSettings(unsureUnder: 1 << UInt64(number), at: now)
  }

  /// What was set so lately that it may still be on its way may be lost with the way.
  mutating func doubtSettings(at now: Instant) {
    doubtSettings(unsureUnder: .max, at: now)
  }

  private mutating func doubtSettings(unsureUnder circumstances: UInt64, at now: Instant) {
    for other in unsure.indices where unsure[other] & circumstances != 0 && isFresh(other, at: now) {
      uncertain |= 1 << UInt64(other)
      values[other] = max(values[other], former[other])
      hold(other, values[other] > .zero, at: now)
    }
  }

  /// Whether the stimulus that set a circumstance last may not have had its effect yet on this link.
  private func mayBeUnderWay(_ number: Int, at now: Instant) -> Bool {
    sent >> UInt64(number) & 1 == 1 && isFresh(number, at: now)
  }

  /// Whether a circumstance was set so lately that it may not have had its effect yet.
  private func isFresh(_ number: Int, at now: Instant) -> Bool {
    sentAt[number].map { now <= $0 + delays[number] + slack } ?? false
  }

  /// Takes a reading at its word that tells what a circumstance is set to, unless a setting may have crossed it, or been
  /// lost just now: a client may tell what it knows from before.
  mutating func learn(from reading: Reading, at now: Instant) {
    for (name, number) in specification.told
    where name == reading.name && mayHold(at: now) & unsure[number] == 0 {
      let bit: UInt64 = 1 << UInt64(number)
      guard uncertain & bit != 0 || changing & bit == 0, !mayBeUnderWay(number, at: now) else { continue }
      let value: Interval
      switch reading.value {
      case .integer(let seconds): value = .seconds(Int64(clamping: seconds))
      case .duration(let interval): value = interval
      case .flag, .number, .text: continue
      }
      values[number] = value
      former[number] = value
      hold(number, value > .zero, at: now)
      if uncertain & bit != 0 { note(number, at: now) }
      uncertain &= ~bit
    }
  }

  mutating func set(by stimulus: Stimulus, at now: Instant) {
    let name = specification.vocabulary.stimuli[stimulus.number]
    for (number, item) in specification.machine.definition.circumstances.enumerated()
    where item.stimuli.contains(name) {
      let value: Interval =
        switch stimulus.arguments.first?.value {
        case .duration(let interval): interval
        case .integer(let seconds): .seconds(Int64(clamping: seconds))
        default: .zero
        }
      let bit: UInt64 = 1 << UInt64(number)
      sent |= bit
      sentAt[number] = now
      former[number] = values[number]
      if refusing.isEmpty, mayHold(at: now) & unsure[number] == 0 {
        values[number] = value
        if uncertain & bit != 0 { note(number, at: now) }
        uncertain &= ~bit
        hold(number, value > .zero, at: now)
      } else {
        // It arrived, or it did not: what was set before may hold as well.
        if (circumstances & bit != 0) != (value > .zero) { uncertain |= bit }
        values[number] = max(values[number], value)
        hold(number, values[number] > .zero, at: now)
      }
    }
  }

  mutating func hold(_ number: Int, _ holds: Bool, at now: Instant) {
    let bit: UInt64 = 1 << UInt64(number)
    guard (circumstances & bit != 0) != holds, specification.held & bit == 0 else { return }
    let recent = recent(at: now)
    circumstances ^= bit
    note(number, besides: recent, at: now)
  }

  /// Notes that a circumstance changes now.
  private mutating func note(_ number: Int, at now: Instant) {
    note(number, besides: recent(at: now), at: now)
  }

  /// Notes that a circumstance changes now, while what others were changed to need not be felt yet.
  private mutating func note(_ number: Int, besides recent: UInt64, at now: Instant) {
    changing |= 1 << UInt64(number)
    changed[number] = now
    unfelt = hidden(recent | 1 << UInt64(number), by: recentlyChanged(at: now))
    findUnsettled()
  }

  /// Finds until when some change may not have had its effect yet.
  mutating func findUnsettled() {
    unsettled = .zero
    forEachBit(of: changing) { unsettled = max(unsettled, changed[$0] + delays[$0] + slack) }
    forEachBit(of: unfelt) { if specification.hidden[$0] & circumstances != 0 { unsettled = .never } }
  }
}

extension Tracker {
  /// The circumstances that hold, or may, as bits.
  func mayHold(at now: Instant) -> UInt64 {
    circumstances | uncertain | (now <= unsettled ? recent(at: now) : 0)
  }

  /// Whether a step that can be taken could not be taken without the circumstance `loss`.
  func takesLoss(_ step: Specification.Step) -> Bool {
    step.isByLoss && step.given & circumstances & ~specification.loss == 0
  }

  /// Whether a step can be taken under the circumstances.
  func isEnabled(_ step: Specification.Step) -> Bool { step.mayBeEnabled(under: circumstances, uncertain) }

  /// Whether a step can be taken, given that a circumstance that just changed may not have had its effect yet.
  func mayBeEnabled(_ step: Specification.Step, at now: Instant) -> Bool {
    if step.given | step.unless == 0 { return true }
    return step.mayBeEnabled(
      under: circumstances, now <= unsettled ? uncertain | recent(at: now) : uncertain)
  }

  /// The same for what happens by itself: a circumstance that counts from the entry of a state may have changed since.
  func mayBeEnabled(_ step: Specification.Step, from node: Int, at now: Instant) -> Bool {
    if step.given | step.unless == 0 { return true }
    let late = lateChanges(since: node) & (step.given | step.unless)
    return late == 0
      ? mayBeEnabled(step, at: now)
      : step.mayBeEnabled(under: circumstances, uncertain | late | (now <= unsettled ? recent(at: now) : 0))
  }

  /// How late the tester may see what its own end does: what a link holds up does not concern that, and a program is
  /// held up for a moment only.
  private var ownSlack: Interval { min(slack, .milliseconds(300)) }

  /// The circumstances that count from the entry of a state, and changed after a node was entered. They are of the
  /// tester's own end, such as what it proves itself with.
  func lateChanges(since node: Int) -> UInt64 {
    var late: UInt64 = 0
    var bits = changing & specification.fromEntry
    while bits != 0 {
      let number = bits.trailingZeroBitCount
      bits &= bits &- 1
      if changed[number] >= entries[node].latest - ownSlack { late |= 1 << UInt64(number) }
    }
    return late
  }

  /// Whether a stimulus that may be allowed may be refused as well, since it is open which circumstances hold.
  func mayRefuse(_ event: Int, in node: Int, at now: Instant) -> Bool {
    let open = now <= unsettled ? uncertain | recent(at: now) : uncertain
    guard open != 0 else { return false }
    let cell = node * specification.eventCount + event
    let steps = specification.caused[
      Int(specification.causedStart[cell])..<Int(specification.causedStart[cell + 1])]
    let relevant = steps.reduce(0) { $0 | $1.given | $1.unless } & open
    // Every choice of what is open, from all of it down to none.
    var choice = relevant
    while true {
      let holding = circumstances & ~relevant | choice
      if steps.allSatisfy({ !$0.mayBeEnabled(under: holding, 0) }) { return true }
      if choice == 0 { return false }
      choice = (choice - 1) & relevant
    }
  }

  /// The circumstances that changed so lately that the device may still behave as before, or what it shows be from before.
  func recent(at now: Instant) -> UInt64 {
    let recent = recentlyChanged(at: now)
    return unfelt == 0 ? recent : recent | hidden(unfelt, by: recent)
  }

  private func recentlyChanged(at now: Instant) -> UInt64 {
    var recent: UInt64 = 0
    var bits = changing
    while bits != 0 {
      let number = bits.trailingZeroBitCount
      bits &= bits &- 1
      let isOwn = specification.fromEntry >> UInt64(number) & 1 == 1
      if now <= changed[number] + delays[number] + (isOwn ? .zero : slack) { recent |= 1 << UInt64(number) }
    }
    return recent
  }

  /// Those of some changes that are hidden just now, or may still be by what changed lately.
  private func hidden(_ changes: UInt64, by recent: UInt64) -> UInt64 {
    var hidden: UInt64 = 0
    forEachBit(of: changes) {
      if specification.hidden[$0] & (circumstances | recent) != 0 { hidden |= 1 << UInt64($0) }
    }
    return hidden
  }

  /// Whether a step can have been taken just now, given when its node was entered.
  func isPossible(_ step: Specification.Step, from node: Int, at now: Instant) -> Bool {
    let enabled = mayBeEnabled(step, from: node, at: now)
    // What is pending is shown at once, whenever its state was entered; and a machine without timers asks not when.
    guard enabled, !specification.isPlain, specification.resting.contains(node) else { return enabled }
    return entries[node].earliest + step.earliest - slack <= now
      && (step.latest == .forever || now <= end(of: step, from: node))
  }

  func limit(of step: Specification.Step) -> Interval {
    step.plus < 0 ? step.latest : step.latest + values[Int(step.plus)]
  }

  /// By when a step is taken at the latest: its time counts anew when a circumstance that it depends on changes, and not
  /// before one that prevented it has worn off.
  func end(of step: Specification.Step, from node: Int) -> Instant {
    var since = entries[node].latest
    var bits = changing & (step.given | step.unless)
    while bits != 0 {
      let number = bits.trailingZeroBitCount
      let wears = step.unless >> UInt64(number) & 1 == 1
      since = max(since, wears ? changed[number] + delays[number] : changed[number])
      bits &= bits &- 1
    }
    return since + limit(of: step) + slack
  }

  /// The places of a node's steps in ``urgent``.
  @inline(__always)
  func urgentSteps(of node: Int) -> Range<Int> { Int(urgentStart[node])..<Int(urgentStart[node + 1]) }

  /// The moment by which a state must have been left, or never.
  func end(of node: Int) -> Instant {
    var end = Instant.never
    let late = specification.fromEntry == 0 ? 0 : lateChanges(since: node)
    for index in urgentSteps(of: node) where isDue(urgent[index], besides: late) {
      end = min(end, self.end(of: urgent[index], from: node))
    }
    return end
  }

  /// Whether a step is sure to be taken in its time.
  ///
  /// - Parameter late: circumstances that may not count yet.
  func isDue(_ step: Specification.Step, besides late: UInt64) -> Bool {
    let open = uncertain | late
    return (step.given == 0 || step.given & circumstances & ~open != 0)
      && step.unless & (circumstances | open) == 0
  }
}
