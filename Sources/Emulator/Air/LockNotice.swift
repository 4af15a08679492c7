public import Bluetooth

/// An event of a lock on the air, for an observer.
public enum LockNotice: Hashable, Sendable {
  /// Its controller is set up.
  case ready(ControllerDescription)
  /// Its controller failed; the lock stops until it is started again.
  case failed(HostFailure)
  /// The controller refused to advertise; another attempt follows a second later.
  case notAdvertising(HCIErrorCode)
  /// A client connected.
  case connected(PeerAddress)
  /// The client turned notifications on or off.
  case subscribed(Bool)
  /// The motor started or reversed.
  case motorStarted
  /// The link is over.
  case disconnected(HCIErrorCode)
  /// The client broke a rule of its protocol, described by the text.
  case protocolViolation(String)
  /// The controller behaved unexpectedly, as described by the text.
  case controllerAnomaly(String)
  /// The program that emulates the lock printed a line.
  case shown(String)
}

extension LockNotice: CustomStringConvertible {
  /// The event as one line.
  public var description: String {
    switch self {
    case .ready(let controller):
      "ready, as \(controller.randomAddress) on the controller \(controller.publicAddress)"
    case .failed(let failure): failure.description
    case .notAdvertising(let status): "the controller does not advertise: \(status)"
    case .connected(let peer): "connected by \(peer)"
    case .subscribed(true): "notifications on"
    case .subscribed(false): "notifications off"
    case .motorStarted: "the motor starts"
    case .disconnected(let reason): "disconnected: \(reason)"
    case .protocolViolation(let rule): "the client broke a rule: \(rule)"
    case .controllerAnomaly(let what): "the controller is odd: \(what)"
    case .shown(let line): "the lock's program shows \(line)"
    }
  }
}
