import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

/// A night with what a random generator draws: its plan, its bench, and how its runs end.
private struct DrawnNight {
  let settings: NightSettings
  let cases: [NightCase], locks: [NightLock], dongles: [NightDongle]
  var generator: SeededGenerator
  var night: Night
  var record: [NightLine] = []
  var second: Int64 = 0
  /// The lines that break a rule.
  var breaches: [String] = []

  init(_ number: Int) {
    var generator = SeededGenerator(seed: UInt64(number), for: "night")
    func some(_ names: [String]) -> [String] { names.filter { _ in generator.below(3) > 0 } }
    dongles = ["blue", "red", "green"].prefix(1 + generator.below(3)).map { NightDongle(name: $0) }
    let names = dongles.map(\.name)
    locks = ["north", "south", "west"].prefix(1 + generator.below(3)).map { name in
      let isEmulated = generator.below(4) == 0
      return NightLock(
        name: name, dongles: isEmulated ? nil : some(names), perShift: generator.below(2) == 0 ? 40 : nil,
        cycleCounter: generator.below(100), isFuzzed: generator.below(3) == 0)
    }
    let owners = locks.map(\.name)
    cases = (0..<generator.below(8)).map { number in
      var test = test(
        "\(number)", on: owners[generator.below(owners.count)], retries: generator.below(3),
        actuations: 2 + generator.below(20))
      if generator.below(8) == 0 { test.skipReason = "no sensor" }
      if generator.below(6) == 0 { test.quarantine = "known" }
      return test
    }
    settings = NightSettings(
      duration: .seconds(900), actuations: generator.below(2) == 0 ? 60 : nil, retries: generator.below(5),
      processes: 1 + generator.below(2))
    night = Night(settings, name: "N", cases: cases, locks: locks, dongles: dongles)
    self.generator = generator
  }

  /// The night as its record tells it.
  var resumed: Night {
    Night(settings, name: "N", cases: cases, locks: locks, dongles: dongles, resuming: record)
  }

  mutating func receive(_ event: NightEvent) {
    let judged = Set(night.cases.filter { $0.result != nil }.map(\.test.identity))
    for action in night.receive(event, at: at(second)) {
      switch action {
      case .record(let line): record.append(line)
      case .start(let attempt):
        if case .test(let identity) = attempt.work, judged.contains(identity) {
          breaches.append("\(identity) began again")
        }
      case .stop, .kill, .finish: break
      }
    }
    check()
  }

  /// Holds the state against the rules of ``Night``.
  private mutating func check() {
    let attempts = night.running.map(\.attempt)
    let (usedLocks, usedDongles) = (attempts.map(\.lock), attempts.compactMap(\.dongle))
    if Set(usedLocks).count < usedLocks.count { breaches.append("two runs on a lock: \(usedLocks)") }
    if Set(usedDongles).count < usedDongles.count {
      breaches.append("two runs over a dongle: \(usedDongles)")
    }
    if attempts.count(where: { $0.dongle == nil }) > settings.processes {
      breaches.append("too many processes")
    }
    for attempt in attempts where attempt.dongle != nil {
      let reaching = locks.first { $0.name == attempt.lock }?.dongles ?? []
      if !reaching.contains(attempt.dongle ?? "") { breaches.append("no way to \(attempt.lock)") }
    }
    var sum = 0
    for state in night.locks where state.lock.isReal {
      let open = attempts.filter { $0.lock == state.lock.name }.map(\.actuations).reduce(0, +)
      sum += state.used + open
      if let most = state.lock.perShift, state.used + open > most {
        breaches.append("\(state.lock.name) wears")
      }
    }
    if let most = settings.actuations, sum > most { breaches.append("all locks wear: \(sum)") }
    if night.retriesUsed > settings.retries { breaches.append("\(night.retriesUsed) retries") }
    if night.isOver, let open = night.cases.first(where: { $0.result == nil }) {
      breaches.append("\(open.test.identity) has no result")
    }
  }

  /// What happens next.
  mutating func step() {
    second += Int64(1 + generator.below(4))
    guard !night.running.isEmpty, generator.below(6) > 0 else { return receive(.time) }
    let run = night.running[generator.below(night.running.count)]
    if generator.below(5) == 0 { return receive(.sign(run.attempt.number)) }
    let verdicts: [Record.Ending] = [
      .agreed, .agreed, .agreed, .diverged, .unmet, .labFault, .incomplete, .limited, .skipped,
    ]
    var ending = NightEnding(verdicts[generator.below(verdicts.count)], "why")
    if generator.below(6) > 0 {
      ending.cycleCounter = run.attempt.cycleCounter + generator.below(run.attempt.actuations + 1)
    }
    ending.park = [.parked, .parked, .parked, .elsewhere("open"), .unknown][generator.below(5)]
    if generator.below(10) == 0 { ending.pause = .seconds(Int64(1 + generator.below(100))) }
    if generator.below(30) == 0 { ending.outOfUse = .lock(run.attempt.lock) }
    receive(.ended(run.attempt.number, ending))
  }

  /// All that decides what a night does next, but for the time of its runs.
  static func state(_ night: Night) -> [String] {
    night.cases.map { "\($0)" } + night.locks.map { "\($0)" } + night.dongles.map { "\($0)" }
      + night.running.map { "\($0.attempt) \($0.begin) \($0.limit)" } + night.ended.map { "\($0)" }
      + ["\(night.nextNumber) \(night.retriesUsed) \(night.isOver)"]
  }
}

@Suite("Any night")
struct NightPropertyTests {
  @Test("keeps to its budgets and its bench, comes to its end, and is known from its record")
  func rules() {
    var (ended, judged) = (0, 0)
    for number in 0..<60 {
      var drawn = DrawnNight(number)
      drawn.receive(.begin(clock))
      let middle = drawn.generator.below(20)
      for step in 0..<2000 where !drawn.night.isOver {
        drawn.step()
        guard step == middle else { continue }
        #expect(DrawnNight.state(drawn.resumed) == DrawnNight.state(drawn.night), "night \(number)")
      }
      #expect(drawn.night.isOver && drawn.breaches.isEmpty, "night \(number): \(drawn.breaches)")
      #expect(DrawnNight.state(drawn.resumed) == DrawnNight.state(drawn.night), "night \(number)")
      ended += drawn.night.ended.count
      judged += drawn.night.cases.count { $0.result?.isJudgement == true }
    }
    // The nights that are drawn have something in them.
    #expect(ended > 300 && judged > 50, "\(ended) \(judged)")
  }
}
