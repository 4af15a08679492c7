import Links
@testable import Bench
import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Basics
import TestSupport
import Testing

/// Why a call is refused.
private func refusal(_ body: () throws(LabFault) -> Void) -> LabFault? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

private let yes = Value.flag(true)
private let no = Value.flag(false)
private let all = ["reset", "register", "configure"]

@Suite("A lock that is to be parked")
struct OwedRestTests {
  @Test(
    "that it is to be parked is written down before its first movement, and taken back at its rest")
  func marks() throws {
    let store = EventList()
    let rig = try RealLockRig(store: store)
    try rig.start()
    try rig.open()
    expect(store.lines, [])
    try rig.give("unlock")
    expect(store.lines, ["away locked", "unlock"])
    try rig.wait(for: ["unlocked"])
    let end = rig.lock.park()
    expect(end.left, .parked)
    expect(store.lines, ["away locked", "unlock", "lock to park", "parked"])
  }

  @Test("that it locks by itself no more is owed too")
  func autolock() throws {
    let rig = try RealLockRig()
    // A first run finds it without, sets it and never takes it off.
    try rig.start()
    try rig.open()
    try rig.give("setAutolock", [Argument("value", .integer(60))])
    try rig.pass(.seconds(2))
    try rig.give("disconnect")
    try rig.pass(.seconds(2))
    let own = EventList()
    let other = RealLock(rig.device, InterlockSettings(budget: nil), RealLockRig.counter(rig.world, own))
    other.adopt(RealLockRig.vocabulary)
    try other.reset(to: StartCondition([Argument("registered", yes)]))
    expect(own.lines, ["autolock on", "away locked autolock=60", "autolock off"])
    _ = other.park()
    expect(own.lines.last, "parked")
    #expect(own.lines.contains("setAutolock") && !own.lines.contains("unlock"), "\(own.lines)")
  }

  // swift-format-ignore
  static let debts: [(owed: LockEvent.Kind, rest: ParkPosition, found: LockFound, lines: [String], diagnostic: String)] = [
    (.away("locked", autolock: nil), .locked, .unlocked, ["lock to park", "parked"], "the lock was unlocked and was brought to locked"),
    (.away("locked", autolock: nil), .unlocked, .unlocked, ["lock to park", "parked"], "the lock was unlocked and was brought to locked"),
    (.away("unlocked", autolock: nil), .asFound, .locked, ["away unlocked", "unlock to park", "parked"], "the lock was locked and was brought to unlocked"),
    (.away("locked", autolock: nil), .locked, .locked, ["parked"], "the lock rests locked"),
  ]

  @Test("who comes next parks it before anything else, and says so", arguments: debts.indices)
  func settles(index: Int) throws {
    let (owed, rest, found, lines, diagnostic) = Self.debts[index]
    let store = EventList(owed)
    let rig = try RealLockRig(found: found, rest: rest, store: store)
    try rig.start()
    expect(store.lines.filter { $0 != "away unlocked" }, lines.filter { $0 != "away unlocked" })
    expect(
      rig.lock.takeDiagnostics(),
      [
        "the last run on the lock left it unparked at 1970-01-01T00:00:00.000Z: \(diagnostic)"
      ])
    // Where it is found is where it was to be left, and not where the one before had it.
    if rest == .asFound {
      _ = rig.lock.park()
      expect(rig.lock.interlock.knowledge.position, "unlocked")
    }
  }

  @Test("what it was to lock by itself after is put back as well, once")
  func settlesAutolock() throws {
    let store = EventList(.away("locked", autolock: 60))
    let rig = try RealLockRig(found: .unlocked, store: store)
    try rig.lock.parkPending()
    expect(store.lines.first, "lock to park")
    expect(store.lines.last, "parked")
    expect(rig.lock.interlock.knowledge.autolock, 60)
    let count = store.lines.count
    try rig.lock.parkPending()
    expect(store.lines.count, count)
  }

