/// The messages that an eavesdropper has recorded and can replay.
struct Eavesdropper: Sendable {
  /// The client's messages of a session.
  struct Conversation: Sendable {
    /// The login that opened it.
    var login: ShownLogin?
    /// The number of messages, which is the counter of the next one.
    var count: UInt64 = 0
    /// The frames of the first and of the last messages, by their counters.
    var messages: [(counter: UInt64, frames: [[UInt8]])] = []
    /// Whether the lock may have accepted one of its own messages as one of these.
    var isReflected = false
  }

  var session = Conversation()
  /// The latest sessions with messages, the oldest first.
  private var earlier: [Conversation] = []
  /// The client's latest login, valid or not.
  private(set) var lastLogin: ShownLogin?
  /// The frames of the last message of the lock.
  var lastReceived: [[UInt8]] = []

  private static let (maximumSessions, maximumMessages) = (4, 32)

  mutating func beginSession(_ login: ShownLogin?) {
    if session.count > 0 { earlier = earlier.suffix(Self.maximumSessions - 1) + [session] }
    session = Conversation(login: login)
    if let login { lastLogin = ShownLogin(message: login.message, isFalse: false) }
  }

  /// Records the next message of the session.
  mutating func record(_ frames: [[UInt8]]) {
    session.messages.append((session.count, frames))
    session.count += 1
    // Messages in the middle are the least useful.
    if session.messages.count > Self.maximumMessages { session.messages.remove(at: Self.maximumMessages / 2) }
  }

  /// An earlier session; -1 is the one before the current.
  func earlier(_ number: Int) -> Conversation? {
    let index = earlier.count + number
    return number < 0 && index >= 0 ? earlier[index] : nil
  }
}

extension Eavesdropper.Conversation {
  /// The frames of the message at a position, from 1; negative numbers count from the end.
  ///
  /// - Parameter limit: the counter from which on messages are excluded.
  func frames(at position: Int, below limit: UInt64) -> [[UInt8]] {
    let taken = messages.filter { $0.counter < limit }
    let index = position > 0 ? position - 1 : taken.count + position
    return taken.indices.contains(index) ? taken[index].frames : []
  }

  /// The frames of the login, as sent; none if another one was sent.
  var loginFrames: [[UInt8]] {
    guard let login, !login.isFalse else { return [] }
    return Segmenter().frames(of: login.message, .plaintext)
  }

  /// The frames of all messages.
  var allFrames: [[UInt8]] { messages.flatMap(\.frames) }
}
