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

/// An observed violation of a rule by a lock.
public struct ProtocolViolation: Hashable, Sendable {
  /// The rule.
  public var rule: SesameViolation
  /// The part of the protocol, such as the unanswered command; `nil` if that adds nothing.
  public var subject: String?
  /// The observation, as text.
  public var detail: String
  /// The frame or message that violated the rule or was left unanswered: a frame if the frame is wrong,
  /// otherwise the message, decrypted if it is authentic. `nil` if it would reveal a key.
  public var packet: [UInt8]?
  /// The sender; the lock by default.
  public var sender: SessionEnd

  /// Makes a violation.
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
  /// The subject of a continuation frame before the token, the first of a connection.
  public static let beforeTheToken = "a frame before the token"
  /// The subject of a login on the connection of a registration.
  public static let afterRegistration = "login after a registration"
  /// The subject of an unrequested encrypted message of a lock without an owner.
  public static let withoutOwner = "ciphertext without an owner"
  /// The subject of an encrypted message before there is a key.
  public static let beforeKey = "ciphertext before the key"
}

extension [ClientAction] {
  /// Appends a violation, with the packet that violated the rule if there is one.
  mutating func reportViolation(
    _ rule: SesameViolation, of subject: String? = nil, _ detail: String, packet: [UInt8]? = nil,
    from sender: SessionEnd = .lock
  ) {
    append(.reportViolation(ProtocolViolation(rule, of: subject, detail, packet: packet, from: sender)))
  }
}
