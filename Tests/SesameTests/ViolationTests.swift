import Bluetooth
import Foundation
import Basics
import TestSupport
import Testing

@testable import Sesame

private let secret = SecretKey(UUID128(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210))
private let deviceID = UUID128(high: 0x5C2A_2F49_3B0E_4B7A, low: 0x9F51_0D1F_4D6C_7E10)
private let firstToken = Token(word: 0x1122_3344)
private let secondToken = Token(word: 0x5566_7788)

/// A client and, in place of its lock, whatever a test has it say.
private struct Talk {
  var client: SesameClient
  var adversary: Adversary
  var lock = SessionCipher(key: secret, token: .os3(firstToken), end: .lock)
  var now = Instant.zero
  /// What the client complained of, in order.
  var violations: [ProtocolViolation] = []
  private let advertisement: [UInt8]

  init(registered: Bool = true, settings: ClientSettings = ClientSettings()) throws {
    client = SesameClient(
      key: registered ? LockKey(deviceID: deviceID, secret: secret) : nil, settings: settings,
      secrets: SeededGenerator(seed: 1))
    adversary = Adversary(settings)
    advertisement = try [UInt8](
      hex: "02010616ff5a050500\(registered ? "01" : "00")" + deviceID.description.filter { $0 != "-" }
        + "030381fd")
  }

  private mutating func hear(_ event: LinkEvent) {
    adversary.hear(event)
    note(client.receive(event, at: now))
  }

  private mutating func note(_ actions: [ClientAction]) {
    _ = adversary.overhear(actions, of: client)
    for case .reportViolation(let violation) in actions { violations.append(violation) }
  }

  mutating func ask(_ request: ClientRequest) { note(client.perform(request, at: now)) }

  mutating func ask(_ request: UndefinedRequest) { note(client.ask(request, at: now)) }

  /// Lets time pass.
  mutating func wait(_ interval: Interval) {
    now = now + interval
    note(client.advance(to: now))
  }

  mutating func say(frame: String) throws { hear(.frame(try [UInt8](hex: frame))) }

  mutating func say(_ bytes: [UInt8], _ kind: MessageKind) {
    for frame in Segmenter().frames(of: bytes, kind) { hear(.frame(frame)) }
  }

  /// Says something under the next counter, or under another one that comes or was so many messages away.
  mutating func say(_ bytes: [UInt8], off offset: Int = 0) {
    var cipher = lock
    cipher.sendCounter = UInt64(Int(lock.sendCounter) + offset)
    say(cipher.encrypt(bytes), .ciphertext)
    if offset == 0 { lock = cipher }
  }

  /// Comes to where the token is due.
  mutating func connect() {
    ask(.closeTo)
    hear(.advertisement(advertisement))
    ask(.connect)
    hear(.connected)
    hear(.ready)
  }

  /// Comes to where the answer to the login is due.
  mutating func begin(_ token: Token = firstToken) {
    connect()
    lock = SessionCipher(
      key: OS3Keys.sessionKey(deviceSecret: secret, token), token: .os3(token), end: .lock)
    say(Publish.initial(token).encoded, .plaintext)
  }

  mutating func accept() {
    var time: [UInt8] = [7, 2, 0]
    time.append(littleEndian: UInt32(1_700_000_000))
    say(time)
  }

  /// Comes to an open session.
  mutating func open(_ token: Token = firstToken) {
    begin(token)
    accept()
    say([8, 80] + Sesame5Setting(lock: 0, unlock: 90).encoded)
    say([8, 81] + Self.status())
  }

  static func status(_ flags: UInt8 = 0x12) -> [UInt8] {
    Sesame5Status(battery: 3000, position: 0, flags: .init(rawValue: flags)).encoded
  }

  /// A status of a motor that runs.
  static var moving: [UInt8] {
    Sesame5Status(battery: 3000, target: 90, position: 45, flags: []).encoded
  }

  /// A history record.
  static func record(_ id: UInt32) -> [UInt8] {
    var bytes: [UInt8] = [7, 4, 0]
    bytes.append(littleEndian: id)
    bytes.append(2)
    bytes.append(littleEndian: UInt32(1_700_000_000))
    return bytes + status() + [0]
  }
}

/// What a lock does, and which rule that breaks.
private struct Breach: Sendable, CustomTestStringConvertible {
  var violation: SesameViolation
  var registered = true
  var words: String
  var script: @Sendable (inout Talk) throws -> Void

  init(
    _ violation: SesameViolation, _ words: String, registered: Bool = true,
    _ script: @escaping @Sendable (inout Talk) throws -> Void
  ) {
    self.violation = violation
    self.words = words
    self.registered = registered
    self.script = script
  }

