public import Journal

/// JUnit XML made from a journal, and what it counted.
///
/// A *failure* is a divergence, an *error* is trouble of the lab or a case that was not brought to its end, and
/// *skipped* was not tried. There is always a report, and none is greener than its run: a journal that stops
/// early, or holds lines that cannot be read, gives an error of its own.
public struct JUnitReport: Hashable, Sendable {
  /// How many test cases the report holds, one for a damaged journal included.
  public var tests = 0
  /// How many diverged.
  public var failures = 0
  /// How many the lab failed, or were not brought to their end.
  public var errors = 0
  /// How many agreed, and not at the first try.
  public var flaky = 0
  /// How many were not tried.
  public var skipped = 0
  /// The sum of the cases' times in milliseconds.
  public var milliseconds: Int64 = 0
  /// What is wrong with the journal itself.
  public var problems: [JournalProblem] = []
}
