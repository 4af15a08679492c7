import Conformance
import Harness
import TestSupport
import Testing

@Suite("The score of a test suite")
struct MutationScoreTests {
  @Test("of the mutants that can be told from the machine, those that a test detected are a percentage")
  func score() {
    // Killed, survived, equivalent, undecided.
    let rows: [(counts: [Int], percent: Double)] = [
      ([0, 0, 0, 0], 100), ([0, 0, 5, 0], 100), ([3, 1, 0, 0], 75), ([3, 1, 4, 0], 75), ([3, 0, 4, 1], 75),
      ([0, 1, 0, 0], 0), ([4, 0, 9, 0], 100),
    ]
    for (counts, percent) in rows {
      var score = MutationScore()
      for _ in 0..<counts[0] { score.count(.killed(by: "a")) }
      for _ in 0..<counts[2] { score.count(.equivalent(pairs: 1)) }
      for _ in 0..<counts[3] { score.count(.undecided(pairs: 1)) }
      score.survived = counts[1]
      expect([score.killed, score.survived, score.equivalent, score.undecided], counts)
      expect(score.percent, percent)
      expect((score + score).count, 2 * counts.reduce(0, +))
      expect((score + score).percent, percent)
    }
  }
}
