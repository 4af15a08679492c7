public import Basics
public import Bluetooth
public import Conformance

/// A client of a lock over a ``Central``; ``AirDevice`` wraps it.
public protocol AirClient: DeviceUnderTest {
  /// The transport to the client's controller.
  associatedtype Transport: HCITransport

  /// Lets `body` recover the central, and restores everything else that the client needs. All links are lost.
  ///
  /// - Returns: the diagnostics that `body` returns.
  mutating func recover(
    _ body: (inout Central<Transport>) throws(LabFault) -> [String]
  ) throws(LabFault) -> [String]
}

/// A real or emulated lock over the air, as a device under test: a client of its family on a monitored controller.
///
/// The transport and the host stay up from test to test. A transport failure is a lab fault: ``restart()`` then
/// recovers the controller. If that is impossible, every call throws at once.
public final class AirDevice<Client: AirClient>: DeviceLayer {
  /// The client of the lock's family.
  public var wrapped: Client
  /// The fixture of the lock.
  public let fixture: any Fixture
  private let recovery: (any ControllerRecovery<Client.Transport>)?
  private let isStopped: (() -> Bool)?
  private var diagnostics: [String]

  /// Wraps a client.
  ///
  /// - Parameters:
  ///   - fixture: the fixture of the lock.
  ///   - recovery: how to recover the controller; by default the client's own `restart()`.
  ///   - diagnostics: the diagnostics collected so far.
  ///   - isStopped: returns whether a stop was requested, which ends all waiting; `nil` in virtual time, where
  ///     waiting takes no time.
  public init(
    _ client: Client, _ fixture: any Fixture, recovery: (any ControllerRecovery<Client.Transport>)? = nil,
    diagnostics: [String] = [], isStopped: (() -> Bool)? = nil
  ) {
    wrapped = client
    self.fixture = fixture
    self.recovery = recovery
    self.isStopped = isStopped
    self.diagnostics = (recovery?.takeDiagnostics() ?? []) + diagnostics
  }

  /// The interval between two checks for a stop request.
  private static var stopInterval: Interval { .milliseconds(50) }
}

extension AirDevice {
  public func reset(to start: StartCondition) throws(LabFault) {
    try mappingFaults { () throws(LabFault) in try wrapped.reset(to: start) }
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    try mappingFaults { () throws(LabFault) in try wrapped.perform(stimulus) }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    try mappingFaults { () throws(LabFault) in try wrapped.bring(about: fault) }
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let isStopped else {
      return try mappingFaults { () throws(LabFault) in try wrapped.observe(until: limit) }
    }
    // In real time, wait in short pieces: a signal that arrives after the check would otherwise go unnoticed until
    // the whole wait is over.
    while true {
      if isStopped() { throw LabFault(.stopped, "a stop was requested") }
      let piece = min(limit, now + Self.stopInterval)
      let shown = try mappingFaults { () throws(LabFault) in try wrapped.observe(until: piece) }
      if shown != nil || now >= limit { return shown }
    }
  }

  public func restart() throws(LabFault) {
    guard let recovery else { return try wrapped.restart() }
    if let fault = recovery.fault { throw fault }
    diagnostics += wrapped.takeDiagnostics()
    diagnostics += try wrapped.recover { recovery.climb(&$0) }
    if let fault = recovery.fault { throw fault }
  }

  public func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + wrapped.takeDiagnostics()
  }

  /// Runs `body` and maps its faults.
  ///
  /// A controller that does not answer reveals nothing about the lock behind it, so the result is a fault of the
  /// transport. A fault of the fixture takes precedence.
  private func mappingFaults<Result>(_ body: () throws(LabFault) -> Result) throws(LabFault) -> Result {
    if let fault = recovery?.fault { throw fault }
    do throws(LabFault) {
      let result = try body()
      if let fault = fixture.fault { throw fault }
      return result
    } catch {
      if let fault = fixture.fault { throw fault }
      switch error.symptom {
      case .noAnswer, .badAnswer, .ended: throw LabFault(.transportLost, error.detail)
      case .noDevice, .transportLost, .programFailed, .notPossible, .linkLost, .notReproduced, .noVerdict,
        .undecided,
        .safetyLimit, .stopped:
        throw error
      }
    }
  }
}

extension Explanation {
  /// Explains why a lock is not heard: if the same controller hears other devices, only the lock is silent; otherwise
  /// its advertisements may be lost, if the radio loses packets. `nil` if neither is known.
  public static func unheard(others count: Int, isLossy: Bool) -> Explanation? {
    guard count > 0 else {
      return isLossy ? Explanation("unheard", "nothing was heard over a radio that loses packets") : nil
    }
    let others = count == 1 ? "another device was" : "\(count) other devices were"
    return Explanation(
      "unheard", "the lock was not heard, and \(others), over the same controller", isOfDevice: true)
  }
}
