@testable import LockFiles
@testable import Bench
import Databases
import SesameDevice
import System
import Conformance
import Glibc
import Basics
import TestSupport
import Testing
@testable import Transports

@Suite("An interlocked lock")
struct InterlockTests {
  private let folder = TestFolder()

  private func interlock(
    _ settings: InterlockSettings = InterlockSettings(), _ lock: ToyLock = ToyLock(), since start: Int? = nil
  ) throws -> Interlock<ToyLock> {
    let motor = lock.motor
    let cycleCounter = try CycleCounter(of: "toy", in: folder.path + "/state.sqlite", takingOver: nil) {
      motor.clock
    }
    let interlock = Interlock(lock, settings, cycleCounter, since: start)
    interlock.adopt(ToyLock.vocabulary)
    return interlock
  }

  /// What a call was refused with.
  private func refusal(_ body: () throws(LabFault) -> Void) -> LabFault? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test("two seconds lie between movements, and what comes earlier is refused")
  func gap() throws {
    let lock = try interlock()
    try lock.open()
    expect(lock.readyTime(for: lock.stimulus("closeTo")), nil)
    try lock.give("unlock")
    let ready = lock.now + .seconds(2)
    expect(lock.readyTime(for: lock.stimulus("toggle")), ready)
    try lock.pass(.milliseconds(1999))
    #expect(throws: LabFault.self) { try lock.give("lock") }
    try lock.pass(.milliseconds(1))
    try lock.give("lock")
    expect(lock.wrapped.motor.moves.count, 2)
    // A new test does not make the motor younger, and neither does a new process.
    try lock.reset(to: StartCondition())
    expect(lock.readyTime(for: lock.stimulus("lock")), .zero + .seconds(2))
    let fault = Fault("forge", .text("unlock in-clear"))
    expect(lock.readyTime(for: fault), .zero + .seconds(2))
    expect(refusal { () throws(LabFault) in try lock.bring(about: fault) }?.symptom, .notPossible)
  }

  @Test("what the client refuses by itself is given at once, and is no movement")
  func refusedByClient() throws {
    var toy = ToyLock()
    toy.withheld = ["toggle"]
    let lock = try interlock(InterlockSettings(budget: 3), toy)
    try lock.open()
    try lock.give("unlock")
    expect(lock.readyTime(for: lock.stimulus("toggle")), nil)
    for _ in 0..<5 { try lock.give("toggle") }
    expect([lock.used, lock.wrapped.motor.moves.count], [1, 1])
    expect(lock.readyTime(for: lock.stimulus("lock")), lock.now + .seconds(2))
  }

