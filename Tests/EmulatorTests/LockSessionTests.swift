import Bluetooth
import Emulator
import Sesame
import Basics
import TestSupport
import Testing

@Suite("An emulated lock's sessions")
struct LockSessionTests {
  @Test("a Sesame 5 is registered, configured, worked and reset; registered again it has another owner")
  func os3Life() {
    var probe = LockProbe(.sesame5, registered: false)
    expect(probe.connect(), ["clear token"])
    expect(probe.register(), ["clear registration: success +77"])
    expect(probe.send(.lock(.absent)), ["lock: invalid action"])
    expect(
      probe.send(.setMechSetting(Sesame5Setting(lock: 10, unlock: 100).positions)),
      ["mech setting: success", "setting lock at 10.0°, unlock at 100.0°", "status locked"])
    expect(probe.send(.unlock(.text([0x41]))), ["unlock: success", "status moved moving"])
    expect(probe.pass(.seconds(2)), ["status unlocked moving", "status unlocked"])
    expect(probe.send(.lock(.absent)), ["lock: success", "status moved moving"])
    expect(probe.pass(.seconds(2)), ["status locked moving", "status locked"])
    expect(probe.disconnect(), [])
    expect(probe.connect(), ["clear token"])
    expect(probe.login(), ["login: success", "setting lock at 10.0°, unlock at 100.0°", "status locked"])
    expect(probe.send(.reset), ["reset: success"])
    expect(probe.lock.advertisement, nil)
    expect(probe.pass(.seconds(2)), ["disconnect 0x13"])
    expect(probe.lock.advertisement?.isRegistered, false)
    expect(probe.lock.advertisement?.hasHistory, false)
    expect(probe.connect(), ["clear token"])
    expect(probe.register(), ["clear registration: success +77"])
    expect(probe.lock.isConfigured, false)
  }

  @Test("a Sesame 3 is registered without a server, configured, worked and reset")
  func os2Life() {
    var probe = LockProbe(.sesame3, registered: false)
    expect(probe.connect(), ["clear token"])
    expect(
      probe.register(), ["clear identity: success +32", "clear registration: success", "login publish"])
    expect(probe.send(.setTime(1_700_000_000)), ["time without signature: success"])
    expect(
      probe.send(.setMechSetting(Sesame3Setting(lock: 0, unlock: 256).encoded)),
      ["mech setting: success", "setting lock at 0.0°, unlock at 90.0°", "status locked"])
    expect(probe.send(.unlock(.text([0x41]))), ["unlock: success", "status moved moving"])
    expect(probe.pass(.seconds(2)), ["status unlocked moving", "status unlocked"])
    expect(probe.send(.setAutolock(seconds: 30)), ["autolock: success"])
    expect(probe.send(.readAutolock), ["autolock: success +2"])
    expect(probe.send(.readMechStatus), ["mech status: success +8"])
    expect(probe.send(.readVersion), ["version: success +36"])
    expect(probe.pass(.seconds(40)), ["status moved moving", "status locked moving", "status locked"])
    expect(probe.disconnect(), [])
    expect(probe.connect(), ["clear token"])
    expect(probe.login(), ["login: success"])
    expect(probe.send(.reset), ["registration: success"])
    expect(probe.disconnect(), [])
    expect(probe.pass(.seconds(1)), [])
    expect(probe.lock.advertisement?.isRegistered, false)
  }

  @Test(
    "who registered may log in on the same connection, once: counters begin at zero, and what was overheard is void",
    arguments: [ProductModel.sesame3, .sesame5])
  func loginAfterRegistration(model: ProductModel) throws {
    var probe = LockProbe(model, registered: false)
    _ = probe.connect() + probe.register()
    expect(probe.send(.readVersion).count, 1)
    let overheard = probe.lastFrames
    let setting = model == .sesame5 ? ["setting not configured", "status moved"] : []
    expect(probe.login(), ["login: success"] + setting)
    let login = probe.lastFrames
    expect(probe.cipher?.receiveCounter, UInt64(1 + setting.count))
    expect(probe.send(.lock(.absent)), ["lock: invalid action"])
    // Neither the login nor what was said before it is taken again.
    expect(probe.send(frames: login) + probe.send(frames: overheard), [])
    expect(probe.send(.lock(.absent)), ["lock: invalid action"])
    expect(probe.disconnect() + probe.connect() + probe.login(), ["clear token", "login: success"] + setting)
    expect(probe.send(frames: probe.lastFrames), [])
  }

