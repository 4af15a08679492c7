import Bluetooth
import Sesame
import Basics

extension VectorCase {
  func os2Registration() throws {
    switch id {
    case "os2.offline.device_key_from_er":
      let er = try bytes("er")
      let label = try SecretKey(bytes: [UInt8](text("label_key_ascii").utf8))
      try check("k1", label.cmac(er).exposedBytes)
      try check("k2", label.cmac(er).cmac(er).exposedBytes)
      let key = try present(OS2Keys.deviceKey(er: er))
      try check("device_private", key.exposedScalar)
      try check("device_public_xy", key.publicKey.bytes)
    case "os2.offline.server_secret":
      try require(OS2Keys.serverPublicKey == publicKey("server_public_xy"), "the vendor's key differs")
      try check("secret16", OS2Keys.serverSecret(deviceKey: privateKey("device_private")).exposedBytes)
    case "os2.offline.sig1":
      let secret = try key("secret16")
      let signed = try bytes("app_public_xy") + bytes("server_token") + bytes("lock_token")
      try check("cmac", secret.cmac(signed).exposedBytes)
      try check(
        "sig1",
        OS2Keys.signature(
          serverSecret: secret, publicKey: publicKey("app_public_xy"), serverToken: token("server_token"),
          lockToken: token("lock_token")
        ).encoded)
    case "os2.register.server_exchange": try serverExchange()
    case "os2.register.keys": try os2RegistrationKeys()
    case "os2.register.read_irer":
      let request = LockCommand.readIdentity.request(for: .os2)
      let identity = Identity(ir: try bytes("ir"), er: try bytes("er"))
      let response = Response(to: request, .success, identity.encoded)
      try check("request_message", request.encoded)
      try check("request_frames", frames: Segmenter().frames(of: request.encoded, .plaintext))
      try check("response_message", response.encoded)
      try check("response_frames", frames: Segmenter().frames(of: response.encoded, .plaintext))
      try require(Identity(decoding: response.data) == identity, "the identity differs")
    case "os2.register.command":
      try clear(
        .register(
          .os2(
            signature: bytes("sig1"), publicKey("app_public_xy"), serverToken: token("server_token"))), .os2)
    case "os2.register.time_after":
      var cipher = try SessionCipher(key: key("session_key"), token: sessionToken(), end: .app)
      let command = LockCommand.setTime(UInt32(try integer("unix")))
      try require(command.encoded(for: .os2) == bytes("plaintext"), "the command differs")
      try check("nonce", sessionToken().nonce(counter: counter(), from: .app))
      let sealed = cipher.encrypt(command.encoded(for: .os2))
      try check("ciphertext", sealed)
      try check("frames", frames: Segmenter().frames(of: sealed, .ciphertext))
    default: try registrationReply()
    }
  }

  private func serverExchange() throws {
    let (key, token, er) = (try publicKey("app_public_xy"), try token("lock_token"), try bytes("er"))
    try check(
      "request_s1",
      .object([
        "ak": .text(key.bytes.base64), "n": .text(token.encoded.base64), "e": .text(er.hex),
        "t": .integer(integer("model")),
      ]))
    var source = Fixed(bytes: try bytes("server_token"))
    let reply = try present(
      OS2RegistrationServer.register(key, lockToken: token, er: er, drawingFrom: &source))
    try require(reply.signature == bytes("sig1"), "the signature differs")
    try require(reply.devicePublicKey == publicKey("device_public_xy"), "the lock's key differs")
    try check(
      "response",
      .object([
        "sig1": .text(reply.signature.base64), "st": .text(reply.serverToken.encoded.base64),
        "pubkey": .text(reply.devicePublicKey.bytes.base64),
      ]))
  }

  private func os2RegistrationKeys() throws {
    let app = try privateKey("app_private")
    let device = try privateKey("device_private")
    let token = SessionToken.os2(app: try token("server_token"), lock: try token("lock_token"))
    try require(app.publicKey == publicKey("app_public_xy"), "the app's public key differs")
    try require(device.publicKey == publicKey("device_public_xy"), "the lock's public key differs")
    for shared in [
      try app.sharedSecret(with: device.publicKey), try device.sharedSecret(with: app.publicKey),
    ] {
      let registrationKey = OS2Keys.registrationKey(shared, token)
      try check("ecdh16", shared.key.exposedBytes)
      try check("session_token", token.bytes)
      try check("reg_key", registrationKey.exposedBytes)
      try check("owner_key", OS2Keys.ownerKey(registrationKey: registrationKey).exposedBytes)
      try check(
        "session_key",
        OS2Keys.registrationSessionKey(registrationKey: registrationKey, token).exposedBytes)
    }
  }

