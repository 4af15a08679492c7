public import Simulation

/// A night of a lab: which case runs when, on which lock and over which dongle, until each has a verdict or a reason.
///
///            begin                 no case can be begun any more,
///     new ──────────▶ under way ─────────────────────────────────▶ over
///                     │       ▲    and nothing runs
///      killed at any  ▼       │ begin
///      moment         taken up again from its record
///
/// It does no I/O and reads no clock: feed it what happened and when, as time since the night began, then carry out the
/// actions it returns, in order. ``NightAction/record(_:)`` comes before what it speaks of: the line must be on the disk
/// before the next action is carried out. Where it cannot be written, that line and all lines and starts behind it are
/// left out and reported as ``NightEvent/unwritten(_:why:)``; whatever stops or kills is carried out nevertheless.
///
/// What it holds to, whatever happens:
///
/// - A lock and a dongle are in at most one run at a time.
/// - A case that came to a verdict is never begun again. One that was begun and has no end in the record may be.
/// - The movements that were made and those that running children may still make are never more than the budgets; as
///   many are kept back as bringing each lock to rest may take.
/// - A lock that somebody left away from rest, or of which nobody knows, is brought back first; where that fails
///   it is out of use, and the summary says so.
/// - When it is over each case has a result.
public struct Night: Sendable {
  /// The budgets and the patience.
  public let settings: NightSettings
  /// What the night is called.
  public let name: String
  /// The cases, in the order of the plan.
  public private(set) var cases: [CaseState]
  /// The locks.
  public private(set) var locks: [LockState]
  /// The dongles.
  public private(set) var dongles: [DongleState]
  /// All runs that ended, in the order in which they did.
  public private(set) var ended: [Ended] = []
  /// The runs that are under way.
  public private(set) var running: [Running] = []
  /// Whether it is over.
  public private(set) var isOver = false
  /// Why nothing more is begun, where somebody said so.
  public private(set) var stopped: String?

  /// What is known of a case.
  public struct CaseState: Sendable {
    /// The case.
    public let test: NightCase
    /// What became of it; `nil` while that is open.
    public fileprivate(set) var result: NightResult?
    /// The numbers of the runs that drove it.
    public fileprivate(set) var runs: [Int] = []
    fileprivate var isRunning = false
    /// How often it diverged, the lab failed it, and it was begun without coming to an end.
    fileprivate var divergences = 0
    fileprivate var labFailures = 0
    fileprivate var losses = 0
    fileprivate var last: NightEnding?
    /// Whether its next run is one of the retries.
    fileprivate var isRetry = false
    /// The dongles over which the lab failed it.
    fileprivate var avoided: [String] = []
  }

  /// What is known of a lock.
  public struct LockState: Sendable {
    /// The lock.
    public let lock: NightLock
    /// Why it is out of use, if it is.
    public fileprivate(set) var outOfUse: String?
    /// Why it is asked for nothing more tonight, if that is so.
    public fileprivate(set) var spent: String?
    /// The movements of this night.
    public fileprivate(set) var used = 0
    /// What its odometer said last.
    public fileprivate(set) var odometer: Int
    /// How it was left; `nil` for one that was not used, or cannot be left anywhere.
    public fileprivate(set) var leave: NightLeave?
    fileprivate var run: Int?
    /// When it may be used again.
    fileprivate var readyAt = Instant.zero
    /// The dongles over which it failed, since it last worked.
    fileprivate var failures: [String] = []
    /// How often it was tried in vain to bring it to rest.
    fileprivate var restTries = 0
    fileprivate var isFuzzed: Bool
    /// Whether it has worked since it last failed.
    fileprivate var isTrusted = false
    /// The numbers of its cases that are open.
    fileprivate var open: [Int] = []

    fileprivate var needsRest: Bool {
      guard lock.isReal, restTries < Night.mostRestTries else { return false }
      switch leave {
      case .elsewhere, .unknown: return true
      case .atRest, nil: return false
      }
    }
  }

  /// What is known of a dongle.
  public struct DongleState: Sendable {
    /// The dongle.
    public let dongle: NightDongle
    /// Why it is out of use, if it is.
    public fileprivate(set) var outOfUse: String?
    fileprivate var run: Int?
    /// The locks that failed over it, since it last worked.
    fileprivate var failures: [String] = []
  }

  /// A run that ended.
  public struct Ended: Sendable {
    /// What was done.
    public let attempt: NightAttempt
    /// What came of it.
    public let ending: NightEnding
    /// From when to when.
    public let begin: Instant, end: Instant
  }

