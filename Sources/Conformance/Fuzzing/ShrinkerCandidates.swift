/// A reduction of a failing test.
struct Reduction: Sendable {
  /// The kind of change, in the order in which ``Shrinker`` lists them.
  enum Kind: UInt8, Sendable {
    /// Remove a stretch that leads back to where it began.
    case cycle
    /// Replace a stretch by the model's shortest path between its ends.
    case shortCut
    /// Replace the beginning by the model's shortest path from another start.
    case otherStart
    /// Keep only the choices of one kind, and those that probably matter.
    case oneKind
    /// Remove a single choice.
    case single
    /// Replace a choice by a simpler one.
    case simpler
    /// Reduce the count of a repeated sequence.
    case repetition
  }

  var kind: Kind
  /// The test to run, without choices that are known to be skipped.
  var test: TestCase
  /// The position of each choice in the failing test; -1 for a new choice.
  var origins: [Int]
  /// The positions in the failing test of the choices that were removed or replaced.
  var removed: [Int]
  /// The first choice of the repeated sequence whose count is reduced, and the new count.
  var left: (choice: Choice, times: Int)?
}

/// Finds the reductions of a failing test.
struct ReductionFinder: Sendable {
  let alphabet: Alphabet
  /// The failing test.
  let test: TestCase
  /// The exploration state before each of its choices.
  let explorationStates: [ExplorationState]
  /// The node in which each start begins; -1 if it is not unique.
  let starts: [Int]
  /// The shortest paths from each node of the test, and from the starts.
  let shortestPaths: [Int: ModelPaths.ShortestPaths]

  /// Its repeated sequences: the first index, the number of choices, and the count.
  let repetitions: [(begin: Int, length: Int, times: Int)]
  /// Whether a stretch may begin or end before each choice, or after the last one.
  private let edges: [Bool]

  var choices: [Choice] { test.choices }

  /// The likelihood below which a choice counts as useless.
  private static let useless = 0.1
  /// The maximum odds that any useless choice is needed, up to which all of them are removed at once.
  private static let maximumUselessOdds = 1.0
  /// The likelihood from which a choice counts as useful.
  private static let useful = 0.3

  init(
    _ alphabet: Alphabet, _ test: TestCase, _ explorationStates: [ExplorationState], starts: [Int],
    shortestPaths: [Int: ModelPaths.ShortestPaths]
  ) {
    self.alphabet = alphabet
    self.test = test
    self.explorationStates = explorationStates
    self.starts = starts
    self.shortestPaths = shortestPaths
    repetitions = Self.repetitions(of: test.choices)
    edges = Self.edges(of: test.choices.count, repetitions)
  }

  /// Returns everything that might shorten the test, with the upper bounds of its value.
  ///
  /// - Parameter tooFew: the maximum number of repetitions of each choice with which the test did not fail.
  func plans(_ evidence: ShrinkerEvidence, tooFew: [Choice: Int]) -> [ReductionPlan] {
    var plans = cuts() + otherStarts() + singles() + halvings(tooFew)
    var odds = [0.0]
    var uselessOdds = [0.0]
    var uselessCounts = [0]
    for (index, choice) in choices.enumerated() {
      let own = evidence.odds(of: index)
      let isUseless = isUseless(choice, evidence.needed[index])
      odds.append(odds[index] + own)
      uselessOdds.append(uselessOdds[index] + (isUseless ? own : 0))
      uselessCounts.append(uselessCounts[index] + (isUseless ? 1 : 0))
    }
    func inside<Number: AdditiveArithmetic>(_ sums: [Number], _ plan: ReductionPlan) -> Number {
      sums[Int(plan.stretch.upperBound)] - sums[Int(plan.stretch.lowerBound)]
    }
    for index in plans.indices {
      let plan = plans[index]
      var risk = inside(odds, plan)
      var saved = plan.stretch.count - lengthOfShortestPath(plan)
      let left = uselessOdds[choices.count] - inside(uselessOdds, plan)
      let more = uselessCounts[choices.count] - inside(uselessCounts, plan)
      if plan.kind == .repetition {
        risk = evidence.odds(ofAny: plan.stretch)
      } else if more > 0, left <= Self.maximumUselessOdds, plan.kind != .single {
        plans[index].removesUseless = true
        risk += left
        saved += more
      }
      let chance = 1 / (1 + risk) * (plan.kind == .single ? Shrinker.unjoined : 1)
      plans[index].value = Shrinker.value(chance, saved: saved, of: choices.count)
    }
    return plans
  }

