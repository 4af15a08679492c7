/// The protocol violations that can be observed in a lock.
///
/// The raw values are stable names: journals, reports and the `quirks:` of lock files contain them. The page
/// *Violations of the Sesame protocol* explains each.
public enum SesameViolation: String, CaseIterable, Hashable, Sendable {
  // Frames.
  case emptyFrame = "empty-frame"
  case unexpectedFrame = "unexpected-frame"
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
  case noRest = "no-rest"
  // Messages.
  case undecodable
  case noAnswer = "no-answer"
  case answerToNothing = "answer-to-nothing"
  case answerToAnother = "answer-to-another"
  case undefinedResult = "undefined-result"
  case undefinedFlag = "undefined-flag"
  case unknownPublish = "unknown-publish"
  case malformedObeyed = "malformed-obeyed"
  // History.
  case historyRepeated = "history-repeated"
  case historyEndless = "history-endless"
}

/// A rule that a lock was seen to break.
public struct ProtocolViolation: Hashable, Sendable {
  /// The rule.
  public var rule: SesameViolation
  /// What of the protocol it was broken with, such as the command that was not answered; `nil` where that says nothing.
  public var subject: String?
  /// What was seen, for people.
  public var detail: String
  /// What broke the rule, or was left unanswered: a frame where the frame is wrong, otherwise the message, decrypted where
  /// it is authentic. One that would tell a key is left out.
  public var packet: [UInt8]?
  /// The sender; the lock by default.
  public var sender: SessionEnd

  /// Makes one.
  public init(
    _ rule: SesameViolation, of subject: String? = nil, _ detail: String, packet: [UInt8]? = nil,
    from sender: SessionEnd = .lock
  ) {
    self.rule = rule
    self.subject = subject
    self.detail = detail
    self.packet = packet
    self.sender = packet == nil ? .lock : sender
  }

  /// The subject of an encrypted message before the token.
  public static let encrypted = "ciphertext"
  /// The subject of a continuation frame that comes before the token, the first one of a connection.
  public static let beforeTheToken = "a frame before the token"
  /// The subject of a login on the connection of a registration.
  public static let afterRegistration = "login after a registration"
  /// The subject of an encrypted message of a lock without an owner, which was not asked for anything.
  public static let withoutOwner = "ciphertext without an owner"
  /// The subject of an encrypted message that comes before there is a key.
  public static let beforeKey = "ciphertext before the key"
}

extension [ClientAction] {
  /// Adds that a rule was broken, with the packet that broke it where there is one.
  mutating func reportViolation(
    _ rule: SesameViolation, of subject: String? = nil, _ detail: String, packet: [UInt8]? = nil,
    from sender: SessionEnd = .lock
  ) {
    append(.reportViolation(ProtocolViolation(rule, of: subject, detail, packet: packet, from: sender)))
  }
}
