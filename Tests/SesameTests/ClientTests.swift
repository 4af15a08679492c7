import Bluetooth
import Sesame
import Basics
import TestSupport
import Testing

/// A source that gives what a test lays down, so that a session has the keys of the published vectors.
private struct FixedSource: SecretSource {
  var draws: [[UInt8]]

  mutating func bytes(_ count: Int) -> [UInt8] {
    let draw = draws.removeFirst()
    precondition(draw.count == count, "a draw of \(draw.count) bytes where \(count) are asked for")
    return draw
  }
}

private func hex(_ text: String) throws -> [UInt8] { try [UInt8](hex: text) }

/// A Sesame 5 and its client, with the keys of the OS3 vectors.
private struct OS3Bench {
  static let id = "0123456789abcdef0123456789abcdef"
  static let advertisement = "02010616ff5a05050001\(id)030381fd"
  var client: SesameClient
  var adversary: Adversary

  init(registered: Bool = true) throws {
    let key = LockKey(
      deviceID: try UUID128(decoding: hex(Self.id)),
      secret: try SecretKey(bytes: hex("d948215b7f16c6d281fe80037f2c37c4")))
    let scalar = try hex("e0bee72d4aaf6d85489854136591b9f38cc44c2f50b1f60f9c271b1a556e8be4")
    let settings = ClientSettings(tag: .text("Alice", for: .os3))
    client = SesameClient(
      key: registered ? key : nil, settings: settings, secrets: FixedSource(draws: [scalar]))
    adversary = Adversary(settings)
  }

  /// What the client does when it is asked for something, which is overheard.
  mutating func perform(_ request: ClientRequest) -> [ClientAction] {
    let actions = client.perform(request, at: .zero)
    _ = adversary.overhear(actions, of: client)
    return actions
  }

  /// What the client does at an event, which is overheard.
  mutating func receive(_ event: LinkEvent) -> [ClientAction] {
    adversary.hear(event)
    let actions = client.receive(event, at: .zero)
    _ = adversary.overhear(actions, of: client)
    return actions
  }

  /// Brings the client to an open session in which the bolt is locked, ten milliseconds a step.
  mutating func login() throws {
    expect(perform(.closeTo), [.listen])
    expect(receive(.advertisement(try hex(Self.advertisement))), [.show(.receivedBle)])
    expect(perform(.connect), [.stopListening, .connect, .show(.connecting)])
    expect(receive(.connected), [.show(.waitingGatt)])
    expect(receive(.ready), [])
    expect(
      receive(.frame(try hex("03080ea1b2c3d4"))),
      [.send(try hex("030255b74990")), .show(.logining)])
    expect(receive(.frame(try hex("05a71fdcec2e15bb7f086a81"))), [])
    expect(
      receive(.frame(try hex("05d81a82ad8b2d072398718078"))),
      [.report(.autolock(60))])
    expect(
      receive(.frame(try hex("0545542e8cfb82cdc19bc9b475ca"))),
      [.report(.battery(5.85)), .show(.locked)])
  }

  /// What the client does at further messages of the lock in the session that ``login()`` opened.
  mutating func hear(_ messages: [UInt8]...) throws -> [ClientAction] {
    let token = try Token(decoding: hex("a1b2c3d4"))
    let secret = try SecretKey(bytes: hex("d948215b7f16c6d281fe80037f2c37c4"))
    var lock = SessionCipher(
      key: OS3Keys.sessionKey(deviceSecret: secret, token), token: .os3(token), end: .lock)
    lock.sendCounter = 3
    return messages.flatMap { message in
      Segmenter().frames(of: lock.encrypt(message), .ciphertext).flatMap {
        client.receive(.frame($0), at: .zero)
      }
    }
  }
}

@Suite("The client, with the keys of the vectors")
struct ClientTests {
  @Test("a Sesame 5 is found, logged in to and unlocked, and the status changes when the bolt rests")
  func os3() throws {
    var bench = try OS3Bench()
    try bench.login()
    // The first message of the session; the vector's unlock is its second.
    expect(
      bench.client.perform(.setTime, at: .zero), [.send(try hex("05a81d2dbfbae00afa6d"))])
    expect(
      bench.client.perform(.unlock(.text("Alice", for: .os3)), at: .zero),
      [.send(try hex("05834f5f3e864e5ec8669f14"))])
    expect(bench.client.receive(.frame(try hex("051ff508403dc074")), at: .zero), [])
    expect(
      bench.client.receive(.frame(try hex("05457b7023eab8acaf533d66f258")), at: .zero),
      [.report(.battery(5.8))])
    expect(
      bench.client.receive(.frame(try hex("05ed626933d2faae42e875701253")), at: .zero),
      [.report(.battery(5.84)), .show(.unlocked)])
  }

