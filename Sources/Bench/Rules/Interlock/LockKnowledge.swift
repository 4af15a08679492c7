import Basics
import Conformance

/// What is known of a lock from what it showed and from what was asked of it, over all tests of a run.
///
/// It is never more than the truth: what may have changed unseen is not known. What no lock of a family can be otherwise is
/// known from the beginning: who owns it, that it has positions, that nobody has it lock by itself.
public struct LockKnowledge: Equatable, Sendable {
  /// What a lock of the family may be, one way or the other.
  private let hasOwners, hasPositions, hasAutolock: Bool
  /// Whether its positions are set.
  public private(set) var isConfigured: Bool?
  /// Where its bolt rests.
  public private(set) var position: String?
  /// Where its bolt was seen to rest last, if nothing was asked since that moves it; also of a lock that has forgotten by
  /// which positions that could be told.
  public private(set) var lastRest: String?
  /// After how many seconds it locks by itself; 0 for never, and where nobody can set it.
  public private(set) var autolock: Int?
  /// What it was asked to be set to in the session that is open: an answer on its way may tell what was set before.
  private var autolockAsked: Int?
  /// Whether there is nothing in its history.
  public private(set) var isHistoryEmpty = false
  /// Whether it is known who owns it: neither a registration nor a reset is without its answer.
  public private(set) var isOwnerSure = false

  /// Whether a reset was asked for that may yet be answered, or not: what a status says of the owner is from before it.
  private var isResetOpen = false
  /// Whether a registration was asked for whose answer was never seen.
  public private(set) var isRegistrationOpen = false

  /// What is known of every lock of a family.
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
  /// Takes in that something is asked of the lock.
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
        case .flag, .number, .text, nil: 0
        }
      // It may go by itself from now on.
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

  /// What a lock forgets with its owner is not known any more.
  private mutating func forget() {
    let rest = lastRest
    self = LockKnowledge(hasOwners: hasOwners, hasPositions: hasPositions, hasAutolock: hasAutolock)
    lastRest = rest
  }

  /// A lock that may lock by itself, whatever anybody wants, does so unseen.
  private mutating func leave() {
    if !hasAutolock, position != LockFamily.Condition.locked.rawValue { position = nil }
  }

  /// Takes in that a lock with a bug may obey a fault.
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

  /// Takes in a status.
  mutating func take(_ condition: LockFamily.Condition) {
    switch condition {
    case .locked, .unlocked, .moved:
      let status = condition.rawValue
      // What moved without a word of ours stands in the history.
      if let position, position != status { isHistoryEmpty = false }
      (isConfigured, position, isOwnerSure) = (true, status, !isResetOpen)
      lastRest = status
      isRegistrationOpen = false
    case .unset:
      (isConfigured, position, isOwnerSure) = (false, nil, !isResetOpen)
      isRegistrationOpen = false
    case .ownerless, .forgotten:
      forget()
      // What its last owner has set is over.
      (isOwnerSure, autolock) = (true, 0)
    case .proving: (autolockAsked, isResetOpen) = (nil, false)
    case .away: leave()
    case .heard, .underWay, .registering: break
    }
  }

  /// Takes in a value that was read.
  mutating func take(_ reading: Reading) {
    switch (reading.name, reading.value) {
    case ("autolock", .integer(let seconds)) where hasAutolock:
      if autolockAsked == nil || autolockAsked == seconds { (autolock, autolockAsked) = (seconds, nil) }
    case ("history", .text(let text)): isHistoryEmpty = text == "empty"
    default: break
    }
  }

  /// Takes in that there was trouble in the middle of something: what it was about is to be looked at again. Who owns the
  /// lock is as sure as it was: what could change that is noted when it is asked for.
  mutating func doubt() { (position, autolock, isHistoryEmpty) = (nil, hasAutolock ? nil : 0, false) }

  /// Takes in that a former key is tried again, which the lock may have forgotten.
  mutating func doubtOwner() { isOwnerSure = !hasOwners }
}
