import Conformance
import Bench
import Journal
import Nightly
import Basics

// What drives a lock: a process that may be cut off, hang, be asked to end or be killed, and leaves a journal.
extension LabWorld {
  /// A child of a planner, or the process that stood beside one.
  struct Child {
    var scheduler: Int
    var attempt: NightAttempt
    var lock: Int
    var dongle: Int
    var phase = Phase.leasing
    /// What is still to be moved.
    var left: Int
    /// When it ends at the latest, for fuzzing.
    var end = Instant.never
    var used = 0
    var ledger = ActuationBudget()
    /// What came of it so far.
    var verdict: (Record.Ending, String)?
    /// The movements that the cycle counter does not have yet; only where it is wrong.
    var uncounted: [LockEvent] = []
    /// Whether it does what a run left undone that was killed.
    var isWatcher = false
    /// Whether the lock was owed its parking when it was taken.
    var isIndebted = false
    var isAsked = false
    var isCut = false
    var isStuck = false
    var hasPlanner = true
    var pause: Interval?
    var outOfUse: NightDevice?
    var stuckSince = Instant.zero
    var restUntil = Instant.zero
  }

  enum Phase {
    case leasing, connecting, settling, driving, resting

    var isOnAir: Bool { self == .settling || self == .driving || self == .resting }
  }

  /// What the process beside a run has to do for its lock when the run is killed: it has the dongle that the run had.
  struct Watch {
    var scheduler: Int
    var lock: Int
    var dongle: Int
    /// Until when it tries, and how often it did.
    var limit: Instant
    var tries = 0
  }

  private static let beats = Interval.milliseconds(500)
  /// After how long a process that is stuck shows no more signs of life.
  private static let patience = Interval.seconds(2)
  /// How often, and within which time, the process beside a run tries to park its lock.
  private static let watches = (tries: 3, time: Interval.seconds(600), pause: Interval.seconds(5))

  mutating func start(_ attempt: NightAttempt, for scheduler: Int) {
    guard let lock = lock(attempt.lock), let dongle = dongles.firstIndex(where: { $0.name == attempt.dongle })
    else { preconditionFailure("there is no such lock or dongle") }
    outcome.runs += 1
    var child = Child(scheduler: scheduler, attempt: attempt, lock: lock, dongle: dongle, left: 0)
    switch attempt.work {
    case .test(let identity):
      if schedulers[scheduler].agreed[identity] != nil {
        violate(.nothingTwice, "\(identity) agreed, and is driven again")
      }
      child.left = 2 + generator.below(8)
    case .fuzz(let time):
      child.left = .max
      child.end = now + time
    case .park: child.left = 0
    }
    launch(child)
  }

  private mutating func launch(_ child: Child) {
    children[nextProcess] = child
    queue.schedule(.step(nextProcess), at: now + .milliseconds(5))
    queue.schedule(.beat(nextProcess), at: now + Self.beats)
    nextProcess += 1
  }

  /// What the process beside a run does for its lock when the run was killed, unless somebody else has done it or is at it.
  mutating func watch(_ watch: Watch) {
    let place = folder(of: watch.scheduler)
    guard locks[watch.lock].state[place].isOwed, watch.tries < Self.watches.tries, now < watch.limit else {
      return
    }
    var next = watch
    if locks[watch.lock].state[place].holder == nil, dongles[watch.dongle].holders[place] == nil {
      next.tries += 1
      let attempt = NightAttempt(
        number: 0, work: .park, lock: locks[watch.lock].name, dongle: dongles[watch.dongle].name,
        actuations: Night.parkMovements, cycleCounter: locks[watch.lock].state[place].reading)
      var child = Child(
        scheduler: watch.scheduler, attempt: attempt, lock: watch.lock, dongle: watch.dongle, left: 0)
      child.isWatcher = true
      child.hasPlanner = false
      launch(child)
    }
    queue.schedule(.watch(next), at: now + Self.watches.pause)
  }

  mutating func stop(_ number: Int, of scheduler: Int) {
    for (process, child) in living where child.scheduler == scheduler && child.attempt.number == number {
      children[process]?.isAsked = true
    }
  }

