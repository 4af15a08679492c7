import Automata

/// Makes a failing test as short and as simple as the model allows: a search over its choices, in shortlex order.
///
/// It runs nothing itself. Request a candidate, run it, and report the result:
///
///     while let candidate = shrinker.next() {
///       let execution = try engine.run(candidate)
///       shrinker.noteResult(execution, isSame: execution.divergence?.isLike(divergence) ?? false)
///     }
///
/// Candidates remove a stretch that leads back to where it began, replace a stretch by the model's shortest path
/// between its ends, replace the beginning by the shortest path from another start, remove a single choice, or
/// simplify choices. Candidates are ordered by expected savings per executed choice: how much shorter a candidate is,
/// times the probability that it fails, divided by its length. No candidate is requested twice, nor one that results
/// in the same choices as an earlier run.
///
/// A repeated sequence is one element with a count: the search halves the count, and simplifies the sequence in all
/// repetitions at once. The result is minimal only if it does not fail with one repetition less.
///
/// The test is *minimal* if no such candidate fails. Combinations of several, such as a short cut that begins or ends
/// with a cycle, or a test without any refusals, need not be refuted. They are tried only while they are likely to
/// fail or save very much. If nothing has helped for some time, the search also tries tests with only one kind of
/// choices.
///
/// Each result either shrinks the test or excludes a candidate, so the search ends; it keeps the smallest failing
/// test whatever the results. If a result is not clear, because the link was lost or the failure is intermittent, the
/// caller repeats the run before it reports the result.
public struct Shrinker: Sendable {
  /// The smallest failing test so far.
  public private(set) var best: TestCase
  /// Whether no candidate is left.
  public private(set) var isMinimal = false

  private let alphabet: Alphabet
  private let paths: ModelPaths
  private let count: Int
  /// The node in which each start begins; -1 if it is not unique.
  private let starts: [Int]
  private var shortestPaths: [Int: ModelPaths.ShortestPaths] = [:]
  private var history: ShrinkerHistory
  private var evidence: ShrinkerEvidence
  private var finder: ReductionFinder
  /// The plans for the best test; made on demand.
  private var frontier: ShrinkerFrontier?
  private var simplifications: [Reduction]?
  private var singleKindTests: [Reduction]?
  /// The number of candidates refuted since the best test was found.
  private var refutations = 0
  private var path: ShrinkerHistory.Path
  private var requested: Reduction?
  /// The maximum number of repetitions of each choice with which the test did not fail.
  private var tooFew: [Choice: Int] = [:]
  /// All candidates requested so far. The choices that a run made of them may differ from the prediction.
  private var refuted: Set<TestCase> = []

  /// The minimum chance of a compound candidate; one with less must be this many times shorter than the test.
  private static let likely = 0.5
  private static let farShorter = 3
  /// The number of refuted candidates after which the search tries tests with only one kind of choices.
  private static let maximumRefutations = 16
  /// The number of plans that are evaluated for one candidate, if that is enough to find one.
  private static let maximumInspected = 128
  /// The factor by which the chance of removing a single choice is lower than that of a stretch whose ends the model
  /// joins. The choices after it meet another state than they were made for.
  static let unjoined = 0.2

  /// Makes a shrinker for a failing test.
  ///
  /// - Parameters:
  ///   - failure: the execution of the test: the choices made, up to the one that failed.
  ///   - test: the test, for its start.
  ///   - specification: the model.
  ///   - alphabet: the meaning of the choices.
  ///   - starts: the conditions that the numbers of starts stand for; without them, the test keeps its start.
  public init(
    _ failure: Execution, of test: TestCase, specification: Specification, alphabet: Alphabet,
    starts: [StartCondition] = []
  ) {
    best = TestCase(start: test.start, failure.performed)
    self.alphabet = alphabet
    self.starts = starts.map { start in
      let nodes = specification.machine.start(for: start).map { specification.startNodes[$0] } ?? []
      return nodes.count == 1 ? nodes[0] : -1
    }
    paths = ModelPaths(specification, alphabet)
    count = failure.performed.count
    history = ShrinkerHistory(specification, alphabet, starts: max(starts.count, test.start + 1))
    history.add(failure, start: test.start)
    path = history.path(of: best)
    evidence = ShrinkerEvidence(failure.performed)
    finder = ReductionFinder(alphabet, best, [], starts: self.starts, shortestPaths: [:])
    analyze(failure.explorationStates)
  }

  /// Returns the next candidate, or `nil` if the test is minimal. It is the same one until its result is reported.
  public mutating func next() -> TestCase? {
    if requested == nil { requested = singleKindTest() ?? mostPromising() ?? simplest() }
    isMinimal = requested == nil
    return requested?.test
  }

  /// Reports the result of the requested candidate.
  ///
  /// - Parameter isSame: whether it failed in the same way; see ``Divergence/isLike(_:)``.
  public mutating func noteResult(_ execution: Execution, isSame: Bool) {
    guard let candidate = requested else { return }
    requested = nil
    refuted.insert(candidate.test)
    if !execution.wasDisturbed { history.add(execution, start: candidate.test.start) }
    let outcome = TestCase(start: candidate.test.start, execution.performed)
    if isSame, isSmaller(outcome) {
      evidence.follow(candidate.origins(of: outcome.choices))
      // If one repetition less suffices, a count that was too small before may suffice now.
      if candidate.kind == .single { candidate.removed.forEach { tooFew[best.choices[$0]] = nil } }
      if let left = candidate.left, left.times <= tooFew[left.choice] ?? 0 { tooFew[left.choice] = nil }
      best = outcome
      path = history.path(of: best)
      analyze(execution.explorationStates)
    } else {
      refutations += 1
      evidence.refute(candidate.removed)
      if let left = candidate.left { tooFew[left.choice] = max(tooFew[left.choice] ?? 0, left.times) }
    }
  }

