import Links
@testable import LockFiles
@testable import Bench
import Basics
import Conformance
import SesameDevice
import TestSupport
import Testing

/// A keypad's lock that is looked after, with what a model of it has words for.
private struct Rig {
  let device: KeypadLock
  let lock: RealLock<KeypadLock>
  let counter: CycleCounter
  private let family: LockFamily

  init(
    _ device: KeypadLock = KeypadLock(), budget: Int? = nil, park: ParkPosition = .locked,
    limits: LockLimits = .usual, ledger: ActuationBudget = ActuationBudget()
  ) throws {
    self.device = device
    family = try .keypad()
    var settings = InterlockSettings(limits: limits, budget: budget, park: park)
    settings.family = family
    counter = CycleCounter(ledger: ledger) {
      BenchTime(wall: WallTime(nanoseconds: device.time.nanoseconds), boot: "a", uptime: device.time)
    }
    lock = RealLock(device, settings, counter)
    lock.adopt(family.sessionWords)
  }

  func start(_ settings: (String, Value)...) throws(LabFault) {
    try lock.reset(to: StartCondition(settings.map { Argument($0.0, $0.1) }))
  }

  /// Why a start or a stimulus is refused.
  func refusal(_ body: () throws(LabFault) -> Void) -> String? {
    do throws(LabFault) {
      try body()
      return nil
    } catch {
      return error.description
    }
  }

  func give(_ name: String) throws(LabFault) {
    let stimulus = Stimulus(family.sessionWords.stimulus(name)!)
    while let ready = lock.readyTime(for: stimulus), lock.now < ready { try pass(ready - lock.now) }
    try lock.perform(stimulus)
  }

  @discardableResult
  func pass(_ time: Interval) throws(LabFault) -> [String] {
    let limit = lock.now + time
    var shown: [String] = []
    repeat {
      if case .status(let number)? = try lock.observe(until: limit) {
        shown.append(family.sessionWords.statuses[number])
      }
    } while lock.now < limit
    return shown
  }

  @discardableResult
  func open() throws(LabFault) -> [String] {
    try give("hear")
    try pass(.seconds(1))
    try give("call")
    return try pass(.seconds(1))
  }
}

private func words(_ session: Preparation, of family: LockFamily) -> [String] {
  session.entries.compactMap { entry in
    switch entry.event {
    case .stimulus(let stimulus): family.sessionWords.stimuli[stimulus.number]
    case .observation(.status(let number)): "→ " + family.sessionWords.statuses[number]
    case .observation, .fault: nil
    }
  }
}

@Suite("A lock of five requests")
struct KeypadTests {
  @Test("what its family cannot be asked for is not offered")
  func offered() throws {
    let family = try LockFamily.keypad()
    expect(family.startSettings, ["bolt"])
    expect(family.guarded, [])
    expect(family.name(of: .register), nil)
    expect(family.name(of: .leave), "hang up")
    let abilities = try Rig().lock.abilities
    expect(abilities.settings, ["bolt"])
    expect(abilities.arguments.count, 0)
    expect(abilities.keepsState, true)
    expect(LockFamily.sesame.startSettings, ["registered", "configured", "bolt", "history"])
  }

  @Test("it has an owner and positions, and is not looked at where nothing is to be known")
  func known() throws {
    let rig = try Rig()
    try rig.start(("registered", .flag(true)), ("configured", .flag(true)))
    expect(rig.device.told, [])
    expect(rig.lock.takePreparations().count, 0)
    let known = rig.lock.interlock.knowledge
    expect(known.isOwnerSure, true)
    expect(known.isConfigured, true)
    expect(known.autolock, 0)
  }

  @Test("its bolt is turned before a test where it is not where the test starts, and only there")
  func bolt() throws {
    let rig = try Rig(KeypadLock(isOpen: true))
    let family = try LockFamily.keypad()
    try rig.start(("bolt", .text("locked")))
    let sessions = rig.lock.takePreparations()
    expect(
      sessions.map { words($0, of: family) },
      [["hear", "→ near", "call", "→ opened", "shut", "→ closed", "hang up"]])
    // Where its bolt was nobody knew, and the family has no word for a bolt that still moves.
    expect(sessions[0].start, nil)
    expect(sessions[0].underWay.count, 0)
    expect(rig.lock.interlock.used, 1)
    try rig.start(("bolt", .text("locked")))
    expect(rig.lock.takePreparations().count, 0)
    try rig.start(("bolt", .text("unlocked")))
    let others = rig.lock.takePreparations()
    expect(
      others.map { words($0, of: family) },
      [["hear", "→ near", "call", "→ closed", "open", "→ opened", "hang up"]])
    expect(others[0].start, StartCondition())
    expect(rig.lock.interlock.used, 2)
  }

