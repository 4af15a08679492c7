/// A central, told apart by its number.
struct Central: Equatable {
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
    _ peripheral: PeripheralManager, central: Central, didSubscribeTo characteristic: Characteristic)
  func peripheralManager(
    _ peripheral: PeripheralManager, central: Central, didUnsubscribeFrom characteristic: Characteristic)
  func peripheralManager(
    _ peripheral: PeripheralManager, central: Central, didWriteTo characteristic: Characteristic)
}

extension PeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: PeripheralManager) {}
  func peripheralManagerDidAddService(_ peripheral: PeripheralManager, error: SocketError?) {}
  func peripheralManagerDidStartAdvertising(_ peripheral: PeripheralManager, error: SocketError?) {}
  func peripheralManagerIsReadyToUpdateSubscribers(_ peripheral: PeripheralManager) {}
  func peripheralManager(
    _ peripheral: PeripheralManager, central: Central, didSubscribeTo characteristic: Characteristic
  ) {}
  func peripheralManager(
    _ peripheral: PeripheralManager, central: Central, didUnsubscribeFrom characteristic: Characteristic
  ) {}
  func peripheralManager(
    _ peripheral: PeripheralManager, central: Central, didWriteTo characteristic: Characteristic
  ) {}
}

/// The operating system's side of a peripheral, as far as the socket uses it: it shows what it is asked for,
/// and answers when the tester says so.
final class PeripheralManager {
  /// What the manager knows of its radio.
  enum State {
    case unknown
    case poweredOff
    case unauthorized
    case poweredOn
  }

  /// Who is told; each state of the socket in its turn.
  weak var delegate: (any PeripheralManagerDelegate)?
  /// Whether the transmit queue takes nothing more.
  var isQueueFull = false
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

  func addService() { display.show(effect: "addService") }
  func removeService() { display.show(effect: "removeService") }
  func removeAllServices() { display.show(effect: "removeAllServices") }
  func startAdvertising() { display.show(effect: "startAdvertising") }
  func stopAdvertising() { display.show(effect: "stopAdvertising") }

  /// Puts a value into the transmit queue, where there is room.
  func updateValue() -> Bool {
    display.show(effect: "updateValue")
    return !isQueueFull
  }
}
