import Bluetooth
import Sesame
import Basics
import TestSupport
import Testing

/// What is read in the traffic of a lock, by those who have its key and by those who have not.
@Suite struct LockCaptureTests {
  /// Both ends of a link, as a capture of the client's side has them.
  private struct Talk {
    var records: [BTSnoop.Record] = []

    mutating func say(_ message: [UInt8], _ kind: MessageKind = .plaintext, from end: SessionEnd) {
      for frame in Segmenter().frames(of: message, kind) { send(frame, from: end) }
    }

    mutating func send(_ frame: [UInt8], from end: SessionEnd) {
      let isReceived = end == .lock
      let handle = AttributeHandle(rawValue: isReceived ? 15 : 13)
      let packet: ATTPacket = isReceived ? .notification(handle, frame) : .writeCommand(handle, frame)
      let acl = ACLPacket(
        handle: ConnectionHandle(rawValue: 0x40), boundary: isReceived ? .firstFlushable : .first,
        data: L2CAPFrame(.att, packet.encoded).encoded)
      records.append(
        BTSnoop.Record(
          time: UInt64(records.count), isReceived: isReceived, packet: HCIPacket.acl(acl).h4))
    }

    /// The layers above the attribute protocol, and the bytes where some are not shown.
    func read(
      keys: [LockKey] = [], model: ProductModel? = nil, sessions: [SessionSecret] = []
    ) -> [String] {
      var decoder = LockCaptureDecoder(keys: keys, model: model, sessions: sessions)
      var entries: [CaptureEntry] = []
      for record in records { entries += decoder.decode(record) }
      entries += decoder.finish()
      expect(entries.map(\.number), Array(records.indices))
      return entries.flatMap { entry in
        let heading = "\(entry.number) \(entry.sender?.rawValue ?? "?") "
        let secrets = entry.secrets.isEmpty ? [] : [heading + entry.hex.dropFirst(24)]
        return secrets + entry.layers.dropFirst(3).map { heading + "\($0.name): \($0.text)" }
      }
    }
  }

  private static let secret = SecretKey(UUID128(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00))
  private static let key = LockKey(deviceID: UUID128(high: 1, low: 2), secret: secret)
  private static let token = Token(word: 0x0403_0201)

  /// The two ciphers of an OS3 session.
  private static func ends() -> (app: SessionCipher, lock: SessionCipher) {
    let session = OS3Keys.sessionKey(deviceSecret: secret, token)
    return (
      SessionCipher(key: session, token: .os3(token), end: .app),
      SessionCipher(key: session, token: .os3(token), end: .lock)
    )
  }

  private static func login() -> Talk {
    var talk = Talk()
    talk.say(Publish.initial(token).encoded, from: .lock)
    talk.say(
      LockCommand.login(.os3(OS3Keys.sessionKey(deviceSecret: secret, token).proof)).encoded(for: .os3),
      from: .app)
    return talk
  }

