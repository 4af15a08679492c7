public import Basics

/// Something that the tester sent to a device and that no client of it sends: a forged command, a false proof, a message
/// sent again. A correct device refuses it or ignores it.
///
/// It is evidence. The tester knows what it sent, when, and what is right; so where a device shows one of the
/// ``signs`` while the action is pending, a report names the action as the cause, and not only what was seen.
public struct InjectedAction: Hashable, Sendable {
  /// What kind of action it is.
  public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// A command of someone who has no session, or not its key.
    case forgedCommand = "forged-command"
    /// A login without the proof of the owner's key.
    case falseProof = "false-proof"
    /// A login with the key of a former owner.
    case formerKey = "former-key"
    /// A registration of a device that has an owner.
    case registration
    /// A message that was sent before.
    case replayedMessage = "replayed-message"
    /// The login of an earlier session.
    case replayedLogin = "replayed-login"
    /// A request that makes no sense.
    case malformedRequest = "malformed-request"
    /// A message of the client's that was altered on the way.
    case alteredMessage = "altered-message"
    /// Something else that no client does.
    case other
  }

  /// What a device shows that it would not show had it done what is right.
  public enum Sign: Hashable, Sendable {
    /// A status.
    case status(String)
    /// A broken rule, by its name and what it is broken with; with anything where that is `nil`.
    case violation(String, of: String? = nil)
  }

  /// What kind of action it is.
  public var kind: Kind
  /// What was sent, for people: `an unlock in clear`.
  public var sent: String
  /// What is right, as what a device does with it: `ignores it`.
  public var reaction: String
  /// When it was sent.
  public var time: Instant
  /// What a device shows that obeyed.
  public var signs: [Sign]

  /// Describes an action.
  public init(_ kind: Kind, _ sent: String, reaction: String, at time: Instant, signs: [Sign] = []) {
    self.kind = kind
    self.sent = sent
    self.reaction = reaction
    self.time = time
    self.signs = signs
  }
}

extension InjectedAction {
  /// When it was sent, in whole milliseconds, for people.
  public var moment: Interval { .milliseconds(time.milliseconds) }

  /// What there is to say of it where something else went wrong later: that it was sent, and how long before.
  public func circumstance(at time: Instant) -> String {
    let age = Interval.milliseconds(time.milliseconds - self.time.milliseconds)
    return "; \(age) before, the tester had sent \(sent)"
  }
}

extension InjectedAction.Kind {
  /// What a device did wrong that obeyed.
  var verdict: String {
    switch self {
    case .forgedCommand: "the device obeyed a forged command"
    case .falseProof: "the device accepted a false proof"
    case .formerKey: "the device accepted the key of a former owner"
    case .registration: "the device accepted another owner"
    case .replayedMessage: "the device obeyed a replayed message"
    case .replayedLogin: "the device accepted a replayed login"
    case .malformedRequest: "the device obeyed a malformed request"
    case .alteredMessage: "the device obeyed an altered message"
    case .other: "the device obeyed what no client sends"
    }
  }
}

extension Divergence {
  /// What the tester had sent that no client sends, and whether the device obeyed it, as far as what it showed tells.
  public struct Injection: Hashable, Sendable {
    /// What was sent.
    public var action: InjectedAction
    /// Whether what the device showed is a sign that it obeyed.
    public var isObeyed: Bool

    /// What was sent, of which nothing shows that the device obeyed it.
    public init(of action: InjectedAction) { (self.action, isObeyed) = (action, false) }

    /// Of what is pending, the latest that a divergence is a sign of; or else the latest of all.
    init?(_ pending: [InjectedAction], in kind: Kind, showing status: String?) {
      if let obeyed = pending.last(where: { $0.signs.contains { $0.fits(kind, showing: status) } }) {
        (action, isObeyed) = (obeyed, true)
      } else if let last = pending.last {
        (action, isObeyed) = (last, false)
      } else {
        return nil
      }
    }
  }
}

extension InjectedAction.Sign {
  fileprivate func fits(_ kind: Divergence.Kind, showing shown: String?) -> Bool {
    switch (self, kind) {
    case (.status(let status), .unexpected(let seen)): status == seen
    case (.status(let status), .invariant): status == shown
    case (.violation(let rule, let subject), .violation(let violation)):
      rule == violation.name && (subject == nil || subject == violation.subject)
    case (.status, _), (.violation, _): false
    }
  }
}
