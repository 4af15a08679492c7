/// One way to make a failing test simpler.
struct Reduction: Sendable {
  /// What is done to the test, in the order in which ``Shrinker`` speaks of it.
  enum Kind: Int, Sendable {
    /// A stretch is left out that leads back to where it began.
    case cycle
    /// A stretch is replaced by the model's shortest way between its ends.
    case shortCut
    /// One choice is left out.
    case single
    /// A choice is made another one that is simpler.
    case simpler
  }

  var kind: Kind
  /// The choices that are to be made, without those that are known to be left out.
  var choices: [Choice]
  /// The choices of the failing test that are gone.
  var removed: [Int]
  /// Whether it is no more than others together, so that it need not be refuted as well.
  var isCompound = false
}

/// Finds the reductions of a failing test.
struct ReductionFinder {
  let alphabet: Alphabet
  let history: ShrinkerHistory
  /// The choices of the failing test.
  let choices: [Choice]
  /// Where the test stood before each of them.
  let situations: [Situation]

  /// What might be done, before it is known whether it comes to anything new.
  private struct Plan {
    var kind: Reduction.Kind
    var stretch: Range<Int>
    var way: [Choice] = []
    var isCompound = false
    var value = 0.0
  }

  /// The shorter tests that have not been run: cycles and short cuts, then single choices.
  ///
  /// - Parameter most: how many are looked into, those that promise most; a long test has very many.
  func cuts(ways: [Int: ModelPaths.Ways], evidence: ShrinkerEvidence, most: Int) -> [Reduction] {
    var plans = plans(ways: ways)
    if plans.count > most {
      let chances = evidence.stretches
      for index in plans.indices {
        let plan = plans[index]
        let saved = plan.stretch.count - plan.way.count
        plans[index].value =
          chances(plan.stretch) * Double(saved) / Double(choices.count - saved + 1)
      }
      plans.sort { ($0.value, $1.stretch.lowerBound) > ($1.value, $0.stretch.lowerBound) }
      plans.removeLast(plans.count - most)
    }
    var found: [Reduction] = []
    var numbers: [[Choice]: Int] = [:]
    for plan in plans {
      let planned =
        Array(choices[..<plan.stretch.lowerBound]) + plan.way + choices[plan.stretch.upperBound...]
      let (performed, isKnown) = history.foresee(planned)
      guard !isKnown, performed.count < choices.count else { continue }
      if let number = numbers[performed] {
        if !plan.isCompound { found[number].isCompound = false }
        continue
      }
      numbers[performed] = found.count
      found.append(
        Reduction(
          kind: plan.kind, choices: performed, removed: removed(for: performed), isCompound: plan.isCompound))
    }
    return found
  }

  /// Every cycle, short cut and single choice of the test.
  ///
  /// A short cut that begins, or ends, with a cycle is compound: that cycle and a shorter short cut are reductions
  /// of their own.
  private func plans(ways: [Int: ModelPaths.Ways]) -> [Plan] {
    var plans: [Plan] = []
    // Where the test was last at the position that it has before each choice.
    var before: [Int] = []
    var last: [UInt64: Int] = [:]
    for (index, situation) in situations.enumerated() {
      before.append(last.updateValue(index, forKey: situation.position) ?? -1)
    }
    for start in choices.indices {
      let from = situations[start]
      let onward = from.node >= 0 ? ways[from.node] : nil
      var known: [Int: [Choice]] = [:]
      var isBackAtStart = false
      for end in choices.indices.dropFirst(start + 1) {
        let to = situations[end]
        if to.position == from.position {
          plans.append(Plan(kind: .cycle, stretch: start..<end))
          isBackAtStart = true
        } else if to.node >= 0, let onward {
          guard let way = known[to.node] ?? onward[to: to.node] else { continue }
          known[to.node] = way
          guard way.count < end - start else { continue }
          plans.append(
            Plan(
              kind: .shortCut, stretch: start..<end, way: way,
              isCompound: isBackAtStart || before[end] > start)
          )
        }
      }
    }
    return plans + choices.indices.map { Plan(kind: .single, stretch: $0..<($0 + 1)) }
  }

  /// Every test of the same length with simpler choices that has not been run, all simplest together first.
  func simplifications() -> [Reduction] {
    var planned: [[Choice]] = [choices.map { Choice(Int($0.act), isForbidden: $0.isForbidden) }]
    for (index, choice) in choices.enumerated() {
      for simpler in simpler(than: choice) {
        planned.append(choices)
        planned[planned.count - 1][index] = simpler
      }
    }
    return planned.compactMap { plan in
      guard plan != choices else { return nil }
      let (performed, isKnown) = history.foresee(plan)
      guard !isKnown, performed.count < choices.count || performed.lexicographicallyPrecedes(choices) else {
        return nil
      }
      let removed = choices.indices.filter { plan[$0] != choices[$0] }
      return Reduction(kind: .simpler, choices: performed, removed: removed)
    }
  }

  /// What to try instead of a choice: its simplest variant, one half as far from it, the next simpler one; and
  /// settling instead of a wait.
  private func simpler(than choice: Choice) -> [Choice] {
    var simpler: [Choice] = []
    let act = Int(choice.act)
    if act == alphabet.wait || act == alphabet.edge, !alphabet.acts[alphabet.settle].variants.isEmpty {
      simpler.append(Choice(alphabet.settle))
    }
    let variant = Int(choice.variant)
    for lower in [0, variant / 2, variant - 1] where lower >= 0 && lower < variant {
      let choice = Choice(act, variant: lower, isForbidden: choice.isForbidden)
      if !simpler.contains(choice) { simpler.append(choice) }
    }
    return simpler
  }

  /// The choices of the failing test that a candidate lacks: all but a longest common subsequence.
  private func removed(for candidate: [Choice]) -> [Int] {
    let limit = min(choices.count, candidate.count)
    var front = 0
    while front < limit, choices[front] == candidate[front] { front += 1 }
    var back = 0
    while back < limit - front,
      choices[choices.count - 1 - back] == candidate[candidate.count - 1 - back]
    {
      back += 1
    }
    let stretch = front..<(choices.count - back)
    let way = Array(candidate[front..<(candidate.count - back)])
    guard !way.isEmpty else { return Array(stretch) }
    let width = way.count + 1
    // The length of the longest common subsequence of what follows a place of the stretch and one of the way.
    var common = [Int](repeating: 0, count: (stretch.count + 1) * width)
    for place in (0..<stretch.count).reversed() {
      for column in way.indices.reversed() {
        common[place * width + column] =
          choices[front + place] == way[column]
          ? common[(place + 1) * width + column + 1] + 1
          : max(common[(place + 1) * width + column], common[place * width + column + 1])
      }
    }
    var removed: [Int] = []
    var column = 0
    for place in 0..<stretch.count {
      while column < way.count, way[column] != choices[front + place],
        common[place * width + column + 1] == common[place * width + column]
      {
        column += 1
      }
      if column < way.count, way[column] == choices[front + place] {
        column += 1
      } else {
        removed.append(front + place)
      }
    }
    return removed
  }
}