  /// A run that is under way.
  public struct Running: Sendable {
    /// What is done.
    public let attempt: NightAttempt
    /// Since when.
    public let begin: Instant
    fileprivate var limit: Instant
    fileprivate var lastSign: Instant
    fileprivate var stage = Stage.working
  }

  fileprivate enum Stage: Equatable {
    case working
    /// It was asked to end, and is killed when it does not.
    case stopping(killAt: Instant, why: String, isFault: Bool)
    case killed(abandonAt: Instant, why: String, isFault: Bool)
  }

  /// How often it is tried to bring a lock to rest, how many movements each try may take, and so how many are kept back
  /// for that.
  fileprivate static let mostRestTries = 2
  private static let restMovements = 2
  private static let keptBack = mostRestTries * restMovements
  /// How often a case may be begun without coming to an end.
  private static let mostLosses = 10
  /// After how many failures in a row a lock or a dongle is out of use.
  private static let mostFailures = 3
  /// How long to wait until the record is tried again that could not be written.
  private static let recordPause = Interval.seconds(30)
  /// How long a process may go on to be there after it was killed.
  private static let burial = Interval.seconds(30)
  /// How much longer than it is told a stretch of fuzzing may take.
  private static let fuzzMargin = Interval.seconds(60)
  /// The least time that is worth fuzzing in.
  private static let leastFuzzing = Interval.seconds(10)

  private var hasBegun = false
  private var isResumed = false
  private var nextNumber = 1
  private var retriesUsed = 0
  /// Lines that could not be written yet; they have taken effect here.
  private var backlog: [NightLine] = []
  /// Until when the record is left alone, since it could not be written.
  private var pausedUntil: Instant?
  /// How often it could not be written.
  private var unwrittenTries = 0
  /// The last moment that was heard of.
  private var clock = Instant.zero
  /// Where each case stands.
  private var places: [String: Int] = [:]

  /// Makes a night that has not begun.
  public init(
    _ settings: NightSettings, name: String, cases: [NightCase], locks: [NightLock], dongles: [NightDongle]
  ) {
    self.settings = settings
    self.name = name
    self.cases = cases.map { CaseState(test: $0) }
    self.locks = locks.map { lock in
      LockState(
        lock: lock, outOfUse: lock.outOfUse, odometer: lock.odometer, isFuzzed: lock.isFuzzed,
        open: cases.indices.filter { cases[$0].lock == lock.name })
    }
    self.dongles = dongles.map { DongleState(dongle: $0, outOfUse: $0.outOfUse) }
    for (place, test) in cases.enumerated() {
      precondition(places.updateValue(place, forKey: test.identity) == nil, "a case is planned twice")
    }
  }

  /// Takes a night up again from its record.
  ///
  /// Runs that the record does not end are ``running`` still, as far as it knows: for each of them somebody must look,
  /// and say what came of it with ``NightEvent/ended(_:_:)``.
  public init(
    _ settings: NightSettings, name: String, cases: [NightCase], locks: [NightLock], dongles: [NightDongle],
    resuming record: [NightLine]
  ) {
    self.init(settings, name: name, cases: cases, locks: locks, dongles: dongles)
    isResumed = !record.isEmpty
    for line in record { apply(line) }
  }
}

/// What happens to a night.
public enum NightEvent: Equatable, Sendable {
  /// It is to begin, or to go on; by the clocks of the machine.
  case begin(BenchTime)
  /// A run ended, by its number.
  case ended(Int, NightEnding)
  /// A run showed a sign of life.
  case sign(Int)
  /// Time has passed, to ``Night/deadline`` or anywhere.
  case time
  /// Somebody wants it to end.
  case stop(String)
  /// These lines could not be written.
  case unwritten([NightLine], why: String)
  /// Somebody put a lock or a dongle back to use.
  case restored(NightDevice)
}

/// What is to be done for a night.
public enum NightAction: Equatable, Sendable {
  /// Write a line to the record, and do nothing else before it is on the disk.
  case record(NightLine)
  /// Start a run.
  case start(NightAttempt)
  /// Ask a run to end; it brings its lock to rest.
  case stop(Int)
  /// Kill a run.
  case kill(Int)
  /// The night is over.
  case finish
}

// MARK: - What happens