  var testDescription: String { "\(violation.rawValue): \(words)" }
}

/// In an open session.
private func session(
  _ violation: SesameViolation, _ words: String, _ script: @escaping @Sendable (inout Talk) throws -> Void
) -> Breach {
  Breach(violation, words) { talk in
    talk.open()
    try script(&talk)
  }
}

private let breaches: [Breach] = [
  session(.emptyFrame, "nothing") { try $0.say(frame: "") },
  session(.emptyFrame, "a header in clear") { try $0.say(frame: "03") },
  session(.emptyFrame, "an encrypted header") { try $0.say(frame: "05") },
  session(.unexpectedFrame, "a middle frame") { try $0.say(frame: "00aabbcc") },
  session(.unexpectedFrame, "a last frame in clear") { try $0.say(frame: "020851") },
  session(.unexpectedFrame, "a last frame of ciphertext") { try $0.say(frame: "04aabbccddee") },
  session(.unfinishedMessage, "two beginnings") { talk in
    try talk.say(frame: "01aabb")
    talk.say([8, 81] + Talk.status())
  },
  session(.unknownKind, "3") { try $0.say(frame: "070851") },
  session(.unknownKind, "127") { try $0.say(frame: "ff0102") },
  session(.unknownKind, "in the middle") { talk in
    try talk.say(frame: "01aabb")
    try talk.say(frame: "06aabb")
  },
  session(.messageTooLong, "one that does not end") { talk in
    try talk.say(frame: "01" + String(repeating: "00", count: 19))
    for _ in 0..<1000 { try talk.say(frame: "00" + String(repeating: "00", count: 19)) }
  },
  session(.notAuthentic, "noise") { try $0.say(frame: "05aabbccddee") },
  session(.notAuthentic, "less than a tag") { try $0.say(frame: "05aabb") },
  session(.notAuthentic, "nine counters ahead") { $0.say([8, 81] + Talk.status(), off: 9) },
  session(.counterJump, "one counter ahead") { $0.say([8, 81] + Talk.status(), off: 1) },
  session(.counterJump, "eight counters ahead") { $0.say([8, 81] + Talk.status(), off: 8) },
  session(.counterJump, "the counter of the session before") { talk in
    for _ in 0..<40 { talk.say([8, 81] + Talk.status()) }
    talk.ask(.disconnect)
    talk.begin(secondToken)
    talk.lock.sendCounter = 43
    talk.accept()
  },
  session(.replayed, "the last message") { $0.say([8, 81] + Talk.status(), off: -1) },
  session(.replayed, "the first message") { talk in
    for _ in 0..<200 { talk.say([8, 81] + Talk.status()) }
    talk.say([7, 2, 0], off: -203)
  },
  session(.sessionKeyReused, "from the beginning") { talk in
    let old = talk.lock
    talk.ask(.disconnect)
    talk.begin(secondToken)
    talk.lock = old
    talk.lock.sendCounter = 0
    talk.accept()
  },
  session(.sessionKeyReused, "and goes on") { talk in
    let old = talk.lock
    talk.ask(.disconnect)
    talk.begin(secondToken)
    talk.lock = old
    talk.accept()
  },
  session(.clearText, "a status") { $0.say([8, 81] + Talk.status(), .plaintext) },
  session(.clearText, "an answer") { talk in
    talk.ask(.lock(.absent))
    talk.say([7, 82, 0], .plaintext)
  },
  Breach(.clearText, "a status before the login") { talk in
    talk.begin()
    talk.say([8, 81] + Talk.status(), .plaintext)
  },
  Breach(.noToken, "silence") { talk in
    talk.connect()
    talk.wait(.seconds(30))
  },
  Breach(.unexpectedFrame, "a second frame before the token that goes on with nothing") { talk in
    talk.connect()
    try talk.say(frame: "04aabbccddee")
    talk.violations = []
    try talk.say(frame: "04aabbccddee")
  },
  Breach(.unexpectedFrame, "a frame that goes on with nothing, behind the token") { talk in
    talk.begin()
    try talk.say(frame: "04aabbccddee")
  },
  Breach(.beforeToken, "a status in clear") { talk in
    talk.connect()
    talk.say([8, 81] + Talk.status(), .plaintext)
  },
  Breach(.beforeToken, "ciphertext") { talk in
    talk.connect()
    try talk.say(frame: "05aabbccddee")
  },
  session(.tokenRepeated, "in the next connection") { talk in
    talk.ask(.disconnect)
    talk.begin()
  },
  session(.tokenRepeated, "in the third connection") { talk in
    talk.ask(.disconnect)
    talk.begin(secondToken)
    talk.ask(.disconnect)
    talk.begin()
  },
  session(.tokenAgain, "the same") { $0.say(Publish.initial(firstToken).encoded, .plaintext) },
  session(.tokenAgain, "another") { $0.say(Publish.initial(secondToken).encoded, .plaintext) },
  Breach(.tokenAgain, "in a login") { talk in
    talk.begin()
    talk.say(Publish.initial(firstToken).encoded, .plaintext)
  },
  Breach(.beforeLogin, "a status") { talk in
    talk.begin()
    talk.say([8, 81] + Talk.status())
  },
  Breach(.beforeLogin, "a status of a lock without an owner", registered: false) { talk in
    talk.begin()
    talk.say([8, 81] + Talk.status(), .plaintext)
  },
  Breach(.notAuthentic, "ciphertext of a lock without an owner", registered: false) { talk in
    talk.begin()
    try talk.say(frame: "05aabbccddee")
  },
  Breach(.loginRefused, "encrypted") { talk in
    talk.begin()
    talk.say([7, 2, 4])
  },
  Breach(.loginRefused, "in clear") { talk in
    talk.begin()
    talk.say([7, 2, 4], .plaintext)
  },
  Breach(.registrationRefused, "busy", registered: false) { talk in
    talk.begin()
    talk.ask(.register(thenLogin: false))
    talk.say([7, 1, 7], .plaintext)
  },
  Breach(.outOfPlace, "a version in a registration", registered: false) { talk in
    talk.begin()
    talk.ask(.register(thenLogin: false))
    talk.say([7, 5, 0, 0x31], .plaintext)
  },
  Breach(.clearText, "a status in a registration", registered: false) { talk in
    talk.begin()
    talk.ask(.register(thenLogin: false))
    talk.say([8, 81] + Talk.status(), .plaintext)
  },
  Breach(.notAuthentic, "before there can be a key", registered: false) { talk in
    talk.begin()
    talk.ask(.register(thenLogin: false))
    try talk.say(frame: "05aabbccddee")
  },
  Breach(.noAnswer, "to a registration", registered: false) { talk in
    talk.begin()
    talk.ask(.register(thenLogin: false))
    talk.wait(.seconds(10))
  },
  Breach(.noAnswer, "to a login") { talk in
    talk.begin()
    talk.wait(.seconds(10))
  },
  Breach(.answerToAnother, "to a login") { talk in
    talk.begin()
    talk.say([7, 5, 0])
  },
  Breach(.noStatus, "no setting") { talk in
    talk.begin()
    talk.accept()
    talk.say([8, 81] + Talk.status())
    talk.wait(.seconds(10))
  },
  Breach(.undecodable, "a login's answer") { talk in
    talk.begin()
    talk.say([7, 2, 0, 1])
  },
  Breach(.undecodable, "a token of three bytes") { talk in
    talk.connect()
    talk.say([8, 14, 1, 2, 3], .plaintext)
  },
  session(.undecodable, "neither answer nor publish") { $0.say([0x63, 82, 0]) },
  session(.undecodable, "nothing") { $0.say([]) },
  session(.undecodable, "a status of two bytes") { $0.say([8, 81, 0, 0]) },
  session(.undecodable, "a status of eight bytes") { $0.say([8, 81] + Talk.status() + [0]) },
  session(.noRest, "a motor that runs for ever") { talk in
    talk.say([8, 81] + Talk.moving)
    talk.wait(.seconds(6))
  },
  session(.noAnswer, "to a command") { talk in
    talk.ask(.lock(.absent))
    talk.wait(.seconds(5))
  },
  session(.answerToNothing, "unasked") { $0.say([7, 82, 0]) },
  session(.answerToNothing, "twice") { talk in
    talk.ask(.lock(.absent))
    talk.say([7, 82, 0])
    talk.say([7, 82, 0])
  },
  session(.answerToAnother, "unlock for lock") { talk in
    talk.ask(.lock(.absent))
    talk.say([7, 83, 0])
  },
  session(.undefinedResult, "200") { talk in
    talk.ask(.lock(.absent))
    talk.say([7, 82, 200])
  },
  session(.undefinedFlag, "the highest") { $0.say([8, 81] + Talk.status(0x92)) },
  session(.unknownPublish, "item 250") { $0.say([8, 0xFA, 1]) },
  session(.unknownPublish, "battery voltages") { $0.say([8, 202, 1, 2, 3, 4]) },
  session(.malformedObeyed, "an item that does not exist") { talk in
    talk.ask(.unknownItem)
    talk.say([7, 0xFA, 0])
  },
  session(.historyRepeated, "after its deletion") { talk in
    talk.ask(.readHistory)
    talk.say(Talk.record(1))
    talk.say([7, 18, 0])
    talk.say(Talk.record(1))
  },
  session(.historyEndless, "record after record") { talk in
    talk.ask(.readHistory)
    for id in UInt32(1)...300 {
      talk.say(Talk.record(id))
      talk.say([7, 18, 0])
      if talk.violations.count > 0 { return }
    }
  },
]

