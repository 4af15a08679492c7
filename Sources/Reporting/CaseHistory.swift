public import Journal

/// The results of a case in earlier runs.
///
/// Reports show it beside the case; it comes from a history, which is made from journals.
public struct CaseHistory: Hashable, Sendable {
  /// One earlier run of the case.
  public struct Point: Hashable, Sendable {
    /// The name of the run.
    public var run: String
    /// The start of that run in UTC: `2026-11-20T22:38:51Z`.
    public var start: String
    /// How the case ended.
    public var ending: Record.Ending
    /// The duration in the time of the device, in milliseconds.
    public var milliseconds: Int64
  }

  /// How often the case failed in the same way.
  public struct Recurrence: Hashable, Sendable {
    /// The number of runs.
    public var count: Int
    /// The start of the first of them.
    public var first: String
    /// The start of the last of them.
    public var last: String
  }

  /// The number of runs in which the case has a judgement: agreement or divergence.
  public var judged = 0
  /// The number of them in which model and device agreed, at the first or a later attempt.
  public var agreed = 0
  /// How often the judgement changed from one run to the next on the same device, or agreement needed a
  /// retry.
  public var changes = 0
  /// The start of the first run with the case; `nil` for a new case.
  public var firstSeen: String?
  /// The median duration when it agrees, in milliseconds.
  public var usualMilliseconds: Int64?
  /// Whether this time it took much longer than usual.
  public var isSlower = false
  /// The earlier runs in which the case failed with its current signature.
  public var sameFailure: Recurrence?
  /// The latest runs, the oldest first; at most fifty.
  public var points: [Point] = []
}

/// The source of earlier runs' results for reports.
public protocol CaseHistorySource {
  /// The latest runs other than the reported ones, the oldest first.
  ///
  /// - Parameter count: the maximum number.
  func runs(last count: Int) throws -> [HistoryRun]

  /// The results of a case in runs other than the reported ones.
  ///
  /// - Parameters:
  ///   - className: the class of the case in JUnit.
  ///   - name: its name there.
  ///   - signature: the signature of its failure, if it failed now.
  ///   - milliseconds: its duration now.
  /// - Returns: `nil` for a case without earlier runs.
  func history(
    className: String, name: String, signature: String?, milliseconds: Int64
  ) throws -> CaseHistory?
}