  // swift-format-ignore
  static let refusals: [(setting: (String, Value), words: String)] = [
    (("registered", .flag(false)), "starts with registered: no, which no lock of the machine keypad can be brought to"),
    (("configured", .flag(false)), "starts with configured: no, which no lock of the machine keypad can be brought to"),
    (("history", .text("empty")), "starts with history: empty, which no lock of the machine keypad can be brought to"),
    (("bolt", .text("moved")), "starts with bolt: moved, which only a person at a real lock can bring about"),
    (("weather", .text("fair")), "starts with weather: fair, which only a person at a real lock can bring about"),
  ]

  @Test("what nothing brings it to is refused, whatever is allowed", arguments: refusals.indices)
  func refused(index: Int) throws {
    let (setting, words) = Self.refusals[index]
    let rig = try Rig()
    expect(
      rig.refusal { () throws(LabFault) in try rig.start(setting) }, LabFault(.notPossible, words).description
    )
    expect(rig.device.told, [])
  }

  @Test("its motor rests, its movements have a budget, and one of them is kept for parking")
  func budget() throws {
    let rig = try Rig(budget: 3)
    try rig.start(("bolt", .text("locked")))
    try rig.open()
    try rig.give("open")
    expect(try rig.pass(.seconds(1)), ["opened"])
    let early = Stimulus(try LockFamily.keypad().sessionWords.stimulus("shut")!)
    expect(
      rig.refusal { () throws(LabFault) in try rig.lock.perform(early) },
      LabFault(
        .notPossible,
        "shut came too early: the motor rests 2 s after each movement; it may go on in 2 s, at 00:00:04 UTC"
      ).description)
    try rig.give("shut")
    expect(try rig.pass(.seconds(1)), ["closed"])
    expect(
      rig.refusal { () throws(LabFault) in try rig.give("open") },
      LabFault(
        .safetyLimit,
        "the budget of 3 movements is used up: 2 were made, and one is kept for parking; raise it with --actuations"
      ).description)
    expect(rig.lock.interlock.used, rig.device.asked.count)
    for (one, next) in zip(rig.device.asked, rig.device.asked.dropFirst()) {
      #expect(next - one >= .seconds(2))
    }
  }

  @Test("what it does by itself is counted when it is seen, in a session and after one")
  func ownMovements() throws {
    let device = KeypadLock()
    device.relocking = .seconds(5)
    let rig = try Rig(device)
    try rig.start(("bolt", .text("locked")))
    try rig.open()
    try rig.give("open")
    expect(try rig.pass(.seconds(8)), ["opened", "closed"])
    expect(rig.lock.interlock.used, 2)
    try rig.give("open")
    expect(try rig.pass(.seconds(2)), ["opened"])
    try rig.give("hang up")
    try rig.pass(.seconds(30))
    expect(rig.lock.interlock.used, 3)
    try rig.start(("bolt", .text("locked")))
    // That it is so was to be looked at, since nobody was there to see it.
    expect(rig.lock.takePreparations().count, 1)
    expect(rig.lock.interlock.used, 4)
    expect(device.asked.count + device.unasked.count, 4)
    // One that was left unlocked is not believed to be so.
    try rig.start(("bolt", .text("unlocked")))
    try rig.start(("bolt", .text("unlocked")))
    expect(rig.lock.takePreparations().count, 1)
  }

  @Test("it is parked where it is to be, and whoever was killed before has that done for him")
  func parking() throws {
    let rig = try Rig(KeypadLock(isOpen: true))
    try rig.start(("bolt", .text("unlocked")))
    let end = rig.lock.park()
    expect(end.left, .parked)
    expect(
      end.diagnostics, ["the lock was unlocked and was brought to locked", "1 movements were made"])
    expect(rig.device.isOpen, false)

    let time = BenchTime(wall: WallTime(nanoseconds: 0), boot: "a", uptime: .zero)
    let ledger = ActuationBudget([LockEvent(.away("locked", autolock: nil), at: time)], at: time)
    let next = try Rig(KeypadLock(isOpen: true), ledger: ledger)
    try next.start(("bolt", .text("locked")))
    expect(next.device.isOpen, false)
    expect(next.lock.interlock.used, 1)
    expect(
      next.lock.takeDiagnostics(),
      [
        "the last run on the lock left it unparked at 1970-01-01T00:00:00.000Z: the lock was unlocked and was "
          + "brought to locked"
      ])
    let untouched = try Rig(KeypadLock(isOpen: true), park: .asFound)
    try untouched.start(("bolt", .text("locked")))
    expect(untouched.lock.park().left, .parked)
    expect(untouched.device.isOpen, true)
  }

  @Test("its health is seen in its own words, and so is that it never turns", arguments: [false, true])
  func health(isBroken: Bool) throws {
    let device = KeypadLock()
    device.isBroken = isBroken
    let rig = try Rig(device, limits: LockLimits(gap: .zero))
    let check = HealthCheck(of: rig.lock, family: try .keypad())
    expect(
      check.perform(),
      isBroken ? .unwell("after open it showed nothing") : .healthy("it was unlocked and locked"))
    expect(
      device.told, ["hear", "call", "open"] + (isBroken ? ["hang up"] : ["shut", "hang up"]))
    expect(rig.lock.interlock.used, isBroken ? 1 : 2)
    device.isNear = false
    expect(
      HealthCheck(of: device, family: try .keypad()).perform(), .unreached("it was not heard in 20 s"))
  }

