/// The results of all runs: a tree of the choices that were made, from each start.
///
/// After a reset, a device reacts to the same choices in the same way. So the exploration states along a run hold for
/// every test that begins with the same choices. Before a candidate is run, they tell which of its choices would be
/// skipped, and whether it would repeat an earlier run.
struct ShrinkerHistory: Sendable {
  private struct Point {
    /// The exploration state of the tests that reached this point; `nil` if it is not known.
    var explorationState: ExplorationState?
    /// Whether a test failed here, so that no test gets further.
    var isFailure = false
    /// Whether a test ended here, so that the result of awaiting its end is known.
    var isEnd = false
    var next: [Choice: Int] = [:]
  }

  /// A test, and the points of the tree on its path, as far as the tree contains it.
  struct Path: Sendable {
    var test: TestCase
    fileprivate var points: [Int]
  }

  private let alphabet: Alphabet
  /// Whether a test that ends early may fail where a longer one continued, which only the passage of time can cause.
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

  /// Adds a run.
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

  /// Returns the path of a test in the tree.
  func path(of test: TestCase) -> Path {
    var path = Path(test: test, points: [roots[test.start]])
    for choice in test.choices {
      guard let next = points[path.points[path.points.count - 1]].next[choice] else { break }
      path.points.append(next)
    }
    return path
  }

  /// Returns the positions of a candidate's choices that are not known to be skipped, and whether its result is
  /// known.
  ///
  /// - Parameter path: the path of the failing test, with which a candidate shares its beginning.
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
