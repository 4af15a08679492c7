import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Nightly

/// An ending whose counted movements grow from run to run.
private func ending(_ verdict: Record.Ending, _ message: String = "") -> NightEnding {
  NightEnding(verdict, message, park: .parked)
}

private let agreed = ending(.agreed)
private let diverged = ending(.diverged, "it showed locked")
private let unmet = ending(.unmet, "expected locked")
private let fault = ending(.labFault, "no answer")
private let skipped = ending(.skipped, "no motor")
private let killed = ending(.incomplete, "killed")

/// A divergence that contradicts what the lock showed before.
private let contradiction: NightEnding = {
  var ending = diverged
  ending.shown = [.init(choice: "touching", options: ["opens"])]
  return ending
}()

/// The runs of one case with what the plan permits, and the result that follows.
private struct CaseHistory: Sendable {
  var endings: [NightEnding]
  /// The retries of the case, of the night, and after lab faults.
  var retries = 0, nightRetries = 20, labRetries = 3
  var quarantine: String?
  /// The result; `nil` if another run begins.
  var result: NightResult?

  init(
    _ endings: [NightEnding], retries: Int = 0, nightRetries: Int = 20, labRetries: Int = 3,
    quarantine: String? = nil, _ result: NightResult?
  ) {
    (self.endings, self.retries, self.nightRetries, self.labRetries) =
      (endings, retries, nightRetries, labRetries)
    (self.quarantine, self.result) = (quarantine, result)
  }

  /// The night after all these runs.
  func night() -> Night {
    var test = test("a", retries: retries)
    test.quarantine = quarantine
    let settings = NightSettings(duration: .seconds(3600), retries: nightRetries, labRetries: labRetries)
    var rig = Rig([test], settings)
    _ = rig.receive(.begin(clock), at: 0)
    for (index, ending) in endings.enumerated() {
      var ending = ending
      ending.cycleCounter = ending.cycleCounter ?? index
      _ = rig.receive(.ended(index + 1, ending), at: Int64(index) + 1)
    }
    return rig.night
  }
}

@Suite("The decision on a case of a night")
struct NightDecisionTests {
  @Test(
    "weighs all runs of the case, and the retries that are left",
    arguments: [
      CaseHistory([agreed], NightResult(.agreed)),
      CaseHistory([skipped], retries: 1, NightResult(.skipped, "no motor")),
      CaseHistory([diverged], NightResult(.diverged, "it showed locked")),
      CaseHistory([unmet], NightResult(.unmet, "expected locked")),
      // Retries of the case.
      CaseHistory([diverged], retries: 1, nil),
      CaseHistory([unmet], retries: 1, nil),
      CaseHistory([diverged, agreed], retries: 1, NightResult(.flaky)),
      CaseHistory([diverged, ending(.diverged, "twice")], retries: 1, NightResult(.diverged, "twice")),
      CaseHistory([diverged, diverged], retries: 2, nil),
      CaseHistory([diverged], retries: 1, nightRetries: 0, NightResult(.diverged, "it showed locked")),
      CaseHistory(
        [diverged, diverged], retries: 2, nightRetries: 1, NightResult(.diverged, "it showed locked")),
      // A divergence weighs more than an unmet expectation, and both more than a lab fault.
      CaseHistory([diverged, unmet], retries: 1, NightResult(.diverged, "it showed locked")),
      CaseHistory([unmet, diverged], retries: 1, NightResult(.diverged, "it showed locked")),
      CaseHistory([diverged, fault], retries: 1, labRetries: 0, NightResult(.diverged, "it showed locked")),
      CaseHistory([unmet, fault], retries: 1, labRetries: 0, NightResult(.unmet, "expected locked")),
      CaseHistory([diverged, skipped], retries: 1, NightResult(.diverged, "it showed locked")),
      CaseHistory([fault, skipped], NightResult(.skipped, "no motor")),
      // Retries after lab faults are not those of the case.
      CaseHistory([fault], nil),
      CaseHistory([fault, agreed], NightResult(.flaky)),
      CaseHistory([fault], labRetries: 0, NightResult(.labFault, "no answer")),
      CaseHistory([fault], nightRetries: 0, NightResult(.labFault, "no answer")),
      CaseHistory([fault, diverged], NightResult(.diverged, "it showed locked")),
      CaseHistory([fault, diverged], retries: 1, nil),
      // In quarantine a divergence is not retried, and a lab fault is.
      CaseHistory([diverged], retries: 1, quarantine: "known", NightResult(.diverged, "it showed locked")),
      CaseHistory([unmet], retries: 1, quarantine: "known", NightResult(.unmet, "expected locked")),
      CaseHistory([fault], quarantine: "known", nil),
      // A retry cannot change a contradiction.
      CaseHistory([contradiction], retries: 9, NightResult(.diverged, "it showed locked")),
      // A run without an end is no retry.
      CaseHistory([killed], nightRetries: 0, nil),
      CaseHistory([killed, agreed], NightResult(.agreed)),
      CaseHistory([fault, killed], nightRetries: 1, nil),
      CaseHistory([fault, killed, agreed], nightRetries: 1, NightResult(.flaky)),
      CaseHistory([killed, diverged], NightResult(.diverged, "it showed locked")),
      CaseHistory(
        Array(repeating: killed, count: 10),
        NightResult(notRun: .losses, "begun 10 times without a result")),
      // A safety limit with an end is waited for; ten of them are enough.
      CaseHistory(
        Array(repeating: killed, count: 9) + [ending(.limited, "20 an hour")],
        NightResult(notRun: .budget, "20 an hour")),
      CaseHistory(
        [NightEnding(.limited, "too many", cycleCounter: 8, park: .parked)],
        NightResult(notRun: .budget, "it needs more than 10 movements: too many")),
    ])
  private func decision(_ history: CaseHistory) {
    let night = history.night()
    expect(night.cases[0].result, history.result)
    expect(night.running.map(\.attempt.number), history.result == nil ? [history.endings.count + 1] : [])
  }

