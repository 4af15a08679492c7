import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

private func fault(_ cycleCounter: Int = 0, _ message: String = "no answer") -> NightEnding {
  NightEnding(.labFault, message, cycleCounter: cycleCounter, park: .parked)
}

@Suite("Locks and dongles of a night")
struct NightDeviceTests {
  private static let dongles = [NightDongle(name: "blue"), NightDongle(name: "red")]

  /// Why devices were put out of use.
  private func reasons(_ rig: Rig) -> [String] {
    rig.record.compactMap { line in
      if case .out(let device, let why, _) = line { "\(device.name): \(why)" } else { nil }
    }
  }

  @Test(
    "a lock is parked before its next case, unless it is where it was",
    arguments: [
      (3, ParkState.parked, false), (3, .elsewhere("it is open"), true), (3, .unknown, true),
      // Movements are counted before they begin: without one it was not moved.
      (0, .unknown, false), (0, .elsewhere("it is open"), true),
    ])
  func parked(_ cycleCounter: Int, _ park: ParkState, _ isParked: Bool) {
    var rig = Rig([test("a"), test("b")])
    _ = rig.receive(.begin(clock), at: 0)
    let ending = NightEnding(.agreed, cycleCounter: cycleCounter, park: park)
    expect(
      rig.receive(.ended(1, ending), at: 1),
      ["a: agree", isParked ? "start 2: rest on front over blue" : "start 2: b on front over blue"])
  }

  @Test("an emulated lock is never parked, whatever its run says")
  func emulated() {
    var rig = Rig([test("a"), test("b")], locks: [NightLock(name: "front", dongles: nil)], dongles: [])
    _ = rig.receive(.begin(clock), at: 0)
    let ending = NightEnding(.agreed, cycleCounter: 4, park: .unknown)
    expect(rig.receive(.ended(1, ending), at: 1), ["a: agree", "start 2: b on front"])
    expect(rig.night.ended.map(\.ending.park), [nil])
    expect([rig.night.locks[0].used], [0])
  }

  @Test("a lock is parked also when nothing else may begin any more")
  func parkedAtTheEnd() {
    let left = NightEnding(.agreed, cycleCounter: 3, park: .unknown)
    let endings: [(name: String, events: [NightEvent])] = [
      ("out of time", [.ended(1, left)]), ("stopped", [.stop("interrupted"), .ended(1, left)]),
    ]
    for (name, events) in endings {
      var rig = Rig([test("a"), test("b")], NightSettings(duration: .seconds(60)))
      _ = rig.receive(.begin(clock), at: 0)
      let actions = events.map { rig.receive($0, at: 70) }
      #expect(actions.last == ["a: agree", "start 2: rest on front over blue"], "\(name)")
      #expect(rig.receive(.ended(2, good(4)), at: 80).last == "finish", "\(name)")
    }
  }

  @Test("a lock that may not be parked yet is waited for, even beyond the end of the night")
  func parkedLater() {
    var rig = Rig([test("a")], NightSettings(duration: .seconds(60)))
    _ = rig.receive(.begin(clock), at: 0)
    let jammed = NightEnding(
      .agreed, cycleCounter: 3, park: .elsewhere("it is jammed"), pause: .seconds(300))
    expect(rig.receive(.ended(1, jammed), at: 9), ["a: agree"])
    expect(rig.receive(.time, at: 60), [])
    expect(rig.night.deadline, at(309))
    expect(rig.receive(.time, at: 309), ["start 2: rest on front over blue"])
    expect(rig.receive(.ended(2, good(4)), at: 320), ["finish"])
  }

  @Test("two failed attempts to park put a lock out of use, and an attempt without an end is none")
  func parkAttempts() {
    var rig = Rig([test("a")])
    _ = rig.receive(.begin(clock), at: 0)
    let jammed = NightEnding(.labFault, "it is jammed", cycleCounter: 1, park: .elsewhere("it is jammed"))
    let lost = NightEnding(.incomplete, "killed", cycleCounter: 1, park: .unknown)
    _ = rig.receive(.ended(1, NightEnding(.agreed, cycleCounter: 1, park: .elsewhere("open"))), at: 1)
    expect(rig.receive(.ended(2, jammed), at: 2), ["start 3: rest on front over blue"])
    expect(rig.receive(.ended(3, lost), at: 3), ["start 4: rest on front over blue"])
    expect(rig.night.running.map(\.attempt.attempt), [2])
    expect(rig.receive(.ended(4, jammed), at: 4), ["front is out", "finish"])
    expect(reasons(rig), ["front: it could not be parked: it is jammed"])
  }