@Suite("What a lock did wrong")
struct ViolationTests {
  @Test(
    "each breach of the protocol has its name, once, and nothing else is complained of", arguments: breaches)
  private func breach(of breach: Breach) throws {
    var talk = try Talk(registered: breach.registered)
    try breach.script(&talk)
    if breach.violation == .historyEndless, let last = talk.violations.first { talk.violations = [last] }
    expect(talk.violations.map(\.rule), [breach.violation])
    let violation = try #require(talk.violations.first)
    #expect(!violation.detail.isEmpty)
    let hasNone: [SesameViolation] = [.noToken, .noStatus, .noRest]
    let isSilence = hasNone.contains(breach.violation) || breach.words == "to a registration"
    expect(violation.packet == nil, isSilence)
  }

  @Test("a frame longer than twenty bytes is named, and its message is taken all the same")
  func longFrame() throws {
    var talk = try Talk()
    talk.open()
    let message = talk.lock.encrypt([8, 0xFA] + [UInt8](repeating: 1, count: 40))
    for frame in Segmenter(frameSize: 60).frames(of: message, .ciphertext) {
      try talk.say(frame: frame.hex)
    }
    expect(talk.violations.map(\.rule), [.frameTooLong, .unknownPublish])
  }

  @Test("one frame of a connection that goes on with nothing may be left over, and is told from others")
  func leftover() throws {
    var talk = try Talk()
    for token in [firstToken, secondToken] {
      talk.connect()
      try talk.say(frame: "04aabbccddee")
      talk.lock = SessionCipher(
        key: OS3Keys.sessionKey(deviceSecret: secret, token), token: .os3(token), end: .lock)
      talk.say(Publish.initial(token).encoded, .plaintext)
      talk.accept()
      talk.say([8, 80] + Sesame5Setting(lock: 0, unlock: 90).encoded)
      talk.say([8, 81] + Talk.status())
      expect(talk.client.status, .locked)
      talk.ask(.disconnect)
    }
    expect(talk.violations.map(\.rule), [.unexpectedFrame, .unexpectedFrame])
    expect(
      talk.violations.map(\.subject), [ProtocolViolation.beforeTheToken, ProtocolViolation.beforeTheToken])
  }

