public import Conformance
import Basics

// MARK: - A session of its own

extension Interlock {
  /// Drives the lock by way of the interlock.
  var way: LockOperator<Interlock> { LockOperator(self, of: family, words: vocabulary) }

  /// Opens a session at time zero.
  ///
  /// - Returns: the first status that says how the lock is, and until when the session may last.
  func open(for patience: Interval) throws(Unrest) -> (status: LockFamily.Condition, limit: Instant) {
    // A battery that is low is no reason to leave a door open.
    try step { () throws(LabFault) in try self.begin(StartCondition()) }
    let limit = now + patience
    do {
      let status = try way.reach(
        hearing: Self.longestSilence, enough: Self.silenceBesideOthers, session: patience, until: limit)
      return (status, limit)
    } catch {
      countSilence()
      throw error
    }
  }

  /// For how long a lock may be silent: less than the model grants it, so that one that is gone is not called wrong for
  /// that alone.
  static var silence: Interval { .milliseconds(14_500) }

  /// For how long a lock is listened for that is silent: one that is heard again by then has taken a rest of its own.
  static var longestSilence: Interval { .seconds(60) }

  /// For how long where others are heard meanwhile over the same controller, twice what the model grants it: that the silence is
  /// the lock's is known then, and whether it ends says no more.
  static var silenceBesideOthers: Interval { .seconds(30) }
}

// MARK: - Parking

extension Interlock {
  /// The longest that parking may take.
  private static var patience: Interval { .seconds(120) }

  /// Brings the lock to its park position, at the end of a run and whatever its end.
  ///
  /// - Returns: what there is to say of it, how the lock is left (`nil` for one that was not used), and the trouble where
  ///   it did not succeed.
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
    do throws(Unrest) {
      let words = try bring(to: goal)
      return (takeDiagnostics() + [words, budgetText], .parked, nil)
    } catch {
      switch error {
      case .helpless(let why):
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

  func bring(to goal: String) throws(Unrest) -> String {
    do {
      return try attempt(goal)
    } catch {
      guard case .lab(let fault, _) = error, fault.symptom != .safetyLimit else { throw error }
      // Once more with a transport that was brought back, if it can be.
      do { try restart() } catch { throw .lab(error) }
      return try attempt(goal)
    }
  }

  private func attempt(_ goal: String) throws(Unrest) -> String {
    let (status, limit) = try open(for: Self.patience)
    defer { way.part() }
    if status == .unset { throw .helpless("its positions were never set") }
    if status == .ownerless { throw .helpless("it has no owner") }
    if status.rawValue == goal { return "the lock rests \(goal)" }
    comingTo = goal
    defer { comingTo = nil }
    try way.turn(to: goal, within: .seconds(10), until: limit)
    return "the lock was \(status.rawValue) and was brought to \(goal)"
  }
}
