import Conformance
import Journal
import Basics

// The changes by a line of the record.

extension Night {
  /// By how much a stretch of fuzzing may exceed its duration.
  private static let fuzzMargin = Interval.seconds(60)

  /// Applies a line: the effect is the same whether it is written now or read from the record.
  mutating func apply(_ line: NightLine) {
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
      if let lock = cases[place].test.lock.flatMap(lockIndex) { locks[lock].open.removeAll { $0 == place } }
    case .finish: state = .over
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
    case .park: break
    }
    if attempt.dongle != nil { limit = limit + settings.wait }
    running.append(Running(attempt: attempt, begin: time, limit: time + limit, lastSign: time))
    if let index = lockIndex(attempt.lock) {
      locks[index].run = attempt.number
      locks[index].cycleCounter = max(locks[index].cycleCounter, attempt.cycleCounter)
    }
    if let index = dongleIndex(attempt.dongle) { dongles[index].run = attempt.number }
  }

  /// Reverts ``begin(_:at:)`` for a run that was not started.
  mutating func takeBack(_ attempt: NightAttempt) {
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
    case .diverged, .failedAsFlaky, .unmet:
      cases[place].divergences += 1
      cases[place].isRetry = true
    case .labFault:
      cases[place].labFailures += 1
      cases[place].isRetry = true
      if let dongle = attempt.dongle { cases[place].avoided.append(dongle) }
    case .incomplete, .limited: cases[place].losses += 1
    case .agreed, .flaky, .skipped, .excused: break
    }
  }

  private mutating func endLock(_ attempt: NightAttempt, _ ending: NightEnding, at time: Instant) {
    guard let index = lockIndex(attempt.lock) else { return }
    if locks[index].lock.isReal {
      // If the movements were not counted, all permitted ones may have been made.
      let cycleCounter = ending.cycleCounter ?? attempt.cycleCounter + attempt.actuations
      // Not the movements since the last known value: a resumed night begins with the present value of the counter.
      locks[index].used += max(0, cycleCounter - attempt.cycleCounter)
      locks[index].cycleCounter = max(cycleCounter, locks[index].cycleCounter)
      // A lock without movements is where it was: movements are counted before they begin.
      let isUntouched = ending.park == .unknown && ending.cycleCounter == attempt.cycleCounter
      if !isUntouched { locks[index].park = ending.park ?? locks[index].park }
    }
    if case .parked = locks[index].park {
      locks[index].parkAttempts = 0
    } else if attempt.work == .park, ending.verdict != .incomplete {
      locks[index].parkAttempts += 1
      if case .unknown = locks[index].park { locks[index].park = .elsewhere(ending.message) }
    }
    if let pause = ending.pause { locks[index].readyAt = time + pause }
    if ending.verdict == .limited, ending.pause == nil, let run = ended.last, !isUsedUp(run) {
      locks[index].spent = ending.message
    }
    if case .fuzz = attempt.work, !isWorthFuzzing(after: attempt, ending) { locks[index].isFuzzed = false }
    if ending.isFailure {
      locks[index].failures.append(attempt.dongle ?? "")
      locks[index].isTrusted = false
    } else if ending.verdict != .incomplete {
      locks[index].failures = []
      locks[index].isTrusted = ending.verdict != .limited
    }
  }

  /// Whether a lock is fuzzed again after a stretch: not after a finding, a failure or an empty stretch.
  private func isWorthFuzzing(after attempt: NightAttempt, _ ending: NightEnding) -> Bool {
    switch ending.verdict {
    case .agreed, .flaky: true
    // The movements of this stretch are used up: there may be some left for another stretch.
    case .limited: ending.cycleCounter.map { $0 > attempt.cycleCounter } ?? false
    case .diverged, .failedAsFlaky, .unmet, .labFault, .incomplete, .skipped, .excused: false
    }
  }

  private mutating func setOutOfUse(_ device: NightDevice, _ why: String?) {
    switch device {
    case .lock(let name):
      guard let index = lockIndex(name) else { return }
      locks[index].outOfUse = why
      locks[index].failures = []
      if why == nil { locks[index].parkAttempts = 0 }
      // The dongles over which the lock failed are not to blame.
      for other in dongles.indices { dongles[other].failures.removeAll { $0 == name } }
    case .dongle(let name):
      guard let index = dongleIndex(name) else { return }
      dongles[index].outOfUse = why
      dongles[index].failures = []
      for other in locks.indices { locks[other].failures.removeAll { $0 == name } }
    }
  }
}

extension NightEnding {
  /// Whether it counts against the lock and its dongle: only a lab fault does.
  fileprivate var isFailure: Bool { verdict == .labFault }
}
