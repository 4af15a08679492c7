package import Conformance
package import Emulator

/// Searches for one bug with several seeds, done once for all figures that use them.
package final class FuzzSearches {
  private let bug: ReferenceLock.Bug
  private let loss: Double
  private let seeds: UInt64
  private let budget: Int
  private let settings: Explorer.Settings
  /// The results without shrinking, and the results with shrinking, which takes far longer.
  private lazy var found: [FuzzSearch<ReferenceLock, NoRecorder>.Result]? = run(isShrunk: false)
  private lazy var shrunk: [FuzzSearch<ReferenceLock, NoRecorder>.Result]? = run(isShrunk: true)

  /// Prepares searches with the seeds from 1 on.
  package init(
    _ bug: ReferenceLock.Bug, loss: Double = 0, seeds: UInt64, budget: Int,
    settings: Explorer.Settings = .init()
  ) {
    self.bug = bug
    self.loss = loss
    self.seeds = seeds
    self.budget = budget
    self.settings = settings
  }

  /// The number of searches that found the bug.
  var foundCount: Double? { found.map { results in Double(results.count { $0.found != nil }) } }
  /// The number of searches that found the bug and ended with a shortest trace.
  var minimumCount: Double? {
    shrunk.map { results in Double(results.count { $0.found != nil && $0.length == bug.shortest }) }
  }

  /// The median number of events up to the first disagreement; a search that found nothing counts with its budget.
  var find: Double? { finds.map(median) }
  /// The maximum number of events up to the first disagreement.
  var findWorst: Double? { finds?.max() }
  /// The median number of tests run for shrinking.
  var shrinkRuns: Double? { shrunk.map { median($0.map { Double($0.shrinkRuns) }) } }
  /// The median number of events in the tests run for shrinking.
  var shrinkEvents: Double? { shrunk.map { median($0.map { Double($0.shrinkEvents) }) } }

  /// The number of events up to the first disagreement for each seed; a search that found nothing counts with its
  /// budget.
  package var finds: [Double]? { found?.map { Double($0.found ?? budget) } }

  /// Returns the median; for an even number of values, the mean of the middle two, as in the benchmark.
  private func median(_ values: [Double]) -> Double {
    let values = values.sorted()
    return (values[(values.count - 1) / 2] + values[values.count / 2]) / 2
  }

  private func run(isShrunk: Bool) -> [FuzzSearch<ReferenceLock, NoRecorder>.Result]? {
    var results: [FuzzSearch<ReferenceLock, NoRecorder>.Result] = []
    for seed in 1...seeds {
      let lock = ReferenceLock(bug: bug, loss: loss, seed: seed)
      guard var search = FuzzSearch(lock, settings: settings, seed: seed, recorder: NoRecorder()),
        let result = try? search.run(budget, isShrunk: isShrunk)
      else { return nil }
      results.append(result)
    }
    return results
  }
}