  @Test("a run that a limit stopped early leaves its lock alone, unless the limit has an end")
  func limited() {
    let settings = NightSettings(duration: .seconds(3600))
    var rig = Rig([test("a"), test("b")], settings)
    _ = rig.receive(.begin(clock), at: 0)
    let early = NightEnding(.limited, "the battery is low", cycleCounter: 7, park: .parked)
    expect(rig.receive(.ended(1, early), at: 1), ["a: not-run", "b: not-run", "finish"])
    let words = "front is not used any more tonight: the battery is low"
    expect(rig.results(), ["a: not-run, begun without a result; \(words)", "b: not-run, \(words)"])
    expect(rig.night.cases.map { rig.night.ending(of: $0) }, [.limited, .skipped])

    var other = Rig([test("a")], settings)
    _ = other.receive(.begin(clock), at: 0)
    let paused = NightEnding(
      .limited, "20 an hour", cycleCounter: 8, park: .parked, pause: .seconds(300))
    expect(other.receive(.ended(1, paused), at: 1), [])
    expect(other.night.deadline, at(301))
    expect(other.receive(.time, at: 300), [])
    expect(other.receive(.time, at: 301), ["start 2: a on front over blue"])
  }

  @Test("of several cases that wait for a retry, the last retry of the night goes to one")
  func lastRetry() {
    let locks = ["north", "south"].map { NightLock(name: $0, dongles: ["blue", "red"]) }
    var rig = Rig(
      [test("a", on: "north"), test("b", on: "south")], NightSettings(duration: .seconds(3600), retries: 1),
      locks: locks, dongles: [NightDongle(name: "blue"), NightDongle(name: "red")])
    _ = rig.receive(.begin(clock), at: 0)
    // Over blue, which it avoids now, while red is busy.
    expect(rig.receive(.ended(1, NightEnding(.labFault, "no answer", cycleCounter: 0)), at: 1), [])
    expect(
      rig.receive(.ended(2, NightEnding(.labFault, "no link", cycleCounter: 0)), at: 2),
      ["start 3: a on north over red", "b: lab-fault"])
    expect(rig.receive(.ended(3, good(1)), at: 3), ["a: flaky", "finish"])
    expect(rig.results(), ["a: flaky", "b: lab-fault, no link"])
  }

  @Test(
    "the present reason of an open case is the gravest that holds",
    arguments: [
      (0, "stopped, interrupted"), (1, "device, front is out of use: jammed"),
      (2, "device, there is no lock attic"), (3, "device, no dongle reaches front"),
      (4, "device, every dongle that reaches front is out of use (blue: gone; red: lost)"),
      (5, "budget, out of budget: front may move 5 times a night"),
      (6, "budget, out of budget: the night's 5 movements are used up"),
      (7, "time, out of time: the night was 1 h long"),
    ])
  func reason(_ number: Int, _ words: String) {
    var settings = NightSettings(duration: .seconds(3600))
    var lock = NightLock(name: "front", dongles: ["blue", "red"])
    var dongles = [NightDongle(name: "blue"), NightDongle(name: "red")]
    switch number {
    case 1: lock.outOfUse = "jammed"
    case 3: dongles = []
    case 4: (dongles[0].outOfUse, dongles[1].outOfUse) = ("gone", "lost")
    case 5: lock.perShift = 5
    case 6: settings.actuations = 5
    default: break
    }
    var rig = Rig([test("a", on: number == 2 ? "attic" : "front")], settings, locks: [lock], dongles: dongles)
    if number == 0 {
      _ = rig.receive(.begin(clock), at: 0)
      _ = rig.receive(.stop("interrupted"), at: 1)
    }
    let reason = rig.night.reason(for: Night.CaseState(test: rig.cases[0]))
    expect(reason.cause.map { "\($0.rawValue), \(reason.reason)" }, words)
  }

  @Test("a cause without a verdict counts only for a case that was begun")
  func causes() {
    let table: [(NightResult.Cause, Record.Ending)] = [
      (.time, .incomplete), (.budget, .limited), (.device, .labFault), (.stopped, .incomplete),
      (.losses, .incomplete), (.record, .incomplete),
    ]
    expect(table.map(\.0), NightResult.Cause.allCases)
    for (cause, ending) in table {
      let night = Rig([test("a")]).night
      var state = night.cases[0]
      state.result = NightResult(notRun: cause)
      expect(night.ending(of: state), .skipped)
      state.runs = [1]
      expect(night.ending(of: state), ending)
      // Nor does quarantine excuse what was not judged.
      var quarantined = test("a")
      quarantined.quarantine = "known"
      var known = Night.CaseState(test: quarantined)
      (known.result, known.runs) = (state.result, [1])
      expect(night.ending(of: known), ending)
    }
  }

  @Test("quarantine excuses what failed, and nothing else")
  func quarantine() {
    var quarantined = test("a")
    quarantined.quarantine = "known"
    let night = Rig([quarantined]).night
    var state = night.cases[0]
    let endings = Record.Ending.allCases.map { ending in
      state.result = NightResult(ending)
      return night.ending(of: state)
    }
    expect(
      endings,
      [.excused, .excused, .excused, .excused, .excused, .excused, .flaky, .skipped, .excused, .agreed])
  }
}
