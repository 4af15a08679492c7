import Sesame

// What the page of the rules says of each.

extension SesameViolation {
  /// A part of the protocol.
  enum Section: String, CaseIterable, Sendable {
    case frames = "Frames"
    case encryption = "Encryption"
    case opening = "The beginning of a connection"
    case login = "Login and registration"
    case messages = "Messages"
    case history = "History"
  }

  /// The part of the protocol whose rule is broken.
  var section: Section {
    switch self {
    case .emptyFrame, .unexpectedFrame, .unfinishedMessage, .unknownKind, .frameTooLong, .messageTooLong:
      .frames
    case .notAuthentic, .counterJump, .replayed, .sessionKeyReused, .clearText, .keyExposed: .encryption
    case .noToken, .beforeToken, .tokenRepeated, .tokenAgain: .opening
    case .beforeLogin, .loginRefused, .registrationRefused, .ownerReplaced, .outOfPlace,
      .noStatus, .noRest:
      .login
    case .undecodable, .noAnswer, .answerToNothing, .answerToAnother, .undefinedResult, .undefinedFlag,
      .unknownPublish, .malformedObeyed:
      .messages
    case .historyRepeated, .historyEndless: .history
    }
  }

  /// The rule, in a sentence.
  var rule: String {
    switch self {
    case .emptyFrame:
      "A frame has a header and at least one byte: a message that fills its last frame has no empty one after it."
    case .unexpectedFrame: "A frame that is not the first of a message goes on with one that has begun."
    case .unfinishedMessage: "A message is sent to its end before the next one begins."
    case .unknownKind: "The last frame of a message says that it is in clear, 1, or encrypted, 2."
    case .frameTooLong: "A lock's frames have at most 20 bytes, whatever the link could carry."
    case .messageTooLong:
      "The longest message of a lock is the answer to a registration, 80 bytes; identities may be longer, up to 128."
    case .notAuthentic:
      "An encrypted message ends in a tag that fits the session's key, its token and the counter that is due."
    case .counterJump: "The counter begins at 0 with a session, and each message has the next one."
    case .replayed: "No message is sent a second time under a counter that was used."
    case .sessionKeyReused:
      "A connection has a key of its own, which follows from the tokens of that connection."
    case .clearText:
      "In clear are the token, answers to a registration, and the refusal of a login; everything else is encrypted."
    case .keyExposed: "No message holds the owner's key or the session's."
    case .noToken: "A lock publishes its token as soon as notifications are on."
    case .beforeToken: "The token is the first thing that a lock sends."
    case .tokenRepeated: "The token of each connection is drawn anew."
    case .tokenAgain: "The token is published once in a connection."
    case .beforeLogin: "Before a login is accepted a lock publishes nothing but its token."
    case .loginRefused: "A proof by the owner's key and the connection's token is accepted."
    case .registrationRefused: "A lock that advertises that it has no owner takes one."
    case .ownerReplaced: "A lock that has an owner takes no other."
    case .outOfPlace:
      "In a registration a lock sends its answers, and publishes its login (OS2), setting and status, and nothing else."
    case .noStatus: "After a login or a registration a lock tells its setting and its status."
    case .noRest: "A status in which the motor runs is followed by one in which the bolt rests."
    case .undecodable: "A message is an answer or a publish, and has the layout of its item."
    case .noAnswer: "A request is answered."
    case .answerToNothing: "What was not asked is not answered, and what was asked once is answered once."
    case .answerToAnother: "An answer names the item of its request, and in OS2 the operation."
    case .undefinedResult:
      "A result is one of 0 to 9, and the end of a movement (OS2) one of 0 to 8."
    case .undefinedFlag: "The highest flag of a Sesame 5's status has no meaning and is not set."
    case .unknownPublish:
      "Published are the token, login (OS2), setting, status, and the delay of the door sensor (OS3)."
    case .malformedObeyed: "A request that makes no sense is refused, or passed over."
    case .historyRepeated: "A history record that was deleted is not there any more."
    case .historyEndless: "A history comes to an end: no lock holds 300 records."
    }
  }
}
