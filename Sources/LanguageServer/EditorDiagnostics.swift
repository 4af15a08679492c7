import Basics
import Documents

extension OpenDocument {
  /// Returns the range of a problem: up to its end, limited to its first line, but at least one character.
  private func range(of problem: Problem) -> Range<Int> {
    let start = min(problem.position.offset, text.bytes.count)
    let line = text.line(text.lineNumber(of: start))
    let end = min(problem.end?.offset ?? start, max(line.upperBound, start))
    return start..<(end > start ? end : min(text.next(after: start), max(line.upperBound, start)))
  }

  func json(of range: Range<Int>, _ encoding: PositionEncoding) -> JSON {
    [
      "start": text.position(of: range.lowerBound, encoding).json,
      "end": text.position(of: range.upperBound, encoding).json,
    ]
  }

  /// Returns a problem as an LSP diagnostic. The message includes the hint, because editors only show the message.
  func json(of problem: Problem, _ encoding: PositionEncoding) -> JSON {
    let related = problem.related.map { diagnostic -> JSON in
      let there = OpenDocument(uri: FileURI.uri(of: diagnostic.source.name), of: diagnostic.source)
      return [
        "location": [
          "uri": .text(there.uri), "range": there.json(of: there.range(of: diagnostic.problem), encoding),
        ], "message": .text(diagnostic.problem.message),
      ]
    }
    return .omittingNil([
      "range": json(of: range(of: problem), encoding),
      "severity": .integer(problem.severity == .error ? 1 : 2), "code": .text(problem.code.rawValue),
      "source": "lockstep", "message": .text(problem.message + (problem.hint.map { "\n\($0)" } ?? "")),
      "relatedInformation": related.isEmpty ? nil : .list(related),
    ])
  }

  /// Returns the code action that replaces the text with the suggestion.
  func fix(of problem: Problem, _ encoding: PositionEncoding) -> JSON? {
    guard let replacement = problem.replacement, let end = problem.end else { return nil }
    let edit: JSON = [
      "range": json(of: problem.position.offset..<end.offset, encoding), "newText": .text(replacement),
    ]
    return [
      "title": .text("change to `\(problem.suggestion ?? replacement)`"), "kind": "quickfix",
      "diagnostics": [json(of: problem, encoding)], "isPreferred": true,
      "edit": ["changes": .mapping([.init(uri, [edit])])],
    ]
  }

  /// Creates a document for a file that is not open.
  init(uri: String, of source: Source) {
    self.init(uri: uri, version: nil, text: "")
    text = EditorText(source.bytes)
  }
}
