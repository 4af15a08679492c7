/// The likelihood that the failure needs each choice of the failing test.
///
/// Before any candidate was run, a choice is the likelier to matter, the closer it is to the failure; a refusal is
/// less likely to. A candidate that does not fail shows that the failure needs some of the choices that it removes.
/// The likelihoods of these choices are raised by Bayes' rule, each by the same factor, as in probabilistic delta
/// debugging (Wang et al., 2021).
struct ShrinkerEvidence: Sendable {
  /// The likelihood of a choice without any evidence.
  private static let usual = 0.02
  /// The addition for the last choice, and the factor by which it decreases with each choice before.
  private static let last = 0.6
  private static let fading = 0.7
  /// The factor for a refusal.
  private static let refused = 0.4

  private(set) var needed: [Double]

  init(_ choices: [Choice]) {
    needed = [Double](repeating: Self.usual, count: choices.count)
    var recency = Self.last
    for index in needed.indices.reversed() {
      needed[index] += recency
      recency *= Self.fading
      if choices[index].isForbidden { needed[index] *= Self.refused }
    }
  }

  /// Returns the chance that a test still fails without some of its choices.
  func chance(without removed: [Int]) -> Double {
    removed.reduce(1) { $0 * (1 - needed[$1]) }
  }

  /// Returns the odds that a choice is needed.
  ///
  /// The inverse of ``chance(without:)`` is the product of all 1 + odds, which is at least one plus their sum.
  func odds(of choice: Int) -> Double { needed[choice] / (1 - needed[choice]) }

  /// Returns the greatest odds among the choices of a stretch.
  func odds(ofAny stretch: Range<Int32>) -> Double {
    stretch.reduce(0) { max($0, odds(of: Int($1))) }
  }

  /// Records that a test without some of its choices did not fail.
  mutating func refute(_ removed: [Int]) {
    let doubt = 1 - chance(without: removed)
    guard doubt > 0 else { return }
    for index in removed { needed[index] = min(needed[index] / doubt, 0.999) }
  }

  /// Continues with a shorter test. Each choice keeps the likelihood of its origin in the old test.
  mutating func follow(_ origins: [Int]) {
    needed = origins.map { $0 < 0 ? Self.usual : needed[$0] }
  }
}
