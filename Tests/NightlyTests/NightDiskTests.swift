import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

@Suite("A night whose record cannot be written")
struct NightDiskTests {
  /// The lines of actions, none of which could be written.
  private func lines(_ actions: [NightAction]) -> [NightLine] {
    actions.compactMap { if case .record(let line) = $0 { line } else { nil } }
  }

  @Test("takes back the run that it did not start, and starts it later as the one retry that it is")
  func takenBack() {
    for ending in [NightEnding(.diverged, "open"), NightEnding(.labFault, "no answer")] {
      var rig = Rig([test("a", retries: 1)], NightSettings(duration: .seconds(3600), retries: 1))
      _ = rig.receive(.begin(clock), at: 0)
      var ending = ending
      (ending.cycleCounter, ending.park) = (1, .parked)
      let actions = rig.night.receive(.ended(1, ending), at: at(1))
      expect(rig.night.running.map(\.attempt.number), [2])
      expect(rig.receive(.unwritten(lines(actions), why: "full"), at: 1), [])
      expect([rig.night.cases[0].runs, rig.night.running.map(\.attempt.number)], [[1], []])
      expect(rig.receive(.time, at: 30), [])
      expect(rig.receive(.time, at: 31), ["start 3: a on front over blue"])
      expect(rig.night.running.map(\.attempt.attempt), [2])
      expect(rig.night.retriesUsed, 1)
      // The end of the first run is written before the start of the next.
      expect(rig.record.compactMap(\.time), [at(0), at(1), at(31)])
      expect(rig.receive(.ended(3, good(2)), at: 40), ["a: flaky", "finish"])
    }
  }

  @Test("keeps what happens meanwhile, in order, and still asks and kills")
  func held() {
    let locks = [NightLock(name: "front", dongles: ["blue"]), NightLock(name: "back", dongles: ["red"])]
    var rig = Rig(
      [test("a"), test("b", on: "back")], locks: locks,
      dongles: [NightDongle(name: "blue"), NightDongle(name: "red")])
    _ = rig.receive(.begin(clock), at: 0)
    let actions = rig.night.receive(.ended(1, good(1)), at: at(1))
    expect(rig.receive(.unwritten(lines(actions), why: "full"), at: 1), [])
    expect(rig.receive(.time, at: 5), ["stop 2"])
    expect(rig.receive(.time, at: 6), ["kill 2"])
    let killed = NightEnding(.incomplete, "killed", cycleCounter: 1, park: .parked)
    expect(rig.receive(.ended(2, killed), at: 7), [])
    expect(rig.night.ended.map(\.attempt.number), [1, 2])
    expect(
      rig.receive(.time, at: 31), ["a: agree", "start 3: b on back over red"])
    expect(rig.record.compactMap(\.time), [0, 0, 1, 1, 7, 31].map { at($0) })
  }

  @Test("ends with its time, and says of the rest that its record could not be written")
  func full() {
    var rig = Rig([test("a"), test("b")], NightSettings(duration: .seconds(100)))
    _ = rig.receive(.begin(clock), at: 0)
    var actions = rig.night.receive(.ended(1, good(1)), at: at(1))
    for second in [1, 31, 61] as [Int64] {
      expect(rig.receive(.unwritten(lines(actions), why: "full"), at: second), [])
      actions = rig.night.receive(.time, at: at(second + 30))
    }
    expect(rig.receive(.unwritten(lines(actions), why: "full"), at: 91), [])
    expect(rig.night.deadline, at(100))
    expect(rig.receive(.time, at: 100), ["finish"])
    expect(
      rig.results(), ["a: agree", "b: not-run, the night's record could not be written"])
  }

  @Test("ends after four attempts if nothing is left to do but to write")
  func done() {
    for (attempts, actions) in [(3, []), (4, ["finish"])] as [(Int, [String])] {
      var long = test("b", on: "back")
      long.timeout = .seconds(1000)
      var rig = Rig(
        [test("a"), long],
        locks: [NightLock(name: "front", dongles: ["blue"]), NightLock(name: "back", dongles: nil)])
      _ = rig.receive(.begin(clock), at: 0)
      var unwritten = rig.night.receive(.ended(1, good(1)), at: at(1))
      for attempt in 0..<attempts {
        let second = 1 + 30 * Int64(attempt)
        expect(rig.receive(.unwritten(lines(unwritten), why: "full"), at: second), [])
        if attempt < attempts - 1 { unwritten = rig.night.receive(.time, at: at(second + 30)) }
      }
      #expect(
        rig.receive(.ended(2, NightEnding(.agreed)), at: 30 * Int64(attempts)) == actions, "\(attempts)")
      expect(rig.results(), ["a: agree", "b: agree"])
    }
  }

  @Test("ends at once when it is stopped")
  func stopped() {
    var rig = Rig([test("a"), test("b")])
    _ = rig.receive(.begin(clock), at: 0)
    let actions = rig.night.receive(.ended(1, good(1)), at: at(1))
    expect(rig.receive(.unwritten(lines(actions), why: "full"), at: 1), [])
    expect(rig.receive(.stop("interrupted"), at: 2), ["finish"])
    expect(rig.results(), ["a: agree", "b: not-run, interrupted"])
  }
}
