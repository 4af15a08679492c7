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
  }

  /// What the cases came to; among all are also those that others stand for.
  public var tally = Tally()
  /// The first thousand cases that did not pass.
  public private(set) var failures: [Failure] = []
  /// What campaigns came upon, each once, with the shortest test that shows it.
  public private(set) var findings: [Record.Finding] = []
  /// How much of each machine was visited, in all runs together.
  public private(set) var coverage: [Record.Coverage] = []
  /// What each run ended with; `nil` for one that did not end.
  public private(set) var statuses: [Int?] = []
  /// How many cases the runs were to have that did not end, as far as their journals tell.
  public private(set) var planned = 0
  /// How many of these were not begun.
  public private(set) var notBegun = 0
  /// What stood behind the ends of runs and is no record.
  public private(set) var leftOut: [String] = []
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
    tally.cases = index.caseCount
    for suite in index.suites {
      for entry in suite.entries { count(entry) }
    }
    failures = index.failures.compactMap { failure in
      guard index.entry(failure.place).outcome != .replaced else { return nil }
      let verdict = failure.verdict
      return Failure(
        id: verdict.id, word: verdict.word, message: verdict.summary ?? "", replay: verdict.replay)
    }
    tally.observations = index.observations
    tally.excused = index.excused
    findings = index.findings.map(\.finding)
    coverage = index.coverage
    statuses = index.statuses
    (problems, leftOut) = (index.problems, index.leftOut)
    (partsElsewhere, copies) = (index.partsElsewhere, index.copies)
    (planned, notBegun) = (index.missing.of, index.missing.cases)
  }

  private mutating func count(_ entry: JournalIndex.Entry) {
    switch entry.outcome {
    case .passed:
      tally.agree += 1
      if entry.isFlaky { tally.flaky += 1 }
    case .failed: tally.divergences += 1
    case .broken: tally.labFaults += 1
    case .unfinished: tally.incomplete += 1
    case .skipped: tally.skipped += 1
    case .replaced: break
    }
  }

  /// Whether all agrees, and less came to a verdict than is asked for; see ``Tally/shortfall``.
  public var isTooLittle: Bool { statuses.allSatisfy { [0, 4].contains($0) } && tally.shortfall != nil }

  /// What a command ends with that merges the runs: what weighs most of what they ended with.
  ///
  /// A fault of our own (70) puts all else in doubt; a divergence (1) outranks whatever kept a run from looking
  /// further: a wrong command (2), a safety limit (6), an early end (5), trouble in the lab (3). One run that
  /// selected something makes up for others that did not (4).
  public var status: Int {
    var all = statuses.map { $0 ?? 5 }
    if !problems.isEmpty || isTooLittle { all.append(5) }
    // No last line takes back what the verdicts say.
    if tally.divergences > 0 { all.append(1) }
    if tally.labFaults > 0 { all.append(3) }
    return [70, 1, 2, 6, 5, 3, 0].first(where: all.contains) ?? 4
  }
}
