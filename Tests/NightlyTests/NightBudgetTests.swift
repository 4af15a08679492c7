import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

/// What limits the next run of a lock, and how many movements it may make.
private struct Allowance: Sendable {
  /// The maximum of the night and of the lock.
  var actuations: Int?, perShift: Int?
  /// The movements that the lock made, and those that a run of another lock may still make.
  var used = 0, running = 0
  /// Whether it and the other lock have motors.
  var isReal = true, isOtherReal = true
  var wanted = 10
  var isParking = false
  var movements: Int?

  init(
    _ actuations: Int?, _ perShift: Int?, used: Int = 0, running: Int = 0, isReal: Bool = true,
    isOtherReal: Bool = true, wanted: Int = 10, isParking: Bool = false, _ movements: Int?
  ) {
    (self.actuations, self.perShift, self.used, self.running) = (actuations, perShift, used, running)
    (self.isReal, self.isOtherReal, self.wanted) = (isReal, isOtherReal, wanted)
    (self.isParking, self.movements) = (isParking, movements)
  }

  func night() -> Night {
    let lines: [NightLine] = [
      .begin(name: "test", clock),
      .start(
        NightAttempt(
          number: 1, work: .park, lock: "front", dongle: "blue", actuations: used, cycleCounter: 0),
        at: at(1)),
      .end(1, NightEnding(.agreed, cycleCounter: used, park: .parked), at: at(2)),
      .start(
        NightAttempt(
          number: 2, work: .park, lock: "back", dongle: "red", actuations: running, cycleCounter: 0),
        at: at(3)),
    ]
    return Night(
      NightSettings(duration: .seconds(3600), actuations: actuations), name: "test", cases: [],
      locks: [
        NightLock(name: "front", dongles: ["blue"], isReal: isReal, perShift: perShift),
        NightLock(name: "back", dongles: ["red"], isReal: isOtherReal),
      ], dongles: [NightDongle(name: "blue"), NightDongle(name: "red")], resuming: lines)
  }
}

@Suite("The budgets of a night")
struct NightBudgetTests {
  @Test(
    "a run may make what is left, without what parking needs and what other runs may still make",
    arguments: [
      Allowance(nil, nil, 10),
      // Of a lock's own movements four are reserved to park it.
      Allowance(nil, 14, 10), Allowance(nil, 13, 9), Allowance(nil, 14, used: 8, 2),
      Allowance(nil, 14, used: 9, nil), Allowance(nil, 5, nil),
      // Of the night's, four for each lock with a motor.
      Allowance(18, nil, 10), Allowance(17, nil, 9), Allowance(17, nil, isOtherReal: false, 10),
      Allowance(17, nil, used: 7, 2), Allowance(17, nil, used: 8, nil), Allowance(17, nil, running: 7, 2),
      Allowance(17, nil, used: 3, running: 4, 2), Allowance(17, nil, running: 8, nil),
      Allowance(17, nil, running: 8, isOtherReal: false, 10),
      // The less of both.
      Allowance(17, 7, 3), Allowance(11, 14, 3),
      // Parking has what is reserved.
      Allowance(nil, 5, wanted: 2, isParking: true, 2),
      Allowance(nil, 5, used: 4, wanted: 2, isParking: true, 1),
      Allowance(nil, 5, used: 5, wanted: 2, isParking: true, nil),
      Allowance(9, nil, used: 4, running: 4, wanted: 2, isParking: true, 1),
      Allowance(8, nil, used: 4, running: 4, wanted: 2, isParking: true, nil),
      // Nothing wears without a motor.
      Allowance(2, 2, used: 9, isReal: false, 10),
    ])
  private func allowance(_ row: Allowance) {
    expect(row.night().movements(for: 0, wanted: row.wanted, isParking: row.isParking), row.movements)
  }

  @Test("counts each movement once, and all that were permitted where nothing was counted")
  func used() {
    /// The counters before and after; the counter at the start of the night.
    let table: [(before: Int, after: Int?, used: Int)] = [
      (100, 107, 7), (100, 100, 0), (100, nil, 10),
      // A counter that runs backwards gives nothing back.
      (100, 90, 0),
    ]
    for row in table {
      var rig = Rig(
        [test("a")], locks: [NightLock(name: "front", dongles: ["blue"], cycleCounter: row.before)])
      _ = rig.receive(.begin(clock), at: 0)
      let ending = NightEnding(.agreed, cycleCounter: row.after, park: .parked)
      _ = rig.receive(.ended(1, ending), at: 1)
      expect([rig.night.locks[0].used], [row.used])
      expect(rig.night.locks[0].cycleCounter, max(100, row.after ?? 110))
    }
  }

  @Test(
    "a lock that was to be fuzzed and was not has a reason",
    arguments: [
      (0, "no time was left"), (1, "interrupted"), (2, "out of use"), (3, "not used any more tonight"),
      (4, "no movements were left"), (5, nil), (6, nil),
    ] as [(Int, String?)])
  func notFuzzed(_ number: Int, _ words: String?) {
    var settings = NightSettings(duration: .seconds(9))
    settings.fuzzActuations = 10
    var lock = NightLock(name: "front", dongles: ["blue"], isFuzzed: number != 5)
    if number == 2 { lock.outOfUse = "jammed" }
    if number == 4 { settings.actuations = 5 }
    if number == 6 { settings.duration = .seconds(10) }
    var rig = Rig([test("a")], settings, locks: [lock])
    if number == 6 { rig = Rig([], settings, locks: [lock]) }
    _ = rig.receive(.begin(clock), at: 0)
    switch number {
    case 1: _ = rig.receive(.stop("interrupted"), at: 1)
    case 3:
      _ = rig.receive(
        .ended(1, NightEnding(.limited, "low", cycleCounter: 0, park: .parked)), at: 1)
    case 6: _ = rig.receive(.ended(1, good(4)), at: 10)
    default: _ = rig.receive(.ended(1, good(1)), at: 1)
    }
    expect(rig.night.reasonNotFuzzed(rig.night.locks[0]), words)
  }

  @Test("a lock without movements for parking is left where it is, and the night ends")
  func noParking() {
    var rig = Rig([test("a")], locks: [NightLock(name: "front", dongles: ["blue"], perShift: 6)])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: a on front over blue"])
    expect(rig.night.running.map(\.attempt.actuations), [2])
    let all = NightEnding(.agreed, cycleCounter: 6, park: .elsewhere("it is open"))
    expect(rig.receive(.ended(1, all), at: 1), ["a: agree", "finish"])
    expect(rig.night.locks[0].park, .elsewhere("it is open"))
  }
}
