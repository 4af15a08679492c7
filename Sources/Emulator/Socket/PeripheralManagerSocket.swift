import Basics

/// Why a socket is not open.
enum SocketError: String {
  case bluetoothOff
  case notConnected
  case lostConnection
  case serviceNotAdded
  case notAdvertising
}

/// A socket on the peripheral side of Bluetooth LE.
///
/// It handles no callback itself: whenever its state is set, the state becomes the manager's delegate, and
/// its `transition` is run.
final class PeripheralManagerSocket {
  let peripheral: PeripheralManager
  let clock: VirtualClock
  let delegate: Display
  let defect: SocketApp.Defect?

  var state: any SocketState {
    didSet {
      peripheral.delegate = state
      delegate.show(status: state.name)
      state.transition()
    }
  }

  init(peripheral: PeripheralManager, clock: VirtualClock, delegate: Display, defect: SocketApp.Defect?) {
    self.peripheral = peripheral
    self.clock = clock
    self.delegate = delegate
    self.defect = defect
    let idle = Idle()
    state = idle
    peripheral.delegate = idle
    delegate.show(status: idle.name)
  }

  func open() { state = Opening(socket: self) }

  func close() { state = Idle(socket: self) }

  func send() {
    guard let connected = state as? Connected else {
      delegate.show(effect: "didFailToSend(\(SocketError.notConnected.rawValue))")
      return
    }
    state = Sending(socket: self, central: connected.central)
  }
}

extension PeripheralManagerSocket {
  /// The connected central.
  var central: CentralID? { (state as? Connected)?.central }

  /// Performs an action of the application: `open`, `send`, or `close` for all others; returns why it cannot.
  func perform(_ stimulus: String) -> String? {
    switch stimulus {
    case "open":
      guard state is Idle else { return "the socket is not idle" }
      open()
    case "send":
      if state is Sending { return "another value waits to be sent" }
      send()
    default:
      close()
    }
    return nil
  }

  /// Why a central cannot perform a stimulus; `nil` if it can.
  func refusal(of stimulus: String, by peer: CentralID) -> String? {
    switch stimulus {
    case "subscribe" where central == peer: "the central has subscribed already"
    case "unsubscribe" where central != peer: "the central has not subscribed"
    case _ where stimulus.hasPrefix("other") && central == nil:
      "no central is connected that another could be told from"
    default: nil
    }
  }
}

/// Schedules tasks in virtual time.
final class VirtualClock {
  private(set) var now = Instant.zero
  private var tasks = EventQueue<() -> Void>()

  var deadline: Instant? { tasks.nextTime }

  func after(_ interval: Interval, execute: @escaping () -> Void) {
    tasks.schedule(execute, at: now + interval)
  }

  func advance(to limit: Instant) {
    while let (time, task) = tasks.next(until: limit) {
      now = time
      task()
    }
    now = max(now, limit)
  }
}
