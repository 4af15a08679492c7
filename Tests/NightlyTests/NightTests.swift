@testable import Nightly
import Conformance
import Documents
import Basics
import Journal
import TestSupport
import Testing

@Suite("A night")
struct NightTests {
  @Test("drives each case once, and is over when all have a verdict")
  func whole() {
    var rig = Rig([test("a"), test("b")])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: a on front over blue"])
    expect(rig.receive(.ended(1, good(3)), at: 5), ["a: agree", "start 2: b on front over blue"])
    let bad = NightEnding(.diverged, "it showed locked", cycleCounter: 5, park: .parked)
    expect(rig.receive(.ended(2, bad), at: 9), ["b: divergence", "finish"])
    expect(rig.results(), ["a: agree", "b: divergence, it showed locked"])
    expect(rig.night.locks[0].used, 5)
    expect(rig.receive(.time, at: 10), [])
  }

  @Test("uses all dongles at once, each lock and each dongle in one run at a time")
  func parallel() {
    let locks = ["north", "south", "west"].map { NightLock(name: $0, dongles: ["blue", "red"]) }
    var rig = Rig(
      [test("a", on: "north"), test("b", on: "north"), test("c", on: "south"), test("d", on: "west")],
      locks: locks, dongles: [NightDongle(name: "blue"), NightDongle(name: "red")])
    // The lock with most to do goes first.
    expect(
      rig.receive(.begin(clock), at: 0), ["start 1: a on north over blue", "start 2: c on south over red"])
    expect(rig.receive(.ended(2, good(1)), at: 3), ["c: agree", "start 3: d on west over red"])
    expect(rig.receive(.ended(1, good(1)), at: 4), ["a: agree", "start 4: b on north over blue"])
  }

  @Test("a case that no lock is for is not run, which is trouble of the lab, whatever else there is to say")
  func unmet() {
    let lost = NightCase(
      identity: "b", suite: "other", file: "b.yaml", lock: nil, unmet: "no lock has the tags sesam5")
    var rig = Rig([test("a"), lost])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: a on front over blue"])
    expect(
      rig.receive(.ended(1, good(3)), at: 5),
      ["a: agree", "b: not-run", "finish"])
    expect(rig.results(), ["a: agree", "b: not-run, no lock has the tags sesam5"])
    expect(rig.night.cases.map { rig.night.reason(for: $0).cause }, [nil, .device])
    expect(rig.night.cases.map(rig.night.ending), [.agreed, .skipped])
  }

  @Test("tries again what diverges, and calls it flaky when it agrees then")
  func flaky() {
    var rig = Rig([test("a", retries: 1)])
    _ = rig.receive(.begin(clock), at: 0)
    let bad = NightEnding(.diverged, "why", cycleCounter: 1, park: .parked)
    expect(rig.receive(.ended(1, bad), at: 5), ["start 2: a on front over blue"])
    expect(rig.receive(.ended(2, good(2)), at: 9), ["a: flaky", "finish"])
  }

  @Test("tries nothing again that contradicts what its lock showed before, and has that in its record")
  func contradiction() {
    var rig = Rig([test("a", retries: 1), test("b", retries: 1)])
    _ = rig.receive(.begin(clock), at: 0)
    var first = good(1)
    first.shown = [.init(choice: "touching", options: ["opens"])]
    _ = rig.receive(.ended(1, first), at: 5)
    var other = NightEnding(.diverged, "why", cycleCounter: 1, park: .parked)
    other.shown = [.init(choice: "touching", options: ["alarms", "ignores"])]
    expect(rig.receive(.ended(2, other), at: 9), ["b: divergence", "finish"])
    rig.crash()
    expect(rig.night.ended.map(\.ending), [first, other])
  }

  @Test("spends no more retries than the night has")
  func retries() {
    var settings = NightSettings(duration: .seconds(3600), retries: 1)
    settings.labRetries = 2
    var rig = Rig(
      [test("a"), test("b")], settings)
    _ = rig.receive(.begin(clock), at: 0)
    let fault = NightEnding(.labFault, "no answer", cycleCounter: 0)
    expect(rig.receive(.ended(1, fault), at: 5), ["start 2: a on front over blue"])
    expect(rig.receive(.ended(2, fault), at: 9), ["a: lab-fault", "start 3: b on front over blue"])
    let bad = NightEnding(.labFault, "no answer", cycleCounter: 0)
    expect(rig.receive(.ended(3, bad), at: 12), ["b: lab-fault", "front is out", "finish"])
  }

