import Basics
import Conformance
import Links
import Sesame

/// What was sent to a lock that no client sends, as long as the lock may still show that it obeyed.
///
/// A command is obeyed within the time that a motor takes. Where the client did not look meanwhile, what the lock shows first
/// when it is seen again may come of it; and what was to open a session is over with its connection.
struct PendingInjections: Sendable {
  /// How long after it was sent an action may show: an answer at once, a motion within five seconds.
  private static let window = Interval.seconds(6)
  /// The most that are remembered.
  private static let maximum = 8

  private struct Entry {
    var action: InjectedAction
    /// When it is over; never, while the lock is not observed.
    var end: Instant
    /// Whether it is over with the connection.
    var opensSession: Bool
  }

  private var entries: [Entry] = []

  /// What is pending at a moment, the latest last.
  func actions(at now: Instant) -> [InjectedAction] {
    entries.filter { now <= $0.end }.map(\.action)
  }

  mutating func note(_ injection: Injection, at now: Instant) {
    note(InjectedAction(injection, at: now), opensSession: injection.opensSession, at: now)
  }

  /// Notes a fault of the lock's environment, where it is such an action.
  ///
  /// - Parameter isLooking: whether the client has a link over which it would see what comes of it.
  mutating func note(_ fault: Fault, isLooking: Bool, at now: Instant) {
    guard let action = InjectedAction(fault, at: now) else { return }
    note(action, opensSession: false, at: now)
    if !isLooking { entries[entries.count - 1].end = .never }
  }

  private mutating func note(_ action: InjectedAction, opensSession: Bool, at now: Instant) {
    entries.removeAll { $0.end < now }
    if entries.count == Self.maximum { entries.removeFirst() }
    entries.append(
      Entry(action: action, end: opensSession ? .never : now + Self.window, opensSession: opensSession))
  }

  /// Takes in what the client shows.
  mutating func take(_ status: ClientStatus, at now: Instant) {
    guard !entries.isEmpty else { return }
    switch status {
    case .noSignal:
      entries.removeAll { $0.opensSession || $0.end < now }
      for index in entries.indices { entries[index].end = .never }
    case .nosetting, .locked, .unlocked, .moved:
      for index in entries.indices where entries[index].end == .never {
        entries[index].end = now + Self.window
      }
    case .receivedBle, .connecting, .waitingGatt, .logining, .readytoRegister, .registering, .reset: break
    }
  }
}

// MARK: - What each of them is

extension InjectedAction {
  /// What an injection is to whoever compares, with what a lock shows that obeyed it.
  init(_ injection: Injection, at time: Instant) {
    let (kind, signs) = Self.meaning(of: injection)
    self.init(kind, injection.description, reaction: Self.reaction(to: kind), at: time, signs: signs)
  }

  /// A fault of a lock's environment that sends the lock something; `nil` for any other.
  init?(_ fault: Fault, at time: Instant) {
    guard !fault.value.isNothing else { return nil }
    let kind: Kind
    let sent: String
    var signs: [Sign] = []
    switch (fault.name, fault.value.description) {
    case ("third-party", "unlock"), ("third-party", "lock"):
      let goal = fault.value.description
      (kind, sent) = (
        .forgedCommand, "\(goal == "lock" ? "a lock" : "an unlock") in clear from another central"
      )
      signs = Self.motion(to: goal == "lock" ? "locked" : "unlocked")
    case ("third-party", "replay"):
      (kind, sent) = (.replayedMessage, "all that the owner sent in a session, from another central")
      signs = Self.anyMotion
    case ("third-party", "wrong-key"):
      (kind, sent) = (.falseProof, "a login with a wrong proof from another central")
    case ("write", let frame):
      (kind, sent) = (.forgedCommand, "the frame \(frame), which the client did not send")
      signs = Self.anyMotion + Self.answers()
    case ("att", let name):
      let holdsCommand = MalformedBluetooth(rawValue: name)?.holdsCommand ?? false
      kind = holdsCommand ? .forgedCommand : .other
      sent =
        holdsCommand ? "an unlock in clear, as the malformed packet \(name)" : "the malformed packet \(name)"
      if holdsCommand { signs = Self.motion(to: "unlocked") + Self.answers(to: [.unlock]) }
    default: return nil
    }
    self.init(kind, sent, reaction: Self.reaction(to: kind), at: time, signs: signs)
  }

