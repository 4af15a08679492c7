import Basics
import Conformance

/// The knowledge of a lock's state over all tests of a run, from its reports and the requests to it.
///
/// Unknown is the safe value: whatever may have changed unseen is unknown. A family's fixed properties are
/// known from the beginning: for example that its locks always have an owner and positions, or that they have
/// no autolock.
public struct LockKnowledge: Equatable, Sendable {
  /// Whether locks of the family can be with and without owner, positions and autolock.
  private let hasOwners, hasPositions, hasAutolock: Bool
  /// Whether its positions are set.
  public private(set) var isConfigured: Bool?
  /// The bolt's rest position.
  public private(set) var position: String?
  /// The bolt's last observed rest position, unless it may have been moved since. Kept for a lock that has lost
  /// its positions and can no longer report where its bolt is.
  public private(set) var lastRest: String?
  /// The autolock delay in seconds; 0 for never, and for a family without autolock.
  public private(set) var autolock: Int?
  /// The autolock delay requested in the current session: a response under way may still report the previous
  /// one.
  private var autolockAsked: Int?
  /// Whether the history is empty.
  public private(set) var isHistoryEmpty = false
  /// Whether the owner is known: no registration or reset is unanswered.
  public private(set) var isOwnerSure = false

  /// Whether a reset is unanswered: a status may still report the owner before it.
  private var isResetOpen = false
  /// Whether a registration was requested and its response was never seen.
  public private(set) var isRegistrationOpen = false

  /// Starts with the facts that hold for every lock of a family.
  init(of family: LockFamily) {
    self.init(
      hasOwners: family.hasOwners, hasPositions: family.hasPositions, hasAutolock: family.has(.setAutolock))
  }

  private init(hasOwners: Bool, hasPositions: Bool, hasAutolock: Bool) {
    (self.hasOwners, self.hasPositions, self.hasAutolock) = (hasOwners, hasPositions, hasAutolock)
    isOwnerSure = !hasOwners
    if !hasPositions { isConfigured = true }
    if !hasAutolock { autolock = 0 }
  }
}

extension LockKnowledge {
  /// Records a request to the lock.
  mutating func ask(_ request: LockFamily.Request?, _ value: Value?) {
    switch request {
    case .lock, .unlock, .toggle, .forge:
      (position, lastRest) = (nil, nil)
      isHistoryEmpty = false
    case .configure:
      position = nil
      isConfigured = nil
    case .setAutolock:
      autolock = nil
      autolockAsked =
        switch value {
        case .integer(let seconds): seconds
        case .duration(let interval): Int(interval.seconds)
        default: 0
        }
      // The bolt may move by itself from now on.
      (position, lastRest) = (nil, nil)
      isHistoryEmpty = false
    case .readAutolock: if hasAutolock { autolock = nil }
    case .reset, .register:
      forget()
      (isResetOpen, isRegistrationOpen) = (request == .reset, request == .register)
    case .leave: leave()
    case .listen, .connect, .readHistory, nil: break
    }
  }

  /// Discards the state that a lock loses together with its owner.
  private mutating func forget() {
    let rest = lastRest
    self = LockKnowledge(hasOwners: hasOwners, hasPositions: hasPositions, hasAutolock: hasAutolock)
    lastRest = rest
  }

  /// Records that the lock is left: with autolock it may lock unseen.
  private mutating func leave() {
    if !hasAutolock, position != LockFamily.Condition.locked.rawValue { position = nil }
  }

  /// Records a fault that a defective lock may obey.
  mutating func bring(about fault: Fault, to family: LockFamily) {
    guard family.hostileFaults.contains(fault.name), !fault.value.isNothing else { return }
    (position, lastRest) = (nil, nil)
    isHistoryEmpty = false
    switch family.subject(of: fault) {
    case .reset, .register: forget()
    case .configure: (autolock, isConfigured) = (hasAutolock ? nil : 0, nil)
    default: break
    }
  }

  /// Records a status.
  mutating func take(_ condition: LockFamily.Condition) {
    switch condition {
    case .locked, .unlocked, .moved:
      let status = condition.rawValue
      // A movement that we did not request is an entry in the history.
      if let position, position != status { isHistoryEmpty = false }
      (isConfigured, position, isOwnerSure) = (true, status, !isResetOpen)
      lastRest = status
      isRegistrationOpen = false
    case .unset:
      (isConfigured, position, isOwnerSure) = (false, nil, !isResetOpen)
      isRegistrationOpen = false
    case .ownerless, .forgotten:
      forget()
      // The settings of the previous owner are deleted.
      (isOwnerSure, autolock) = (true, 0)
    case .proving: (autolockAsked, isResetOpen) = (nil, false)
    case .away: leave()
    case .heard, .underWay, .registering: break
    }
  }

  /// Records a reading.
  mutating func take(_ reading: Reading) {
    switch (reading.name, reading.value) {
    case ("autolock", .integer(let seconds)) where hasAutolock:
      if autolockAsked == nil || autolockAsked == seconds { (autolock, autolockAsked) = (seconds, nil) }
    case ("history", .text(let text)): isHistoryEmpty = text == "empty"
    default: break
    }
  }

  /// Records that a step was interrupted by a failure: its effect must be read again. The owner stays as
  /// certain as before, since requests that change it are recorded when they are made.
  mutating func invalidate() { (position, autolock, isHistoryEmpty) = (nil, hasAutolock ? nil : 0, false) }

  /// Records that a former key is used again, which the lock may have forgotten.
  mutating func invalidateOwner() { isOwnerSure = !hasOwners }
}
