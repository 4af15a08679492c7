public import Basics

/// An action of the tester that no client performs: a forged command, a false proof, a replayed message. A correct
/// device refuses or ignores it.
///
/// It is evidence: the tester knows what it sent, when, and which reaction is correct. If a device shows one of the
/// ``signs`` while the action is pending, the report names the action as the cause.
public struct InjectedAction: Hashable, Sendable {
  /// The kinds of action.
  public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// A command without a session, or without its key.
    case forgedCommand = "forged-command"
    /// A login without the proof of the owner's key.
    case falseProof = "false-proof"
    /// A login with the key of a former owner.
    case formerKey = "former-key"
    /// A registration although the device has an owner.
    case registration
    /// A message that was sent before.
    case replayedMessage = "replayed-message"
    /// The login of an earlier session.
    case replayedLogin = "replayed-login"
    /// A malformed request.
    case malformedRequest = "malformed-request"
    /// A client's message that was altered on the link.
    case alteredMessage = "altered-message"
    /// Another action that no client performs.
    case other
  }

  /// An observation that only a wrong reaction explains.
  public enum Sign: Hashable, Sendable {
    /// A status.
    case status(String)
    /// A violated rule, by its name and subject; `nil` for any subject.
    case violation(String, of: String? = nil)
  }

  /// The kind of action.
  public var kind: Kind
  /// What was sent, as text: `an unlock in clear`.
  public var sent: String
  /// The correct reaction, as a verb: `ignores it`.
  public var reaction: String
  /// When it was sent.
  public var time: Instant
  /// The signs of a device that obeyed.
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
  /// When it was sent, in whole milliseconds, for display.
  public var moment: Interval { .milliseconds(time.milliseconds) }

  /// Returns a remark for a later divergence: that the action was sent, and how long before.
  public func circumstance(at time: Instant) -> String {
    let age = Interval.milliseconds(time.milliseconds - self.time.milliseconds)
    return "; \(age) before, the tester had sent \(sent)"
  }
}

extension InjectedAction.Kind {
  /// The error of a device that obeyed.
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
  /// An injected action in a divergence, and whether the observation is a sign that the device obeyed it.
  public struct Injection: Hashable, Sendable {
    /// The injected action.
    public var action: InjectedAction
    /// Whether the observation is a sign that the device obeyed.
    public var isObeyed: Bool

    /// Makes an injection without a sign that the device obeyed.
    public init(of action: InjectedAction) { (self.action, isObeyed) = (action, false) }

    /// Chooses the latest pending action that the divergence shows to have been obeyed or, without one, the latest
    /// of all.
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