extension Night {
  /// Takes in what happened.
  public mutating func receive(_ event: NightEvent, at now: Instant) -> [NightAction] {
    var actions: [NightAction] = []
    guard !isOver else { return [] }
    clock = max(clock, now)
    switch event {
    case .begin(let time): begin(time, at: now, &actions)
    case .ended(let number, let ending): take(ending, of: number, at: now, &actions)
    case .sign(let number):
      guard let index = index(of: number) else { return [] }
      running[index].lastSign = now
      return []
    case .time: break
    case .stop(let why): stop(why, at: now, &actions)
    case .unwritten(let lines, _): putBack(lines, at: now)
    case .restored(let device):
      guard isOutOfUse(device) else { return [] }
      write(.back(device, at: now), &actions)
    }
    guard hasBegun else { return actions }
    watch(at: now, &actions)
    catchUp(at: now, &actions)
    schedule(at: now, &actions)
    conclude(at: now, &actions)
    return actions
  }

  /// When it must be told that time has passed, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    guard hasBegun, !isOver else { return nil }
    var times = running.map { run in
      switch run.stage {
      case .working: min(run.limit, silenceLimit(run))
      case .stopping(let time, _, _): time
      case .killed(let time, _, _): time
      }
    }
    if let pausedUntil { times.append(pausedUntil) }
    times += locks.filter { $0.run == nil && $0.outOfUse == nil }.map(\.readyAt)
    times.append(.zero + settings.duration)
    return times.filter { $0 > clock }.min()
  }

  private mutating func begin(_ time: BenchTime, at now: Instant, _ actions: inout [NightAction]) {
    if isResumed {
      write(.resumed(at: now), &actions)
      for index in running.indices { running[index].lastSign = now }
    } else {
      write(.begin(name: name, time), &actions)
    }
    hasBegun = true
    // What was known before the record could say it.
    for index in cases.indices where cases[index].result == nil && !cases[index].isRunning {
      if let result = decision(on: cases[index]) {
        write(.done(cases[index].test.identity, result, at: now), &actions)
      }
    }
    judgeLocks(at: now, &actions)
  }

  private mutating func stop(_ why: String, at now: Instant, _ actions: inout [NightAction]) {
    guard stopped == nil else { return }
    stopped = why
    for index in running.indices {
      ask(index, why, isFault: false, within: settings.grace, at: now, &actions)
    }
  }

  private mutating func ask(
    _ index: Int, _ why: String, isFault: Bool, within grace: Interval, at now: Instant,
    _ actions: inout [NightAction]
  ) {
    guard running[index].stage == .working else { return }
    running[index].stage = .stopping(killAt: now + grace, why: why, isFault: isFault)
    actions.append(.stop(running[index].attempt.number))
  }

  /// Asks what takes too long to end, and kills what does not.
  private mutating func watch(at now: Instant, _ actions: inout [NightAction]) {
    var abandoned: [(Int, String)] = []
    for index in running.indices {
      let run = running[index]
      switch run.stage {
      case .working where now >= silenceLimit(run):
        let why = "it hung: no sign of life for \(settings.silence)"
        ask(index, why, isFault: true, within: settings.hungGrace, at: now, &actions)
      case .working where now >= run.limit:
        let why = "it took longer than \(run.limit - run.begin)"
        ask(index, why, isFault: true, within: settings.grace, at: now, &actions)
      case .stopping(let time, let why, let isFault) where now >= time:
        running[index].stage = .killed(abandonAt: now + Self.burial, why: why, isFault: isFault)
        actions.append(.kill(run.attempt.number))
      case .killed(let time, let why, _) where now >= time: abandoned.append((run.attempt.number, why))
      case .working, .stopping, .killed: break
      }
    }
    for (number, why) in abandoned {
      let words = why + "; its process cannot be killed"
      let dongle = index(of: number).flatMap { running[$0].attempt.dongle }
      let ending = NightEnding(
        .labFault, words, leave: .unknown, outOfUse: dongle.map { .dongle($0) })
      take(ending, of: number, at: now, &actions)
    }
  }

  private func silenceLimit(_ run: Running) -> Instant {
    run.attempt.dongle == nil ? .never : run.lastSign + settings.silence
  }

  private mutating func take(
    _ ending: NightEnding, of number: Int, at now: Instant, _ actions: inout [NightAction]
  ) {
    guard let index = index(of: number) else { return }
    let run = running[index]
    write(.end(number, normalized(ending, of: run), at: now), &actions)
    if let device = ending.outOfUse, !isOutOfUse(device) {
      write(.out(device, why: ending.message, at: now), &actions)
    }
    if case .test(let identity) = run.attempt.work, let place = place(of: identity),
      let result = decision(on: cases[place])
    {
      write(.done(identity, result, at: now), &actions)
    }
    judge(run.attempt, at: now, &actions)
    judgeLocks(at: now, &actions)
  }

  /// What an ending means, given how it came about.
  private func normalized(_ ending: NightEnding, of run: Running) -> NightEnding {
    var ending = ending
    switch run.stage {
    case .working: break
    case .stopping(_, let why, let isFault), .killed(_, let why, let isFault):
      // One that came to its verdict all the same has it.
      if ending.verdict == .incomplete || ending.verdict == .labFault {
        ending.verdict = isFault ? .labFault : .incomplete
        ending.message = why
      }
      if case .killed = run.stage, ending.leave == nil { ending.leave = .unknown }
    }
    if let lock = self.lock(run.attempt.lock), !lock.lock.isReal { ending.leave = nil }
    return ending
  }

  /// Puts a lock or a dongle out of use that failed too often.
  private mutating func judge(_ attempt: NightAttempt, at now: Instant, _ actions: inout [NightAction]) {
    guard let lock = locks.first(where: { $0.lock.name == attempt.lock }) else { return }
    let dongle = dongles.first { $0.dongle.name == attempt.dongle }
    let (locksThere, waysHere) = (Set(dongle?.failures ?? []).count, Set(lock.failures).count)
    let isLock = lock.failures.count >= Self.mostFailures
    if let dongle, dongle.outOfUse == nil, dongle.failures.count >= Self.mostFailures, locksThere > 1,
      !isLock || locksThere >= waysHere
    {
      let why =
        "\(dongle.failures.count) runs with \(locksThere) locks failed one after the other: "
        + (ended.last?.ending.message ?? "")
      write(.out(.dongle(dongle.dongle.name), why: why, at: now), &actions)
    } else if lock.outOfUse == nil, isLock {
      let why =
        "\(lock.failures.count) runs" + (waysHere > 1 ? " over \(waysHere) dongles" : "")
        + " failed one after the other: \(ended.last?.ending.message ?? "")"
      write(.out(.lock(lock.lock.name), why: why, at: now), &actions)
    }
  }

  /// Puts a lock out of use that cannot be brought to rest.
  private mutating func judgeLocks(at now: Instant, _ actions: inout [NightAction]) {
    for lock in locks where lock.outOfUse == nil && lock.restTries >= Self.mostRestTries {
      guard case .elsewhere(let why) = lock.leave else { continue }
      write(.out(.lock(lock.lock.name), why: "it could not be brought to rest: \(why)", at: now), &actions)
    }
  }

  /// Takes back what the record does not say.
  private mutating func putBack(_ lines: [NightLine], at now: Instant) {
    for line in lines {
      if case .start(let attempt, _) = line { takeBack(attempt) } else { backlog.append(line) }
    }
    pausedUntil = now + Self.recordPause
    unwrittenTries += 1
  }

  /// Writes what could not be written before.
  private mutating func catchUp(at now: Instant, _ actions: inout [NightAction]) {
    guard let time = pausedUntil, now >= time else { return }
    pausedUntil = nil
    actions += backlog.map { .record($0) }
    backlog = []
  }

  /// Lets a line take effect, and has it written.
  private mutating func write(_ line: NightLine, _ actions: inout [NightAction]) {
    apply(line)
    if pausedUntil == nil { actions.append(.record(line)) } else { backlog.append(line) }
  }
}

