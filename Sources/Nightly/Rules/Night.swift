public import Conformance
import Journal
import Bench
public import Basics

/// A night of a lab: decides which case runs when, on which lock and over which dongle, until each has a
/// result.
///
///            begin                 no case can be begun any more,
///     new ──────────▶ under way ─────────────────────────────────▶ over
///                     │       ▲    and nothing runs
///      killed at any  ▼       │ begin
///      moment         resumed from its record
///
/// It does no I/O and reads no clock: feed it what happened and when, as time since the night began, then
/// carry out the actions it returns, in order. ``NightAction/record(_:)`` precedes its effect: the line must
/// be on the disk before the next action is carried out. If a line cannot be written, omit it and all later
/// lines and starts, and report them with ``NightEvent/unwritten(_:why:)``; carry out stops and kills
/// nevertheless.
///
/// Its invariants:
///
/// - A lock and a dongle are in at most one run at a time.
/// - A case with a verdict is never begun again. A case that was begun and has no end in the record may be.
/// - The movements made, and those that running children may still make, never exceed the budgets; the
///   movements for parking each lock are reserved.
/// - A lock that was left unparked, or whose position is unknown, is parked first; if that fails it is out of
///   use, and the summary states it.
/// - At the end each case has a result.
public struct Night: Sendable {
  /// The budgets and the timeouts.
  public let settings: NightSettings
  /// The name of the night.
  public let name: String
  /// The cases, in the order of the plan.
  public internal(set) var cases: [CaseState]
  /// The locks.
  public internal(set) var locks: [LockState]
  /// The dongles.
  public internal(set) var dongles: [DongleState]
  /// All runs that ended, in the order of their ends.
  public internal(set) var ended: [Ended] = []
  /// The runs in progress.
  public internal(set) var running: [Running] = []
  /// Whether it is over.
  public var isOver: Bool { state == .over }
  /// Why the night was stopped, if it was: no more runs begin.
  public internal(set) var stopped: String?

  /// The state of a case.
  public struct CaseState: Sendable {
    /// The case.
    public let test: NightCase
    /// The result; `nil` while it is open.
    public internal(set) var result: NightResult?
    /// The numbers of its runs.
    public internal(set) var runs: [Int] = []
    var isRunning = false
    /// The number of divergences, of lab faults, and of runs without an end.
    var divergences = 0
    var labFailures = 0
    var losses = 0
    var last: NightEnding?
    /// Whether its next run is one of the retries.
    var isRetry = false
    /// The dongles with a lab fault.
    var avoided: [String] = []
  }

  /// The state of a lock.
  public struct LockState: Sendable {
    /// The lock.
    public let lock: NightLock
    /// Why it is out of use, if it is.
    public internal(set) var outOfUse: String?
    /// Why it is not used any more tonight, if so.
    public internal(set) var spent: String?
    /// The movements of this night.
    public internal(set) var used = 0
    /// The last value of its cycle counter.
    public internal(set) var cycleCounter: Int
    /// How it was left; `nil` for one that was not used, or needs no parking.
    public internal(set) var park: ParkState?
    var run: Int?
    /// When it may be used again.
    var readyAt = Instant.zero
    /// The dongles over which it failed, since it last worked.
    var failures: [String] = []
    /// The number of failed attempts to park it.
    var parkAttempts = 0
    var isFuzzed: Bool
    /// Whether it has worked since it last failed.
    var isTrusted = false
    /// The indices of its open cases.
    var open: [Int] = []

    var needsRest: Bool {
      guard lock.isReal, parkAttempts < Night.maximumParkAttempts else { return false }
      switch park {
      case .elsewhere, .unknown: return true
      case .parked, nil: return false
      }
    }
  }

  /// The state of a dongle.
  public struct DongleState: Sendable {
    /// The dongle.
    public let dongle: NightDongle
    /// Why it is out of use, if it is.
    public internal(set) var outOfUse: String?
    var run: Int?
    /// The locks that failed over it, since it last worked.
    var failures: [String] = []
  }

