import Basics

/// A state of the socket, which is the delegate of the peripheral manager while it lasts.
protocol SocketState: PeripheralManagerDelegate {
  /// The name that an observer sees.
  var name: String { get }
  /// Runs after the state was set.
  func transition()
}

extension PeripheralManagerSocket {
  /// The socket is closed: advertising and services are withdrawn.
  final class Idle: SocketState {
    let name = "Idle"
    private weak var socket: PeripheralManagerSocket?

    init(socket: PeripheralManagerSocket? = nil) {
      self.socket = socket
    }

    func transition() {
      socket?.peripheral.ask(for: .stopAdvertising)
      socket?.peripheral.ask(for: .removeAllServices)
    }
  }

  /// A connection is being opened; any of these states can lead to an open connection or to a failure.
  class Pending: SocketState {
    var name: String { "Pending" }
    unowned let socket: PeripheralManagerSocket

    init(socket: PeripheralManagerSocket) {
      self.socket = socket
    }

    func transition() {}

    func peripheralManagerDidUpdateState(_ peripheral: PeripheralManager) {
      switch peripheral.state {
      case .poweredOff, .unauthorized: socket.state = Failed(socket: socket, error: .bluetoothOff)
      case .unknown, .poweredOn: break
      }
    }

    func peripheralManagerDidAddService(_ peripheral: PeripheralManager, error: SocketError?) {}

    func peripheralManagerDidStartAdvertising(_ peripheral: PeripheralManager, error: SocketError?) {}

    func peripheralManager(
      _ peripheral: PeripheralManager, central: CentralID, didSubscribeTo characteristic: Characteristic
    ) {
      guard characteristic == .notify else { return }
      socket.state = Opened(socket: socket, central: central)
    }
  }

  /// The manager may not have reported its power yet.
  final class Opening: Pending {
    override var name: String { "Opening" }

    override func transition() { peripheralManagerDidUpdateState(socket.peripheral) }

    override func peripheralManagerDidUpdateState(_ peripheral: PeripheralManager) {
      if peripheral.state == .poweredOn {
        socket.state = AddingService(socket: socket)
      } else {
        super.peripheralManagerDidUpdateState(peripheral)
      }
    }

    /// A central cannot use a service before it was added.
    override func peripheralManager(
      _ peripheral: PeripheralManager, central: CentralID, didSubscribeTo characteristic: Characteristic
    ) {}
  }

  /// The service was passed to the manager.
  final class AddingService: Pending {
    override var name: String { "AddingService" }

    override func transition() { socket.peripheral.ask(for: .addService) }

    override func peripheralManagerDidAddService(_ peripheral: PeripheralManager, error: SocketError?) {
      if let error {
        socket.state = Failed(socket: socket, error: error)
      } else {
        socket.state = StartingAdvertising(socket: socket)
      }
    }
  }

  /// The manager was asked to advertise.
  final class StartingAdvertising: Pending {
    override var name: String { "StartingAdvertising" }

    override func transition() { socket.peripheral.ask(for: .startAdvertising) }

    override func peripheralManagerDidStartAdvertising(_ peripheral: PeripheralManager, error: SocketError?) {
      if let error {
        socket.state = Failed(socket: socket, error: error)
      } else {
        socket.state = WaitingForSubscription(socket: socket)
      }
    }
  }

  /// Centrals can find the socket. If none connects within three seconds, advertising restarts.
  final class WaitingForSubscription: Pending {
    override var name: String { "WaitingForSubscription" }

    override func transition() {
      let socket = socket
      socket.clock.after(.seconds(3)) { [weak socket, weak self] in
        guard let socket, let waiting = socket.state as? WaitingForSubscription else { return }
        guard waiting === self || socket.defect == .staleTimer else { return }
        socket.peripheral.ask(for: .removeService)
        socket.peripheral.ask(for: .stopAdvertising)
        socket.state = AddingService(socket: socket)
      }
    }
  }

  /// A central is connected; others are ignored.
  class Connected: SocketState {
    var name: String { "Connected" }
    unowned let socket: PeripheralManagerSocket
    let central: CentralID

    init(socket: PeripheralManagerSocket, central: CentralID) {
      self.socket = socket
      self.central = central
    }

    func transition() {}

    func peripheralManagerDidUpdateState(_ peripheral: PeripheralManager) {
      switch peripheral.state {
      case .poweredOff, .unauthorized: socket.state = Failed(socket: socket, error: .lostConnection)
      case .unknown, .poweredOn: break
      }
    }

    func peripheralManagerIsReadyToUpdateSubscribers(_ peripheral: PeripheralManager) {}

    func peripheralManager(
      _ peripheral: PeripheralManager, central: CentralID, didUnsubscribeFrom characteristic: Characteristic
    ) {
      guard characteristic == .notify else { return }
      guard central == self.central || socket.defect == .foreignUnsubscription else { return }
      socket.state = Failed(socket: socket, error: .lostConnection)
    }

    func peripheralManager(
      _ peripheral: PeripheralManager, central: CentralID, didWriteTo characteristic: Characteristic
    ) {
      guard characteristic == .write, central == self.central else { return }
      socket.delegate.show(effect: "didReceive")
    }
  }

  /// The delegate is notified of the connection.
  final class Opened: Connected {
    override var name: String { "Opened" }

    override func transition() {
      socket.delegate.show(effect: "didOpen")
      socket.state = Connected(socket: socket, central: central)
    }
  }

  /// A value waits for room in the transmit queue.
  final class Sending: Connected {
    override func transition() { peripheralManagerIsReadyToUpdateSubscribers(socket.peripheral) }

    override func peripheralManagerIsReadyToUpdateSubscribers(_ peripheral: PeripheralManager) {
      guard peripheral.updateValue() else { return }
      socket.state = Connected(socket: socket, central: central)
      socket.delegate.show(effect: "didSend")
    }
  }

  /// The delegate is notified why there is no connection.
  final class Failed: SocketState {
    let name = "Failed"
    private unowned let socket: PeripheralManagerSocket
    private let error: SocketError

    init(socket: PeripheralManagerSocket, error: SocketError) {
      self.socket = socket
      self.error = error
    }

    func transition() {
      socket.delegate.show(effect: "didFail(\(error.rawValue))")
      socket.state = Idle(socket: socket)
    }
  }
}