  @Test("a delay of autolock is told as the lock told it, and no more once another was set over it")
  func autolockOutOfDate() throws {
    var bench = try OS3Bench()
    try bench.login()
    expect(bench.client.perform(.readAutolock, at: .zero), [.report(.autolock(60))])
    expect(bench.client.perform(.setAutolock(seconds: 0), at: .zero).count, 1)
    expect(bench.client.perform(.readAutolock, at: .zero), [])
  }

  @Test("what a generation cannot be asked for is refused, and does not count as asked")
  func unknownToGeneration() throws {
    var bench = try OS3Bench()
    try bench.login()
    expect(
      bench.client.perform(.readStatus, at: .zero), [.refuse("a lock of OS3 cannot be asked for that")])
  }

  @Test("what the lock tells of its autolock is not from after a request that it has not answered")
  func autolockUnderWay() throws {
    var setting = Sesame5Setting(lock: 0, unlock: 90)
    setting.autolock = 60
    let told = Publish(.mechSetting, setting.encoded).encoded
    let request = LockCommand.setAutolock(seconds: 8, .absent).request(for: .os3)
    let answer = Response(to: request).encoded
    for (heard, known) in [([told, answer], []), ([answer, told], [60])] {
      var bench = try OS3Bench()
      try bench.login()
      _ = bench.client.perform(.setAutolock(seconds: 8), at: .zero)
      expect(try bench.hear(heard[0], heard[1]), [])
      expect(
        bench.client.perform(.readAutolock, at: .zero),
        known.map { .report(.autolock($0)) })
    }
  }

  @Test(
    "a Sesame 3 is logged in to with the app's key pair and token, and its payload says where the bolt is")
  func os2() throws {
    let lockKey =
      "87336130c7ccaca4f43acd2b0c0f41e241a486374893941994466d6a07b4942f"
      + "54e5975af1a32223d9fa3fcd0c9967e5c06b08a8c43785e7b35320b6c2a38452"
    let key = LockKey(
      deviceID: try UUID128(decoding: hex("42918ad181544affbd1ff0cde88a8de1")),
      secret: try SecretKey(bytes: hex("14206e77f82c25fb4f12ff1826c0f828")),
      lockPublicKey: try PublicKey(bytes: hex(lockKey)))
    let scalar = try hex("ccb96fce51a2c9b3a835e133a1d8a042ee56075461785e7e2ba32580b083e387")
    var client = SesameClient(
      key: key, settings: ClientSettings(),
      secrets: FixedSource(draws: [scalar, try hex("55667788")]))
    _ = client.perform(.closeTo, at: .zero)
    let advertisement =
      try hex("02010606ff5a05000001030381fd") + hex("17095170474b3059465553762b39482f444e3649714e3451")
    expect(client.receive(.advertisement(advertisement), at: .zero), [.show(.receivedBle)])
    _ = client.perform(.connect, at: .zero)
    _ = client.receive(.connected, at: .zero)
    expect(
      client.receive(.frame(try hex("03080ea1b2c3d4")), at: .zero),
      [
        .send(try hex("0105020000e7b95ff454c82ed76868b735d871a6")),
        .send(try hex("009aaa162445f48663fde4a03ec85559c9a6004a")),
        .send(try hex("00920946279ad7887659beea6e70eaf5b12a009e")),
        .send(try hex("02267f5765b18828478b975d55667788e0b61fb3")), .show(.logining),
      ])
    expect(client.receive(.frame(try hex("01601e774b38f7a4e55da1980241b3001a0f3c2c")), at: .zero), [])
    let shown = client.receive(.frame(try hex("04732f8e988d04df59f67dbdc36d161f9f71")), at: .zero)
    expect(shown.last, .show(.locked))
    expect(shown.count, 2)
    expect(
      client.perform(.lock(.text("Alice", for: .os2)), at: .zero),
      [
        .send(try hex("013a19d499a908fa20b7630b23e12960af6c6a23")), .send(try hex("044dee9532cb7b40d118")),
      ])
  }

