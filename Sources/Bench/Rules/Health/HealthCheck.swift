public import Conformance
import Basics

/// The result of a check: whether a lock can be reached, report its state, and turn there and back.
public enum HealthFinding: Equatable, Sendable {
  /// The lock passed; the text describes its behaviour.
  case healthy(String)
  /// The lock was reached, and did not behave as it should.
  case unwell(String)
  /// The lock was not reached.
  case unreached(String)
  /// The transport failed before the lock could be reached.
  case transport(String)
  /// A limit forbids the check; the lock's health is unknown.
  case limited(String)
}

extension HealthFinding: CustomStringConvertible {
  /// The result as a sentence.
  public var description: String {
    switch self {
    case .healthy(let words): "healthy: \(words)"
    case .unwell(let words): "not well: \(words)"
    case .unreached(let words): "not reached: \(words)"
    case .transport(let words): "the transport to it fails: \(words)"
    case .limited(let words): "not asked: \(words)"
    }
  }
}

/// Checks one lock before it is used: connects, reads its state, and turns the bolt there and back.
///
/// The check uses the device as a scenario does, so that the guards of a real lock apply: the cycle takes two
/// movements from the budgets, and if a limit forbids them there is no result. A lock without an owner or positions
/// is not turned. The cycle ends in the position in which it began, or locked.
public struct HealthCheck<Device: DeviceUnderTest> {
  private let lockOperator: LockOperator<Device>
  private let start: StartCondition
  private let family: LockFamily

  /// Prepares a check.
  ///
  /// - Parameters:
  ///   - device: the lock.
  ///   - start: the start condition of an emulated lock; a real one stays as it is.
  ///   - family: the lock's family.
  public init(
    of device: Device, from start: StartCondition = StartCondition(), family: LockFamily
  ) {
    lockOperator = LockOperator(device, of: family)
    self.family = family
    self.start = start
  }

  /// Checks the lock.
  public func perform() -> HealthFinding {
    do throws(OperatorFailure) {
      return try check()
    } catch {
      switch error {
      case .impossible(let why): return .unwell(why)
      case .lab(_, let instead?): return finding(instead)
      case .lab(let fault, nil):
        switch fault.symptom {
        case .safetyLimit, .notPossible, .stopped: return .limited(fault.detail)
        case .noAnswer, .badAnswer, .ended:
          return lockOperator.isReached ? .unwell(fault.detail) : .transport(fault.detail)
        case .noDevice, .transportLost, .programFailed, .linkLost, .notReproduced, .noVerdict, .undecided:
          return .transport(fault.detail)
        }
      }
    }
  }

  /// Removes and returns the lab's diagnostics since the last call.
  public func takeDiagnostics() -> [String] { lockOperator.takeDiagnostics() }
}

/// The timeouts.
private enum Timeout {
  static let advertisement = Interval.seconds(20)
  static let session = Interval.seconds(60)
  static let turn = Interval.seconds(10)
}

extension HealthCheck {
  private func check() throws(OperatorFailure) -> HealthFinding {
    try lockOperator.begin(start)
    let status = try lockOperator.reach(hearing: Timeout.advertisement, session: Timeout.session)
    let done: String
    switch status {
    case .ownerless: done = "it answers, and has no owner"
    case .unset: done = "it answers, and its positions were never set"
    case .locked:
      try lockOperator.turn(to: "unlocked", within: Timeout.turn)
      try lockOperator.turn(to: "locked", within: Timeout.turn)
      done = "it was unlocked and locked"
    case .unlocked:
      try lockOperator.turn(to: "locked", within: Timeout.turn)
      try lockOperator.turn(to: "unlocked", within: Timeout.turn)
      done = "it was locked and unlocked"
    case .moved, .away, .heard, .underWay, .proving, .registering, .forgotten:
      try lockOperator.turn(to: "locked", within: Timeout.turn)
      done = "it was in neither position, and was locked"
    }
    lockOperator.part()
    return .healthy(done)
  }

  /// The result for a lock that showed something other than the awaited status.
  private func finding(_ instead: OperatorFailure.Instead) -> HealthFinding {
    switch instead.wanted {
    case [.heard]: return .unreached("it was not heard in \(Timeout.advertisement)")
    case LockFamily.Condition.settled:
      let detail = "instead of its state it showed \(instead.shown)" + lockOperator.reason
      return lockOperator.isReached ? .unwell(detail) : .unreached(detail)
    default:
      // After disconnecting the device no longer knows the reason.
      let reason = lockOperator.reason
      let turn = LockFamily.Request.turn(to: instead.wanted[0].rawValue)
      let name = family.name(of: turn) ?? turn.rawValue
      lockOperator.part()
      return .unwell("after \(name) it showed \(instead.shown)" + reason)
    }
  }
}
