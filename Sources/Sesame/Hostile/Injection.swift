/// An input to a lock that no client sends: in place of the client's own message, beside it, or by itself.
///
/// The sender announces it, so that the lock's reaction can be judged.
public enum Injection: Equatable, Sendable {
  /// A login without the proof of the owner's key.
  case falseProof(FalseProof)
  /// The login of an earlier session, in place of the client's own.
  case replayedLogin
  case forgery(Forgery)
  case replay(Replay)
  /// A copy of the client's next message with a flaw, in addition to it.
  case shadow(MessageFlaw)
  /// The client's next message with a flaw.
  case mutation(MessageFlaw)
  /// The lock's last message, sent back to it.
  case reflection
  case request(UndefinedRequest)
}

extension Injection {
  /// Whether a lock may end the link because of it. An altered message is the tester's tampering, and a false
  /// proof is a login: neither counts.
  public var isProvocation: Bool {
    switch self {
    case .forgery, .replay, .shadow, .request: true
    case .falseProof, .replayedLogin, .mutation, .reflection: false
    }
  }

  /// Whether it attempts to open a session: its effect ends with the connection.
  public var opensSession: Bool {
    switch self {
    case .falseProof, .replayedLogin: true
    case .forgery, .replay, .shadow, .mutation, .reflection, .request: false
    }
  }
}

extension Forgery.Subject {
  /// The items under which a lock of either generation answers the request.
  public var items: [ItemCode] {
    switch self {
    case .lock: [.lock]
    case .unlock: [.unlock]
    case .autolock: [.autolock]
    // OS2 deletes its registration.
    case .reset: [.reset, .registration]
    }
  }
}

extension MessageFlaw {
  /// The flaw as text after its subject: `an unlock`, `in clear`.
  var words: String {
    switch self {
    case .inClear: "in clear"
    case .wrongTag: "with a wrong tag"
    case .wrongKey: "sealed with another key"
    case .oldKey: "sealed with the key of a former owner"
    case .nextCounter: "sealed with the counter of the message after it"
    case .previousCounter: "sealed with the counter of the message before it"
    case .firstCounter: "sealed with the counter of the first message"
    case .cutByOne: "without its last byte"
    case .cutByFour: "without its last four bytes"
    case .cutToNothing: "of which only a header is left"
    case .extended: "with a byte too many"
    case .kind3, .kind4, .kind5, .kind63, .kind127: "in clear, in a frame of \(rawValue.replacingHyphen)"
    case .noBeginning: "with a wrong tag, whose first frame goes on with a message"
    case .noEnd: "with a wrong tag, whose last frame says that more follow"
    case .swapped: "with a wrong tag, whose frames come in the wrong order"
    case .tooLong: "longer than any message of a lock"
    }
  }
}

extension FalseProof {
  /// The login as text.
  var words: String {
    switch self {
    case .wrongSecret: "a login with the proof of another secret"
    case .wrongBit: "a login whose proof has one bit inverted"
    case .zeros: "a login whose proof is zeros"
    case .cut: "a login whose proof lacks its last byte"
    case .empty: "a login without a proof"
    case .oldKey: "a login with the key from before the last reset"
    case .registration: "a registration of a lock that has an owner"
    }
  }
}

extension Forgery.Subject {
  fileprivate var words: String {
    switch self {
    case .lock: "a lock"
    case .unlock: "an unlock"
    case .autolock: "an autolock of one second"
    case .reset: "a reset"
    }
  }
}

extension Forgery {
  fileprivate var words: String {
    switch self {
    case .request(let subject, let flaw): "\(subject.words) \(flaw.words)"
    case .lastCommand: "the last command once more"
    case .lastSession: "all commands of the session before"
    case .login: "the login of the session once more, in the session"
    case .registration: "a registration in a session"
    case .identity: "a request for the identity in a session"
    case .emptyFrame: "a frame of no bytes"
    }
  }
}

extension Replay {
  fileprivate var words: String {
    switch part {
    case .everything: "all messages of \(self) once more"
    case .login, .message: "\(self) once more"
    }
  }
}

extension Injection: CustomStringConvertible {
  /// The injection as text: `an unlock in clear`.
  public var description: String {
    switch self {
    case .falseProof(let proof): proof.words
    case .replayedLogin: "the login of an earlier session"
    case .forgery(let forgery): forgery.words
    case .replay(let replay): replay.words
    case .shadow(let flaw): "a copy of the client's message \(flaw.words)"
    case .mutation(let flaw): "the client's message \(flaw.words)"
    case .reflection: "the lock's own last message"
    case .request(let request): "the request \(request.rawValue)"
    }
  }
}

extension String {
  fileprivate var replacingHyphen: String { String(map { $0 == "-" ? " " : $0 }) }
}
