import Basics

// What drives a lock: a process that may be cut off, hang, be asked to end or be killed, and leaves a journal.
extension LabWorld {
  /// A child of a planner.
  struct Child {
    var bench: Int
    var attempt: NightAttempt
    var lock: Int
    var dongle: Int
    var phase = Phase.leasing
    /// What is still to be moved.
    var left: Int
    /// When it ends at the latest, for fuzzing.
    var end = Instant.never
    var used = 0
    var ledger = WearLedger()
    /// What came of it so far.
    var verdict: (NightEnding.Verdict, String)?
    /// The movements that the odometer does not have yet; only where it is wrong.
    var uncounted: [WearLine] = []
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
    case leasing, connecting, driving, resting

    var isOnAir: Bool { self == .driving || self == .resting }
  }

  private static let beats = Interval.milliseconds(500)
  /// After how long a process that is stuck shows no more signs of life.
  private static let patience = Interval.seconds(2)

  mutating func start(_ attempt: NightAttempt, on bench: Int) {
    guard let lock = lock(attempt.lock), let dongle = dongles.firstIndex(where: { $0.name == attempt.dongle })
    else { preconditionFailure("there is no such lock or dongle") }
    outcome.runs += 1
    var child = Child(bench: bench, attempt: attempt, lock: lock, dongle: dongle, left: 0)
    switch attempt.work {
    case .test(let identity):
      if benches[bench].agreed[identity] != nil {
        violate(.nothingTwice, "\(identity) agreed, and is driven again")
      }
      child.left = 2 + generator.below(8)
    case .fuzz(let time):
      child.left = .max
      child.end = now + time
    case .rest: child.left = 0
    }
    children[nextProcess] = child
    queue.schedule(.step(nextProcess), at: now + .milliseconds(5))
    queue.schedule(.beat(nextProcess), at: now + Self.beats)
    nextProcess += 1
  }

  mutating func stop(_ number: Int, of bench: Int) {
    for (process, child) in living where child.bench == bench && child.attempt.number == number {
      children[process]?.isAsked = true
    }
  }

  mutating func beat(_ process: Int) {
    guard let child = children[process] else { return }
    if child.hasPlanner, !child.isStuck || now < child.stuckSince + Self.patience {
      tell(child.bench, .sign(child.attempt.number))
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
    case .driving: next = drive(&child)
    case .resting: next = rest(process, &child)
    }
    guard children[process] != nil else { return }
    children[process] = child
    if let next { queue.schedule(.step(process), at: now + next) }
  }

  // MARK: - Its steps

  private mutating func lease(_ process: Int, _ child: inout Child) -> Interval? {
    let isFree = locks[child.lock].holder == nil && dongles[child.dongle].holder == nil
    guard isFree || lab.defect == .forgottenChildren else {
      child.verdict = (.labFault, "another process holds it")
      child.phase = .resting
      return end(process, &child, leave: nil)
    }
    (locks[child.lock].holder, dongles[child.dongle].holder) = (process, process)
    if locks[child.lock].driver != nil || dongles[child.dongle].driver != nil {
      violate(.oneHolder, "\(locks[child.lock].name) over \(dongles[child.dongle].name) has two drivers")
    }
    (locks[child.lock].driver, dongles[child.dongle].driver) = (process, process)
    let time = clocks(of: child.bench)
    locks[child.lock].forget(at: time)
    child.ledger = WearLedger(odometer: locks[child.lock].odometer, notes: locks[child.lock].notes, at: time)
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
    if let time = recover(&child, isWayLost: true) { return time }
    if locks[child.lock].isEmpty {
      child.verdict = child.verdict ?? (.labFault, "the lock does not answer")
      child.phase = .resting
      child.isCut = true
      return .seconds(20)
    }
    child.phase = child.verdict == nil ? .driving : .resting
    return .milliseconds(Int64(1500 + generator.below(2000)))
  }

  /// Brings a dongle back that is in trouble; how long that takes, or `nil` where there is no trouble.
  private mutating func recover(_ child: inout Child, isWayLost: Bool) -> Interval? {
    let dongle = child.dongle
    guard dongles[dongle].isDead || dongles[dongle].cure != nil else { return nil }
    let time = climb(dongle, isWayLost: isWayLost)
    if dongles[dongle].isDead || dongles[dongle].cure != nil {
      child.verdict = child.verdict ?? (.labFault, "no rung is left")
      child.outOfUse = .dongle(dongles[dongle].name)
      child.phase = .resting
      child.isCut = true
    } else {
      outcome.hangs.append(dongles[dongle].lost + time)
      dongles[dongle].lost = .zero
    }
    return time
  }

