import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Links
import Sesame
import Basics
import TestSupport
import Testing

private typealias AirProbe = LinkProbe<AirLink<RadioWorld<LockPeripheral>>>

/// A client over the air.
private func probe(
  _ model: ProductModel = .sesame5, channel: ChannelConditions = ChannelConditions(), seed: UInt64 = 1,
  start: [Argument] = []
) throws -> AirProbe {
  try AirProbe(air: EmulatedLockSpecification(model, channel: channel), seed: seed, start: start)
}

/// What was heard, without the times.
private func words(_ log: [String]) -> [String] {
  log.map { String($0.split(separator: " ", maxSplits: 1)[1]) }
}

extension AirProbe {
  /// Connects, for which the lock must advertise twice.
  fileprivate mutating func connectOverAir() throws -> [String] {
    try connect(listening: .milliseconds(600), connecting: .milliseconds(600))
  }

  /// Connects and logs in.
  fileprivate mutating func openOverAir() throws { _ = try connectOverAir() + login() }
}

@Suite("A link over the air")
struct AirWorldTests {
  @Test(
    "a lock is heard at its interval as long as somebody listens, and an OS2 lock with its name",
    arguments: [ProductModel.sesame5, .sesame3])
  func advertising(model: ProductModel) throws {
    var probe = try probe(model, start: [Argument("registered", .flag(false))])
    expect(try probe.pass(.seconds(2)), [])
    try probe.link.listen()
    // Half a second, and up to ten milliseconds more; one or two fall between two channels.
    var heard: [[String]] = []
    for _ in 0..<20 { heard.append(words(try probe.pass(.milliseconds(512)))) }
    #expect(heard.filter { !$0.isEmpty }.count >= 18)
    expect(Set(heard.joined()), ["advertisement of \(model), not registered"])
    // The same again and again is passed over but for the last time.
    let start = probe.link.now
    let log = try probe.pass(.seconds(10))
    expect(words(log), ["advertisement of \(model), not registered"])
    let time = log.first?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    #expect(time > start.seconds + 9.488, "\(time)")
    try probe.link.stopListening()
    expect(try probe.pass(.seconds(3600)), [])
    try probe.link.listen()
    expect(try probe.pass(.seconds(1)).isEmpty, false)
    expect(probe.link.takeDiagnostics(), [])
  }

  @Test("connecting, a login, a command and an end go as they do in memory")
  func session() throws {
    var probe = try probe()
    let log = try probe.connectOverAir()
    let heard = "advertisement of Sesame 5"
    expect(words(log), [heard, heard, "connected", "ready", "token"])
    expect(words(try probe.login()), ["login: success", "mech setting", "status locked"])
    try probe.send(.unlock(.absent))
    expect(
      words(try probe.pass(.seconds(3))),
      ["unlock: success", "status moved moving", "status unlocked moving", "status unlocked"])
    try probe.link.disconnect()
    expect(words(try probe.pass(.seconds(3600))), ["disconnected 0x16"])
    try probe.link.listen()
    expect(words(try probe.pass(.milliseconds(600))), [heard])
    expect(probe.link.takeDiagnostics(), [])
  }

  @Test("a lock is connected to again at once after every end", arguments: 0..<8)
  func again(pause: Int) throws {
    var probe = try probe()
    for round in 0..<6 {
      try probe.link.listen()
      _ = try probe.pass(.milliseconds(600))
      try probe.link.connect()
      _ = try probe.pass(.milliseconds(Int64(round * 7 + pause)))
      try probe.link.disconnect()
    }
    _ = try probe.pass(.milliseconds(Int64(pause)))
    try probe.openOverAir()
    expect(words(try probe.pass(.zero)), [])
    expect(probe.link.takeDiagnostics(), [])
  }

  @Test("an attempt to connect waits for the lock, and ends when it is given up")
  func attempts() throws {
    var probe = try probe()
    try probe.link.listen()
    _ = try probe.pass(.seconds(1))
    try probe.link.stopListening()
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.link.connect()
    expect(try probe.pass(.seconds(40)), [])
    try probe.link.disconnect()
    expect(words(try probe.pass(.seconds(1))), ["disconnected 0x02"])
    try probe.link.connect()
    _ = try probe.pass(.seconds(1))
    try probe.link.bring(about: Fault("out-of-range", .flag(false)))
    expect(words(try probe.pass(.seconds(1))), ["connected", "ready", "token"])
  }

