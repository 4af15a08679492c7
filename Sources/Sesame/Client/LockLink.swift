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

  /// The faults that this link, or the lock behind it, can be given.
  var faults: [String] { get }

  /// The stimuli beside the client's own that the tester can give the lock, such as a hand on the thumbturn.
  var stimuli: [String] { get }

  /// The settings of a start condition that can be made true.
  var settings: [String] { get }

  /// Whether ``LinkEvent/tampered`` tells when a fault has hit a frame. Where the faults are brought about in another
  /// program, it is not known when they do.
  var reportsTampering: Bool { get }

  /// Whether the lock of one test is that of the next, with all that happened to it; else each test begins with a new
  /// one, and nothing of an earlier test may be used in a later.
  var livesOn: Bool { get }

  /// Whether the key that ``prepare(_:)`` gives is the lock's for sure, as far as is known: one that was taken back may be
  /// forgotten there.
  var isKeySure: Bool { get }

  /// Brings the lock into a start condition, at time zero, out of range and unconnected.
  ///
  /// - Returns: the key of a registered lock, which the client is to use; `nil` for an unregistered one.
  mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey?

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

  /// Does to the lock what its surroundings can do: one of ``stimuli``, by name.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault)

  /// Brings about one of ``faults``.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Throws when one of ``faults`` has a value that it does not take, as far as that is known here.
  static func check(_ fault: Fault) throws(LabFault)

  /// Keeps the key of a lock that was registered with the client just now. It is kept before it is used.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Drops the key of a lock that has forgotten its owner.
  mutating func drop(_ key: LockKey) throws(LabFault)

  /// Makes the link usable again after a lab fault, as far as that can be done.
  mutating func restart() throws(LabFault)

  /// What the lab has to say since it was last asked, one line each; see ``DeviceUnderTest/takeRemarks()``.
  mutating func takeRemarks() -> [String]

  /// Notes its packets from now on, from the beginning of each test; `nil` ends it.
  ///
  /// - Returns: whether there are packets to note; where not, whoever uses the link notes what goes over it.
  mutating func record(to recorder: PacketRecorder?) -> Bool
}

extension LockLink {
  /// It does: the link is in memory.
  public var reportsTampering: Bool { true }

  /// It does not.
  public var livesOn: Bool { false }

  /// It is.
  public var isKeySure: Bool { true }

  /// Nothing is known of their values.
  public static func check(_ fault: Fault) throws(LabFault) {}

  /// Nothing: the lock's key is known to whoever prepares it.
  public mutating func keep(_ key: LockKey) throws(LabFault) {}

  /// Nothing.
  public mutating func drop(_ key: LockKey) throws(LabFault) {}

  /// Nothing: what is in memory does not fail.
  public mutating func restart() throws(LabFault) {}

  /// Nothing.
  public mutating func takeRemarks() -> [String] { [] }

  /// Nothing: what is in memory has no packets.
  public mutating func record(to recorder: PacketRecorder?) -> Bool { false }
}

/// What a link reports.
public enum LinkEvent: Equatable, Sendable {
  /// The lock was heard: its advertising data and scan response, as AD structures one after the other.
  case advertisement([UInt8])
  /// The link layer is up; services are being found.
  case connected
  /// The lock's service was found and its notifications are on.
  case ready
  /// A notification arrived.
  case frame([UInt8])
  /// The tester took a frame away, altered, delayed or added one, or is cutting the link: told before what comes of it.
  case tampered
  /// The tester's Bluetooth sends what makes no sense: the lock may end the link at it.
  case provoked
  /// The connection, or the attempt at one, is over; the reason is the Core Specification's error code
  /// (Vol 1 Part F), such as 0x13 for a peer that ended it and 0x08 for a supervision time-out.
  ///
  /// With it goes how many packets of the client's the lock's link layer has never acknowledged (Number Of Completed
  /// Packets, Vol 4 Part E §7.7.19); `nil` where that cannot be known.
  case disconnected(reason: UInt8, unacknowledged: Int? = nil)
}
