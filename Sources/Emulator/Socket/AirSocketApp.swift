public import Conformance
public import Basics

/// A socket over the air: its peripheral manager has a real host, and its centrals are real ones.
public typealias AirSocketDevice = AppDevice<AirSocketApp>

/// The application of a socket on a Bluetooth host: the socket's states are, one at a time, the delegate of
/// its peripheral manager. The tester decides when the system answers and the centrals act.
///
/// A stimulus that is impossible, such as a subscription to a service that was never advertised, is a lab
/// fault.
public final class AirSocketApp: EmulatedApp {
  public typealias Defect = SocketApp.Defect

  /// The actions of the application, the operating system and the centrals, except the withdrawal of a
  /// permission, which a controller does not know.
  public static let stimuli = SocketApp.stimuli.filter { $0 != "unauthorized" }

  /// Whether the manager has reported its power, and whether it has power.
  public static let settings = ["reported", "powered"]

  /// A transmit queue that another application fills, until the fault ends.
  public static let faults = ["queue-full"]

  private let clock = VirtualClock()
  private let socket: PeripheralManagerSocket
  let air: SocketAir

  /// Makes an idle socket.
  public init(_ start: StartCondition, defect: Defect?, display: Display) {
    let hasReported = start.flag("reported") ?? true
    let hasPower = start.flag("powered") ?? true
    let manager = PeripheralManager(hasReported && !hasPower ? .poweredOff : .unknown, display: display)
    socket = PeripheralManagerSocket(peripheral: manager, clock: clock, delegate: display, defect: defect)
    air = SocketAir(manager, hasPower: hasReported && hasPower)
  }

  /// When the clock's next task is due.
  public var deadline: Instant? { clock.deadline }

  /// Runs the clock's tasks that are due.
  public func advance(to now: Instant) { clock.advance(to: now) }

  /// Fills the transmit queue, or lets it drain.
  public func bring(about fault: Fault) throws(LabFault) { try air.setFull(!fault.value.isNothing) }

  /// Performs an action of the application, the operating system or a central.
  public func perform(_ stimulus: String, at now: Instant) throws(LabFault) -> String? {
    clock.advance(to: now)
    switch stimulus {
    case "open", "close", "send": return socket.perform(stimulus)
    case "powerOn": air.powerOn()
    case "powerOff": air.powerOff()
    case "serviceAdded", "serviceFailed": try air.answerService(failing: stimulus == "serviceFailed")
    case "advertisingStarted", "advertisingFailed":
      try air.answerAdvertising(failing: stimulus == "advertisingFailed")
    case "readyToUpdate": air.reportReady()
    default: return try performAsCentral(stimulus)
    }
    return nil
  }

  private func performAsCentral(_ stimulus: String) throws(LabFault) -> String? {
    let peer = CentralID(number: stimulus.hasPrefix("other") ? 2 : 1)
    if let reason = socket.refusal(of: stimulus, by: peer) { return reason }
    switch stimulus {
    case "subscribe", "otherSubscribe": try air.subscribe(peer, true)
    case "unsubscribe", "otherUnsubscribe": try air.subscribe(peer, false)
    case "write", "otherWrite": try air.write(peer, isUnexpected: false)
    default: try air.write(peer, isUnexpected: true)
    }
    return nil
  }
}
