import Basics
import Conformance
import Links
import Sesame

/// The injected actions that no client performs, as long as the lock may still show that it obeyed one.
///
/// A lock obeys a command within the time that the motor takes. If the client was not observing the lock meanwhile,
/// the first status that it sees later may be the effect. An action that was to open a session expires with the
/// connection.
struct PendingInjections: Sendable {
  /// How long the effect of an action may take: an answer is immediate, a motion takes up to five seconds.
  private static let window = Interval.seconds(6)
  /// The maximum number of recorded actions.
  private static let maximum = 8

  private struct Entry {
    var action: InjectedAction
    /// When it expires; never while the lock is not observed.
    var end: Instant
    /// Whether it expires with the connection.
    var opensSession: Bool
  }

  private var entries: [Entry] = []

  /// Returns the pending actions, the latest last.
  func actions(at now: Instant) -> [InjectedAction] {
    entries.filter { now <= $0.end }.map(\.action)
  }

  mutating func note(_ injection: Injection, at now: Instant) {
    note(InjectedAction(injection, at: now), opensSession: injection.opensSession, at: now)
  }

  /// Records a fault of the lock's environment if it is such an action.
  ///
  /// - Parameter isObserving: whether the client has a link over which it would observe the effect.
  mutating func note(_ fault: Fault, isObserving: Bool, at now: Instant) {
    guard let action = InjectedAction(fault, at: now) else { return }
    note(action, opensSession: false, at: now)
    if !isObserving { entries[entries.count - 1].end = .never }
  }

  private mutating func note(_ action: InjectedAction, opensSession: Bool, at now: Instant) {
    entries.removeAll { $0.end < now }
    if entries.count == Self.maximum { entries.removeFirst() }
    entries.append(
      Entry(action: action, end: opensSession ? .never : now + Self.window, opensSession: opensSession))
  }

  /// Handles a status that the client shows.
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

// MARK: - Classification

extension InjectedAction {
  /// Describes an injection for the comparison with the model, with the signs that a lock obeyed it.
  init(_ injection: Injection, at time: Instant) {
    let (kind, signs) = Self.meaning(of: injection)
    self.init(kind, injection.description, reaction: Self.reaction(to: kind), at: time, signs: signs)
  }

  /// Describes a fault of the lock's environment that sends the lock a packet; `nil` for any other fault.
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

  /// The bolt turns, possibly not all the way.
  private static func motion(to goal: String) -> [Sign] { [.status(goal), .status("moved")] }

  private static var anyMotion: [Sign] { ["locked", "unlocked", "moved", "reset"].map { .status($0) } }

  /// Signs of an answer that the client did not request, to one of some items or to any.
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

  /// An open session restarts, with its counters at zero.
  private static var restart: [Sign] {
    let rules: [SesameViolation] = [.counterJump, .replayed, .sessionKeyReused]
    return answers(to: [.login]) + rules.map { .violation($0.rawValue) }
  }
}