// MARK: - What is begun

extension Night {
  private mutating func schedule(at now: Instant, _ actions: inout [NightAction]) {
    guard pausedUntil == nil else { return }
    let isTime = now < .zero + settings.duration && stopped == nil
    // One that failed lets others go first: they show whether it or the dongle is to blame. Then the lock with most to
    // do goes first, so that none is left with much at the end.
    let order = locks.indices.filter { locks[$0].run == nil }.sorted { left, right in
      let (one, other) = (locks[left], locks[right])
      return (one.failures.count, other.open.count, left) < (other.failures.count, one.open.count, right)
    }
    for index in order where locks[index].readyAt <= now {
      if locks[index].needsRest {
        beginRest(index, at: now, &actions)
      } else if isTime, locks[index].outOfUse == nil {
        beginCase(index, at: now, &actions)
      }
    }
    guard isTime else { return }
    for index in order where locks[index].run == nil && locks[index].readyAt <= now {
      beginFuzzing(index, at: now, &actions)
    }
  }

  private mutating func beginRest(_ index: Int, at now: Instant, _ actions: inout [NightAction]) {
    let last = ended.last { $0.attempt.lock == locks[index].lock.name }?.attempt.dongle
    let ways = freeDongles(of: index, avoiding: last.map { [$0] } ?? [])
    guard let dongle = ways,
      let movements = movements(for: index, wanted: Self.restMovements, isRest: true)
    else { return }
    start(
      .rest, index, over: dongle, attempt: locks[index].restTries + 1, movements: movements, at: now,
      &actions)
  }

