import Basics
@testable import Documents
import TestSupport
import Testing

@Suite("Problems as people see them")
struct ProblemTests {
  static func problem(
    _ text: String, from start: String, to end: String? = nil
  ) -> (Source, Position, Position?) {
    func position(_ marker: String) -> Position {
      let head = text.prefix(upTo: text.firstRange(of: marker)!.lowerBound)
      let lines = head.split(separator: "\n", omittingEmptySubsequences: false)
      return Position(
        line: lines.count, column: lines.last!.unicodeScalars.count + 1, offset: head.utf8.count)
    }
    return (Source(name: "dir/a.yaml", bytes: Array(text.utf8)), position(start), end.map(position))
  }

  static let renderings: [(text: String, start: String, end: String?, hint: String?, expected: [String])] = [
    (
      "a: 1\nexpect: { statuss: x }\n", "statuss", ": x", "did you mean `status`?",
      [
        "dir/a.yaml:2:11: unknown key",
        "  2 | expect: { statuss: x }",
        "    |           ^~~~~~~ did you mean `status`?",
      ]
    ),
    (
      "\tkey:\tvalue\n", "value", nil, nil,
      ["dir/a.yaml:1:7: unknown key", "  1 | \tkey:\tvalue", "    | \t    \t^"]
    ),
    (
      "鍵と錠: e\u{301}🔒: oops", "oops", nil, nil,
      ["dir/a.yaml:1:11: unknown key", "  1 | 鍵と錠: e\u{301}🔒: oops", "    |              ^"]
    ),
    (
      "a: 鍵鍵 b", "鍵", " b", nil,
      ["dir/a.yaml:1:4: unknown key", "  1 | a: 鍵鍵 b", "    |    ^~~~"]
    ),
    (
      "\n\n\n\n\n\n\n\n\n\na: [\n  b\n", "[", "b", nil,
      ["dir/a.yaml:11:4: unknown key", "  11 | a: [", "     |    ^"]
    ),
    (
      "\u{FEFF}a: b", "b", nil, nil,
      ["dir/a.yaml:1:5: unknown key", "  1 | a: b", "    |    ^"]
    ),
    ("a: 1\n\n", "\n\n", nil, nil, ["dir/a.yaml:1:5: unknown key", "  1 | a: 1", "    |     ^"]),
  ]

  @Test("the line is shown with a caret below the place", arguments: renderings)
  func rendering(text: String, start: String, end: String?, hint: String?, expected: [String]) {
    let (source, from, to) = Self.problem(text, from: start, to: end)
    expect(
      Problem(.unknownKey, at: from, to: to, "unknown key", hint: hint.map(Advice.words)).rendered(
        in: source),
      expected.joined(separator: "\n"))
  }

  @Test("where there is no line to show, the hint stands below the message")
  func noLine() {
    let source = Source(name: "a.yaml", bytes: Array("a: 1\n".utf8))
    let problem = Problem(.unknownKey, at: Position(line: 2, column: 1, offset: 5), "missing", hint: "add it")
    expect(problem.rendered(in: source), "a.yaml:2:1: missing\n  add it")
    let beyond = Problem(.unknownKey, at: Position(line: 9, column: 1, offset: 500), "missing")
    expect(beyond.rendered(in: source), "a.yaml:9:1: missing")
  }

  @Test("of a very long line only the part around the place is shown")
  func longLine() {
    let text = String(repeating: "鍵", count: 500) + "!" + String(repeating: "錠", count: 500)
    let (source, start, _) = Self.problem(text, from: "!")
    let lines = Problem(.unknownKey, at: start, "x").rendered(in: source).split(separator: "\n")
    expect(
      lines.map(String.init),
      [
        "dir/a.yaml:1:501: x",
        "  1 | …" + String(repeating: "鍵", count: 33) + "!" + String(repeating: "錠", count: 33) + "…",
        "    |  " + String(repeating: "  ", count: 33) + "^",
      ])
  }

  @Test("bytes that are no text, and control characters, do not reach the terminal")
  func hostileText() {
    let source = Source(name: "a.yaml", bytes: [0x61, 0x1B, 0x5B, 0xC3, 0x28, 0x07, 0x62])
    let problem = Problem(.unknownKey, at: Position(line: 1, column: 7, offset: 6), "x")
    expect(problem.rendered(in: source), "a.yaml:1:7: x\n  1 | a\u{FFFD}[\u{FFFD}(\u{FFFD}b\n    |       ^")
  }
}