  /// Returns whether a test is smaller than the best one: it is shorter, or of equal length with fewer movements, or
  /// else simpler.
  private func isSmaller(_ test: TestCase) -> Bool {
    guard test.choices.count == best.choices.count else { return test < best }
    let (movements, maximum) = (alphabet.movements(of: test), alphabet.movements(of: best))
    return movements == maximum ? test < best : movements < maximum
  }

  /// The current activity and the progress, as text.
  public var phase: String {
    let doing =
      switch requested?.kind {
      case .cycle: "cutting cycles"
      case .shortCut: "taking short cuts"
      case .otherStart: "trying other starts"
      case .oneKind: "keeping one kind of choices"
      case .single: "leaving out single choices"
      case .simpler: "making choices simpler"
      case .repetition: "repeating less often"
      case nil: isMinimal ? "minimal for this model" : "shrinking"
      }
    return "\(doing), \(best.choices.count) of \(count) choices left"
  }

  /// Returns the expected savings per executed choice.
  static func value(_ chance: Double, saved: Int, of count: Int) -> Double {
    chance * Double(saved) / Double(count - saved + 1)
  }

  /// Prepares the search from a new best test.
  private mutating func analyze(_ explorationStates: [ExplorationState]) {
    for node in explorationStates.map(\.node) + starts where node >= 0 && shortestPaths[node] == nil {
      shortestPaths[node] = paths.shortestPaths(from: node)
    }
    finder = ReductionFinder(alphabet, best, explorationStates, starts: starts, shortestPaths: shortestPaths)
    frontier = nil
    simplifications = nil
    singleKindTests = nil
    refutations = 0
  }

  /// Returns the candidate with the greatest expected savings.
  ///
  /// The value of a plan only decreases while the best test stays the same. So a plan whose upper bound is below the
  /// value of another one is not evaluated.
  private mutating func mostPromising() -> Reduction? {
    var frontier = self.frontier ?? ShrinkerFrontier(finder.plans(evidence, tooFew: tooFew))
    defer { self.frontier = frontier }
    var chosen: (plan: ReductionPlan, reduction: Reduction)?
    var others: [ReductionPlan] = []
    var inspected = 0
    while let next = frontier.first, inspected < Self.maximumInspected || chosen == nil {
      if let chosen, next.value <= chosen.plan.value { break }
      guard var plan = frontier.pop() else { break }
      inspected += 1
      let (reduction, isKnown) = finder.reduction(plan, evidence, history, from: path)
      let length = reduction.test.choices.count
      let chance =
        plan.kind == .repetition
        ? 1 / (1 + evidence.odds(ofAny: plan.stretch))
        : evidence.chance(without: reduction.removed) * (plan.kind == .single ? Self.unjoined : 1)
      if isKnown || length >= best.choices.count || refuted.contains(reduction.test) {
        if plan.removesUseless {
          plan.removesUseless = false
          frontier.push(plan)
        }
        continue
      }
      if plan.isCompound, chance < Self.likely, length * Self.farShorter > best.choices.count { continue }
      plan.value = Self.value(chance, saved: best.choices.count - length, of: best.choices.count)
      if let old = chosen, old.plan.value >= plan.value {
        others.append(plan)
      } else {
        if let old = chosen { others.append(old.plan) }
        chosen = (plan, reduction)
      }
    }
    for plan in others { frontier.push(plan) }
    // The plan stays in the frontier, so that it is tried again with `removesUseless` cleared if this candidate does
    // not fail.
    if let chosen { frontier.push(chosen.plan) }
    return chosen?.reduction
  }

  /// Returns the next test with only one kind of choices. It is used only if nothing else has helped for some time.
  /// For example, the failure may depend on a count that every removed stretch changes.
  private mutating func singleKindTest() -> Reduction? {
    guard refutations >= Self.maximumRefutations else { return nil }
    var left = singleKindTests ?? finder.singleKindTests(evidence, history, from: path).reversed()
    defer { singleKindTests = left }
    while let reduction = left.popLast() {
      let isKnown = history.predict(reduction.test, from: path).isKnown
      if !isKnown, !refuted.contains(reduction.test) { return reduction }
    }
    return nil
  }

  /// Returns the next simplification. It is used only if nothing can be removed.
  private mutating func simplest() -> Reduction? {
    var left = simplifications ?? finder.simplifications().reversed()
    defer { simplifications = left }
    while var reduction = left.popLast() {
      let (made, isKnown) = history.predict(reduction.test, from: path)
      reduction.test.choices = made.map { reduction.test.choices[$0] }
      reduction.origins = made.map { reduction.origins[$0] }
      if !isKnown, isSmaller(reduction.test), !refuted.contains(reduction.test) { return reduction }
    }
    return nil
  }
}

extension Reduction {
  /// Returns the position in the failing test of each choice that a run made; -1 for a choice without one.
  fileprivate func origins(of made: [Choice]) -> [Int] {
    var index = 0
    return made.map { choice in
      while index < test.choices.count, test.choices[index] != choice { index += 1 }
      defer { index += 1 }
      return index < test.choices.count ? origins[index] : -1
    }
  }
}