  mutating func beat(_ process: Int) {
    guard let child = children[process] else { return }
    if child.hasPlanner, !child.isStuck || now < child.stuckSince + Self.patience {
      notify(child.scheduler, .sign(child.attempt.number))
    }
    // With nobody left to kill it, one that is stuck kills itself.
    if child.isStuck, !child.hasPlanner, now > child.stuckSince + Self.patience {
      kill(process)
      return
    }
    queue.schedule(.beat(process), at: now + Self.beats)
  }

  mutating func step(_ process: Int) {
    guard var child = children[process], !child.isStuck else { return }
    let next: Interval?
    switch child.phase {
    case .leasing: next = lease(process, &child)
    case .connecting: next = connect(&child)
    case .settling: next = settle(&child)
    case .driving: next = drive(&child)
    case .resting: next = rest(process, &child)
    }
    guard children[process] != nil else { return }
    children[process] = child
    if let next { queue.schedule(.step(process), at: now + next) }
  }

  // MARK: - Its steps

  private mutating func lease(_ process: Int, _ child: inout Child) -> Interval? {
    let place = folder(of: child.scheduler)
    let holders = [locks[child.lock].state[place].holder, dongles[child.dongle].holders[place]]
      .compactMap(\.self)
    guard holders.isEmpty || lab.defect == .forgottenChildren else {
      // Who parks a lock is soon done with it.
      if !child.isWatcher, !child.isAsked, holders.allSatisfy({ children[$0]?.isWatcher ?? false }) {
        return .milliseconds(500)
      }
      child.verdict = (.labFault, "another process holds it")
      child.phase = .resting
      return end(process, &child, park: nil)
    }
    locks[child.lock].state[place].holder = process
    dongles[child.dongle].holders[place] = process
    if locks[child.lock].driver != nil || dongles[child.dongle].driver != nil {
      violate(.oneHolder, "\(locks[child.lock].name) over \(dongles[child.dongle].name) has two drivers")
    }
    (locks[child.lock].driver, dongles[child.dongle].driver) = (process, process)
    let time = clocks(of: bench(of: child))
    locks[child.lock].state[place].forget(at: time)
    let state = locks[child.lock].state[place]
    let isTrusted = lab.defect == .trustedCalendar
    let events = state.events.filter { !isTrusted || !$0.isMovement || $0.time.wall <= time.wall }
    child.ledger = ActuationBudget(events, at: time)
    child.isIndebted = state.isOwed
    child.phase = .connecting
    return .milliseconds(500)
  }

  private mutating func connect(_ child: inout Child) -> Interval? {
    let dongle = child.dongle
    if child.isAsked, child.verdict == nil { child.verdict = (.incomplete, "stopped") }
    if dongles[dongle].isGrave {
      // It is in the kernel, and nobody hears of it again.
      dongles[dongle].isGrave = false
      child.isStuck = true
      child.stuckSince = now
      return nil
    }
    if let time = recover(&child, isTransportLost: true) { return time }
    if locks[child.lock].isEmpty {
      child.verdict = child.verdict ?? (.labFault, "the lock does not answer")
      child.phase = .resting
      child.isCut = true
      return .seconds(20)
    }
    child.phase = child.verdict != nil ? .resting : child.isIndebted ? .settling : .driving
    return .milliseconds(Int64(1500 + generator.below(2000)))
  }

  /// Does what whoever had the lock before was killed over: parks it, before anything else is done with it.
  private mutating func settle(_ child: inout Child) -> Interval? {
    let lock = child.lock
    if let time = recover(&child, isTransportLost: false) {
      child.verdict = (.labFault, "the controller does not answer")
      child.phase = .resting
      return time
    }
    if child.isCut || child.isAsked {
      child.phase = .driving
      return .milliseconds(100)
    }
    if locks[lock].isParked {
      if !isDiskFull(bench(of: child)) { locks[lock].state[folder(of: child.scheduler)].isOwed = false }
      child.phase = .driving
      return .milliseconds(100)
    }
    switch payment(for: .park, &child) {
    case .wait(let time): return time
    case .refused(let why, let pause):
      child.verdict = (.limited, why)
      child.pause = pause
    case .paid:
      if move(&child) { return .seconds(1) }
      child.verdict = (.labFault, "the bolt does not move")
    }
    child.phase = .resting
    return .milliseconds(100)
  }

