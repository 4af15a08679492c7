/// A program of the user's that failed: which, and how.
public struct ProgramTrouble: Hashable, Sendable {
  /// What happened.
  public enum Kind: String, CaseIterable, Sendable {
    /// It ended before it had answered anything.
    case notStarted = "does not start"
    /// It runs, and has answered nothing.
    case silent = "never answers"
    /// It worked, and then it ended.
    case ended
    /// It worked, and then it stopped answering.
    case stopped = "stopped answering"
    /// It worked, and then it answered what has no known form.
    case malformed = "gave an answer of no known form"
  }

  /// Which program: `program`, `driver` or `peripheral`.
  public var program: String
  /// What happened.
  public var kind: Kind
  /// What it wrote last to its standard error; without that how it ended, as far as that is known.
  public var lastWords: String?

  /// Says what happened to a program.
  public init(_ program: String, _ kind: Kind, lastWords: String? = nil) {
    (self.program, self.kind, self.lastWords) = (program, kind, lastWords)
  }
}

extension ProgramTrouble: CustomStringConvertible {
  /// What is said of the lock whose program it is: `has a driver that does not start (no module named keypad)`.
  public var description: String {
    let last = (lastWords ?? "").prefix(100)
    return "has a \(program) that \(kind.rawValue)" + (last.isEmpty ? "" : " (\(last))")
  }
}
