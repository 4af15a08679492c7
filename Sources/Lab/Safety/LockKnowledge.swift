import Conformance

/// What is known of a lock from what it showed and from what was asked of it, over all tests of a run.
///
/// It is never more than the truth: what may have changed unseen is not known.
public struct LockKnowledge: Equatable, Sendable {
  /// Whether its positions are set.
  public private(set) var isConfigured: Bool?
  /// Where its bolt rests.
  public private(set) var position: String?
  /// After how many seconds it locks by itself; 0 for never.
  public private(set) var autolock: Int?
  /// Whether there is nothing in its history.
  public private(set) var isHistoryEmpty = false
  /// Whether it is known who owns it: neither a registration nor a reset is without its answer.
  public private(set) var isOwnerSure = false

  /// Nothing is known.
  public init() {}
}

extension LockKnowledge {
  /// The faults by which somebody else may have asked something of the lock.
  static var hostile: [String] { ["forge", "replay", "shadow", "mutate", "request", "reflect", "att"] }

  /// Which of what needs permission a fault asks a lock with a bug for.
  static func permission(for fault: Fault) -> String? {
    guard hostile.contains(fault.name) || fault.name == "wrong-key" else { return nil }
    switch fault.value.description.prefix(while: { $0 != " " && $0 != "-" }) {
    case "reset": return "reset"
    case "registration": return "register"
    case "autolock", "setting": return "configure"
    default: return nil
    }
  }

  /// Takes in that something is asked of the lock, by name.
  mutating func ask(_ stimulus: String) {
    switch stimulus {
    case "lock", "unlock", "toggle", "forgeLock", "forgeUnlock", "replayCommand":
      position = nil
      isHistoryEmpty = false
    case "configure":
      position = nil
      isConfigured = nil
    case "setAutolock":
      autolock = nil
      // It may go by itself from now on.
      position = nil
      isHistoryEmpty = false
    case "readAutolock": autolock = nil
    case "reset", "register": self = LockKnowledge()
    default: break
    }
  }

  /// Takes in that a lock with a bug may obey a fault.
  mutating func bring(about fault: Fault) {
    guard Self.hostile.contains(fault.name), !fault.value.isNothing else { return }
    position = nil
    isHistoryEmpty = false
    switch Self.permission(for: fault) {
    case "reset", "register": self = LockKnowledge()
    case "configure": (autolock, isConfigured) = (nil, nil)
    default: break
    }
  }

  /// Takes in a status.
  mutating func take(status: String) {
    switch status {
    case "locked", "unlocked", "moved":
      // What moved without a word of ours stands in the history.
      if let position, position != status { isHistoryEmpty = false }
      (isConfigured, position, isOwnerSure) = (true, status, true)
    case "nosetting":
      (isConfigured, position, isOwnerSure) = (false, nil, true)
    case "readytoRegister", "reset":
      self = LockKnowledge()
      isOwnerSure = true
    default: break
    }
  }

  /// Takes in a value that was read.
  mutating func take(_ reading: Reading) {
    switch (reading.name, reading.value) {
    case ("autolock", .integer(let seconds)): autolock = seconds
    case ("history", .text(let text)): isHistoryEmpty = text == "empty"
    default: break
    }
  }

  /// Takes in that nothing is sure any more: there was trouble in the middle of something.
  mutating func doubt() { isOwnerSure = false }
}