  /// Whether a dongle does not answer.
  private func isTroubled(_ dongle: Int) -> Bool {
    dongles[dongle].isDead || dongles[dongle].cure != nil || now < dongles[dongle].goneUntil
  }

  /// Brings a dongle back that is in trouble; how long that takes, or `nil` where there is no trouble.
  private mutating func recover(_ child: inout Child, isTransportLost: Bool) -> Interval? {
    let dongle = child.dongle
    guard isTroubled(dongle) else { return nil }
    let time = climb(dongle, isTransportLost: isTransportLost)
    if isTroubled(dongle) {
      child.verdict = child.verdict ?? (.labFault, "no step is left")
      child.outOfUse = .dongle(dongles[dongle].name)
      child.phase = .resting
      child.isCut = true
    } else {
      outcome.hangs.append(dongles[dongle].lost + time)
      dongles[dongle].lost = .zero
    }
    return time
  }

  /// Climbs back to a dongle with the real escalation; how long that takes.
  private mutating func climb(_ dongle: Int, isTransportLost: Bool) -> Interval {
    var time = now
    var escalation = dongles[dongle].escalation
    _ = escalation.begin(isTransportLost: isTransportLost, at: time)
    while let (step, limit) = escalation.next(at: time) {
      let isThere = !dongles[dongle].isDead && time >= dongles[dongle].goneUntil
      let helps = isThere && (dongles[dongle].cure.map { step >= $0 } ?? true)
      // One that does not help takes all the time that it has.
      time = helps ? time + .milliseconds((limit - time).nanoseconds / 2_000_000) : limit
      _ = escalation.ended(with: helps ? nil : "the controller does not answer", at: time)
      if helps {
        dongles[dongle].cure = nil
        break
      }
    }
    dongles[dongle].escalation = escalation
    return time - now
  }

  private mutating func drive(_ child: inout Child) -> Interval? {
    child.phase = .resting
    if let time = recover(&child, isTransportLost: false) {
      child.verdict = (.labFault, "the controller does not answer")
      return time
    }
    if child.isCut {
      child.isCut = false
      child.verdict = (.labFault, "the link was lost")
      // It comes back by itself, mostly.
      return .seconds(3)
    }
    if child.isAsked {
      child.verdict = (.incomplete, "stopped")
      return .milliseconds(100)
    }
    if child.left == 0 || now >= child.end {
      return judge(&child)
    }
    switch payment(for: .movement, &child) {
    case .wait(let time):
      child.phase = .driving
      return time
    case .refused(let why, let pause):
      child.verdict = (.limited, why)
      child.pause = pause
      return .milliseconds(100)
    case .paid: break
    }
    if move(&child) {
      child.left -= 1
      child.phase = .driving
      return .milliseconds(Int64(1000 + generator.below(12_000)))
    }
    child.verdict = (.diverged, "the bolt does not move")
    return .seconds(5)
  }

  private mutating func judge(_ child: inout Child) -> Interval {
    guard case .test(let identity) = child.attempt.work else {
      child.verdict = (.agreed, "")
      return .milliseconds(100)
    }
    if generator.below(200) == 0 {
      child.verdict = (.diverged, "the lock showed something else")
    } else {
      child.verdict = (.agreed, "")
      // What is not on the disk never happened.
      if !isDiskFull(bench(of: child)) {
        schedulers[child.scheduler].agreed[identity] = child.attempt.number
      }
    }
    return .milliseconds(100)
  }

  // MARK: - Movements

  private enum Payment {
    case paid
    case wait(Interval)
    case refused(String, pause: Interval?)
  }

