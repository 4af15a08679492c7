import Bluetooth

/// What is open between a client and its lock, as far as those who stand around the client need to know.
public struct SessionView: Sendable {
  /// How far they have come: from no link, over the token that is awaited, to a lock that forgot its owner.
  enum Phase { case away, waiting, ready, registering, logining, open, forgotten }

  var phase = Phase.away
  var generation = Generation.os3
  /// The token of a lock that has no owner yet.
  var token: Token?
  /// The current cipher of the session; `nil` without one.
  public internal(set) var cipher: SessionCipher?
  /// The last secret that was the lock's before a reset, and is not now.
  var oldSecret: SecretKey?
  /// The login whose answer is awaited.
  var login: ShownLogin?
  /// Whether the client has shown a proof, or what is to pass for one.
  public internal(set) var hasShownProof = false
  /// Whether a session is open, or about to be. Without a proof it is neither: the lock may still wait for a login.
  var isOpening = false
  /// Whether the lock may take a login in the session: then another's proof would end the link.
  var mayLogIn = false
  /// What the client waits for an answer to, in an open session; `nil` also while the lock is to forget its owner.
  var asked: [ItemCode]?
  /// How many messages of the session the lock has surely taken: it answered the last of them.
  var confirmed: UInt64 = 0

  /// Whether there is a lock that can be spoken to.
  var isConnected: Bool { phase != .away && phase != .forgotten }

  /// Whether a session is open, or a login is to open one.
  var hasSession: Bool { phase == .logining || phase == .open }

  /// The cipher as it would be with the secret from before the last reset, ready for the message of a counter; `nil`
  /// where none is known, and in OS2, whose session keys do not follow from it.
  func oldCipher(at counter: UInt64) -> SessionCipher? {
    guard let oldSecret, case .os3(let token)? = cipher?.token ?? token.map({ .os3($0) }), generation == .os3
    else { return nil }
    let key = OS3Keys.sessionKey(deviceSecret: oldSecret, token)
    var old = SessionCipher(key: key, token: .os3(token), end: .app)
    old.sendCounter = counter
    return old
  }
}

/// A login, as a client made it.
public struct ShownLogin: Equatable, Sendable {
  /// Its bytes, with the proof of the key that it was made with.
  var message: [UInt8]
  /// Whether the client intends to be refused: it showed another proof, or that of another key.
  var isFalse: Bool
}

extension SesameClient {
  /// What is open between the client and its lock.
  public var view: SessionView {
    var view = SessionView(oldSecret: oldKey?.secret)
    switch state {
    case .away, .seeking, .heard, .connecting: break
    case .waiting(let seen, _): (view.phase, view.generation) = (.waiting, seen.generation)
    case .ready(let seen, let token):
      (view.phase, view.generation, view.token) = (.ready, seen.generation, token)
    case .registering(let registration):
      (view.phase, view.generation) = (.registering, registration.seen.generation)
      (view.cipher, view.hasShownProof) = (registration.session?.cipher, status == .logining)
    case .logining(let login):
      (view.phase, view.generation, view.login) = (.logining, login.seen.generation, login.shown)
      (view.hasShownProof, view.isOpening) = (true, !login.isPretended)
      (view.cipher, view.confirmed) = (login.session.cipher, login.session.confirmed)
    case .open(let session):
      (view.phase, view.generation) = (.open, session.generation)
      (view.hasShownProof, view.isOpening, view.mayLogIn) = (true, true, session.isOfRegistration)
      (view.cipher, view.confirmed) = (session.cipher, session.confirmed)
      view.asked = session.isResetting ? nil : session.pending.map(\.request.item)
    case .forgotten: view.phase = .forgotten
    }
    return view
  }

  /// The cipher of the session, as far as there is one.
  var cipher: SessionCipher? { view.cipher }
}
