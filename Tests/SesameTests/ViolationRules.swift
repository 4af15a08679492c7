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
      "A frame has a header and at least one byte. No empty frame follows a message that fills its last "
        + "frame."
    case .unexpectedFrame: "A frame that does not start a message continues one that has started."
    case .unfinishedMessage: "A message is complete before the next one starts."
    case .unknownKind: "The last frame of a message states its kind: 1, clear text, or 2, encrypted."
    case .frameTooLong: "The frames of a lock have at most 20 bytes, even if the link allows more."
    case .messageTooLong:
      "The longest message of a lock is the answer to a registration, 80 bytes. Identities may have up "
        + "to 128 bytes."
    case .notAuthentic:
      "An encrypted message ends in a tag that matches the key of the session, its token and the next "
        + "counter."
    case .counterJump: "The counter starts at 0 in each session and increases by one with each message."
    case .replayed: "No message is sent again with a counter that was already used."
    case .sessionKeyReused:
      "Each connection has its own session key, derived from the tokens of the connection."
    case .clearText:
      "Only the token, answers to a registration and the refusal of a login are in clear text; "
        + "everything else is encrypted."
    case .keyExposed: "No message contains the owner's key or the session key."
    case .noToken: "A lock publishes its token as soon as notifications are enabled."
    case .beforeToken: "The token is the first message that a lock sends."
    case .tokenRepeated: "Each connection has a new random token."
    case .tokenAgain: "A lock publishes its token only once in a connection."
    case .beforeLogin: "Until it has accepted a login, a lock publishes only its token."
    case .loginRefused:
      "A lock accepts a proof that was computed from the owner's key and the token of the connection."
    case .registrationRefused: "A lock that advertises that it has no owner accepts a registration."
    case .ownerReplaced: "A lock that has an owner accepts no other owner."
    case .outOfPlace:
      "During a registration, a lock sends only its answers, and publishes only its login (OS2), "
        + "setting and status."
    case .noStatus: "After a login or a registration, a lock publishes its setting and its status."
    case .noRest: "A status with a running motor is followed by one in which the bolt rests."
    case .undecodable: "Each message is an answer or a publish, and has the layout of its item."
    case .noAnswer: "A lock answers every request."
    case .answerToNothing: "A lock sends no answer without a request, and only one answer to each request."
    case .answerToAnother: "An answer names the item of its request, and in OS2 also the operation."
    case .undefinedResult:
      "A result is a number from 0 to 9; the end of a movement (OS2) is a number from 0 to 8."
    case .undefinedFlag: "The highest flag in the status of a Sesame 5 has no meaning and is not set."
    case .unknownPublish:
      "A lock publishes only the token, login (OS2), setting, status and the delay of the door sensor "
        + "(OS3)."
    case .malformedObeyed: "A lock refuses or ignores an invalid request."
    case .historyRepeated: "A deleted history record does not appear again."
    case .historyEndless: "A history has an end: no lock holds 300 records."
    }
  }
}
