/// What one or several runs came to, read from their journals alone.
public struct RunSummary: Sendable {
  /// A case that did not pass.
  public struct Failure: Hashable, Sendable {
    /// Its id.
    public var id: String
    /// How it ended.
    public var word: Record.Verdict.Word
    /// Why, in one line.
    public var message: String
    /// The command that does it again.
    public var replay: String?
    /// Whether it agreed at a later try, and counts as failed all the same.
    public var isFlaky = false
  }

  /// What the cases came to; among all are also those that others stand for.
  public private(set) var tally = Tally()
  /// The same of the cases alone, to count on from where a run is taken up again.
  public private(set) var count = EndingCount()
  /// The first thousand cases that did not pass.
  public private(set) var failures: [Failure] = []
  /// What campaigns came upon, each once, with the test that stands for it.
  public private(set) var findings: [Record.Finding] = []
  /// Those of them that are sure: a case stands for each that diverged.
  public private(set) var confirmed: [Record.Finding] = []
  /// How much of each machine was visited, in all runs together.
  public private(set) var coverage: [Record.Coverage] = []
  /// What each run ended with; `nil` for one that did not end.
  public private(set) var statuses: [Int?] = []
  /// How many cases the runs were to have that did not end, as far as their journals tell.
  public private(set) var planned = 0
  /// How many of these were not begun.
  public private(set) var notBegun = 0
  /// What stood behind the ends of runs and is no record.
  public private(set) var omissions: [String] = []
  /// Which other parts there are of a job, where the only run is a part of it, in sentences.
  public private(set) var partsElsewhere: [String] = []
  /// Of which runs there were copies, which count once, in sentences.
  public private(set) var copies: [String] = []
  /// What is wrong with the journals.
  public private(set) var problems: [JournalProblem] = []

  /// Reads the journals at some paths.
  ///
  /// - Parameter id: a case that is not counted, since the run is taken up again and will have it once more.
  public init(journals: [String], without id: String? = nil) {
    var index = JournalIndex(journals: journals)
    if let id { index.forget(id) }
    self.init(index)
  }

  package init(_ index: JournalIndex) {
    tally = index.tally
    count = index.count
    failures = index.failures.compactMap { failure in
      guard let ending = index.entry(failure.place).ending else { return nil }
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

  /// How the runs ended together: what a command ends with that merges them.
  public var status: Int { Int(tally.exitStatus.rawValue) }
}
