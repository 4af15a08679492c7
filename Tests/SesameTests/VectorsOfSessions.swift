import Basics
import Bluetooth
import Sesame

extension VectorCase {
  func standard() throws {
    switch id {
    case _ where id.hasPrefix("std.cmac"):
      try check("cmac", key("key").cmac(bytes("message")).exposedBytes)
    case "std.ccm.sp800-38c.ex1":
      let nonce = try bytes("nonce")
      let cipher = try AESCCM(key: key("key"), nonceLength: nonce.count, tagLength: integer("tag_len"))
      let sealed = try cipher.seal(bytes("plaintext"), nonce: nonce, additionalData: bytes("aad"))
      try check("ciphertext_and_tag", sealed)
      let opened = try cipher.open(sealed, nonce: nonce, additionalData: bytes("aad"))
      try require(opened == bytes("plaintext"), "it does not open again")
    case "pub.pysesameos2.ecdh":
      let app = try privateKey("app_private")
      let peer = try privateKey("peer_private")
      try require(app.publicKey == publicKey("app_public_xy"), "the app's public key differs")
      try require(peer.publicKey == publicKey("peer_public_xy"), "the peer's public key differs")
      let secret = try app.sharedSecret(with: publicKey("peer_public_xy"))
      try require(peer.sharedSecret(with: app.publicKey) == secret, "the peer agrees on another secret")
      try check("shared_x", secret.exposedBytes)
      try check("key16", secret.key.exposedBytes)
    case "pub.pysesameos2.segment40": try segmentation()
    case "pub.pysesameos2.login_payload": try loginPayload()
    default: try message()
    }
  }

  /// One encrypted message, from either end.
  private func message() throws {
    let token = try sessionToken()
    let sender: SessionEnd = try text("direction") == "app_to_lock" ? .app : .lock
    let counter = try counter()
    var sending = try SessionCipher(key: key("session_key"), token: token, end: sender)
    sending.sendCounter = counter
    var receiving = try SessionCipher(key: key("session_key"), token: token, end: sender.peer)
    receiving.receiveCounter = counter
    let nonce = token.nonce(counter: counter, from: sender)
    if hasInput("nonce") {
      try require(nonce == bytes("nonce"), "the nonce is \(nonce.hex)")
    } else {
      try check("nonce", nonce)
    }
    if hasInput("ciphertext_and_tag") {
      try check("plaintext", receiving.decrypt(bytes("ciphertext_and_tag")))
      let sealed = try sending.encrypt([UInt8](hex: expected("plaintext").text()))
      try require(sealed == bytes("ciphertext_and_tag"), "it does not encrypt back")
    } else {
      let sealed = try sending.encrypt(bytes("plaintext"))
      try check(expects("ciphertext") ? "ciphertext" : "ciphertext_and_tag", sealed)
      if expects("frames") { try check("frames", frames: Segmenter().frames(of: sealed, .ciphertext)) }
      try require(receiving.decrypt(sealed) == bytes("plaintext"), "it does not decrypt back")
    }
    try require(sending.sendCounter == counter + 1, "the sender's counter does not move on")
    try require(receiving.receiveCounter == counter + 1, "the receiver's counter does not move on")
    if hasInput("plaintext") {
      try meaning(of: bytes("plaintext"), from: sender, generation: token.generation)
    }
  }

  /// What a plaintext means, which must encode back to the same bytes.
  private func meaning(of bytes: [UInt8], from sender: SessionEnd, generation: Generation) throws {
    guard sender == .app else {
      let message = try LockMessage(decoding: bytes, for: generation)
      try require(message.encoded == bytes, "\(message) does not encode back")
      return try content(of: message, generation: generation)
    }
    let command = try LockCommand(decoding: bytes, for: generation)
    if case .other = command { throw VectorFault(description: "\(id): the command is not understood") }
    try require(command.encoded(for: generation) == bytes, "\(command) does not encode back")
    let wanted = try commands(generation)[String(id.drop { $0 != "x" }.dropFirst(5))]
    if id.contains(".session.tx.") {
      try require(command == wanted, "it is understood as \(command)")
    }
  }