  /// Climbs back to a dongle with the real ladder; how long that takes.
  private mutating func climb(_ dongle: Int, isWayLost: Bool) -> Interval {
    var time = now
    var ladder = dongles[dongle].ladder
    _ = ladder.begin(isWayLost: isWayLost, at: time)
    while let (rung, limit) = ladder.next(at: time) {
      let helps = !dongles[dongle].isDead && (dongles[dongle].cure.map { rung >= $0 } ?? true)
      // One that does not help takes all the time that it has.
      time = helps ? time + .milliseconds((limit - time).nanoseconds / 2_000_000) : limit
      _ = ladder.ended(with: helps ? nil : "the controller does not answer", at: time)
      if helps {
        dongles[dongle].cure = nil
        break
      }
    }
    dongles[dongle].ladder = ladder
    return time - now
  }

  private mutating func drive(_ child: inout Child) -> Interval? {
    child.phase = .resting
    if let time = recover(&child, isWayLost: false) {
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
    child.verdict = (.divergence, "the bolt does not move")
    return .seconds(5)
  }

  private mutating func judge(_ child: inout Child) -> Interval {
    guard case .test(let identity) = child.attempt.work else {
      child.verdict = (.agree, "")
      return .milliseconds(100)
    }
    if generator.below(200) == 0 {
      child.verdict = (.divergence, "the lock showed something else")
    } else {
      child.verdict = (.agree, "")
      // What is not on the disk never happened.
      if !isDiskFull(child.bench) { benches[child.bench].agreed[identity] = child.attempt.number }
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
  private mutating func payment(for purpose: WearLedger.Purpose, _ child: inout Child) -> Payment {
    let time = clocks(of: child.bench)
    let kept = purpose == .rest ? 0 : 1
    guard child.used + kept < child.attempt.actuations else {
      return .refused("its \(child.attempt.actuations) movements are used up", pause: nil)
    }
    if let refusal = child.ledger.refusal(for: purpose, under: limits, at: time.uptime) {
      if refusal.until == .never { return .refused("\(refusal)", pause: nil) }
      let wait = refusal.until - time.uptime
      return wait <= .seconds(10) ? .wait(wait) : .refused("\(refusal)", pause: wait)
    }
    guard !isDiskFull(child.bench) else {
      return .refused("movements cannot be counted", pause: .seconds(60))
    }
    let line = WearLine("lock", at: time)
    if lab.defect == .lateOdometer {
      child.uncounted.append(line)
    } else {
      locks[child.lock].odometer.append(line)
    }
    child.ledger.move(at: time.uptime)
    child.used += 1
    return .paid
  }

  /// Turns the bolt; false when it does not move.
  private mutating func move(_ child: inout Child) -> Bool {
    let lock = child.lock
    outcome.movements += 1
    benches[child.bench].movements += 1
    locks[lock].usedTonight += 1
    check(lock, of: child.bench)
    locks[lock].moved.append(now)
    guard now >= locks[lock].jammedUntil else {
      if !isDiskFull(child.bench) { locks[lock].notes.append(WearLine("jam", at: clocks(of: child.bench))) }
      child.ledger.jam(at: clocks(of: child.bench).uptime)
      locks[lock].isAtRest = false
      return false
    }
    locks[lock].isAtRest.toggle()
    return true
  }

  /// Holds a movement against the budgets.
  private mutating func check(_ lock: Int, of bench: Int) {
    let (settings, state) = (lab.settings, locks[lock])
    if benches[bench].movements > settings.actuations {
      violate(.budgets, "bench \(bench) made \(benches[bench].movements) movements of \(settings.actuations)")
    }
    if state.usedTonight > settings.perNight {
      violate(.budgets, "\(state.name) made \(state.usedTonight) movements of \(settings.perNight)")
    }
    if let last = state.moved.last, now < last + limits.gap {
      violate(.budgets, "\(state.name) moved twice in \(now - last)")
    }
    // Where the calendar was set forward and the machine started anew, nobody can know how long ago things were.
    let start = max(now - WearLedger.hour, benches[bench].blindUntil)
    let recent = state.moved.reversed().prefix { $0 > start }.count + 1
    if recent > settings.perHour, now >= benches[bench].blindUntil {
      violate(.budgets, "\(state.name) made \(recent) movements in an hour")
    }
  }

  // MARK: - The end

  private mutating func rest(_ process: Int, _ child: inout Child) -> Interval? {
    let lock = child.lock
    if child.verdict == nil {
      child.verdict = child.attempt.work == .rest ? (.agree, "") : (.incomplete, "stopped")
    }
    if locks[lock].isAtRest, !child.isCut {
      return end(process, &child, leave: .atRest)
    }
    if child.isCut {
      return end(process, &child, leave: child.used == 0 ? .unknown : .elsewhere("it was not reached"))
    }
    if child.restUntil == .zero { child.restUntil = now + .seconds(60) }
    switch payment(for: .rest, &child) {
    case .wait(let time) where now + time <= child.restUntil: return time
    case .wait:
      return end(process, &child, leave: .elsewhere("it took too long"))
    case .refused(let why, let pause):
      if let pause { child.pause = max(pause, child.pause ?? .zero) }
      return end(process, &child, leave: .elsewhere(why))
    case .paid:
      if move(&child) { return .seconds(1) }
      return end(process, &child, leave: .elsewhere("the bolt does not move"))
    }
  }

  private mutating func end(_ process: Int, _ child: inout Child, leave: LockLeave?) -> Interval? {
    var ending = NightEnding(child.verdict?.0 ?? .incomplete, child.verdict?.1 ?? "", leave: leave)
    if child.attempt.work == .rest, leave != .atRest {
      ending.verdict = .labFault
      ending.message = if case .elsewhere(let why) = leave { why } else { "it was not reached" }
    }
    (ending.pause, ending.outOfUse) = (child.pause, child.outOfUse)
    var isWritten = !isDiskFull(child.bench)
    if case .test(let identity) = child.attempt.work, benches[child.bench].agreed[identity] != nil {
      isWritten = true
    }
    if !isWritten {
      ending = NightEnding(.labFault, "its journal could not be written", leave: leave ?? .unknown)
    }
    bury(process, child, ending, tellsPlanner: true)
    return nil
  }

  /// Kills a child at once.
  ///
  /// - Returns: what it left, where the planner is to be told by the caller.
  @discardableResult
  mutating func kill(_ process: Int, tellsPlanner: Bool = true) -> NightEnding? {
    guard let child = children[process] else { return nil }
    if child.isStuck {
      // What it was stuck in is over now, and the dongle wants to be opened anew.
      dongles[child.dongle].cure = max(dongles[child.dongle].cure ?? .reconnect, .reopen)
      dongles[child.dongle].lost = now - child.stuckSince
    }
    // A verdict that is on the disk holds.
    let isJudged = child.phase == .resting && child.verdict?.0 == .agree && !isDiskFull(child.bench)
    var ending = NightEnding(isJudged ? .agree : .incomplete, "its process was killed", leave: .unknown)
    if lab.defect == .rosyLeave { ending.leave = .atRest }
    return bury(process, child, ending, tellsPlanner: tellsPlanner)
  }

  @discardableResult
  private mutating func bury(
    _ process: Int, _ child: Child, _ ending: NightEnding, tellsPlanner: Bool
  ) -> NightEnding {
    var ending = ending
    if locks[child.lock].holder == process { locks[child.lock].holder = nil }
    if locks[child.lock].driver == process { locks[child.lock].driver = nil }
    if dongles[child.dongle].holder == process { dongles[child.dongle].holder = nil }
    if dongles[child.dongle].driver == process { dongles[child.dongle].driver = nil }
    // One that was killed counted nothing, where counting comes last.
    if ending.message != "its process was killed" { locks[child.lock].odometer += child.uncounted }
    journals[journalKey(child.bench, child.attempt.number)] = ending
    children[process] = nil
    ending.odometer = locks[child.lock].reading
    if child.hasPlanner, tellsPlanner { tell(child.bench, .ended(child.attempt.number, ending)) }
    return ending
  }

  func journalKey(_ bench: Int, _ number: Int) -> Int { (night * 16 + bench) * 1_000_000 + number }
}