  @Test(
    "a false login on that connection ends it, and another in clear is passed over",
    arguments: [ProductModel.sesame3, .sesame5])
  func falseLoginAfterRegistration(model: ProductModel) {
    var probe = LockProbe(model, registered: false)
    _ = probe.connect() + probe.register()
    expect(probe.send(.unlock(.absent), inClear: true), [])
    expect(probe.login(secret: .wrong), ["disconnect 0x13"])
    expect(probe.connect(), ["clear token"])
    expect(probe.login().first, "login: success")
  }

  @Test("with the keys of the published vectors, an OS3 lock sends their frames")
  func os3Vectors() throws {
    let vectors = try VectorKeys.os3()
    var probe = vectors.probe
    expect(probe.lock.connected(at: .zero), [.advertisingChanged])
    expect(probe.lock.subscribed(at: .zero), [.notify(try [UInt8](hex: "03080ea1b2c3d4"))])
    let registration = [
      "0101b73d5e8647b3ad8be52c4467592f4ac7b542", "006bcf22dd884409aee62fa6386b6d606a4ef46c",
      "00c711ded7f4137bc9a637c945637c2792f7b7a0", "02e87b20cff60ec86500f15365",
    ]
    var answer: [EmulatedLock.Action] = []
    for frame in registration { answer += probe.lock.receive(try [UInt8](hex: frame), at: .zero) }
    // 3000 mV, no target, at 0°, stopped; positions never set; the lock's public key.
    let expected =
      "070100b80b008000001000800080" + "0000"
      + "e6b5e2a9937bff0345cd9ab70e811cba5eb1db4fbab0408fdc66cb14f9d9056e"
      + "46e347543b19feffd260c2d5a580aa68612c44101631a2750aaed029688987df"
    let frames = Segmenter().frames(of: try [UInt8](hex: expected), .plaintext)
    expect(answer, frames.map { .notify($0) })
    expect(probe.lock.disconnected(reason: 0x13, at: .zero), [.advertisingChanged])

    expect(probe.lock.connected(at: .zero), [.advertisingChanged])
    expect(probe.lock.subscribed(at: .zero), [.notify(try [UInt8](hex: "03080ea1b2c3d4"))])
    let login = probe.lock.receive(try [UInt8](hex: "030255b74990"), at: .zero)
    expect(login.count, 3)
    expect(login[0], .notify(try [UInt8](hex: "05a71fdcec2e15bb7f086a81")))
  }

  @Test("with the keys of the published vectors, an OS2 lock is registered and opens its session")
  func os2Vectors() throws {
    var probe = try VectorKeys.os2()
    expect(probe.connect(), ["clear token"])
    let identity = probe.lock.receive(try [UInt8](hex: "03020f"), at: .zero)
    expect(
      identity,
      [
        .notify(try [UInt8](hex: "01070f020042918ad181544affbd1ff0cde88a8d")),
        .notify(try [UInt8](hex: "02e1101112131415161718191a1b1c1d1e1f")),
      ])
    let registration = [
      "010101a4b4911ce7b95ff454c82ed76868b735d8", "0071a69aaa162445f48663fde4a03ec85559c9a6",
      "00004a920946279ad7887659beea6e70eaf5b12a", "02009e267f5765b18828478b975d11223344",
    ]
    let session = SessionToken.os2(
      app: try Token(decoding: [0x11, 0x22, 0x33, 0x44]), lock: try Token(decoding: [0xA1, 0xB2, 0xC3, 0xD4]))
    probe.cipher = SessionCipher(
      key: try SecretKey(bytes: [UInt8](hex: "3d1129d6c9a23db4b1a442c832f05b83")), token: session, end: .app)
    expect(
      probe.send(frames: try registration.map { try [UInt8](hex: $0) }),
      ["clear registration: success", "login publish"])
    expect(
      probe.send(frames: [try [UInt8](hex: "057a1fb43676d79dd16ce0")]), ["time without signature: success"])
    expect(probe.disconnect(), [])

    expect(probe.connect(), ["clear token"])
    let login = [
      "0105020000e7b95ff454c82ed76868b735d871a6", "009aaa162445f48663fde4a03ec85559c9a6004a",
      "00920946279ad7887659beea6e70eaf5b12a009e", "02267f5765b18828478b975d55667788e0b61fb3",
    ]
    let loginSession = SessionToken.os2(
      app: try Token(decoding: [0x55, 0x66, 0x77, 0x88]), lock: try Token(decoding: [0xA1, 0xB2, 0xC3, 0xD4]))
    probe.cipher = SessionCipher(
      key: try SecretKey(bytes: [UInt8](hex: "b3afdcc8f3b3975a614a2ba31b28ee8b")), token: loginSession,
      end: .app)
    expect(probe.send(frames: try login.map { try [UInt8](hex: $0) }), ["login: success"])
  }