  /// The lock's reply to a registration, in clear or encrypted, and the login publish that goes with it.
  private func registrationReply() throws {
    let token = try sessionToken()
    var lock = try SessionCipher(key: key("session_key"), token: token, end: .lock)
    let response = Response(.create, .registration, .success)
    if expects("response_ciphertext") {
      let sealed = lock.encrypt(response.encoded)
      try check("response_ciphertext", sealed)
      try check("response_frames", frames: Segmenter().frames(of: sealed, .ciphertext))
    } else {
      try check("response_frames", frames: Segmenter().frames(of: response.encoded, .plaintext))
    }
    let counter = UInt64(try integer("first_publish_counter"))
    try require(lock.sendCounter == counter, "the counter differs")
    let payload = LoginPayload(
      time: 1_700_000_000, userCount: 1, historyCount: 0, flags: 0, setting: .sesame3(.unset),
      status: .sesame3(Sesame3Status(battery: 861, position: 10, flags: .inUnlockRange)))
    let publish = LockMessage.publish(.login(payload)).encoded
    try check("publish_plaintext", publish)
    try check("publish_nonce", token.nonce(counter: counter, from: .lock))
    let sealed = lock.encrypt(publish)
    try check("publish_ciphertext", sealed)
    try check("publish_frames", frames: Segmenter().frames(of: sealed, .ciphertext))
  }

  /// A command that is sent in clear.
  private func clear(_ command: LockCommand, _ generation: Generation) throws {
    let bytes = command.encoded(for: generation)
    try check("message", bytes)
    if expects("length") { try check("length", bytes.count) }
    try check("frames", frames: Segmenter().frames(of: bytes, .plaintext))
    try require(LockCommand(decoding: bytes, for: generation) == command, "it is not understood")
    try require(command.isSentInClear && command.isDefined(in: generation), "it is not for this place")
  }

  func os2Login() throws {
    switch id {
    case "os2.login.auth":
      let payload = OS2Keys.loginPayload(
        keyIndex: try keyIndex(), publicKey: try publicKey("app_public_xy"), appToken: try token("app_token"),
        lockToken: try token("lock_token"))
      let code = try key("secret_key").cmac(payload)
      try check("sign_payload", payload)
      try check("cmac", code.exposedBytes)
      try check("auth", code.proof.encoded)
    case "os2.login.session_key":
      let app = try privateKey("app_private")
      let shared = try app.sharedSecret(with: publicKey("device_public_xy"))
      try check("ecdh16", shared.key.exposedBytes)
      try check("session_key", OS2Keys.loginSessionKey(shared, sessionToken()).exposedBytes)
    case "os2.login.command":
      try clear(
        .login(
          .os2(
            keyIndex: keyIndex(), publicKey("app_public_xy"), appToken: token("app_token"), proof("auth"))),
        .os2)
    case "os2.login.guest_key_detection":
      let keys = try input("secret_keys").list().map { try SecretKey(bytes: [UInt8](hex: $0.text())) }
      try check("is_guest_ios", .list(keys.map { .bool($0.isGuestKey(by: .ios)) }))
      try check("is_guest_android", .list(keys.map { .bool($0.isGuestKey(by: .android)) }))
    case "os2.login.guest_sign_body":
      let payload = try bytes("sign_payload")
      let key = try PublicKey(bytes: [UInt8](payload[2..<66]))
      let signed = OS2Keys.loginPayload(
        keyIndex: 0, publicKey: key, appToken: try Token(decoding: [UInt8](payload[66..<70])),
        lockToken: try Token(decoding: [UInt8](payload[70..<74])))
      try check("token", signed)
    default: try loginPayload()
    }
  }

  private func keyIndex() throws -> UInt16 {
    try bytes("key_index").reversed().reduce(0) { $0 << 8 | UInt16($1) }
  }