  @Test("a lock that ends the link is heard out first")
  func ended() throws {
    var probe = try probe()
    try probe.openOverAir()
    try probe.send(.reset)
    expect(words(try probe.pass(.seconds(1))), ["reset: success", "disconnected 0x13"])
    try probe.link.listen()
    expect(words(try probe.pass(.seconds(2))).first, "advertisement of Sesame 5, not registered")
  }

  @Test("what was written before a disconnect still arrives")
  func lastWords() throws {
    var probe = try probe()
    try probe.openOverAir()
    try probe.send(.unlock(.absent))
    try probe.link.disconnect()
    expect(words(try probe.pass(.seconds(2))), ["disconnected 0x16"])
    expect(words(try probe.connectOverAir()).suffix(1), ["token"])
    expect(words(try probe.login()), ["login: success", "mech setting", "status unlocked"])
  }

  @Test(
    "frames are dropped, corrupted, doubled and delayed as asked, and only those",
    arguments: [
      ("drop", Value.text("next-write"), []),
      ("drop", .text("next-notification"), ["undecipherable", "undecipherable", "undecipherable"]),
      ("corrupt", .text("next-write"), []),
      (
        "duplicate", .text("next-write"),
        ["unlock: success", "status moved moving", "status unlocked moving", "status unlocked"]
      ),
      (
        "duplicate", .text("next-notification"),
        [
          "unlock: success", "undecipherable", "status moved moving", "status unlocked moving",
          "status unlocked",
        ]
      ),
      (
        "delay", .duration(.seconds(1)),
        ["unlock: success", "status moved moving", "status unlocked moving", "status unlocked"]
      ),
    ])
  func tampering(fault: String, value: Value, heard: [String]) throws {
    var probe = try probe()
    try probe.openOverAir()
    try probe.link.bring(about: Fault(fault, value))
    let before = probe.link.now
    try probe.send(.unlock(.absent))
    let log = try probe.pass(.seconds(10))
    expect(words(log), heard)
    expect(probe.tamperings, 1)
    if fault == "delay" { expect(log.contains { $0 < (before + .seconds(1)).secondsText }, false) }
  }

  @Test("a lost link is noticed by both ends at once")
  func lostLink() throws {
    var probe = try probe()
    try probe.openOverAir()
    try probe.send(.unlock(.absent))
    try probe.link.bring(about: Fault("lose-link"))
    let now = probe.link.now
    expect(try probe.pass(.seconds(1)), ["\(now.secondsText) disconnected 0x08"])
    try probe.link.listen()
    expect(words(try probe.pass(.milliseconds(600))).first, "advertisement of Sesame 5")
  }

  @Test("a link survives less than two seconds out of range, and what was under way arrives late")
  func range() throws {
    var probe = try probe()
    try probe.openOverAir()
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.send(.readVersion)
    expect(try probe.pass(.milliseconds(1900)), [])
    try probe.link.bring(about: Fault("out-of-range", .flag(false)))
    expect(words(try probe.pass(.seconds(5))), ["version: success"])
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.send(.readVersion)
    expect(words(try probe.pass(.milliseconds(1900))), [])
    expect(words(try probe.pass(.milliseconds(200))), ["disconnected 0x08"])
    try probe.link.listen()
    expect(try probe.pass(.seconds(5)), [])
    try probe.link.bring(about: Fault("out-of-range", .flag(false)))
    expect(words(try probe.pass(.milliseconds(600))).first, "advertisement of Sesame 5")
  }

  @Test(
    "without power nothing is heard; a link dies of it after two seconds, and what the lock stores survives")
  func power() throws {
    var probe = try probe()
    try probe.openOverAir()
    try probe.link.bring(about: Fault("no-power"))
    expect(try probe.pass(.milliseconds(1900)), [])
    expect(words(try probe.pass(.seconds(5))), ["disconnected 0x08"])
    try probe.link.listen()
    expect(try probe.pass(.seconds(5)), [])
    try probe.link.bring(about: Fault("no-power", .flag(false)))
    expect(words(try probe.pass(.seconds(1))).first, "advertisement of Sesame 5")
    try probe.link.stopListening()
    try probe.openOverAir()
    try probe.link.bring(about: Fault("power-cycle"))
    expect(words(try probe.pass(.seconds(5))), ["disconnected 0x08"])
    try probe.openOverAir()
  }

