public import Journal

/// What earlier runs show of a case.
///
/// Reports show it beside the case; it comes from a history, which is filled from journals.
public struct CaseHistory: Hashable, Sendable {
  /// One earlier run of the case.
  public struct Point: Hashable, Sendable {
    /// The name of the run.
    public var run: String
    /// When that run started, in UTC as `2026-11-20T22:38:51Z`.
    public var start: String
    /// How the case ended.
    public var ending: Record.Ending
    /// How long it took, in the time of the device, in milliseconds.
    public var milliseconds: Int64
  }

  /// How often the case failed in the same way.
  public struct Recurrence: Hashable, Sendable {
    /// In how many runs.
    public var count: Int
    /// When the first of them started.
    public var first: String
    /// When the last of them started.
    public var last: String
  }

  /// In how many runs the case came to a judgement: agreement or divergence.
  public var judged = 0
  /// In how many of them model and device agreed, at the first try or a later one.
  public var agreed = 0
  /// How often the judgement changed from one run to the next on the same device, and how often it took a retry to agree.
  public var changes = 0
  /// When the first run with the case started; `nil` for a case that is new.
  public var firstSeen: String?
  /// How long it usually takes when it agrees, the median, in milliseconds.
  public var usualMilliseconds: Int64?
  /// Whether this time it took much longer than usual.
  public var isSlower = false
  /// Earlier runs in which the case failed with the signature that it has now.
  public var sameFailure: Recurrence?
  /// The latest runs, the oldest first; fifty at most.
  public var points: [Point] = []
}

/// The source from which reports learn how earlier runs ended, and what they show of a case.
public protocol CaseHistorySource {
  /// The latest of the runs other than the ones that are reported, the oldest first.
  ///
  /// - Parameter count: how many are wanted.
  func runs(last count: Int) throws -> [HistoryRun]

  /// What is known of a case from runs other than the ones that are reported.
  ///
  /// - Parameters:
  ///   - className: the class of the case in JUnit.
  ///   - name: its name there.
  ///   - signature: that of its failure, where it failed now.
  ///   - milliseconds: how long it took now.
  /// - Returns: `nil` for a case that no other run had.
  func history(
    className: String, name: String, signature: String?, milliseconds: Int64
  ) throws -> CaseHistory?
}