  @Test(
    "each wait ends at its deadline, and not a nanosecond earlier",
    arguments: [
      (1, 10, nil), (2, 30, nil),
      (3, 30, broken("no-token", "no token within 30 s")),
      (
        4, 10,
        broken(
          "no-answer", of: "login", "no answer to login within 10 s",
          packet: [2, 0x55, 0xB7, 0x49, 0x90], from: .app)
      ),
    ] as [(Int, Int64, ProtocolViolation?)])
  func deadlines(steps: Int, seconds: Int64, violation: ProtocolViolation?) throws {
    var client = try OS3Bench().client
    _ = client.perform(.closeTo, at: .zero)
    _ = client.receive(.advertisement(try hex(OS3Bench.advertisement)), at: .zero)
    if steps > 1 { _ = client.perform(.connect, at: .zero) }
    if steps > 2 { _ = client.receive(.connected, at: .zero) }
    if steps > 3 { _ = client.receive(.frame(try hex("03080ea1b2c3d4")), at: .zero) }
    let deadline = Instant.zero + .seconds(seconds)
    expect(client.deadline, deadline)
    expect(client.advance(to: deadline - Interval(nanoseconds: 1)), [])
    let complaint = violation.map { [ClientAction.reportViolation($0)] } ?? []
    expect(
      client.advance(to: deadline),
      complaint + [steps == 1 ? .stopListening : .disconnect, .show(.noSignal)])
    expect(client.deadline, nil)
  }

  @Test("an answer that does not come within five seconds ends the session, and is complained of")
  func unanswered() throws {
    var bench = try OS3Bench()
    try bench.login()
    _ = bench.client.perform(.setTime, at: .zero)
    expect(
      bench.client.advance(to: .zero + .seconds(5)),
      [
        .reportViolation(
          broken(
            "no-answer", of: "time", "no answer to time 00f15365 within 5 s",
            packet: try hex("0800f15365"), from: .app)), .disconnect, .show(.noSignal),
      ])
  }

  @Test(
    "what a lock may not send is complained of and changes nothing",
    arguments: [
      ("0308516d0b0080620014", "clear-text", "mech status", "mech status in clear", "08516d0b0080620014"),
      ("05aabbccddee", "not-authentic", nil, "a message that does not authenticate", "aabbccddee"),
      ("03", "empty-frame", nil, "a frame without data", "03"),
      ("0709", "unknown-kind", nil, "a frame of kind 3", "0709"),
    ] as [(String, String, String?, String, String)])
  func complaints(frame: String, name: String, subject: String?, detail: String, packet: String) throws {
    var bench = try OS3Bench()
    try bench.login()
    expect(
      bench.client.receive(.frame(try hex(frame)), at: .zero),
      [.reportViolation(broken(name, of: subject, detail, packet: try hex(packet)))])
    expect(bench.client.status, .locked)
    // The counter stayed: what the lock says next is understood.
    expect(
      bench.client.receive(.frame(try hex("051ff508403dc074")), at: .zero),
      [
        .reportViolation(
          broken(
            "answer-to-nothing", of: "unlock", "an answer to nothing: unlock",
            packet: try hex("075300")))
      ])
  }

  @Test("a token that is repeated is noted, and changes nothing")
  func repeatedToken() throws {
    var bench = try OS3Bench()
    try bench.login()
    expect(
      bench.client.receive(.frame(try hex("03080ea1b2c3d4")), at: .zero),
      [
        .reportViolation(
          broken(
            "token-again", "a token in the middle of a connection", packet: try hex("080ea1b2c3d4")))
      ])
    expect(bench.client.status, .locked)
  }

  @Test("advertisements of others are passed over, and told")
  func foreign() throws {
    var client = try OS3Bench().client
    _ = client.perform(.closeTo, at: .zero)
    for (data, reason) in [
      ("", "advertisement, at 0: the manufacturer data is missing"),
      ("03ff5a05", "advertisement, at 2: 1 more byte needed"),
      ("02010616ff5a05050001ffffffffffffffffffffffffffffffff030381fd", "advertisement of Sesame 5"),
    ] {
      expect(
        client.receive(.advertisement(try hex(data)), at: .zero),
        [.report(.ignored(reason))])
    }
  }

  @Test("what is not possible yet is refused in every status, and nothing is sent")
  func refusals() throws {
    var client = try OS3Bench().client
    let requests: [ClientRequest] = [
      .connect, .register(), .configure(lock: 0, unlock: 90), .lock(.absent), .unlock(.absent),
      .toggle(.absent),
      .disconnect, .reset, .readHistory,
    ]
    for request in requests {
      expect(client.perform(request, at: .zero), [.refuse("not possible in noSignal")])
    }
  }
}

