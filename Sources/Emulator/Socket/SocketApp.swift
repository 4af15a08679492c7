public import Conformance
public import Basics

/// A socket whose states are, one at a time, the delegate of an emulated peripheral manager.
public typealias SocketDevice = AppDevice<SocketApp>

/// The application of the socket, the operating system below it, and the centrals in range.
public final class SocketApp: EmulatedApp {
  /// The defects that the socket can have.
  public enum Defect: String, CaseIterable, Sendable {
    /// The three-second timer of an earlier wait ends a later one too soon.
    case staleTimer = "stale-timer"
    /// The connection is lost when another central unsubscribes.
    case foreignUnsubscription = "foreign-unsubscription"
  }

  /// The actions of the application, the operating system and the centrals.
  public static let stimuli = [
    "open", "close", "send", "powerOn", "powerOff", "unauthorized", "serviceAdded", "serviceFailed",
    "advertisingStarted", "advertisingFailed", "readyToUpdate", "subscribe", "otherSubscribe", "unsubscribe",
    "otherUnsubscribe", "write", "otherWrite", "writeElsewhere",
  ]

  /// Whether the manager has reported its power, whether it has power, and whether the transmit queue is
  /// full.
  public static let settings = ["reported", "powered", "queueFull"]

  /// A full transmit queue, until the fault ends.
  public static let faults = ["queue-full"]

  private let peripheral: PeripheralManager
  private let clock = VirtualClock()
  private let socket: PeripheralManagerSocket
  private let central = CentralID(number: 1)
  private let thirdParty = CentralID(number: 2)

  /// Makes an idle socket.
  public init(_ start: StartCondition, defect: Defect?, display: Display) {
    let power: PeripheralManager.State =
      start.flag("reported") == false ? .unknown : start.flag("powered") == false ? .poweredOff : .poweredOn
    peripheral = PeripheralManager(power, display: display)
    peripheral.isQueueFull = start.flag("queueFull") ?? false
    socket = PeripheralManagerSocket(peripheral: peripheral, clock: clock, delegate: display, defect: defect)
  }

  /// When the clock's next task is due.
  public var deadline: Instant? { clock.deadline }

  /// Runs the clock's tasks that are due.
  public func advance(to now: Instant) { clock.advance(to: now) }

  /// Fills or empties the transmit queue.
  public func bring(about fault: Fault) { peripheral.isQueueFull = !fault.value.isNothing }

  /// Performs an action of the application, the operating system or a central.
  public func perform(_ stimulus: String, at now: Instant) -> String? {
    clock.advance(to: now)
    switch stimulus {
    case "open", "close", "send": return socket.perform(stimulus)
    case "powerOn": peripheral.update(.poweredOn)
    case "powerOff": peripheral.update(.poweredOff)
    case "unauthorized": peripheral.update(.unauthorized)
    case "serviceAdded": peripheral.delegate?.peripheralManagerDidAddService(peripheral, error: nil)
    case "serviceFailed":
      peripheral.delegate?.peripheralManagerDidAddService(peripheral, error: .serviceNotAdded)
    case "advertisingStarted":
      peripheral.delegate?.peripheralManagerDidStartAdvertising(peripheral, error: nil)
    case "advertisingFailed":
      peripheral.delegate?.peripheralManagerDidStartAdvertising(peripheral, error: .notAdvertising)
    case "readyToUpdate": peripheral.delegate?.peripheralManagerIsReadyToUpdateSubscribers(peripheral)
    default: return performAsCentral(stimulus)
    }
    return nil
  }

  private func performAsCentral(_ stimulus: String) -> String? {
    let peer = stimulus.hasPrefix("other") ? thirdParty : central
    if let reason = socket.refusal(of: stimulus, by: peer) { return reason }
    switch stimulus {
    case "subscribe", "otherSubscribe":
      peripheral.delegate?.peripheralManager(peripheral, central: peer, didSubscribeTo: .notify)
    case "unsubscribe", "otherUnsubscribe":
      peripheral.delegate?.peripheralManager(peripheral, central: peer, didUnsubscribeFrom: .notify)
    case "write", "otherWrite":
      peripheral.delegate?.peripheralManager(peripheral, central: peer, didWriteTo: .write)
    default:
      peripheral.delegate?.peripheralManager(peripheral, central: peer, didWriteTo: .other)
    }
    return nil
  }
}
