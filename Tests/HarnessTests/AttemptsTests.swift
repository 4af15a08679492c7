import Basics
import Conformance
import Testing
import TestSupport

@testable import Harness

@Suite("What the attempts at a test come to")
struct AttemptsTests {
  private static let tired = Attempts.Failure(Divergence(.unexpected("tired"), at: .zero))
  private static let hungUp = Attempts.Failure(
    Divergence(
      .unexpected("noSignal"), at: .zero, explanation: Explanation("hung-up", "0x13", isOfDevice: true)))

  /// `+` agrees, `-` diverges, both with their links; `o` agrees, `x` diverges after the air had lost one, `h` after
  /// the device had ended one; `n` no answer, `e` it ended, `c` the transport is lost, `p` a program of the lab failed.
  private static func consequence(_ letter: Character, _ attempts: inout Attempts) -> String {
    let consequence: Attempts.Consequence =
      switch letter {
      case "+": attempts.decide(on: nil, wasDisturbed: false)
      case "-": attempts.decide(on: tired, wasDisturbed: false)
      case "o": attempts.decide(on: nil, wasDisturbed: true)
      case "x": attempts.decide(on: tired, wasDisturbed: true)
      case "h": attempts.decide(on: hungUp, wasDisturbed: true)
      case "n": attempts.decide(on: LabFault(.noAnswer, "silence"))
      case "e": attempts.decide(on: LabFault(.ended, "exit status 1"))
      case "p": attempts.decide(on: LabFault(.programFailed, "the driver"))
      default: attempts.decide(on: LabFault(.transportLost, "unplugged"))
      }
    return switch consequence {
    case .isFinal: "stands"
    case .again(let afresh): afresh ? "afresh" : "again"
    case .stoppedAnswering(let fault): "stopped (\(fault))"
    case .noVerdict(let fault): "none (\(fault))"
    }
  }

  // swift-format-ignore
  private static let lost3 = "none (link lost: something was lost on the air in each of 3 attempts; the last ended with: the device showed tired, which the model does not allow)"

  /// The attempts, and what the last of them means to one that is written, drawn, and weighed by whoever does it; each
  /// before it asks for another.
  // swift-format-ignore
  private static let table: [(attempts: String, written: String, drawn: String, single: String)] = [
    ("+", "stands", "stands", "stands"),
    ("-", "stands", "stands", "stands"),
    ("o", "stands", "again", "stands"),
    ("x", "again", "again", "stands"),
    ("h", "again", "again", "stands"),
    ("x+", "stands", "stands", ""),
    ("x-", "stands", "stands", ""),
    ("xo", "stands", "again", ""),
    ("xx-", "stands", "stands", ""),
    ("xxx", lost3, lost3, ""),
    ("hxx", lost3, lost3, ""),
    ("hhh", "stands", "none (link lost: something was lost on the air in each of 3 attempts; the last ended with: the device showed noSignal, which the model does not allow; hung-up: 0x13)", ""),
    ("ooo", "", "none (link lost: something was lost on the air in each of 3 attempts; the last ended with: no divergence)", ""),
    ("n", "afresh", "afresh", "afresh"),
    ("n+", "none (no answer: silence)", "none (no answer: silence)", "none (no answer: silence)"),
    ("n-", "stands", "stands", "stands"),
    ("ne", "none (no answer: silence)", "none (no answer: silence)", "none (no answer: silence)"),
    ("nn+", "none (no answer: silence)", "none (no answer: silence)", "none (no answer: silence)"),
    ("nnn", "stopped (no answer: silence)", "stopped (no answer: silence)", "stopped (no answer: silence)"),
    ("eee", "stopped (the device's program ended: exit status 1)", "stopped (the device's program ended: exit status 1)", "stopped (the device's program ended: exit status 1)"),
    ("c", "none (transport lost: unplugged)", "none (transport lost: unplugged)", "none (transport lost: unplugged)"),
    ("xc", "none (transport lost: unplugged)", "none (transport lost: unplugged)", ""),
    ("xn", "afresh", "afresh", ""),
    ("xnxnn", "stopped (no answer: silence)", "stopped (no answer: silence)", ""),
    ("nx+", "none (no answer: silence)", "none (no answer: silence)", ""),
    // A program of the lab that fails is never to blame on the device; a campaign finds out what leads there.
    ("p", failed, "afresh", failed),
    ("pn", "", failed, ""),
    ("pp+", "", failed, ""),
    ("ppp", "", "stopped (a program of the lab failed: the driver)", ""),
  ]

  private static let failed = "none (a program of the lab failed: the driver)"

  @Test("each row of the policy", arguments: table.indices)
  func rulings(index: Int) {
    let row = Self.table[index]
    let policies: [(Attempts, String)] = [
      (.written, row.written), (.drawn(maximumLosses: 3, followsPrograms: true), row.drawn),
      (.single, row.single),
    ]
    for (policy, expected) in policies where !expected.isEmpty {
      var attempts = policy
      for letter in row.attempts.dropLast() {
        let consequence = Self.consequence(letter, &attempts)
        expect(["again", "afresh"].contains(consequence), true)
      }
      expect(Self.consequence(row.attempts.last!, &attempts), expected)
    }
  }
}
