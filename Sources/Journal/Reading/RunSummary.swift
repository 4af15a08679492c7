/// The result of one or several runs, read only from their journals.
public struct RunSummary: Sendable {
  /// A case that did not pass.
  public struct Failure: Hashable, Sendable {
    /// Its id.
    public var id: String
    /// How it ended.
    public var word: Record.Verdict.Word
    /// The reason, in one line.
    public var message: String
    /// The command that replays the case.
    public var replay: String?
    /// Whether it agreed at a later attempt, but counts as failed.
    public var isFlaky = false
  }

  /// The results of the cases; the number of all cases includes replaced ones.
  public private(set) var tally = Tally()
  /// The results of the cases alone, from which a resumed run continues.
  public private(set) var count = EndingCount()
  /// The first thousand cases that did not pass.
  public private(set) var failures: [Failure] = []
  /// The findings of campaigns, each once, with the test that represents it.
  public private(set) var findings: [Record.Finding] = []
  /// The confirmed findings: each is represented by a case that diverged.
  public private(set) var confirmed: [Record.Finding] = []
  /// The coverage of each machine, in all runs together.
  public private(set) var coverage: [Record.Coverage] = []
  /// The exit status of each run; `nil` for a run that did not end.
  public private(set) var statuses: [Int?] = []
  /// The planned number of cases of the runs that did not end, as far as their journals contain it.
  public private(set) var planned = 0
  /// The number of these cases that were not started.
  public private(set) var notBegun = 0
  /// The lines after the ends of runs that are not records.
  public private(set) var omissions: [String] = []
  /// The missing parts of the job, in sentences, if the only run is one of its parts.
  public private(set) var partsElsewhere: [String] = []
  /// A sentence about each run with copies, which counts once.
  public private(set) var copies: [String] = []
  /// The problems of the journals.
  public private(set) var problems: [JournalProblem] = []

  /// Reads the journals at the given paths.
  ///
  /// - Parameter id: A case to exclude, since the resumed run will repeat it.
  public init(journals: [String], without id: String? = nil) {
    var index = JournalIndex(journals: journals)
    if let id { index.forget(id) }
    self.init(index)
  }

  package init(_ index: JournalIndex) {
    tally = index.tally
    count = index.count
    failures = index.failures.compactMap { failure in
      guard let ending = index.entry(failure.caseIndex).ending else { return nil }
      let verdict = failure.verdict
      return Failure(
        id: verdict.id, word: verdict.word, message: verdict.summary ?? "", replay: verdict.replay,
        isFlaky: ending == .failedAsFlaky)
    }
    findings = index.findings.map(\.finding)
    confirmed = index.confirmed.map(\.finding)
    coverage = index.coverage
    statuses = index.statuses
    (problems, omissions) = (index.problems, index.omissions)
    (partsElsewhere, copies) = (index.partsElsewhere, index.copies)
    (planned, notBegun) = (index.missing.of, index.missing.cases)
  }

  /// The combined exit status of the runs, which a command that merges them returns.
  public var status: Int { Int(tally.exitStatus.rawValue) }
}
