import Basics

/// A problem in a document.
public struct Problem: Hashable, Sendable {
  /// The start of the problem.
  public var position: Position

  /// The end of the problem, or `nil` if only its start is known.
  public var end: Position?

  /// The severity of a problem.
  public enum Severity: String, CaseIterable, Sendable {
    /// The document cannot be used.
    case error
    /// The document can be used, but it is probably not what its author intended.
    case warning
  }

  /// The part of a problem's position that is useful to a person.
  public enum Scope: Sendable {
    case place
    /// The line alone.
    case line
    /// None: the problem concerns the whole file.
    case file
  }

  public var severity = Severity.error

  public var code: Code

  public var scope = Scope.place

  /// What is wrong, in one line without a full stop.
  public var message: String

  /// Advice on how to correct it, if there is any.
  public var advice: Advice?

  /// The text that corrects the problem if it replaces everything between ``position`` and ``end``.
  public var replacement: String?

  /// The problems in other files that are the reason for this one.
  public var related: [Diagnostic] = []

  /// The advice in one line, for a person.
  public var hint: String? { advice?.text }

  /// The nearest name, if it is the most likely intention.
  public var suggestion: String? {
    if case .name(let name, _)? = advice { name } else { nil }
  }

  /// Makes a problem at a position.
  public init(
    _ code: Code, at position: Position, to end: Position? = nil, _ message: String, hint: Advice? = nil
  ) {
    self.code = code
    self.position = position
    self.end = end
    self.message = message
    advice = hint
  }

  /// Makes a problem that concerns a whole file, or one line of it.
  public init(
    _ code: Code, ofLine line: Int? = nil, _ message: String, severity: Severity = .error
  ) {
    self.init(code, at: Position(line: line ?? 1, column: 1, offset: 0), message)
    scope = line == nil ? .file : .line
    self.severity = severity
  }

  /// Returns the problem as a compiler shows it: `file:line:column: message`, the line, a caret and the hint.
  ///
  /// ```
  /// Scenarios/drop.yaml:9:15: unknown key `statuss`
  ///   9 |   - expect: { statuss: noSignal }
  ///     |               ^~~~~~~ did you mean `status`?
  /// ```
  public func rendered(in source: Source) -> String {
    let headline =
      "\(location(in: source.name)): \(severity == .warning && code != .more ? "warning: " : "")\(message)"
    guard scope == .place else { return headline }
    guard let excerpt = Excerpt(source, around: position.offset) else {
      return headline + (hint.map { "\n  " + $0 } ?? "")
    }
    let number = String(position.line)
    let gutter = spaces(number.count)
    let caret = blank(excerpt.before) + "^" + String(repeating: "~", count: underlineWidth(excerpt) - 1)
    return """
      \(headline)
        \(number) | \(excerpt.before)\(excerpt.after)
        \(gutter) | \(caret)\(hint.map { " " + $0 } ?? "")
      """
  }

  private func location(in file: String) -> String {
    switch scope {
    case .place: "\(file):\(position)"
    case .line: "\(file):\(position.line)"
    case .file: file
    }
  }

  /// Returns the number of columns to underline: up to the end, but at least one and only within the line shown.
  private func underlineWidth(_ excerpt: Excerpt) -> Int {
    guard let end, end.offset > position.offset else { return 1 }
    let length = end.line == position.line ? end.column - position.column : .max
    let marked = excerpt.after.unicodeScalars.prefix(length).prefix { $0 != "\t" }
    return max(1, displayWidth(String(marked)))
  }
}

/// The error of a document that cannot be used, with all problems found.
public struct DocumentError: Error, Hashable, Sendable {
  /// The document.
  public var source: Source

  /// The problems, in the order of the text; at least one.
  public var problems: [Problem]

  /// The number of problems beyond those listed.
  public var omitted: Int

  /// Makes an error from the problems of a document.
  public init(source: Source, problems: [Problem], omitted: Int = 0) {
    precondition(!problems.isEmpty, "an error has a problem")
    self.source = source
    self.problems = problems
    self.omitted = omitted
  }
}

extension DocumentError: CustomStringConvertible {
  /// Every problem with its file, each followed by its causes in other files.
  public var diagnostics: [Diagnostic] {
    let more = omitted > 0 ? [Problem(.more, "and \(omitted) more", severity: problems[0].severity)] : []
    return (problems + more).flatMap { [Diagnostic($0, in: source)] + $0.related }
  }

  /// Every problem as a compiler shows it, one below the other.
  public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}
