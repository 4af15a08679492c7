import Basics
import Conformance
import TestSupport
import Testing

@testable import Harness

@Suite("Making attempts until there is a result")
struct MakingAttemptsTests {
  private static let tired = Attempts.Failure(Divergence(.unexpected("tired"), at: .zero))

  /// `+` agrees and `-` diverges, each with its links; `x` diverges after the air lost one; `n` no answer, `e` the
  /// program ended, `s` a stop was requested, `f` final whatever came before.
  private static func attempt(_ letter: Character) -> Attempts.Attempt<String> {
    switch letter {
    case "+": .ended("agreed", nil, wasDisturbed: false)
    case "-": .ended("diverged", tired, wasDisturbed: false)
    case "x": .ended("diverged", tired, wasDisturbed: true)
    case "n": .broken("broken", LabFault(.noAnswer, "silence"))
    case "e": .broken("broken", LabFault(.ended, "status 1"))
    case "s": .broken("broken", LabFault(.stopped, "enough"))
    default: .final("final")
    }
  }

  /// What was done, in order: each attempt with the number of lost ones, each note, each restart, and the result.
  private static func log(
    _ letters: String, _ attempts: Attempts = .written, following first: Character? = nil,
    stopAfter: Int = .max, restarts: Int = .max
  ) -> String {
    var attempts = attempts
    var (rest, asked, restarted) = (letters[...], 0, 0)
    var log: [String] = []
    do throws(LabFault) {
      let result = try attempts.make(
        following: first.map(attempt),
        isStopped: {
          asked += 1
          return asked > stopAfter
        }, note: { fault, number in log.append("\(number) \(fault.symptom.rawValue)") },
        restart: { fault throws(LabFault) in
          restarted += 1
          log.append("restart")
          if restarted > restarts { throw LabFault(.noDevice, "gone") }
        },
        { losses in
          log.append("try(\(losses))")
          return attempt(rest.popFirst() ?? "f")
        })
      log.append(result.ending + (result.stoppedAnswering.map { ", stopped: \($0.detail)" } ?? ""))
    } catch {
      log.append("no verdict: \(error.symptom.rawValue)")
    }
    return (log + rest.map { "left \($0)" }).joined(separator: ", ")
  }

  // swift-format-ignore
  static let logs: [(log: String, expected: String)] = [
    (log("+"), "try(0), agreed"), (log("-"), "try(0), diverged"), (log("f"), "try(0), final"),
    (log("x-"), "try(0), 1 link lost, try(1), diverged"),
    (log("xx+"), "try(0), 1 link lost, try(1), 2 link lost, try(2), agreed"),
    (log("xxx"), "try(0), 1 link lost, try(1), 2 link lost, try(2), 3 link lost, no verdict: link lost"),
    // Only a fault costs a restart.
    (log("n-"), "try(0), 1 no answer, restart, try(0), diverged"),
    (log("n+"), "try(0), 1 no answer, restart, try(0), no verdict: no answer"),
    (log("nxn-"), "try(0), 1 no answer, restart, try(0), 2 link lost, try(1), 3 no answer, restart, try(1), diverged"),
    (log("nnn"), "try(0), 1 no answer, restart, try(0), 2 no answer, restart, try(0), 3 no answer, broken, stopped: silence"),
    (log("ne"), "try(0), 1 no answer, restart, try(0), 2 the device's program ended, no verdict: no answer"),
    (log("nf"), "try(0), 1 no answer, restart, try(0), final"),
    // A requested stop is no fault: it is neither noted nor followed by a restart.
    (log("s+"), "try(0), no verdict: stopped, left +"),
    (log("ns"), "try(0), 1 no answer, restart, try(0), no verdict: stopped"),
    (log("n-", stopAfter: 0), "try(0), 1 no answer, no verdict: no answer, left -"),
    (log("x-", stopAfter: 0), "try(0), 1 link lost, no verdict: link lost, left -"),
    (log("nn-", stopAfter: 1), "try(0), 1 no answer, restart, try(0), 2 no answer, no verdict: no answer, left -"),
    (log("+", stopAfter: 0), "try(0), agreed"),
    // A device that does not come back has no further attempt.
    (log("n-", restarts: 0), "try(0), 1 no answer, restart, no verdict: no device, left -"),
    (log("nn-", restarts: 1), "try(0), 1 no answer, restart, try(0), 2 no answer, restart, no verdict: no device, left -"),
    // An earlier attempt counts, and is not repeated.
    (log("-", following: "n"), "1 no answer, restart, try(0), diverged"),
    (log("", following: "-"), "diverged"),
    (log("nn", following: "n"), "1 no answer, restart, try(0), 2 no answer, restart, try(0), 3 no answer, broken, stopped: silence"),
    // Without a limit of lost links the caller judges them.
    (log("x-", .single), "try(0), diverged, left -"), (log("x-", .ofCampaign), "try(0), diverged, left -"),
    (log("xx-", .drawn(maximumLosses: 2)), "try(0), 1 link lost, try(1), 2 link lost, no verdict: link lost, left -"),
  ]

  @Test("each attempt follows from those before it", arguments: logs)
  func attempts(log: String, expected: String) { expect(log, expected) }

  @Test("of no sequence of up to four attempts does the device get a divergence from faults of several kinds")
  func neverBlamed() {
    let letters = Array("+xne")
    for number in 0..<256 {
      let text = String((0..<4).map { letters[number >> (2 * $0) & 3] })
      let log = Self.log(text)
      guard log.contains(", stopped: ") else { continue }
      let faults = text.filter { "ne".contains($0) }
      #expect(["nnn", "eee", "nnne", "eeen", "nnnn", "eeee"].contains(faults), "\(text): \(log)")
    }
  }
}
