import Automata
import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Harness

@Suite("Outcomes of cases")
struct OutcomeTests {
  private static func lab(_ symptom: LabFault.Symptom) -> Outcome.Verdict {
    .labFault(LabFault(symptom, "x"))
  }

  /// A symptom, and the verdict of a case that it ends: in a step, before the first step, and in a step when a stop
  /// was requested.
  // swift-format-ignore
  static let faults: [(symptom: LabFault.Symptom, inStep: Outcome.Verdict, before: Outcome.Verdict, stopped: Outcome.Verdict)] = [
    (.noDevice, lab(.noDevice), lab(.noDevice), lab(.noDevice)),
    (.noAnswer, lab(.noAnswer), lab(.noAnswer), lab(.noAnswer)),
    (.badAnswer, lab(.badAnswer), lab(.badAnswer), lab(.badAnswer)),
    (.ended, lab(.ended), lab(.ended), lab(.ended)),
    (.transportLost, lab(.transportLost), lab(.transportLost), lab(.transportLost)),
    (.programFailed, lab(.programFailed), lab(.programFailed), lab(.programFailed)),
    (.notPossible, lab(.notPossible), lab(.notPossible), lab(.notPossible)),
    (.linkLost, lab(.linkLost), lab(.linkLost), .incomplete("stopped before it was run again: the link was lost")),
    (.safetyLimit, .limited("x"), .limited("x"), .limited("x")),
    (.stopped, .incomplete("stopped in step 2"), .incomplete("stopped while the device was made ready"), .incomplete("stopped in step 2")),
  ]

  @Test(
    "a fault is the lab's unless a limit or a stop request caused it, and never a divergence",
    arguments: faults)
  func verdictOfFault(
    symptom: LabFault.Symptom, inStep: Outcome.Verdict, before: Outcome.Verdict, stopped: Outcome.Verdict
  ) {
    let fault = LabFault(symptom, "x")
    let mark = StepMark(2, line: 7)
    expect(
      [
        Outcome.Verdict(fault, in: mark, isStopped: false),
        Outcome.Verdict(fault, in: .start, isStopped: false),
        Outcome.Verdict(fault, in: mark, isStopped: true),
      ], [inStep, before, stopped])
  }

  private static let divergence = Divergence(.unexpected("tired"), at: .zero, lastStimulus: "open")
  private static let unmet = UnmetExpectation(
    [.init("status", expected: "closed", seen: "opened")], at: .zero)
  private static let wrong = "the device showed tired, which the model does not allow"

  /// A verdict, its word and message, and whether another attempt may have another result.
  // swift-format-ignore
  static let verdicts: [(verdict: Outcome.Verdict, word: Record.Verdict.Word, message: String?, mayBeTriedAgain: Bool)] = [
    (.agree, .agree, nil, false),
    (.divergence(divergence), .divergence, wrong, true),
    (.unmet(unmet), .unmet, "the model agrees; the scenario asks for more: expected status closed, got opened", true),
    (lab(.noAnswer), .labFault, "no answer: x", true),
    (.skipped("cold"), .skipped, "cold", false),
    (.incomplete("stopped"), .incomplete, "stopped", false),
    (.limited("100 movements"), .incomplete, "stopped by a safety limit: 100 movements", false),
  ]

  @Test("a failure may be tried again, unless it is in quarantine", arguments: verdicts)
  func verdict(
    verdict: Outcome.Verdict, word: Record.Verdict.Word, message: String?, mayBeTriedAgain: Bool
  ) {
    var outcome = Outcome(verdict)
    expect(outcome.verdict.word, word)
    expect(outcome.message, message)
    expect(outcome.mayBeTriedAgain, mayBeTriedAgain)
    outcome.quarantine = "known until May"
    expect(outcome.mayBeTriedAgain, false)
  }

  @Test("a failure before the case says so, and names the case before and what it did last")
  func before() {
    func message(_ verdict: Outcome.Verdict, _ earlier: EarlierCase?, isBefore: Bool = true) -> String? {
      var outcome = Outcome(verdict)
      (outcome.isBefore, outcome.earlier) = (isBefore, earlier)
      return outcome.message
    }
    let idle = EarlierCase(id: "a/b", actions: [])
    let busy = EarlierCase(id: "a/b", actions: ["open", "wind 2"])
    let place = "the fault lies before the case: "
    expect(
      [
        message(Self.lab(.noDevice), nil), message(Self.lab(.noDevice), idle),
        message(.divergence(Self.divergence), busy),
        message(.divergence(Self.divergence), busy, isBefore: false),
        message(.agree, busy),
      ],
      [
        place + "no device: x", place + "no device: x; the case before, a/b, did nothing",
        place + Self.wrong + "; the case before, a/b, ended with: open, wind 2", Self.wrong, nil,
      ])
  }

