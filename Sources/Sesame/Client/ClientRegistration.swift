import Bluetooth
import Basics

extension SesameClient {
  /// A registration in progress.
  struct Registration {
    var seen: SeenAdvertisement
    var token: Token
    var since: Instant
    /// The session it opens, once its key is known.
    var session: Session?
    /// The key to store once the lock has accepted it.
    var key: LockKey?
    /// OS2: the lock answered; its login publish may come before or after.
    var isAnswered = false
    var isPublished = false
    /// Whether the lock has accepted its new owner, by its messages so far.
    var isDone: Bool { session != nil && (seen.generation == .os3 || isAnswered && isPublished) }
    /// Whether the client logs in afterwards, on the same connection.
    var logsIn = false
    /// Whether a lock with an owner may ignore it: for OS2, no source documents an answer to the request for
    /// the identity or to the registration after it.
    var mayBeIgnored: Bool { seen.generation == .os2 && !isAnswered && !isPublished }
  }

  mutating func beginRegistration(
    of seen: SeenAdvertisement, _ token: Token, thenLogin logsIn: Bool = false, at now: Instant
  ) {
    let command: LockCommand =
      switch seen.generation {
      case .os2: .readIdentity
      case .os3: .register(.os3(ownPair().publicKey, time: unixTime(at: now)))
      }
    isReflected = false
    // The registration of a lock whose key the client has replaces a proof.
    if key != nil { actions.append(.inject(.falseProof(.registration))) }
    sendInClear(command.encoded(for: seen.generation))
    state = .registering(Registration(seen: seen, token: token, since: now, logsIn: logsIn))
  }

  mutating func receive(_ message: SegmentedMessage, in registration: Registration, at now: Instant) {
    var registration = registration
    defer { if case .registering = state { state = .registering(registration) } }
    let bytes: [UInt8]
    if message.kind == .ciphertext {
      guard registration.session != nil else {
        actions.reportViolation(
          .notAuthentic, of: ProtocolViolation.beforeKey,
          "an encrypted message in a registration, before there is a key", packet: message.bytes)
        return
      }
      let plain = registration.session?.decrypt(message.bytes, former: formerCipher, &actions)
      guard let plain else { return }
      bytes = plain
      checkForKeys(in: plain)
    } else {
      bytes = message.bytes
    }
    do {
      let decoded = try LockMessage(decoding: bytes, for: registration.seen.generation)
      if case .publish(let publish) = decoded, publish.item == .initial { return repeatToken(publish) }
      switch registration.seen.generation {
      case .os2: try receiveOS2(decoded, message.kind, in: &registration, at: now)
      case .os3: try receiveOS3(decoded, message.kind, in: &registration, at: now)
      }
    } catch {
      actions.reportViolation(
        .undecodable, "a message in a registration that does not decode, \(error)", packet: bytes)
    }
  }

  private mutating func receiveOS2(
    _ message: LockMessage, _ kind: MessageKind, in registration: inout Registration, at now: Instant
  ) throws(DecodeError) {
    switch message {
    case .response(let response) where response.item == .identity && registration.session == nil:
      try answer(identity: response, in: &registration)
    case .response(let response) where response.item == .registration && registration.session != nil:
      guard response.result == .success else { return refused(response) }
      registration.isAnswered = true
    case .publish(let publish) where publish.item == .login && kind == .ciphertext:
      let payload = try LoginPayload(decoding: publish.data, model: registration.seen.advertisement.model)
      registration.session?.setting = payload.setting
      registration.session?.take(status: payload.status, &actions)
      registration.isPublished = true
    case .publish(let publish) where kind == .ciphertext:
      registration.session?.take(publish, &actions)
    case .response, .publish:
      reportViolation(ofMisplaced: message, kind)
    }
    guard registration.isAnswered, registration.isPublished, var session = registration.session else {
      return
    }
    if !registration.logsIn { send(.setTime(unixTime(at: now)), in: &session, isAsked: false, at: now) }
    registration.session = session
    finish(registration, at: now)
  }

