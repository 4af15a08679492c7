/// How much must have been judged for green to be green.
public struct MinimumVerdicts: Hashable, Sendable {
  /// Whether nothing may be skipped, but for what is in quarantine.
  public var failsSkipped = false
  /// How many cases must have come to a verdict.
  public var cases = 1

  /// One verdict is enough.
  public init() {}
}
