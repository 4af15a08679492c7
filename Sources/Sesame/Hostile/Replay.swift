/// A replay by an eavesdropper: some of the client's earlier messages, unchanged.
///
/// | text | what is sent |
/// |---|---|
/// | `message 2` | the second encrypted message of this session |
/// | `message -1` | the last one; `-2` the one before it |
/// | `message 2 of session -1` | that of the session before; `-2` is the one before that |
/// | `login of session -1` | the login that opened it, if one did |
/// | `session -1` | all of it, from the login on |
///
/// A session counts if it had a message. The first and the last sixteen messages of a session are recorded, and the
/// last four sessions. A message of the current session is replayed only once the lock has answered it or a later
/// one, and so has certainly received it.
public struct Replay: Equatable, Sendable {
  /// The part of a session that is sent.
  public enum Part: Equatable, Sendable {
    case everything
    case login
    /// One message, by its position from 1; negative numbers count from the end.
    case message(Int)
  }

  public var part: Part
  /// The session: 0 is the current one, -1 the one before.
  public var session: Int

  /// Makes a replay.
  public init(_ part: Part, ofSession session: Int = 0) {
    self.part = part
    self.session = session
  }

  /// Reads a replay such as `message 2 of session -1`; `nil` if the text is invalid.
  public init?(_ text: String) {
    var words = text.split(separator: " ")
    var session = 0
    if words.count > 2, words.suffix(3).prefix(2) == ["of", "session"] {
      guard let number = Int(words[words.count - 1]), number < 0 else { return nil }
      session = number
      words.removeLast(3)
    }
    let number = words.count == 2 ? Int(words[1]) ?? 0 : 0
    switch (words.first, words.count) {
    case ("login", 1): self.init(.login, ofSession: session)
    case ("message", 2) where number != 0: self.init(.message(number), ofSession: session)
    case ("session", 2) where number < 0 && session == 0: self.init(.everything, ofSession: number)
    default: return nil
    }
  }
}

extension Replay: CaseIterable, CustomStringConvertible {
  /// The replays that generated tests use, the most revealing first.
  public static var allCases: [Replay] {
    let places: [Part] = [.message(1), .message(-1), .message(2), .login, .everything]
    return [Replay(.message(1)), Replay(.message(-2)), Replay(.message(-1)), Replay(.message(2))]
      + [-1, -2, -3].flatMap { session in places.map { Replay($0, ofSession: session) } }
  }

  /// The text form; parsing it gives an equal replay.
  public var description: String {
    let origin = session == 0 ? "" : " of session \(session)"
    switch part {
    case .everything: return "session \(session)"
    case .login: return "login" + origin
    case .message(let place): return "message \(place)" + origin
    }
  }
}
