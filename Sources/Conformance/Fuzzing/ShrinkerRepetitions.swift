import Basics

// A sequence that a failing test repeats many times in a row is one element with a count. The count is reduced, and
// the sequence is simplified in all repetitions at once. One by one, 256 equal requests would take 256 runs, each
// almost as long.

extension ReductionFinder {
  /// The minimum count of a repeated sequence, and the maximum number of choices in it.
  private static let (leastTimes, longestCycle) = (8, 3)

  /// Returns the repeated sequences of a test: the first index, the number of choices, and the count.
  static func repetitions(of choices: [Choice]) -> [(begin: Int, length: Int, times: Int)] {
    choices.repetitions(of: longestCycle).filter { $0.times >= leastTimes }.map {
      ($0.elements.startIndex, $0.elements.count, $0.times)
    }
  }

  /// Returns whether a stretch may begin or end before each choice, or after the last one. It must not do so inside a
  /// repeated sequence.
  static func edges(of count: Int, _ repetitions: [(begin: Int, length: Int, times: Int)]) -> [Bool] {
    var edges = [Bool](repeating: true, count: count + 1)
    for item in repetitions {
      for index in (item.begin + 1)..<(item.begin + item.length * item.times) { edges[index] = false }
    }
    return edges
  }

  /// Returns the plans that remove half of each repeated sequence, a quarter of it, and so on, down to one
  /// repetition. They skip counts that were too small before. Removing one repetition is always included: a count
  /// that was too small then may suffice now.
  func halvings(_ tooFew: [Choice: Int]) -> [ReductionPlan] {
    repetitions.flatMap { item in
      var plans: [ReductionPlan] = []
      var fewer = max(1, (item.times - min(tooFew[choices[item.begin]] ?? 0, item.times)) / 2)
      while fewer > 0 {
        plans.append(plan(.repetition, item.begin..<(item.begin + fewer * item.length)))
        fewer /= 2
      }
      return plans
    }
  }

  /// Returns the plans that remove a single choice; of a repeated sequence, only the choices of the first repetition.
  func singles() -> [ReductionPlan] {
    choices.indices.filter { isSingle($0) }.map { plan(.single, $0..<($0 + 1)) }
  }

  private func isSingle(_ index: Int) -> Bool {
    !repetitions.contains { (($0.begin + $0.length)..<($0.begin + $0.length * $0.times)).contains(index) }
  }

  /// Returns the choices that are simplified together: each one alone, but in a repeated sequence the same one of
  /// every repetition.
  func simplificationGroups() -> [[Int]] {
    choices.indices.filter { isSingle($0) }.map { index in
      guard let item = repetitions.first(where: { ($0.begin..<($0.begin + $0.length)).contains(index) })
      else {
        return [index]
      }
      return (0..<item.times).map { index + $0 * item.length }
    }
  }

  /// Returns the first choice of a repeated sequence and the count that a plan leaves; `nil` for any other plan.
  func left(by plan: ReductionPlan) -> (choice: Choice, times: Int)? {
    guard plan.kind == .repetition,
      let item = repetitions.first(where: { $0.begin == plan.stretch.lowerBound })
    else { return nil }
    return (choices[item.begin], item.times - plan.stretch.count / item.length)
  }
}