  /// Returns the test that a plan results in, and whether its result is already known.
  func reduction(
    _ plan: ReductionPlan, _ evidence: ShrinkerEvidence, _ history: ShrinkerHistory,
    from path: ShrinkerHistory.Path
  ) -> (reduction: Reduction, isKnown: Bool) {
    var planned = TestCase(start: Int(plan.start))
    var origins: [Int] = []
    planned.choices.reserveCapacity(choices.count)
    origins.reserveCapacity(choices.count)
    func keep(_ stretch: Range<Int>) {
      for index in stretch where !plan.removesUseless || !isUseless(choices[index], evidence.needed[index]) {
        planned.choices.append(choices[index])
        origins.append(index)
      }
    }
    let stretch = Int(plan.stretch.lowerBound)..<Int(plan.stretch.upperBound)
    keep(0..<stretch.lowerBound)
    if let ends = ends(plan), let shortestPath = shortestPaths[ends.from]?[to: ends.to], !shortestPath.isEmpty
    {
      planned.choices += shortestPath
      origins += positions(of: shortestPath, in: stretch)
    }
    keep(stretch.upperBound..<choices.count)
    var result = predicted(plan.kind, planned, origins, history, from: path)
    result.reduction.left = left(by: plan)
    return result
  }

  /// Returns the tests that keep only choices of one kind and useful ones, with the model's shortest paths between
  /// them: one test for each kind, the shortest first.
  func singleKindTests(
    _ evidence: ShrinkerEvidence, _ history: ShrinkerHistory, from path: ShrinkerHistory.Path
  ) -> [Reduction] {
    let kinds = Set(choices.map { Choice(Int($0.act), isForbidden: $0.isForbidden) }).sorted()
    let found = kinds.map { kind in
      var planned = TestCase(start: test.start)
      var origins: [Int] = []
      var next = 0
      for (index, choice) in choices.enumerated() {
        let isOfKind = choice.act == kind.act && choice.isForbidden == kind.isForbidden
        guard isOfKind || evidence.needed[index] >= Self.useful || index == choices.count - 1 else {
          continue
        }
        if let shortestPath = shortestPaths[explorationStates[next].node]?[to: explorationStates[index].node]
        {
          planned.choices += shortestPath
          origins += shortestPath.map { _ in -1 }
        }
        planned.choices.append(choice)
        origins.append(index)
        next = index + 1
      }
      return predicted(.oneKind, planned, origins, history, from: path).reduction
    }
    return found.filter { $0.test.choices.count < choices.count }.sorted { $0.test < $1.test }
  }

  private func predicted(
    _ kind: Reduction.Kind, _ planned: TestCase, _ origins: [Int], _ history: ShrinkerHistory,
    from path: ShrinkerHistory.Path
  ) -> (reduction: Reduction, isKnown: Bool) {
    let (made, isKnown) = history.predict(planned, from: path)
    var reduction = Reduction(kind: kind, test: planned, origins: origins, removed: [])
    if made.count < planned.choices.count {
      reduction.test.choices = made.map { planned.choices[$0] }
      reduction.origins = made.map { origins[$0] }
    }
    reduction.removed = removed(reduction.origins)
    return (reduction, isKnown)
  }

  /// Returns all tests of the same length with simpler choices, first the one with every choice in its simplest
  /// variant.
  func simplifications() -> [Reduction] {
    var planned: [[Choice]] = [choices.map { Choice(Int($0.act), isForbidden: $0.isForbidden) }]
    let replacementSelfLoops = choices.indices.map(replacementSelfLoops)
    for act in Set(replacementSelfLoops.joined()).sorted() {
      planned.append(
        choices.indices.map { replacementSelfLoops[$0].contains(act) ? Choice(act) : choices[$0] })
    }
    for indices in simplificationGroups() {
      let index = indices[0]
      for simpler in simpler(than: choices[index]) + replacementSelfLoops[index].prefix(1).map({ Choice($0) })
      {
        planned.append(choices)
        for index in indices { planned[planned.count - 1][index] = simpler }
      }
    }
    return planned.compactMap { plan in
      guard plan != choices else { return nil }
      return Reduction(
        kind: .simpler, test: TestCase(start: test.start, plan), origins: Array(choices.indices),
        removed: choices.indices.filter { plan[$0] != choices[$0] })
    }
  }

  /// Returns the stimuli that change nothing where a choice moves the motor, such as a request for a value.
  private func replacementSelfLoops(at index: Int) -> [Int] {
    guard alphabet.moves(choices[index]), index < explorationStates.count else { return [] }
    var acts: [Int] = []
    forEachBit(of: explorationStates[index].legal & explorationStates[index].idle & ~alphabet.moving) { act in
      if !alphabet.acts[act].variants.isEmpty { acts.append(act) }
    }
    return acts
  }

  /// Returns the replacements to try for a choice: settling, for a wait or a movement; simpler movements; its
  /// simplest variant, the variant halfway there, and the next simpler one.
  private func simpler(than choice: Choice) -> [Choice] {
    var simpler: [Choice] = []
    let act = Int(choice.act)
    if act == alphabet.wait || act == alphabet.edge || alphabet.moves(choice),
      !alphabet.acts[alphabet.settle].variants.isEmpty
    {
      simpler.append(Choice(alphabet.settle))
    }
    // The effect of a toggle depends on the state before it; without toggles, a test can be shortened anywhere.
    if alphabet.moves(choice) {
      simpler += (0..<act).filter { alphabet.moves(Choice($0)) }.map { Choice($0) }
    }
    let variant = Int(choice.variant)
    for lower in [0, variant / 2, variant - 1] where lower >= 0 && lower < variant {
      let choice = Choice(act, variant: lower, isForbidden: choice.isForbidden)
      if !simpler.contains(choice) { simpler.append(choice) }
    }
    return simpler
  }

