public import Basics

/// The steps that can recover a controller, the mildest first.
public enum RecoveryStep: String, CaseIterable, Comparable, Sendable {
  /// All pending operations are abandoned, and the controller is probed.
  case reconnect
  /// The controller is reset.
  case hciReset = "hci-reset"
  /// The transport is closed and opened again.
  case reopen
  /// The dongle is reset on its bus.
  case usbReset = "usb-reset"
  /// The dongle's power is switched off, and on again once its voltage has dropped.
  case powerCycle = "power-cycle"

  /// Whether the first step is the milder one.
  public static func < (left: RecoveryStep, right: RecoveryStep) -> Bool { left.place < right.place }

  private var place: Int { Self.allCases.firstIndex(of: self)! }

  /// The step's name in a sentence.
  public var title: String {
    switch self {
    case .reconnect: "reconnect"
    case .hciReset: "HCI reset"
    case .reopen: "reopen"
    case .usbReset: "USB reset"
    case .powerCycle: "power cycle"
    }
  }
}

/// Recovers a failed controller step by step; each step is tried once, timed and counted.
///
///     failure ──▶ reconnect ──▶ HCI reset ──▶ reopen ──▶ USB reset ──▶ power cycle ──▶ out of use
///                     │             │           │            │             │
///                     └─────────────┴───────────┴────────────┴─────────────┴──▶ working
///
/// The steps depend on the controller: only a dongle has a USB reset, and only a switched port has a power cycle. A
/// step that was tried twice within an hour is skipped, whatever the results: a step that helps repeatedly is no
/// cure, and one that never helps costs time. The last step has more attempts, six an hour. After those, or if no
/// step helps, the controller is out of use.
///
/// The type does no I/O and reads no clock: call ``next(at:)``, try the step, and report its result.
///
///     begin ──▶ next ──▶ ended ──▶ next ──▶ ended … ──▶ working, or out of use
public struct RecoveryEscalation: Equatable, Sendable {
  /// One attempt at one step.
  public struct Attempt: Equatable, Sendable {
    /// The step.
    public var step: RecoveryStep
    /// When it began.
    public var begin: Instant
    /// The duration.
    public var duration: Interval
    /// Why it did not help; `nil` if it did.
    public var failure: String?
    /// The step's number in this escalation, from 1.
    public var number: Int
    /// The number of steps in this escalation.
    public var count: Int
  }

  /// A step and when it began.
  private struct StartedStep: Equatable {
    var step: RecoveryStep
    var time: Instant
  }

  /// The most attempts at a step within an hour, and at the last one.
  public static let maximumAttempts = 2
  public static let maximumLastStepAttempts = 6
  /// The window in which attempts are counted.
  public static let memory = Interval.seconds(3600)

  /// The available steps, the mildest first.
  public let steps: [RecoveryStep]
  private let powerSettles: Interval
  /// Whether no step is left. Only a person can change that.
  public private(set) var isOutOfUse = false
  /// The attempts of the last hour.
  private var history: [StartedStep] = []
  /// The steps of this escalation that were not tried yet.
  private var left: [RecoveryStep] = []
  private var current: StartedStep?

  /// Makes an escalation.
  ///
  /// - Parameters:
  ///   - hasUSBReset: whether the controller is a dongle on a USB bus.
  ///   - powerSettles: how long its voltage takes to drop, and to return; `nil` if its power cannot be
  ///     switched.
  public init(hasUSBReset: Bool, powerSettles: Interval?) {
    self.powerSettles = powerSettles ?? .zero
    steps = RecoveryStep.allCases.filter {
      ($0 != .usbReset || hasUSBReset) && ($0 != .powerCycle || powerSettles != nil)
    }
  }

  /// The timeout of a step, the controller's answer included. With power that settles in three seconds the timeouts
  /// add up to twenty.
  public func limit(of step: RecoveryStep) -> Interval {
    switch step {
    case .reconnect: .milliseconds(1500)
    case .hciReset: .milliseconds(2500)
    case .reopen: .milliseconds(3500)
    case .usbReset: .milliseconds(3500)
    case .powerCycle: powerSettles * 2 + .seconds(3)
    }
  }
}