  @Test("frames and advertisements of others are received like the real ones")
  func foreign() throws {
    var probe = try probe()
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.link.listen()
    for data in ["", "020106", "03ff5a05", "05ff5a050500", "05ff5a050500"] {
      try probe.link.bring(about: Fault("advertise", .text(data)))
    }
    expect(
      words(try probe.pass(.seconds(1))), ["advertisement 03ff5a05", "advertisement 05ff5a050500"])
    try probe.link.bring(about: Fault("out-of-range", .flag(false)))
    try probe.openOverAir()
    try probe.link.bring(about: Fault("inject", .text("03080e01020304")))
    try probe.link.bring(about: Fault("inject", .text("")))
    expect(words(try probe.pass(.milliseconds(20))), ["token", "frame"])
    try probe.link.bring(about: Fault("write", .text("030201020304")))
    expect(words(try probe.pass(.seconds(1))), [])
    expect(probe.link.takeDiagnostics(), [])
  }

  @Test("hands, jams, batteries and clocks reach the lock")
  func fixture() throws {
    var probe = try probe(start: [Argument("bolt", .text("unlocked")), Argument("battery", .number(5.5))])
    try probe.openOverAir()
    try probe.link.perform("handToMoved", [])
    expect(words(try probe.pass(.seconds(1))), ["status moved"])
    try probe.link.bring(about: Fault("jam"))
    try probe.send(.lock(.absent))
    expect(
      words(try probe.pass(.seconds(5))), ["lock: success", "status moved moving", "status moved"])
    try probe.link.bring(about: Fault("battery", .integer(4)))
    try probe.link.bring(about: Fault("clock", .duration(.seconds(-5))))
  }

  @Test(
    "what cannot be done is a lab fault that says why, and harms nothing",
    arguments: [
      (Fault("jamm"), "an emulated lock cannot be given the fault 'jamm'"),
      (
        Fault("battery", .text("full")),
        "the fault 'battery' takes a number of volts from 0 to 7.2, and not 'full'"
      ),
      (
        Fault("inject", .text(String(repeating: "00", count: 21))),
        "a notification carries 20 bytes here, not 21"
      ),
      (
        Fault("advertise", .text(String(repeating: "00", count: 32))),
        "an advertisement carries 31 bytes, not 32"
      ),
    ])
  func impossible(fault: Fault, reason: String) throws {
    var probe = try probe()
    try probe.openOverAir()
    do throws(LabFault) {
      try probe.link.bring(about: fault)
      Issue.record("it was done")
    } catch {
      expect(error, LabFault(.notPossible, reason))
    }
    try probe.send(.readVersion)
    expect(words(try probe.pass(.seconds(1))), ["version: success"])
  }

  @Test("in bad channel conditions packets are sent again and links are lost, by the seed alone")
  func channel() throws {
    var traces: [[String]] = []
    for _ in 0..<2 {
      var probe = try probe(channel: ChannelConditions(loss: 0.3, linkLoss: 0.02))
      expect(probe.link.fixture.abilities.conditions, ["loss"])
      try probe.link.listen()
      var log = try probe.pass(.seconds(10))
      expect(log.isEmpty, false)
      try probe.link.connect()
      for _ in 0..<200 {
        try probe.link.send([0x03, 0xEE])
        log += try probe.pass(.milliseconds(100))
      }
      expect(log.contains { $0.hasSuffix("disconnected 0x08") }, true)
      traces.append(log)
    }
    expect(traces[0], traces[1])
    expect(try probe().link.fixture.abilities.conditions, [])
  }

  @Test("one seed gives one lock and one trace, whatever was tested before")
  func prepared() throws {
    var probe = try probe()
    let key = probe.key
    let first = try probe.connectOverAir() + probe.login()
    let token = probe.token
    expect(try probe.link.prepare(StartCondition([Argument("registered", .flag(false))])), nil)
    try probe.link.bring(about: Fault("drop", .integer(3)))
    try probe.link.bring(about: Fault("advertise", .text("03ff5a05")))
    try probe.link.listen()
    _ = try probe.pass(.milliseconds(50))
    expect(try probe.link.prepare(StartCondition()), key)
    expect(probe.link.now, .zero)
    expect(try probe.connectOverAir() + probe.login(), first)
    expect(probe.token, token)
    expect(try EmulatorTests.probe(seed: 2).key == key, false)
    expect(try EmulatorTests.probe(.sesame4).key?.lockPublicKey == nil, false)
  }
}
