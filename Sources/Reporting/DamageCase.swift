import Basics
import Journal

/// The case that stands in every report for what its other cases do not show: parts that are missing, a run that did not
/// end, lines that cannot be read, what a run ended with beside its cases, or that less was judged than is asked for.
///
/// Without it a report could look greener than what the command ends with.
struct DamageCase {
  /// Its class; no path gives one with a slash.
  static let className = "lockstep/journal"
  static let name = "journal"

  /// One line that says why.
  let message: String
  /// All of it, a line each.
  let text: String
  /// What it counts as: a divergence of which no case tells is one all the same.
  let ending: Record.Ending

  /// - Returns: `nil` where nothing is wrong.
  init?(_ problems: [JournalProblem]) {
    guard let first = problems.first else { return nil }
    var text = HeadAndTail()
    for problem in problems { text.append("\(problem)\n") }
    (message, self.text) = ("\(first)", text.text)
    ending = problems.contains { $0.status == .divergence } ? .diverged : .labFault
  }

  /// What it counts as.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    counts.add(ending.element)
    return counts
  }
}

extension JournalIndex {
  /// The case for what the others do not show, if there is anything.
  var damage: DamageCase? { DamageCase(remarks) }

  /// What reports of it count.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    for suite in suites { counts.add(suite.counts) }
    if let damage { counts.add(damage.counts) }
    return counts
  }
}

extension JournalIndex.Suite {
  /// What reports of it count: nothing where all cases made place for others.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    for entry in entries { counts.add(entry) }
    return counts
  }
}
