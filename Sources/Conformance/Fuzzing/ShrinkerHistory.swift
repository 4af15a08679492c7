/// What is known of tests that were run: a tree of the choices that were made, from each start.
///
/// A device that is reset and treated alike answers alike, so the situations along a run hold for every test that
/// begins with the same choices. That tells, before a candidate is run, which of its choices would be left out,
/// and whether it would be a run that has been made already.
struct ShrinkerHistory: Sendable {
  private struct Point {
    /// Where the tests stood that came here; `nil` when it is not known.
    var explorationState: ExplorationState?
    /// Whether a test failed here, so that none comes further.
    var isFailure = false
    /// Whether a test ended here: what comes of waiting for its end is known.
    var isEnd = false
    var next: [Choice: Int] = [:]
  }

  /// A test, and the points of the tree that it passes, as far as it is known there.
  struct Path: Sendable {
    var test: TestCase
    fileprivate var points: [Int]
  }

  private let alphabet: Alphabet
  /// Whether a test that ends early may fail where a longer one went on: only time brings that about.
  private let isTimed: Bool
  private var points: [Point] = []
  /// The point at which the tests of each start begin.
  private var roots: [Int]

  init(_ specification: Specification, _ alphabet: Alphabet, starts: Int) {
    self.alphabet = alphabet
    isTimed = !specification.isPlain
    roots = Array(0..<starts)
    points = [Point](repeating: Point(), count: starts)
  }

  /// Remembers a run.
  mutating func add(_ execution: Execution, start: Int) {
    var point = roots[start]
    for (choice, explorationState) in zip(execution.performed, execution.explorationStates) {
      points[point].explorationState = explorationState
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
    if let end = execution.end { points[point].explorationState = end }
  }

  /// Where a test runs in the tree.
  func path(of test: TestCase) -> Path {
    var path = Path(test: test, points: [roots[test.start]])
    for choice in test.choices {
      guard let next = points[path.points[path.points.count - 1]].next[choice] else { break }
      path.points.append(next)
    }
    return path
  }

  /// The places of the choices of a candidate that are not known to be left out of it, and whether it has been run.
  ///
  /// - Parameter path: the failing test, with which a candidate has its beginning in common.
  func predict(_ test: TestCase, from path: Path) -> (made: [Int], isKnown: Bool) {
    let choices = test.choices
    var front = 0
    var point = roots[test.start]
    if test.start == path.test.start {
      let limit = min(choices.count, path.points.count - 1)
      while front < limit, choices[front] == path.test.choices[front] { front += 1 }
      point = path.points[front]
    }
    var made = Array(0..<front)
    made.reserveCapacity(choices.count)
    for index in front..<choices.count {
      if points[point].isFailure, points[point].explorationState == nil { break }
      if let explorationState = points[point].explorationState,
        !explorationState.admits(choices[index], alphabet)
      {
        continue
      }
      made.append(index)
      guard let next = points[point].next[choices[index]] else {
        made += (index + 1)..<choices.count
        return (made, false)
      }
      point = next
    }
    return (made, points[point].isEnd || !isTimed)
  }
}