  private func commands(_ generation: Generation) throws -> [String: LockCommand] {
    let user = try UUID128(text: "01234567-89ab-cdef-0123-456789abcdef")
    let alice = HistoryTag.text("Alice", for: generation)
    let common: [String: LockCommand] = [
      "lock": .lock(alice), "unlock": .unlock(alice), "click": .click(alice),
      "unlock_no_tag": .unlock(.absent),
      "autolock_set": .setAutolock(seconds: 30, alice), "autolock_read": .readAutolock,
      "setting_update": .setMechSetting(Sesame3Setting(lock: 100, unlock: 400).encoded, alice),
      "version_read": .readVersion, "history_read_delete": .readHistory(1), "history_peek": .readHistory(0),
      "time_update": .setTime(1_700_000_000), "dfu": .enableDFU, "reset": .reset,
    ]
    let os3: [String: LockCommand] = [
      "time": .setTime(1_700_000_000), "unlock_tag": .unlock(alice), "lock_tag": .lock(alice),
      "lock_uuid_tag": .lock(.typed(TagType(rawValue: 0x0F), user)),
      "unlock_uuid_tag_android": .unlock(.typed(TagType(rawValue: 0x0E), user)),
      "lock_no_tag": .lock(.absent), "history_read": .readHistory(1), "history_delete": .deleteHistory(id: 7),
      "autolock_60": .setAutolock(seconds: 60), "autolock_off": .setAutolock(seconds: 0),
      "setting": .setMechSetting(Sesame5Setting(lock: -100, unlock: 100).positions),
      "magnet": .calibrateMagnet, "version": .readVersion,
      "open_sensor_autolock": .setOpenSensorDelay(seconds: 10), "reset": .reset,
    ]
    return generation == .os2 ? common : os3
  }

  /// Reads what the common messages carry and compares it with what the vector's name says.
  private func content(of message: LockMessage, generation: Generation) throws {
    let model: ProductModel = generation == .os2 ? .sesame3 : .sesame5
    switch message {
    case .publish(let publish) where publish.item == .mechStatus:
      let status = try MechStatus(decoding: publish.data, model: model)
      try require(Publish.mechStatus(status) == publish, "the status does not encode back")
      try require(
        status.isIdle != (id.contains("moving") || id.contains("done") || id.contains("jam")), "motor")
      try require(status.isCritical == id.contains("jam"), "critical")
      try require((status.boltState == .unlocked) == id.contains("unlocked"), "it shows \(status.boltState)")
    case .publish(let publish) where publish.item == .mechSetting:
      let setting = try MechSetting(decoding: publish.data, model: model)
      try require(Publish.mechSetting(setting) == publish, "the setting does not encode back")
      try require(setting.isConfigured, "the setting counts as unset")
    case .publish(let publish):
      try require(publish.data.count > 0, "nothing is published")
    case .response(let response):
      try require(response.operation != nil || generation == .os3, "an OS2 response has an operation")
      try self.content(of: response, generation: generation)
    }
  }

  private func content(of response: Response, generation: Generation) throws {
    let busy = id.contains("busy")
    let empty = id.contains("history_empty")
    let result: ResultCode = busy ? .busy : empty ? .notFound : .success
    try require(response.result == result, "the result is \(response.result)")
    if id.contains("version") {
      let version = try FirmwareVersion(decoding: response.data, for: generation)
      try require(version.encoded(for: generation) == response.data, "the version does not encode back")
      try require(
        version
          == (generation == .os2
            ? FirmwareVersion(buildTime: 1_600_000_000, text: "0a1b2c3d4e5f")
            : FirmwareVersion(text: "3.0-5-a1b2c3")),
        "the version is \(version)")
    } else if id.contains("autolock_read") {
      try require(response.autolock() == 30, "the delay differs")
    } else if id.contains("login_response"), generation == .os3 {
      try require(response.time() == 1_700_000_000, "the clock differs")
    } else if id.contains("history_item") {
      try require(historyTag(response.data, generation).hasPrefix("#"), "no record")
    }
  }

  private func historyTag(_ data: [UInt8], _ generation: Generation) throws -> String {
    switch generation {
    case .os2:
      let record = try OS2HistoryRecord(decoding: data)
      try require(record.encoded == data, "the record does not encode back")
      return record.description
    case .os3:
      let record = try OS3HistoryRecord(decoding: data)
      try require(record.encoded == data, "the record does not encode back")
      return record.description
    }
  }

  func os2Session() throws {
    if id == "os2.initial" { return try initial(.os2) }
    guard id.hasPrefix("os2.nonce") else { return try message() }
    let token = try sessionToken()
    try check("app_to_lock", token.nonce(counter: counter(), from: .app))
    try check("lock_to_app", token.nonce(counter: counter(), from: .lock))
    var cipher = SessionCipher(key: SecretKey(UUID128(high: 1, low: 2)), token: token, end: .app)
    cipher.sendCounter = try counter() & (1 << 39 - 1)
    _ = cipher.encrypt([])
    try require(cipher.sendCounter == (counter() + 1) & (1 << 39 - 1), "the counter does not wrap at 39 bits")
  }