  func loginPayload() throws {
    let bytes = try bytes("payload")
    let payload = try LoginPayload(decoding: bytes, model: .sesame3)
    try require(payload.encoded == bytes, "it does not encode back")
    guard !expects("same_as") else {
      var reduced = payload
      reduced.autolock = nil
      try require(payload.autolock == 30, "the autolock value differs")
      try check("reduced_payload", reduced.encoded)
      let other = Vectors.all.first { $0.id == (try? expected("same_as").text()) }
      return try require(other?.inputs["payload"] == .text(reduced.encoded.hex), "it is not the same")
    }
    try check("time", payload.time)
    try check("fw_version", payload.firmwareVersion)
    try check("user_count", payload.userCount)
    try check("history_count", payload.historyCount)
    try check("flags", payload.flags)
    if expects("ios_status_after_login") {
      try check("mech_setting", payload.setting.encoded)
      try check("mech_status", payload.status.encoded)
      return try check("ios_status_after_login", payload.status.stateShownByIOS.description)
    }
    guard case .sesame3(let setting) = payload.setting, case .sesame3(let status) = payload.status else {
      throw VectorFault(description: "\(id): the layouts are others")
    }
    try check("mech_setting", json(setting))
    try check(
      "mech_status",
      .object([
        "battery_adc": .integer(Int(status.battery)), "target": .integer(Int(status.target)),
        "position": .integer(Int(status.position)), "ret_code": .integer(Int(status.returnCode.rawValue)),
        "flags": .integer(Int(status.flags.rawValue)),
      ]))
  }

  private func json(_ setting: Sesame3Setting) -> JSON {
    .object([
      "lock": .integer(Int(setting.lock)), "unlock": .integer(Int(setting.unlock)),
      "lock_min": .integer(Int(setting.lockRange.min)), "lock_max": .integer(Int(setting.lockRange.max)),
      "unlock_min": .integer(Int(setting.unlockRange.min)),
      "unlock_max": .integer(Int(setting.unlockRange.max)),
    ])
  }

  func os3Registration() throws {
    switch id {
    case "os3.register.command", "os3.register.command_no_time":
      let time = hasInput("unix") ? UInt32(try integer("unix")) : nil
      try clear(.register(.os3(publicKey("app_public_xy"), time: time)), .os3)
    case "os3.register.already_registered":
      let response = Response(nil, .registration, .invalidAction)
      try check("message", response.encoded)
      try check("frames", frames: Segmenter().frames(of: response.encoded, .plaintext))
      try require(response.tellsAlreadyRegistered, "it is not recognised")
    case "os3.register.keys":
      let app = try privateKey("app_private")
      let device = try privateKey("device_private")
      try require(app.publicKey == publicKey("app_public_xy"), "the app's public key differs")
      try require(device.publicKey == publicKey("device_public_xy"), "the device's public key differs")
      let shared = try app.sharedSecret(with: device.publicKey)
      try require(device.sharedSecret(with: app.publicKey) == shared, "the device agrees on another secret")
      try check("device_secret", shared.key.exposedBytes)
      try check("session_key", OS3Keys.sessionKey(deviceSecret: shared.key, token("token")).exposedBytes)
    default:
      let key = try publicKey("device_public_xy")
      let status = hasInput("mech_status") ? try bytes("mech_status") : []
      let setting = hasInput("mech_setting") ? try bytes("mech_setting") : []
      let reply = try RegistrationReply(decoding: status + setting + key.bytes)
      try require(reply.publicKey == key, "the key differs")
      try require((reply.status?.encoded ?? []) == status, "the status differs")
      try require((reply.setting?.encoded ?? []) == setting, "the setting differs")
      let response = Response(nil, .registration, .success, reply.encoded)
      try check("message", response.encoded)
      try check("length", response.encoded.count)
      try check("frames", frames: Segmenter().frames(of: response.encoded, .plaintext))
    }
  }

  func os3Login() throws {
    let sessionKey = OS3Keys.sessionKey(deviceSecret: try key("device_secret"), try token("token"))
    try check("session_key", sessionKey.exposedBytes)
    try clear(.login(.os3(sessionKey.proof)), .os3)
  }
}

/// Gives the same bytes over and over.
struct Fixed: SecretSource {
  var bytes: [UInt8]

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { bytes[$0 % bytes.count] } }
}
