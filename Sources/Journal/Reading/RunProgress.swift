public import Basics

/// How far a run came, read from its journal: what it takes to go on with it.
public struct RunProgress: Sendable {
  /// A case that came to its judgement.
  public struct Judged: Hashable, Sendable {
    /// How it ended.
    public var word: Record.Verdict.Word
    /// A hash of everything it was made of.
    public var digest: String?
    /// Whether it took more than one try to agree.
    public var isFlaky: Bool
    /// Whether it diverged, and is in quarantine.
    public var isExcused: Bool
    /// How many observations of the device it rests on.
    public var observations: Int

    /// Says how a case ended.
    public init(
      word: Record.Verdict.Word, digest: String?, isFlaky: Bool, isExcused: Bool, observations: Int = 0
    ) {
      (self.word, self.digest, self.isFlaky, self.isExcused) = (word, digest, isFlaky, isExcused)
      self.observations = observations
    }
  }

  /// How the run was started.
  public private(set) var run: Record.Run?
  /// The cases that agreed, diverged or were skipped, by their ids. A case that the lab failed, that was tried again or
  /// that was not brought to its end is none of them.
  public private(set) var judged: [ExactText: Judged] = [:]

  /// The cases that diverged or that the lab failed, by their ids, without those that are in quarantine.
  public private(set) var failed: Set<ExactText> = []

  /// Reads the journal at a path.
  ///
  /// - Throws: when it cannot be read, or holds a line that is none; a last line that was torn off is passed over.
  public init(journal: String) throws {
    var reader = try JournalReader(journal)
    var open: Record.Case?
    var hasDiverged = false
    while let line = try reader.next() {
      switch try line.get() {
      case .run(let run):
        if self.run == nil { self.run = run }
        open = nil
      case .begin(let start):
        open = start
        if start.attempt == 1 { hasDiverged = false }
      case .verdict(let verdict):
        if verdict.counted == .divergence { hasDiverged = true }
        if let start = open, start.id.isWritten(as: verdict.id) {
          take(verdict, of: start, hasDiverged: hasDiverged)
        }
        open = nil
      case .event, .machine, .coverage, .finding, .campaign, .left, .end: break
      }
    }
  }

  private mutating func take(_ verdict: Record.Verdict, of start: Record.Case, hasDiverged: Bool) {
    // A divergence stands unless a later try agrees.
    let word = hasDiverged && verdict.word != .agree ? .divergence : verdict.counted
    let isFailed = (word == .divergence || word == .labFault) && !verdict.isExcused
    if isFailed { failed.insert(ExactText(start.id)) } else { failed.remove(ExactText(start.id)) }
    guard [.agree, .divergence, .skipped].contains(word), !verdict.isTriedAgain else {
      return judged[ExactText(start.id)] = nil
    }
    judged[ExactText(start.id)] = Judged(
      word: word, digest: start.digest, isFlaky: verdict.isFlaky, isExcused: verdict.isExcused,
      observations: verdict.observations ?? 0)
  }
}
