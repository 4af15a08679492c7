public import Basics
public import Bluetooth
public import Conformance

/// An emulated lock as a peripheral on a controller: one of ours, or one of a user's program.
///
/// It receives the controller's packets and the time, and returns the packets for the controller, in order.
public protocol EmulatedPeripheral {
  /// Whether another device on the air causes some of its faults.
  static var needsThirdParty: Bool { get }
  /// What it supports.
  var abilities: Abilities { get }
  /// The names of the values that it reports.
  var readings: [String] { get }
  /// The address under which it advertises.
  var address: PeerAddress { get }
  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  var deadline: Instant? { mutating get }
  /// Why it has failed until it is prepared again.
  var fault: LabFault? { get }

  /// Resets the controller and sets it up. Called first, and again after a failure.
  mutating func start(at now: Instant) -> [HCIPacket]
  /// Receives a packet of the controller.
  mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket]
  /// Lets time pass.
  mutating func advance(to now: Instant) -> [HCIPacket]
  /// Cuts the power of the lock and of its controller.
  mutating func losePower(at now: Instant)
  /// Restores the power of the lock and of its controller, whose state is lost.
  mutating func gainPower(at now: Instant) -> [HCIPacket]

  /// Brings it into a start condition, at its own time zero, without any link.
  mutating func prepare(_ start: StartCondition, at now: Instant) throws(LabFault) -> [HCIPacket]
  /// Performs one of its stimuli, such as a turn of the bolt by hand or a key on its pad.
  ///
  /// - Returns: the packets for the controller, and why the lock refuses the stimulus, if it does.
  mutating func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?)
  /// Injects one of its faults, as far as its own end of the air allows.
  mutating func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket]
  /// The radio's part of a fault; `nil` for one that concerns the lock alone.
  func radioFault(_ fault: Fault) throws(LabFault) -> RadioFault?

  /// Removes and returns whether bad channel conditions require the radio to cut its link.
  mutating func takeLinkLoss() -> Bool
  /// Removes and returns whether a frame was tampered with.
  mutating func takeTampering() -> Bool
  /// Removes and returns whether it has shown something or failed.
  mutating func takeNews() -> Bool
  /// Removes and returns its observations, in order, all of the present time.
  mutating func takeObservations() -> [Observation]
  /// Takes the notices since the last call.
  mutating func takeNotices() -> [LockNotice]
  /// Removes and returns the lab's diagnostics on it, one line each.
  mutating func takeDiagnostics() -> [String]
  /// Adopts the model's numbers for names.
  mutating func adopt(_ vocabulary: Vocabulary)
  /// Makes it usable again after a fault.
  mutating func restart() throws(LabFault)
}

/// A fault that the radio causes at an emulated lock.
public enum RadioFault: Equatable, Sendable {
  case link(LinkFault)
  /// Another device advertises this for a moment.
  case advertise([UInt8])
  /// Another central connects to the lock and writes these frames after the first notification.
  case visit(write: AttributeHandle, notify: AttributeHandle, frames: [[UInt8]])
  /// The fault was cancelled, or is impossible now.
  case nothing
}
