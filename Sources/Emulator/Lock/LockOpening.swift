import Bluetooth
import Sesame
import Basics

// The opening of a session: token, then login or registration.

extension EmulatedLock {
  /// Sends the token of a connection after notifications were enabled.
  mutating func beginOpening(at now: Instant) {
    memory.connections += 1
    if options.leftoverFrame { sendLeftoverFrame() }
    if options.earlyCiphertext { sendEarlyCiphertext() }
    if defects.contains(.tokenMissingEverySecondTime), memory.connections % 2 == 0 { return }
    let token = drawToken()
    // A client of a lock without an owner waits for its user, who may take any time.
    let isTimed = isRegistered && options.loginTimeout > .zero
    state = .waiting(Opening(token: token, deadline: isTimed ? now + options.loginTimeout : nil))
    for _ in 0..<(options.initial == .twice ? 2 : 1) {
      notify(Publish.initial(token).encoded, .plaintext)
    }
    if defects.contains(.publishBeforeLogin) {
      notify(Publish.mechStatus(status(at: now)).encoded, .plaintext)
    }
  }

  private mutating func drawToken() -> Token {
    let drawn = secrets.token()
    guard defects.contains(.tokenRepeated) else { return drawn }
    let token = memory.token ?? drawn
    memory.token = token
    return token
  }

  /// Sends ciphertext that looks like a remainder of the session before.
  private mutating func sendEarlyCiphertext() {
    let message = Publish(.mechStatus, []).encoded
    notify(
      memory.lastCipher?.encrypt(message) ?? secrets.bytes(message.count + SessionCipher.tagLength),
      .ciphertext)
  }

  /// Sends the last frame of a message that began on the connection before.
  private mutating func sendLeftoverFrame() {
    let length = 5 + SessionCipher.tagLength
    actions.append(.notify([MessageKind.ciphertext.rawValue << 1] + secrets.bytes(length)))
  }

  /// Opens a session; both counters begin at 0.
  ///
  /// - Parameter opening: the data for a login that may follow in the session.
  private mutating func open(
    _ key: SecretKey, _ token: SessionToken, allowingLoginIn opening: Opening?, at now: Instant
  ) {
    endSession()
    var cipher = SessionCipher(key: key, token: token, end: .lock, onFailure: options.failedMessage.rule)
    if defects.contains(.counterKeptAcrossSessions), let last = memory.lastCipher {
      cipher.sendCounter = last.sendCounter
      cipher.receiveCounter = last.receiveCounter
    }
    memory.abortedBeforeLogin = memory.abortedConnections
    memory.abortedConnections = 0
    memory.lastRequest = nil
    state = .open(Session(cipher: cipher, opening: opening, opened: now, lastHeard: now))
  }
}

extension EmulatedLock {
  mutating func logIn(
    _ command: LoginCommand, for request: Request, in opening: Opening, at now: Instant
  ) {
    for owner in [storage.owner].compactMap(\.self) + memory.formerOwners {
      let isProven =
        switch command {
        case .os2(let keyIndex, let publicKey, let appToken, let proof):
          logIn(
            keyIndex: keyIndex, publicKey, appToken: appToken, proof, owner, for: request, in: opening,
            at: now)
        case .os3(let proof): logIn(proof, owner, for: request, in: opening, at: now)
        }
      if isProven { return }
    }
    refuseLogin(request)
  }

  /// Logs in an OS3 client, if it has the owner's key.
  private mutating func logIn(
    _ proof: Proof, _ owner: SecretKey, for request: Request, in opening: Opening, at now: Instant
  ) -> Bool {
    let key = OS3Keys.sessionKey(deviceSecret: owner, opening.token)
    guard accepts(proof, inPlaceOf: key.proof, in: opening) else { return false }
    open(key, .os3(opening.token), allowingLoginIn: laterLogin(in: opening), at: now)
    memory.accept(.login)
    var time: [UInt8] = []
    time.append(littleEndian: clock.seconds(at: now))
    respond(to: request, .success, time)
    publishSettingAndStatus(at: now)
    return true
  }

  /// Only one login is accepted on a connection: otherwise an eavesdropper could restart the session.
  private func laterLogin(in opening: Opening) -> Opening? {
    defects.contains(.secondLoginRestartsSession) ? opening : nil
  }

  /// Logs in an OS2 client, if it has the owner's key.
  private mutating func logIn(
    keyIndex: UInt16, _ publicKey: PublicKey, appToken: Token, _ proof: Proof, _ owner: SecretKey,
    for request: Request, in opening: Opening, at now: Instant
  ) -> Bool {
    let payload = OS2Keys.loginPayload(
      keyIndex: keyIndex, publicKey: publicKey, appToken: appToken, lockToken: opening.token)
    let isRepeated = options.repeatedAppToken == .refused && memory.appToken == appToken
    guard keyIndex == 0, !isRepeated, accepts(proof, inPlaceOf: owner.cmac(payload).proof, in: opening),
      let shared = try? identity.keyPair.sharedSecret(with: publicKey)
    else { return false }
    memory.appToken = appToken
    let token = SessionToken.os2(app: appToken, lock: opening.token)
    open(
      OS2Keys.loginSessionKey(shared, token), token, allowingLoginIn: laterLogin(in: opening), at: now)
    memory.accept(.login)
    respond(to: request, .success, loginPayload(at: now).encoded)
    return true
  }

