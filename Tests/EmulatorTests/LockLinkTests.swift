import Sesame
import Bluetooth
import Conformance
import Emulator
import Basics
import TestSupport
import Testing

private let connecting = [
  "0.000 advertisement of Sesame 5", "0.050 connected", "0.150 ready", "0.1575 token",
]

@Suite("A direct link")
struct LockLinkTests {
  @Test("a lock is heard at once and then at its interval, of which only the last time in a row is told")
  func advertising() throws {
    var probe = try LinkProbe(.sesame3, start: [Argument("registered", .flag(false))])
    expect(try probe.pass(.seconds(2)), [])
    try probe.link.listen()
    expect(
      try probe.pass(.milliseconds(500)) + probe.pass(.milliseconds(500)) + probe.pass(.seconds(10)),
      ["2.000", "2.500", "3.000", "13.000"].map { "\($0) advertisement of Sesame 3, not registered" })
    try probe.link.stopListening()
    expect(try probe.pass(.seconds(3600)), [])
    try probe.link.listen()
    expect(try probe.heard(until: probe.link.now), ["3613.000 advertisement of Sesame 3, not registered"])
  }

  @Test("connecting, a login and a command take the times that the documentation names")
  func times() throws {
    var probe = try LinkProbe()
    expect(try probe.connect(), connecting)
    expect(
      try probe.login(),
      ["0.215 login: success", "0.2225 mech setting", "0.230 status locked"])
    try probe.send(.unlock(.absent))
    expect(
      try probe.pass(.seconds(3)),
      [
        "0.265 unlock: success", "0.2725 status moved moving", "0.93296875 status unlocked moving",
        "1.265 status unlocked",
      ])
    try probe.link.disconnect()
    expect(try probe.pass(.seconds(3600)), ["3.250 disconnected 0x16"])
    expect(probe.link.lock.advertisement != nil, true)
  }

  @Test("an attempt to connect waits for the lock, and ends when it is given up")
  func attempts() throws {
    var probe = try LinkProbe()
    try probe.link.connect()
    expect(try probe.pass(.seconds(5)), [])
    try probe.link.listen()
    expect(
      try probe.pass(.milliseconds(60)), ["5.000 advertisement of Sesame 5", "5.050 connected"])
    try probe.link.disconnect()
    expect(try probe.pass(.seconds(1)).prefix(1), ["5.060 disconnected 0x16"])
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.link.connect()
    expect(try probe.pass(.seconds(1)), [])
    try probe.link.disconnect()
    expect(try probe.pass(.seconds(1)), ["7.060 disconnected 0x02"])
  }

  @Test("a lock that ends the link is heard out first")
  func ended() throws {
    var probe = try LinkProbe()
    try probe.open()
    try probe.send(.reset)
    expect(
      try probe.pass(.milliseconds(600)), ["0.265 reset: success", "0.765 disconnected 0x13"])
    try probe.link.listen()
    expect(
      try probe.pass(.seconds(1)), ["1.7575 advertisement of Sesame 5, not registered"])
  }

  @Test("what was written before a disconnect still arrives")
  func lastWords() throws {
    var probe = try LinkProbe()
    try probe.open()
    try probe.send(.unlock(.absent))
    try probe.link.disconnect()
    expect(try probe.pass(.seconds(2)), ["0.250 disconnected 0x16"])
    expect(probe.link.lock.angle(at: probe.link.now), BoltAngle(degrees: 90))
    expect(probe.link.lock.isOpen, false)
  }

