public import Conformance

/// What stands around a lock on the air: whoever can bring it into a condition, turn its bolt, empty its battery.
///
/// Beside an emulated lock stands its emulator, in this process or, over a socket, in another. Beside a real lock
/// stands nobody: it starts in the condition it is in.
public protocol LockSurroundings: SendableMetatype {
  /// The faults that can be brought about.
  var faults: [String] { get }

  /// The stimuli beside the client's own that can be given.
  var stimuli: [String] { get }

  /// The settings of a start condition that can be made true.
  var settings: [String] { get }

  /// The circumstances of the model that always hold here.
  var circumstances: [String] { get }

  /// Whether the lock of one test is that of the next; see ``LockLink/livesOn``.
  var livesOn: Bool { get }

  /// Whether the key that is kept is the lock's for sure; see ``LockLink/isKeySure``.
  var isKeySure: Bool { get }

  /// Brings the lock into a start condition, out of any connection.
  ///
  /// - Returns: the key of a registered lock, which the client is to use; `nil` for an unregistered one.
  mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey?

  /// Does to the lock what its surroundings can do: one of ``stimuli``, by name.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault)

  /// Brings about one of ``faults``.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Throws when one of ``faults`` has a value that it does not take, as far as that is known here.
  static func check(_ fault: Fault) throws(LabFault)

  /// Whether ``takeTampering()`` tells when a fault has hit a frame.
  var reportsTampering: Bool { get }

  /// Whether a frame was tampered with, or the link cut, by a fault that was brought about, since this was last asked.
  mutating func takeTampering() -> Bool

  /// Keeps the key of a lock that was registered with the client just now, before the client uses it.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Drops the key of a lock that has forgotten its owner.
  mutating func drop(_ key: LockKey) throws(LabFault)

  /// Makes sure that a key could be kept, before the lock is asked for one.
  mutating func expectKey() throws(LabFault)
}

extension LockSurroundings {
  /// Nothing: who made the lock has its key.
  public mutating func expectKey() throws(LabFault) {}
}

extension LockSurroundings {
  /// It does: what stands around the lock is here, or is nobody.
  public var reportsTampering: Bool { true }

  /// Nobody did.
  public mutating func takeTampering() -> Bool { false }

  /// It is not: whoever stands there makes a new one.
  public var livesOn: Bool { false }

  /// It is.
  public var isKeySure: Bool { true }

  /// Nothing is known of their values.
  public static func check(_ fault: Fault) throws(LabFault) {}
}
