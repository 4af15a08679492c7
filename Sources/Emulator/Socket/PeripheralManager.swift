import Sesame

/// A central, identified by its number.
struct CentralID: Equatable, Sendable {
  let number: Int
}

/// A characteristic of the socket's service, or of another service.
enum Characteristic {
  case notify
  case write
  case other
}

/// The callbacks of a peripheral manager; each has an empty default.
protocol PeripheralManagerDelegate: AnyObject {
  func peripheralManagerDidUpdateState(_ peripheral: PeripheralManager)
  func peripheralManagerDidAddService(_ peripheral: PeripheralManager, error: SocketError?)
  func peripheralManagerDidStartAdvertising(_ peripheral: PeripheralManager, error: SocketError?)
  func peripheralManagerIsReadyToUpdateSubscribers(_ peripheral: PeripheralManager)
  func peripheralManager(
    _ peripheral: PeripheralManager, central: CentralID, didSubscribeTo characteristic: Characteristic)
  func peripheralManager(
    _ peripheral: PeripheralManager, central: CentralID, didUnsubscribeFrom characteristic: Characteristic)
  func peripheralManager(
    _ peripheral: PeripheralManager, central: CentralID, didWriteTo characteristic: Characteristic)
}

extension PeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: PeripheralManager) {}
  func peripheralManagerDidAddService(_ peripheral: PeripheralManager, error: SocketError?) {}
  func peripheralManagerDidStartAdvertising(_ peripheral: PeripheralManager, error: SocketError?) {}
  func peripheralManagerIsReadyToUpdateSubscribers(_ peripheral: PeripheralManager) {}
  func peripheralManager(
    _ peripheral: PeripheralManager, central: CentralID, didSubscribeTo characteristic: Characteristic
  ) {}
  func peripheralManager(
    _ peripheral: PeripheralManager, central: CentralID, didUnsubscribeFrom characteristic: Characteristic
  ) {}
  func peripheralManager(
    _ peripheral: PeripheralManager, central: CentralID, didWriteTo characteristic: Characteristic
  ) {}
}

/// Carries out the requests of a peripheral manager.
protocol PeripheralSystem: AnyObject {
  func carryOut(_ request: PeripheralManager.Request)
  /// Adds a value to the transmit queue; false if there is no room.
  func updateValue() -> Bool
}

/// The operating system's side of a peripheral, as far as the socket uses it: it shows the requests, has a
/// system carry them out, if there is one, and answers when the tester says so.
final class PeripheralManager {
  /// The state of the radio as known to the manager.
  enum State {
    case unknown
    case poweredOff
    case unauthorized
    case poweredOn
  }

  /// A request; its answer, if any, comes later.
  enum Request: String {
    case addService, removeService, removeAllServices, startAdvertising, stopAdvertising
  }

  /// The receiver of callbacks; the socket's current state.
  weak var delegate: (any PeripheralManagerDelegate)?
  /// Whether the transmit queue is full.
  var isQueueFull = false
  /// Carries out requests; without one, the tester decides their results.
  weak var system: (any PeripheralSystem)?
  private(set) var state: State
  private let display: Display

  init(_ state: State, display: Display) {
    self.state = state
    self.display = display
  }

  /// Reports a change of power to the delegate.
  func update(_ state: State) {
    guard self.state != state else { return }
    self.state = state
    delegate?.peripheralManagerDidUpdateState(self)
  }

  /// Shows a request, and has it carried out.
  func ask(for request: Request) {
    display.show(effect: request.rawValue)
    system?.carryOut(request)
  }

  /// Adds a value to the transmit queue, if there is room.
  func updateValue() -> Bool {
    display.show(effect: "updateValue")
    return system?.updateValue() ?? !isQueueFull
  }
}