  @Test(
    "frames are dropped, corrupted, doubled and delayed as asked, and only those",
    arguments: [
      ("drop", Value.text("next-write"), []),
      ("drop", .text("next-notification"), ["undecipherable", "undecipherable", "undecipherable"]),
      ("drop", .integer(1), []),
      ("corrupt", .text("next-write"), []),
      (
        "corrupt", .text("next-notification"),
        ["undecipherable", "undecipherable", "undecipherable", "undecipherable"]
      ),
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
    var probe = try LinkProbe()
    try probe.open()
    try probe.link.bring(about: Fault(fault, value))
    let before = probe.link.now
    try probe.send(.unlock(.absent))
    let log = try probe.pass(.seconds(10))
    expect(log.map { $0.split(separator: " ", maxSplits: 1)[1] }.map(String.init), heard)
    expect(probe.tamperings, 1)
    if fault == "delay" { expect(log.first, "\((before + .milliseconds(1015)).secondsText) unlock: success") }
  }

  @Test("a disturbance that is called off does not come")
  func calledOff() throws {
    var probe = try LinkProbe()
    try probe.open()
    try probe.link.bring(about: Fault("drop", .integer(100)))
    try probe.link.bring(about: Fault("drop", .flag(false)))
    try probe.send(.readVersion)
    expect(try probe.pass(.milliseconds(20)), ["0.265 version: success"])
    expect(probe.tamperings, 0)
  }

  @Test("a lost link is noticed by both ends at once; the lock can be heard again")
  func lostLink() throws {
    var probe = try LinkProbe()
    try probe.open()
    try probe.send(.unlock(.absent))
    try probe.link.bring(about: Fault("lose-link"))
    expect(try probe.pass(.seconds(1)), ["0.250 disconnected 0x08"])
    expect(probe.tamperings, 1)
    expect(probe.link.lock.angle(at: probe.link.now), BoltAngle(degrees: 0))
    try probe.link.listen()
    expect(try probe.heard(until: probe.link.now), ["1.250 advertisement of Sesame 5"])
  }

  @Test("a link survives less than two seconds out of range, and what was under way arrives late")
  func range() throws {
    var probe = try LinkProbe()
    try probe.open()
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.send(.readVersion)
    expect(try probe.pass(.milliseconds(1999)), [])
    try probe.link.bring(about: Fault("out-of-range", .flag(false)))
    expect(try probe.pass(.seconds(5)), ["2.2565 version: success"])
    try probe.link.bring(about: Fault("out-of-range"))
    try probe.send(.readVersion)
    expect(try probe.pass(.seconds(5)), ["9.249 disconnected 0x08"])
    try probe.link.listen()
    expect(try probe.pass(.seconds(5)), [])
    try probe.link.bring(about: Fault("out-of-range", .flag(false)))
    expect(try probe.heard(until: probe.link.now), ["17.249 advertisement of Sesame 5"])
  }

  @Test(
    "without power nothing is heard; a link dies of it two seconds later, and what the lock stores survives")
  func power() throws {
    var probe = try LinkProbe()
    try probe.open()
    try probe.link.bring(about: Fault("no-power"))
    expect(try probe.pass(.seconds(5)), ["2.250 disconnected 0x08"])
    try probe.link.listen()
    expect(try probe.pass(.seconds(5)), [])
    try probe.link.bring(about: Fault("no-power", .flag(false)))
    expect(try probe.heard(until: probe.link.now), ["10.250 advertisement of Sesame 5"])
    try probe.link.connect()
    _ = try probe.pass(.milliseconds(200))
    expect(try probe.login().count, 3)
    try probe.link.bring(about: Fault("power-cycle"))
    expect(try probe.pass(.seconds(5)).contains("12.500 disconnected 0x08"), true)
  }

  @Test("frames and advertisements of others are received like the real ones")
  func foreign() throws {
    var probe = try LinkProbe()
    try probe.link.listen()
    try probe.link.bring(about: Fault("advertise", .text("0201 06")))
    expect(
      try probe.heard(until: probe.link.now),
      ["0.000 advertisement 020106", "0.000 advertisement of Sesame 5"])
    try probe.link.connect()
    try probe.link.stopListening()
    _ = try probe.pass(.milliseconds(200))
    try probe.link.bring(about: Fault("inject", .text("03080e01020304")))
    expect(try probe.heard(until: probe.link.now), ["0.200 token"])
    try probe.link.bring(about: Fault("write", .text("030201020304")))
    expect(try probe.pass(.seconds(1)), ["0.2075 disconnected 0x13"])
  }

  @Test("hands, jams, batteries and clocks reach the lock")
  func environment() throws {
    var probe = try LinkProbe(start: [Argument("bolt", .text("unlocked")), Argument("battery", .number(5.5))])
    expect(probe.link.lock.volts, 5.5)
    try probe.open()
    try probe.link.perform("handToMoved", [])
    expect(try probe.pass(.seconds(1)), ["0.2575 status moved"])
    try probe.link.bring(about: Fault("jam"))
    try probe.send(.lock(.absent))
    expect(
      try probe.pass(.seconds(5)),
      ["1.265 lock: success", "1.2725 status moved moving", "4.265 status moved"])
    try probe.link.bring(about: Fault("battery", .integer(4)))
    try probe.link.bring(about: Fault("clock", .duration(.seconds(-5))))
    expect(probe.link.lock.volts, 4)
  }

  @Test(
    "what cannot be done is a lab fault that says why",
    arguments: [
      (
        Fault("drop", .text("all")),
        "the fault 'drop' takes next-notification, next-write or a number of frames, and not 'all'"
      ),
      (Fault("jamm"), "an emulated lock cannot be given the fault 'jamm'"),
      (Fault("power"), "an emulated lock cannot be given the fault 'power'"),
      (Fault("inject", .text("0x1")), "the fault 'inject' takes bytes in hexadecimal: at 1: not hexadecimal"),
      (
        Fault("battery", .text("full")),
        "the fault 'battery' takes a number of volts from 0 to 7.2, and not 'full'"
      ),
    ])
  func impossible(fault: Fault, reason: String) throws {
    var probe = try LinkProbe()
    do throws(LabFault) {
      try probe.link.bring(about: fault)
      Issue.record("it was done")
    } catch {
      expect(error, LabFault(.notPossible, reason))
    }
  }

  @Test("in bad channel conditions frames and links are lost, by the seed alone, and the link says so")
  func channel() throws {
    var traces: [[String]] = []
    for _ in 0..<2 {
      var probe = try LinkProbe(channel: ChannelConditions(loss: 0.3, linkLoss: 0.02))
      expect(probe.link.conditions, ["loss"])
      try probe.link.listen()
      var log = try (0..<20).flatMap { _ in try probe.pass(.milliseconds(500)) }
      _ = try probe.link.prepare(StartCondition())
      try probe.link.listen()
      expect(try (0..<20).flatMap { _ in try probe.pass(.milliseconds(500)) }, log)
      expect((10..<20).contains(log.count), true)
      try probe.link.connect()
      for _ in 0..<200 {
        try probe.link.send([0x03, 0xEE])
        log += try probe.pass(.milliseconds(10))
      }
      expect(log.contains { $0.hasSuffix("disconnected 0x08") }, true)
      traces.append(log)
    }
    expect(traces[0], traces[1])
    expect(try LinkProbe().link.conditions, [])
  }

  @Test("one seed gives one lock and one trace, whatever was tested before")
  func prepared() throws {
    var probe = try LinkProbe()
    let key = probe.key
    let first = try probe.connect()
    let token = probe.token
    expect(try probe.link.prepare(StartCondition([Argument("registered", .flag(false))])), nil)
    expect(probe.link.lock.isRegistered, false)
    expect(try probe.link.prepare(StartCondition([Argument("configured", .flag(false))])), key)
    expect(probe.link.lock.isConfigured, false)
    expect(try probe.link.prepare(StartCondition()), key)
    expect(try probe.connect(), first)
    expect(probe.token, token)
    expect(try LinkProbe(seed: 2).key == key, false)
    expect(try LinkProbe(.sesame4).key?.lockPublicKey == nil, false)
  }
}