  @Test("an OS3 session is read by the lock's key, in both directions, whatever was lost, repeated or forged")
  func os3() {
    var talk = Self.login()
    var (app, lock) = Self.ends()
    talk.say(lock.encrypt([7, 2, 0, 0, 0xF1, 0x53, 0x65]), .ciphertext, from: .lock)
    let first = app.encrypt(
      LockCommand.lock(.text(Array("Alice, who has a long name".utf8))).encoded(for: .os3))
    talk.say(first, .ciphertext, from: .app)
    _ = app.encrypt([1])
    talk.say(app.encrypt(LockCommand.setAutolock(seconds: 60).encoded(for: .os3)), .ciphertext, from: .app)
    talk.say(first, .ciphertext, from: .app)
    talk.say(app.encrypt(LockCommand.readVersion.encoded(for: .os3)).map { $0 ^ 1 }, .ciphertext, from: .app)
    talk.say([1, 2, 3], .ciphertext, from: .lock)
    talk.say(lock.encrypt([9, 9]), .ciphertext, from: .lock)
    talk.say(LockCommand.unlock(.absent).encoded(for: .os3), from: .app)
    talk.send([], from: .app)
    talk.send([4, 1], from: .lock)
    expect(
      talk.read(keys: [Self.key]),
      [
        "0 lock Sesame: frame 1 of 1, plaintext, 6 bytes", "0 lock Publish: initial, token 01020304",
        "1 client Sesame: frame 1 of 1, plaintext, 5 bytes",
        "1 client Command: login, proof \(OS3Keys.sessionKey(deviceSecret: Self.secret, Self.token).proof)",
        "2 lock Sesame: frame 1 of 1, ciphertext, 11 bytes", "2 lock Plaintext: 07020000f15365",
        "2 lock Answer: login: success, clock 1700000000",
        "3 client Sesame: frame 1, more follow", "4 client Sesame: frame 2 of 2, ciphertext, 32 bytes",
        "4 client Plaintext: 521a416c6963652c2077686f206861732061206c6f6e67206e616d65",
        "4 client Command: lock, “Alice, who has a long name”",
        "5 client Sesame: frame 1 of 1, ciphertext, 7 bytes",
        "5 client Plaintext: 0b3c00; counter 2 where 1 is next", "5 client Command: set autolock to 60 s",
        "6 client Sesame: frame 1, more follow", "7 client Sesame: frame 2 of 2, ciphertext, 32 bytes",
        "7 client Plaintext: 521a416c6963652c2077686f206861732061206c6f6e67206e616d65; "
          + "counter 0 again where 3 is next",
        "7 client Command: lock, “Alice, who has a long name”",
        "8 client Sesame: frame 1 of 1, ciphertext, 5 bytes",
        "8 client Plaintext: not authentic: no key at hand opens it at counter 3, nor near it",
        "9 lock Sesame: frame 1 of 1, ciphertext, 3 bytes", "9 lock Plaintext: shorter than its tag",
        "10 lock Sesame: frame 1 of 1, ciphertext, 6 bytes", "10 lock Plaintext: 0909",
        "10 lock Message: malformed: at 0: 9 is not a valid op code of a lock's message",
        "11 client Sesame: frame 1 of 1, plaintext, 1 bytes", "11 client Command: unlock, no tag",
        "12 client Sesame: malformed: a frame without a header",
        "13 lock Sesame: frame 1 of 1, goes on with nothing, ciphertext, 1 bytes",
        "13 lock Plaintext: shorter than its tag",
      ])
  }

  @Test("whoever has no key, another's, or came too late, is told so")
  func unreadable() {
    var talk = Self.login()
    var (app, _) = Self.ends()
    talk.say(app.encrypt([83]), .ciphertext, from: .app)
    let other = LockKey(deviceID: UUID128(high: 5, low: 6), secret: SecretKey(UUID128(high: 7, low: 8)))
    var late = talk
    late.records.removeFirst(2)
    let last = "client Plaintext: "
    expect(talk.read(model: .sesame5).last, "2 \(last)not readable without the lock's key")
    expect(
      talk.read(keys: [other]).last,
      "2 \(last)not authentic: no key at hand opens it at counter 0, nor near it")
    expect(
      late.read(keys: [Self.key]).last,
      "0 \(last)not readable: the capture has no token of this connection's lock")
  }

