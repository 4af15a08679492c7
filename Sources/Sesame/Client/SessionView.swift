import Bluetooth

/// A view of the state between a client and its lock, for those that tamper with it.
public struct SessionView: Sendable {
  /// The progress of the connection, from no link to a lock that deleted its owner.
  enum Phase { case away, waiting, ready, registering, logining, open, forgotten }

  var phase = Phase.away
  var generation = Generation.os3
  /// The token of a lock without an owner.
  var token: Token?
  /// The current cipher of the session; `nil` without one.
  public internal(set) var cipher: SessionCipher?
  /// The last secret that was valid before a reset and is invalid now.
  var oldSecret: SecretKey?
  /// The login whose answer is awaited.
  var login: ShownLogin?
  /// Whether the client has sent a proof, or a substitute.
  public internal(set) var hasShownProof = false
  /// Whether a session is open, or about to be. Without a proof it is neither: the lock may still wait for a
  /// login.
  var isOpening = false
  /// Whether the lock may accept a login in the session: a false proof would then end the link.
  var mayLogIn = false
  /// The items of the pending requests in an open session; `nil` also while the lock is about to delete its
  /// owner.
  var asked: [ItemCode]?
  /// The number of messages that the lock has certainly received: it answered the last of them.
  var confirmed: UInt64 = 0

  /// Whether there is a connected lock.
  var isConnected: Bool { phase != .away && phase != .forgotten }

  /// Whether a session is open, or a login is about to open one.
  var hasSession: Bool { phase == .logining || phase == .open }

  /// The cipher with the secret from before the last reset, ready for the message of a counter; `nil` if
  /// there is none, and in OS2, where session keys do not depend on the secret.
  func oldCipher(at counter: UInt64) -> SessionCipher? {
    guard let oldSecret, case .os3(let token)? = cipher?.token ?? token.map({ .os3($0) }), generation == .os3
    else { return nil }
    let key = OS3Keys.sessionKey(deviceSecret: oldSecret, token)
    var old = SessionCipher(key: key, token: .os3(token), end: .app)
    old.sendCounter = counter
    return old
  }
}

/// A login that a client made.
public struct ShownLogin: Equatable, Sendable {
  /// Its bytes, with the proof.
  var message: [UInt8]
  /// Whether it must be refused: its proof is false, or that of another key.
  var isFalse: Bool
}

extension SesameClient {
  /// The current view of the client's state.
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

  /// The cipher of the session, if there is one.
  var cipher: SessionCipher? { view.cipher }
}