  @Test(
    "a motor that comes to rest in time is not complained of, however often it runs, nor one that is not observed"
  )
  func rest() throws {
    var talk = try Talk()
    talk.open()
    for _ in 0..<3 {
      talk.say([8, 81] + Talk.moving)
      talk.wait(.milliseconds(5900))
    }
    expect(talk.client.answerDue, talk.now + .milliseconds(100))
    talk.say([8, 81] + Talk.status())
    expect(talk.client.answerDue, nil)
    talk.say([8, 81] + Talk.moving)
    talk.ask(.disconnect)
    talk.wait(.seconds(60))
    expect(talk.violations, [])
  }

  @Test(
    "an answer to positions and the publishes of setting and status may come in any order",
    arguments: ["asb", "abs", "sab", "sba", "bas", "bsa"])
  func orders(order: String) throws {
    var talk = try Talk()
    talk.begin()
    talk.accept()
    talk.say([8, 80] + Sesame5Setting(lock: .min, unlock: .min).encoded)
    // In neither range, since there is none.
    talk.say([8, 81] + Talk.status(0x10))
    expect(talk.client.status, .nosetting)
    talk.ask(.configure(lock: 0, unlock: 90))
    var shown: [ClientStatus] = []
    for message in order {
      switch message {
      case "a": talk.say([7, 80, 0])
      case "s": talk.say([8, 80] + Sesame5Setting(lock: 0, unlock: 90).encoded)
      default: talk.say([8, 81] + Talk.status())
      }
      shown.append(talk.client.status)
    }
    talk.wait(.seconds(1))
    // What was said by the old ranges is never shown as if it were by the new ones.
    expect(shown.contains(.moved), false)
    expect(talk.client.status, .locked)
    expect(talk.violations, [])
  }

