/// How likely it is that the failure needs each choice of the failing test.
///
/// Before anything was tried, a choice is the more likely to matter the closer to the failure it is, and less when
/// it is to be refused. A candidate that does not fail shows that something was needed of what it leaves out: the
/// likelihoods of those choices are raised by Bayes' rule, each by the same factor, as in probabilistic delta
/// debugging (Wang et al., 2021).
struct ShrinkerEvidence: Sendable {
  /// The likelihood of a choice of which nothing is known.
  private static let usual = 0.02
  /// What the last choice has beyond that, and by which factor each one before it has less.
  private static let last = 0.6
  private static let fading = 0.7
  /// By how much that is less for what is to be refused.
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

  /// The chance that a test still fails without some of its choices.
  func chance(without removed: [Int]) -> Double {
    removed.reduce(1) { $0 * (1 - needed[$1]) }
  }

  /// How likely a choice is to be needed, as odds.
  ///
  /// A chance is one by the product of all 1 + odds, which is no less than one more than their sum.
  func odds(of choice: Int) -> Double { needed[choice] / (1 - needed[choice]) }

  /// How likely the one of some equal choices is to be needed that is so most, as odds.
  func odds(ofAny stretch: Range<Int32>) -> Double {
    stretch.reduce(0) { max($0, odds(of: Int($1))) }
  }

  /// Records that a test without some of its choices did not fail.
  mutating func refute(_ removed: [Int]) {
    let doubt = 1 - chance(without: removed)
    guard doubt > 0 else { return }
    for index in removed { needed[index] = min(needed[index] / doubt, 0.999) }
  }

  /// Goes on with a shorter test: a choice that was one of the old ones, by its place there, keeps what is known.
  mutating func follow(_ origins: [Int]) {
    needed = origins.map { $0 < 0 ? Self.usual : needed[$0] }
  }
}