  @Test("a lock that cannot be parked is not there, and nothing else is done with it")
  func helpless() throws {
    let store = EventList(.away("locked", autolock: nil))
    var limits = LockLimits()
    limits.perHour = 1
    let rig = try RealLockRig(found: .unlocked, limits: limits, store: store)
    store.keep([LockEvent(.movement("unlock"), at: rig.lock.interlock.cycleCounter.now)], after: 0)
    let other = RealLock(
      rig.device, InterlockSettings(limits: limits, budget: nil), RealLockRig.counter(rig.world, store))
    other.adopt(RealLockRig.vocabulary)
    for _ in 0..<2 {
      let fault = refusal { () throws(LabFault) in try other.reset(to: StartCondition()) }
      expect(fault?.symptom, .safetyLimit)
      #expect(fault?.detail.contains("and it could not be brought to locked, see to it: ") ?? false)
    }
    #expect(!store.lines.contains("parked"))
  }
}

@Suite("A real lock that is looked after")
struct RealLockPreparationTests {
  @Test(
    "a test that asks for nothing costs no movement, wherever the bolt is", arguments: ["sesame5", "sesame3"])
  func minimumMovements(name: String) throws {
    for found in [LockFound.locked, .unlocked, .moved] {
      let rig = try RealLockRig(name, found: found)
      try rig.start(("registered", yes), ("configured", yes))
      expect(try rig.open(), found.rawValue)
      expect(rig.movements, 0)
    }
  }

  @Test("the bolt is turned where a test asks for it, once", arguments: ["sesame5", "sesame3"])
  func bolt(name: String) throws {
    let rig = try RealLockRig(name, found: .moved)
    let places = ["locked", "locked", "unlocked", "unlocked", "locked"]
    for (place, count) in zip(places, [1, 1, 2, 2, 3]) {
      try rig.start(("bolt", .text(place)))
      expect(rig.lock.now, .zero)
      expect(try rig.open(), place)
      expect(rig.movements, count)
    }
    expect(
      refusal { () throws(LabFault) in try rig.start(("bolt", .text("moved"))) },
      LabFault(.notPossible, "starts with bolt: moved, which only a person at a real lock can bring about"))
  }

  @Test("autolock and history of tests before are not met by tests after", arguments: ["sesame5", "sesame3"])
  func leftovers(name: String) throws {
    let rig = try RealLockRig(name)
    for _ in 0..<3 {
      try rig.start(("bolt", .text("locked")), ("history", .text("empty")))
      expect(try rig.open(), "locked")
      expect(try rig.read("readHistory", "history"), .text("empty"))
      expect(try rig.read("readAutolock", "autolock"), .integer(0))
      try rig.give("unlock")
      try rig.wait(for: ["unlocked"])
      try rig.give("setAutolock", [Argument("value", .duration(.seconds(20)))])
      try rig.pass(.seconds(1))
    }
  }

  @Test("what nobody changed is not looked at again: a session a second")
  func cheap() throws {
    let rig = try RealLockRig()
    let count = 120
    try rig.start()
    let begin = rig.world.now
    for _ in 0..<count {
      try rig.start(("registered", yes), ("configured", yes), ("bolt", .text("locked")))
      try rig.open()
      try rig.give("disconnect")
    }
    let took = rig.world.now - begin
    #expect(took <= .seconds(Int64(count)), "\(count) sessions took \(took)")
    expect(rig.movements, 0)
  }

  @Test(
    "the lock is brought to any start that its permissions allow, from any, and refused elsewhere",
    arguments: ["sesame5", "sesame3"])
  func conditions(name: String) throws {
    let starts: [(settings: [(String, Value)], shown: [String])] = [
      ([("registered", yes), ("configured", yes)], ["locked", "unlocked", "moved"]),
      ([("registered", no)], ["readytoRegister"]),
      ([("registered", yes), ("configured", no)], ["nosetting"]),
    ]
    let rig = try RealLockRig(name, allowed: all)
    for first in starts {
      for second in starts {
        for start in [first, second] {
          try rig.lock.reset(to: StartCondition(start.settings.map { Argument($0.0, $0.1) }))
          let shown = try rig.open()
          #expect(start.shown.contains(shown ?? ""), "\(start.settings): \(shown ?? "nothing")")
        }
      }
    }
    let strict = try RealLockRig(name)
    for start in starts.dropFirst() {
      let fault = refusal { () throws(LabFault) in
        try strict.lock.reset(to: StartCondition(start.settings.map { Argument($0.0, $0.1) }))
      }
      expect(fault?.symptom, .notPossible)
      #expect(fault?.detail.contains("only with --allow reset and --allow register") == true, "\(start)")
    }
    let lost = try RealLockRig(name, found: .unregistered)
    let fault = refusal { () throws(LabFault) in try lost.start(("registered", yes)) }
    #expect(fault?.detail.contains("only with --allow register") == true)
  }

