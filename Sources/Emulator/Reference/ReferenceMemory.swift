import Basics

/// The memory of a defect of the reference lock, and its effect on events.
///
/// Every defect uses the same few numbers, and no more than it needs, so that a search through all behaviour
/// of a lock reaches equal states again.
struct ReferenceMemory: Hashable, Sendable {
  typealias Status = ReferenceLock.Status
  typealias Event = ReferenceLock.Event

  /// The stage of the defect.
  private var stage = 0
  /// A count.
  private var count = 0
  /// The beginning of the time that it waits for.
  var since = Instant.zero

  /// Makes the memory at the beginning of a test.
  init(_ bug: ReferenceLock.Bug? = nil, isRegistered: Bool = true) {
    if bug == .newbornLock { stage = isRegistered ? 0 : 1 }
  }

  /// The effect of an event that leads a healthy lock from one status to another, or is ignored by it.
  mutating func outcome(
    of event: Event, _ bug: ReferenceLock.Bug, from old: Status, to new: Status, isTaken: Bool,
    at now: Instant
  ) -> Status {
    switch bug {
    case .deafUnlock, .jamAfterAbortedLogins: return new
    case .dozingUnlock:
      defer { since = now }
      return old.isLoggedIn && event == .unlock && now - since >= .seconds(600) ? old : new
    case .offendedByReplay: return offended(event, old, new, isTaken)
    case .staleReset:
      if !isTaken, event == .reset, old == .logining { stage = 1 }
      if new == .noSignal { stage = 0 }
      return isTaken && event == .reset && stage == 1 ? old : new
    case .stuckAfterTwoMoved, .bouncingLock, .echoOfOldSession, .wornBolt, .evenResets, .newbornLock,
      .combination,
      .forgottenPositions, .longSession:
      return isTaken ? outcome(of: event, bug, from: old, to: new, at: now) : new
    }
  }

  /// The effect of an accepted event, for the defects that do not depend on ignored ones.
  private mutating func outcome(
    of event: Event, _ bug: ReferenceLock.Bug, from old: Status, to new: Status, at now: Instant
  ) -> Status {
    switch (bug, event) {
    case (.stuckAfterTwoMoved, .loginDone):
      stage = new == .moved ? min(stage + 1, 2) : 0
      count = 1
    case (.stuckAfterTwoMoved, _):
      defer { count = 0 }
      if event == .toggle, count == 1, stage == 2 { return old }
    case (.bouncingLock, _):
      defer { since = now }
      let isLate = now - since > .seconds(1)
      if event == .lock, stage == 1, now - since <= .milliseconds(100) { return .moved }
      stage = event == .unlock && isLate ? 1 : 0
    case (.echoOfOldSession, .loginDone):
      stage = (stage & 3) << 2 | count
      count = 0
    case (.echoOfOldSession, .lock), (.echoOfOldSession, .unlock), (.echoOfOldSession, .toggle):
      defer { count = event == .lock ? 1 : event == .unlock ? 2 : 3 }
      if event == .lock, count == 0, stage == 3 << 2 | 2 { return .moved }
    case (.wornBolt, .lock):
      count = (count + 1) % 16
      if count == 0 { return .moved }
    case (.evenResets, .reset):
      stage = stage == 1 ? 2 : 1
      count = 0
    case (.evenResets, _):
      defer { count = event == .configure ? 1 : 0 }
      if event == .toggle, count == 1, stage == 2 { return old }
    case (.newbornLock, .loginDone): stage = stage == 1 ? 2 : 0
    case (.newbornLock, _):
      if event == .lock, stage == 2 { return .moved }
      if stage == 2 { stage = 0 }
    case (.combination, _):
      stage = Self.progress(of: event, after: stage)
      if stage == Self.combination.count { return old }
    case (.forgottenPositions, .disconnect):
      if old == .nosetting { stage = min(stage + 1, 2) }
    case (.forgottenPositions, .configure):
      if stage == 2 { return .nosetting }
      stage = 0
    case (.longSession, .lock), (.longSession, .unlock), (.longSession, .toggle): count = min(count + 1, 20)
    case (.longSession, .disconnect):
      if count == 20 { return old }
      count = 0
    case (.longSession, .loginDone), (.longSession, .configure), (.longSession, .reset): count = 0
    default: break
    }
    return new
  }

  private mutating func offended(_ event: Event, _ old: Status, _ new: Status, _ isTaken: Bool) -> Status {
    defer {
      switch event {
      case .lock: stage = isTaken ? 1 : 0
      case .loginDone: stage = stage == 1 && !isTaken ? 2 : 0
      default: stage = 0
      }
    }
    return event == .unlock && isTaken && stage == 2 ? .locked : new
  }

  private static let combination: [Event] = [.lock, .unlock, .unlock, .lock, .toggle]

  /// The progress of the combination after one more event.
  private static func progress(of event: Event, after stage: Int) -> Int {
    if stage < combination.count, event == combination[stage] { return stage + 1 }
    // After a wrong event, a `lock` may be the first of a new combination, and an `unlock` after it the
    // second.
    if stage == 4, event == .unlock { return 2 }
    return event == .lock ? 1 : 0
  }
}

extension ReferenceLock.Status {
  /// Whether the client is logged in, and the positions are known.
  var isLoggedIn: Bool { self == .locked || self == .unlocked || self == .moved }
}
