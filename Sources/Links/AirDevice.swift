public import Basics
public import Bluetooth
public import Conformance

/// A client of a lock over a ``Central``, for ``AirDevice`` to look after.
public protocol AirClient: DeviceUnderTest {
  /// The way to its controller.
  associatedtype Transport: HCITransport

  /// Has the central brought back, with all else that the client needs: whatever there was on it is over.
  ///
  /// - Returns: what the body gives.
  mutating func recover(
    _ body: (inout Central<Transport>) throws(LabFault) -> [String]
  ) throws(LabFault) -> [String]
}

/// A lock on the air, real or emulated, as a device under test: a client of its family, on a controller that is watched and
/// brought back.
///
/// The way to the controller and its host go on from test to test. Trouble on the way is the lab's: after it ``restart()``
/// brings the controller back, and where that cannot be done every call throws at once.
public final class AirDevice<Client: AirClient>: DeviceLayer {
  /// The client of the lock's family.
  public var wrapped: Client
  /// What stands around the lock.
  public let fixture: any Fixture
  private let recovery: (any ControllerRecovery<Client.Transport>)?
  private let isStopped: (() -> Bool)?
  private var diagnostics: [String]

  /// Looks after a client.
  ///
  /// - Parameters:
  ///   - fixture: what stands around the lock.
  ///   - recovery: how the controller is brought back; by a reset unless given.
  ///   - diagnostics: what there is to say already.
  ///   - isStopped: whether the end was asked for, so that nothing is waited for any more; `nil` in virtual time, in which
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

  /// How soon it is noticed that the end is asked for.
  private static var stopInterval: Interval { .milliseconds(50) }
}

extension AirDevice {
  public func reset(to start: StartCondition) throws(LabFault) {
    try lab { () throws(LabFault) in try wrapped.reset(to: start) }
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    try lab { () throws(LabFault) in try wrapped.perform(stimulus) }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    try lab { () throws(LabFault) in try wrapped.bring(about: fault) }
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let isStopped else {
      return try lab { () throws(LabFault) in try wrapped.observe(until: limit) }
    }
    // On the clock, waiting is done in pieces: a signal between looking and waiting would else be heard when all of it is over.
    while true {
      if isStopped() { throw LabFault(.stopped, "the end was asked for") }
      let piece = min(limit, now + Self.stopInterval)
      let shown = try lab { () throws(LabFault) in try wrapped.observe(until: piece) }
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

  /// A controller that does not answer says nothing about the lock behind it, however often it happens; and where the fixture
  /// has failed, that is the trouble.
  private func lab<Result>(_ body: () throws(LabFault) -> Result) throws(LabFault) -> Result {
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
        .safetyLimit, .stopped:
        throw error
      }
    }
  }
}

extension Explanation {
  /// That a lock is silent by itself, since others are heard over the same controller; `nil` where none is.
  public static func unheard(others count: Int) -> Explanation? {
    guard count > 0 else { return nil }
    let others = count == 1 ? "another device was" : "\(count) other devices were"
    return Explanation(
      "unheard", "the lock was not heard, and \(others), over the same controller", isOfDevice: true)
  }
}
