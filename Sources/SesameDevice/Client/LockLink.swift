public import Sesame
public import Bluetooth
public import Conformance
public import Basics

/// What carries frames and link events between a client and a lock.
///
/// Two kinds exist: *direct*, frames in memory for millions of sessions, and *radio*, GATT over a Bluetooth
/// host over a controller. Everything above works over both. Time passes only in ``next(until:)``.
///
///     listen ──▶ advertisement… ──▶ connect ──▶ connected ──▶ ready ──▶ frame… ──▶ disconnected
public protocol LockLink: LockHandling {
  /// The time since the last ``prepare(_:)``.
  var now: Instant { get }

  /// Begins to listen for advertisements; an emulated lock comes into range.
  mutating func listen() throws(LabFault)

  /// Ends listening.
  mutating func stopListening() throws(LabFault)

  /// Begins to connect to the lock heard last. ``LinkEvent/connected`` and ``LinkEvent/ready`` follow.
  mutating func connect() throws(LabFault)

  /// Ends the connection, or the attempt at one.
  mutating func disconnect() throws(LabFault)

  /// Writes one frame to the lock, without response.
  mutating func send(_ frame: [UInt8]) throws(LabFault)

  /// Lets time pass up to the next event, or to a limit when there is none before.
  mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent?

  /// Makes the link usable again after a lab fault, as far as that can be done.
  mutating func restart() throws(LabFault)

  /// What the lab has to say since it was last asked, one line each; see ``DeviceUnderTest/takeDiagnostics()``.
  mutating func takeDiagnostics() -> [String]

  /// Notes its packets from now on, from the beginning of each test; `nil` ends it.
  ///
  /// - Returns: whether there are packets to note; where not, whoever uses the link notes what goes over it.
  mutating func record(to recorder: PacketRecorder?) -> Bool
}
