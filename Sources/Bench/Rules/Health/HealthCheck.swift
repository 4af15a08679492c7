public import Conformance
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
  private var device: Device
  private let start: StartCondition
  /// Whether the lock spoke to us.
  private var isReached = false

  /// Prepares a check.
  ///
  /// - Parameters:
  ///   - device: the lock.
  ///   - start: the condition in which an emulated one starts; a real one is as it is.
  public init(of device: Device, from start: StartCondition = StartCondition()) {
    self.device = device
    self.start = start
  }

  /// Checks the lock.
  public mutating func perform() -> HealthFinding {
    do throws(Halt) {
      return try check()
    } catch {
      switch error {
      case .finding(let finding): return finding
      case .lab(let fault):
        switch fault.symptom {
        case .safetyLimit, .notPossible, .stopped: return .limited(fault.detail)
        case .noAnswer, .badAnswer, .ended:
          return isReached ? .unwell(fault.detail) : .transport(fault.detail)
        case .noDevice, .transportLost, .linkLost, .notReproduced, .noVerdict: return .transport(fault.detail)
        }
      }
    }
  }

  /// What the lab had to say meanwhile.
  public mutating func takeRemarks() -> [String] { device.takeRemarks() }
}

/// Why a check does not go on.
private enum Halt: Error {
  case finding(HealthFinding)
  case lab(LabFault)
}

/// How long it is waited for.
private enum Patience {
  static let advertisement = Interval.seconds(20)
  static let session = Interval.seconds(60)
  static let turn = Interval.seconds(10)
  static let farewell = Interval.milliseconds(300)
}

/// The statuses that a lock shows once it is reached.
private let contacts = settledStatuses + ["logining", "registering"]

extension HealthCheck {
  private mutating func check() throws(Halt) -> HealthFinding {
    device.adopt(sessionWords)
    let start = start
    try lab { device throws(LabFault) in try device.reset(to: start) }
    try give("closeTo")
    guard try wait(for: ["receivedBle"], within: Patience.advertisement) == "receivedBle" else {
      throw .finding(.unreached("it was not heard in \(Patience.advertisement)"))
    }
    try give("connect")
    let status = try wait(for: settledStatuses, within: Patience.session)
    guard settledStatuses.contains(status) else {
      let detail = "instead of its state it showed \(status)" + reason
      throw .finding(isReached ? .unwell(detail) : .unreached(detail))
    }
    let done: String
    switch status {
    case "readytoRegister": done = "it answers, and has no owner"
    case "nosetting": done = "it answers, and its positions were never set"
    case "locked":
      try turn("unlock", to: "unlocked")
      try turn("lock", to: "locked")
      done = "it was unlocked and locked"
    case "unlocked":
      try turn("lock", to: "locked")
      try turn("unlock", to: "unlocked")
      done = "it was locked and unlocked"
    default:
      try turn("lock", to: "locked")
      done = "it was in neither position, and was locked"
    }
    part()
    return .healthy(done)
  }

  private mutating func turn(_ name: String, to goal: String) throws(Halt) {
    try give(name)
    let status = try wait(for: [goal], within: Patience.turn)
    guard status == goal else {
      // Who has left has no reason to tell any more.
      let reason = reason
      part()
      throw .finding(.unwell("told to \(name) it showed \(status)" + reason))
    }
  }

  /// Why it was not what it should have been, where that is known.
  private var reason: String { device.explanation(ofSilence: true).map { "; \($0)" } ?? "" }

  /// Ends the session, and gives the radio a moment to do so.
  private mutating func part() {
    let limit = device.now + Patience.farewell
    guard (try? give("disconnect")) != nil else { return }
    while device.now < limit, (try? look(until: limit)) != nil {}
  }

  /// Gives a stimulus once it may be given.
  private mutating func give(_ name: String) throws(Halt) {
    guard let number = sessionWords.stimulus(name) else { preconditionFailure("no such stimulus: \(name)") }
    let stimulus = Stimulus(number)
    if let moment = device.readyTime(for: stimulus) {
      while device.now < moment { _ = try look(until: moment) }
    }
    try lab { device throws(LabFault) in try device.perform(stimulus) }
  }

  /// Lets time pass until one of some statuses is shown; gives the last one that was.
  private mutating func wait(for wanted: [String], within limit: Interval) throws(Halt) -> String {
    let limit = device.now + limit
    var last = "nothing"
    repeat {
      guard let status = try look(until: limit) else { continue }
      last = status
    } while device.now < limit && last != "noSignal" && !wanted.contains(last)
    return last
  }

  /// The next status up to a limit.
  private mutating func look(until limit: Instant) throws(Halt) -> String? {
    let shown = try lab { device throws(LabFault) in try device.observe(until: limit) }
    guard case .status(let number)? = shown else { return nil }
    let status = sessionWords.statuses[number]
    if contacts.contains(status) { isReached = true }
    return status
  }

  private mutating func lab<Result>(_ body: (inout Device) throws(LabFault) -> Result) throws(Halt) -> Result
  {
    do {
      return try body(&device)
    } catch {
      throw .lab(error)
    }
  }
}
