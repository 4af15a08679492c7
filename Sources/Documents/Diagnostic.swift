public import Basics

/// A problem and the file that has it: everything that a report to a person or a program contains.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  /// The file.
  public var source: Source

  /// The problem.
  public var problem: Problem

  /// Makes a diagnostic from a problem and its file.
  public init(_ problem: Problem, in source: Source) {
    self.problem = problem
    self.source = source
  }

  /// Makes a diagnostic that concerns a path as a whole, whose content was not read.
  public init(
    _ code: Problem.Code, ofPath path: String, line: Int? = nil, _ message: String,
    severity: Problem.Severity = .error
  ) {
    self.init(Problem(code, ofLine: line, message, severity: severity), in: Source(name: path, bytes: []))
  }

  /// The report for a person, on one line or several.
  public var description: String { problem.rendered(in: source) }

  /// The report for a program.
  public var json: JSON {
    .omittingNil([
      "file": .text(source.name), "line": .integer(problem.position.line),
      "column": .integer(problem.position.column), "endLine": problem.end.map { .integer($0.line) },
      "endColumn": problem.end.map { .integer($0.column) }, "severity": .text(problem.severity.rawValue),
      "code": .text(problem.code.rawValue), "message": .text(problem.message),
      "hint": problem.hint.map(JSON.text), "suggestion": problem.suggestion.map(JSON.text),
      "replacement": problem.replacement.map(JSON.text),
    ])
  }

  /// The schema of ``json``.
  public static let shape = Shape.object(
    [
      "file": Shape.text, "line": Shape.count, "column": Shape.count,
      "severity": Shape.words(Problem.Severity.allCases.map(\.rawValue)),
      "code": Shape.words(Problem.Code.allCases.map(\.rawValue)), "message": Shape.text,
    ],
    optional: [
      "endLine": Shape.count, "endColumn": Shape.count, "hint": Shape.text, "suggestion": Shape.text,
      "replacement": Shape.text,
    ])
}