  @Test("a new process knows when the motor moved last, and how often, and whether it jammed")
  func processes() throws {
    let limits = LockLimits(gap: .seconds(2), perHour: 4, coolDown: .seconds(30))
    let settings = InterlockSettings(limits: limits)
    let motor = ToyLock.Motor()
    try {
      let lock = try interlock(settings, ToyLock(motor))
      try lock.open()
      try lock.give("unlock")
      // Of interest is the motor, and not what the lock is owed.
      try lock.cycleCounter.noteParked()
    }()
    try {
      let lock = try interlock(settings, ToyLock(motor))
      try lock.reset(to: StartCondition())
      expect(lock.readyTime(for: lock.stimulus("lock")), .zero + .seconds(2))
      try lock.open()
      try lock.bring(about: Fault("jam"))
      try lock.give("lock")
      try lock.pass(.seconds(2))
      expect(lock.takeDiagnostics(), ["the motor jammed, in neither position after lock: it rests for 30 s"])
      try lock.cycleCounter.noteParked()
    }()
    let lock = try interlock(settings, ToyLock(motor))
    try lock.bring(about: Fault("jam", .flag(false)))
    try lock.open()
    let ready = try #require(lock.readyTime(for: lock.stimulus("lock")))
    expect(ready, motor.jams[0] + .seconds(30) - (motor.time - lock.now - .zero))
    try lock.pass(ready - lock.now)
    try lock.give("lock")
    expect(lock.cycleCounter.total, 3)
    expect(motor.moves.count, 3)
    try lock.pass(.seconds(4))
    // The fourth of the hour is the return's, and nobody waits an hour in a case.
    expect(lock.readyTime(for: lock.stimulus("unlock")), nil)
    let fault = refusal { () throws(LabFault) in try lock.give("unlock") }
    expect(fault?.symptom, .safetyLimit)
    expect(
      fault?.detail,
      "unlock came too early: 3 movements were made in the last hour; the limit is 4, including one for parking"
        + "; it may go on in 3564 s, at 15:13:24 UTC")
    try lock.give("handToUnlocked")
    expect(lock.park().diagnostics.first, "the lock was unlocked and was brought to locked")
    lock.adopt(ToyLock.vocabulary)
    try lock.open()
    try lock.give("handToUnlocked")
    let end = lock.park()
    #expect(
      end.diagnostics.first?.contains(
        "the lock could not be brought to locked, see to it: lock came too early")
        == true, "\(end)")
    expect(end.fault?.symptom, .safetyLimit)
    expect(lock.cycleCounter.total, 4)
  }

  @Test("with a jam that lasts the lock is not parked, and that is said")
  func jammed() throws {
    let lock = try interlock(InterlockSettings(limits: LockLimits(coolDown: .seconds(300))))
    try lock.open()
    try lock.bring(about: Fault("jam"))
    try lock.give("unlock")
    try lock.pass(.seconds(3))
    let end = lock.park()
    #expect(
      end.diagnostics.contains {
        $0.hasPrefix(
          "the lock could not be brought to locked, see to it: lock came too early: the motor rests 5 min after a jam; it may go on in"
        )
      },
      "\(end)")
    expect(lock.wrapped.motor.moves.count, 1)
  }

  @Test("what the lock says of its motor is a jam once, and not each time that somebody connects")
  func stalled() throws {
    var toy = ToyLock()
    toy.said = [Reading("motor", .text("stalled"))]
    let lock = try interlock(InterlockSettings(limits: LockLimits(coolDown: .seconds(10))), toy)
    try lock.open()
    #expect(lock.readyTime(for: lock.stimulus("lock")) != nil)
    try lock.pass(.seconds(10))
    try lock.open()
    expect(lock.readyTime(for: lock.stimulus("lock")), nil)
    try lock.give("unlock")
    try lock.pass(.seconds(5))
    try lock.open()
    #expect(lock.readyTime(for: lock.stimulus("lock")) != nil)
  }

  @Test("with a battery that is low nothing moves but parking, and an hour long no case begins")
  func battery() throws {
    var toy = ToyLock()
    toy.said = [Reading("battery", .number(4.9))]
    let motor = toy.motor
    let settings = InterlockSettings(limits: LockLimits(batteryFloor: 20))
    try {
      let lock = try interlock(settings, toy)
      try lock.open()
      try lock.give("handToUnlocked")
      expect(
        refusal { () throws(LabFault) in try lock.give("lock") },
        LabFault(
          .safetyLimit, "lock came too early: the battery is at 5 %, and below 20 % the lock is left alone"))
      let fault = refusal { () throws(LabFault) in try lock.reset(to: StartCondition()) }
      #expect(
        fault?.detail.hasPrefix("the case is not begun: the battery is at 5 %") == true,
        "\(String(describing: fault))")
      expect(lock.park().diagnostics.first, "the lock was unlocked and was brought to locked")
    }()
    // Another process, in which it is not forgotten; and a new battery, an hour later.
    motor.time = motor.time + .seconds(3500)
    let lock = try interlock(settings, ToyLock(motor))
    expect(refusal { () throws(LabFault) in try lock.reset(to: StartCondition()) }?.symptom, .safetyLimit)
    motor.time = motor.time + .seconds(120)
    var fresh = ToyLock(motor)
    fresh.said = [Reading("battery", .number(5.9))]
    lock.wrapped = fresh
    lock.adopt(ToyLock.vocabulary)
    try lock.open()
    try lock.give("unlock")
    expect(motor.moves.count, 2)
  }

  @Test("the budget keeps one movement back, and with it the lock is parked")
  func budget() throws {
    let lock = try interlock(InterlockSettings(budget: 3))
    try lock.open()
    for name in ["unlock", "forgeLock"] {
      try lock.give(name)
      try lock.pass(.seconds(3))
    }
    do {
      try lock.give("toggle")
      Issue.record("the budget is used up")
    } catch {
      expect(error.symptom, .safetyLimit)
      #expect(error.detail.contains("the budget of 3 movements is used up: 2 were made"), "\(error)")
    }
    try lock.give("handToUnlocked")
    let end = lock.park()
    expect(end.fault, nil)
    expect(end.diagnostics.first, "the lock was unlocked and was brought to locked")
    expect(lock.wrapped.motor.moves.count, 3)
    expect(lock.cycleCounter.total, 3)
  }

  @Test("a lock that is opened anew has what is left of its run's budget")
  func untouched() throws {
    let motor = ToyLock.Motor()
    try {
      let lock = try interlock(InterlockSettings(budget: 3), ToyLock(motor), since: 0)
      try lock.open()
      try lock.give("unlock")
      try lock.pass(.seconds(3))
      try lock.give("lock")
      try lock.cycleCounter.noteParked()
    }()
    let lock = try interlock(InterlockSettings(budget: 3), ToyLock(motor), since: 0)
    expect(lock.used, 2)
    try lock.reset(to: StartCondition())
    try lock.open()
    try lock.pass(.seconds(3))
    let fault = refusal { () throws(LabFault) in try lock.give("unlock") }
    #expect(
      fault?.detail.contains("the budget of 3 movements is used up: 2 were made") ?? false, "\(fault as Any)")
    expect(motor.moves.count, 2)
  }

  @Test("what a lock with a bug could obey is counted, and what is not allowed is not forged either")
  func hostile() throws {
    let lock = try interlock(InterlockSettings(budget: 3))
    try lock.bring(about: Fault("drop"))
    try lock.bring(about: Fault("forge", .flag(false)))
    let values = ["reset in-clear", "registration", "autolock in-clear", "unlock in-clear"]
      .map { Value.text($0) }
    for value in values.dropLast() {
      #expect(throws: LabFault.self) { try lock.bring(about: Fault("forge", value)) }
    }
    expect(lock.cycleCounter.total, 0)
    #expect(throws: LabFault.self) { try lock.bring(about: Fault("wrong-key", .text("registration"))) }
    try lock.bring(about: Fault("wrong-key", .text("old-key")))
    expect(lock.cycleCounter.total, 0)
    try lock.bring(about: Fault("replay", .text("message 1 of session -1")))
    try lock.pass(.seconds(2))
    try lock.bring(about: Fault("att", .text("oversized")))
    expect(lock.cycleCounter.total, 2)
    #expect(throws: LabFault.self) { try lock.bring(about: Fault("reflect")) }
    let abilities = Abilities(stimuli: [], disturbances: [Disturbance(.messages, "forge", values)])
    func offered(_ allowed: [String]) -> [Value] {
      Interlock<ToyLock>.abilities(abilities, InterlockSettings(allowed: allowed)).disturbances[0].values
    }
    expect(offered([]), [values[3]])
    expect(offered(["reset"]), [values[0], values[3]])
  }

  @Test("what changes the lock needs to be allowed by name", arguments: ["reset", "register", "configure"])
  func guarded(name: String) throws {
    let strict = try interlock()
    expect(strict.abilities.stimuli?.contains(name), false)
    try strict.open()
    do {
      try strict.give(name)
      Issue.record("\(name) was not allowed")
    } catch {
      expect(error, LabFault(.notPossible, "\(name) needs --allow \(name) with a real lock"))
    }
    let allowed = InterlockSettings(allowed: [name])
    expect(Interlock<ToyLock>.abilities(strict.wrapped.abilities, allowed).stimuli?.contains(name), true)
  }

  /// What is done in a session that found the lock somewhere, and the movements that are counted for it.
  // swift-format-ignore
  static let charges: [(found: String, done: [String], count: Int)] = [
    ("locked", ["closeTo"], 0),
    ("locked", ["lock"], 1),
    ("locked", ["unlock", "lock", "toggle", "forgeUnlock", "replayCommand"], 5),
    // Autolock is paid for when it is set, and with every unlock after it.
    ("locked", ["autolock on"], 1),
    ("locked", ["autolock on", "unlock", "wait"], 3),
    // Only the lock knows that it was turned off.
    ("locked", ["autolock on", "autolock off", "unlock", "wait"], 3),
    ("unlocked", ["autolock on", "wait"], 1),
    ("unlocked", ["autolock on", "wait", "unlock", "wait", "unlock", "wait"], 5),
    // A lock that autolocks and did not say so is counted when it is seen.
    ("unlocked", ["silent autolock", "wait"], 1),
    ("unlocked", ["unlock", "silent autolock", "wait"], 2),
    ("locked", ["handToUnlocked"], 0),
  ]

  @Test("what is counted", arguments: charges.indices)
  func counted(index: Int) throws {
    let (found, done, count) = Self.charges[index]
    let motor = ToyLock.Motor()
    motor.position = found
    let lock = try interlock(InterlockSettings(), ToyLock(motor))
    try lock.open()
    for name in done {
      switch name {
      case "autolock on", "autolock off":
        try lock.pass(.seconds(2))
        try lock.give(
          "setAutolock", [Argument("delay", .duration(name == "autolock on" ? .seconds(5) : .zero))])
      case "silent autolock":
        // As if somebody else had set it: the interlock is not told.
        try lock.pass(.seconds(2))
        let delay = Argument("delay", .duration(.seconds(5)))
        try lock.wrapped.perform(lock.stimulus("setAutolock", [delay]))
      case "wait": try lock.pass(.seconds(8))
      default:
        try lock.pass(.seconds(2))
        try lock.give(name)
        try lock.pass(.seconds(2))
      }
    }
    expect(lock.used, count)
    #expect(motor.moves.count <= lock.used)
  }

  @Test(
    "whatever is tried, and whoever dies, no limit is passed, as the motor itself has counted",
    arguments: 0..<60)
  func property(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let budget = Int.random(in: 1...30, using: &random)
    let limits = LockLimits(
      gap: .seconds(2), perHour: Int.random(in: 2...20, using: &random),
      perShift: Int.random(in: 2...60, using: &random),
      coolDown: .seconds(Int64.random(in: 0...200, using: &random)))
    let settings = InterlockSettings(limits: limits, budget: budget)
    let motor = ToyLock.Motor()
    // What a hand did and the lock then undoes by itself, with nobody connected, nobody can know of.
    let names = ToyLock.vocabulary.stimuli.filter {
      !LockFamily.sesame.guarded.contains($0) && $0 != "handToUnlocked"
    }
    for _ in 0..<6 {
      let lock = try interlock(settings, ToyLock(motor))
      motor.didMove = { [weak cycleCounter = lock.cycleCounter] in
        #expect(cycleCounter?.total ?? 0 >= motor.moves.count)
      }
      do { try lock.open() } catch { #expect(error.symptom == .safetyLimit || isUnsettled(error)) }
      for _ in 0..<30 { try disturb(lock, names, &random) }
      if Bool.random(using: &random) { _ = lock.park() }
      #expect(lock.used <= budget, "\(lock.used) of \(budget)")
      #expect(motor.moves.count <= lock.cycleCounter.total)
      // The process dies, and perhaps the machine with it.
      motor.didMove = {}
      if Int.random(in: 0..<3, using: &random) == 0 {
        motor.boot += 1
        motor.started = motor.time
      }
    }
    expect(breach(motor, limits), nil)
  }

  /// Whether a lock that jams could not be brought to where the one before, who died, would have left it.
  private func isUnsettled(_ fault: LabFault) -> Bool {
    fault.symptom == .noDevice && fault.detail.contains("and it could not be brought to locked, see to it: ")
  }

  private func disturb(
    _ lock: Interlock<ToyLock>, _ names: [String], _ random: inout SeededGenerator
  ) throws {
    let motor = lock.wrapped.motor
    do {
      switch Int.random(in: 0..<20, using: &random) {
      case 0: try lock.open()
      case 1: motor.lag = motor.lag + .seconds(Int64.random(in: 0...90_000, using: &random))
      case 2: try lock.bring(about: Fault("jam", .flag(Int.random(in: 0..<4, using: &random) == 0)))
      case 3:
        let fault = Fault("forge", .text("unlock in-clear"))
        if let ready = lock.readyTime(for: fault) { try lock.pass(ready - lock.now) }
        try lock.bring(about: fault)
      default:
        let name = names.randomElement(using: &random)!
        let delay = Value.duration(.seconds(Int64.random(in: 0...900, using: &random)))
        let arguments = name == "setAutolock" ? [Argument("delay", delay)] : []
        let ready = lock.readyTime(for: lock.stimulus(name, arguments))
        if let ready, Bool.random(using: &random) { try lock.pass(ready - lock.now) }
        try lock.give(name, arguments)
      }
    } catch {
      #expect([.notPossible, .safetyLimit].contains(error.symptom) || isUnsettled(error))
    }
    try lock.pass(.milliseconds([0, 500, 3000, 60_000, 500_000].randomElement(using: &random)!))
  }

  /// What is wrong with what a motor did, judged by nothing that the interlock knows.
  private func breach(_ motor: ToyLock.Motor, _ limits: LockLimits) -> String? {
    for (length, budget) in [(Interval.seconds(3600), limits.perHour!), (.seconds(43_200), limits.perShift!)]
    {
      for end in motor.moves {
        let count = motor.moves.filter { $0 > end - length && $0 <= end }.count
        if count > budget { return "\(count) movements in \(length) up to \(end), of \(budget)" }
      }
    }
    for (earlier, later) in zip(motor.commanded, motor.commanded.dropFirst())
    where later - earlier < limits.gap { return "\(later - earlier) between movements at \(later)" }
    return nil
  }

  /// How a lock that was found somewhere is left; `trouble` is what fails at the end, and how often.
  // swift-format-ignore
  static let rests: [(park: ParkPosition, found: String, trouble: [String: Int], left: String, says: String, isFault: Bool)] = [
    (.locked, "locked", [:], "locked", "the lock rests locked", false),
    (.locked, "unlocked", [:], "locked", "the lock was unlocked and was brought to locked", false),
    (.locked, "moved", [:], "locked", "the lock was moved and was brought to locked", false),
    (.unlocked, "locked", [:], "unlocked", "the lock was locked and was brought to unlocked", false),
    (.asFound, "unlocked", [:], "unlocked", "the lock rests unlocked", false),
    (.locked, "unlocked", ["reset": 1], "locked", "the lock was unlocked and was brought to locked", false),
    (.locked, "unlocked", ["lock": 1], "locked", "the lock was unlocked and was brought to locked", false),
    (.locked, "unlocked", ["observe": 1], "locked", "the lock was unlocked and was brought to locked", false),
    (.locked, "unlocked", ["reset": 2], "unlocked",
      "the lock could not be brought to locked, see to it: somebody pulled the dongle out", true),
    (.locked, "unlocked", ["reset": 1, "restart": 1], "unlocked",
      "the lock could not be brought to locked, see to it: somebody pulled the dongle out", true),
  ]

  @Test("where a lock is left", arguments: rests.indices)
  func left(index: Int) throws {
    let item = Self.rests[index]
    let motor = ToyLock.Motor()
    motor.position = item.found
    let lock = try interlock(InterlockSettings(park: item.park), ToyLock(motor))
    try lock.open()
    lock.wrapped.trouble = item.trouble
    let end = lock.park()
    expect(end.diagnostics.first, item.says)
    expect(end.left, item.isFault ? .elsewhere(item.says) : .parked)
    expect(end.fault != nil, item.isFault)
    expect(motor.position, item.left)
  }

  @Test(
    "a lock that nobody can turn is left, and that is said",
    arguments: [
      ("nosetting", "the lock is left as it is: its positions were never set"),
      ("readytoRegister", "the lock is left as it is: it has no owner"),
    ])
  func helpless(greeting: String, words: String) throws {
    var toy = ToyLock()
    toy.greeting = greeting
    let lock = try interlock(InterlockSettings(), toy)
    try lock.open()
    let end = lock.park()
    expect(end.diagnostics.first, words)
    expect(end.left, .elsewhere(words))
    expect(end.fault, nil)
    expect(toy.motor.moves, [])
  }

  @Test("a lock that was never touched is left alone")
  func unopened() throws {
    let end = try interlock().park()
    expect(end.diagnostics, [])
    expect(end.left, nil)
    expect(end.fault, nil)
  }

  @Test("a lost transport is a diagnostic of the device, handed on")
  func diagnostics() throws {
    expect(try interlock().takeDiagnostics(), [])
  }
}
