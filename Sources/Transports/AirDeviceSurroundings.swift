public import Conformance
public import Sesame

/// The surroundings of a real lock: nobody. It starts as it is, and its key is kept in its file.
public final class LoneLock: LockSurroundings {
  /// What is known of the lock.
  public private(set) var file: LockFile
  /// Whether its positions are set, as far as that is known.
  public internal(set) var isConfigured: Bool

  /// Takes a lock as its file describes it.
  public init(_ file: LockFile) {
    self.file = file
    isConfigured = file.key != nil
  }

  public var faults: [String] { [] }
  public var stimuli: [String] { [] }
  /// Those of which it is known what they are.
  public var settings: [String] { Self.settings }
  public var circumstances: [String] { Self.circumstances }
  public var livesOn: Bool { true }

  /// The settings of a real lock that a test can rely on.
  public static let settings = ["registered", "configured"]
  /// Frames and links get lost on any real air.
  public static let circumstances = ["loss"]

  public func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    let isRegistered = file.key != nil
    for (name, value) in [("registered", isRegistered), ("configured", isConfigured)] {
      guard let wanted = start.flag(name), wanted != value else { continue }
      throw LabFault(
        .notPossible,
        "starts with \(name): \(Value.flag(wanted)), and with the lock it is \(Value.flag(value))")
    }
    return file.key
  }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could do '\(stimulus)'")
  }

  public func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could bring about '\(fault.name)'")
  }

  public func keep(_ key: LockKey) throws(LabFault) {
    isConfigured = false
    try file.keep(key)
  }

  public func drop(_ key: LockKey) throws(LabFault) {
    isConfigured = false
    try file.drop()
  }
}