  /// Whether a proof opens a session.
  private mutating func accepts(_ proof: Proof, inPlaceOf right: Proof, in opening: Opening) -> Bool {
    if proof == right {
      if defects.contains(.loginProofReplayed) { memory.proofs.append(proof) }
      return true
    }
    if defects.contains(.loginProofUnchecked) { return true }
    let length = opening.proofLength
    if length < 4, proof.encoded.prefix(length) == right.encoded.prefix(length) { return true }
    return defects.contains(.loginProofReplayed) && memory.proofs.contains(proof)
  }

  /// Responds to a login that does not decode.
  mutating func refuseMalformedLogin(_ request: Request, in opening: Opening, at now: Instant) {
    guard defects.contains(.shortProofAccepted) else { return refuseLogin(request) }
    let length = generation == .os2 ? 74 : 4
    let missing = length - request.data.count
    var opening = opening
    opening.proofLength -= missing
    var filled = request
    filled.data += [UInt8](repeating: 0, count: max(missing, 0))
    guard missing > 0, missing <= 4, case .login(let command)? = try? LockCommand(filled) else {
      return refuseLogin(request)
    }
    logIn(command, for: request, in: opening, at: now)
  }

  mutating func refuseLogin(_ request: Request) {
    switch options.wrongLogin {
    case .disconnect: end()
    case .silent: break
    case .result: respond(to: request, .invalidSignature)
    }
  }

  private func loginPayload(at now: Instant) -> LoginPayload {
    let isCounted = options.loginCounts == .counted
    return LoginPayload(
      time: clock.seconds(at: now), firmwareVersion: options.firmware == .current ? 1 : 0,
      userCount: isCounted ? 1 : 0, historyCount: isCounted ? UInt8(clamping: history.count) : 0x80, flags: 1,
      autolock: options.loginPayload == .bytes30 ? UInt16(storage.autolock) : nil, setting: setting,
      status: status(at: now))
  }
}

extension EmulatedLock {
  /// Sends the identity with which an OS2 registration begins. Once the lock has an owner, it is secret.
  mutating func sendIdentity(to request: Request) {
    guard !isRegistered || defects.contains(.ownerReplaced) else {
      if options.ownedIdentity == .answered { respond(to: request, .invalidAction) }
      return
    }
    let identity = Identity(ir: identity.deviceID.bytes, er: identity.er)
    respond(to: request, .success, identity.encoded)
  }

  mutating func register(
    _ command: RegisterCommand, for request: Request, in opening: Opening, at now: Instant
  ) {
    guard !isRegistered || defects.contains(.ownerReplaced) else { return refuseRegistration(request) }
    if defects.contains(.registrationBusyAfterReset), memory.wasReset {
      return respond(to: request, .busy)
    }
    switch command {
    case .os2(let signature, let publicKey, let serverToken):
      registerOS2(signature, publicKey, serverToken, for: request, in: opening, at: now)
    case .os3(let publicKey, let time):
      registerOS3(publicKey, time, for: request, in: opening, at: now)
    }
  }

  private mutating func refuseRegistration(_ request: Request) {
    switch (options.alreadyRegistered, generation) {
    case (.result, _), (.fourBytes, .os2): respond(to: request, .invalidAction)
    case (.fourBytes, .os3): respond(to: request, .invalidAction, [0, 0, 0, 9])
    case (.disconnect, _): end()
    }
  }

  private mutating func registerOS2(
    _ signature: [UInt8], _ publicKey: PublicKey, _ serverToken: Token, for request: Request,
    in opening: Opening, at now: Instant
  ) {
    let right = OS2Keys.signature(
      serverSecret: OS2Keys.serverSecret(deviceKey: identity.keyPair), publicKey: publicKey,
      serverToken: serverToken, lockToken: opening.token)
    guard options.signature == .unchecked || Array(signature.prefix(4)) == right.encoded else {
      return respond(to: request, .invalidSignature)
    }
    guard let shared = try? identity.keyPair.sharedSecret(with: publicKey) else {
      return respond(to: request, .invalidParameter)
    }
    let token = SessionToken.os2(app: serverToken, lock: opening.token)
    let key = OS2Keys.registrationKey(shared, token)
    storage.owner = OS2Keys.ownerKey(registrationKey: key)
    open(
      OS2Keys.registrationSessionKey(registrationKey: key, token), token,
      allowingLoginIn: options.loginAfterRegistration == .answered ? opening : nil, at: now)
    memory.accept(.other)
    let payload = Publish.login(loginPayload(at: now)).encoded
    if options.loginPublish == .before { send(payload) }
    respond(to: request, inClear: options.registrationAnswer == .clear)
    if options.loginPublish == .after { send(payload) }
  }

  private mutating func registerOS3(
    _ publicKey: PublicKey, _ time: UInt32?, for request: Request, in opening: Opening, at now: Instant
  ) {
    if time == nil, options.shortRegistration == .refused {
      return respond(to: request, .invalidFormat)
    }
    guard time.map(isPlausible) ?? true, let shared = try? identity.keyPair.sharedSecret(with: publicKey)
    else {
      return respond(to: request, .invalidParameter)
    }
    if let time { setClock(unix: time, at: now) }
    storage.owner = shared.key
    open(
      OS3Keys.sessionKey(deviceSecret: shared.key, opening.token), .os3(opening.token),
      allowingLoginIn: opening, at: now)
    memory.accept(.other)
    let reply = RegistrationReply(
      status: status(at: now), setting: sesame5Setting, publicKey: identity.keyPair.publicKey)
    respond(to: request, .success, reply.encoded, inClear: true)
    if options.publishAfterRegistration { publishSettingAndStatus(at: now) }
  }
}
