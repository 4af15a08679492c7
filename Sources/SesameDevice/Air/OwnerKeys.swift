public import Sesame
public import Conformance

/// What keeps the key of one lock: a file, or memory.
public protocol KeyStore {
  /// The key of the lock's owner; `nil` for a lock without one.
  var key: LockKey? { get }

  /// Makes sure that a key could be kept.
  func verifyStorage() throws(LabFault)

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

  public func verifyStorage() {}
  public mutating func keep(_ key: LockKey) { self.key = key }
  public mutating func drop() { key = nil }
}

/// The key of a lock's owner, as a client uses it: from the emulator of the lock, or from a ``KeyStore``.
public protocol OwnerKeys: AnyObject {
  /// The key of the owner; of an emulated lock that of the last start condition. `nil` for a lock without an owner.
  var key: LockKey? { get }

  /// Whether it is the lock's for sure, as far as is known: the lock may have forgotten one that was taken back.
  var isSure: Bool { get }

  /// Makes sure that a key could be kept, before the lock is asked for one.
  func verifyStorage() throws(LabFault)

  /// Keeps the key of a lock that was registered just now. It is kept before it is used.
  func keep(_ key: LockKey) throws(LabFault)

  /// Puts the key of a lock aside that has forgotten its owner.
  func drop(_ key: LockKey) throws(LabFault)

  /// Takes the key back that was put aside last, where none is kept now: the lock may not have forgotten it.
  ///
  /// - Returns: whether there was one.
  func recall() throws(LabFault) -> Bool

  /// Puts the key aside that was taken back, since the lock has no owner.
  func dropRecalled() throws(LabFault)
}

/// An emulator knows what its lock is registered with: nothing is kept beside it.
extension OwnerKeys {
  public var isSure: Bool { true }
  public func verifyStorage() {}
  public func keep(_ key: LockKey) {}
  public func drop(_ key: LockKey) {}
  public func recall() -> Bool { false }
  public func dropRecalled() {}
}

/// The key of a real lock's owner, which is used as it is and kept where it was.
public final class StoredKey<Store: KeyStore>: OwnerKeys {
  /// What keeps it.
  public private(set) var store: Store
  /// The key that was put aside last.
  private var former: LockKey?
  public private(set) var isSure = true

  /// Takes a store as it is.
  public init(_ store: Store) { self.store = store }

  public var key: LockKey? { store.key }
  public func verifyStorage() throws(LabFault) { try store.verifyStorage() }

  public func keep(_ key: LockKey) throws(LabFault) {
    try store.keep(key)
    isSure = true
  }

  public func drop(_ key: LockKey) throws(LabFault) {
    former = store.key ?? key
    try store.drop()
  }

  public func recall() throws(LabFault) -> Bool {
    guard store.key == nil, let key = former else { return false }
    try store.keep(key)
    isSure = false
    return true
  }

  public func dropRecalled() throws(LabFault) {
    if let former, store.key == former { try store.drop() }
  }
}
