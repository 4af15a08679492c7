public import Basics

/// How far a run came, read from its journal: what it takes to go on with it.
public struct RunProgress: Sendable {
  /// A case that came to its judgement.
  public struct Judged: Hashable, Sendable {
    /// How it ended.
    public var ending: Record.Ending
    /// A hash of everything it was made of.
    public var digest: String?
    /// How many observations of the device it rests on.
    public var observations: Int

    /// Says how a case ended.
    public init(_ ending: Record.Ending, digest: String?, observations: Int = 0) {
      (self.ending, self.digest, self.observations) = (ending, digest, observations)
    }
  }

  /// How the run was started.
  public private(set) var run: Record.Run?
  /// The cases that agreed, diverged or were skipped, by their ids. A case that the lab failed, that was tried again or
  /// that was not brought to its end is none of them.
  public private(set) var judged: [ExactText: Judged] = [:]

  /// What devices have shown of choices that they make once.
  public private(set) var choices = ShownChoices()

  /// The cases that diverged or that the lab failed, by their ids, without those that are in quarantine.
  public private(set) var failed: Set<ExactText> = []

  /// Reads the journal at a path.
  ///
  /// - Throws: when it cannot be read, or holds a line that is none; a last line that was torn off is passed over.
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
      case .event, .machine, .coverage, .finding, .campaign, .left, .end: break
      }
    }
  }

  private mutating func take(_ verdict: Record.Verdict, of start: Record.Case, _ ending: Record.Ending) {
    let id = ExactText(start.id)
    // Of one that is to be tried again it is not known how the last try ends, but that this one failed.
    let isFailed = verdict.isTriedAgain || ending.element == .failed || ending == .labFault
    if isFailed { failed.insert(id) } else { failed.remove(id) }
    guard !verdict.isTriedAgain, ending.isVerdict || ending.element == .skipped else {
      return judged[id] = nil
    }
    if verdict.word == .agree { _ = choices.take(verdict.shown, of: start) }
    judged[id] = Judged(ending, digest: start.digest, observations: verdict.observations ?? 0)
  }
}
