import Basics

/// Selects scenarios: by a text that they must contain, or by an expression similar to cargo-nextest's.
///
/// A text is searched for in the path, the title and the tags, ignoring case. In an expression a predicate is
/// followed by an opening parenthesis:
///
/// | expression | scenarios |
/// |---|---|
/// | `machine(sesame)` | of this machine, by its name or by that of its file |
/// | `tag(smoke)` | with this tag |
/// | `device(sesame?)` | for a device of such a name |
/// | `path(jam)` | with this text in their path |
/// | `title(again)` | with this text in their title |
/// | `text(jam)` | with this text anywhere, as without an expression |
/// | `all()`, `none()` | all of them, and none |
/// | `! a`, `not a` | all but those |
/// | `a & b`, `a and b` | those in both |
/// | `a - b` | those in the first and not in the second |
/// | `a | b`, `a + b`, `a or b` | those in either |
///
/// `&` and `-` bind more tightly than `|`; parentheses group. A name must match as a whole, with `*` and `?` as in a
/// shell; a text may match anywhere. `=x` matches only the whole, `~x` a part of it.
public struct ScenarioFilter: Equatable, Sendable {
  /// The property of a scenario that a predicate tests.
  enum Subject: String, CaseIterable {
    case machine, tag, device, path, title, text

    /// Whether it is a name, which must match as a whole by default.
    var isName: Bool { [.machine, .tag, .device].contains(self) }
  }

  /// The words that may be followed by parentheses.
  static let subjects = Subject.allCases.map(\.rawValue) + ["all", "none"]

  indirect enum Expression: Equatable, Sendable {
    case all
    case none
    case matches(Subject, Pattern)
    case not(Expression)
    case both(Expression, Expression)
    case either(Expression, Expression)
  }

  /// A pattern of a predicate.
  struct Pattern: Equatable, Sendable {
    var isWhole: Bool
    /// In lower case; `*` and `?` are wildcards in a whole match.
    var text: String
  }

  let expression: Expression

  /// A syntax error of an expression.
  public struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The column, in characters from 1.
    public let column: Int
    /// The message.
    public let message: String
    public var description: String { "column \(column): \(message)" }
  }

  /// Reads a filter.
  public init(_ text: String) throws(Problem) {
    if Self.isExpression(text) {
      var parser = FilterParser(text)
      expression = try parser.parse()
    } else {
      expression = .matches(.text, Pattern(isWhole: false, text: text.lowercased()))
    }
  }

  /// Whether a text is meant as an expression: its first word, after parentheses and negations, is followed
  /// by a parenthesis, or a predicate's name is, anywhere in the text.
  static func isExpression(_ text: String) -> Bool {
    for place in text.indices where text[place] == "(" {
      let word = text[..<place].reversed().prefix(while: \.isLetter).reversed()
      if Subject(rawValue: String(word)) != nil { return true }
    }
    var rest = text[...]
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "(" || $0 == "!" }
      let word = rest.prefix(while: \.isLetter)
      rest = rest.dropFirst(word.count)
      if word.isEmpty { return false }
      if rest.first == "(", word != "not" { return true }
      if word != "not" { return false }
    }
  }

  /// Whether a scenario matches.
  func matches(_ item: ScenarioSet.Item) -> Bool { Self.matches(expression, item) }

  private static func matches(_ expression: Expression, _ item: ScenarioSet.Item) -> Bool {
    switch expression {
    case .all: true
    case .none: false
    case .matches(let subject, let pattern): texts(subject, of: item).contains(where: pattern.matches)
    case .not(let inner): !matches(inner, item)
    case .both(let left, let right): matches(left, item) && matches(right, item)
    case .either(let left, let right): matches(left, item) || matches(right, item)
    }
  }

  private static func texts(_ subject: Subject, of item: ScenarioSet.Item) -> [String] {
    switch subject {
    case .machine:
      [item.machine.label]
        + (item.machine.isFile
          ? [Plan.id(of: item.machine.label.split(separator: "/").last.map(String.init) ?? "")] : [])
    case .tag: item.scenario.tags
    case .device: item.scenario.device.map { [$0.name] } ?? []
    case .path: [item.path]
    case .title: [item.scenario.title]
    case .text: [item.path, item.scenario.title] + item.scenario.tags
    }
  }
}

extension ScenarioFilter.Pattern {
  func matches(_ text: String) -> Bool {
    let text = text.lowercased()
    return isWhole ? Self.matches(Array(self.text)[...], Array(text)[...]) : text.contains(self.text)
  }

