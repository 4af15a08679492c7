public import Sesame
public import Conformance

/// Stores the key of one lock in a file or in memory.
public protocol KeyStore {
  /// The key of the lock's owner; `nil` for a lock without one.
  var key: LockKey? { get }

  /// Throws unless a key could be stored.
  func verifyStorage() throws(LabFault)

  /// Stores a key that the lock has just been registered with. On return, the key is stored durably.
  mutating func keep(_ key: LockKey) throws(LabFault)

  /// Sets the key aside, because the lock has forgotten it.
  mutating func drop() throws(LabFault)
}

/// A key in memory, for a lock that exists only in this process.
public struct KeyInMemory: KeyStore {
  public private(set) var key: LockKey?

  /// Stores a key, or none yet.
  public init(_ key: LockKey?) { self.key = key }

  public func verifyStorage() {}
  public mutating func keep(_ key: LockKey) { self.key = key }
  public mutating func drop() { key = nil }
}

/// The key of a lock's owner, as a client uses it: from the lock's emulator or from a ``KeyStore``.
public protocol OwnerKeys: AnyObject {
  /// The owner's key; for an emulated lock, that of the last start condition. `nil` for a lock without an owner.
  var key: LockKey? { get }

  /// Whether the lock is assumed to know the key. It may have forgotten a key that was restored.
  var isSure: Bool { get }

  /// Throws unless a key could be stored; called before the lock is asked for one.
  func verifyStorage() throws(LabFault)

  /// Stores the key of a lock that has just been registered, before the key is used.
  func keep(_ key: LockKey) throws(LabFault)

  /// Sets aside the key of a lock that has forgotten its owner.
  func drop(_ key: LockKey) throws(LabFault)

  /// Restores the key that was set aside last if none is stored: the lock may still know it.
  ///
  /// - Returns: whether there was such a key.
  func recall() throws(LabFault) -> Bool

  /// Sets the restored key aside again, because the lock has no owner.
  func dropRecalled() throws(LabFault)
}

/// An emulator knows the key of its lock, so the defaults store nothing.
extension OwnerKeys {
  public var isSure: Bool { true }
  public func verifyStorage() {}
  public func keep(_ key: LockKey) {}
  public func drop(_ key: LockKey) {}
  public func recall() -> Bool { false }
  public func dropRecalled() {}
}

/// The key of a real lock's owner, which is read from and written to its existing store.
public final class StoredKey<Store: KeyStore>: OwnerKeys {
  /// The store of the key.
  public private(set) var store: Store
  /// The key that was set aside last.
  private var setAsideKey: LockKey?
  public private(set) var isSure = true

  /// Uses an existing store.
  public init(_ store: Store) { self.store = store }

  public var key: LockKey? { store.key }
  public func verifyStorage() throws(LabFault) { try store.verifyStorage() }

  public func keep(_ key: LockKey) throws(LabFault) {
    try store.keep(key)
    isSure = true
  }

  public func drop(_ key: LockKey) throws(LabFault) {
    setAsideKey = store.key ?? key
    try store.drop()
  }

  public func recall() throws(LabFault) -> Bool {
    guard store.key == nil, let key = setAsideKey else { return false }
    try store.keep(key)
    isSure = false
    return true
  }

  public func dropRecalled() throws(LabFault) {
    if let setAsideKey, store.key == setAsideKey { try store.drop() }
  }
}
