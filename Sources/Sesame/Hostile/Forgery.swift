/// A message that a sender without the session's key could send to a lock, and that a correct lock ignores.
public enum Forgery: Equatable, Sendable {
  /// The request.
  public enum Subject: String, CaseIterable, Sendable {
    case lock
    case unlock
    /// Autolock after one second.
    case autolock
    /// A reset of the lock.
    case reset
  }

  /// A request with a flaw.
  case request(Subject, MessageFlaw)
  /// The frames of the last command, repeated.
  case lastCommand
  /// The frames of all commands of the previous session.
  case lastSession
  /// The frames of the last login, in the session that it opened.
  case login
  /// A registration, in a session.
  case registration
  /// The request for an OS2 lock's identity, in a session.
  case identity
  /// A frame of no bytes.
  case emptyFrame
}

extension Forgery: CaseIterable {
  /// All forgeries, the most revealing first.
  public static var allCases: [Forgery] {
    let flaws = MessageFlaw.allCases
    return [.lastCommand, .lastSession, .login, .registration, .identity, .emptyFrame]
      + flaws.flatMap { [.request(.unlock, $0), .request(.lock, $0)] }
      + flaws.flatMap { [.request(.autolock, $0), .request(.reset, $0)] }
  }

  /// The name, such as `unlock wrong-tag`.
  public var name: String {
    switch self {
    case .request(let subject, let flaw): "\(subject.rawValue) \(flaw.rawValue)"
    case .lastCommand: "command again"
    case .lastSession: "session again"
    case .login: "login again"
    case .registration: "registration"
    case .identity: "identity"
    case .emptyFrame: "empty frame"
    }
  }
}

extension Forgery.Subject {
  func command(_ settings: ClientSettings) -> LockCommand {
    switch self {
    case .lock: .lock(settings.tag)
    case .unlock: .unlock(settings.tag)
    case .autolock: .setAutolock(seconds: 1, settings.tag)
    case .reset: .reset
    }
  }
}
