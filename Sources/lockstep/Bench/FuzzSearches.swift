import Conformance
import Emulator

/// Searches for one bug with several seeds, done once for all figures that come of them.
final class FuzzSearches {
  /// One search.
  struct Row {
    /// The events up to the first disagreement, or the whole budget where there was none.
    var find: Double
    var isFound: Bool
    var isMinimum: Bool
    var shrinkRuns: Int
    var shrinkEvents: Int
  }

  private let bug: ReferenceLock.Bug
  private let loss: Double
  private let seeds: UInt64
  private let budget: Int
  private lazy var rows: [Row]? = run()

  /// Prepares searches with the seeds from 1 on.
  init(_ bug: ReferenceLock.Bug, loss: Double = 0, seeds: UInt64, budget: Int) {
    self.bug = bug
    self.loss = loss
    self.seeds = seeds
    self.budget = budget
  }

  /// How many found it.
  var found: Double? { rows.map { rows in Double(rows.count { $0.isFound }) } }
  /// How many found it and ended with a shortest trace.
  var minimum: Double? { rows.map { rows in Double(rows.count { $0.isMinimum }) } }

  /// The median over all searches: of an even number the mean of the middle two.
  func median(_ value: (Row) -> Double) -> Double? {
    rows.map { rows in
      let values = rows.map(value).sorted()
      return (values[(values.count - 1) / 2] + values[values.count / 2]) / 2
    }
  }

  /// The most of all searches.
  func most(_ value: (Row) -> Double) -> Double? { rows?.map(value).max() }

  private func run() -> [Row]? {
    var rows: [Row] = []
    for seed in 1...seeds {
      let lock = ReferenceLock(bug: bug, loss: loss, seed: seed)
      guard var search = FuzzSearch(lock, seed: seed, recorder: { NoRecorder() }),
        let result = try? search.run(budget, isShrunk: loss == 0)
      else { return nil }
      rows.append(
        Row(
          find: Double(result.found ?? budget), isFound: result.found != nil,
          isMinimum: result.found != nil && result.length == bug.shortest, shrinkRuns: result.shrinkRuns,
          shrinkEvents: result.shrinkEvents))
    }
    return rows
  }
}
