import Bluetooth
import Basics

extension SesameClient {
  /// A login in progress: the proof was sent, and the lock's answer is awaited.
  struct Login {
    var seen: SeenAdvertisement
    var session: Session
    var since: Instant
    var shown: ShownLogin
    /// Whether the proof was made with another key than the lock's, or with one that may be invalid by now.
    var isPretended: Bool
    /// Whether the lock accepted the proof.
    var isAccepted = false
    /// The session of the registration on the same connection, in which messages of the lock may still arrive, and
    /// with which an OS2 client continues if the lock ignores the login.
    var registration: Session?
    /// When the client continues with that session if no answer to the login has arrived.
    var end: Instant? { isAccepted ? nil : lastChance }
    var lastChance: Instant?
  }

  mutating func beginLogin(to seen: SeenAdvertisement, _ token: Token, _ key: LockKey, at now: Instant) {
    let falseProof = misbehaviour.falseProof
    let overheard = misbehaviour.replaysLogin ? misbehaviour.overheard : nil
    let replayed = overheard.flatMap { $0.isFalse ? nil : $0.message }
    // Without a recorded login there is nothing to replay, and no key either.
    let isIgnorant = misbehaviour.replaysLogin && replayed == nil
    let isWrong = falseProof == .wrongSecret || (falseProof == .oldKey && oldKey == nil)
    var prover = key
    if isIgnorant || isWrong {
      prover.secret = key.secret.withOneBitFlipped
    } else if falseProof == .oldKey, let oldKey {
      prover.secret = oldKey.secret
    }
    // A replayed login was made with the token of its own time, and so would the answer be.
    guard let login = login(of: prover, to: seen, token, appToken: overheard?.appToken) else { return }
    var cipher = login.cipher
    if seen.generation == .os3, isIgnorant || isWrong {
      // A client that only pretends to have another key can still decrypt the lock's answer.
      cipher = SessionCipher(
        key: OS3Keys.sessionKey(deviceSecret: key.secret, token), token: .os3(token), end: .app)
    }
    isReflected = false
    if replayed != nil {
      actions.append(.inject(.replayedLogin))
    } else if !misbehaviour.isNone {
      actions.append(.inject(.falseProof(isIgnorant || isWrong ? .wrongSecret : falseProof ?? .wrongSecret)))
    }
    sendInClear(replayed ?? falseProof?.login(insteadOf: login.message) ?? login.message)
    state = .logining(
      Login(
        seen: seen, session: Session(seen: seen, cipher: cipher), since: now,
        shown: ShownLogin(message: login.message, isFalse: !misbehaviour.isNone),
        isPretended: !misbehaviour.isNone || !isKeySure))
  }

  /// Sends a login with a key, without expecting a particular answer.
  mutating func send(loginOf key: LockKey, to seen: SeenAdvertisement, _ token: Token) {
    guard let login = login(of: key, to: seen, token, appToken: nil) else { return }
    actions.append(.inject(.falseProof(.oldKey)))
    sendInClear(login.message)
  }

  /// A login with a key, and the cipher of the session that it opens.
  ///
  /// - Parameter appToken: the app's token of OS2; drawn if it is `nil`.
  private mutating func login(
    of key: LockKey, to seen: SeenAdvertisement, _ token: Token, appToken: Token?
  ) -> (message: [UInt8], cipher: SessionCipher)? {
    switch seen.generation {
    case .os2:
      guard let lockKey = key.lockPublicKey else { return nil }
      let pair = ownPair()
      let appToken = appToken ?? secrets.token()
      guard let shared = try? pair.sharedSecret(with: lockKey) else { return nil }
      let sessionToken = SessionToken.os2(app: appToken, lock: token)
      let payload = OS2Keys.loginPayload(
        keyIndex: key.index, publicKey: pair.publicKey, appToken: appToken, lockToken: token)
      let login = LoginCommand.os2(
        keyIndex: key.index, pair.publicKey, appToken: appToken, key.secret.cmac(payload).proof)
      let cipher = SessionCipher(
        key: OS2Keys.loginSessionKey(shared, sessionToken), token: sessionToken, end: .app)
      return (LockCommand.login(login).encoded(for: .os2), cipher)
    case .os3:
      let sessionKey = OS3Keys.sessionKey(deviceSecret: key.secret, token)
      let cipher = SessionCipher(key: sessionKey, token: .os3(token), end: .app)
      return (LockCommand.login(.os3(sessionKey.proof)).encoded(for: .os3), cipher)
    }
  }