  /// Whether a text matches a pattern with `*` for any text and `?` for any one character.
  private static func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
    var (pattern, text) = (pattern, text)
    // The position after the last star, and of the text that it has not consumed: backtracking to it is
    // enough.
    var star: (pattern: ArraySlice<Character>, text: ArraySlice<Character>)?
    while let letter = text.first {
      if pattern.first == "*" {
        pattern.removeFirst()
        star = (pattern, text)
      } else if let wanted = pattern.first, wanted == "?" || wanted == letter {
        pattern.removeFirst()
        text.removeFirst()
      } else if let last = star {
        star = (last.pattern, last.text.dropFirst())
        (pattern, text) = (last.pattern, last.text.dropFirst())
      } else {
        return false
      }
    }
    return pattern.allSatisfy { $0 == "*" }
  }
}

/// A parser of expressions.
private struct FilterParser {
  private let letters: [Character]
  private var position = 0
  /// The nesting depth of parentheses and negations.
  private var depth = 0

  private static let maximumDepth = 100

  init(_ text: String) { letters = Array(text) }

  mutating func parse() throws(ScenarioFilter.Problem) -> ScenarioFilter.Expression {
    let expression = try either()
    skipSpaces()
    if position < letters.count {
      throw problem("expected `&`, `|` or `-`, and there is `\(letters[position])`")
    }
    return expression
  }

  private mutating func either() throws(ScenarioFilter.Problem) -> ScenarioFilter.Expression {
    var left = try both()
    while takes("|") || takes("+") || takes(word: "or") { left = .either(left, try both()) }
    return left
  }

  private mutating func both() throws(ScenarioFilter.Problem) -> ScenarioFilter.Expression {
    var left = try single()
    while true {
      if takes("&") || takes(word: "and") {
        left = .both(left, try single())
      } else if takes("-") {
        left = .both(left, .not(try single()))
      } else {
        return left
      }
    }
  }

  private mutating func single() throws(ScenarioFilter.Problem) -> ScenarioFilter.Expression {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.maximumDepth { throw problem("the expression is nested too deeply") }
    if takes("!") || takes(word: "not") { return .not(try single()) }
    if takes("(") {
      let inner = try either()
      guard takes(")") else { throw problem("expected `)`") }
      return inner
    }
    return try call()
  }

  /// A predicate with its argument.
  private mutating func call() throws(ScenarioFilter.Problem) -> ScenarioFilter.Expression {
    skipSpaces()
    let start = position
    while position < letters.count, letters[position].isLetter { position += 1 }
    let word = String(letters[start..<position])
    let known = ScenarioFilter.subjects
    guard !word.isEmpty else {
      let found = position < letters.count ? "there is `\(letters[position])`" : "the expression ends"
      throw problem("expected \(known.map { "\($0)(…)" }.joined(separator: ", ")), and \(found)")
    }
    guard known.contains(word) else {
      let hint =
        nearestName(to: word, in: known).map { "did you mean `\($0)`?" }
        ?? "expected one of \(known.joined(separator: ", "))"
      throw problem("unknown word `\(word)`: \(hint)", at: start)
    }
    guard takes("(") else { throw problem("expected `(` after `\(word)`") }
    let text = try argument(of: word)
    guard let subject = ScenarioFilter.Subject(rawValue: word) else {
      guard text.isEmpty else { throw problem("`\(word)()` takes nothing in its brackets", at: start) }
      return word == "all" ? .all : .none
    }
    var (isWhole, pattern) = (subject.isName, text)
    if let first = text.first, first == "=" || first == "~" {
      isWhole = first == "="
      pattern = String(text.dropFirst())
    }
    guard !pattern.isEmpty else { throw problem("`\(word)(…)` needs a text in its brackets", at: start) }
    return .matches(subject, ScenarioFilter.Pattern(isWhole: isWhole, text: pattern.lowercased()))
  }

  /// The argument, up to the closing parenthesis.
  private mutating func argument(of word: String) throws(ScenarioFilter.Problem) -> String {
    let start = position
    var open = 1
    while position < letters.count {
      if letters[position] == "(" { open += 1 }
      if letters[position] == ")" { open -= 1 }
      position += 1
      if open == 0 {
        let text = letters[start..<(position - 1)]
        let rest = text.drop(while: \.isWhitespace)
        return String(String(rest.reversed().drop(while: \.isWhitespace)).reversed())
      }
    }
    throw problem("`\(word)(` is not closed", at: start - word.count - 1)
  }

  private mutating func skipSpaces() {
    while position < letters.count, letters[position].isWhitespace { position += 1 }
  }

  private mutating func takes(_ letter: Character) -> Bool {
    skipSpaces()
    guard position < letters.count, letters[position] == letter else { return false }
    position += 1
    return true
  }

  private mutating func takes(word: String) -> Bool {
    skipSpaces()
    let end = position + word.count
    guard end <= letters.count, String(letters[position..<end]) == word,
      end == letters.count || !letters[end].isLetter
    else { return false }
    position = end
    return true
  }

  private func problem(_ message: String, at place: Int? = nil) -> ScenarioFilter.Problem {
    ScenarioFilter.Problem(column: (place ?? position) + 1, message: message)
  }
}
