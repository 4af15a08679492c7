import Conformance
import Basics
public import Journal

// The results of a case, of a lock, and of the night.

extension Night {
  /// The maximum number of a case's runs without an end.
  private static let maximumLosses = 10
  /// The number of consecutive failures after which a lock or a dongle is out of use.
  private static let maximumFailures = 3

  /// Ends the night if nothing runs and nothing can begin any more.
  mutating func conclude(at now: Instant, _ actions: inout [NightAction]) {
    guard running.isEmpty else { return }
    if pausedUntil != nil {
      // A disk that stays full must not prevent the end of the night.
      let isDone = unwrittenAttempts > 3 && locks.allSatisfy(\.open.isEmpty)
      guard stopped != nil || now >= .zero + settings.duration || isDone else { return }
    } else if isWorkWaiting(at: now) {
      return
    }
    if stopped == nil {
      for state in cases where state.result == nil {
        write(.done(state.test.identity, reason(for: state), at: now), &actions)
      }
      write(.finish(at: now), &actions)
    } else {
      state = .over
    }
    actions.append(.finish)
  }

  /// Whether something will begin later by itself.
  private func isWorkWaiting(at now: Instant) -> Bool {
    guard stopped == nil else { return false }
    return locks.contains { lock in
      guard lock.readyAt > now else { return false }
      if lock.needsRest { return true }
      return lock.outOfUse == nil && lock.readyAt < .zero + settings.duration
        && (lock.isFuzzed || !lock.open.isEmpty)
    }
  }

  /// The result of a case by its own runs; `nil` if it is to be begun, or begun again.
  func decision(on state: CaseState) -> NightResult? {
    guard let last = state.last else { return nil }
    switch last.verdict {
    case .agreed, .flaky: return NightResult(state.divergences + state.labFailures > 0 ? .flaky : .agreed)
    case .skipped, .excused:
      return state.divergences > 0 ? failure(of: state) : NightResult(.skipped, last.message)
    case .diverged, .failedAsFlaky, .unmet:
      let isTriedAgain =
        !last.isContradiction && state.divergences <= state.test.retries && retriesUsed < settings.retries
        && state.test.quarantine == nil
      return isTriedAgain ? nil : failure(of: state)
    case .labFault:
      let isTriedAgain = state.labFailures <= settings.labRetries && retriesUsed < settings.retries
      return isTriedAgain ? nil : failure(of: state)
    case .incomplete:
      return state.losses < Self.maximumLosses
        ? nil
        : NightResult(notRun: .losses, "begun \(state.losses) times without a result")
    case .limited:
      if state.losses >= Self.maximumLosses { return NightResult(notRun: .budget, last.message) }
      guard last.pause == nil, let number = state.runs.last,
        let run = ended.last(where: { $0.attempt.number == number }),
        run.attempt.actuations >= state.test.actuations, isUsedUp(run)
      else { return nil }
      return NightResult(
        notRun: .budget, "it needs more than \(run.attempt.actuations) movements: \(last.message)")
    }
  }

  /// Whether a run made all permitted movements, except those that an interlock reserves.
  func isUsedUp(_ run: Ended) -> Bool {
    (run.ending.cycleCounter ?? 0) - run.attempt.cycleCounter >= run.attempt.actuations - 2
  }

  /// The result of a failed case without another attempt: a divergence stands, whatever the lab's later
  /// faults, and so does an unmet expectation, which weighs less.
  func failure(of state: CaseState) -> NightResult {
    let message = state.last?.message ?? ""
    guard state.divergences > 0 else { return NightResult(.labFault, message) }
    let runs = ended.filter { state.runs.contains($0.attempt.number) }
    if let run = runs.last(where: { $0.ending.verdict == .diverged }) {
      return NightResult(.diverged, run.ending.message)
    }
    let run = runs.last { $0.ending.verdict == .unmet }
    return NightResult(run == nil ? .diverged : .unmet, run?.ending.message ?? message)
  }

  /// The result of a case, or the present reason why it has none.
  public func reason(for state: CaseState) -> NightResult {
    if let result = state.result { return result }
    if let reason = state.test.skipReason { return NightResult(.skipped, reason) }
    if state.divergences > 0 || state.labFailures > 0 { return failure(of: state) }
    let prefix = state.runs.isEmpty ? "" : "begun without a result; "
    let (cause, words) = reason(to: state)
    return NightResult(notRun: cause, prefix + words)
  }