  private mutating func beginCase(_ index: Int, at now: Instant, _ actions: inout [NightAction]) {
    guard locks[index].spent == nil else { return }
    for place in locks[index].open {
      let test = cases[place].test
      if let reason = test.skipReason {
        write(.done(test.identity, NightResult(.skipped, reason), at: now), &actions)
        continue
      }
      if cases[place].isRetry, retriesUsed >= settings.retries {
        write(.done(test.identity, failure(of: cases[place]), at: now), &actions)
        continue
      }
      guard let way = way(for: index, avoiding: cases[place].avoided) else { continue }
      guard let movements = movements(for: index, wanted: test.actuations, isRest: false) else { return }
      let attempt = cases[place].divergences + cases[place].labFailures + 1
      start(
        .test(test.identity), index, over: way.dongle, attempt: attempt, movements: movements, at: now,
        &actions)
      return
    }
  }

  private mutating func beginFuzzing(_ index: Int, at now: Instant, _ actions: inout [NightAction]) {
    let lock = locks[index]
    guard lock.isFuzzed, lock.outOfUse == nil, lock.spent == nil, !lock.needsRest, lock.open.isEmpty else {
      return
    }
    let left = .zero + settings.duration - now
    guard left >= Self.leastFuzzing, let way = way(for: index, avoiding: []) else { return }
    // Cases go first: a dongle that one of them could want is left to it.
    for other in locks where other.outOfUse == nil && other.spent == nil {
      let isRival =
        way.dongle.map { other.lock.dongles?.contains($0) ?? false } ?? (other.lock.dongles == nil)
      if isRival, other.open.contains(where: { !cases[$0].isRunning }) { return }
    }
    guard let movements = movements(for: index, wanted: settings.fuzzActuations, isRest: false) else {
      return
    }
    start(
      .fuzz(min(left, settings.fuzzing)), index, over: way.dongle, movements: movements, at: now, &actions)
  }

  private mutating func start(
    _ work: NightAttempt.Work, _ index: Int, over dongle: String?, attempt: Int = 1, movements: Int,
    at now: Instant, _ actions: inout [NightAction]
  ) {
    var attempt = NightAttempt(
      number: nextNumber, work: work, lock: locks[index].lock.name, dongle: dongle, attempt: attempt,
      actuations: movements, odometer: locks[index].odometer)
    attempt.checksHealth = locks[index].lock.isReal && !locks[index].isTrusted && work != .rest
    write(.start(attempt, at: now), &actions)
    actions.append(.start(attempt))
  }

  /// A free way to a lock; the inner `nil` is none for one that needs none.
  private func way(for index: Int, avoiding avoided: [String]) -> (dongle: String?, Void)? {
    guard locks[index].lock.dongles != nil else {
      let busy = running.count { $0.attempt.dongle == nil }
      return busy < settings.processes ? (nil, ()) : nil
    }
    return freeDongles(of: index, avoiding: avoided).map { ($0, ()) }
  }

  /// A free dongle that reaches a lock; one that is to be avoided only where there is no other, busy or not.
  private func freeDongles(of index: Int, avoiding avoided: [String]) -> String? {
    let usable = dongles.filter {
      locks[index].lock.dongles?.contains($0.dongle.name) ?? false && $0.outOfUse == nil
    }
    let better = usable.filter { !avoided.contains($0.dongle.name) }
    return (better.isEmpty ? usable : better).first { $0.run == nil }?.dongle.name
  }

