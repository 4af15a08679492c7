/// One way to make a failing test simpler.
struct Reduction: Sendable {
  /// What is done to the test, in the order in which ``Shrinker`` speaks of it.
  enum Kind: UInt8, Sendable {
    /// A stretch is left out that leads back to where it began.
    case cycle
    /// A stretch is replaced by the model's shortest way between its ends.
    case shortCut
    /// The beginning is replaced by the model's shortest way from another start.
    case otherStart
    /// One choice is left out.
    case single
    /// A choice is made another one that is simpler.
    case simpler
  }

  var kind: Kind
  /// The test that is to be run, without choices that are known to be left out.
  var test: TestCase
  /// The place in the failing test of each choice; -1 for a new one.
  var origins: [Int]
  /// The choices of the failing test that are gone.
  var removed: [Int]
}

/// Finds the reductions of a failing test.
struct ReductionFinder: Sendable {
  let alphabet: Alphabet
  /// The failing test.
  let test: TestCase
  /// Where it stood before each of its choices.
  let situations: [Situation]
  /// The node at which each start begins.
  let starts: [Int]
  /// The shortest ways from each node of the test, and from the starts.
  let ways: [Int: ModelPaths.Ways]

  private var choices: [Choice] { test.choices }

  /// The likelihood of a choice that nothing speaks for.
  private static let useless = 0.1
  /// The odds against leaving out all useless choices at once, at the most.
  private static let bareOdds = 1.0
  /// How many of the last choices are tried as the end of a test that keeps one choice more.
  private static let tail = 12

  init(
    _ alphabet: Alphabet, _ test: TestCase, _ situations: [Situation], starts: [Int],
    ways: [Int: ModelPaths.Ways]
  ) {
    self.alphabet = alphabet
    self.test = test
    self.situations = situations
    self.starts = starts
    self.ways = ways
  }

  /// Everything that might shorten the test, with what it promises at the most.
  func plans(_ evidence: ShrinkerEvidence) -> [ReductionPlan] {
    var plans = cuts() + otherStarts() + landmarks()
    plans += choices.indices.map { plan(.single, $0..<($0 + 1)) }
    var odds = [0.0]
    var bareOdds = [0.0]
    var bare = [0]
    for (index, choice) in choices.enumerated() {
      let own = evidence.odds(of: index)
      let isBare = isUseless(choice, evidence.needed[index])
      odds.append(odds[index] + own)
      bareOdds.append(bareOdds[index] + (isBare ? own : 0))
      bare.append(bare[index] + (isBare ? 1 : 0))
    }
    func inside<Number: AdditiveArithmetic>(_ sums: [Number], _ plan: ReductionPlan) -> Number {
      sums[Int(plan.first.upperBound)] - sums[Int(plan.first.lowerBound)]
        + sums[Int(plan.second.upperBound)] - sums[Int(plan.second.lowerBound)]
    }
    for index in plans.indices {
      let plan = plans[index]
      var risk = inside(odds, plan)
      var saved = plan.first.count + plan.second.count - lengthOfWays(plan)
      let left = bareOdds[choices.count] - inside(bareOdds, plan)
      let more = bare[choices.count] - inside(bare, plan)
      if more > 0, left <= Self.bareOdds, plan.kind != .single {
        plans[index].isBare = true
        risk += left
        saved += more
      }
      let chance = 1 / (1 + risk) * (plan.kind == .single ? Shrinker.unjoined : 1)
      plans[index].value = Shrinker.value(chance, saved: saved, of: choices.count)
    }
    return plans
  }

  /// The test that a plan comes to.
  ///
  func reduction(
    _ plan: ReductionPlan, _ evidence: ShrinkerEvidence, _ history: ShrinkerHistory,
    from path: ShrinkerHistory.Path
  ) -> (reduction: Reduction, isKnown: Bool) {
    var planned = TestCase(start: Int(plan.start))
    var origins: [Int] = []
    planned.choices.reserveCapacity(choices.count)
    origins.reserveCapacity(choices.count)
    func keep(_ stretch: Range<Int>) {
      for index in stretch where !plan.isBare || !isUseless(choices[index], evidence.needed[index]) {
        planned.choices.append(choices[index])
        origins.append(index)
      }
    }
    func replace(_ stretch: Range<Int>) {
      guard let way = way(plan, stretch), !way.isEmpty else { return }
      planned.choices += way
      origins += places(of: way, in: stretch)
    }
    let first = Int(plan.first.lowerBound)..<Int(plan.first.upperBound)
    let second = Int(plan.second.lowerBound)..<Int(plan.second.upperBound)
    keep(0..<first.lowerBound)
    replace(first)
    if second.isEmpty {
      keep(first.upperBound..<choices.count)
    } else {
      keep(first.upperBound..<second.lowerBound)
      replace(second)
      keep(second.upperBound..<choices.count)
    }
    let (made, isKnown) = history.foresee(planned, from: path)
    if made.count < planned.choices.count {
      planned.choices = made.map { planned.choices[$0] }
      origins = made.map { origins[$0] }
    }
    return (
      Reduction(kind: plan.kind, test: planned, origins: origins, removed: removed(origins)), isKnown
    )
  }

  /// Every test of the same length with simpler choices, all simplest together first.
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
      return Reduction(
        kind: .simpler, test: TestCase(start: test.start, plan), origins: Array(choices.indices),
        removed: choices.indices.filter { plan[$0] != choices[$0] })
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

  /// Whether a choice asks for nothing that the model has, and nothing speaks for it.
  private func isUseless(_ choice: Choice, _ needed: Double) -> Bool {
    (choice.isForbidden || Int(choice.act) >= alphabet.eventCount) && needed < Self.useless
  }

