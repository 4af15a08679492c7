import Automata
import Basics
import Conformance
import TestSupport
import Testing

@Suite("A divergence in one sentence")
struct SentenceTests {
  private static let vocabulary = Vocabulary(
    stimuli: ["connect", "leave", "enter", "enterWrong"], statuses: ["away", "locked", "shutOut"])

  private func steps(_ text: String) -> StepSummary {
    var steps = StepSummary()
    for word in text.split(separator: " ").map(String.init) {
      switch word.first {
      case "+": steps.add(.wait(Interval(text: String(word.dropFirst()))!), Self.vocabulary)
      case "~": steps.add(.settle, Self.vocabulary)
      case "!":
        let parts = word.dropFirst().split(separator: "=").map(String.init)
        steps.add(.fault(Fault(parts[0], parts.count > 1 ? .text(parts[1]) : .flag(true))), Self.vocabulary)
      default:
        let parts = word.split(separator: "=").map(String.init)
        let arguments = parts.count > 1 ? [Argument(Argument.only, .text(parts[1]))] : []
        steps.add(.stimulus(Stimulus(Self.vocabulary.stimulus(parts[0])!, arguments)), Self.vocabulary)
      }
    }
    return steps
  }

  // swift-format-ignore
  static let shortened: [(steps: String, text: String)] = [
    ("", ""),
    ("~ ~", ""),
    ("connect", "connect"),
    ("connect enterWrong enterWrong", "connect, enterWrong twice"),
    ("connect ~ enterWrong ~ enterWrong ~ enterWrong ~ +5s enter", "connect, enterWrong 3 times, wait 5s, enter"),
    ("enter=12 enter=12 enter=13", "enter 12 twice, enter 13"),
    ("!link !drop=next !drop=off", "link, drop next, drop ends"),
    ("connect leave connect leave", "connect then leave, twice"),
    ("connect leave connect leave connect leave connect", "connect then leave, 3 times, connect"),
    ("connect enter leave connect enter leave", "connect then enter then leave, twice"),
    ("enter enter leave enter enter leave", "enter twice then leave, twice"),
    ("+0s", ""),
  ]

  @Test("steps are counted where they are the same, and told by the machine's names", arguments: shortened)
  func inShort(_ row: (steps: String, text: String)) {
    expect(steps(row.steps).text, row.text.replacing("5s", with: "\(Interval.seconds(5))"))
  }

  @Test("of many steps the last are told, however many there are")
  func many() {
    var steps = StepSummary()
    let names = Self.vocabulary.stimuli.indices
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<10_000 { steps.add(.stimulus(Stimulus(generator.below(names.count))), Self.vocabulary) }
    #expect(steps.text.hasPrefix("after 9,9"), "\(steps.text)")
    #expect(steps.text.utf8.count < 300)
    var cycle = StepSummary()
    for _ in 0..<128 {
      cycle.add(.stimulus(Stimulus(0)), Self.vocabulary)
      cycle.add(.stimulus(Stimulus(1)), Self.vocabulary)
    }
    expect(cycle.text, "connect then leave, 128 times")
  }

  private static func allowed(
    _ shows: String, cause: String = "", isDue: Bool = false, isRequired: Bool = false
  ) -> Divergence.Allowance {
    Divergence.Allowance(state: "s", cause: cause, shows: shows, isDue: isDue, isRequired: isRequired)
  }

  // swift-format-ignore
  private static let ends: [(divergence: Divergence, sentence: String)] = [
    (Divergence(.unexpected("shutOut"), at: .zero, allowed: [allowed("locked", cause: "within 1 s", isDue: true), allowed("away", cause: "within 1 s", isDue: true)]),
     "connect, enterWrong twice: only locked or away could come next, the device showed shutOut."),
    (Divergence(.unexpected("shutOut"), at: .zero, allowed: [allowed("locked", isDue: true, isRequired: true)]),
     "connect, enterWrong twice: locked was due, the device showed shutOut."),
    (Divergence(.unexpected("shutOut"), at: .zero, allowed: [allowed("locked", cause: "after 3 s", isDue: true, isRequired: true), allowed("away", cause: "after 9 s", isDue: true)]),
     "connect, enterWrong twice: only locked or away could come next, the device showed shutOut."),
    (Divergence(.overdue, at: .zero, lastStatus: "away", allowed: [allowed("locked", cause: "after 3 s", isDue: true, isRequired: true), allowed("shutOut", cause: "after 9 s", isDue: true)]),
     "connect, enterWrong twice: locked was due, the device still showed away."),
    (Divergence(.unexpected("shutOut"), at: .zero, allowed: [allowed("locked"), allowed("away", cause: "linkLost")]),
     "connect, enterWrong twice: locked or away was allowed, the device showed shutOut."),
    (Divergence(.overdue, at: .zero, lastStatus: "locked", allowed: [allowed("shutOut", isDue: true), allowed("locked")]),
     "connect, enterWrong twice: shutOut was due, the device still showed locked."),
    (Divergence(.overdue, at: .zero, allowed: [allowed("shutOut", isDue: true)]),
     "connect, enterWrong twice: shutOut was due, the device showed nothing."),
    (Divergence(.refusedLegal("busy"), at: .zero, lastStimulus: "enterWrong"),
     "connect, enterWrong twice: enterWrong was allowed, the device refused it (busy)."),
    (Divergence(.invariant("the bolt turned by itself."), at: .zero),
     "connect, enterWrong twice: the bolt turned by itself."),
    (Divergence(.violation(Violation("clear-text", of: "unlock", "an unlock in clear")), at: .zero),
     "connect, enterWrong twice: the device broke the rule clear-text of unlock."),
    (Divergence(.stoppedAnswering("no answer: within 5 s\nTraceback"), at: .zero),
     "connect, enterWrong twice: the device stopped answering, no answer: within 5 s."),
    (Divergence(.unexpected("x"), at: .zero, allowed: (1...6).map { allowed("s\($0)", cause: "go") }),
     "connect, enterWrong twice: only s1, s2, s3 or 3 others could come next, the device showed x."),
    (Divergence(.unexpected("x"), at: .zero), "connect, enterWrong twice: nothing was due, the device showed x."),
    (Divergence(.contradiction(.init(of: DeviceChoice("autolock", ["at-once"]), shown: ["later"])), at: .zero),
     "connect, enterWrong twice: at-once of autolock was due, the device showed later."),
  ]

  @Test("what was due is named, and what the device showed", arguments: ends.indices)
  func end(_ index: Int) {
    let (divergence, sentence) = Self.ends[index]
    expect(divergence.sentence(after: steps("connect ~ enterWrong ~ enterWrong")), sentence)
  }

  @Test("where nothing was done it begins at the start")
  func start() {
    let divergence = Divergence(.unexpected("away"), at: .zero, allowed: [Self.allowed("locked")])
    expect(
      divergence.sentence(after: steps("~")), "At the start: locked was allowed, the device showed away.")
  }
}