  /// How many movements a run may cause; `nil` where the budgets have no room for any.
  private func movements(for index: Int, wanted: Int, isRest: Bool) -> Int? {
    let lock = locks[index]
    guard lock.lock.isReal else { return wanted }
    var most = wanted
    if let perNight = lock.lock.perNight {
      most = min(most, perNight - lock.used - (isRest ? 0 : Self.keptBack))
    }
    if let left = movementsLeft {
      let kept = locks.count { $0.lock.isReal } * Self.keptBack
      most = min(most, left - (isRest ? 0 : kept))
    }
    return most >= (isRest ? 1 : 2) ? most : nil
  }

  /// What is left of the night's movements: what running children may still make is gone.
  private var movementsLeft: Int? {
    guard let actuations = settings.actuations else { return nil }
    let reserved = running.filter { isReal($0.attempt.lock) }.map(\.attempt.actuations).reduce(0, +)
    return actuations - locks.map(\.used).reduce(0, +) - reserved
  }

  private func isReal(_ name: String) -> Bool { lock(name)?.lock.isReal ?? false }
}

// MARK: - What is over

extension Night {
  /// Ends the night when nothing runs and nothing can be begun any more.
  private mutating func conclude(at now: Instant, _ actions: inout [NightAction]) {
    guard running.isEmpty else { return }
    if pausedUntil != nil {
      // A disk that stays full must not keep the night from ending.
      let isDone = unwrittenTries > 3 && locks.allSatisfy(\.open.isEmpty)
      guard stopped != nil || now >= .zero + settings.duration || isDone else { return }
    } else if isWorkWaiting(at: now) {
      return
    }
    if stopped == nil {
      for state in cases where state.result == nil {
        write(.done(state.test.identity, reason(for: state), at: now), &actions)
      }
      write(.finish(at: now), &actions)
    }
    isOver = true
    actions.append(.finish)
  }

  /// Whether something will be begun by itself later.
  private func isWorkWaiting(at now: Instant) -> Bool {
    guard stopped == nil else { return false }
    return locks.contains { lock in
      guard lock.readyAt > now else { return false }
      if lock.needsRest { return true }
      return lock.outOfUse == nil && lock.readyAt < .zero + settings.duration
        && (lock.isFuzzed || !lock.open.isEmpty)
    }
  }

  /// What becomes of a case as far as its own runs say; `nil` where it is to be begun, or begun again.
  private func decision(on state: CaseState) -> NightResult? {
    guard let last = state.last else { return nil }
    switch last.verdict {
    case .agree: return NightResult(state.divergences > 0 ? .flaky : .agree)
    case .skipped: return NightResult(.skipped, last.message)
    case .divergence:
      let isTriedAgain =
        state.divergences <= state.test.retries && retriesUsed < settings.retries
        && state.test.quarantine == nil
      return isTriedAgain ? nil : failure(of: state)
    case .labFault, .unhealthy:
      let isTriedAgain = state.labFailures <= settings.labRetries && retriesUsed < settings.retries
      return isTriedAgain ? nil : failure(of: state)
    case .incomplete:
      return state.losses < Self.mostLosses
        ? nil
        : NightResult(
          .notRun, "it was begun \(state.losses) times and never came to an end", cause: .losses)
    case .limited:
      if state.losses >= Self.mostLosses { return NightResult(.notRun, last.message, cause: .budget) }
      guard last.pause == nil, let number = state.runs.last,
        let run = ended.last(where: { $0.attempt.number == number }),
        run.attempt.actuations >= state.test.actuations, isUsedUp(run)
      else { return nil }
      return NightResult(
        .notRun, "it needs more than \(run.attempt.actuations) movements: \(last.message)", cause: .budget)
    }
  }

  /// Whether a run made all the movements that it was allowed, but for what a governor keeps back.
  private func isUsedUp(_ run: Ended) -> Bool {
    (run.ending.odometer ?? 0) - run.attempt.odometer >= run.attempt.actuations - 2
  }

  /// What a case comes to that failed and is not tried again: a divergence stands, whatever the lab did later.
  private func failure(of state: CaseState) -> NightResult {
    let message = state.last?.message ?? ""
    guard state.divergences > 0 else { return NightResult(.labFault, message) }
    let runs = ended.filter { state.runs.contains($0.attempt.number) && $0.ending.verdict == .divergence }
    return NightResult(.divergence, runs.last?.ending.message ?? message)
  }

  /// What there is to say of a case without a result, as things are.
  public func reason(for state: CaseState) -> NightResult {
    if let result = state.result { return result }
    if let reason = state.test.skipReason { return NightResult(.skipped, reason) }
    if state.divergences > 0 || state.labFailures > 0 { return failure(of: state) }
    let prefix = state.runs.isEmpty ? "" : "begun and not brought to an end; "
    let (cause, words) = obstacle(to: state)
    return NightResult(.notRun, prefix + words, cause: cause)
  }

