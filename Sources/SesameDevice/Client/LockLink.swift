public import Sesame
public import Bluetooth
public import Conformance
public import Basics

/// Carries frames and link events between a client and a lock.
///
/// There are two kinds: *direct*, frames in memory for millions of sessions, and *radio*, GATT over a Bluetooth
/// host and a controller. All higher layers work with both. Time passes only in ``next(until:)``.
///
///     listen ──▶ advertisement… ──▶ connect ──▶ connected ──▶ ready ──▶ frame… ──▶ disconnected
public protocol LockLink: SendableMetatype {
  /// The time since the last ``prepare(_:)``.
  var now: Instant { get }

  /// The stimuli, faults and settings of start conditions that the link supports in addition to the client's
  /// requests, such as a hand on the thumbturn.
  var abilities: Abilities { get }

  /// The lock's generation, if it is known before the first advertisement: each generation supports different
  /// requests.
  var generation: Generation? { get }

  /// Whether the lock is assumed to know the key that ``prepare(_:)`` returns. It may have forgotten a key that was
  /// restored.
  var isKeySure: Bool { get }

  /// Brings the lock into a start condition, at time zero and out of range.
  ///
  /// - Returns: the key of a registered lock, for the client to use; `nil` for an unregistered one.
  mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey?

  /// Applies one of the stimuli in ``abilities``.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault)

  /// Injects one of the faults in ``abilities``.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Stores the key of a lock that has just been registered with the client, before the key is used.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Sets aside the key of a lock that has forgotten its owner.
  mutating func drop(_ key: LockKey) throws(LabFault)

  /// Starts listening for advertisements; an emulated lock comes into range.
  mutating func listen() throws(LabFault)

  /// Stops listening.
  mutating func stopListening() throws(LabFault)

  /// Starts connecting to the lock heard last. ``LinkEvent/connected`` and ``LinkEvent/ready`` follow.
  mutating func connect() throws(LabFault)

  /// Ends the connection or the connection attempt.
  mutating func disconnect() throws(LabFault)

  /// Writes one frame to the lock, without response.
  mutating func send(_ frame: [UInt8]) throws(LabFault)

  /// Lets time pass until the next event, at most until `limit`.
  mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent?

  /// Makes the link usable again after a lab fault, as far as possible.
  mutating func restart() throws(LabFault)

  /// Takes the lab's diagnostics since the last call, one line each; see ``DeviceUnderTest/takeDiagnostics()``.
  mutating func takeDiagnostics() -> [String]

  /// Records the packets from now on, with a new recording for each test; `nil` stops it.
  ///
  /// - Returns: whether the link has packets to record; if not, its user records the frames.
  mutating func record(to recorder: PacketRecorder?) -> Bool
}
