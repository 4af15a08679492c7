import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

@Suite("The watch over the runs of a night")
struct NightWatchTests {
  /// A night with one run, over a dongle or on an emulated lock.
  private func rig(isEmulated: Bool = false, _ settings: NightSettings? = nil) -> Rig {
    var rig = Rig(
      [test("a")], settings ?? NightSettings(duration: .seconds(3600)),
      locks: [NightLock(name: "front", dongles: isEmulated ? nil : ["blue"])])
    _ = rig.receive(.begin(clock), at: 0)
    return rig
  }

  @Test("a run that takes too long is asked to end, killed, and given up, each at its time")
  func limit() {
    var rig = rig(isEmulated: true)
    // A run without a dongle owes no sign of life.
    let steps: [(second: Int64, deadline: Int64, actions: [String])] = [
      (1, 60, []), (59, 60, []), (60, 150, ["stop 1"]), (149, 150, []), (150, 180, ["kill 1"]),
      (179, 180, []),
    ]
    for step in steps {
      expect(rig.receive(.time, at: step.second), step.actions)
      expect(rig.night.deadline, at(step.deadline))
    }
    // No dongle is to blame, and the lock is used again.
    expect(rig.receive(.time, at: 180), ["start 2: a on front"])
    expect(
      rig.night.ended.map(\.ending),
      [NightEnding(.labFault, "it took longer than 1 min; its process cannot be killed")])
    // The end of the process comes too late.
    expect(rig.receive(.ended(1, good(1)), at: 181), [])
    expect(rig.night.ended.count, 1)
  }

  @Test("each sign of life extends the time, and one of an unknown run does nothing")
  func signs() {
    var rig = rig()
    expect(rig.night.deadline, .zero + .milliseconds(4500))
    expect(rig.receive(.sign(7), at: 3), [])
    expect(rig.receive(.sign(1), at: 4), [])
    expect(rig.receive(.time, at: 8), [])
    expect(rig.night.deadline, .zero + .milliseconds(8500))
    expect(rig.receive(.time, at: 9), ["stop 1"])
    // A sign of life does not take it back, and neither asks twice.
    expect(rig.receive(.sign(1), at: 9), [])
    expect(rig.receive(.stop("interrupted"), at: 9), [])
    expect(rig.receive(.time, at: 10), ["kill 1"])
  }

  @Test(
    "a run that was asked to end keeps its verdict; without one it is what it was asked for",
    arguments: [
      // It hung.
      (false, NightEnding(.agreed), Record.Ending.agreed, ""),
      (false, NightEnding(.diverged, "open"), .diverged, "open"),
      (false, NightEnding(.skipped, "no motor"), .skipped, "no motor"),
      (false, NightEnding(.limited, "enough"), .limited, "enough"),
      (false, NightEnding(.incomplete, "killed"), .labFault, "it hung: no sign of life for 4.5 s"),
      (false, NightEnding(.labFault, "no link"), .labFault, "it hung: no sign of life for 4.5 s"),
      // The night was stopped.
      (true, NightEnding(.agreed), .agreed, ""),
      (true, NightEnding(.diverged, "open"), .diverged, "open"),
      (true, NightEnding(.incomplete, "killed"), .incomplete, "interrupted"),
      (true, NightEnding(.labFault, "no link"), .incomplete, "interrupted"),
    ])
  func asked(_ isStopped: Bool, _ ending: NightEnding, _ verdict: Record.Ending, _ message: String) {
    var rig = rig()
    expect(rig.receive(isStopped ? .stop("interrupted") : .time, at: isStopped ? 1 : 5), ["stop 1"])
    var ending = ending
    (ending.cycleCounter, ending.park) = (1, .parked)
    _ = rig.receive(.ended(1, ending), at: 6)
    (ending.verdict, ending.message) = (verdict, message)
    expect(rig.night.ended.map(\.ending), [ending])
  }

  @Test("of a run that was killed it is unknown how it left its lock, unless it says so")
  func killed() {
    for (park, known) in [(nil, .unknown), (.parked, .parked)] as [(ParkState?, ParkState)] {
      var rig = rig()
      _ = rig.receive(.stop("interrupted"), at: 0)
      expect(rig.receive(.time, at: 90), ["kill 1"])
      let ending = NightEnding(.incomplete, "killed", cycleCounter: 3, park: park)
      _ = rig.receive(.ended(1, ending), at: 91)
      expect(rig.night.ended.map(\.ending.park), [known])
    }
  }

  @Test(
    "the time limit of a run is that of its work, and its wait for a transport comes on top",
    arguments: [
      (NightAttempt.Work.test("a"), nil, 60), (.test("a"), "blue", 67), (.fuzz(.seconds(600)), nil, 660),
      (.fuzz(.seconds(600)), "blue", 667), (.park, "blue", 97), (.test("not planned"), nil, 90),
    ] as [(NightAttempt.Work, String?, Int64)])
  func limits(_ work: NightAttempt.Work, _ dongle: String?, _ seconds: Int64) {
    let attempt = NightAttempt(
      number: 4, work: work, lock: "front", dongle: dongle, actuations: 1, cycleCounter: 0)
    let night = Night(
      NightSettings(duration: .seconds(3600), wait: .seconds(7)), name: "test", cases: [test("a")],
      locks: [NightLock(name: "front", dongles: ["blue"])], dongles: [NightDongle(name: "blue")],
      resuming: [.start(attempt, at: at(100))])
    expect(night.running.map(\.limit), [at(100 + seconds)])
    expect(night.nextNumber, 5)
  }

  @Test("a run of an earlier process has time for its sign of life after the night is resumed")
  func resumed() {
    var rig = rig()
    rig.crash()
    expect(rig.receive(.begin(clock), at: 50), [])
    expect(rig.night.deadline, at(50) + .milliseconds(4500))
    // Its time limit is still counted from its start.
    _ = rig.receive(.sign(1), at: 58)
    expect(rig.night.deadline, at(60))
  }

  @Test("a stop ends what runs, begins nothing, and has its first reason")
  func stopped() {
    let locks = ["north", "south"].map { NightLock(name: $0, dongles: nil) }
    var rig = Rig([test("a", on: "north"), test("b", on: "south"), test("c", on: "north")], locks: locks)
    _ = rig.receive(.begin(clock), at: 0)
    expect(rig.receive(.stop("interrupted"), at: 1), ["stop 1", "stop 2"])
    expect(rig.receive(.stop("again"), at: 2), [])
    expect(rig.receive(.ended(1, NightEnding(.agreed)), at: 3), ["a: agree"])
    expect(rig.receive(.ended(2, NightEnding(.incomplete)), at: 4), ["finish"])
    expect(
      rig.results(),
      [
        "a: agree", "b: not-run, begun without a result; interrupted", "c: not-run, interrupted",
      ])
    // It has no last line, so that it can be resumed, and no event changes it.
    expect(rig.record.contains { if case .finish = $0 { true } else { false } }, false)
    expect(rig.receive(.begin(clock), at: 5), [])
    expect(rig.receive(.restored(.lock("north")), at: 5), [])
    expect(rig.night.deadline, nil)
  }

  @Test("a night waits for the next of its deadlines, and for none before it begins")
  func deadlines() {
    expect(Rig([test("a")]).night.deadline, nil)
    let short = rig(isEmulated: true, NightSettings(duration: .seconds(30)))
    expect(short.night.deadline, at(30))
    let quiet = rig(NightSettings(duration: .seconds(3600), silence: .seconds(7)))
    expect(quiet.night.deadline, at(7))
  }
}
