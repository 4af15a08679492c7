import Bluetooth
import Conformance
import Simulation

extension SesameClient {
  /// A login under way: the proof was sent, and the lock's answer is awaited.
  struct Login {
    var sighting: Sighting
    var session: Session
    var since: Instant
    /// Whether the proof is that of somebody else.
    var isPretended: Bool
    /// Whether the lock accepted the proof.
    var isAccepted = false
  }

  mutating func beginLogin(to sighting: Sighting, _ token: Token, _ key: LockKey, at now: Instant) {
    // Who has overheard no login yet has nothing to send again, and no key either.
    let isIgnorant = pretences.contains(.replayedLogin) && lastLogin == nil
    let secret = isIgnorant || pretences.contains(.wrongKey) ? key.secret.withOneBitFlipped : key.secret
    let message: [UInt8]
    let cipher: SessionCipher
    switch sighting.generation {
    case .os2:
      guard let lockKey = key.lockPublicKey else { return }
      let pair = ownPair()
      // What is sent again was made with the token of its own time, and so would the answer be.
      let isReplay = pretences.contains(.replayedLogin)
      let appToken = (isReplay ? lastAppToken : nil) ?? secrets.token()
      lastAppToken = appToken
      guard let shared = try? pair.sharedSecret(with: lockKey) else { return }
      let sessionToken = SessionToken.os2(app: appToken, lock: token)
      let payload = OS2Keys.loginPayload(
        keyIndex: key.index, publicKey: pair.publicKey, appToken: appToken, lockToken: token)
      let proof = secret.cmac(payload).proof
      let login = LoginCommand.os2(keyIndex: key.index, pair.publicKey, appToken: appToken, proof)
      message = Command.login(login).encoded(for: .os2)
      cipher = SessionCipher(
        key: OS2Keys.loginSessionKey(shared, sessionToken), token: sessionToken, end: .app)
    case .os3:
      let sessionKey = OS3Keys.sessionKey(deviceSecret: key.secret, token)
      let pretended = secret == key.secret ? sessionKey : OS3Keys.sessionKey(deviceSecret: secret, token)
      message = Command.login(.os3(pretended.proof)).encoded(for: .os3)
      // Whoever only pretends to have another key still reads what a lock answers to it.
      cipher = SessionCipher(key: sessionKey, token: .os3(token), end: .app)
    }
    let proof = pretences.contains(.replayedLogin) ? lastLogin ?? message : message
    lastLogin = message
    eavesdropper.beginSession()
    sendInClear(proof)
    let session = Session(sighting: sighting, cipher: cipher)
    state = .logining(
      Login(sighting: sighting, session: session, since: now, isPretended: !pretences.isEmpty))
    show(.logining)
  }

  mutating func receive(_ message: SegmentedMessage, in login: Login, at now: Instant) {
    var login = login
    defer { if case .logining = state { state = .logining(login) } }
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
      actions.append(
        .complain(
          .answerToAnother, of: "\(response.item)",
          "an answer to \(response.item), where a login was asked for", packet: response.encoded))
    case .publish(let publish) where publish.item == .initial:
      repeatToken(publish)
    case .publish(let publish):
      guard login.isAccepted else {
        actions.append(
          .complain(
            .beforeLogin, of: "\(publish.item)", "\(publish.item) before the login was accepted",
            packet: publish.encoded))
        return
      }
      login.session.take(publish, &actions)
      finish(login)
    }
  }

  private mutating func accept(_ response: Response, in login: inout Login, at now: Instant) {
    guard response.result == .success else {
      actions.append(.report(Reading("login", .text(response.result.description))))
      let explanation = "the lock refused the login: \(response.result)"
      // Who pretends to have another key is refused with reason.
      if !login.isPretended {
        actions.append(.complain(.loginRefused, explanation, packet: response.encoded))
      }
      leave(disconnecting: true, because: Explanation(SesameViolation.loginRefused.rawValue, explanation))
      return
    }
    login.isAccepted = true
    do {
      let lockTime: UInt32
      switch login.sighting.generation {
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
      actions.append(
        .complain(
          .undecodable, of: "login", "a login answer that does not decode, \(error)", packet: response.encoded
        ))
      return
    }
    finish(login)
  }

  /// The vendor's clients set the lock's clock when it is more than three seconds off.
  private mutating func setTime(ifFarFrom lockTime: UInt32, in session: inout Session, at now: Instant) {
    let time = unixTime(at: now)
    guard max(time, lockTime) - min(time, lockTime) > 3 else { return }
    send(.setTime(time), in: &session, isAsked: false, at: now)
  }

  /// Opens the session once the lock said where its bolt rests; a running motor is waited for.
  private mutating func finish(_ login: Login) {
    guard login.isAccepted, let status = login.session.restingStatus else { return }
    state = .open(login.session)
    show(status)
  }
}

extension SecretKey {
  /// A key that is wrong by the least that can be wrong.
  fileprivate var withOneBitFlipped: SecretKey {
    SecretKey(Words(first: words.first ^ 1, second: words.second))
  }
}
