/// The minimum of verdicts that a successful run needs.
public struct MinimumVerdicts: Hashable, Sendable {
  /// Whether a skipped case fails the run; cases in quarantine do not.
  public var failsSkipped = false
  /// The minimum number of cases with a verdict.
  public var cases = 1

  /// Creates the default: one verdict is enough.
  public init() {}
}