  /// Counts a movement that is about to begin, as far as the limits allow one.
  private mutating func payment(for purpose: ActuationBudget.Purpose, _ child: inout Child) -> Payment {
    let time = clocks(of: bench(of: child))
    let kept = purpose == .park ? 0 : 1
    guard child.used + kept < child.attempt.actuations else {
      return .refused("its \(child.attempt.actuations) movements are used up", pause: nil)
    }
    if let refusal = child.ledger.refusal(for: purpose, under: limits, at: time.uptime) {
      if refusal.until == .never { return .refused("\(refusal)", pause: nil) }
      let wait = refusal.until - time.uptime
      return wait <= .seconds(10) ? .wait(wait) : .refused("\(refusal)", pause: wait)
    }
    guard !isDiskFull(bench(of: child)) else {
      return .refused("movements cannot be counted", pause: .seconds(60))
    }
    let place = folder(of: child.scheduler)
    if lab.defect != .forgottenParking { locks[child.lock].state[place].isOwed = true }
    let event = LockEvent(.movement("lock"), at: time)
    if lab.defect == .lateCycleCounter {
      child.uncounted.append(event)
    } else {
      locks[child.lock].state[place].events.append(event)
    }
    child.ledger.move(at: time.uptime)
    child.used += 1
    return .paid
  }

  /// Turns the bolt; false when it does not move.
  private mutating func move(_ child: inout Child) -> Bool {
    let lock = child.lock
    outcome.movements += 1
    schedulers[child.scheduler].movements += 1
    locks[lock].usedThisShift += 1
    locks[lock].mover = child.scheduler
    check(lock, of: child.scheduler)
    locks[lock].moved.append(now)
    guard now >= locks[lock].jammedUntil else {
      let time = clocks(of: bench(of: child))
      if !isDiskFull(bench(of: child)) {
        locks[lock].state[folder(of: child.scheduler)].events.append(LockEvent(.jam("it is stuck"), at: time))
      }
      child.ledger.jam(at: time.uptime)
      locks[lock].isParked = false
      return false
    }
    locks[lock].isParked.toggle()
    return true
  }

  /// Holds a movement against the budgets: those of a scheduler are its own, those of a lock are for all together.
  private mutating func check(_ lock: Int, of index: Int) {
    let (settings, state, scheduler) = (lab.settings, locks[lock], schedulers[index])
    let (made, maximum) = (scheduler.movements, scheduler.settings.actuations ?? .max)
    if made > maximum { violate(.budgets, "scheduler \(index) made \(made) movements of \(maximum)") }
    if let last = state.moved.last, now < last + limits.gap {
      violate(.budgets, "\(state.name) moved twice in \(now - last)")
    }
    let blindUntil = state.blindUntil
    let isAlone = schedulers.count { $0.bench == state.bench } == 1
    if isAlone || now >= blindUntil, state.usedThisShift > settings.perShift {
      violate(.budgets, "\(state.name) made \(state.usedThisShift) movements of \(settings.perShift)")
    }
    let start = max(now - ActuationBudget.hour, blindUntil)
    let recent = state.moved.reversed().prefix { $0 > start }.count + 1
    if recent > settings.perHour, now >= blindUntil {
      violate(.budgets, "\(state.name) made \(recent) movements in an hour")
    }
  }

  // MARK: - The end

  private mutating func rest(_ process: Int, _ child: inout Child) -> Interval? {
    let lock = child.lock
    if child.verdict == nil {
      child.verdict = child.attempt.work == .park ? (.agreed, "") : (.incomplete, "stopped")
    }
    if locks[lock].isParked, !child.isCut {
      return end(process, &child, park: .parked)
    }
    if child.isCut {
      return end(process, &child, park: child.used == 0 ? .unknown : .elsewhere("it was not reached"))
    }
    if child.restUntil == .zero { child.restUntil = now + .seconds(60) }
    switch payment(for: .park, &child) {
    case .wait(let time) where now + time <= child.restUntil: return time
    case .wait:
      return end(process, &child, park: .elsewhere("it took too long"))
    case .refused(let why, let pause):
      if let pause { child.pause = max(pause, child.pause ?? .zero) }
      return end(process, &child, park: .elsewhere(why))
    case .paid:
      if move(&child) { return .seconds(1) }
      return end(process, &child, park: .elsewhere("the bolt does not move"))
    }
  }