  @Test("an OS2 session is read where the capture has the registration, or somebody has its key")
  func os2() throws {
    var secrets = SeededGenerator(seed: 1)
    let er = secrets.bytes(16)
    let pair = try #require(OS2Keys.deviceKey(er: er))
    let owner = PrivateKey(from: &secrets)
    let shared = try owner.sharedSecret(with: pair.publicKey)
    let server = Token(word: 0x0807_0605)
    let token = SessionToken.os2(app: server, lock: Self.token)
    let registration = OS2Keys.registrationKey(shared, token)
    var talk = Talk()
    talk.say(Publish.initial(Self.token).encoded, from: .lock)
    talk.say(LockCommand.readIdentity.encoded(for: .os2), from: .app)
    talk.say(
      [7, 15, 2, 0] + Identity(ir: [UInt8](repeating: 1, count: 16), er: er).encoded, from: .lock)
    talk.say(
      LockCommand.register(.os2(signature: [1, 2, 3, 4], owner.publicKey, serverToken: server)).encoded(
        for: .os2),
      from: .app)
    var app = SessionCipher(
      key: OS2Keys.registrationSessionKey(registrationKey: registration, token), token: token, end: .app)
    talk.say(app.encrypt(LockCommand.unlock(.absent).encoded(for: .os2)), .ciphertext, from: .app)
    // A later login needs no more than that.
    let appToken = Token(word: 0x0C0B_0A09)
    let login = SessionToken.os2(app: appToken, lock: Self.token)
    let session = OS2Keys.loginSessionKey(shared, login)
    talk.say(Publish.initial(Self.token).encoded, from: .lock)
    talk.say(
      LockCommand.login(.os2(keyIndex: 0, owner.publicKey, appToken: appToken, Proof(word: 1))).encoded(
        for: .os2),
      from: .app)
    var later = SessionCipher(key: session, token: login, end: .app)
    let reset = later.encrypt(LockCommand.reset.encoded(for: .os2))
    talk.say(reset, .ciphertext, from: .app)

    let lines = talk.read(model: .sesame3)
    expect(
      lines.filter { line in ["Command", "Answer", "*", "Plaintext"].contains { line.contains($0) } },
      [
        "1 client Command: read identity",
        "3 lock 0201" + String(repeating: "**", count: 16),
        "3 lock Answer: identity: success, the rest withheld",
        "7 client Command: register, signature 01020304, token 05060708",
        "9 client Plaintext: 0653" + String(repeating: "00", count: 22), "9 client Command: unlock, no tag",
        "14 client Command: login with key 0, token 090a0b0c, proof 01000000",
        "15 client Plaintext: 0401", "15 client Command: reset",
      ])
    #expect(!lines.joined().contains(er.hex))
    // Without the registration the owner's key alone does not help, and the session's does.
    var alone = talk
    alone.records.removeFirst(10)
    let ownerKey = LockKey(
      deviceID: UUID128(high: 1, low: 2), secret: OS2Keys.ownerKey(registrationKey: registration),
      lockPublicKey: pair.publicKey)
    expect(
      alone.read(keys: [ownerKey], model: .sesame3).last,
      "5 client Plaintext: not readable: an OS2 session's key follows from key pairs, "
        + "and the capture does not tell the lock's")
    expect(
      alone.read(model: .sesame3, sessions: [SessionSecret(login, session)]).last, "5 client Command: reset")
  }

  @Test("a key that somebody says is not shown, in clear or encrypted, nor are passcodes")
  func secrets() {
    var talk = Self.login()
    var (app, _) = Self.ends()
    talk.say([8, 200] + Self.secret.exposedBytes + [1], from: .lock)
    talk.say(app.encrypt([200] + Self.secret.exposedBytes), .ciphertext, from: .app)
    talk.say(app.encrypt([101, 1, 2, 3]), .ciphertext, from: .app)
    talk.say(app.encrypt([123, 9, 9]), .ciphertext, from: .app)
    let lines = talk.read(keys: [Self.key])
    expect(
      Array(lines.dropFirst(4)),
      [
        "2 lock 0308c8" + String(repeating: "**", count: 16) + "01",
        "2 lock Sesame: frame 1 of 1, plaintext, 19 bytes", "2 lock Publish: radar set, the rest withheld",
        "3 client Sesame: frame 1, more follow", "4 client Sesame: frame 2 of 2, ciphertext, 21 bytes",
        "4 client Plaintext: withheld", "4 client Command: radar set, the rest withheld",
        "5 client Sesame: frame 1 of 1, ciphertext, 8 bytes", "5 client Plaintext: withheld",
        "5 client Command: add Sesame, the rest withheld",
        "6 client Sesame: frame 1 of 1, ciphertext, 7 bytes", "6 client Plaintext: withheld",
        "6 client Command: passcode change, the rest withheld",
      ])
  }

