public import SesameDevice
import Transports
public import Bluetooth
import Conformance
public import Basics

/// A link to a lock whose controller is climbed back to, with what is said meanwhile.
public struct ClimbingLink<Transport: HCITransport, Surroundings: LockSurroundings>: RecoverableWay {
  /// The link.
  public var link: AirLink<Transport, Surroundings>
  /// What there is to say, a line for each try and those of the transport before it.
  public private(set) var lines: [String] = []
  /// Why the last try did not help.
  public private(set) var lastFailure: String?
  /// Takes what is to be kept of each try, as soon as it has ended.
  private let record: (String) -> Void

  /// Takes a link over.
  public init(_ link: AirLink<Transport, Surroundings>, record: @escaping (String) -> Void = { _ in }) {
    self.link = link
    self.record = record
  }

  public var now: Instant { link.transport.now }
  public var isWayLost: Bool { link.isWayLost }

  public mutating func attempt(_ rung: RecoveryRung, until limit: Instant) -> String? {
    do {
      switch rung {
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

  public mutating func note(_ line: String, _ attempt: RecoveryLadder.Attempt?) {
    lines += link.takeRemarks() + [line]
    guard let attempt else { return }
    lastFailure = attempt.failure
    record(attempt.record)
  }
}
