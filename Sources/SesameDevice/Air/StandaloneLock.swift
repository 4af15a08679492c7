public import Sesame
public import Conformance

/// What keeps the key of one lock: a file, or memory.
public protocol KeyStore {
  /// The key of the lock's owner; `nil` for a lock without one.
  var key: LockKey? { get }

  /// Makes sure that a key could be kept.
  func rehearse() throws(LabFault)

  /// Keeps a key that the lock was registered with just now. When it returns, nothing undoes it.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Puts the key aside, since the lock has forgotten it.
  mutating func drop() throws(LabFault)
}

/// A key in memory, for a lock that goes with this process.
public struct KeyInMemory: KeyStore {
  public private(set) var key: LockKey?

  /// Keeps a key, or none yet.
  public init(_ key: LockKey?) { self.key = key }

  public func rehearse() {}
  public mutating func keep(_ key: LockKey) { self.key = key }
  public mutating func drop() { key = nil }
}

/// The environment of a real lock: nobody. It starts as it is, and its key is kept.
public final class StandaloneLock<Keys: KeyStore>: LockEnvironment {
  /// What keeps its key.
  public private(set) var keys: Keys
  /// The key that was put aside last.
  private var former: LockKey?

  /// Takes a lock as it is.
  public init(_ keys: Keys) { self.keys = keys }

  public var faults: [String] { [] }
  public var stimuli: [String] { [] }
  /// What it can be brought to by its client, before a test.
  public var settings: [String] { LockFamily.sesame.startSettings }
  public var livesOn: Bool { true }
  public private(set) var isKeySure = true

  /// Nothing: who wants it otherwise brings it there by its client.
  public func prepare(_ start: StartCondition) -> LockKey? { keys.key }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could do '\(stimulus)'")
  }

  public func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could bring about '\(fault.name)'")
  }

  public func expectKey() throws(LabFault) { try keys.rehearse() }
  public func keep(_ key: LockKey) throws(LabFault) {
    try keys.keep(key)
    isKeySure = true
  }
  public func drop(_ key: LockKey) throws(LabFault) {
    former = keys.key ?? key
    try keys.drop()
  }
}

/// What holds of every lock on real air, whatever keeps its key.
public enum RealAir {
  /// What always holds: frames and links get lost.
  public static let conditions = ["loss"]
}

/// Those who know whether a lock has an owner here.
public protocol OwnerKeeping {
  /// Whether the key of its owner is kept here.
  var isRegistered: Bool { get }

  /// Takes the key back that was put aside last, where none is kept now: the lock may not have forgotten it.
  ///
  /// - Returns: whether there was one.
  mutating func recallKey() throws(LabFault) -> Bool

  /// Puts the key aside that was taken back, since the lock has no owner.
  mutating func dropRecalledKey() throws(LabFault)
}

extension StandaloneLock: OwnerKeeping {
  public var isRegistered: Bool { keys.key != nil }

  public func recallKey() throws(LabFault) -> Bool {
    guard keys.key == nil, let key = former else { return false }
    try keys.keep(key)
    isKeySure = false
    return true
  }

  public func dropRecalledKey() throws(LabFault) {
    if let former, keys.key == former { try keys.drop() }
  }
}

/// A lock of which more is known than it shows: whether its owner's key is kept here, and what it told of its positions.
public protocol OwnedLock: DeviceUnderTest, OwnerKeeping {
  /// Where its bolt is locked and unlocked; `nil` where the lock does not say so in a session that is open, or they
  /// were never set.
  var positions: LockPositions? { get }
}

extension AirDevice: OwnerKeeping, OwnedLock where Environment: OwnerKeeping {
  public var isRegistered: Bool { environment.isRegistered }
  public func recallKey() throws(LabFault) -> Bool { try environment.recallKey() }
  public func dropRecalledKey() throws(LabFault) { try environment.dropRecalledKey() }
}