  @Test("one that never turns is brought nowhere, and is left with a word")
  func broken() throws {
    let device = KeypadLock(isOpen: true)
    device.isBroken = true
    let rig = try Rig(device)
    expect(
      rig.refusal { () throws(LabFault) in try rig.start(("bolt", .text("locked"))) },
      LabFault(.notPossible, "starts with bolt: locked, and the lock does not turn there").description)
    try rig.start(("bolt", .text("unlocked")))
    let end = rig.lock.park()
    let words =
      "the lock could not be brought to locked, see to it: instead of closed the lock showed nothing"
    expect(end.left, .elsewhere(words))
    expect(end.fault, LabFault(.noAnswer, words))
    // Every try is a movement of its motor, whatever comes of it.
    expect(rig.lock.interlock.used, device.asked.count)
  }

  @Test("who looks at a lock does so in the words of its family")
  func look() throws {
    expect(
      try LockFamily.keypad().parkScenario,
      """
      scenario: The lock is parked
      machine: keypad
      steps:
        - hear
        - call
        - until: { status: [closed, opened] }
        - hang up

      """)
    expect(
      LockFamily.sesame.parkScenario,
      """
      scenario: The lock is parked
      machine: sesame
      steps:
        - closeTo
        - connect
        - until: { status: [locked, unlocked, moved, nosetting, readytoRegister] }
        - disconnect

      """)
  }
}

@Suite("A family of locks")
struct LockFamilyTests {
  private typealias Stimuli = [(name: String, request: LockFamily.Request?)]
  private typealias Statuses = [(name: String, condition: LockFamily.Condition)]

  private static let stimuli: Stimuli = [
    ("hear", .listen), ("call", .connect), ("shut", .lock), ("open", .unlock), ("hang up", .leave),
  ]
  private static let statuses: Statuses = [
    ("gone", .away), ("near", .heard), ("closed", .locked), ("opened", .unlocked),
  ]

  // swift-format-ignore
  private static let table: [(stimuli: Stimuli, statuses: Statuses, subjects: [(word: String, request: LockFamily.Request)], problem: String)] = [
    (stimuli, statuses, [], ""),
    ([], statuses, [], "no stimulus asks for listen, connect, lock, unlock, leave"),
    (stimuli.dropLast(), Array(statuses.dropFirst()), [], "no stimulus asks for leave; no status says away"),
    (stimuli + [("open", nil)], statuses + [("near", .locked)], [], "the stimulus open is there twice; the status near is there twice"),
    (stimuli + [("", nil)], statuses, [], "a stimulus has no name"),
    (stimuli + [("delay", .setAutolock)], statuses, [], "what setAutolock sets cannot be put back, since no stimulus asks for readAutolock"),
    (stimuli, statuses, [("wipe", .reset)], "a fault may ask for reset (wipe), and no stimulus does"),
  ]

  @Test("what is missing to look after its locks is said in a sentence", arguments: table.indices)
  func problems(index: Int) {
    let (stimuli, statuses, subjects, problem) = Self.table[index]
    var said = ""
    do throws(LockFamily.Incomplete) {
      _ = try LockFamily(machine: "keypad", stimuli: stimuli, statuses: statuses, subjects: subjects)
    } catch {
      said = "\(error)"
    }
    expect(said, problem.isEmpty ? "" : "no lock of the machine keypad can be managed: " + problem)
  }

  @Test("a battery says how full it is, or how many volts it has")
  func battery() throws {
    let family = try LockFamily.keypad()
    let values: [(value: Value, percent: Int?)] = [
      (.integer(40), 40), (.integer(-1), 0), (.number(99.9), 99), (.number(1e300), 100), (.number(.nan), nil),
      (.text("full"), nil),
    ]
    for (value, percent) in values { expect(family.percent(ofBattery: value), percent) }
    expect(LockFamily.sesame.percent(ofBattery: .integer(40)), nil)
    expect(LockFamily.sesame.percent(ofBattery: .number(6)), 100)
  }

  @Test("nothing makes a lock forget its owner that nothing could give it again")
  func safe() throws {
    let family = try LockFamily(
      machine: "keypad", stimuli: Self.stimuli + [("wipe", .reset), ("erase", .reset)],
      statuses: Self.statuses)
    expect(family.guarded, ["wipe", "erase"])
    expect(family.hasOwners, true)
    expect(family.hasPositions, false)
    var settings = InterlockSettings(allowed: ["wipe", "erase"])
    settings.family = family
    expect(settings.safe.allowed, [])
    expect(InterlockSettings(allowed: ["reset"]).safe.allowed, [])
    expect(InterlockSettings(allowed: ["reset", "register"]).safe.allowed, ["reset", "register"])
  }
}
