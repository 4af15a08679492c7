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

/// The surroundings of a real lock: nobody. It starts as it is, and its key is kept.
public final class LoneLock<Keys: KeyStore>: LockSurroundings {
  /// What keeps its key.
  public private(set) var keys: Keys
  /// Whether its positions are set, as far as that is known.
  public private(set) var isConfigured: Bool

  /// Takes a lock as it is.
  public init(_ keys: Keys) {
    self.keys = keys
    isConfigured = keys.key != nil
  }

  public var faults: [String] { [] }
  public var stimuli: [String] { [] }
  public var settings: [String] { LoneLockFacts.settings }
  public var circumstances: [String] { LoneLockFacts.circumstances }

  public func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    let isRegistered = keys.key != nil
    for (name, value) in [("registered", isRegistered), ("configured", isConfigured)] {
      guard let wanted = start.flag(name), wanted != value else { continue }
      throw LabFault(
        .notPossible,
        "starts with \(name): \(Value.flag(wanted)), and with the lock it is \(Value.flag(value))")
    }
    return keys.key
  }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could do '\(stimulus)'")
  }

  public func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could bring about '\(fault.name)'")
  }

  public func expectKey() throws(LabFault) { try keys.rehearse() }

  public func keep(_ key: LockKey) throws(LabFault) {
    isConfigured = false
    try keys.keep(key)
  }

  public func drop(_ key: LockKey) throws(LabFault) {
    isConfigured = false
    try keys.drop()
  }

  /// A position is shown by a lock that has them.
  public func note(status: String) {
    switch status {
    case "locked", "unlocked", "moved": isConfigured = true
    case "nosetting": isConfigured = false
    default: break
    }
  }
}

/// What holds of every ``LoneLock``, whatever keeps its key.
public enum LoneLockFacts {
  /// The settings of a start condition that a test can rely on: those of which it is known what they are.
  public static let settings = ["registered", "configured"]
  /// What always holds on real air: frames and links get lost.
  public static let circumstances = ["loss"]
}
