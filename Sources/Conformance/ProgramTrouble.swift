/// The failure of a user's program.
public struct ProgramTrouble: Hashable, Sendable {
  /// The kind of failure.
  public enum Kind: String, CaseIterable, Sendable {
    /// The program ended before its first answer.
    case notStarted = "does not start"
    /// The program runs, but has never answered.
    case silent = "never answers"
    /// The program worked, then ended.
    case ended
    /// The program worked, then stopped answering.
    case stopped = "stopped answering"
    /// The program worked, then gave an answer of no known form.
    case malformed = "gave an answer of no known form"
  }

  /// The role of the program: `program`, `driver` or `peripheral`.
  public var program: String
  /// The kind of failure.
  public var kind: Kind
  /// Its last output on standard error or, without any, how it ended, if known.
  public var lastWords: String?

  /// Makes the failure of a program.
  public init(_ program: String, _ kind: Kind, lastWords: String? = nil) {
    (self.program, self.kind, self.lastWords) = (program, kind, lastWords)
  }
}

extension ProgramTrouble: CustomStringConvertible {
  /// A predicate of the lock that uses the program: `has a driver that does not start (no module named keypad)`.
  public var description: String {
    let last = (lastWords ?? "").prefix(100)
    return "has a \(program) that \(kind.rawValue)" + (last.isEmpty ? "" : " (\(last))")
  }
}
