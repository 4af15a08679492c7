package import System
package import Basics

/// A figure of this machine that can be measured.
package struct Figure {
  /// The direction in which a figure is better.
  package enum Direction: String {
    case higher, lower
  }

  /// The name of the figure for scripts.
  package let name: String
  /// The unit of the value.
  let unit: String
  /// The direction in which it is better.
  let better: Direction
  /// How it is measured, in one sentence.
  let method: String
  /// Whether it takes so long that it is measured only on request by name.
  package var isOnRequest = false
  /// Measures the figure; returns `nil` if that is not possible here.
  let measure: () -> Double?

  /// Makes a figure.
  package init(
    name: String, unit: String, better: Direction, method: String, isOnRequest: Bool = false,
    measure: @escaping () -> Double?
  ) {
    self.name = name
    self.unit = unit
    self.better = better
    self.method = method
    self.isOnRequest = isOnRequest
    self.measure = measure
  }

  /// All figures, in the order in which they are measured.
  ///
  /// The figures of other processes come first: the peak memory of a process includes what its parent used when it
  /// started the process, and this process still uses little.
  package static var all: [Figure] {
    processes + reports + [automata] + reference + data + fuzzing + programs + drivers + sessions + radio
      + [transport, history]
  }

  /// Measures figures, one after the other.
  ///
  /// - Parameter take: Receives the line of each figure, or `nil` if it cannot be measured here.
  /// - Returns: Whether all could be measured.
  package static func measure(_ figures: [Figure], _ take: (Figure, JSON?) -> Void) -> Bool {
    figures.reduce(true) { isWhole, figure in
      let value = figure.measure()
      take(figure, value.map(figure.json))
      return isWhole && value != nil
    }
  }

  /// Returns the output line of the figure.
  package func json(_ value: Double) -> JSON {
    [
      "name": .text(name), "value": .decimal(significant(value)), "unit": .text(unit),
      "better": .text(better.rawValue), "method": .text(method),
    ]
  }
}

/// Returns a value with four significant digits: more would suggest a false accuracy.
private func significant(_ value: Double) -> Double {
  guard value != 0, value.isFinite else { return value }
  var scale = 1.0
  while abs(value) * scale < 1000 { scale *= 10 }
  while abs(value) * scale >= 10_000 { scale /= 10 }
  return (value * scale).rounded() / scale
}

/// Returns the least of several times: the speed of the machine when nothing else disturbs it.
func minimum(_ times: [Double]) -> Double { times.min() ?? .infinity }

/// Returns the least time of several runs of a function that reports its success, or `nil` if one run failed.
func minimumTime(of runs: Int = 9, _ body: () -> Bool) -> Double? {
  var hasFailed = false
  let times = (0..<runs).map { _ in seconds { if !body() { hasFailed = true } } }
  return hasFailed ? nil : minimum(times)
}

/// Returns a folder for the files of a measurement.
package func scratch(_ name: String) -> String {
  (Host.variable("TMPDIR") ?? "/tmp") + "/lockstep-bench" + name
}

/// Removes the folder of a measurement.
package func clear(_ folder: String) { _ = Measurement.run("/bin/rm", ["-rf", folder]) }

extension Figure {
  /// Runs our own program several times; returns `nil` if one run does not end with the expected status.
  package static func runs(_ count: Int, _ words: [String], status: Int32 = 0) -> [Measurement]? {
    var all: [Measurement] = []
    for _ in 0..<count {
      guard let run = Measurement.run("/proc/self/exe", words), run.status == status else { return nil }
      all.append(run)
    }
    return all
  }
}

/// Returns the median of several measurements.
package func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Returns the duration of a function in seconds.
func seconds(_ body: () -> Void) -> Double {
  let start = MonotonicClock.now
  body()
  return (MonotonicClock.now - start).seconds
}
