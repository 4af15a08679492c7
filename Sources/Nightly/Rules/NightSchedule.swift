import Basics
import Journal

// Decides which run begins next, and over which dongle.

extension Night {
  /// The minimum duration of fuzzing.
  private static let minimumFuzzing = Interval.seconds(10)

  /// Begins all runs that can begin.
  mutating func schedule(at now: Instant, _ actions: inout [NightAction]) {
    guard pausedUntil == nil else { return }
    let isTime = now < .zero + settings.duration && stopped == nil
    // A lock that failed comes after others: their runs show whether the lock or the dongle is to blame. Of the
    // others, the lock with the most work comes first, so that no lock has much left at the end.
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
    let transports = freeDongles(of: index, avoiding: last.map { [$0] } ?? [])
    guard let dongle = transports,
      let movements = movements(for: index, wanted: Self.parkMovements, isParking: true)
    else { return }
    start(
      .park, index, over: dongle, attempt: locks[index].parkAttempts + 1, movements: movements, at: now,
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
      guard let transport = transport(for: index, avoiding: cases[place].avoided) else { continue }
      guard let movements = movements(for: index, wanted: test.actuations, isParking: false) else { return }
      let attempt = cases[place].divergences + cases[place].labFailures + 1
      start(
        .test(test.identity), index, over: transport.dongle, attempt: attempt, movements: movements, at: now,
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
    guard left >= Self.minimumFuzzing, let transport = transport(for: index, avoiding: []) else { return }
    // Cases have precedence: a dongle that a waiting case could use is not used for fuzzing.
    for other in locks where other.outOfUse == nil && other.spent == nil {
      let isRival =
        transport.dongle.map { other.lock.dongles?.contains($0) ?? false } ?? (other.lock.dongles == nil)
      if isRival, other.open.contains(where: { !cases[$0].isRunning }) { return }
    }
    guard let movements = movements(for: index, wanted: settings.fuzzActuations, isParking: false) else {
      return
    }
    start(
      .fuzz(min(left, settings.fuzzing)), index, over: transport.dongle, movements: movements, at: now,
      &actions)
  }

  private mutating func start(
    _ work: NightAttempt.Work, _ index: Int, over dongle: String?, attempt: Int = 1, movements: Int,
    at now: Instant, _ actions: inout [NightAction]
  ) {
    var attempt = NightAttempt(
      number: nextNumber, work: work, lock: locks[index].lock.name, dongle: dongle, attempt: attempt,
      actuations: movements, cycleCounter: locks[index].cycleCounter)
    attempt.checksHealth = locks[index].lock.isReal && !locks[index].isTrusted && work != .park
    write(.start(attempt, at: now), &actions)
    actions.append(.start(attempt))
  }

  /// A free transport to a lock; the inner `nil` is for a lock that needs none.
  func transport(for index: Int, avoiding avoided: [String]) -> (dongle: String?, Void)? {
    guard locks[index].lock.dongles != nil else {
      let busy = running.count { $0.attempt.dongle == nil }
      return busy < settings.processes ? (nil, ()) : nil
    }
    return freeDongles(of: index, avoiding: avoided).map { ($0, ()) }
  }

  /// A free dongle that reaches a lock. A dongle to avoid is used only if no other dongle reaches the lock, not
  /// if the others are busy.
  private func freeDongles(of index: Int, avoiding avoided: [String]) -> String? {
    let usable = dongles.filter {
      locks[index].lock.dongles?.contains($0.dongle.name) ?? false && $0.outOfUse == nil
    }
    let better = usable.filter { !avoided.contains($0.dongle.name) }
    return (better.isEmpty ? usable : better).first { $0.run == nil }?.dongle.name
  }

  /// The maximum number of movements of a run; `nil` if the budgets have none left.
  func movements(for index: Int, wanted: Int, isParking: Bool) -> Int? {
    let lock = locks[index]
    guard lock.lock.isReal else { return wanted }
    var maximum = wanted
    if let perShift = lock.lock.perShift {
      maximum = min(maximum, perShift - lock.used - (isParking ? 0 : Self.reservedMovements))
    }
    if let left = movementsLeft {
      let kept = locks.count { $0.lock.isReal } * Self.reservedMovements
      maximum = min(maximum, left - (isParking ? 0 : kept))
    }
    return maximum >= (isParking ? 1 : 2) ? maximum : nil
  }

  /// The remaining movements of the night, without those that running children may still make.
  private var movementsLeft: Int? {
    guard let actuations = settings.actuations else { return nil }
    let reserved = running.filter { isReal($0.attempt.lock) }.map(\.attempt.actuations).reduce(0, +)
    return actuations - locks.map(\.used).reduce(0, +) - reserved
  }

  func isReal(_ name: String) -> Bool { lock(name)?.lock.isReal ?? false }
}
