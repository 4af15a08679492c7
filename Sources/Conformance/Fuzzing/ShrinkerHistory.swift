/// What is known of tests that were run: a tree of the choices that were made.
///
/// A device that is reset and treated alike answers alike, so the situations along a run hold for every test that
/// begins with the same choices. That tells, before a candidate is run, which of its choices would be left out,
/// and whether it would be a run that has been made already.
struct ShrinkerHistory: Sendable {
  private struct Point {
    /// Where the tests stood that came here; `nil` when it is not known.
    var situation: Situation?
    /// Whether a test failed here, so that none comes further.
    var isFailure = false
    /// Whether a test ended here: what comes of waiting for its end is known.
    var isEnd = false
    var next: [Choice: Int] = [:]
  }

  private let alphabet: Alphabet
  /// Whether a test that ends early may fail where a longer one went on: only time brings that about.
  private let isTimed: Bool
  private var points = [Point()]

  init(_ specification: Specification, _ alphabet: Alphabet) {
    self.alphabet = alphabet
    isTimed = !specification.isPlain
  }

  /// Remembers a run.
  mutating func add(_ execution: Execution) {
    var point = 0
    for (choice, situation) in zip(execution.performed, execution.situations) {
      points[point].situation = situation
      if let next = points[point].next[choice] {
        point = next
      } else {
        points.append(Point())
        points[point].next[choice] = points.count - 1
        point = points.count - 1
      }
    }
    points[point].isEnd = true
    points[point].isFailure = execution.divergence != nil
    if let end = execution.end { points[point].situation = end }
  }

  /// A candidate without the choices that are known to be left out of it, and whether it has been run.
  func foresee(_ choices: [Choice]) -> (performed: [Choice], isKnown: Bool) {
    var performed: [Choice] = []
    var point = 0
    for (index, choice) in choices.enumerated() {
      if points[point].isFailure, points[point].situation == nil { break }
      if let situation = points[point].situation, !situation.admits(choice, alphabet) { continue }
      performed.append(choice)
      guard let next = points[point].next[choice] else {
        return (performed + choices[(index + 1)...], false)
      }
      point = next
    }
    return (performed, points[point].isEnd || !isTimed)
  }
}