  @Test("tries another dongle when the lab failed, and puts the one out of use over which several locks fail")
  func suspicion() {
    let locks = ["north", "south"].map { NightLock(name: $0, dongles: ["blue", "red"]) }
    var rig = Rig(
      [test("a", on: "north"), test("b", on: "south"), test("c", on: "north")], locks: locks,
      dongles: [NightDongle(name: "blue"), NightDongle(name: "red")])
    let fault = NightEnding(.labFault, "no answer", cycleCounter: 0, park: .parked)
    expect(
      rig.receive(.begin(clock), at: 0), ["start 1: a on north over blue", "start 2: b on south over red"])
    // What failed over blue waits for red; meanwhile something else is done.
    expect(rig.receive(.ended(1, fault), at: 1), ["start 3: c on north over blue"])
    expect(rig.receive(.ended(3, fault), at: 2), [])
    expect(
      rig.receive(.ended(2, fault), at: 3), ["start 4: b on south over blue", "start 5: a on north over red"])
    expect(rig.receive(.ended(5, good(1)), at: 4), ["a: flaky", "start 6: c on north over red"])
    expect(rig.receive(.ended(4, fault), at: 5), ["blue is out"])
    expect(rig.receive(.ended(6, good(2)), at: 6), ["c: flaky", "start 7: b on south over red"])
  }

  @Test("never lets budgets be passed, and keeps back what parking locks may take")
  func budgets() {
    var rig = Rig(
      [test("a"), test("b"), test("c")], NightSettings(duration: .seconds(3600), actuations: 20))
    _ = rig.receive(.begin(clock), at: 0)
    // Nobody counted what it did: it may have been all that was allowed.
    _ = rig.receive(.ended(1, NightEnding(.agreed, park: .parked)), at: 1)
    expect(rig.night.locks[0].used, 10)
    expect(rig.night.running.map(\.attempt.actuations), [6])
    expect(rig.receive(.ended(2, good(16)), at: 2), ["b: agree", "c: not-run", "finish"])
    expect(rig.results().last, "c: not-run, out of budget: the night's 20 movements are used up")
  }

  @Test("parks a lock that was left elsewhere, and says so where that fails")
  func rest() {
    var rig = Rig([test("a"), test("b")])
    _ = rig.receive(.begin(clock), at: 0)
    let away = NightEnding(.agreed, cycleCounter: 2, park: .elsewhere("it is jammed"))
    expect(rig.receive(.ended(1, away), at: 1), ["a: agree", "start 2: rest on front over blue"])
    let failed = NightEnding(.labFault, "it is jammed", cycleCounter: 3, park: .elsewhere("it is jammed"))
    expect(rig.receive(.ended(2, failed), at: 2), ["start 3: rest on front over blue"])
    expect(rig.receive(.ended(3, failed), at: 3), ["front is out", "b: not-run", "finish"])
    expect(
      rig.results().last, "b: not-run, front is out of use: it could not be parked: it is jammed")
  }