  mutating func receive(_ message: SegmentedMessage, in login: Login, at now: Instant) {
    var login = login
    defer { if case .logining = state { state = .logining(login) } }
    if receive(afterRegistration: message, in: &login) { return }
    guard
      let message = login.session.open(
        message, beforeLogin: !login.isAccepted, secret: key?.secret, former: formerCipher, &actions)
    else { return }
    switch message {
    case .response(let response) where response.item == .login:
      accept(response, in: &login, at: now)
    case .response(let response) where login.isAccepted:
      answer(response, in: &login.session, at: now)
    case .response(let response):
      actions.reportViolation(
        .answerToAnother, of: "\(response.item)",
        "an answer to \(response.item), where a login was asked for", packet: response.encoded)
    case .publish(let publish) where publish.item == .initial:
      repeatToken(publish)
    case .publish(let publish):
      guard login.isAccepted else {
        actions.reportViolation(
          .beforeLogin, of: "\(publish.item)", "\(publish.item) before the login was accepted",
          packet: publish.encoded)
        return
      }
      login.session.take(publish, &actions)
      finish(login)
    }
  }

  /// Processes messages of the registration's session that the lock sent before it received the login: in OS3 both
  /// sessions have the same key, and only the answer to the login begins the new one.
  private mutating func receive(
    afterRegistration message: SegmentedMessage, in login: inout Login
  ) -> Bool {
    guard !login.isAccepted, message.kind == .ciphertext, var former = login.registration else {
      return false
    }
    let generation = login.seen.generation
    var fresh = login.session.cipher
    if let bytes = try? fresh.decrypt(message.bytes),
      case .response(let response)? = try? LockMessage(decoding: bytes, for: generation),
      response.item == .login
    {
      return false
    }
    guard let bytes = try? former.cipher.decrypt(message.bytes) else { return false }
    let decoded = try? LockMessage(decoding: bytes, for: generation)
    if case .publish(let publish)? = decoded {
      // The lock repeats this status after the login; it counts if the login is ignored.
      var discardedActions: [ClientAction] = []
      former.take(publish, &discardedActions)
    }
    login.registration = former
    return decoded != nil
  }

  /// Continues without an answer to a login on the connection of its registration.
  ///
  /// For OS2 such a login is not documented: the lock may ignore it, and then the session is that of the
  /// registration.
  mutating func skip(_ login: Login, _ detail: String, at now: Instant) {
    guard var session = login.registration, let status = session.restingStatus else { return }
    actions.reportViolation(
      .noAnswer, of: ProtocolViolation.afterRegistration, detail, packet: login.shown.message, from: .app)
    send(.setTime(unixTime(at: now)), in: &session, isAsked: false, at: now)
    session.isOfRegistration = true
    state = .open(session)
    show(status)
  }

  private mutating func accept(_ response: Response, in login: inout Login, at now: Instant) {
    guard response.result == .success else {
      if login.end != nil {
        return skip(
          login, "login on the connection of the registration is refused: \(response.result)", at: now)
      }
      actions.append(.report(.login(response.result)))
      let explanation = "the lock refused the login: \(response.result)"
      // A client that pretends to have another key is refused rightly.
      if !login.isPretended {
        actions.reportViolation(.loginRefused, explanation, packet: response.encoded)
      }
      leave(
        disconnecting: true, because: ClientExplanation(SesameViolation.loginRefused.rawValue, explanation))
      return
    }
    login.isAccepted = true
    do {
      let lockTime: UInt32
      switch login.seen.generation {
      case .os2:
        let payload = try LoginPayload(decoding: response.data, model: login.session.model)
        lockTime = payload.time
        login.session.setting = payload.setting
        login.session.take(status: payload.status, &actions)
      case .os3:
        var reader = ByteReader(response.data.span)
        lockTime = try reader.u32()
      }
      setTime(ifFarFrom: lockTime, in: &login.session, at: now)
    } catch {
      actions.reportViolation(
        .undecodable, of: "login", "a login answer that does not decode, \(error)", packet: response.encoded)
      return
    }
    finish(login)
  }

  /// Sets the lock's clock if it is more than three seconds off, as the vendor's clients do.
  private mutating func setTime(ifFarFrom lockTime: UInt32, in session: inout Session, at now: Instant) {
    let time = unixTime(at: now)
    guard max(time, lockTime) - min(time, lockTime) > 3 else { return }
    actions.append(.report(.time(moment(ofUnixMilliseconds: UInt64(lockTime) * 1000))))
    send(.setTime(time), in: &session, isAsked: false, at: now)
  }

  /// Opens the session once the lock has reported a resting bolt; a running motor is awaited.
  private mutating func finish(_ login: Login) {
    guard login.isAccepted, let status = login.session.restingStatus else { return }
    state = .open(login.session)
    show(status)
  }
}

extension SecretKey {
  /// The key with one bit inverted.
  fileprivate var withOneBitFlipped: SecretKey {
    SecretKey(Words(first: words.first ^ 1, second: words.second))
  }
}

extension ShownLogin {
  /// The app's token in a login of OS2.
  fileprivate var appToken: Token? {
    guard case .login(.os2(_, _, let token, _))? = try? LockCommand(decoding: message, for: .os2)
    else { return nil }
    return token
  }
}