@Suite("The client against those who lie to it and those who tell secrets")
struct HostileMessageTests {
  @Test(
    "what nobody should believe changes nothing and is no reproach to the lock", arguments: Spoof.allCases)
  func spoof(spoof: Spoof) throws {
    var bench = try OS3Bench()
    try bench.login()
    expect(bench.adversary.bring(about: .spoof(spoof), before: &bench.client, at: .zero), [])
    expect(
      bench.client.perform(.setTime, at: .zero), [.send(try hex("05a81d2dbfbae00afa6d"))])
  }

  @Test("a key in a message is complained of: the owner's, the session's, sealed or in clear")
  func leak() throws {
    let secret = "d948215b7f16c6d281fe80037f2c37c4"
    let key = try SecretKey(bytes: hex(secret))
    let sessionKey = OS3Keys.sessionKey(deviceSecret: key, try Token(decoding: hex("a1b2c3d4")))
    for bytes in [try hex(secret), sessionKey.exposedBytes] {
      for isSealed in [false, true] {
        var bench = try OS3Bench()
        try bench.login()
        // The lock has said three things.
        var lock = SessionCipher(
          key: sessionKey, token: .os3(try Token(decoding: hex("a1b2c3d4"))), end: .lock)
        lock.sendCounter = 3
        let message = Publish(.mechStatus, [1, 2] + bytes + [3]).encoded
        let frames =
          isSealed
          ? Segmenter().frames(of: lock.encrypt(message), .ciphertext)
          : Segmenter().frames(of: message, .plaintext)
        var said: [ClientAction] = []
        for frame in frames { said += bench.client.receive(.frame(frame), at: .zero) }
        let told = said.compactMap { action -> ProtocolViolation? in
          if case .reportViolation(let violation) = action { violation } else { nil }
        }
        expect(told.filter { $0.rule == .keyExposed }.count, 1)
        // What else is wrong with the message is said without it.
        #expect(!told.contains { ($0.packet ?? []).contains(bytes[0]) }, "\(told)")
      }
    }
  }

  @Test("what a flaw makes of a message, no cipher takes", arguments: MessageFlaw.allCases)
  func flaws(flaw: MessageFlaw) throws {
    var bench = try OS3Bench()
    try bench.login()
    expect(bench.adversary.bring(about: .shadow(flaw)), [])
    let sent = bench.adversary.overhear(bench.client.perform(.setTime, at: .zero), of: bench.client)
    // It is said that no client says this; the message itself comes last, as it is, and between is something else.
    expect(sent.first, .inject(.shadow(flaw)))
    expect(sent.last, .send(try hex("05a81d2dbfbae00afa6d")))
    #expect(sent.count > 2)
    #expect(!sent.dropLast().contains(.send(try hex("05a81d2dbfbae00afa6d"))))

    var other = try OS3Bench()
    try other.login()
    expect(other.adversary.bring(about: .mutate(flaw)), [])
    // It is said that the message is not the client's, before it is sent.
    expect(
      other.adversary.overhear(other.client.perform(.setTime, at: .zero), of: other.client),
      [.report(.tampered), .inject(.mutation(flaw))] + sent.dropFirst().dropLast())
  }

  @Test("each forgery is sent in a session, and none without a connection", arguments: Forgery.allCases)
  func forgeries(forgery: Forgery) throws {
    var bench = try OS3Bench()
    expect(bench.adversary.bring(about: .forge(forgery)), [])
    try bench.login()
    _ = bench.perform(.setTime)
    var isWithheld = forgery == .lastSession
    // A lock that lost the message before still awaits its counter: it would rightly obey.
    if case .request(_, let flaw) = forgery, [.previousCounter, .firstCounter].contains(flaw) {
      isWithheld = true
    }
    #expect(bench.adversary.bring(about: .forge(forgery)).isEmpty == isWithheld)
  }

  @Test("an odd request has its answer, and one that is obeyed is complained of", arguments: [0, 8])
  func oddAnswers(result: UInt8) throws {
    var bench = try OS3Bench()
    try bench.login()
    let asked = bench.client.ask(.unknownItem, at: .zero)
    expect(asked.first, .inject(.request(.unknownItem)))
    expect(asked.count, 2)
    expect(
      try bench.hear([7, 0xFA, result]),
      result == 0
        ? [
          .reportViolation(
            broken(
              "malformed-obeyed", of: "unknown-item", "unknown-item was obeyed",
              packet: [7, 0xFA, 0]))
        ] : [])
  }
}
