import Links
@testable import Bench
import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Basics
import TestSupport
import Testing

private let yes = Value.flag(true)
private let no = Value.flag(false)
private let all = ["reset", "register", "configure"]

/// What was done and shown in a session, in words.
private func words(of session: Preparation) -> [String] {
  session.entries.compactMap { entry in
    switch entry.event {
    case .stimulus(let stimulus): RealLockRig.vocabulary.stimuli[stimulus.number]
    case .observation(.status(let number)): "→ " + RealLockRig.vocabulary.statuses[number]
    case .observation, .fault: nil
    }
  }
}

@Suite("The sessions in which a real lock is made ready")
struct RealLockSessionTests {
  private let way = ["closeTo", "→ receivedBle", "connect", "→ connecting", "→ waitingGatt", "→ logining"]

  @Test(
    "each is handed over whole, once, with what was known when it began", arguments: ["sesame5", "sesame3"])
  func recorded(name: String) throws {
    let rig = try RealLockRig(name, found: .unlocked, allowed: all)
    try rig.start(("registered", yes), ("bolt", .text("locked")))
    let first = rig.lock.takePreparations()
    expect(first.map(words), [way + ["→ unlocked", "readAutolock", "lock", "→ locked", "disconnect"]])
    // Nothing is known before the first session.
    expect(first[0].start, nil)
    expect(first[0].unsure, ["autolock"])
    expect(first[0].underWay.map(\.stimulus), ["handToMoved"])
    expect(rig.lock.takePreparations().count, 0)
    try rig.start(("registered", yes), ("configured", no))
    let second = rig.lock.takePreparations()
    expect(
      second.map(words),
      [
        way + ["→ locked", "readAutolock", "reset", "→ reset", "disconnect"],
        way.dropLast() + [
          "→ readytoRegister", "register", "→ registering", "→ nosetting", "readAutolock", "disconnect",
        ],
      ])
    expect(
      second.map(\.start),
      [
        StartCondition([Argument("registered", yes), Argument("configured", yes)]),
        StartCondition([Argument("registered", no)]),
      ])
  }

  @Test("positions that a test has changed are put back before the next")
  func positions() throws {
    let rig = try RealLockRig(allowed: all)
    try rig.start(("registered", yes), ("configured", yes))
    try rig.open()
    let positions = rig.device.configuration
    #expect(positions != nil)
    try rig.start(("registered", yes), ("configured", no))
    try rig.open()
    try rig.give("configure", [Argument("lock", .integer(30)), Argument("unlock", .integer(60))])
    expect(try rig.wait(for: ["locked", "unlocked", "moved"]), "moved")
    #expect(rig.device.configuration != positions)
    try rig.start(("registered", yes), ("configured", yes), ("bolt", .text("locked")))
    expect(try rig.open(), "locked")
    expect(rig.device.configuration, positions)
  }

  @Test(
    "the bolt is where a test asks for it although its positions are forgotten",
    arguments: ["sesame5", "sesame3"])
  func forgotten(name: String) throws {
    let rig = try RealLockRig(name, allowed: all)
    for start in [[("configured", no)], []] {
      for _ in 0..<2 {
        let registered = ("registered", Value.flag(!start.isEmpty))
        let settings = [registered] + start + [("bolt", Value.text("locked"))]
        try rig.lock.reset(to: StartCondition(settings.map { Argument($0.0, $0.1) }))
        try rig.open()
        if start.isEmpty {
          try rig.give("register")
          try rig.wait(for: ["nosetting"])
        }
        try rig.give("configure")
        expect(try rig.wait(for: ["locked", "unlocked", "moved"]), "locked")
        // It is left elsewhere, and the positions are forgotten.
        try rig.give("unlock")
        try rig.wait(for: ["unlocked"])
        try rig.give("reset")
        try rig.wait(for: ["reset"])
      }
    }
  }

  @Test("an autolock that a test has set is taken off again, though a lock tells of it at a login only")
  func autolock() throws {
    let rig = try RealLockRig()
    try rig.start()
    try rig.open()
    try rig.give("setAutolock", [Argument("value", .integer(15))])
    expect(try rig.read("readAutolock", "autolock"), nil)
    try rig.start()
    expect(
      rig.lock.takePreparations().flatMap(words).contains("setAutolock"), true)
    expect(try rig.open(), "locked")
    expect(try rig.read("readAutolock", "autolock"), .integer(0))
  }

  @Test(
    "what the autolock of a lock was set to by its last owner is looked at, and judged, before it is set",
    arguments: ["sesame5", "sesame3"], [false, true])
  func lastOwner(name: String, isDefective: Bool) throws {
    let rig = try RealLockRig(
      name, settings: isDefective ? [("defect", "autolock-outlives-reset")] : [], allowed: all)
    try rig.start(("registered", yes), ("configured", yes))
    try rig.open()
    try rig.give("setAutolock", [Argument("value", .integer(20))])
    try rig.give("reset")
    try rig.wait(for: ["reset"])
    _ = rig.lock.takePreparations()
    try rig.start(("registered", yes), ("configured", yes))
    let sessions = rig.lock.takePreparations()
    expect(sessions.first?.unsure, [])
    let readings = sessions.flatMap(\.entries).compactMap { entry in
      if case .observation(.reading(let reading)) = entry.event, reading.name == "autolock" {
        reading.value
      } else {
        nil as Value?
      }
    }
    expect(readings.first, .integer(isDefective ? 20 : 0))
    expect(try rig.open() == nil, false)
    expect(try rig.read("readAutolock", "autolock"), .integer(0))
  }

  @Test("the key of a lock that has not forgotten its owner is taken back")
  func recalled() throws {
    let rig = try RealLockRig(settings: [("defect", "reset-keeps-key")], allowed: all)
    try rig.start()
    try rig.open()
    try rig.give("reset")
    try rig.wait(for: ["reset"])
    #expect(!rig.device.isRegistered)
    try rig.start(("registered", yes), ("configured", yes))
    #expect(rig.device.isRegistered)
    #expect(rig.lock.takeDiagnostics().contains { $0.contains("the key is tried again") })
  }

  @Test("after a jam is waited only where that is wanted")
  func jams() throws {
    var settings = InterlockSettings()
    expect(settings.longestWait, .seconds(60))
    settings.waitsForJams()
    expect(settings.longestWait, settings.limits.coolDown)
  }
}
