import Sesame

/// A central, told apart by its number.
struct CentralID: Equatable, Sendable {
  let number: Int
}

/// A characteristic of the socket's service, or of another's.
enum Characteristic {
  case notify
  case write
  case other
}

/// What a peripheral manager tells its delegate; a delegate that does not listen to something ignores it.
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

/// What carries out what a peripheral manager is asked for.
protocol PeripheralSystem: AnyObject {
  func carryOut(_ request: PeripheralManager.Request)
  /// Puts a value into the transmit queue; false when there is no room.
  func updateValue() -> Bool
}

/// The operating system's side of a peripheral, as far as the socket uses it: it shows what it is asked for, has a
/// system carry it out, if there is one, and answers when the tester says so.
final class PeripheralManager {
  /// What the manager knows of its radio.
  enum State {
    case unknown
    case poweredOff
    case unauthorized
    case poweredOn
  }

  /// What it is asked for, whose answer comes later where there is one.
  enum Request: String {
    case addService, removeService, removeAllServices, startAdvertising, stopAdvertising
  }

  /// Who is told; each state of the socket in its turn.
  weak var delegate: (any PeripheralManagerDelegate)?
  /// Whether the transmit queue takes nothing more.
  var isQueueFull = false
  /// Who carries things out; without one, the tester says what comes of them.
  weak var system: (any PeripheralSystem)?
  private(set) var state: State
  private let display: Display

  init(_ state: State, display: Display) {
    self.state = state
    self.display = display
  }

  /// Tells the delegate of a change of power; there is nothing to tell where nothing changed.
  func update(_ state: State) {
    guard self.state != state else { return }
    self.state = state
    delegate?.peripheralManagerDidUpdateState(self)
  }

  /// Shows what it is asked for, and has it carried out.
  func ask(for request: Request) {
    display.show(effect: request.rawValue)
    system?.carryOut(request)
  }

  /// Puts a value into the transmit queue, where there is room.
  func updateValue() -> Bool {
    display.show(effect: "updateValue")
    return system?.updateValue() ?? !isQueueFull
  }
}