  @Test("kills a run that hangs, parks its lock over another dongle and drives the case there")
  func hung() {
    var rig = Rig(
      [test("a")], locks: [NightLock(name: "front", dongles: ["blue", "red"])],
      dongles: [NightDongle(name: "blue"), NightDongle(name: "red")])
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.sign(1), at: 4)
    expect(rig.night.deadline, at(4) + .milliseconds(4500))
    expect(rig.receive(.time, at: 9), ["stop 1"])
    expect(rig.receive(.time, at: 10), ["kill 1"])
    let killed = NightEnding(.incomplete, "it was ended by signal 9", cycleCounter: 1)
    expect(rig.receive(.ended(1, killed), at: 14), ["start 2: rest on front over red"])
    expect(rig.receive(.ended(2, good(2)), at: 20), ["start 3: a on front over red"])
    expect(rig.receive(.ended(3, good(4)), at: 30), ["a: flaky", "finish"])
    expect(rig.night.ended.map(\.ending.message), ["it hung: no sign of life for 4.5 s", "", ""])
  }

  @Test("gives up a process that cannot be killed, and the dongle with it")
  func unkillable() {
    var rig = Rig([test("a")])
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.time, at: 8)
    _ = rig.receive(.time, at: 10)
    expect(rig.receive(.time, at: 40), ["blue is out", "a: lab-fault", "finish"])
    expect(rig.night.locks[0].park, .unknown)
  }

  @Test("gives a run the time that it may wait for its place, and calls a place a place")
  func places() {
    var settings = NightSettings(duration: .seconds(3600))
    (settings.transport, settings.wait) = (.place, .seconds(100))
    var rig = Rig([test("a"), test("b")], settings)
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.sign(1), at: 159)
    expect(rig.night.deadline, at(160))
    expect(rig.receive(.ended(1, good(2)), at: 159), ["a: agree", "start 2: b on front over blue"])
    let gone = NightEnding(.labFault, "gone", cycleCounter: 2, outOfUse: .dongle("blue"))
    _ = rig.receive(.ended(2, gone), at: 160)
    expect(rig.results().last, "b: lab-fault, gone")
    var other = Rig([test("a")], settings, dongles: [NightDongle(name: "blue", outOfUse: "gone")])
    _ = other.receive(.begin(clock), at: 0)
    expect(other.results(), ["a: not-run, every place that reaches front is out of use (blue: gone)"])
  }

  @Test("begins nothing after its time, and says so")
  func time() {
    var rig = Rig(
      [test("a"), test("b")], NightSettings(duration: .seconds(60)))
    _ = rig.receive(.begin(clock), at: 0)
    expect(rig.receive(.ended(1, good(1)), at: 61), ["a: agree", "b: not-run", "finish"])
    expect(rig.results().last, "b: not-run, out of time: the night was 1 min long")
  }

  @Test(
    "says of a lock that has to rest beyond the night that it is the budget which ends it, and ends at once")
  func restsBeyond() {
    var rig = Rig([test("a"), test("b")], NightSettings(duration: .seconds(60)))
    _ = rig.receive(.begin(clock), at: 0)
    let limited = NightEnding(.limited, "20 an hour", cycleCounter: 20, park: .parked, pause: .seconds(3000))
    _ = rig.receive(.ended(1, limited), at: 9)
    let words = "out of budget: front may not be moved again before the night is over"
    expect(
      rig.results(), ["a: not-run, begun without a result; \(words)", "b: not-run, \(words)"])
  }

  @Test("fuzzes in the time that is left")
  func fuzz() {
    var rig = Rig(
      [test("a")], NightSettings(duration: .seconds(900)),
      locks: [NightLock(name: "front", dongles: ["blue"], isFuzzed: true)])
    _ = rig.receive(.begin(clock), at: 0)
    expect(
      rig.receive(.ended(1, good(1)), at: 10), ["a: agree", "start 2: fuzz for 10 min on front over blue"])
    expect(rig.receive(.ended(2, good(90)), at: 610), ["start 3: fuzz for 290 s on front over blue"])
    expect(rig.receive(.ended(3, good(99)), at: 895), ["finish"])
  }

  @Test("fuzzes for as long at a time, and with as many movements, as it is told")
  func fuzzStretches() {
    var settings = NightSettings(duration: .seconds(900))
    (settings.fuzzing, settings.fuzzActuations) = (.seconds(60), 7)
    var rig = Rig(
      [], settings, locks: [NightLock(name: "front", dongles: ["blue"], perShift: 14, isFuzzed: true)])
    expect(rig.receive(.begin(clock), at: 0), ["start 1: fuzz for 1 min on front over blue"])
    expect(rig.night.running.map(\.attempt.actuations), [7])
    // Of its fourteen movements four are kept back.
    expect(rig.receive(.ended(1, good(7)), at: 60), ["start 2: fuzz for 1 min on front over blue"])
    expect(rig.night.running.map(\.attempt.actuations), [3])
  }

  @Test("counts what was moved before it was taken up again, whatever the cycle counters say then")
  func budgetOfTwoSessions() {
    let front = { NightLock(name: "front", dongles: ["blue"], perShift: 24, cycleCounter: $0) }
    let cases = [test("a"), test("b")]
    let (settings, dongles) = (NightSettings(duration: .seconds(3600)), [NightDongle(name: "blue")])
    var rig = Rig(cases, settings, locks: [front(100)], dongles: dongles)
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.ended(1, good(112)), at: 10)
    let night = Night(
      settings, name: "test", cases: cases, locks: [front(112)], dongles: dongles, resuming: rig.record)
    expect(night.lock("front")?.used, 12)
    expect(night.running.map(\.attempt.actuations), [8])
  }

  @Test("goes on fuzzing a lock that made the movements of a stretch, and not one that made none, or failed")
  func fuzzesAgain() {
    let table: [(ending: NightEnding, isFuzzedAgain: Bool)] = [
      (NightEnding(.agreed, cycleCounter: 0, park: .parked), true),
      (NightEnding(.limited, "enough", cycleCounter: 99, park: .parked), true),
      (NightEnding(.limited, "enough", cycleCounter: 0, park: .parked, pause: .seconds(1)), false),
      (NightEnding(.diverged, "a finding", cycleCounter: 9, park: .parked), false),
      (NightEnding(.labFault, "no answer", cycleCounter: 9, park: .parked), false),
    ]
    for (ending, isFuzzedAgain) in table {
      var rig = Rig(
        [], NightSettings(duration: .seconds(3600)),
        locks: [NightLock(name: "front", dongles: ["blue"], isFuzzed: true)])
      expect(rig.receive(.begin(clock), at: 0), ["start 1: fuzz for 10 min on front over blue"])
      _ = rig.receive(.ended(1, ending), at: 60)
      _ = rig.receive(.time, at: 120)
      #expect(rig.night.running.map(\.attempt.number) == (isFuzzedAgain ? [2] : []), "\(ending)")
    }
  }

  @Test("stops kindly, and goes on later")
  func stopped() {
    var rig = Rig([test("a"), test("b")])
    _ = rig.receive(.begin(clock), at: 0)
    expect(rig.receive(.stop("interrupted"), at: 1), ["stop 1"])
    let begun = NightEnding(.incomplete, "stopped", cycleCounter: 1, park: .parked)
    expect(rig.receive(.ended(1, begun), at: 2), ["finish"])
    expect(
      rig.results(), ["a: not-run, begun without a result; interrupted", "b: not-run, interrupted"])
    rig.crash()
    expect(rig.receive(.begin(clock), at: 60), ["start 2: a on front over blue"])
  }

  @Test("waits for a disk that is full, and forgets nothing meanwhile")
  func fullDisk() {
    var rig = Rig([test("a"), test("b")])
    _ = rig.receive(.begin(clock), at: 0)
    let actions = rig.night.receive(.ended(1, good(1)), at: at(5))
    let lines = actions.compactMap { action -> NightLine? in
      if case .record(let line) = action { line } else { nil }
    }
    expect(rig.receive(.unwritten(lines, why: "no space left on device"), at: 5), [])
    expect(rig.night.deadline, at(35))
    expect(rig.receive(.time, at: 35), ["a: agree", "start 3: b on front over blue"])
    expect(rig.receive(.ended(3, good(2)), at: 40), ["b: agree", "finish"])
    expect(rig.record.count, 8)
  }
}