  private static func reaction(to kind: Kind) -> String {
    switch kind {
    case .falseProof, .formerKey, .registration, .replayedLogin: "refuses"
    case .malformedRequest: "refuses or ignores"
    case .forgedCommand, .replayedMessage, .alteredMessage, .other: "ignores"
    }
  }

  private static func meaning(of injection: Injection) -> (Kind, [Sign]) {
    switch injection {
    case .falseProof(.oldKey): (.formerKey, session)
    case .falseProof(.registration):
      (.registration, session + [.violation(SesameViolation.ownerReplaced.rawValue)])
    case .falseProof: (.falseProof, session)
    case .replayedLogin: (.replayedLogin, session)
    case .forgery(let forgery): meaning(of: forgery)
    case .replay(let replay):
      switch replay.part {
      case .login: (.replayedLogin, restart)
      case .message: (.replayedMessage, anyMotion + answers())
      case .everything: (.replayedMessage, anyMotion + answers() + restart)
      }
    case .shadow: (.forgedCommand, answers() + restart)
    case .mutation: (.alteredMessage, [])
    case .reflection: (.other, [])
    case .request(let request): (.malformedRequest, signs(of: request))
    }
  }

  private static func meaning(of forgery: Forgery) -> (Kind, [Sign]) {
    switch forgery {
    case .request(let subject, let flaw):
      (flaw == .oldKey ? .formerKey : .forgedCommand, answers(to: subject.items) + changes(by: subject))
    case .lastCommand, .lastSession: (.replayedMessage, anyMotion + answers())
    case .login: (.replayedLogin, restart)
    case .registration: (.registration, answers(to: [.registration]) + [.status("nosetting")])
    case .identity: (.forgedCommand, answers(to: [.identity]))
    case .emptyFrame: (.other, [])
    }
  }

  private static func changes(by subject: Forgery.Subject) -> [Sign] {
    switch subject {
    case .lock, .autolock: motion(to: "locked")
    case .unlock: motion(to: "unlocked")
    case .reset: [.status("reset"), .status("nosetting"), .status("readytoRegister")]
    }
  }

  private static func signs(of request: UndefinedRequest) -> [Sign] {
    let obeyed = [Sign.violation(SesameViolation.malformedObeyed.rawValue, of: request.rawValue)]
    switch request {
    case .tagTooLong, .tagBeyondEnd, .tagAndMore, .readUnlock, .unknownOperation:
      return obeyed + motion(to: "unlocked")
    case .settingShort, .settingEqual: return obeyed + [.status("moved"), .status("nosetting")]
    case .autolockShort, .autolockNegative: return obeyed + [.status("locked")]
    case .registration, .login, .identity, .empty, .unknownItem, .publish, .timeShort, .timeZero, .timeMost,
      .historyShort, .recordUnknown, .threeFrames, .fourFrames:
      return obeyed
    }
  }

  /// The bolt turns, and perhaps not all the way.
  private static func motion(to goal: String) -> [Sign] { [.status(goal), .status("moved")] }

  private static var anyMotion: [Sign] { ["locked", "unlocked", "moved", "reset"].map { .status($0) } }

  /// An answer that the client did not ask for, to one of some items or to any.
  private static func answers(to items: [ItemCode]? = nil) -> [Sign] {
    let rules: [SesameViolation] = [.answerToNothing, .answerToAnother, .clearText]
    return rules.flatMap { rule in
      items.map { $0.map { .violation(rule.rawValue, of: $0.description) } } ?? [.violation(rule.rawValue)]
    }
  }

  /// A session opens, or a lock without an owner behaves as if one did.
  private static var session: [Sign] {
    ["nosetting", "locked", "unlocked", "moved"].map { .status($0) } + [
      .violation(SesameViolation.notAuthentic.rawValue, of: ProtocolViolation.withoutOwner)
    ]
  }

  /// A session that is open begins again, with its counters at zero.
  private static var restart: [Sign] {
    let rules: [SesameViolation] = [.counterJump, .replayed, .sessionKeyReused]
    return answers(to: [.login]) + rules.map { .violation($0.rawValue) }
  }
}