  @Test(
    "a connection that does not open a session goes as the documents say",
    arguments: [ProductModel.sesame3, .sesame4, .sesame5, .sesame5Pro])
  func refusals(model: ProductModel) {
    var probe = LockProbe(model)
    expect(probe.connect(), ["clear token"])
    expect(probe.send(.lock(.absent), inClear: true), [])
    expect(probe.send(frames: [[0x05, 1, 2, 3, 4, 5]]), [])
    expect(
      probe.send(.register(model.generation == .os2 ? .os2Sample : .os3Sample), inClear: true),
      [
        "clear registration: invalid action"
      ])
    expect(probe.login(secret: .wrong), ["disconnect 0x13"])
    expect(probe.lock.isRegistered, true)

    expect(probe.connect(), ["clear token"])
    expect(probe.pass(.milliseconds(9_999)), [])
    expect(probe.pass(.milliseconds(1)), ["disconnect 0x13"])

    var unowned = LockProbe(model, registered: false)
    unowned.owner = .wrong
    expect(unowned.connect(), ["clear token"])
    expect(unowned.pass(.seconds(3600)), [])
    expect(unowned.login(), ["disconnect 0x13"])
  }

  @Test("every connection gets a token of its own", arguments: [ProductModel.sesame3, .sesame5])
  func tokens(model: ProductModel) {
    var probe = LockProbe(model)
    var seen: [Token] = []
    for _ in 0..<20 {
      _ = probe.connect()
      if let token = probe.token, !seen.contains(token) { seen.append(token) }
      _ = probe.disconnect()
    }
    expect(seen.count, 20)
  }

  @Test(
    "in a session, what is not authentic is passed over and harms nothing",
    arguments: [ProductModel.sesame3, .sesame5])
  func authenticity(model: ProductModel) {
    var probe = LockProbe(model)
    probe.open()
    let cipher = probe.cipher!
    expect(probe.send(.unlock(.absent)), ["unlock: success", "status moved moving"])
    let unlock = probe.lastFrames
    expect(probe.pass(.seconds(2)), ["status unlocked moving", "status unlocked"])
    expect(probe.send(.lock(.absent), inClear: true), [])
    expect(probe.send(frames: unlock), [])
    expect(probe.send(frames: [[0x05]]), [])
    expect(probe.send(frames: [[0x05, 1, 2, 3]]), [])
    expect(probe.send(frames: [[0x05, 1, 2, 3, 4, 5, 6]]), [])
    expect(probe.send(frames: [[0x04, 1, 2, 3, 4, 5, 6]]), [])
    expect(probe.login(), [])
    probe.cipher = cipher
    _ = probe.cipher?.encrypt([])
    for _ in 0..<4 { probe.cipher?.advanceReceiveCounter() }
    expect(probe.send(.lock(.absent)), ["lock: success", "status moved moving"])
  }