  /// A run that ended.
  public struct Ended: Sendable {
    /// The attempt.
    public let attempt: NightAttempt
    /// The result.
    public let ending: NightEnding
    /// The beginning and the end.
    public let begin: Instant, end: Instant
  }

  /// A run in progress.
  public struct Running: Sendable {
    /// The attempt.
    public let attempt: NightAttempt
    /// The beginning.
    public let begin: Instant
    var limit: Instant
    var lastSign: Instant
    var stage = Stage.working
  }

  enum Stage: Equatable {
    case working
    /// It was asked to end, and is killed if it does not.
    case stopping(killAt: Instant, why: String, isFault: Bool)
    case killed(abandonAt: Instant, why: String, isFault: Bool)
  }

  /// The maximum number of attempts to park a lock, the movements of each, and so the number of reserved
  /// movements.
  static let maximumParkAttempts = 2
  public static let parkMovements = 2
  static let reservedMovements = maximumParkAttempts * parkMovements
  /// The pause before the next attempt to write the record.
  private static let recordPause = Interval.seconds(30)
  /// How long a process may exist after it was killed.
  private static let reapTime = Interval.seconds(30)

  enum State: Equatable {
    case new(isResumed: Bool)
    case underWay, over
  }

  var state = State.new(isResumed: false)
  /// The lines that could not be written yet, although this value has applied them; and when to try again.
  private var held: (lines: [NightLine], until: Instant)?
  var nextNumber = 1
  var retriesUsed = 0
  /// When the next attempt to write the record is due, if one failed.
  var pausedUntil: Instant? { held?.until }
  /// The number of failed writes.
  var unwrittenAttempts = 0
  /// The time of the last event.
  var clock = Instant.zero
  /// The index of each case.
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
        lock: lock, outOfUse: lock.outOfUse, cycleCounter: lock.cycleCounter, isFuzzed: lock.isFuzzed,
        open: cases.indices.filter { cases[$0].lock == lock.name })
    }
    self.dongles = dongles.map { DongleState(dongle: $0, outOfUse: $0.outOfUse) }
    for (place, test) in cases.enumerated() {
      precondition(places.updateValue(place, forKey: test.identity) == nil, "a case is planned twice")
    }
  }

  /// Resumes a night from its record.
  ///
  /// Runs without an end in the record are still ``running``: for each of them the caller must find out the
  /// result and report it with ``NightEvent/ended(_:_:)``.
  public init(
    _ settings: NightSettings, name: String, cases: [NightCase], locks: [NightLock], dongles: [NightDongle],
    resuming record: [NightLine]
  ) {
    self.init(settings, name: name, cases: cases, locks: locks, dongles: dongles)
    state = .new(isResumed: !record.isEmpty)
    for line in record { apply(line) }
  }
}

/// An event of a night.
public enum NightEvent: Equatable, Sendable {
  /// It begins or resumes, at this time of the host's clocks.
  case begin(BenchTime)
  /// A run ended, by its number.
  case ended(Int, NightEnding)
  /// A run showed a sign of life.
  case sign(Int)
  /// Time has passed: ``Night/deadline`` is reached, or not yet.
  case time
  /// A stop was requested, for this reason.
  case stop(String)
  /// These lines could not be written.
  case unwritten([NightLine], why: String)
  /// A person restored a lock or a dongle.
  case restored(NightDevice)
}

/// What the caller must do next, in order.
public enum NightAction: Equatable, Sendable {
  /// Write a line to the record, and do nothing else before it is on the disk.
  case record(NightLine)
  /// Start a run.
  case start(NightAttempt)
  /// Ask a run to end; it parks its lock.
  case stop(Int)
  /// Kill a run.
  case kill(Int)
  /// The night is over.
  case finish
}

// MARK: - Events