  private func reason(to state: CaseState) -> (NightResult.Cause, String) {
    guard let index = locks.firstIndex(where: { $0.lock.name == state.test.lock }) else {
      return (.device, state.test.unmet ?? "there is no lock \(state.test.lock ?? "for it")")
    }
    if let stopped { return (.stopped, stopped) }
    let lock = locks[index]
    let name = lock.lock.name
    if let why = lock.outOfUse { return (.device, "\(name) is out of use: \(why)") }
    if let why = lock.spent { return (.budget, "\(name) is not used any more tonight: \(why)") }
    let transports = dongles.filter { lock.lock.dongles?.contains($0.dongle.name) ?? false }
    if lock.lock.dongles != nil, transports.allSatisfy({ $0.outOfUse != nil }) {
      let why = transports.map { "\($0.dongle.name): \($0.outOfUse ?? "")" }.joined(separator: "; ")
      return (
        .device,
        transports.isEmpty
          ? "no \(settings.transport) reaches \(name)"
          : "every \(settings.transport) that reaches \(name) is out of use (\(why))"
      )
    }
    if movements(for: index, wanted: 2, isParking: false) == nil {
      if let maximum = lock.lock.perShift, maximum - lock.used - Self.reservedMovements < 2 {
        return (.budget, "out of budget: \(name) may move \(maximum) times a night")
      }
      return (.budget, "out of budget: the night's \(settings.actuations ?? 0) movements are used up")
    }
    if lock.readyAt >= .zero + settings.duration {
      return (.budget, "out of budget: \(name) may not be moved again before the night is over")
    }
    if pausedUntil != nil { return (.record, "the night's record could not be written") }
    return (.time, "out of time: the night was \(settings.duration) long")
  }
}

extension Night {
  /// The ending of a case in the journal of the night, on its page and for the exit status.
  public func ending(of state: CaseState) -> Record.Ending {
    let result = reason(for: state)
    // The cause determines it, if the case was begun.
    if result.cause != nil { return state.runs.isEmpty ? .skipped : result.ending }
    return state.test.quarantine != nil && result.ending.isRed ? .excused : result.ending
  }

  /// Why a lock that was to be fuzzed was not; `nil` for any other lock.
  func reasonNotFuzzed(_ lock: LockState) -> String? {
    let isFuzzed = ended.contains { run in
      if case .fuzz = run.attempt.work { run.attempt.lock == lock.lock.name } else { false }
    }
    guard lock.lock.isFuzzed, !isFuzzed, let index = lockIndex(lock.lock.name) else { return nil }
    if let stopped { return stopped }
    if lock.outOfUse != nil { return "out of use" }
    if lock.spent != nil { return "not used any more tonight" }
    if movements(for: index, wanted: settings.fuzzActuations, isParking: false) == nil {
      return "no movements were left"
    }
    return "no time was left"
  }
}

// MARK: - Locks and dongles

extension Night {
  /// The ending of a run, adjusted if the run was stopped or killed or its lock needs no parking.
  func normalized(_ ending: NightEnding, of run: Running) -> NightEnding {
    var ending = ending
    switch run.stage {
    case .working: break
    case .stopping(_, let why, let isFault), .killed(_, let why, let isFault):
      // A run with a verdict keeps it.
      if ending.verdict == .incomplete || ending.verdict == .labFault {
        ending.verdict = isFault ? .labFault : .incomplete
        ending.message = why
      }
      if case .killed = run.stage, ending.park == nil { ending.park = .unknown }
    }
    if let lock = self.lock(run.attempt.lock), !lock.lock.isReal { ending.park = nil }
    return ending
  }

  /// Puts a lock or a dongle that failed too often out of use.
  mutating func judge(_ attempt: NightAttempt, at now: Instant, _ actions: inout [NightAction]) {
    guard let lock = locks.first(where: { $0.lock.name == attempt.lock }) else { return }
    let dongle = dongles.first { $0.dongle.name == attempt.dongle }
    let (locksThere, transportsHere) = (Set(dongle?.failures ?? []).count, Set(lock.failures).count)
    let isLock = lock.failures.count >= Self.maximumFailures
    if let dongle, dongle.outOfUse == nil, dongle.failures.count >= Self.maximumFailures, locksThere > 1,
      !isLock || locksThere >= transportsHere
    {
      let why =
        "\(dongle.failures.count) runs with \(locksThere) locks failed one after the other: "
        + (ended.last?.ending.message ?? "")
      write(.out(.dongle(dongle.dongle.name), why: why, at: now), &actions)
    } else if lock.outOfUse == nil, isLock {
      let why =
        "\(lock.failures.count) runs"
        + (transportsHere > 1 ? " over \(transportsHere) \(settings.transport)s" : "")
        + " failed one after the other: \(ended.last?.ending.message ?? "")"
      write(.out(.lock(lock.lock.name), why: why, at: now), &actions)
    }
  }

  /// Puts locks that cannot be parked out of use.
  mutating func judgeLocks(at now: Instant, _ actions: inout [NightAction]) {
    for lock in locks where lock.outOfUse == nil && lock.parkAttempts >= Self.maximumParkAttempts {
      guard case .elsewhere(let why) = lock.park else { continue }
      write(.out(.lock(lock.lock.name), why: "it could not be parked: \(why)", at: now), &actions)
    }
  }
}