  @Test(
    "in a session, requests that a lock does not know or cannot read get the documented answer",
    arguments: [
      (ProductModel.sesame5, "00", ["none: not supported"]), (.sesame5, "ff", ["item 255: not supported"]),
      (.sesame5, "58", ["toggle: not supported"]), (.sesame5, "59", ["click: not supported"]),
      (.sesame5, "0701", ["enable DFU: not supported"]), (.sesame5, "51", []), (.sesame5, "", []),
      (.sesame5, "5205", ["lock: invalid format"]), (.sesame5, "52ff", ["lock: invalid format"]),
      (.sesame5, "0b01", ["autolock: invalid format"]), (.sesame5, "0bffff", ["autolock: invalid parameter"]),
      (.sesame5, "5000005a", ["mech setting: invalid format"]),
      (.sesame5, "5000800080", ["mech setting: invalid parameter"]),
      (.sesame5, "5005000500", ["mech setting: invalid parameter"]),
      (.sesame5, "04", ["history: invalid format"]), (.sesame5, "1263000000", ["history delete: not found"]),
      (.sesame5, "0401", ["history: not found"]), (.sesame5, "11", ["magnet: success", "status locked"]),
      (.sesame5, "5c0a00", ["open-sensor delay: success", "publish open-sensor delay 0a00"]),
      (.sesame5, "05", ["version: success +12"]), (.sesame5, "0201020304", ["login: invalid action"]),
      (.sesame5, "0f", ["identity: invalid action"]), (.sesame5, "0800f15365", ["time: success"]),
      (.sesame3, "00", []), (.sesame3, "0600", ["none: not supported"]),
      (.sesame3, "ffff", ["item 255: not supported"]), (.sesame3, "0658", ["toggle: not supported"]),
      (.sesame3, "0659", ["click: not supported"]), (.sesame3, "030701", ["enable DFU: not supported"]),
      (.sesame3, "065205", ["lock: invalid format"]), (.sesame3, "030b", ["autolock: invalid format"]),
      (.sesame3, "0350", ["mech setting: invalid format"]), (.sesame3, "020f", ["identity: invalid action"]),
      (.sesame3, "020401", ["history: not found"]), (.sesame3, "0251", ["mech status: success +8"]),
      (.sesame3, "030801020304", ["time: not supported"]),
      (.sesame3, "03500080008000000000" + "00000000", ["mech setting: invalid parameter"]),
    ])
  func requests(model: ProductModel, bytes: String, answers: [String]) throws {
    var probe = LockProbe(model)
    probe.open()
    expect(probe.send(bytes: try [UInt8](hex: bytes)), answers)
    expect(probe.send(.readVersion).count, 1)
  }
}

extension SecretKey {
  static let wrong = SecretKey(UUID128(high: 1, low: 2))
}

extension RegisterCommand {
  static let os2Sample = RegisterCommand.os2(
    signature: [1, 2, 3, 4], (try? PublicKey(bytes: [UInt8](repeating: 7, count: 64)))!,
    serverToken: Token(word: 5))
  static let os3Sample = RegisterCommand.os3(
    (try? PublicKey(bytes: [UInt8](repeating: 7, count: 64)))!, time: 1_700_000_000)
}

/// Locks with the keys of the published vectors, whose token is always `a1b2c3d4`.
enum VectorKeys {
  struct Fixed: SecretSource, Sendable {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { [0xA1, 0xB2, 0xC3, 0xD4][$0 % 4] } }
  }

  static func os3() throws -> (probe: LockProbe, pair: PrivateKey) {
    let device = try PrivateKey(
      scalar: [UInt8](hex: "8e4680bf0967682c4360f6099d405a95d9eed2fe6f2062ac43977da329a16b54"))
    let app = try PrivateKey(
      scalar: [UInt8](hex: "e0bee72d4aaf6d85489854136591b9f38cc44c2f50b1f60f9c271b1a556e8be4"))
    let identity = LockIdentity(deviceID: UUID128(high: 1, low: 2), keyPair: device)
    let lock = EmulatedLock(model: .sesame5, identity: identity, secrets: Fixed())
    return (LockProbe(lock, owner: nil, pair: app), app)
  }

  static func os2() throws -> LockProbe {
    let app = try PrivateKey(
      scalar: [UInt8](hex: "ccb96fce51a2c9b3a835e133a1d8a042ee56075461785e7e2ba32580b083e387"))
    let identity = try #require(
      LockIdentity(
        deviceID: UUID128(bytes: [UInt8](hex: "42918ad181544affbd1ff0cde88a8de1")),
        er: [UInt8](hex: "101112131415161718191a1b1c1d1e1f")))
    let lock = EmulatedLock(model: .sesame3, identity: identity, secrets: Fixed())
    return LockProbe(lock, owner: nil, pair: app)
  }
}
