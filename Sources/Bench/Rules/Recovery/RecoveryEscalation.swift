public import Basics

/// What brings a way to a controller back into work, the mildest first.
public enum RecoveryStep: String, CaseIterable, Comparable, Sendable {
  /// Everything under way is given up, and the controller is asked for a sign of life.
  case reconnect
  /// The controller is reset.
  case hciReset = "hci-reset"
  /// The way to it is closed and opened anew.
  case reopen
  /// The dongle is reset on its bus.
  case usbReset = "usb-reset"
  /// Its power is turned off, and on again once it has really fallen.
  case powerCycle = "power-cycle"

  /// Whether the first is the milder.
  public static func < (left: RecoveryStep, right: RecoveryStep) -> Bool { left.place < right.place }

  private var place: Int { Self.allCases.firstIndex(of: self)! }

  /// What it is called in a sentence.
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

/// How a controller in trouble is brought back: step by step, each tried once, timed and counted.
///
///     trouble ──▶ reconnect ──▶ HCI reset ──▶ reopen ──▶ USB reset ──▶ power cycle ──▶ out of use
///                     │             │           │            │             │
///                     └─────────────┴───────────┴────────────┴─────────────┴──▶ in work
///
/// Which steps there are depends on the controller: only a dongle can be reset on USB, and only what hangs on a switch can
/// be turned off. A step that was tried twice within an hour, whatever came of it, is passed over: what helps again and
/// again does not cure, and what never helps costs time. The last step has more tries, six an hour; when they are used up
/// as well, the controller is out of use, as it is when no step helps.
///
/// The type does no I/O and reads no clock: ask it for the next step, try that, and say what came of it.
///
///     begin ──▶ next ──▶ ended ──▶ next ──▶ ended … ──▶ in work, or out of use
public struct RecoveryEscalation: Equatable, Sendable {
  /// One try of one step.
  public struct Attempt: Equatable, Sendable {
    /// Which.
    public var step: RecoveryStep
    /// When it began.
    public var begin: Instant
    /// How long it took.
    public var duration: Interval
    /// Why it did not help; `nil` when it did.
    public var failure: String?
    /// Its place on this escalation, from 1.
    public var number: Int
    /// How many steps this escalation has.
    public var count: Int
  }

  /// A step and when it was begun.
  private struct Try: Equatable {
    var step: RecoveryStep
    var time: Instant
  }

  /// How often a step may be tried within an hour, and how often the last one.
  public static let tries = 2
  public static let lastTries = 6
  /// The time in which tries are counted.
  public static let memory = Interval.seconds(3600)

  /// The steps that there are, the mildest first.
  public let steps: [RecoveryStep]
  private let powerSettles: Interval
  /// Whether no step is left. It stays so until a person has seen to it.
  public private(set) var isOutOfUse = false
  /// The tries of the last hour.
  private var history: [Try] = []
  /// The steps of this climb that were not tried yet.
  private var left: [RecoveryStep] = []
  private var current: Try?

  /// Makes an escalation.
  ///
  /// - Parameters:
  ///   - hasUSBReset: whether it is a dongle on a USB bus.
  ///   - powerSettles: how long its power needs to fall, and to come back; `nil` where it cannot be switched.
  public init(hasUSBReset: Bool, powerSettles: Interval?) {
    self.powerSettles = powerSettles ?? .zero
    steps = RecoveryStep.allCases.filter {
      ($0 != .usbReset || hasUSBReset) && ($0 != .powerCycle || powerSettles != nil)
    }
  }

  /// The longest that a step may take, that the controller answers included. With power that settles in three seconds
  /// all of them together take twenty.
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
  /// Begins to climb.
  ///
  /// - Parameter isWayLost: whether the way to the controller is closed, so that nothing can be asked of it before it is
  ///   open again.
  /// - Returns: what is passed over although it is there, and why, in a sentence; `nil` when nothing is.
  public mutating func begin(isWayLost: Bool, at now: Instant) -> String? {
    history.removeAll { $0.time <= now - Self.memory }
    let possible = steps.filter { !isWayLost || $0 >= .reopen }
    left = possible.filter { count(of: $0) < allowance(of: $0) }
    let passed = possible.filter { !left.contains($0) }
    guard !passed.isEmpty else { return nil }
    let words = passed.map { "\($0.title) (\(count(of: $0)) tries)" }.joined(separator: ", ")
    return "passed over, since it was tried enough in the last hour: \(words)"
  }

  /// The next step to try, and until when; `nil` when none is left, and the controller is out of use.
  public mutating func next(at now: Instant) -> (step: RecoveryStep, limit: Instant)? {
    guard !left.isEmpty, !isOutOfUse else {
      isOutOfUse = true
      return nil
    }
    let step = left.removeFirst()
    current = Try(step: step, time: now)
    return (step, now + limit(of: step))
  }

  /// Takes in what came of the step that was tried. Where it helped, the climb is over.
  ///
  /// - Parameter failure: why it did not help; `nil` when it did.
  public mutating func ended(with failure: String?, at now: Instant) -> Attempt {
    guard let tried = current else { preconditionFailure("no step is being tried") }
    current = nil
    history.append(tried)
    if failure == nil { left = [] }
    return Attempt(
      step: tried.step, begin: tried.time, duration: now - tried.time, failure: failure,
      number: (steps.firstIndex(of: tried.step) ?? 0) + 1, count: steps.count)
  }

  /// Takes in a try of an earlier process.
  public mutating func recall(_ step: RecoveryStep, at time: Instant) {
    history.append(Try(step: step, time: time))
  }

  /// Forgets all tries: a person saw to the controller.
  public mutating func forget() {
    history = []
    isOutOfUse = false
  }

  private func count(of step: RecoveryStep) -> Int { history.filter { $0.step == step }.count }

  private func allowance(of step: RecoveryStep) -> Int { step == steps.last ? Self.lastTries : Self.tries }
}

extension RecoveryEscalation.Attempt: CustomStringConvertible {
  /// A line of the journal: `recovery, step 2 of 3: HCI reset failed after 1.2 s: the controller does not answer`.
  public var description: String {
    let time = Interval.milliseconds(duration.nanoseconds / 1_000_000)
    let result = failure.map { "failed after \(time): \($0)" } ?? "helped, after \(time)"
    return "recovery, step \(number) of \(count): \(step.title) \(result)"
  }
}

/// A way to a controller that can be climbed back to.
public protocol RecoverableWay {
  /// Its time, in which steps are timed.
  var now: Instant { get }

  /// Whether the way is closed, so that nothing can be asked of the controller before it is open again.
  var isWayLost: Bool { get }

  /// Tries a step, up to a moment.
  ///
  /// - Returns: why it did not help; `nil` when the controller is in work again.
  mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String?

  /// Takes in a line for the journal, with the try that it is about.
  mutating func note(_ line: String, _ attempt: RecoveryEscalation.Attempt?)
}

extension RecoveryEscalation {
  /// Climbs until the controller is in work again, or no step is left.
  ///
  /// - Returns: whether the controller is in work again.
  public mutating func climb(_ way: inout some RecoverableWay) -> Bool {
    if let passed = begin(isWayLost: way.isWayLost, at: way.now) { way.note("recovery: \(passed)", nil) }
    while let (step, limit) = next(at: way.now) {
      let failure = way.attempt(step, until: limit)
      let attempt = ended(with: failure, at: way.now)
      way.note("\(attempt)", attempt)
      if failure == nil { return true }
    }
    way.note("recovery: no step is left, the controller is out of use", nil)
    return false
  }
}