  func os3Session() throws {
    switch id {
    case "os3.initial": try initial(.os3)
    case "os3.symmetry":
      let token = try sessionToken()
      for (name, end) in [("app_to_lock", SessionEnd.app), ("lock_to_app", .lock)] {
        try check("nonce_\(name)", token.nonce(counter: counter(), from: end))
        try check("ciphertext_\(name)", sealed("plaintext", from: end))
      }
    case "os3.keystream_reuse":
      let down = try sealed("plaintext_down", from: .lock)
      let up = try sealed("plaintext_up", from: .app)
      try check("ciphertext_down", down)
      try check("ciphertext_up", up)
      let length = try bytes("plaintext_down").count
      try check("xor", zip(down, up).prefix(length).map { $0 ^ $1 })
      try check("xor", zip(bytes("plaintext_down"), bytes("plaintext_up")).map { $0 ^ $1 })
    case "os3.ccm.empty":
      let sealed = try sealed("plaintext", from: .app)
      try check("ciphertext", sealed)
      try check("frames", frames: Segmenter().frames(of: sealed, .ciphertext))
    case _ where id.hasPrefix("os3.nonce"):
      let token = try sessionToken()
      for end in SessionEnd.allCases {
        try check("nonce_both_directions", token.nonce(counter: counter(), from: end))
      }
    default: try message()
    }
  }

  private func sealed(_ name: String, from end: SessionEnd) throws -> [UInt8] {
    var cipher = try SessionCipher(key: key("session_key"), token: sessionToken(), end: end)
    cipher.sendCounter = try counter()
    let sealed = try cipher.encrypt(bytes(name))
    try require(cipher.open(sealed, counter: counter(), from: end) == bytes(name), "it does not open again")
    return sealed
  }

  private func initial(_ generation: Generation) throws {
    let token = try token("lock_token")
    let message = LockMessage.publish(.initial(token))
    try check("message", message.encoded)
    try check("frames", frames: Segmenter().frames(of: message.encoded, .plaintext))
    guard case .publish(let publish) = try LockMessage(decoding: message.encoded, for: generation) else {
      throw VectorFault(description: "\(id): it is no publish")
    }
    try require(publish.token() == token, "the token differs")
  }

  func negative() throws {
    guard id != "os3.login.wrong_secret" else {
      let proof = OS3Keys.sessionKey(deviceSecret: try key("device_secret_wrong"), try token("token")).proof
      try check("message", LockCommand.login(.os3(proof)).encoded(for: .os3))
      let right = try SecretKey(bytes: [UInt8](hex: "d948215b7f16c6d281fe80037f2c37c4"))
      return try check("accepted", OS3Keys.sessionKey(deviceSecret: right, token("token")).proof == proof)
    }
    let ciphertext = try bytes("ciphertext")
    let nonce = try bytes("nonce")
    let cipher = AESCCM(key: try key("session_key"))
    try check("authenticates", cipher.open(ciphertext, nonce: nonce, additionalData: [0]) != nil)
    let token = try negativeToken(nonce)
    try require(token.nonce(counter: 1, from: .lock) == nonce, "the nonce is not that of counter 1")
    for rule in SessionCipher.FailureRule.allCases {
      var receiver = SessionCipher(key: try key("session_key"), token: token, end: .app, onFailure: rule)
      receiver.receiveCounter = 1
      let opened = Result { () throws(SessionCipher.Failure) in try receiver.decrypt(ciphertext) }
      let isShort = ciphertext.count < SessionCipher.tagLength
      try require(opened == .failure(isShort ? .tooShort : .notAuthentic), "it decrypts to \(opened)")
      try counterAfter(receiver)
    }
  }

  private func negativeToken(_ nonce: [UInt8]) throws -> SessionToken {
    let last = try Token(decoding: [UInt8](nonce.suffix(4)))
    guard id.hasPrefix("os2") else { return .os3(last) }
    return .os2(app: try Token(decoding: [UInt8](nonce[5..<9])), lock: last)
  }

  private func counterAfter(_ receiver: SessionCipher) throws {
    guard expects("counter_after") else {
      return try require(
        receiver.receiveCounter == (receiver.failureRule == .keepsCounter ? 1 : 2), "counter")
    }
    guard case .object(let counters) = try expected("counter_after") else { return }
    let programs: [String] =
      receiver.failureRule == .keepsCounter ? ["ios", "libsesame3bt_core"] : ["android", "pysesameos2"]
    try require(counters.count == 4, "there are programs we do not know")
    for program in programs {
      try require(counters[program] == .integer(Int(receiver.receiveCounter)), "the counter of \(program)")
    }
  }
}