  @Test("a lock that a test left without an owner, or found with autolock on, is put back as it was found")
  func putBack() throws {
    let rig = try RealLockRig(found: .unlocked, allowed: all)
    try rig.start()
    try rig.open()
    let positions = rig.device.configuration
    try rig.give("setAutolock", [Argument("value", .duration(.seconds(300)))])
    try rig.pass(.seconds(1))
    // As another run finds it.
    let run = RealLock(
      rig.device, InterlockSettings(budget: nil, park: .asFound, allowed: all), RealLockRig.counter(rig.world)
    )
    run.adopt(RealLockRig.vocabulary)
    try run.reset(to: StartCondition([Argument("registered", no)]))
    #expect(!rig.device.isRegistered)
    let end = run.park()
    expect(end.fault, nil)
    expect(end.left, .parked)
    #expect(end.diagnostics.contains("the lock was registered again"), "\(end.diagnostics)")
    #expect(rig.device.isRegistered)
    try rig.lock.interlock.reset(to: StartCondition())
    rig.lock.adopt(RealLockRig.vocabulary)
    expect(try rig.open(), "unlocked")
    expect(rig.device.configuration, positions)
    expect(try rig.read("readAutolock", "autolock"), .integer(300))
  }

  @Test("a reset needs the permission to register, and a lock without an owner is not tampered with")
  func owner() throws {
    let unsafe = try RealLockRig(allowed: ["reset"])
    try unsafe.start()
    try unsafe.open()
    expect(refusal { () throws(LabFault) in try unsafe.give("reset") }?.symptom, .notPossible)
    let rig = try RealLockRig(found: .unregistered, allowed: all)
    try rig.start(("registered", no))
    expect(try rig.open(), "readytoRegister")
    // Without its notifications the answer to the registration, and the key with it, would be lost.
    try rig.lock.bring(about: Fault("unsubscribe"))
    try rig.lock.bring(about: Fault("mutate", .text("wrong-key")))
    try rig.give("register")
    expect(try rig.wait(for: ["nosetting"]), "nosetting")
    expect(
      rig.lock.takeDiagnostics().filter { $0.contains("whose key is lost") },
      [
        "unsubscribe yes is not injected: the lock could get an owner whose key is lost",
        "mutate wrong-key is not injected: the lock could get an owner whose key is lost",
      ])
  }

  @Test("a flaw of the next message is not that of a registration")
  func flawedRegistration() throws {
    let rig = try RealLockRig(allowed: all)
    try rig.start()
    try rig.open()
    try rig.give("reset")
    // The key is not dropped before the lock has answered.
    try rig.lock.bring(about: Fault("mutate", .text("cut-1")))
    try rig.wait(for: ["reset"])
    try rig.give("disconnect")
    try rig.pass(.seconds(3))
    expect(try rig.open(), "readytoRegister")
    try rig.give("register")
    expect(try rig.wait(for: ["nosetting"]), "nosetting")
    #expect(rig.lock.takeDiagnostics().contains { $0.hasPrefix("the fault planned for the next message") })
  }

  @Test("a lock that is not heard is no device, before a test and in it")
  func absent() throws {
    let rig = try RealLockRig()
    try rig.start()
    let environment = rig.world
    try rig.give("closeTo")
    try rig.wait(for: ["receivedBle"])
    try rig.start()
    try environment.bring(about: Fault("out-of-range"))
    try rig.give("closeTo")
    let silent = refusal { () throws(LabFault) in try rig.pass(.seconds(20)) }
    expect(silent, LabFault(.noDevice, "the lock was not heard for 1 min"))
    expect(rig.lock.now, .zero + .seconds(60))
    let run = RealLock(rig.device, InterlockSettings(), RealLockRig.counter(rig.world))
    run.adopt(RealLockRig.vocabulary)
    let usual = StartCondition([Argument("registered", yes)])
    let gone = refusal { () throws(LabFault) in try run.reset(to: usual) }
    expect(gone?.symptom, .noDevice)
    // And it is there again.
    try environment.bring(about: Fault("out-of-range", no))
    expect(refusal { () throws(LabFault) in try run.reset(to: usual) }, nil)
    // Who looks at its health sees for himself that it is silent.
    try environment.bring(about: Fault("out-of-range"))
    try run.reset(to: StartCondition())
    try run.perform(Stimulus(RealLockRig.vocabulary.stimulus("closeTo")!))
    expect(try run.observe(until: .zero + .seconds(20)), nil)
  }

