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
public protocol LockLink: SendableMetatype {
  /// The time since the last ``prepare(_:)``.
  var now: Instant { get }

  /// What can be done to the lock, and to the link to it, beside what the client asks for: stimuli such as a hand on the
  /// thumbturn, faults, settings of start conditions.
  var abilities: Abilities { get }

  /// Which generation the lock is of, where that is known before anything is heard of it: a client asks each for what it has.
  var generation: Generation? { get }

  /// Whether the key that ``prepare(_:)`` gives is the lock's for sure, as far as is known: the lock may have forgotten one
  /// that was taken back.
  var isKeySure: Bool { get }

  /// Brings the lock into a start condition, at time zero and out of range.
  ///
  /// - Returns: the key of a registered lock, which the client is to use; `nil` for an unregistered one.
  mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey?

  /// Gives the lock one of the stimuli of its ``abilities``, by name.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault)

  /// Brings about one of the faults of its ``abilities``.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Keeps the key of a lock that was registered with the client just now. It is kept before it is used.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Drops the key of a lock that has forgotten its owner.
  mutating func drop(_ key: LockKey) throws(LabFault)

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
