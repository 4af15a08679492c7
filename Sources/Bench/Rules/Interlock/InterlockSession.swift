public import Conformance
import Basics

// MARK: - Preparation session

extension Interlock {
  /// Operates the lock through the interlock.
  var lockOperator: LockOperator<Interlock> { LockOperator(self, of: family, words: vocabulary) }

  /// Opens a session at time zero.
  ///
  /// - Returns: the first status that reports the lock's condition, and the moment at which the session must
  ///   end.
  func open(for time: Interval) throws(OperatorFailure) -> (status: LockFamily.Condition, limit: Instant) {
    // A low battery is no reason to leave a door open.
    try step { () throws(LabFault) in try self.begin(StartCondition()) }
    let limit = now + time
    do {
      let status = try lockOperator.reach(
        hearing: Self.longestSilence, enough: Self.silenceBesideOthers, session: time, until: limit)
      return (status, limit)
    } catch {
      countSilence()
      throw error
    }
  }

  /// How long a lock may be silent: less than the model permits, so that an absent lock is not reported as a
  /// divergence.
  static var silence: Interval { .milliseconds(14_500) }

  /// How long to keep listening for a silent lock: one that is heard again by then paused on its own.
  static var longestSilence: Interval { .seconds(60) }

  /// The same while other devices are heard over the same controller; twice what the model permits. The lock is
  /// then known to cause the silence, and whether it ends later makes no difference.
  static var silenceBesideOthers: Interval { .seconds(30) }
}

// MARK: - Parking

extension Interlock {
  /// The timeout of parking.
  private static var parkingTime: Interval { .seconds(120) }

  /// Brings the lock to its park position at the end of a run, however the run ended.
  ///
  /// - Returns: the diagnostics, the state in which the lock is left (`nil` for a lock that was not used), and
  ///   the fault if parking failed.
  public func park() -> (diagnostics: [String], left: ParkState?, fault: LabFault?) {
    guard wasUsed else { return (takeDiagnostics(), nil, nil) }
    let goal: String
    switch settings.park {
    case .locked: goal = "locked"
    case .unlocked: goal = "unlocked"
    case .asFound:
      guard let found else {
        let words = "the lock is left as it is: where it was found was never seen"
        return (takeDiagnostics() + [words], .elsewhere(words), nil)
      }
      goal = found
    }
    adopt(family.sessionWords)
    do throws(OperatorFailure) {
      let words = try bring(to: goal)
      return (takeDiagnostics() + [words, budgetText], .parked, nil)
    } catch {
      switch error {
      case .impossible(let why):
        let words = "the lock is left as it is: \(why)"
        return (takeDiagnostics() + [words, budgetText], .elsewhere(words), nil)
      case .lab(let fault, _):
        let words = "the lock could not be brought to \(goal), see to it: \(fault.detail)"
        return (takeDiagnostics() + [words, budgetText], .elsewhere(words), LabFault(fault.symptom, words))
      }
    }
  }

  private var budgetText: String {
    let share = settings.budget.map { "\(used) of \($0)" } ?? "\(used)"
    let life = cycleCounter.place.map { ", \(cycleCounter.total) in the lock's life: \($0)" } ?? ""
    return "\(share) movements were made\(life)"
  }

  func bring(to goal: String) throws(OperatorFailure) -> String {
    do {
      return try attempt(goal)
    } catch {
      guard case .lab(let fault, _) = error, fault.symptom != .safetyLimit else { throw error }
      // Tries once more after the transport was recovered, if it can be.
      do { try restart() } catch { throw .lab(error) }
      return try attempt(goal)
    }
  }

  private func attempt(_ goal: String) throws(OperatorFailure) -> String {
    let (status, limit) = try open(for: Self.parkingTime)
    defer { lockOperator.part() }
    if status == .unset { throw .impossible("its positions were never set") }
    if status == .ownerless { throw .impossible("it has no owner") }
    if status.rawValue == goal { return "the lock rests \(goal)" }
    comingTo = goal
    defer { comingTo = nil }
    try lockOperator.turn(to: goal, within: .seconds(10), until: limit)
    return "the lock was \(status.rawValue) and was brought to \(goal)"
  }
}