  @Test("an attempt to park that does not know where the lock is counts, with its own reason")
  func parkUnknown() {
    var rig = Rig([test("a")])
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.ended(1, NightEnding(.agreed, cycleCounter: 1, park: .unknown)), at: 1)
    let silent = NightEnding(.labFault, "no answer", cycleCounter: 2, park: .unknown)
    _ = rig.receive(.ended(2, silent), at: 2)
    expect(rig.night.locks[0].park, .elsewhere("no answer"))
    let again = NightEnding(.labFault, "no link", cycleCounter: 3, park: .unknown)
    expect(rig.receive(.ended(3, again), at: 3), ["front is out", "finish"])
    expect(reasons(rig), ["front: it could not be parked: no link"])
  }

  @Test("a person who restores a lock or a dongle has it used again at once")
  func restored() {
    var rig = Rig(
      [test("a"), test("b")], NightSettings(duration: .seconds(3600)),
      locks: [
        NightLock(name: "front", dongles: ["blue"], outOfUse: "jammed"),
        NightLock(name: "back", dongles: nil),
      ])
    expect(rig.receive(.begin(clock), at: 0), ["a: not-run", "b: not-run", "finish"])
    rig = Rig(
      [test("a"), test("b", on: "back")],
      locks: [
        NightLock(name: "front", dongles: ["blue"], outOfUse: "jammed"),
        NightLock(name: "back", dongles: nil),
      ])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: b on back"])
    // What is in use, or not of the night, is not restored.
    for device in [NightDevice.lock("back"), .dongle("blue")] {
      expect(rig.receive(.restored(device), at: 1), [])
    }
    expect(rig.record.count, 2)
    expect(rig.receive(.restored(.lock("front")), at: 2), ["start 2: a on front over blue"])
    expect(rig.record.contains(.back(.lock("front"), at: at(2))), true)
  }

  @Test("a restored lock has new attempts to park it")
  func restoredAttempts() {
    var rig = Rig(
      [test("a", retries: 1), test("b", on: "back")],
      locks: [
        NightLock(name: "front", dongles: ["blue"]), NightLock(name: "back", dongles: nil),
      ])
    let jammed = NightEnding(.labFault, "jammed", cycleCounter: 1, park: .elsewhere("jammed"))
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(
      .ended(1, NightEnding(.diverged, "open", cycleCounter: 1, park: .elsewhere("open"))), at: 1)
    for number in [3, 4] { _ = rig.receive(.ended(number, jammed), at: Int64(number)) }
    expect(rig.night.locks[0].outOfUse, "it could not be parked: jammed")
    expect(rig.receive(.restored(.lock("front")), at: 9), ["start 5: rest on front over blue"])
    expect(rig.receive(.ended(5, good(2)), at: 10), ["start 6: a on front over blue"])
    expect(rig.night.running.map(\.attempt.attempt).sorted(), [1, 2])
  }

  @Test("a run names the device that its health check put out of use, which is recorded once")
  func checked() {
    var rig = Rig(
      [test("a"), test("b")], locks: [NightLock(name: "front", dongles: ["blue", "red"])],
      dongles: Self.dongles)
    _ = rig.receive(.begin(clock), at: 0)
    var gone = fault(0, "the dongle is gone")
    gone.outOfUse = .dongle("blue")
    expect(rig.receive(.ended(1, gone), at: 1), ["blue is out", "start 2: a on front over red"])
    expect(rig.receive(.ended(2, gone), at: 2), ["start 3: a on front over red"])
    gone.outOfUse = .lock("attic")
    expect(rig.receive(.ended(3, gone), at: 3), ["start 4: a on front over red"])
    expect(reasons(rig), ["blue: the dongle is gone"])
  }

  @Test("three failures in a row put a lock out of use, and a run that worked breaks the row")
  func failures() {
    /// The endings of runs, and the reason after them.
    let table: [(endings: [NightEnding], reason: String?)] = [
      ([fault(), fault()], nil),
      ([fault(), fault(), fault()], "3 runs failed one after the other: no answer"),
      ([fault(), fault(), NightEnding(.diverged, "x", cycleCounter: 0, park: .parked), fault()], nil),
      ([fault(), good(0), fault(), fault()], nil),
      (
        [fault(), NightEnding(.incomplete, cycleCounter: 0, park: .parked), fault(), fault()],
        "3 runs failed one after the other: no answer"
      ),
    ]
    for (endings, reason) in table {
      var rig = Rig(
        ["a", "b", "c", "d"].map { test($0) },
        NightSettings(duration: .seconds(3600), labRetries: 0))
      _ = rig.receive(.begin(clock), at: 0)
      for (index, ending) in endings.enumerated() {
        _ = rig.receive(.ended(index + 1, ending), at: Int64(index))
      }
      #expect(rig.night.locks[0].outOfUse == reason, "\(endings)")
      // One lock alone cannot show that its dongle is to blame.
      #expect(rig.night.dongles[0].outOfUse == nil, "\(endings)")
    }
  }

  @Test("a lock that fails over several transports is named with their number and kind")
  func transports() {
    for (transport, words) in [(NightTransport.dongle, "2 dongles"), (.place, "2 places")] {
      var rig = Rig(
        [test("a")], NightSettings(duration: .seconds(3600), transport: transport),
        locks: [NightLock(name: "front", dongles: ["blue", "red"])], dongles: Self.dongles)
      _ = rig.receive(.begin(clock), at: 0)
      expect(rig.receive(.ended(1, fault()), at: 1), ["start 2: a on front over red"])
      expect(rig.receive(.ended(2, fault()), at: 2), ["start 3: a on front over blue"])
      expect(rig.receive(.ended(3, fault()), at: 3), ["front is out", "a: lab-fault", "finish"])
      expect(reasons(rig), ["front: 3 runs over \(words) failed one after the other: no answer"])
    }
  }

  @Test("a lock that is out of use is not held against its dongle, nor a dongle against its locks")
  func blame() {
    let locks = ["north", "south"].map { NightLock(name: $0, dongles: ["blue"]) }
    let cases = [test("a", on: "north"), test("b", on: "south")]
    var rig = Rig(cases, locks: locks)
    var north = fault()
    north.outOfUse = .lock("north")
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.ended(1, fault()), at: 1)
    expect(rig.night.dongles[0].failures, ["north"])
    _ = rig.receive(.ended(2, fault()), at: 2)
    expect(rig.night.dongles[0].failures, ["north", "south"])
    _ = rig.receive(.ended(3, north), at: 3)
    expect(rig.night.dongles[0].failures, ["south"])

    rig = Rig(cases, locks: locks)
    var blue = fault()
    blue.outOfUse = .dongle("blue")
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.ended(1, fault()), at: 1)
    _ = rig.receive(.ended(2, blue), at: 2)
    expect(rig.night.locks.map(\.failures), [[], []])
    expect(rig.night.dongles[0].failures, [])
  }

  @Test("the health of a real lock is checked until a run worked, and again after one that did not")
  func health() {
    var rig = Rig(["a", "b", "c", "d"].map { test($0) })
    var checks: [Bool] = []
    _ = rig.receive(.begin(clock), at: 0)
    let endings = [
      good(1), fault(1),
      NightEnding(.limited, "enough", cycleCounter: 10, park: .parked, pause: .seconds(1)),
      NightEnding(.diverged, "x", cycleCounter: 12, park: .elsewhere("open")), good(13), good(14),
    ]
    for (index, ending) in endings.enumerated() {
      checks += rig.night.running.map(\.attempt.checksHealth)
      _ = rig.receive(.ended(index + 1, ending), at: Int64(index * 2 + 1))
      _ = rig.receive(.time, at: Int64(index * 2 + 2))
    }
    // The fifth run parks the lock.
    expect(checks, [true, false, true, true, false, false])
    var emulated = Rig([test("a")], locks: [NightLock(name: "front", dongles: nil)])
    _ = emulated.receive(.begin(clock), at: 0)
    expect(emulated.night.running.map(\.attempt.checksHealth), [false])
  }
}
