import Journal
import Basics

/// What a report, a file of it, or a suite in it counts.
struct JUnitCounts: Equatable {
  var tests = 0
  var failures = 0
  var errors = 0
  var skipped = 0
  var flaky = 0
  /// What they took. Wide enough for the longest times of all cases there can be.
  var milliseconds: Int128 = 0

  /// Counts a case; one for which another stands is none.
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
