import Bluetooth

/// A forged frame that a correct client ignores.
///
/// Frames that a client must accept, such as an authentic status that is false, are excluded.
public enum Spoof: String, CaseIterable, Sendable {
  /// A status in clear.
  case statusInClear = "status-in-clear"
  /// The answer to an unlock, in clear.
  case answerInClear = "answer-in-clear"
  /// A second token.
  case tokenAgain = "token-again"
  /// The last message, repeated.
  case messageAgain = "message-again"
  /// The client's own last command.
  case reflected
  /// The last message with another tag.
  case wrongTag = "wrong-tag"
  /// The last message without its last byte.
  case cut
  /// A message of an undefined kind.
  case kind3 = "kind-3"
  case emptyFrame = "empty frame"
  /// A message of no bytes.
  case emptyMessage = "empty message"
  /// An authentic answer without a request.
  case answerToNothing = "answer-to-nothing"
  /// An authentic answer to a request that the client did not make, as if it had.
  case answerToAnother = "answer-to-another"
  /// An authentic answer with an undefined result.
  case unknownResult = "unknown-result"
  /// An authentic publish of an unknown item.
  case unknownItem = "unknown-item"
  /// An authentic message that is neither an answer nor a publish.
  case unknownOperation = "unknown-operation"
  /// An authentic status of two bytes.
  case shortStatus = "short-status"
  /// An authentic login publish in the middle of a session.
  case loginPublish = "login-publish"
  /// An authentic message of no bytes.
  case nothing
}

extension Spoof {
  /// The contents of an authentic message; `nil` for one that the session's cipher rejects.
  ///
  /// - Parameter asked: the items of the pending requests.
  func authentic(for generation: Generation, besides asked: [ItemCode]) -> [UInt8]? {
    switch self {
    case .answerToNothing: [7, 0xFA, 6, 0]
    case .answerToAnother:
      [LockCommand.lock(.absent), .unlock(.absent), .readVersion, .setTime(0), .setAutolock(seconds: 0)]
        .map { $0.request(for: generation) }.first { !asked.contains($0.item) }
        .map { Response(to: $0).encoded } ?? []
    case .unknownResult: [7, 0xFA, 0xC8, 0xC8]
    case .unknownItem: [8, 0xFA, 1, 2, 3]
    case .unknownOperation: [0x63, 0x52, 0]
    case .shortStatus: [8, 81, 0]
    case .loginPublish: [8, 2] + [UInt8](repeating: 0, count: 28)
    case .nothing: []
    case .statusInClear, .answerInClear, .tokenAgain, .messageAgain, .reflected, .wrongTag, .cut, .kind3,
      .emptyFrame, .emptyMessage:
      nil
    }
  }
}