extension Night {
  /// Receives an event.
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
    case .unwritten(let lines, _): requeue(lines, at: now)
    case .restored(let device):
      guard isOutOfUse(device) else { return [] }
      write(.back(device, at: now), &actions)
    }
    guard state == .underWay else { return actions }
    watch(at: now, &actions)
    catchUp(at: now, &actions)
    schedule(at: now, &actions)
    conclude(at: now, &actions)
    return actions
  }

  /// When it must next receive ``NightEvent/time``; `nil` while nothing is awaited.
  public var deadline: Instant? {
    guard state == .underWay else { return nil }
    var times = running.map { run in
      switch run.stage {
      case .working: min(run.limit, silenceLimit(run))
      case .stopping(let time, _, _), .killed(let time, _, _): time
      }
    }
    if let pausedUntil { times.append(pausedUntil) }
    times += locks.filter { $0.run == nil && $0.outOfUse == nil }.map(\.readyAt)
    times.append(.zero + settings.duration)
    return times.filter { $0 > clock }.min()
  }

  private mutating func begin(_ time: BenchTime, at now: Instant, _ actions: inout [NightAction]) {
    guard case .new(let isResumed) = state else { return }
    state = .underWay
    if isResumed {
      write(.resumed(at: now), &actions)
      for index in running.indices { running[index].lastSign = now }
    } else {
      write(.begin(name: name, time), &actions)
    }
    // A night that was killed after the last run of a case may lack the case's result in its record.
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

  /// Asks runs that take too long to end, and kills those that do not.
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
        running[index].stage = .killed(abandonAt: now + Self.reapTime, why: why, isFault: isFault)
        actions.append(.kill(run.attempt.number))
      case .killed(let time, let why, let isFault) where now >= time:
        let words = why + "; its process cannot be killed"
        running[index].stage = .killed(abandonAt: time, why: words, isFault: isFault)
        abandoned.append((run.attempt.number, words))
      case .working, .stopping, .killed: break
      }
    }
    for (number, words) in abandoned {
      let dongle = index(of: number).flatMap { running[$0].attempt.dongle }
      let ending = NightEnding(
        .labFault, words, park: .unknown, outOfUse: dongle.map { .dongle($0) })
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

  /// Handles lines that could not be written: reverts starts, and keeps the other lines for the next attempt.
  private mutating func requeue(_ lines: [NightLine], at now: Instant) {
    var kept = held?.lines ?? []
    for line in lines {
      if case .start(let attempt, _) = line { takeBack(attempt) } else { kept.append(line) }
    }
    held = (kept, now + Self.recordPause)
    unwrittenAttempts += 1
  }

  /// Writes the lines that could not be written before.
  private mutating func catchUp(at now: Instant, _ actions: inout [NightAction]) {
    guard let (lines, time) = held, now >= time else { return }
    held = nil
    actions += lines.map { .record($0) }
  }

  /// Applies a line, and requests that it be written.
  mutating func write(_ line: NightLine, _ actions: inout [NightAction]) {
    apply(line)
    if held == nil { actions.append(.record(line)) } else { held?.lines.append(line) }
  }
}

// MARK: - Finding things

extension Night {
  /// The state of a lock.
  public func lock(_ name: String) -> LockState? { lockIndex(name).map { locks[$0] } }

  /// The state of a dongle.
  public func dongle(_ name: String) -> DongleState? { dongleIndex(name).map { dongles[$0] } }

  func index(of number: Int) -> Int? { running.firstIndex { $0.attempt.number == number } }

  func lockIndex(_ name: String) -> Int? { locks.firstIndex { $0.lock.name == name } }

  func dongleIndex(_ name: String?) -> Int? { dongles.firstIndex { $0.dongle.name == name } }

  func place(of identity: String) -> Int? { places[identity] }

  private func isOutOfUse(_ device: NightDevice) -> Bool {
    switch device {
    case .lock(let name): lock(name).map { $0.outOfUse != nil } ?? true
    case .dongle(let name): dongle(name).map { $0.outOfUse != nil } ?? true
    }
  }
}
