import Documents
import Journal
import System
import Conformance
import Basics

/// Runs searches, each in a process of its own and several at a time.
struct AirWorkers {
  /// How many at a time.
  let count: Int

  /// Runs them all; `nil` stands for one that went wrong.
  ///
  /// - Parameter done: told of each as it ends.
  func run(
    _ searches: [AirSearch], done: (AirSearch, AirSearch.Result?) -> Void = { _, _ in }
  ) -> [AirSearch.Result?] {
    var results = [AirSearch.Result?](repeating: nil, count: searches.count)
    var running: [(index: Int, process: WorkerProcess)] = []
    var next = 0
    while next < searches.count || !running.isEmpty {
      while running.count < count, next < searches.count {
        if let process = try? WorkerProcess(["air-search"], first: searches[next].json.line) {
          running.append((next, process))
        }
        next += 1
      }
      running.removeAll { index, process in
        switch process.next(within: .milliseconds(20)) {
        case .nothing: return false
        case .line(let line):
          results[index] = (try? JSON(parsing: line)).flatMap { try? AirSearch.Result($0) }
          return false
        case .ended:
          done(searches[index], results[index])
          return true
        }
      }
    }
    return results
  }
}
