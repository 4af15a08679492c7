import Automata

/// Makes a failing test as short and as simple as the model allows: a search over its choices, in shortlex order.
///
/// It runs nothing itself. Ask it for a candidate, run that, tell it what came of it:
///
///     while let candidate = shrinker.next() {
///       let execution = try lockstep.run(candidate, alphabet, starts: starts)
///       shrinker.tell(execution, isSame: execution.divergence?.signature == signature)
///     }
///
/// Candidates leave out a stretch that leads back to where it began, replace a stretch by the model's shortest way
/// between its ends, leave out a single choice, or make choices simpler. What comes first is what promises to save
/// most for each choice that is run: how much shorter it is, times the chance that it fails, by the length of the
/// candidate. No candidate is asked for twice, nor one that would come to the same choices as a run that was made.
///
/// The test is *minimal* when no such candidate fails. A short cut that begins or ends with a cycle, and so is a cycle
/// and a shorter short cut together, is tried only while it is likely to fail, and need not be refuted.
///
/// Each answer either makes the test smaller or rules a candidate out, so it ends, and it keeps the smallest
/// failing test whatever it is told. A caller that gets no clear answer, because the link was lost or the failure
/// comes and goes, repeats the run before it tells.
public struct Shrinker: Sendable {
  /// The smallest test so far that fails.
  public private(set) var best: TestCase
  /// Whether no candidate is left.
  public private(set) var isMinimal = false

  private let alphabet: Alphabet
  private let paths: ModelPaths
  private let count: Int
  private var ways: [Int: ModelPaths.Ways] = [:]
  private var history: ShrinkerHistory
  private var evidence: ShrinkerEvidence
  private var situations: [Situation]
  private var asked: Reduction?
  /// What was asked for and did not fail, though it may not have come to what was foreseen.
  private var refuted: Set<[Choice]> = []

  /// The least chance for a candidate that is only others together.
  private static let likely = 0.5
  /// How many ways to cut a long test are looked into at a time.
  private static let many = 1024
  /// By how much the chance of a single choice is less than that of a stretch whose ends the model joins: what
  /// follows it meets another state than it was made for.
  private static let unjoined = 0.2

  /// Begins with a test that failed.
  ///
  /// - Parameters:
  ///   - failure: what came of it: the choices that were made, to the one that failed.
  ///   - test: the test, for its start.
  ///   - specification: the model.
  ///   - alphabet: what the choices stand for.
  public init(
    _ failure: Execution, of test: TestCase, specification: Specification, alphabet: Alphabet
  ) {
    best = TestCase(start: test.start, failure.performed)
    situations = failure.situations
    self.alphabet = alphabet
    paths = ModelPaths(specification, alphabet)
    count = failure.performed.count
    history = ShrinkerHistory(specification, alphabet)
    history.add(failure)
    evidence = ShrinkerEvidence(count: count)
  }

  /// The next candidate, or `nil` when the test is minimal. The same one until its outcome is told.
  public mutating func next() -> TestCase? {
    if asked == nil { asked = mostPromising() }
    isMinimal = asked == nil
    return asked.map { TestCase(start: best.start, $0.choices) }
  }

  /// Takes in what came of the candidate that was asked for.
  ///
  /// - Parameter isSame: whether it failed with the signature of the failure.
  public mutating func tell(_ execution: Execution, isSame: Bool) {
    guard let candidate = asked else { return }
    asked = nil
    refuted.insert(candidate.choices)
    if !execution.wasDisturbed { history.add(execution) }
    let outcome = TestCase(start: best.start, execution.performed)
    if isSame, outcome < best {
      evidence.follow(from: best.choices, to: outcome.choices)
      best = outcome
      situations = execution.situations
    } else {
      evidence.refute(candidate.removed)
    }
  }

  /// What it is doing, in a few words.
  public var phase: String {
    let doing =
      switch asked?.kind {
      case .cycle: "cutting cycles"
      case .shortCut: "taking short cuts"
      case .single: "leaving out single choices"
      case .simpler: "making choices simpler"
      case nil: isMinimal ? "minimal for this model" : "shrinking"
      }
    return "\(doing), \(best.choices.count) of \(count) choices left"
  }

  /// The candidate that promises most; simplifications only when nothing can be left out.
  private mutating func mostPromising() -> Reduction? {
    mostPromising(of: Self.many) ?? mostPromising(of: .max)
  }

  /// The candidate that promises most, of so many that are looked into.
  private mutating func mostPromising(of most: Int) -> Reduction? {
    for situation in situations where situation.node >= 0 && ways[situation.node] == nil {
      ways[situation.node] = paths.ways(from: situation.node)
    }
    let finder = ReductionFinder(
      alphabet: alphabet, history: history, choices: best.choices, situations: situations)
    var chosen: Reduction?
    var promise = 0.0
    for cut in finder.cuts(ways: ways, evidence: evidence, most: most) where !refuted.contains(cut.choices) {
      let chance = evidence.chance(without: cut.removed) * (cut.kind == .single ? Self.unjoined : 1)
      if cut.isCompound, chance < Self.likely { continue }
      let saved = Double(best.choices.count - cut.choices.count)
      let length = Double(cut.choices.count + 1)
      let value = chance * saved / length
      if chosen == nil || value > promise {
        chosen = cut
        promise = value
      }
    }
    if chosen == nil, most < .max { return nil }
    return chosen ?? finder.simplifications().first { !refuted.contains($0.choices) }
  }
}