  private func obstacle(to state: CaseState) -> (NightResult.Cause, String) {
    if let stopped { return (.stopped, stopped) }
    guard let index = locks.firstIndex(where: { $0.lock.name == state.test.lock }) else {
      return (.device, "there is no lock \(state.test.lock)")
    }
    let lock = locks[index]
    let name = lock.lock.name
    if let why = lock.outOfUse { return (.device, "\(name) is out of use: \(why)") }
    if let why = lock.spent { return (.budget, "\(name) is left alone: \(why)") }
    let ways = dongles.filter { lock.lock.dongles?.contains($0.dongle.name) ?? false }
    if lock.lock.dongles != nil, ways.allSatisfy({ $0.outOfUse != nil }) {
      let why = ways.map { "\($0.dongle.name): \($0.outOfUse ?? "")" }.joined(separator: "; ")
      return (
        .device,
        ways.isEmpty ? "no dongle reaches \(name)" : "no dongle that reaches \(name) is in use (\(why))"
      )
    }
    if movements(for: index, wanted: 2, isRest: false) == nil {
      if let most = lock.lock.perNight, most - lock.used - Self.keptBack < 2 {
        return (.budget, "out of budget: \(name) may move \(most) times a night")
      }
      return (.budget, "out of budget: the night's \(settings.actuations ?? 0) movements are used up")
    }
    if pausedUntil != nil { return (.record, "the night's record could not be written") }
    return (.time, "out of time: the night was \(settings.duration) long")
  }
}

// MARK: - What a line does

extension Night {
  /// Lets a line take effect: the same whether it is written now or read from the record.
  private mutating func apply(_ line: NightLine) {
    if let time = line.time { clock = max(clock, time) }
    switch line {
    case .begin, .resumed: break
    case .start(let attempt, let time): begin(attempt, at: time)
    case .end(let number, let ending, let time): end(number, ending, at: time)
    case .out(let device, let why, _): setOutOfUse(device, why)
    case .back(let device, _): setOutOfUse(device, nil)
    case .done(let identity, let result, _):
      guard let place = place(of: identity) else { return }
      cases[place].result = result
      if let lock = lockIndex(cases[place].test.lock) { locks[lock].open.removeAll { $0 == place } }
    case .finish: isOver = true
    }
  }

  private mutating func begin(_ attempt: NightAttempt, at time: Instant) {
    nextNumber = max(nextNumber, attempt.number + 1)
    var limit = settings.grace
    switch attempt.work {
    case .test(let identity):
      guard let place = place(of: identity) else { break }
      cases[place].isRunning = true
      cases[place].runs.append(attempt.number)
      if cases[place].isRetry { retriesUsed += 1 }
      cases[place].isRetry = false
      limit = cases[place].test.timeout
    case .fuzz(let duration): limit = duration + Self.fuzzMargin
    case .rest: break
    }
    running.append(Running(attempt: attempt, begin: time, limit: time + limit, lastSign: time))
    if let index = lockIndex(attempt.lock) {
      locks[index].run = attempt.number
      locks[index].odometer = max(locks[index].odometer, attempt.odometer)
    }
    if let index = dongleIndex(attempt.dongle) { dongles[index].run = attempt.number }
  }

  /// Undoes ``begin(_:at:)`` for a run that was not started.
  private mutating func takeBack(_ attempt: NightAttempt) {
    guard let index = index(of: attempt.number) else { return }
    release(running.remove(at: index).attempt)
    guard case .test(let identity) = attempt.work, let place = place(of: identity) else { return }
    cases[place].isRunning = false
    cases[place].runs.removeAll { $0 == attempt.number }
    if attempt.attempt > 1, let last = cases[place].last, last.isFailure {
      cases[place].isRetry = true
      retriesUsed -= 1
    }
  }

  private mutating func release(_ attempt: NightAttempt) {
    if let index = lockIndex(attempt.lock) { locks[index].run = nil }
    if let index = dongleIndex(attempt.dongle) { dongles[index].run = nil }
  }

