import Conformance

/// What a lock can be seen to do that its protocol forbids.
///
/// The raw values are names that stay the same: journals, reports and `quirks:` of lock files have them. What each means
/// is said once, on the page *What a lock must not do*.
public enum SesameViolation: String, CaseIterable, Hashable, Sendable {
  // Frames.
  case emptyFrame = "empty-frame"
  case strayFrame = "stray-frame"
  case unfinishedMessage = "unfinished-message"
  case unknownKind = "unknown-kind"
  case frameTooLong = "frame-too-long"
  case messageTooLong = "message-too-long"
  // Encryption.
  case notAuthentic = "not-authentic"
  case counterJump = "counter-jump"
  case replayed
  case sessionKeyReused = "session-key-reused"
  case clearText = "clear-text"
  case keyExposed = "key-exposed"
  // The beginning of a connection.
  case noToken = "no-token"
  case beforeToken = "before-token"
  case tokenRepeated = "token-repeated"
  case tokenAgain = "token-again"
  // Login and registration.
  case beforeLogin = "before-login"
  case loginRefused = "login-refused"
  case registrationRefused = "registration-refused"
  case ownerReplaced = "owner-replaced"
  case outOfPlace = "out-of-place"
  case noStatus = "no-status"
  // Messages.
  case undecodable
  case noAnswer = "no-answer"
  case answerToNothing = "answer-to-nothing"
  case answerToAnother = "answer-to-another"
  case undefinedResult = "undefined-result"
  case undefinedFlag = "undefined-flag"
  case unknownPublish = "unknown-publish"
  case nonsenseObeyed = "nonsense-obeyed"
  // History.
  case historyRepeated = "history-repeated"
  case historyEndless = "history-endless"
}

/// What real locks are known to do though their protocol forbids it.
public struct KnownQuirk: Sendable {
  /// What they do.
  public var violation: SesameViolation
  /// With what of the protocol, as ``Conformance/Violation/subject`` has it; `nil` for anything.
  public var subject: String?
  /// Which generation does it; `nil` for both.
  public var generation: Generation?
  /// Why they are not blamed for it.
  public var reason: String

  /// All of them. A lock's own stand in its file, under `quirks`.
  public static let all: [KnownQuirk] = [
    KnownQuirk(
      violation: .tokenAgain,
      reason:
        "locks publish their token more than once in a connection, and clients pass over what they know already"
    ),
    KnownQuirk(
      violation: .unknownPublish,
      reason:
        "firmware publishes items that are younger than its documents, such as battery voltages; clients pass over them"
    ),
    KnownQuirk(
      violation: .undefinedFlag, generation: .os3,
      reason: "firmware may give a flag a meaning that its documents do not have yet"),
    KnownQuirk(
      violation: .beforeToken, subject: encrypted, generation: .os2,
      reason:
        "an encrypted notification before the token was seen of a Sesame 4, at the beginning of a connection"),
    KnownQuirk(
      violation: .notAuthentic, subject: beforeKey, generation: .os3,
      reason:
        "a lock publishes as soon as it has taken a registration, before its client can have the key"),
  ]

  /// The subject of an encrypted message before the token.
  static let encrypted = "ciphertext"
  /// The subject of an encrypted message that comes before there is a key.
  static let beforeKey = "ciphertext before the key"
}

extension Violation {
  /// Why locks of a generation, or the one whose own habits these are, are not blamed for it; `nil` where they are.
  func quirk(of generation: Generation?, own: [SesameViolation]) -> String? {
    if own.contains(where: { $0.rawValue == name }) { return "the lock's file has it among its quirks" }
    let known = KnownQuirk.all.first { quirk in
      quirk.violation.rawValue == name && (quirk.subject == nil || quirk.subject == subject)
        && (quirk.generation == nil || quirk.generation == generation)
    }
    return known?.reason
  }
}

extension [ClientAction] {
  /// Adds a complaint of a broken rule, with the packet that broke it where there is one.
  mutating func complain(
    _ violation: SesameViolation, of subject: String? = nil, _ detail: String, packet bytes: [UInt8]? = nil,
    from sender: Violation.Packet.Sender = .device
  ) {
    let packet = bytes.map { Violation.Packet($0, from: sender) }
    append(.complain(Violation(violation.rawValue, of: subject, detail, packet: packet)))
  }
}
