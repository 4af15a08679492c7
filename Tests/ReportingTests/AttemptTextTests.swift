import Basics
import Journal
import Reporting
import System
import TestSupport
import Testing

@Suite("An attempt that fails like the one before")
struct AttemptTextTests {
  private let first: Record.Verdict = {
    var verdict = Record.Verdict(.divergence, of: "jam")
    (verdict.step, verdict.line, verdict.time) = (4, 13, .zero + .seconds(3))
    verdict.message = "the lock said locked"
    verdict.details = ["model   jammed", "device  locked"]
    verdict.replay = "lockstep replay Reports/failures/jam.yaml"
    return verdict
  }()

  private let attempt: Record.Case = {
    var test = Record.Case(id: "jam")
    (test.file, test.attempt) = ("s/jam.yaml", 2)
    return test
  }()

  private func text(_ change: (inout Record.Verdict) -> Void) -> String {
    var verdict = first
    change(&verdict)
    return endingText(verdict, after: first, attempt, Painter(isOn: false))
  }

  @Test("is one line where it fails alike, whatever time it was")
  func same() {
    expect(text { _ in }, "  s/jam.yaml   attempt 2: the same\n")
    expect(text { $0.time = .zero + .seconds(5) }, "  s/jam.yaml   attempt 2: the same\n")
  }

  @Test("prints what differs and nothing else")
  func differs() {
    expect(
      text { $0.details[1] = "device  unlocked" },
      """
        attempt 2, where it differs:
          device  unlocked

      """)
    expect(
      text { ($0.step, $0.time) = (5, .zero + .seconds(5)) },
      """
        attempt 2, where it differs:
      ✘ s/jam.yaml:13   diverged at step 5, t = 5.000 s

      """)
  }
}
