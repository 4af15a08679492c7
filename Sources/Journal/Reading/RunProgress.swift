public import Basics

/// The progress of a run, read from its journal, with all that is necessary to resume the run.
public struct RunProgress: Sendable {
  /// A case with a final result.
  public struct Judged: Hashable, Sendable {
    /// How it ended.
    public var ending: Record.Ending
    /// A hash of everything that determines the case.
    public var digest: String?
    /// The number of device observations on which the result rests.
    public var observations: Int

    /// Creates the result of a case.
    public init(_ ending: Record.Ending, digest: String?, observations: Int = 0) {
      (self.ending, self.digest, self.observations) = (ending, digest, observations)
    }
  }

  /// How the run was started.
  public private(set) var run: Record.Run?
  /// The cases that agreed, failed or were skipped, by id. Cases with a lab fault, with another attempt to follow, or
  /// without a verdict are not included.
  public private(set) var judged: [ExactText: Judged] = [:]

  /// The options that devices have shown of choices that they make once.
  public private(set) var choices = ShownChoices()

  /// The coverage of each machine, in all sessions that ended.
  public private(set) var coverage: [Record.Coverage] = []

  /// The ids of the cases that failed or had a lab fault, without those in quarantine.
  public private(set) var failed: Set<ExactText> = []

  /// Reads the journal at a path.
  ///
  /// - Throws: If it cannot be read, or contains an invalid line; an incomplete last line is ignored.
  public init(journal: String) throws {
    var reader = try JournalReader(journal)
    var open: Record.Case?
    var attempts = CaseAttempts()
    while let line = try reader.next() {
      switch try line.get() {
      case .run(let run):
        if self.run == nil { self.run = run }
        open = nil
      case .begin(let start):
        open = start
        if start.attempt == 1 { attempts = CaseAttempts() } else { attempts.beginAgain() }
      case .verdict(let verdict):
        attempts.end(verdict.attemptEnding, isTriedAgain: verdict.isTriedAgain)
        if let start = open, start.id.isWritten(as: verdict.id) {
          take(verdict, of: start, attempts.ending(failsFlaky: run?.failsFlaky ?? false))
        }
        open = nil
      case .coverage(let coverage): self.coverage.add(coverage)
      case .event, .machine, .finding, .campaign, .left, .end: break
      }
    }
  }

  private mutating func take(_ verdict: Record.Verdict, of start: Record.Case, _ ending: Record.Ending) {
    let id = ExactText(start.id)
    // The result of the next attempt is unknown, but this attempt failed.
    let isFailed = verdict.isTriedAgain || ending.element == .failed || ending == .labFault
    if isFailed { failed.insert(id) } else { failed.remove(id) }
    guard !verdict.isTriedAgain, ending.isVerdict || ending.element == .skipped else {
      return judged[id] = nil
    }
    if verdict.word == .agree { _ = choices.take(verdict.shown, of: start) }
    judged[id] = Judged(ending, digest: start.digest, observations: verdict.observations ?? 0)
  }
}
