import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Harness

private typealias Confirmation = Conformance.Confirmation

/// So many runs, of which some showed it, and others that were disturbed.
private func runs(_ shown: Int, of count: Int, disturbed: Int = 0) -> Confirmation {
  var confirmation = Confirmation()
  for number in 0..<count { confirmation.count(isShown: number < shown) }
  for _ in 0..<disturbed { confirmation.countDisturbed() }
  return confirmation
}

@Suite("Findings")
struct FindingTests {
  private static func finding(
    _ confirmation: Confirmation, isOfLab: Bool = false, isOnTwin: Bool = false, twin: TwinVerdict? = nil
  ) -> Finding {
    var divergence = Divergence(.unexpected("tired"), at: seconds(3), lastStimulus: "open")
    divergence.isOfLab = isOfLab
    var finding = Finding(
      number: 4, signature: "tired after open", divergence: divergence, foundAt: 70, foundLength: 9,
      test: TestCase(start: 0, [Choice(0), Choice(4)]),
      actions: [(.stimulus(Stimulus(0)), false), (.settle, false)])
    (finding.confirmation, finding.isOnTwin, finding.twin) = (confirmation, isOnTwin, twin)
    return finding
  }

  private static let differs = TwinVerdict.differs(step: 2, twin: "tired", device: "nothing")
  private static let unasked = TwinVerdict.notAsked("it cannot be given every event of the test")

  /// A finding, why it has no verdict on the device, and whether it ends a campaign that looks for one.
  // swift-format-ignore
  static let verdicts: [(finding: Finding, reason: String?, ends: Bool)] = [
    (finding(runs(3, of: 3)), nil, true), (finding(runs(5, of: 10)), nil, true),
    (finding(Confirmation()), "not tried again, so there is no verdict", false),
    (finding(runs(0, of: 3)), "not reproduced, 0 of 3, so there is no verdict", false),
    (finding(runs(0, of: 0, disturbed: 3)), "not tried again, 3 disturbed, so there is no verdict", false),
    // The failure of a program of the lab is none of the lock, however often it shows.
    (finding(runs(3, of: 3), isOfLab: true), "reproduced 3 of 3; it says nothing of the lock, so there is no verdict", false),
    (finding(runs(0, of: 3), isOfLab: true), "not reproduced, 0 of 3, so there is no verdict", false),
    // What the reference device does is the device's once that does the same.
    (finding(runs(3, of: 3), isOnTwin: true, twin: .confirmed(runs(3, of: 3))), nil, true),
    (finding(runs(3, of: 3), isOnTwin: true, twin: .confirmed(runs(0, of: 0, disturbed: 3))), "the device does the same: not tried again, 3 disturbed", true),
    (finding(runs(3, of: 3), isOnTwin: true, twin: differs), "the twin is wrong here: at step 2 the twin showed tired, the device nothing", true),
    (finding(runs(3, of: 3), isOnTwin: true, twin: unasked), "the device was not asked: it cannot be given every event of the test", true),
    (finding(runs(3, of: 3), isOnTwin: true), nil, true),
    // What the device itself does stands, whatever its reference device does.
    (finding(runs(3, of: 3), twin: differs), nil, true),
  ]

  @Test(
    "a finding has a verdict on the device if the device itself has shown it again",
    arguments: verdicts.indices)
  func verdict(index: Int) {
    let (finding, reason, ends) = Self.verdicts[index]
    expect(finding.whyNoVerdict, reason)
    expect(finding.endsCampaign, ends)
    let notice = FindingNotice(
      finding, Scenario(title: "A", machine: "door", steps: []), path: "x.yaml", replay: "r")
    expect([notice.isSure, notice.endsCampaign], [reason == nil, ends])
  }

  @Test("a notice says what was found, how, and with which steps")
  func notice() {
    var finding = Self.finding(runs(3, of: 3), twin: Self.differs)
    finding.past = .included(own: 5)
    finding.shrinking = Finding.Shrinking(runs: 6, events: 40)
    let scenario = Scenario(
      title: "A", machine: "door", steps: [Step(.performNow(.init("open"))), Step(.settle)])
    let notice = FindingNotice(finding, scenario, path: "failures/x.yaml", replay: "lockstep replay x")
    let origin =
      "found after 70 events in a test of 9, shrunk to 2 with 6 runs of 40 events: minimal for this model"
    let asides = [
      "a new device shows it too; this device, in its present state, shows it after 5 events",
      "the twin is wrong here: at step 2 the twin showed tired, the device nothing",
    ]
    let summary = "the device showed tired, which the model does not allow"
    expect(notice.lines, [summary, "after   open", "device  tired"] + asides)
    expect(notice.origin, [origin, "likelihood ratio 729"])
    expect(notice.steps, ["- { now: open }", "- { wait: settled }"])
    expect(
      [notice.signature, notice.confirmation, notice.path],
      ["tired after open", "reproduced 3 of 3", "failures/x.yaml"])
    expect(finding.comments, [summary, origin, "reproduced 3 of 3"] + asides)
    expect([notice.number, notice.length, notice.record.number, notice.record.shortest], [4, 2, 4, 2])
    let other = notice.numbered(7)
    expect([other.number, other.record.number], [7, 7])
    finding.shrinking = Finding.Shrinking(end: Finding.unshown)
    expect(
      finding.comments[1],
      "found after 70 events in a test of 9, with those before it 2: not shrunk, since the test did not reproduce it"
    )
  }

  @Test("of two findings with one signature the sure one stands, and of two sure ones the shorter")
  func evidence() {
    func notice(_ shown: Int, length: Int) -> FindingNotice {
      var finding = Self.finding(runs(shown, of: 3))
      finding.test.choices = Array(repeating: Choice(0), count: length)
      return FindingNotice(finding, Scenario(title: "A", machine: "door", steps: []), path: "", replay: "")
    }
    let (unsure, long, short) = (notice(0, length: 1), notice(3, length: 9), notice(3, length: 4))
    expect(long.evidence.supersedes(unsure.evidence), true)
    expect(unsure.evidence.supersedes(long.evidence), false)
    expect(short.evidence.supersedes(long.evidence), true)
    expect(long.evidence.supersedes(short.evidence), false)
    expect(short.evidence.supersedes(short.evidence), false)
  }

  @Test(
    "a finding is known by the signature that it was found with, the one of its shortest test, and others")
  func known() {
    var finding = Self.finding(runs(3, of: 3))
    finding.signature = "tired after close"
    finding.aliases = ["overdue: closed"]
    let shown = "the device showed tired, which the model does not allow after open"
    let signatures = ["tired after close", shown, "overdue: closed", "overdue: opened", ""]
    expect(signatures.map(finding.isKnown), [true, true, true, false, false])
  }

  @Test("its relation to the past of the device has a word in the journal and a sentence for people")
  func past() {
    let pasts: [Finding.Past] = [.unknown, .irrelevant, .included(own: 3), .needed]
    let records = pasts.map { past in
      var finding = Self.finding(runs(3, of: 3))
      finding.past = past
      return finding.record(path: "x.yaml").past
    }
    expect(records, [.unknown, .irrelevant, .included, .needed])
    expect(Set(pasts.map(\.text)).count, 4)
  }
}
