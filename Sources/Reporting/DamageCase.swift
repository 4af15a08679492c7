import Basics
import Journal

/// The case in every report for what other cases do not show: missing parts, a run that did not end,
/// unreadable lines, the exit status of a run, or fewer judgements than required.
///
/// Without it a report could show a better result than the command's exit status.
struct DamageCase {
  /// Its class, which contains a slash so that no path can have it.
  static let className = "lockstep/journal"
  static let name = "journal"

  /// The reason in one line.
  let message: String
  /// All details, one a line.
  let text: String
  /// Its ending: a divergence without a case counts as a divergence, too.
  let ending: Record.Ending

  /// - Returns: `nil` if there is no damage.
  init?(_ problems: [JournalProblem]) {
    guard let first = problems.first else { return nil }
    var text = HeadAndTail()
    for problem in problems { text.append("\(problem)\n") }
    (message, self.text) = ("\(first)", text.text)
    ending = problems.contains { $0.status == .divergence } ? .diverged : .labFault
  }

  /// Its counts.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    counts.add(ending.element)
    return counts
  }
}

extension JournalIndex {
  /// The case for damage of the journals, if there is any.
  var damage: DamageCase? { DamageCase(remarks) }

  /// The counts of the reports.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    for suite in suites { counts.add(suite.counts) }
    if let damage { counts.add(damage.counts) }
    return counts
  }
}

extension JournalIndex.Suite {
  /// The counts of the suite; zero if all of its cases were replaced by others.
  var counts: JUnitCounts {
    var counts = JUnitCounts()
    for position in entries.indices { counts.add(entries[position]) }
    return counts
  }
}