extension RecoveryEscalation {
  /// Begins an escalation.
  ///
  /// - Parameter isTransportLost: whether the transport is closed, so that the controller cannot be reached before it is
  ///   reopened.
  /// - Returns: a sentence with the available steps that are skipped, and why; `nil` if none is.
  public mutating func begin(isTransportLost: Bool, at now: Instant) -> String? {
    history.removeAll { $0.time <= now - Self.memory }
    let possible = steps.filter { !isTransportLost || $0 >= .reopen }
    left = possible.filter { count(of: $0) < allowance(of: $0) }
    let passed = possible.filter { !left.contains($0) }
    guard !passed.isEmpty else { return nil }
    let words = passed.map { "\($0.title) (\(count(of: $0)) tries)" }.joined(separator: ", ")
    return "passed over, since it was tried enough in the last hour: \(words)"
  }

  /// The next step to try, with its deadline; `nil` if none is left and the controller is out of use.
  public mutating func next(at now: Instant) -> (step: RecoveryStep, limit: Instant)? {
    guard !left.isEmpty, !isOutOfUse else {
      isOutOfUse = true
      return nil
    }
    let step = left.removeFirst()
    current = StartedStep(step: step, time: now)
    return (step, now + limit(of: step))
  }

  /// Reports the result of a step. Success ends the escalation.
  ///
  /// - Parameter failure: why the step did not help; `nil` if it did.
  public mutating func ended(with failure: String?, at now: Instant) -> Attempt {
    guard let tried = current else { preconditionFailure("no step is being tried") }
    current = nil
    history.append(tried)
    if failure == nil { left = [] }
    return Attempt(
      step: tried.step, begin: tried.time, duration: now - tried.time, failure: failure,
      number: (steps.firstIndex(of: tried.step) ?? 0) + 1, count: steps.count)
  }

  /// Records an attempt of an earlier process.
  public mutating func recall(_ step: RecoveryStep, at time: Instant) {
    history.append(StartedStep(step: step, time: time))
  }

  /// Discards all attempts: a person serviced the controller.
  public mutating func forget() {
    history = []
    isOutOfUse = false
  }

  private func count(of step: RecoveryStep) -> Int { history.filter { $0.step == step }.count }

  private func allowance(of step: RecoveryStep) -> Int {
    step == steps.last ? Self.maximumLastStepAttempts : Self.maximumAttempts
  }
}

extension RecoveryEscalation.Attempt: CustomStringConvertible {
  /// The attempt as a line of the journal: `recovery, step 2 of 3: HCI reset failed after 1.2 s: the controller does
  /// not answer`.
  public var description: String {
    let time = Interval.milliseconds(duration.nanoseconds / 1_000_000)
    let result = failure.map { "failed after \(time): \($0)" } ?? "helped, after \(time)"
    return "recovery, step \(number) of \(count): \(step.title) \(result)"
  }
}

/// A transport to a controller that can be recovered.
public protocol RecoverableTransport {
  /// The current time, by which steps are timed.
  var now: Instant { get }

  /// Whether the transport is closed, so that the controller cannot be reached before it is reopened.
  var isTransportLost: Bool { get }

  /// Tries a step until a deadline.
  ///
  /// - Returns: why it did not help; `nil` if the controller works again.
  mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String?

  /// Receives a line for the journal, with the attempt that it describes.
  mutating func note(_ line: String, _ attempt: RecoveryEscalation.Attempt?)
}

extension RecoveryEscalation {
  /// Tries the steps until the controller works again, or none is left.
  ///
  /// - Returns: whether the controller works again.
  public mutating func climb(_ transport: inout some RecoverableTransport) -> Bool {
    if let passed = begin(isTransportLost: transport.isTransportLost, at: transport.now) {
      transport.note("recovery: \(passed)", nil)
    }
    while let (step, limit) = next(at: transport.now) {
      let failure = transport.attempt(step, until: limit)
      let attempt = ended(with: failure, at: transport.now)
      transport.note("\(attempt)", attempt)
      if failure == nil { return true }
    }
    transport.note("recovery: no step is left, the controller is out of use", nil)
    return false
  }
}
