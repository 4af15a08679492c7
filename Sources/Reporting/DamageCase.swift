import Basics
import Journal

/// The case that stands in every report for what is wrong with the journals of its runs: parts that are missing, a run that
/// did not end, lines that cannot be read.
///
/// Without it a report of which a part is missing would look like one in which all agrees.
struct DamageCase {
  /// Its class; no path gives one with a slash.
  static let className = "lockstep/journal"
  static let name = "journal"

  /// One line that says why.
  let message: String
  /// All of it, a line each.
  let text: String

  /// - Returns: `nil` where nothing is wrong.
  init?(_ problems: [JournalProblem]) {
    guard let first = problems.first else { return nil }
    var text = HeadAndTail()
    for problem in problems { text.append("\(problem)\n") }
    (message, self.text) = ("\(first)", text.text)
  }

  /// What it counts as.
  static var counts: JUnitCounts {
    var counts = JUnitCounts()
    counts.tests = 1
    counts.errors = 1
    return counts
  }
}

extension JournalIndex {
  /// The case for what is wrong with the journals, if anything is.
  var damage: DamageCase? { DamageCase(problems) }

  /// What reports of it count.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    for suite in suites { counts.add(suite.counts) }
    if damage != nil { counts.add(DamageCase.counts) }
    return counts
  }
}

extension JournalIndex.Suite {
  /// What reports of it count: nothing where all cases made place for others.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    for entry in entries where entry.outcome != .replaced { counts.add(entry) }
    return counts
  }
}