  /// Does the work of the vendor's server: derives the lock's key pair from the lock's identity, and signs.
  private mutating func answer(
    identity response: Response, in registration: inout Registration
  ) throws(DecodeError) {
    guard response.result == .success else { return refused(response) }
    let identity = try Identity(decoding: response.data)
    let advertisement = registration.seen.advertisement
    let pair = ownPair()
    guard
      let reply = OS2RegistrationServer.register(
        pair.publicKey, lockToken: registration.token, er: identity.er, drawingFrom: &secrets)
    else {
      throw DecodeError.malformed("an identity from which a key follows", at: 16)
    }
    let shared = try pair.sharedSecret(with: reply.devicePublicKey)
    let token = SessionToken.os2(app: reply.serverToken, lock: registration.token)
    let registrationKey = OS2Keys.registrationKey(shared, token)
    registration.key = LockKey(
      deviceID: advertisement.deviceID, secret: OS2Keys.ownerKey(registrationKey: registrationKey),
      lockPublicKey: reply.devicePublicKey)
    let sessionKey = OS2Keys.registrationSessionKey(registrationKey: registrationKey, token)
    registration.session = Session(
      seen: registration.seen, cipher: SessionCipher(key: sessionKey, token: token, end: .app))
    let command = RegisterCommand.os2(
      signature: reply.signature, pair.publicKey, serverToken: reply.serverToken)
    sendInClear(LockCommand.register(command).encoded(for: .os2))
  }

  private mutating func receiveOS3(
    _ message: LockMessage, _ kind: MessageKind, in registration: inout Registration, at now: Instant
  ) throws(DecodeError) {
    switch message {
    case .response(let response) where response.item == .registration && registration.session == nil:
      guard response.result == .success else { return refused(response) }
      let reply = try RegistrationReply(decoding: response.data)
      let shared = try ownPair().sharedSecret(with: reply.publicKey)
      let sessionKey = OS3Keys.sessionKey(deviceSecret: shared.key, registration.token)
      var session = Session(
        seen: registration.seen,
        cipher: SessionCipher(key: sessionKey, token: .os3(registration.token), end: .app))
      session.setting = reply.setting.map { .sesame5($0) }
      if let status = reply.status { session.take(status: status, &actions) }
      registration.session = session
      registration.key = LockKey(
        deviceID: registration.seen.advertisement.deviceID, secret: shared.key)
    case .publish(let publish) where registration.session != nil && kind == .ciphertext:
      registration.session?.take(publish, &actions)
    case .response, .publish:
      reportViolation(ofMisplaced: message, kind)
    }
    finish(registration, at: now)
  }

  /// Reports a message that is not allowed in a registration: a message in clear that is valid only in a
  /// session, or any other one.
  ///
  /// A login with a former owner's key is refused, possibly after a registration has followed it.
  private mutating func reportViolation(ofMisplaced message: LockMessage, _ kind: MessageKind) {
    if case .response(let response) = message, response.item == .login, response.result != .success,
      hasShownOldKey, kind == .plaintext
    {
      return
    }
    let isSetting = message.item == .mechSetting || message.item == .mechStatus || message.item == .login
    let isInClear = kind == .plaintext && isSetting
    actions.reportViolation(
      isInClear ? .clearText : .outOfPlace, of: "\(message.item)",
      isInClear ? "\(message.item) in clear" : "\(message.item) in the middle of a registration",
      packet: message.encoded)
  }

  private mutating func refused(_ response: Response) {
    actions.append(.report(.registration(response.result)))
    let explanation = "the lock refused \(response.item): \(response.result)"
    // A client that only pretends that the lock has no owner is refused.
    if key == nil {
      actions.reportViolation(
        .registrationRefused, of: "\(response.item)", explanation, packet: response.encoded)
    }
    leave(
      disconnecting: true,
      because: ClientExplanation(SesameViolation.registrationRefused.rawValue, explanation))
  }

  /// Opens the session once the lock has reported a resting bolt.
  private mutating func finish(_ registration: Registration, at now: Instant) {
    guard var session = registration.session, let key = registration.key, let status = session.restingStatus
    else { return }
    if self.key != nil {
      actions.reportViolation(.ownerReplaced, "a registration of a lock that has an owner succeeded")
    }
    keep(key)
    if status != .nosetting { actions.append(.findPositions) }
    guard registration.logsIn else {
      session.isOfRegistration = true
      state = .open(session)
      return show(status)
    }
    beginLogin(to: registration.seen, registration.token, key, at: registration.since)
    if case .logining(var login) = state {
      login.registration = session
      if registration.seen.generation == .os2 {
        login.lastChance = min(
          now + settings.times.answer, registration.since + settings.times.session - settings.times.settling)
      }
      state = .logining(login)
    }
  }
}
