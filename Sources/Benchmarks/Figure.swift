package import System
package import Basics

/// Something about this machine that can be measured.
package struct Figure {
  /// Which way is better.
  package enum Direction: String {
    case higher, lower
  }

  /// The name that scripts read.
  package let name: String
  /// The unit of the value.
  let unit: String
  /// Which way is better.
  let better: Direction
  /// How it is measured, in one sentence.
  let method: String
  /// Whether it takes so long that it is measured only where it is asked for by name.
  package var isOnRequest = false
  /// Measures it; `nil` when it cannot be measured here.
  let measure: () -> Double?

  /// Something that is measured.
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
  /// Those of other processes come first: the system counts to the most memory of a process what the one that started
  /// it had, and this one still has little.
  package static var all: [Figure] {
    processes + reports + [automata] + reference + fuzzing + programs + drivers + sessions + radio
      + [transport, history]
  }

  /// Measures figures, one after the other.
  ///
  /// - Parameter take: takes the line of each, and `nil` of one that cannot be measured here.
  /// - Returns: whether all could be measured.
  package static func measure(_ figures: [Figure], _ take: (Figure, JSON?) -> Void) -> Bool {
    figures.reduce(true) { isWhole, figure in
      let value = figure.measure()
      take(figure, value.map(figure.json))
      return isWhole && value != nil
    }
  }

  /// The line that is printed.
  package func json(_ value: Double) -> JSON {
    [
      "name": .text(name), "value": .decimal(significant(value)), "unit": .text(unit),
      "better": .text(better.rawValue), "method": .text(method),
    ]
  }
}

/// Four significant digits: more would pretend to be exact.
private func significant(_ value: Double) -> Double {
  guard value != 0, value.isFinite else { return value }
  var scale = 1.0
  while abs(value) * scale < 1000 { scale *= 10 }
  while abs(value) * scale >= 10_000 { scale /= 10 }
  return (value * scale).rounded() / scale
}

/// The least of several times: what the machine can do when nothing else disturbs it.
func minimum(_ times: [Double]) -> Double { times.min() ?? .infinity }

/// The least time of several runs of something that says whether it went as it should; `nil` where it once did not.
func minimumTime(of runs: Int = 9, _ body: () -> Bool) -> Double? {
  var hasFailed = false
  let times = (0..<runs).map { _ in seconds { if !body() { hasFailed = true } } }
  return hasFailed ? nil : minimum(times)
}

/// A folder for what measuring leaves behind.
package func scratch(_ name: String) -> String {
  (Host.variable("TMPDIR") ?? "/tmp") + "/lockstep-bench" + name
}

/// Takes such a folder away.
package func clear(_ folder: String) { _ = Measurement.run("/bin/rm", ["-rf", folder]) }

extension Figure {
  /// Runs our own program several times; `nil` when it once does not end as it should.
  package static func runs(_ count: Int, _ words: [String], status: Int32 = 0) -> [Measurement]? {
    var all: [Measurement] = []
    for _ in 0..<count {
      guard let run = Measurement.run("/proc/self/exe", words), run.status == status else { return nil }
      all.append(run)
    }
    return all
  }
}

/// The median of several measurements.
package func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// How long something takes, in seconds.
func seconds(_ body: () -> Void) -> Double {
  let start = MonotonicClock.now
  body()
  return (MonotonicClock.now - start).seconds
}
