public import Journal

/// JUnit XML made from a journal, with its counts.
///
/// A *failure* is a divergence, an *error* is a lab fault or an incomplete case, and *skipped* cases were not
/// tried. There is always a report, and none shows a better result than its run: a journal that ends early,
/// or has unreadable lines, is an error of its own.
public struct JUnitReport: Hashable, Sendable {
  /// The number of test cases in the report, including one for a damaged journal.
  public var tests = 0
  /// The number of divergences.
  public var failures = 0
  /// The number of lab faults and incomplete cases.
  public var errors = 0
  /// The number of cases that passed only on a retry.
  public var flaky = 0
  /// The number of skipped cases.
  public var skipped = 0
  /// The sum of the cases' times in milliseconds.
  public var milliseconds: Int64 = 0
  /// The problems of the journal itself.
  public var problems: [JournalProblem] = []
}