  @Test("model and device stand side by side: up to eight allowed transitions, and the number of the others")
  func details() {
    func details(_ count: Int) -> [String] {
      let allowed = (0..<count).map {
        Divergence.Allowance(state: "s\($0)", cause: $0 == 0 ? "" : "tick", shows: $0 == 0 ? "s0" : "on")
      }
      return Outcome(
        .divergence(Divergence(.unexpected("tired"), at: .zero, lastStimulus: "open", allowed: allowed))
      ).details
    }
    let rows = (1..<8).map { "        s\($0) ──tick──▶ on" }
    expect(details(0), ["after   open", "device  tired"])
    expect(details(8), ["after   open", "model   s0"] + rows + ["device  tired"])
    expect(details(10), ["after   open", "model   s0"] + rows + ["        and 2 more", "device  tired"])
    expect(Outcome(Self.lab(.noAnswer)).details, [])
  }

  @Test(
    "of a choice that a device changed, its details are the options that bind it and those that it showed")
  func contradiction() {
    let held = Divergence.Contradiction(
      of: .init("pace", ["slow", "steady"]), shown: ["fast"], evidence: "a/b")
    expect(
      Outcome(.divergence(Divergence(.contradiction(held), at: .zero))).details,
      ["model   pace: slow or steady", "device  fast"])
  }
}

@Suite("Unmet expectations")
struct UnmetExpectationTests {
  private static let items: [UnmetExpectation.Item] = [
    .init("status", expected: "closed within 2 s", seen: "opened"),
    .init("battery", expected: "5.9", seen: "5"),
  ]

  @Test("every unmet condition is named, with its value and what was seen instead")
  func words() {
    let unmet = UnmetExpectation(Self.items, at: seconds(9), lastStimulus: "open")
    expect(
      unmet.summary,
      "the model agrees; the scenario asks for more: expected status closed within 2 s, got opened; "
        + "expected battery 5.9, got 5")
    expect(
      unmet.lines,
      ["- status: closed within 2 s", "+ status: opened", "- battery: 5.9", "+ battery: 5"])
    expect(unmet.expected, "status closed within 2 s and battery 5.9")
    expect(unmet.seen, "status opened, battery 5")
  }

  @Test("numbers and times do not make another failure; another stimulus and another subject do")
  func signature() {
    func signature(_ seen: String, _ stimulus: String? = "open", subject: String = "battery") -> String {
      UnmetExpectation(
        [.init(subject, expected: "above 5", seen: seen)], at: seconds(3), lastStimulus: stimulus
      ).signature
    }
    expect(signature("4"), "expected battery above , got  after open")
    expect(signature("4"), signature("3"))
    expect(signature("nothing"), "expected battery above , got nothing after open")
    expect(signature("4", nil), "expected battery above , got  after the start")
    #expect(signature("4") != signature("4", "close"))
    #expect(signature("4") != signature("4", subject: "load"))
  }

  @Test("the cause and the last input that no client sends stand behind it, and leave its signature alone")
  func circumstances() {
    let (forged, other) = (
      InjectedAction(.forgedCommand, "an unlock in clear", reaction: "ignores", at: seconds(1)),
      InjectedAction(.other, "a frame of no bytes", reaction: "ignores", at: seconds(2))
    )
    let bare = UnmetExpectation(Self.items, at: seconds(9), lastStimulus: "open")
    let explained = UnmetExpectation(
      Self.items, at: seconds(9), lastStimulus: "open",
      explanation: Explanation("hung-up", "the lock ended the link"), injected: [forged, other])
    expect(
      explained.summary,
      bare.summary + "; hung-up: the lock ended the link; 7 s before, the tester had sent a frame of no bytes"
    )
    expect(explained.signature, bare.signature)
    expect(
      Outcome(.unmet(explained)).details,
      ["after   open", "sent    a frame of no bytes, at 2 s: a correct device ignores it"] + bare.lines)
  }
}
