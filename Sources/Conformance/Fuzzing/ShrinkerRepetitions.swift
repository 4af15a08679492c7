import Basics

// What a failing test does many times in a row is one thing that has a number: the number is made smaller, and what is done
// is made simpler each time at once. One by one, 256 equal requests would take as many runs, each of as many.

extension ReductionFinder {
  /// What stands so often in a row has a number, and so many choices are looked for in turn.
  private static let (leastTimes, longestCycle) = (8, 3)

  /// Where the test does something many times in a row: the first index, how many choices that are, and how often.
  static func repetitions(of choices: [Choice]) -> [(begin: Int, length: Int, times: Int)] {
    choices.repetitions(of: longestCycle).filter { $0.times >= leastTimes }.map {
      ($0.elements.startIndex, $0.elements.count, $0.times)
    }
  }

  /// Whether a stretch may begin or end before each choice, or behind the last: inside a repetition it may not.
  static func edges(of count: Int, _ repetitions: [(begin: Int, length: Int, times: Int)]) -> [Bool] {
    var edges = [Bool](repeating: true, count: count + 1)
    for item in repetitions {
      for index in (item.begin + 1)..<(item.begin + item.length * item.times) { edges[index] = false }
    }
    return edges
  }

  /// Every repetition with half its number, with three quarters of it and so on, but for what was too few before. One less is
  /// always among them: what was too few then need not be so any more.
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

  /// Every choice that is left out by itself: of a repetition those of the first time.
  func singles() -> [ReductionPlan] {
    choices.indices.filter { isSingle($0) }.map { plan(.single, $0..<($0 + 1)) }
  }

  private func isSingle(_ index: Int) -> Bool {
    !repetitions.contains { (($0.begin + $0.length)..<($0.begin + $0.length * $0.times)).contains(index) }
  }

  /// The choices that are made simpler together: each alone, and of a repetition the same one of each time.
  func together() -> [[Int]] {
    choices.indices.filter { isSingle($0) }.map { index in
      guard let item = repetitions.first(where: { ($0.begin..<($0.begin + $0.length)).contains(index) })
      else {
        return [index]
      }
      return (0..<item.times).map { index + $0 * item.length }
    }
  }

  /// How often a repetition is left by a plan, by its first choice.
  func left(by plan: ReductionPlan) -> (choice: Choice, times: Int)? {
    guard plan.kind == .repetition,
      let item = repetitions.first(where: { $0.begin == plan.stretch.lowerBound })
    else { return nil }
    return (choices[item.begin], item.times - plan.stretch.count / item.length)
  }
}
