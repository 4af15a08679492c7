import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

@Suite("The order of the runs of a night")
struct NightScheduleTests {
  private static let dongles = [NightDongle(name: "blue"), NightDongle(name: "red")]

  @Test("locks without a dongle share the processes, and those with one do not need them")
  func processes() {
    let locks =
      ["east", "north", "south"].map { NightLock(name: $0, dongles: nil) }
      + [NightLock(name: "front", dongles: ["blue"])]
    for (processes, count) in [(1, 2), (2, 3), (9, 4)] {
      var rig = Rig(
        locks.map { test($0.name, on: $0.name) },
        NightSettings(duration: .seconds(3600), processes: processes), locks: locks)
      expect(rig.receive(.begin(clock), at: 0).count, count)
      expect(rig.night.lock("front")?.run != nil, true)
    }
  }

  @Test("a lock that failed comes after the others, and then the lock with the most to do comes first")
  func order() {
    let locks = ["north", "south", "west"].map { NightLock(name: $0, dongles: ["blue"]) }
    var rig = Rig(
      [
        test("a", on: "north"), test("b", on: "south"), test("c", on: "south"), test("d", on: "west"),
        test("e", on: "west"), test("f", on: "west"),
      ], locks: locks)
    expect(rig.receive(.begin(clock), at: 0), ["start 1: d on west over blue"])
    let fault = NightEnding(.labFault, "no answer", cycleCounter: 0, park: .parked)
    expect(rig.receive(.ended(1, fault), at: 1), ["start 2: b on south over blue"])
    expect(rig.receive(.ended(2, good(1)), at: 2), ["b: agree", "start 3: a on north over blue"])
    expect(rig.receive(.ended(3, good(1)), at: 3), ["a: agree", "start 4: c on south over blue"])
    expect(rig.receive(.ended(4, good(2)), at: 4), ["c: agree", "start 5: d on west over blue"])
  }

  @Test("a case that cannot run on its lock is recorded without a run, when its turn comes")
  func skipped() {
    var (lost, last) = (test("b"), test("c"))
    (lost.skipReason, last.skipReason) = ("the lock has no sensor", "the lock has no keypad")
    var rig = Rig([test("a"), lost, last])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: a on front over blue"])
    expect(rig.results()[1...], ["b: skipped, the lock has no sensor", "c: skipped, the lock has no keypad"])
    expect(rig.receive(.ended(1, good(1)), at: 1), ["a: agree", "b: skipped", "c: skipped", "finish"])
    expect(rig.night.cases.map(\.runs), [[1], [], []])
  }

  @Test("a dongle that is out of use, or does not reach the lock, is not used")
  func unusable() {
    var (north, south) = (
      NightLock(name: "north", dongles: ["blue", "red"]), NightLock(name: "south", dongles: [])
    )
    for (isOut, dongle) in [(false, "blue"), (true, "red")] {
      var rig = Rig(
        [test("a", on: "north"), test("b", on: "south")], locks: [north, south],
        dongles: [NightDongle(name: "blue", outOfUse: isOut ? "gone" : nil), NightDongle(name: "red")])
      expect(rig.receive(.begin(clock), at: 0), ["start 1: a on north over \(dongle)"])
    }
    (north.dongles, south.dongles) = (["red"], ["blue"])
    var rig = Rig(
      [test("a", on: "north"), test("b", on: "south")], locks: [north, south], dongles: Self.dongles)
    expect(
      rig.receive(.begin(clock), at: 0), ["start 1: a on north over red", "start 2: b on south over blue"])
  }

  @Test("a dongle over which a case failed is used for it again if there is no other")
  func avoided() {
    let fault = NightEnding(.labFault, "no answer", cycleCounter: 0, park: .parked)
    var gone = fault
    gone.outOfUse = .dongle("red")
    var rig = Rig(
      [test("a")], locks: [NightLock(name: "front", dongles: ["blue", "red"])], dongles: Self.dongles)
    _ = rig.receive(.begin(clock), at: 0)
    expect(rig.receive(.ended(1, fault), at: 1), ["start 2: a on front over red"])
    expect(rig.receive(.ended(2, gone), at: 2), ["red is out", "start 3: a on front over blue"])
  }

  @Test("a lock is fuzzed when its cases are over, over a dongle that no waiting case can use")
  func fuzzing() {
    let north = NightLock(name: "north", dongles: ["blue"], isFuzzed: true)
    let south = NightLock(name: "south", dongles: ["blue"])
    var rig = Rig([test("a", on: "south")], locks: [north, south])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: a on south over blue"])
    expect(
      rig.receive(.ended(1, good(1)), at: 1), ["a: agree", "start 2: fuzz for 10 min on north over blue"])

    // A case that waits for another dongle keeps no lock of other dongles from it.
    rig = Rig(
      [test("a", on: "south"), test("b", on: "west")],
      locks: [north, NightLock(name: "south", dongles: ["red"]), NightLock(name: "west", dongles: ["red"])],
      dongles: Self.dongles)
    expect(
      rig.receive(.begin(clock), at: 0),
      ["start 1: a on south over red", "start 2: fuzz for 10 min on north over blue"])

    // One that rests could use it soon.
    rig = Rig([test("a", on: "south")], locks: [north, south])
    _ = rig.receive(.begin(clock), at: 0)
    let paused = NightEnding(.limited, "20 an hour", cycleCounter: 9, park: .parked, pause: .seconds(60))
    expect(rig.receive(.ended(1, paused), at: 1), [])
    expect(rig.night.deadline, at(61))
    expect(rig.receive(.time, at: 61), ["start 2: a on south over blue"])
  }

  @Test("no stretch of fuzzing begins in the last ten seconds of a night, nor lasts longer than it")
  func stretch() {
    for (duration, actions) in [
      (9, ["finish"]), (10, ["start 1: fuzz for 10 s on front over blue"]),
      (599, ["start 1: fuzz for 599 s on front over blue"]),
      (601, ["start 1: fuzz for 10 min on front over blue"]),
    ] as [(Int64, [String])] {
      var rig = Rig(
        [], NightSettings(duration: .seconds(duration)),
        locks: [NightLock(name: "front", dongles: ["blue"], isFuzzed: true)])
      expect(rig.receive(.begin(clock), at: 0), actions)
    }
  }

  @Test("a fuzzed lock that is to rest, is out of use or is left alone is not fuzzed")
  func notFuzzed() {
    let left = NightEnding(.agreed, cycleCounter: 2, park: .elsewhere("open"))
    let spent = NightEnding(.limited, "low", cycleCounter: 2, park: .parked)
    var out = NightEnding(.agreed, cycleCounter: 2, park: .parked)
    out.outOfUse = .lock("front")
    for (ending, action) in [
      (left, "start 2: rest on front over blue"), (spent, "finish"), (out, "finish"),
      (good(2), "start 2: fuzz for 10 min on front over blue"),
    ] {
      var rig = Rig([test("a")], locks: [NightLock(name: "front", dongles: ["blue"], isFuzzed: true)])
      _ = rig.receive(.begin(clock), at: 0)
      expect(rig.receive(.ended(1, ending), at: 1).last, action)
    }
  }
}
