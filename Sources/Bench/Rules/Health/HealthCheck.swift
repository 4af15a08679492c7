public import Conformance
public import LockFiles
import Basics

/// What a lock shows when it is asked to do what every lock can: to be reached, to tell its state, to turn there and
/// back.
public enum HealthFinding: Equatable, Sendable {
  /// It did all that it can; the words say what.
  case healthy(String)
  /// It was reached, and did not do what it should.
  case unwell(String)
  /// It was not reached.
  case unreached(String)
  /// The way to it failed before it could be asked.
  case transport(String)
  /// A limit forbids to ask: that says nothing of it.
  case limited(String)
}

extension HealthFinding: CustomStringConvertible {
  /// The finding in a sentence.
  public var description: String {
    switch self {
    case .healthy(let words): "healthy: \(words)"
    case .unwell(let words): "not well: \(words)"
    case .unreached(let words): "not reached: \(words)"
    case .transport(let words): "the way to it fails: \(words)"
    case .limited(let words): "not asked: \(words)"
    }
  }
}

/// A check of one lock before it is used: connect, read its state, one cycle.
///
/// It asks a device as a scenario would, and so whatever governs a real lock governs the check: the cycle costs two
/// movements of the budgets, and where a limit forbids them the check says nothing. A lock without an owner, or
/// whose positions were never set, is not turned. The cycle ends where it began, or locked.
public struct HealthCheck<Device: DeviceUnderTest> {
  private let way: LockOperator<Device>
  private let start: StartCondition
  private let family: LockFamily

  /// Prepares a check.
  ///
  /// - Parameters:
  ///   - device: the lock.
  ///   - start: the condition in which an emulated one starts; a real one is as it is.
  ///   - family: which family it is of.
  public init(
    of device: Device, from start: StartCondition = StartCondition(), family: LockFamily = .usual
  ) {
    way = LockOperator(device, of: family)
    self.family = family
    self.start = start
  }

  /// Checks the lock.
  public func perform() -> HealthFinding {
    do throws(Unrest) {
      return try check()
    } catch {
      switch error {
      case .helpless(let why): return .unwell(why)
      case .lab(_, let instead?): return finding(instead)
      case .lab(let fault, nil):
        switch fault.symptom {
        case .safetyLimit, .notPossible, .stopped: return .limited(fault.detail)
        case .noAnswer, .badAnswer, .ended:
          return way.isReached ? .unwell(fault.detail) : .transport(fault.detail)
        case .noDevice, .transportLost, .programFailed, .linkLost, .notReproduced, .noVerdict:
          return .transport(fault.detail)
        }
      }
    }
  }

  /// What the lab had to say meanwhile.
  public func takeDiagnostics() -> [String] { way.takeDiagnostics() }
}

/// How long it is waited for.
private enum Patience {
  static let advertisement = Interval.seconds(20)
  static let session = Interval.seconds(60)
  static let turn = Interval.seconds(10)
}

extension HealthCheck {
  private func check() throws(Unrest) -> HealthFinding {
    try way.begin(start)
    let status = try way.reach(hearing: Patience.advertisement, session: Patience.session)
    let done: String
    switch status {
    case .ownerless: done = "it answers, and has no owner"
    case .unset: done = "it answers, and its positions were never set"
    case .locked:
      try way.turn(to: "unlocked", within: Patience.turn)
      try way.turn(to: "locked", within: Patience.turn)
      done = "it was unlocked and locked"
    case .unlocked:
      try way.turn(to: "locked", within: Patience.turn)
      try way.turn(to: "unlocked", within: Patience.turn)
      done = "it was locked and unlocked"
    case .moved, .away, .heard, .underWay, .proving, .registering, .forgotten:
      try way.turn(to: "locked", within: Patience.turn)
      done = "it was in neither position, and was locked"
    }
    way.part()
    return .healthy(done)
  }

  /// What it says of a lock that it showed something else than was waited for.
  private func finding(_ instead: Unrest.Instead) -> HealthFinding {
    switch instead.wanted {
    case [.heard]: return .unreached("it was not heard in \(Patience.advertisement)")
    case LockFamily.Condition.settled:
      let detail = "instead of its state it showed \(instead.shown)" + way.reason
      return way.isReached ? .unwell(detail) : .unreached(detail)
    default:
      // Who has left has no reason to tell any more.
      let reason = way.reason
      let turn = LockFamily.Request.turn(to: instead.wanted[0].rawValue)
      let name = family.name(of: turn) ?? turn.rawValue
      way.part()
      return .unwell("told to \(name) it showed \(instead.shown)" + reason)
    }
  }
}
