/// How likely it is that the failure needs each choice of the failing test.
///
/// Before anything was tried, a choice is the more likely to matter the closer to the failure it is. A candidate
/// that does not fail shows that something was needed of what it leaves out: the likelihoods of those choices are
/// raised by Bayes' rule, each by the same factor, as in probabilistic delta debugging (Wang et al., 2021).
struct ShrinkerEvidence: Sendable {
  /// The likelihood of a choice of which nothing is known.
  private static let usual = 0.02
  /// What the last choice has beyond that, and by which factor each one before it has less.
  private static let last = 0.6
  private static let fading = 0.7

  private(set) var needed: [Double]

  init(count: Int) {
    needed = [Double](repeating: Self.usual, count: count)
    var recency = Self.last
    for index in needed.indices.reversed() {
      needed[index] += recency
      recency *= Self.fading
    }
  }

  /// The chance that a test still fails without some of its choices.
  func chance(without removed: [Int]) -> Double {
    removed.reduce(1) { $0 * (1 - needed[$1]) }
  }

  /// The chance at the most that a test still fails without a stretch, for many stretches.
  var stretches: (Range<Int>) -> Double {
    // A chance is one by the product of all 1 + odds, which is no less than one more than their sum.
    var sums = [0.0]
    for likelihood in needed { sums.append(sums[sums.count - 1] + likelihood / (1 - likelihood)) }
    return { 1 / (1 + sums[$0.upperBound] - sums[$0.lowerBound]) }
  }

  /// Takes in that a test did not fail without some of its choices.
  mutating func refute(_ removed: [Int]) {
    let doubt = 1 - chance(without: removed)
    guard doubt > 0 else { return }
    for index in removed { needed[index] = min(needed[index] / doubt, 0.999) }
  }

  /// Goes on with a shorter test: what both begin and end with keeps what is known of it.
  mutating func follow(from old: [Choice], to new: [Choice]) {
    let limit = min(old.count, new.count)
    var front = 0
    while front < limit, old[front] == new[front] { front += 1 }
    var back = 0
    while back < limit - front, old[old.count - 1 - back] == new[new.count - 1 - back] { back += 1 }
    needed =
      Array(needed[..<front]) + [Double](repeating: Self.usual, count: new.count - front - back)
      + Array(needed[(needed.count - back)...])
  }
}