  @Test("a lock that is heard again after a rest that nothing asks for was silent by itself")
  func rest() throws {
    let rig = try RealLockRig()
    try rig.start()
    try rig.world.bring(about: Fault("out-of-range", .duration(.seconds(40))))
    try rig.give("closeTo")
    // The model looks when its time is over, and finds that more has passed.
    expect(try rig.lock.observe(until: .zero + .seconds(15)), nil)
    #expect(rig.lock.now >= .zero + .seconds(40) && rig.lock.now < .zero + .seconds(42), "\(rig.lock.now)")
    let reason = try #require(rig.lock.explanation(ofSilence: true))
    expect([reason.name, "\(reason.isOfDevice)"], ["unheard", "true"])
    #expect(reason.detail.hasSuffix(", and then it was: nothing asks it for such a rest"), "\(reason)")
    let heard = Observation.status(RealLockRig.vocabulary.status("receivedBle")!)
    expect(try rig.lock.observe(until: rig.lock.now), heard)
    // One that comes while the model still grants it the time has done nothing wrong.
    try rig.start()
    try rig.world.bring(about: Fault("out-of-range", .duration(.milliseconds(14_600))))
    try rig.give("closeTo")
    expect(try rig.lock.observe(until: .zero + .seconds(17)), heard)
    #expect(rig.lock.explanation(ofSilence: true)?.isOfDevice != true)
  }

  @Test("a lock that is silent while others are heard is silent by itself, before a test and in it")
  func othersAreHeard() throws {
    let rig = try RealLockRig()
    try rig.start()
    try rig.world.bring(about: Fault("advertise", .text("020106")))
    try rig.world.bring(about: Fault("out-of-range"))
    try rig.give("closeTo")
    expect(try rig.lock.observe(until: .zero + .seconds(15)), nil)
    expect(rig.lock.now, .zero + .seconds(30))
    let words = "unheard: the lock was not heard, and another device was, over the same controller"
    expect(rig.lock.explanation(ofSilence: true).map { "\($0)" }, words)
    // What the lock's knowledge is worth by now has to be looked at before the next test.
    rig.lock.interlock.knowledge.invalidate()
    try rig.world.bring(about: Fault("advertise", .text("020106")))
    expect(refusal { () throws(LabFault) in try rig.start() }?.symptom, .noDevice)
    let session = try #require(rig.lock.takePreparations().last)
    expect(session.silence, .zero + .seconds(30))
    expect(session.explanation.map { "\($0)" }, words)
  }

  @Test("a lock whose motor needs no rest takes one command right after another, and says so")
  func gap() throws {
    let rig = try RealLockRig(limits: LockLimits(gap: .zero))
    try rig.start()
    try rig.open()
    let stimulus = Stimulus(RealLockRig.vocabulary.stimulus("unlock")!)
    try rig.lock.perform(stimulus)
    expect(rig.lock.readyTime(for: stimulus), nil)
    expect(rig.lock.pace.motorRest, .zero)
    expect(rig.lock.abilities.takesCommandsInMotion, true)
    try rig.lock.perform(Stimulus(RealLockRig.vocabulary.stimulus("lock")!))
    expect(rig.movements, 2)
    let usual = try RealLockRig()
    try usual.start()
    try usual.open()
    try usual.give("unlock")
    expect(usual.lock.pace.motorRest, .seconds(2))
    expect(usual.lock.pace.movementsLeft, nil)
    expect(usual.lock.abilities.takesCommandsInMotion, false)
    #expect(usual.lock.pace.air > .milliseconds(20) && usual.lock.pace.air < .seconds(3))
  }
}
