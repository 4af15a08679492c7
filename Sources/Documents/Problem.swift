import Basics

/// One thing that is wrong with a document.
public struct Problem: Hashable, Sendable {
  /// Where it starts.
  public var position: Position

  /// Where it ends, or `nil` when only its start is known.
  public var end: Position?

  /// What is wrong, in one line without a full stop.
  public var message: String

  /// What would put it right, in one line, or `nil`.
  public var hint: String?

  /// Whether it is of the file as a whole, of which there is no text to point at.
  public private(set) var isOfFile = false

  /// Describes what is wrong with a file that cannot be read at all.
  public init(ofFile message: String) {
    self.init(at: .start, message)
    isOfFile = true
  }

  /// Describes what is wrong at a place.
  public init(at position: Position, to end: Position? = nil, _ message: String, hint: String? = nil) {
    self.position = position
    self.end = end
    self.message = message
    self.hint = hint
  }

  /// The problem as a compiler would show it: `file:line:column: message`, the line, a caret and the hint.
  ///
  /// ```
  /// Scenarios/drop.yaml:9:15: unknown key `statuss`
  ///   9 |   - expect: { statuss: noSignal }
  ///     |               ^~~~~~~ did you mean `status`?
  /// ```
  public func rendered(in source: Source) -> String {
    let headline = isOfFile ? "\(source.name): \(message)" : "\(source.name):\(position): \(message)"
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
  /// Every problem as a compiler would show it, one below the other.
  public var description: String {
    let shown = problems.map { $0.rendered(in: source) }
    let more = omitted > 0 ? ["\(source.name): and \(omitted) more"] : []
    return (shown + more).joined(separator: "\n")
  }
}