  /// Where the choices of a way are found in the stretch that it replaces, -1 for a new one: a longest common
  /// subsequence.
  private func places(of way: [Choice], in stretch: Range<Int>) -> [Int] {
    let width = way.count + 1
    // The length of the longest common subsequence of what follows a place of the stretch and one of the way.
    var common = [Int](repeating: 0, count: (stretch.count + 1) * width)
    for place in (0..<stretch.count).reversed() {
      for column in way.indices.reversed() {
        common[place * width + column] =
          choices[stretch.lowerBound + place] == way[column]
          ? common[(place + 1) * width + column + 1] + 1
          : max(common[(place + 1) * width + column], common[place * width + column + 1])
      }
    }
    var places = [Int](repeating: -1, count: way.count)
    var column = 0
    for place in 0..<stretch.count {
      while column < way.count, way[column] != choices[stretch.lowerBound + place],
        common[place * width + column + 1] == common[place * width + column]
      {
        column += 1
      }
      guard column < way.count, way[column] == choices[stretch.lowerBound + place] else { continue }
      places[column] = stretch.lowerBound + place
      column += 1
    }
    return places
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
  private func plan(
    _ kind: Reduction.Kind, _ first: Range<Int>, _ second: Range<Int> = 0..<0, start: Int? = nil,
    isCompound: Bool = false
  ) -> ReductionPlan {
    ReductionPlan(
      kind: kind, start: Int32(start ?? test.start), first: Int32(first.lowerBound)..<Int32(first.upperBound),
      second: Int32(second.lowerBound)..<Int32(second.upperBound), isCompound: isCompound)
  }

  /// Every cycle and short cut of the test.
  ///
  /// A short cut that begins, or ends, with a cycle is compound: that cycle and a shorter short cut are reductions
  /// of their own.
  private func cuts() -> [ReductionPlan] {
    var plans: [ReductionPlan] = []
    let before = earlier
    for start in choices.indices {
      let from = situations[start]
      let onward = from.node >= 0 ? ways[from.node] : nil
      var isBackAtStart = false
      for end in choices.indices.dropFirst(start + 1) {
        let to = situations[end]
        if to.position == from.position {
          plans.append(plan(.cycle, start..<end))
          isBackAtStart = true
        } else if to.node >= 0, let onward, onward.lengths[to.node] < end - start {
          plans.append(plan(.shortCut, start..<end, isCompound: isBackAtStart || before[end] > start))
        }
      }
    }
    return plans
  }

  /// Where the test was last at the position that it has before each choice; -1 for a new position.
  private var earlier: [Int] {
    var last: [UInt64: Int] = [:]
    return situations.enumerated().map { last.updateValue($0, forKey: $1.position) ?? -1 }
  }

  /// Every other start, joined with each place of the test.
  ///
  /// It is compound where the way from there meets the test before.
  private func otherStarts() -> [ReductionPlan] {
    var plans: [ReductionPlan] = []
    for start in starts.indices where start != test.start {
      guard let onward = ways[starts[start]] else { continue }
      var met: Set<Int> = []
      for (end, situation) in situations.enumerated() where end > 0 && situation.node >= 0 {
        met.insert(situations[end - 1].node)
        guard onward.lengths[situation.node] < end else { continue }
        let isCompound = met.contains(situation.node) || onward.passes(met, before: situation.node)
        plans.append(plan(.otherStart, 0..<end, start: start, isCompound: isCompound))
      }
    }
    return plans
  }

  /// Each choice of the test with one of its ends, and the shortest ways to the one and to the other: two short cuts
  /// together.
  private func landmarks() -> [ReductionPlan] {
    guard choices.count > 2 * Self.tail, let first = situations.first, first.node >= 0 else { return [] }
    var plans: [ReductionPlan] = []
    guard let toward = ways[first.node] else { return [] }
    for middle in 1..<(choices.count - Self.tail) {
      let (from, behind) = (situations[middle], situations[middle + 1])
      guard from.node >= 0, behind.node >= 0, let onward = ways[behind.node] else { continue }
      guard toward.lengths[from.node] < middle else { continue }
      for end in (choices.count - Self.tail)..<choices.count {
        let to = situations[end]
        guard end > middle + 1, to.node >= 0, onward.lengths[to.node] < end - middle - 1 else { continue }
        plans.append(plan(.shortCut, 0..<middle, (middle + 1)..<end, isCompound: true))
      }
    }
    return plans
  }

  /// The way that replaces a stretch; `nil` when it is left out.
  private func way(_ plan: ReductionPlan, _ stretch: Range<Int>) -> [Choice]? {
    ends(plan, stretch).flatMap { ways[$0.from]?[to: $0.to] }
  }

  private func lengthOfWays(_ plan: ReductionPlan) -> Int {
    [plan.first, plan.second].reduce(0) { length, stretch in
      let ends = ends(plan, Int(stretch.lowerBound)..<Int(stretch.upperBound))
      return length + (ends.map { ways[$0.from]?.lengths[$0.to] ?? 0 } ?? 0)
    }
  }

  private func ends(_ plan: ReductionPlan, _ stretch: Range<Int>) -> (from: Int, to: Int)? {
    guard !stretch.isEmpty, plan.kind == .shortCut || plan.kind == .otherStart else { return nil }
    let from =
      plan.kind == .otherStart && stretch.lowerBound == 0
      ? starts[Int(plan.start)] : situations[stretch.lowerBound].node
    return (from, situations[stretch.upperBound].node)
  }
}
