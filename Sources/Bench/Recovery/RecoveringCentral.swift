import Transports
public import Bluetooth
public import Links
import Conformance
public import Basics

/// A central whose controller can be recovered, with the journal lines of the recovery.
public struct RecoveringCentral<Transport: HCITransport>: RecoverableTransport {
  /// The central.
  public var central: Central<Transport>
  /// The journal lines: one for each attempt, and the transport's diagnostics before it.
  public private(set) var lines: [String] = []
  /// Why the last attempt did not help.
  public private(set) var lastFailure: String?
  /// Stores each attempt as soon as it has ended.
  private let record: (RecoveryEscalation.Attempt) -> Void

  /// Wraps a central.
  public init(
    _ central: Central<Transport>, record: @escaping (RecoveryEscalation.Attempt) -> Void = { _ in }
  ) {
    self.central = central
    self.record = record
  }

  public var now: Instant { central.transport.now }
  public var isTransportLost: Bool { central.isTransportLost }

  public mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String? {
    do {
      switch step {
      case .reconnect: try central.reconnect(until: limit)
      case .hciReset: try central.resetController(until: limit)
      case .reopen: try central.reopen(.untouched, until: limit)
      case .usbReset: try central.reopen(.afterReset, until: limit)
      case .powerCycle: try central.reopen(.afterPowerCycle, until: limit)
      }
      return nil
    } catch {
      return error.description
    }
  }

  public mutating func note(_ line: String, _ attempt: RecoveryEscalation.Attempt?) {
    lines += central.takeDiagnostics() + [line]
    guard let attempt else { return }
    lastFailure = attempt.failure
    record(attempt)
  }
}