  @Test(
    "values of attributes that were not discovered are frames only where something says that the device is a Sesame",
    arguments: [
      ([], false, false), ([[0x03, 0x03, 0x81, 0xFD]], false, true),
      ([[0x03, 0x03, 0x0F, 0x18]], false, false),
      ([], true, true), ([[0x03, 0x03, 0x0F, 0x18]], true, false), ([[0x03, 0x03, 0x81, 0xFD]], true, true),
    ] as [([[UInt8]], Bool, Bool)])
  func evidence(advertised: [[UInt8]], hasKey: Bool, isRead: Bool) {
    let peer = PeerAddress(.randomDevice, .staticRandom(7))
    let complete = ConnectionComplete(
      status: .success, handle: ConnectionHandle(rawValue: 0x40), role: .central, peer: peer,
      timing: ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200))
    var talk = Self.login()
    // An identity from which keys follow, in two frames: hidden whoever says it.
    talk.say([7, 15, 2, 0] + [UInt8](repeating: 0xEE, count: 32), from: .lock)
    let events =
      advertised.map { HCIEvent.leAdvertisingReport([.init(.connectable, from: peer, $0, rssi: -60)]) }
      + [.leConnectionComplete(complete)]
    talk.records.insert(
      contentsOf: events.map { BTSnoop.Record(time: 0, isReceived: true, packet: $0.packet.h4) }, at: 0)
    var decoder = LockCaptureDecoder(keys: hasKey ? [Self.key] : [])
    var entries: [CaptureEntry] = []
    for record in talk.records { entries += decoder.decode(record) }
    entries += decoder.finish()
    expect(entries.contains { $0.layers.contains { $0.text.contains("token 01020304") } }, isRead)
    expect(entries.contains { $0.layers.contains { $0.name == "Sesame" } }, isRead)
    expect(entries.map(\.hex).joined().components(of: "ee"), 16)
  }

  @Test("a host that advertises as a Sesame is one: what its clients write is read without a discovery")
  func ownAdvertisement() {
    let complete = ConnectionComplete(
      status: .success, handle: ConnectionHandle(rawValue: 0x40), role: .peripheral,
      peer: PeerAddress(.randomDevice, .staticRandom(7)),
      timing: ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200))
    let write = ATTPacket.writeCommand(AttributeHandle(rawValue: 13), [0x03, 0x52])
    let acl = ACLPacket(
      handle: ConnectionHandle(rawValue: 0x40), boundary: .firstFlushable,
      data: L2CAPFrame(.att, write.encoded).encoded)
    func commands(advertising data: [UInt8]) -> [String] {
      var decoder = LockCaptureDecoder()
      let packets: [(HCIPacket, Bool)] = [
        (HCICommand.leSetAdvertisingData(data).packet, false),
        (HCIEvent.leConnectionComplete(complete).packet, true), (.acl(acl), true),
      ]
      let entries = packets.flatMap {
        decoder.decode(BTSnoop.Record(time: 0, isReceived: $1, packet: $0.h4))
      }
      return entries.flatMap(\.layers).filter { $0.name == "Command" }.map(\.text)
    }
    expect(commands(advertising: [3, 3, 0x81, 0xFD]), ["lock, no tag"])
    expect(commands(advertising: [3, 3, 0x0F, 0x18]), [])
  }

  @Test("no capture makes it trap, and every record comes out with something said of it")
  func hostile() {
    var talk = Self.login()
    var (app, lock) = Self.ends()
    talk.say([7, 15, 2, 0] + [UInt8](repeating: 3, count: 32), from: .lock)
    talk.say(app.encrypt(LockCommand.lock(.absent).encoded(for: .os3)), .ciphertext, from: .app)
    talk.say(lock.encrypt([8, 81, 1, 2, 3, 4, 5, 6, 7]), .ciphertext, from: .lock)
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<500 {
      var decoder = LockCaptureDecoder(keys: [Self.key])
      var entries: [CaptureEntry] = []
      for var record in talk.records {
        let chance = generator.next()
        let place = Int((chance >> 8) % UInt64(record.packet.count))
        switch chance % 8 {
        case 0: record.packet[place] = UInt8(truncatingIfNeeded: chance >> 40)
        case 1: record.packet.removeSubrange(place...)
        case 2: record.drops = UInt32(truncatingIfNeeded: chance >> 32)
        case 3: entries += decoder.decode(record)
        default: break
        }
        entries += decoder.decode(record)
      }
      entries += decoder.finish()
      let packets = entries.filter { $0.event == nil }
      guard packets.map(\.number) == Array(packets.indices), packets.allSatisfy({ !$0.layers.isEmpty }) else {
        Issue.record("\(entries)")
        return
      }
    }
  }
}

extension String {
  /// How often a pair of digits occurs, at an even place.
  fileprivate func components(of pair: String) -> Int {
    let digits = Array(self)
    return stride(from: 0, to: digits.count - 1, by: 2).count { String(digits[$0...$0 + 1]) == pair }
  }
}
