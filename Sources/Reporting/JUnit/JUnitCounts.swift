import Journal
import Basics

/// The counts of a report, of one of its files, or of a suite.
struct JUnitCounts: Equatable {
  var tests = 0
  var failures = 0
  var errors = 0
  var skipped = 0
  var flaky = 0
  /// The sum of the durations. Wide enough for the longest times of the maximum number of cases.
  var milliseconds: Int128 = 0

  /// Counts a case, unless it was replaced by another one.
  mutating func add(_ entry: JournalIndex.Entry) {
    guard let ending = entry.ending else { return }
    milliseconds += Int128(entry.takenMilliseconds)
    if ending.isFlaky { flaky += 1 }
    add(ending.element)
  }

  mutating func add(_ element: Record.Ending.Element) {
    tests += 1
    switch element {
    case .passed: break
    case .failed: failures += 1
    case .error: errors += 1
    case .skipped: skipped += 1
    }
  }

  mutating func add(_ other: JUnitCounts, times factor: Int = 1) {
    tests += factor * other.tests
    failures += factor * other.failures
    errors += factor * other.errors
    skipped += factor * other.skipped
    flaky += factor * other.flaky
    milliseconds += Int128(factor) * other.milliseconds
  }

  mutating func subtract(_ other: JUnitCounts) { add(other, times: -1) }
}

/// Seconds with three decimals, the same under every locale.
func secondsText(_ milliseconds: some BinaryInteger) -> String {
  "\(milliseconds / 1000).\((milliseconds % 1000).padded(to: 3))"
}