  /// Returns whether a choice is not an allowed stimulus and probably does not matter.
  private func isUseless(_ choice: Choice, _ needed: Double) -> Bool {
    (choice.isForbidden || Int(choice.act) >= alphabet.eventCount) && needed < Self.useless
  }

  /// Returns the positions of a path's choices in the stretch that it replaces, -1 for a new one: a longest common
  /// subsequence.
  private func positions(of shortestPath: [Choice], in stretch: Range<Int>) -> [Int] {
    let width = shortestPath.count + 1
    // The length of the longest common subsequence of the rest of the stretch and the rest of the path, by position.
    var common = [Int](repeating: 0, count: (stretch.count + 1) * width)
    for row in (0..<stretch.count).reversed() {
      for column in shortestPath.indices.reversed() {
        common[row * width + column] =
          choices[stretch.lowerBound + row] == shortestPath[column]
          ? common[(row + 1) * width + column + 1] + 1
          : max(common[(row + 1) * width + column], common[row * width + column + 1])
      }
    }
    var positions = [Int](repeating: -1, count: shortestPath.count)
    var column = 0
    for row in 0..<stretch.count {
      while column < shortestPath.count, shortestPath[column] != choices[stretch.lowerBound + row],
        common[row * width + column + 1] == common[row * width + column]
      {
        column += 1
      }
      guard column < shortestPath.count, shortestPath[column] == choices[stretch.lowerBound + row] else {
        continue
      }
      positions[column] = stretch.lowerBound + row
      column += 1
    }
    return positions
  }

  private func removed(_ origins: [Int]) -> [Int] {
    var removed: [Int] = []
    var next = 0
    for origin in origins where origin >= 0 {
      removed += next..<origin
      next = origin + 1
    }
    return removed + (next..<choices.count)
  }
}

extension ReductionFinder {
  func plan(
    _ kind: Reduction.Kind, _ stretch: Range<Int>, start: Int? = nil, isCompound: Bool = false
  ) -> ReductionPlan {
    ReductionPlan(
      kind: kind, start: Int32(start ?? test.start),
      stretch: Int32(stretch.lowerBound)..<Int32(stretch.upperBound), isCompound: isCompound)
  }

  /// Returns every cycle and every short cut of the test.
  ///
  /// A short cut that begins, or ends, with a cycle is compound: that cycle and a shorter short cut are reductions
  /// of their own.
  private func cuts() -> [ReductionPlan] {
    var plans: [ReductionPlan] = []
    let before = earlier
    for start in choices.indices where edges[start] {
      let from = explorationStates[start]
      let onward = from.node >= 0 ? shortestPaths[from.node] : nil
      var isBackAtStart = false
      for end in choices.indices.dropFirst(start + 1) where edges[end] {
        let to = explorationStates[end]
        if to.position == from.position {
          plans.append(plan(.cycle, start..<end))
          isBackAtStart = true
        } else if to.node >= 0, let onward, onward.length(to: to.node) < end - start {
          plans.append(plan(.shortCut, start..<end, isCompound: isBackAtStart || before[end] > start))
        }
      }
    }
    return plans
  }

  /// The previous choice at which the test was in the same position, for each choice; -1 for a new position.
  private var earlier: [Int] {
    var last: [UInt64: Int] = [:]
    return explorationStates.enumerated().map { last.updateValue($0, forKey: $1.position) ?? -1 }
  }

  /// Returns every other start, joined with each position of the test.
  ///
  /// A plan is compound if the path from its start meets the earlier part of the test.
  private func otherStarts() -> [ReductionPlan] {
    var plans: [ReductionPlan] = []
    for start in starts.indices where start != test.start {
      guard let onward = shortestPaths[starts[start]] else { continue }
      var met: Set<Int> = []
      for (end, explorationState) in explorationStates.enumerated()
      where end > 0 && explorationState.node >= 0 && edges[end] {
        met.insert(explorationStates[end - 1].node)
        guard onward.length(to: explorationState.node) < end else { continue }
        let isCompound =
          met.contains(explorationState.node) || onward.passes(met, before: explorationState.node)
        plans.append(plan(.otherStart, 0..<end, start: start, isCompound: isCompound))
      }
    }
    return plans
  }

  private func lengthOfShortestPath(_ plan: ReductionPlan) -> Int {
    ends(plan).flatMap { shortestPaths[$0.from]?.length(to: $0.to) } ?? 0
  }

  /// Returns the nodes that the path of a plan connects; `nil` if its stretch is removed.
  private func ends(_ plan: ReductionPlan) -> (from: Int, to: Int)? {
    guard plan.kind == .shortCut || plan.kind == .otherStart else { return nil }
    let from =
      plan.kind == .otherStart
      ? starts[Int(plan.start)] : explorationStates[Int(plan.stretch.lowerBound)].node
    return (from, explorationStates[Int(plan.stretch.upperBound)].node)
  }
}