  private mutating func end(_ number: Int, _ ending: NightEnding, at time: Instant) {
    guard let index = index(of: number) else { return }
    let run = running.remove(at: index)
    let attempt = run.attempt
    release(attempt)
    ended.append(Ended(attempt: attempt, ending: ending, begin: run.begin, end: time))
    endCase(attempt, ending)
    endLock(attempt, ending, at: time)
    guard let dongle = dongleIndex(attempt.dongle) else { return }
    if ending.isFailure {
      dongles[dongle].failures.append(attempt.lock)
    } else if ending.verdict != .incomplete {
      dongles[dongle].failures = []
    }
  }

  private mutating func endCase(_ attempt: NightAttempt, _ ending: NightEnding) {
    guard case .test(let identity) = attempt.work, let place = place(of: identity) else { return }
    cases[place].isRunning = false
    cases[place].last = ending
    switch ending.verdict {
    case .divergence:
      cases[place].divergences += 1
      cases[place].isRetry = true
    case .labFault, .unhealthy:
      cases[place].labFailures += 1
      cases[place].isRetry = true
      if let dongle = attempt.dongle { cases[place].avoided.append(dongle) }
    case .incomplete, .limited: cases[place].losses += 1
    case .agree, .skipped: break
    }
  }

  private mutating func endLock(_ attempt: NightAttempt, _ ending: NightEnding, at time: Instant) {
    guard let index = lockIndex(attempt.lock) else { return }
    if locks[index].lock.isReal {
      // What nobody counted may have been all that was allowed.
      let odometer = ending.odometer ?? attempt.odometer + attempt.actuations
      locks[index].used += max(0, odometer - locks[index].odometer)
      locks[index].odometer = max(odometer, locks[index].odometer)
      // What was not moved is where it was: movements are counted before they begin.
      let isUntouched = ending.leave == .unknown && ending.odometer == attempt.odometer
      if !isUntouched { locks[index].leave = ending.leave ?? locks[index].leave }
    }
    if case .atRest = locks[index].leave {
      locks[index].restTries = 0
    } else if attempt.work == .rest, ending.verdict != .incomplete {
      locks[index].restTries += 1
      if case .unknown = locks[index].leave { locks[index].leave = .elsewhere(ending.message) }
    }
    if let pause = ending.pause { locks[index].readyAt = time + pause }
    if ending.verdict == .limited, ending.pause == nil, let run = ended.last, !isUsedUp(run) {
      locks[index].spent = ending.message
    }
    if case .fuzz = attempt.work, ending.verdict != .agree { locks[index].isFuzzed = false }
    if ending.isFailure {
      locks[index].failures.append(attempt.dongle ?? "")
      locks[index].isTrusted = false
    } else if ending.verdict != .incomplete {
      locks[index].failures = []
      locks[index].isTrusted = ending.verdict != .limited
    }
  }

  private mutating func setOutOfUse(_ device: NightDevice, _ why: String?) {
    switch device {
    case .lock(let name):
      guard let index = lockIndex(name) else { return }
      locks[index].outOfUse = why
      locks[index].failures = []
      if why == nil { locks[index].restTries = 0 }
      // What it failed over is not to blame.
      for other in dongles.indices { dongles[other].failures.removeAll { $0 == name } }
    case .dongle(let name):
      guard let index = dongleIndex(name) else { return }
      dongles[index].outOfUse = why
      dongles[index].failures = []
      for other in locks.indices { locks[other].failures.removeAll { $0 == name } }
    }
  }
}

// MARK: - Finding things

extension Night {
  /// What is known of a lock.
  public func lock(_ name: String) -> LockState? { lockIndex(name).map { locks[$0] } }

  /// What is known of a dongle.
  public func dongle(_ name: String) -> DongleState? { dongleIndex(name).map { dongles[$0] } }

  private func index(of number: Int) -> Int? { running.firstIndex { $0.attempt.number == number } }

  private func lockIndex(_ name: String) -> Int? { locks.firstIndex { $0.lock.name == name } }

  private func dongleIndex(_ name: String?) -> Int? { dongles.firstIndex { $0.dongle.name == name } }

  private func place(of identity: String) -> Int? { places[identity] }

  private func isOutOfUse(_ device: NightDevice) -> Bool {
    switch device {
    case .lock(let name): lock(name).map { $0.outOfUse != nil } ?? true
    case .dongle(let name): dongle(name).map { $0.outOfUse != nil } ?? true
    }
  }
}

extension NightEnding {
  /// Whether the lab failed, or what it says counts against the lock and its dongle.
  fileprivate var isFailure: Bool { verdict == .labFault || verdict == .unhealthy }
}