@Suite("A night that is taken up again")
struct NightResumingTests {
  @Test("does nothing twice, wherever its record breaks off")
  func everywhere() {
    var whole = Rig([test("a"), test("b", retries: 1), test("c")])
    _ = whole.receive(.begin(clock), at: 0)
    _ = whole.receive(.ended(1, good(1)), at: 5)
    _ = whole.receive(.ended(2, NightEnding(.diverged, "x", cycleCounter: 2, park: .parked)), at: 9)
    _ = whole.receive(.ended(3, good(3)), at: 12)
    _ = whole.receive(.ended(4, good(4)), at: 15)
    expect(whole.night.isOver, true)
    for count in 1..<whole.record.count {
      var rig = whole
      rig.crash(keeping: count)
      let ended = Set(
        rig.record.compactMap { line in if case .end(let number, _, _) = line { number } else { nil } })
      var reading = rig.night.locks[0].cycleCounter
      var again = rig.receive(.begin(clock), at: 20)
      for step in 0..<20 where !rig.night.isOver {
        reading += 1
        let number = rig.night.running[0].attempt.number
        again += rig.receive(.ended(number, good(reading)), at: 21 + Int64(step))
      }
      expect(rig.night.isOver, true)
      expect(rig.results().map { $0.prefix(4) + "…" }.count, 3)
      #expect(rig.night.cases.allSatisfy { $0.result?.isJudgement == true }, "\(count): \(rig.results())")
      // Nothing that has an end in the record is begun again, but for the one that is to be tried again.
      for line in rig.record.prefix(count) {
        guard case .start(let attempt, _) = line, ended.contains(attempt.number),
          case .test("a") = attempt.work
        else { continue }
        expect(again.filter { $0.hasSuffix("a on front over blue") }, [])
      }
    }
  }

