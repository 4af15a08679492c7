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

  /// Every shorter test that has not been run: cycles and short cuts, then single choices.
  ///
  /// A short cut that begins, or ends, with a cycle is compound: that cycle and a shorter short cut are reductions
  /// of their own.
  func cuts(ways: [Int: ModelPaths.Ways]) -> [Reduction] {
    var found: [Reduction] = []
    var numbers: [[Choice]: Int] = [:]
    func offer(_ kind: Reduction.Kind, _ start: Int, _ end: Int, by way: [Choice], isCompound: Bool) {
      let planned = Array(choices[..<start]) + way + choices[end...]
      let (performed, isKnown) = history.foresee(planned)
      guard !isKnown, performed.count < choices.count else { return }
      if let number = numbers[performed] {
        if found[number].isCompound, !isCompound { found[number].isCompound = false }
        return
      }
      numbers[performed] = found.count
      found.append(
        Reduction(
          kind: kind, choices: performed, removed: removed(start..<end, for: way), isCompound: isCompound))
    }
    for start in choices.indices {
      let from = situations[start]
      var isBackAtStart = false
      let waysOn = from.node >= 0 ? ways[from.node] : nil
      for end in choices.indices.dropFirst(start + 1) {
        let to = situations[end]
        if to.position == from.position {
          offer(.cycle, start, end, by: [], isCompound: false)
          isBackAtStart = true
        } else if to.node >= 0, let way = waysOn?[to: to.node], way.count < end - start {
          let isBackAtEnd = situations[(start + 1)..<end].contains { $0.position == to.position }
          offer(.shortCut, start, end, by: way, isCompound: isBackAtStart || isBackAtEnd)
        }
      }
    }
    for index in choices.indices { offer(.single, index, index + 1, by: [], isCompound: false) }
    return found
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

  /// The choices of a stretch that are not part of what replaces it: all but a longest common subsequence.
  private func removed(_ stretch: Range<Int>, for way: [Choice]) -> [Int] {
    guard !way.isEmpty else { return Array(stretch) }
    let width = way.count + 1
    // The length of the longest common subsequence of what follows a place of the stretch and one of the way.
    var common = [Int](repeating: 0, count: (stretch.count + 1) * width)
    for row in stretch.indices.reversed() {
      let place = row - stretch.lowerBound
      for column in way.indices.reversed() {
        common[place * width + column] =
          choices[row] == way[column]
          ? common[(place + 1) * width + column + 1] + 1
          : max(common[(place + 1) * width + column], common[place * width + column + 1])
      }
    }
    var removed: [Int] = []
    var column = 0
    for index in stretch {
      let place = index - stretch.lowerBound
      while column < way.count, way[column] != choices[index],
        common[place * width + column + 1] == common[place * width + column]
      {
        column += 1
      }
      if column < way.count, way[column] == choices[index] {
        column += 1
      } else {
        removed.append(index)
      }
    }
    return removed
  }
}
