public import Sesame
public import Conformance

/// What can be done to a lock beside what its client asks of it: through a link to it, or by its environment.
public protocol LockHandling: SendableMetatype {
  /// The faults that the lock, and the way to it, can be given.
  var faults: [String] { get }

  /// The stimuli beside the client's own that the tester can give the lock, such as a hand on the thumbturn.
  var stimuli: [String] { get }

  /// Which generation the lock is of, where that is known before anything is heard of it: a client asks each for what it has.
  var generation: Generation? { get }

  /// The settings of a start condition that can be made true.
  var settings: [String] { get }

  /// Whether the lock of one test is that of the next, with all that happened to it; else each test begins with a new
  /// one, and nothing of an earlier test may be used in a later.
  var livesOn: Bool { get }

  /// Whether the key that ``prepare(_:)`` gives is the lock's for sure, as far as is known: one that was taken back may be
  /// forgotten there.
  var isKeySure: Bool { get }

  /// Brings the lock into a start condition, out of any connection; of a link, at time zero and out of range.
  ///
  /// - Returns: the key of a registered lock, which the client is to use; `nil` for an unregistered one.
  mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey?

  /// Does to the lock what its environment can do: one of ``stimuli``, by name.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault)

  /// Brings about one of ``faults``.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Throws when one of ``faults`` has a value that it does not take, as far as that is known here.
  static func check(_ fault: Fault) throws(LabFault)

  /// Keeps the key of a lock that was registered with the client just now. It is kept before it is used.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Drops the key of a lock that has forgotten its owner.
  mutating func drop(_ key: LockKey) throws(LabFault)
}

/// The environment of a lock on the air: what can bring it into a condition, turn its bolt, empty its battery.
///
/// Beside an emulated lock stands its emulator, in this process or, over a socket, in another. Beside a real lock
/// stands nobody: it starts in the condition it is in.
public protocol LockEnvironment: LockHandling {
  /// Whether it is told when a fault has hit a frame. Where the faults are brought about in another program, it is not
  /// known when they do.
  var reportsTampering: Bool { get }

  /// Whether a frame was tampered with, or the link cut, by a fault that was brought about, since this was last asked.
  mutating func takeTampering() -> Bool

  /// Makes sure that a key could be kept, before the lock is asked for one.
  mutating func expectKey() throws(LabFault)
}

/// What most of those say who stand beside a lock. A link is none of them: it has its own answers, or those of whoever
/// stands at its end.
extension LockEnvironment {
  /// It is: the environment is in this process, or there are none.
  public var reportsTampering: Bool { true }

  /// It is not known.
  public var generation: Generation? { nil }

  /// It is not: whoever stands there makes a new one.
  public var livesOn: Bool { false }

  /// It is.
  public var isKeySure: Bool { true }

  /// Nothing is known of their values.
  public static func check(_ fault: Fault) throws(LabFault) {}

  /// Nobody did.
  public mutating func takeTampering() -> Bool { false }

  /// Nothing: who made the lock has its key.
  public mutating func expectKey() throws(LabFault) {}
}