  @Test("looks after what it does not know the end of")
  func orphans() {
    var rig = Rig([test("a"), test("b")])
    _ = rig.receive(.begin(clock), at: 0)
    rig.crash()
    expect(rig.night.running.map(\.attempt.number), [1])
    // The child had come to its verdict, which its own journal says.
    expect(rig.receive(.begin(clock), at: 30), [])
    expect(rig.receive(.ended(1, good(7)), at: 30), ["a: agree", "start 2: b on front over blue"])
    expect(rig.night.locks[0].used, 7)
  }

  @Test("drives again what came to no verdict, and not for ever")
  func losses() {
    var rig = Rig([test("a")])
    var starts = 0
    for round in 0..<20 where !rig.night.isOver {
      starts += rig.receive(.begin(clock), at: Int64(round)).filter { $0.hasPrefix("start") }.count
      rig.crash()
      _ = rig.receive(.begin(clock), at: Int64(round))
      let lost = NightEnding(.incomplete, "killed", cycleCounter: 0, park: .parked)
      let number = rig.night.running[0].attempt.number
      starts += rig.receive(.ended(number, lost), at: Int64(round)).filter { $0.hasPrefix("start") }.count
      rig.crash()
    }
    expect(starts, 10)
    expect(rig.results(), ["a: not-run, begun 10 times without a result"])
  }

  @Test(
    "knows its own lines",
    arguments: [
      NightLine.begin(name: "third floor", clock), .resumed(at: at(3)), .finish(at: at(9)),
      .start(
        NightAttempt(
          number: 1, work: .test("x"), lock: "front", dongle: "blue", actuations: 7, cycleCounter: 2),
        at: at(1)),
      .start(
        NightAttempt(
          number: 2, work: .fuzz(.seconds(90)), lock: "front", dongle: nil, actuations: 7, cycleCounter: 2),
        at: at(1)),
      .start(
        NightAttempt(
          number: 3, work: .park, lock: "front", dongle: "blue", attempt: 2, actuations: 1, cycleCounter: 2),
        at: at(1)),
      .end(1, NightEnding(.agreed), at: at(2)),
      .end(
        2,
        NightEnding(
          .limited, "jam", cycleCounter: 4, park: .elsewhere("why"), pause: .seconds(300),
          outOfUse: .dongle("blue")), at: at(2)),
      .end(3, NightEnding(.labFault, "x", park: .unknown, outOfUse: .lock("front")), at: at(2)),
      .out(.lock("front"), why: "jam", at: at(4)), .back(.dongle("blue"), at: at(5)),
      .done("x", NightResult(notRun: .time, "out of time"), at: at(6)),
    ])
  func lines(_ line: NightLine) throws {
    expect(NightLine(try JSON(parsing: line.json.line)), line)
    expect(try NightLine.lines(of: Array((line.json.line + "\n{").utf8)), [line])
  }

  @Test("knows its time: by the clock that nobody sets, and after a start of the machine by the calendar")
  func time() {
    let record = [NightLine.begin(name: "x", clock), .resumed(at: at(60))]
    func time(_ boot: String, uptime: Int64, wall: Int64) -> Instant? {
      NightLine.time(
        of: record, at: BenchTime(wall: clock.wall + .seconds(wall), boot: boot, uptime: at(uptime)))
    }
    // The calendar jumps, and nothing else.
    expect(time("3f2a9c01", uptime: 700, wall: 9_999), at(200))
    expect(time("3f2a9c01", uptime: 700, wall: -9_999), at(200))
    // A start of the machine.
    expect(time("77aa11bb", uptime: 20, wall: 300), at(300))
    expect(time("77aa11bb", uptime: 20, wall: -9_999), at(60))
    expect(NightLine.time(of: [], at: clock), nil)
  }

  @Test("reads no record that is another's")
  func foreign() {
    #expect(throws: NightRecordError.self) {
      try NightLine.lines(of: Array("{\"case\":{}}\n".utf8))
    }
  }
}