  private mutating func end(_ process: Int, _ child: inout Child, park: ParkState?) -> Interval? {
    var ending = NightEnding(child.verdict?.0 ?? .incomplete, child.verdict?.1 ?? "", park: park)
    if child.attempt.work == .park, park != .parked {
      ending.verdict = .labFault
      ending.message = if case .elsewhere(let why) = park { why } else { "it was not reached" }
    }
    (ending.pause, ending.outOfUse) = (child.pause, child.outOfUse)
    var isWritten = !isDiskFull(bench(of: child))
    if park == .parked, isWritten { locks[child.lock].state[folder(of: child.scheduler)].isOwed = false }
    if case .test(let identity) = child.attempt.work, schedulers[child.scheduler].agreed[identity] != nil {
      isWritten = true
    }
    if !isWritten {
      ending = NightEnding(.labFault, "its journal could not be written", park: park ?? .unknown)
    }
    bury(process, child, ending, notifiesPlanner: true)
    return nil
  }

  /// Kills a child at once.
  ///
  /// - Parameter sparesWatcher: whether the process beside it lives on, and sees to the lock.
  /// - Returns: what it left, where the planner is to be told by the caller.
  @discardableResult
  mutating func kill(_ process: Int, notifiesPlanner: Bool = true, sparesWatcher: Bool = true) -> NightEnding?
  {
    guard let child = children[process] else { return nil }
    if child.isStuck {
      // What it was stuck in is over now, and the dongle wants to be opened anew.
      dongles[child.dongle].cure = max(dongles[child.dongle].cure ?? .reconnect, .reopen)
      dongles[child.dongle].lost = now - child.stuckSince
    }
    // A verdict that is on the disk holds.
    let isJudged = child.phase == .resting && child.verdict?.0 == .agreed && !isDiskFull(bench(of: child))
    var ending = NightEnding(isJudged ? .agreed : .incomplete, "its process was killed", park: .unknown)
    let place = folder(of: child.scheduler)
    if lab.defect == .rosyLeave {
      ending.park = .parked
      locks[child.lock].state[place].isOwed = false
    }
    if sparesWatcher, !child.isWatcher, locks[child.lock].state[place].holder == process {
      let watch = Watch(
        scheduler: child.scheduler, lock: child.lock, dongle: child.dongle, limit: now + Self.watches.time)
      queue.schedule(.watch(watch), at: now + .milliseconds(200))
    }
    return bury(process, child, ending, notifiesPlanner: notifiesPlanner)
  }

  @discardableResult
  private mutating func bury(
    _ process: Int, _ child: Child, _ ending: NightEnding, notifiesPlanner: Bool
  ) -> NightEnding {
    var ending = ending
    let (lock, dongle, place) = (child.lock, child.dongle, folder(of: child.scheduler))
    if locks[lock].state[place].holder == process { locks[lock].state[place].holder = nil }
    if dongles[dongle].holders[place] == process { dongles[dongle].holders[place] = nil }
    let hadIt = locks[lock].driver == process
    if hadIt { locks[lock].driver = nil }
    if dongles[dongle].driver == process { dongles[dongle].driver = nil }
    // One that was killed counted nothing, where counting comes last.
    if ending.message != "its process was killed" { locks[lock].state[place].events += child.uncounted }
    if hadIt, !locks[lock].isParked, !locks[lock].state[place].isOwed {
      violate(.parkedOrSaid, "\(locks[lock].name) is not parked, and nothing on the disk says so")
    }
    children[process] = nil
    ending.cycleCounter = locks[lock].state[place].reading
    guard !child.isWatcher else { return ending }
    journals[journalKey(child.scheduler, child.attempt.number)] = ending
    if child.hasPlanner, notifiesPlanner { notify(child.scheduler, .ended(child.attempt.number, ending)) }
    return ending
  }

  func journalKey(_ scheduler: Int, _ number: Int) -> Int { scheduler * 1_000_000 + number }
}