  @Test("a lock that publishes no status by its new positions, or no setting, shows neither")
  func unsaid() throws {
    for isSetting in [true, false] {
      var talk = try Talk()
      talk.begin()
      talk.accept()
      talk.say([8, 80] + Sesame5Setting(lock: .min, unlock: .min).encoded)
      talk.say([8, 81] + Talk.status(0x10))
      talk.ask(.configure(lock: 0, unlock: 90))
      talk.say([7, 80, 0])
      talk.say(isSetting ? [8, 80] + Sesame5Setting(lock: 0, unlock: 90).encoded : [8, 81] + Talk.status())
      talk.wait(.seconds(30))
      expect(talk.client.status, .nosetting)
    }
  }

  @Test("a key in a message is named, and the message is shown to nobody")
  func key() throws {
    var talk = try Talk()
    talk.open()
    talk.say([8, 81] + secret.exposedBytes)
    expect(talk.violations.map(\.rule), [.keyExposed, .undecodable])
    expect(talk.violations.compactMap(\.packet), [])
  }

  @Test("there is a breach of each rule")
  func complete() {
    let tested = Set(breaches.map(\.violation))
    // The last takes a registration of a lock that has an owner: the emulated lock's defect of that name shows it.
    let elsewhere: Set<SesameViolation> = [.frameTooLong, .keyExposed, .ownerReplaced]
    expect(tested.union(elsewhere), Set(SesameViolation.allCases))
  }

  @Test("a session that nothing is wrong with has no complaint, and neither has one that goes on in the next")
  func healthy() throws {
    var talk = try Talk()
    for token in [firstToken, secondToken] {
      talk.open(token)
      talk.ask(.lock(.absent))
      talk.say([7, 82, 0])
      talk.say([8, 81] + Talk.status())
      talk.say([8, 81] + Talk.status())
      talk.say([8, 92, 1, 0])
      talk.ask(.readHistory)
      talk.say(Talk.record(1))
      talk.say([7, 18, 0])
      talk.say([7, 4, 5])
      talk.ask(.disconnect)
    }
    expect(talk.violations, [])
  }

  @Test("who pretends to have another key is refused with reason", arguments: [true, false])
  func misbehaviour(answers: Bool) throws {
    var talk = try Talk()
    talk.client.misbehaviour.falseProof = .wrongSecret
    talk.begin()
    if answers { talk.say([7, 2, 4], .plaintext) } else { talk.wait(.seconds(10)) }
    expect(talk.client.status, .noSignal)
    expect(talk.violations, [])
    expect(talk.client.explanation(ofSilence: false)?.name, answers ? "login-refused" : "no-answer")
  }

  @Test(
    "why a client has no lock any more is known, and is no reproach",
    arguments: [(0x13, "hung-up"), (0x14, "hung-up"), (0x08, "link-lost"), (0x3E, "link-lost")])
  func departures(reason: UInt8, name: String) throws {
    var talk = try Talk()
    talk.open()
    expect(talk.client.explanation(ofSilence: true), nil)
    talk.ask(.lock(.absent))
    expect(
      talk.client.explanation(ofSilence: true), ClientExplanation("awaiting", "the answer to lock"))
    _ = talk.client.receive(.disconnected(reason: reason), at: talk.now)
    expect(talk.client.explanation(ofSilence: false)?.name, name)
    expect(talk.violations, [])
    talk.ask(.closeTo)
    expect(talk.client.explanation(ofSilence: false), nil)
  }

  @Test(
    "the tester's own forged messages leave every request waiting for its answer", arguments: Spoof.allCases)
  func spoofs(spoof: Spoof) throws {
    for undefinedRequest in UndefinedRequest.allCases {
      var talk = try Talk()
      talk.open()
      talk.ask(.lock(.absent))
      talk.ask(.readHistory)
      talk.ask(undefinedRequest)
      expect(talk.adversary.bring(about: .spoof(spoof), before: &talk.client, at: talk.now), [])
      let request = try? Request(decoding: undefinedRequest.request(for: .os3), for: .os3)
      // The lock refuses what makes no sense, and answers the others.
      if let item = request?.item { talk.say([7, item.rawValue, 2]) }
      talk.say([7, 82, 0])
      talk.say([7, 4, 5])
      expect(talk.violations, [])
      talk.wait(.seconds(60))
      expect(talk.client.status, .locked)
    }
  }

  @Test("the page of the rules has them all, word by word, under their parts")
  func documentation() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Sesame/Sesame.docc/Violations.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    for violation in SesameViolation.allCases {
      let part = text.components(separatedBy: "## \(violation.section.rawValue)\n").last ?? ""
      let row = "| `\(violation.rawValue)` | \(violation.rule) |\n"
      #expect((part.components(separatedBy: "\n## ").first ?? "").contains(row), "\(violation.rawValue)")
    }
  }
}
