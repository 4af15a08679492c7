import Basics

/// One thing that is wrong with a document.
public struct Problem: Hashable, Sendable {
  /// Where it starts.
  public var position: Position

  /// Where it ends, or `nil` when only its start is known.
  public var end: Position?

  /// How bad it is.
  public enum Severity: String, CaseIterable, Sendable {
    /// The document cannot be used.
    case error
    /// It can, and is hardly what its author meant.
    case warning
  }

  /// How much of its position is of use to a person.
  public enum Scope: Sendable {
    case place
    /// The line alone.
    case line
    /// Nothing: it concerns the whole file.
    case file
  }

  public var severity = Severity.error

  public var code: Code

  public var scope = Scope.place

  /// What is wrong, in one line without a full stop.
  public var message: String

  /// What would put it right, or `nil`.
  public var advice: Advice?

  /// What puts it right when it stands in place of all that is between ``position`` and ``end``.
  public var replacement: String?

  /// What is wrong with other files, and the reason for this.
  public var related: [Diagnostic] = []

  /// What would put it right, in one line, for a person.
  public var hint: String? { advice?.text }

  /// The nearest name, where that is what was most likely meant.
  public var suggestion: String? {
    if case .name(let name, _)? = advice { name } else { nil }
  }

  /// Describes what is wrong at a place.
  public init(
    _ code: Code, at position: Position, to end: Position? = nil, _ message: String, hint: Advice? = nil
  ) {
    self.code = code
    self.position = position
    self.end = end
    self.message = message
    advice = hint
  }

  /// Describes what concerns a whole file, or one line of it.
  public init(
    _ code: Code, ofLine line: Int? = nil, _ message: String, severity: Severity = .error
  ) {
    self.init(code, at: Position(line: line ?? 1, column: 1, offset: 0), message)
    scope = line == nil ? .file : .line
    self.severity = severity
  }

  /// The problem as a compiler would show it: `file:line:column: message`, the line, a caret and the hint.
  ///
  /// ```
  /// Scenarios/drop.yaml:9:15: unknown key `statuss`
  ///   9 |   - expect: { statuss: noSignal }
  ///     |               ^~~~~~~ did you mean `status`?
  /// ```
  public func rendered(in source: Source) -> String {
    let headline =
      "\(place(in: source.name)): \(severity == .warning && code != .more ? "warning: " : "")\(message)"
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

  private func place(in file: String) -> String {
    switch scope {
    case .place: "\(file):\(position)"
    case .line: "\(file):\(position.line)"
    case .file: file
    }
  }

  /// How many columns to underline: to the end, but at least one and not beyond the line that is shown.
  private func underlineWidth(_ excerpt: Excerpt) -> Int {
    guard let end, end.offset > position.offset else { return 1 }
    let length = end.line == position.line ? end.column - position.column : .max
    let marked = excerpt.after.unicodeScalars.prefix(length).prefix { $0 != "\t" }
    return max(1, displayWidth(String(marked)))
  }
}

/// A document that cannot be used, with everything that was found wrong with it.
public struct DocumentError: Error, Hashable, Sendable {
  /// The document.
  public var source: Source

  /// What is wrong, in the order of the text; at least one.
  public var problems: [Problem]

  /// How many more problems there are than are listed.
  public var omitted: Int

  /// Gathers what is wrong with a document.
  public init(source: Source, problems: [Problem], omitted: Int = 0) {
    precondition(!problems.isEmpty, "an error has a problem")
    self.source = source
    self.problems = problems
    self.omitted = omitted
  }
}

extension DocumentError: CustomStringConvertible {
  /// Every problem with its file, each followed by what it is due to in other files.
  public var diagnostics: [Diagnostic] {
    let more = omitted > 0 ? [Problem(.more, "and \(omitted) more", severity: problems[0].severity)] : []
    return (problems + more).flatMap { [Diagnostic($0, in: source)] + $0.related }
  }

  /// Every problem as a compiler would show it, one below the other.
  public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}
