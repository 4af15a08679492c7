public import Basics
public import Bluetooth
public import Conformance

/// An emulated lock as a peripheral on a controller: one of ours, or one of a program's.
///
/// It is fed the controller's packets and the time, and gives the packets for the controller, in order.
public protocol EmulatedPeripheral {
  /// Whether some of its faults are brought about by another device on the air.
  static var needsThirdParty: Bool { get }
  /// What can be done to it, and what it shows.
  var abilities: Abilities { get }
  /// The values that it reports.
  var readings: [String] { get }
  /// Where it advertises.
  var address: PeerAddress { get }
  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  var deadline: Instant? { mutating get }
  /// Why nothing comes from it any more, until it is prepared again.
  var fault: LabFault? { get }

  /// Resets the controller and sets it up. Called first, and again after a failure.
  mutating func start(at now: Instant) -> [HCIPacket]
  /// Receives a packet of the controller.
  mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket]
  /// Lets time pass.
  mutating func advance(to now: Instant) -> [HCIPacket]
  /// Takes the power away, from the lock and from its controller.
  mutating func losePower(at now: Instant)
  /// Gives the power back, to the lock and to a controller that knows nothing.
  mutating func gainPower(at now: Instant) -> [HCIPacket]

  /// Brings it into a start condition, at its own time zero, out of any link.
  mutating func prepare(_ start: StartCondition, at now: Instant) throws(LabFault) -> [HCIPacket]
  /// Does one of its stimuli to it: a hand on its bolt, a key on its pad.
  ///
  /// - Returns: the packets for the controller, and why the lock refuses it, if it does.
  mutating func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?)
  /// Brings about one of its faults, as far as its own end of the air reaches.
  mutating func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket]
  /// What the radio has to do for a fault; `nil` for one that is the lock's alone.
  func radioFault(_ fault: Fault) throws(LabFault) -> RadioFault?

  /// Whether bad channel conditions take its link, which is for the radio to do.
  mutating func takeLinkLoss() -> Bool
  /// Whether a frame was tampered with since this was last asked.
  mutating func takeTampering() -> Bool
  /// Whether it has shown something, or failed, since this was last asked.
  mutating func takeNews() -> Bool
  /// Takes what it has shown, in its order; all of it at the time that it is now.
  mutating func takeObservations() -> [Observation]
  /// Takes the notices since the last call.
  mutating func takeNotices() -> [LockNotice]
  /// Takes what the lab has to say of it since this was last asked, one line each.
  mutating func takeDiagnostics() -> [String]
  /// Takes over the numbers under which the model knows names.
  mutating func adopt(_ vocabulary: Vocabulary)
  /// Makes it usable again after a fault.
  mutating func restart() throws(LabFault)
}

/// What a radio does to an emulated lock.
public enum RadioFault: Equatable, Sendable {
  case link(LinkFault)
  /// Another device advertises this for a moment.
  case advertise([UInt8])
  /// Another central connects to the lock and writes these frames, once it was notified.
  case visit(write: AttributeHandle, notify: AttributeHandle, frames: [[UInt8]])
  /// What was called off, or cannot happen now.
  case nothing
}
