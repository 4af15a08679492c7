public import SesameDevice
import Transports
public import Bluetooth
import Conformance
public import Basics

/// A link to a lock whose controller is climbed back to, with what is said meanwhile.
public struct RecoveringLink<Transport: HCITransport, Environment: LockEnvironment>: RecoverableWay {
  /// The link.
  public var link: AirLink<Transport, Environment>
  /// What there is to say, a line for each try and those of the transport before it.
  public private(set) var lines: [String] = []
  /// Why the last try did not help.
  public private(set) var lastFailure: String?
  /// Takes what is to be kept of each try, as soon as it has ended.
  private let record: (RecoveryEscalation.Attempt) -> Void

  /// Takes a link over.
  public init(
    _ link: AirLink<Transport, Environment>, record: @escaping (RecoveryEscalation.Attempt) -> Void = { _ in }
  ) {
    self.link = link
    self.record = record
  }

  public var now: Instant { link.transport.now }
  public var isWayLost: Bool { link.isWayLost }

  public mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String? {
    do {
      switch step {
      case .reconnect: try link.reconnect(until: limit)
      case .hciReset: try link.resetController(until: limit)
      case .reopen: try link.reopen(.anew, until: limit)
      case .usbReset: try link.reopen(.afterReset, until: limit)
      case .powerCycle: try link.reopen(.afterPowerCycle, until: limit)
      }
      return nil
    } catch {
      return error.description
    }
  }

  public mutating func note(_ line: String, _ attempt: RecoveryEscalation.Attempt?) {
    lines += link.takeDiagnostics() + [line]
    guard let attempt else { return }
    lastFailure = attempt.failure
    record(attempt)
  }
}
