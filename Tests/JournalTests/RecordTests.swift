import Basics
import Foundation
import FoundationXML
import Journal
import Reporting
import TestSupport
import Testing

@Suite("Records")
struct RecordTests {
  static let all: [Record] = (0..<60 as Range<UInt64>).flatMap { seed in
    var samples = Samples(seed: seed)
    return samples.records()
  }

  private func read(_ line: String) throws -> Record { try Record(parsing: Array(line.utf8).span) }

  @Test("what is written is read again, with every key that it can have, and written the same")
  func roundTrip() throws {
    for record in Self.all {
      let line = record.line()
      #expect(!line.contains("\n"))
      expect(try read(line), record)
      expect(try read(line).line(), line)
    }
  }

  @Test("the samples have every key of every table, and lack each that may be left out")
  func samplesAreWhole() {
    for shape in Record.shapes {
      let keys = keys(shape)
      let lines = Self.all.map { $0.json() }.filter { line in
        keys.required.allSatisfy { line[$0] != nil } && names(line).allSatisfy(keys.all.contains)
      }
      #expect(!lines.isEmpty, "\(keys.all)")
      for key in keys.all where key != "lease" {
        #expect(lines.contains { $0[key] != nil }, "nothing has \(key) of \(keys.all)")
        if !keys.required.contains(key) { #expect(lines.contains { $0[key] == nil }, "all have \(key)") }
      }
    }
  }

  private func names(_ json: JSON) -> [String] {
    if case .mapping(let members) = json { members.map(\.name) } else { [] }
  }

  private func keys(_ shape: JSON) -> (all: [String], required: [String]) {
    (names(shape["properties"] ?? .null), shape["required"]?.strings ?? [])
  }

  /// Says which lines are no record by the schema.
  private static let checker = """
    import json, sys
    from jsonschema import Draft7Validator
    schema = json.load(open(sys.argv[1]))
    Draft7Validator.check_schema(schema)
    checker = Draft7Validator(schema)
    for number, line in enumerate(open(sys.argv[2], encoding="utf-8", newline="\\n"), 1):
        for error in list(checker.iter_errors(json.loads(line)))[:1]:
            print(number, line.strip()[:200], error.message[:200])
    """

  private func faults(_ lines: [String]) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("records-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (schema, journal) = (
      folder.appendingPathComponent("schema"), folder.appendingPathComponent("journal")
    )
    try Data(Shape.any(Record.shapes).line.utf8).write(to: schema)
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: journal)
    return python(Self.checker, [schema.path, journal.path]).output
  }

  @Test(
    "every record is what the schema says, and a line with a key too many, or too few, is not",
    .enabled(if: hasSchemaValidator, "Python's jsonschema is not here"))
  func schema() throws {
    expect(try faults(Self.all.map { $0.line() } + Self.all.map { $0.line(lease: 7) }), "")
    let wrong = [
      #"{"verdict":"limited","case":"a","t":"0.000"}"#, #"{"verdict":"agree","case":"a","t":"0.000","x":1}"#,
      #"{"t":"0.000","reading":"battery"}"#, #"{"t":"0.000","diagnostic":"a","step":1,"line":1}"#,
    ]
    expect(try faults(wrong).split(separator: "\n").count, wrong.count)
  }

  @Test(
    "a line that is no record says what is missing",
    arguments: [
      (#"[]"#, "a line is one JSON object"),
      (#"{"verdict":"limited","case":"a"}"#, "no verdict is called limited"),
      (#"{"verdict":"agree"}"#, "a verdict has no case"), (#"{"case":{"id":""}}"#, "a case has no id"),
      (#"{"t":"1.0","model":"a"}"#, "an event has no model"), (#"{"status":"locked"}"#, "an event has no t"),
      (#"{"t":"x","status":"locked"}"#, "an event has no t"),
      (#"{"run":{"format":2}}"#, "the journal's format is 2, and 1 is understood"),
      (#"{"end":{"cases":1}}"#, "the end has no status"),
      (#"{"finding":{"signature":"a"}}"#, "a finding has no shortest"),
      (#"{"hello":1}"#, "no record is known by its keys"),
      (#"{"case""#, "not JSON at column 8: expected ':'"),
    ])
  func noRecord(line: String, reason: String) {
    #expect(throws: RecordError(reason: reason)) { try read(line) }
  }

  @Test("keys that are not known, and values of another shape, are passed over")
  func lenient() throws {
    expect(
      try read(#"{"case":{"id":"a","name":5,"seed":-1,"attempt":"x","new":{}},"lease":3,"newer":[]}"#),
      {
        var test = Record.Case(id: "a")
        test.lease = 3
        return .begin(test)
      }())
  }

  @Test("a string that is damaged is shown as far as it goes")
  func damaged() throws {
    let line = Array(#"{"t":"0.000","note":"a\uD83Db"#.utf8) + [0xFF] + Array(#""}"#.utf8)
    expect(try Record(parsing: line.span), .event(Record.Event(.note, "a\\u{D83D}b\\x{FF}", at: .zero)))
  }
}

@Suite("Records in reports")
struct RecordReportTests {
  /// A run of one case that ends with a verdict.
  private func journal(_ verdict: Record.Verdict, _ events: [Record.Event], seed: UInt64) -> [Record] {
    var test = Record.Case(id: verdict.id)
    (test.name, test.file, test.seed) = ("case \(seed)", "a/b.yaml", seed)
    var tally = Tally()
    tally.count(verdict.ending())
    return [.run(Record.Run(seed: seed, cases: 1)), .begin(test)] + events.map(Record.event)
      + [.verdict(verdict), .end(Record.End(tally))]
  }

  private func report(_ records: [Record]) throws -> (counts: JUnitReport, document: XMLDocument) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("records-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (journal, junit) = (
      folder.appendingPathComponent("journal.jsonl"), folder.appendingPathComponent("junit.xml")
    )
    try Data(records.map { $0.line() + "\n" }.joined().utf8).write(to: journal)
    let counts = try RecordedRuns(journals: [journal.path]).writeJUnit(to: junit.path)
    return (counts, try XMLDocument(contentsOf: junit))
  }

  @Test("a verdict of any form counts in JUnit as what it is, and says there why", arguments: UInt64(0)..<80)
  func junit(seed: UInt64) throws {
    var samples = Samples(seed: seed)
    guard case .verdict(var verdict) = samples.verdict() else { return }
    // Another try, and a case that agreed only then, take two verdicts.
    (verdict.isTriedAgain, verdict.isFlaky) = (false, false)
    if verdict.word != .incomplete { verdict.limit = nil }
    let events = Record.Event.Kind.allCases.map { samples.event($0) }
    let (counts, document) = try report(journal(verdict, events, seed: seed))
    expect(counts.tests, 1)
    let name: String? =
      switch verdict.counted {
      case .agree: nil
      case .divergence, .unmet: "failure"
      case .labFault, .incomplete: "error"
      case .skipped: "skipped"
      }
    expect(
      [counts.failures, counts.errors, counts.skipped],
      ["failure", "error", "skipped"].map { $0 == name ? 1 : 0 })
    guard let name else { return }
    let outcome = try document.nodes(forXPath: "//testcase/\(name)")
    expect(outcome.count, 1)
    let text = outcome.first?.stringValue ?? ""
    let (words, message) = (Set("alockx"), verdict.summary ?? "")
    // What XML cannot hold is written out; the letters are there in any case.
    expect(message.filter(words.contains).isEmpty || text.contains(message.prefix(1)), true)
    if verdict.isExcused { #expect(text.contains("in quarantine ")) }
  }

  @Test(
    "what is in quarantine keeps its signature, what was allowed and what was seen, and counts as skipped")
  func quarantine() throws {
    var verdict = Record.Verdict(.divergence, of: "a", at: .zero)
    verdict.message = "the device showed moved"
    verdict.quarantine = "until 2026-12-01: known"
    verdict.signature = "moved after lock"
    verdict.seen = "moved"
    verdict.allowed = [Record.Allowance(state: "locked", shows: "locked")]
    expect(try Record(parsing: Array(Record.verdict(verdict).line().utf8).span), .verdict(verdict))
    let (counts, document) = try report(journal(verdict, [], seed: 1))
    expect([counts.tests, counts.failures, counts.errors, counts.skipped], [1, 0, 0, 1])
    expect(
      try document.nodes(forXPath: "//skipped/@message").first?.stringValue,
      "in quarantine until 2026-12-01: known; it diverged: the device showed moved")
    var tally = Tally()
    tally.count(verdict.ending())
    expect([tally.divergences, tally.skipped, tally.excused], [0, 1, 1])
    // It is no news, and no agreement either.
    expect(tally.exitStatus, .nothingSelected)
    expect(tally.whyNoVerdict, "all that failed is in quarantine, 1 of 1 cases")
    tally.count(.agreed)
    expect(tally.exitStatus, .agree)
  }

  @Test(
    "agreement that is less than was asked for is incomplete",
    arguments: [
      (
        agree: 3, skipped: 0, excused: 0, minimum: 3, failsSkipped: true, status: CommandStatus.agree,
        words: nil
      ),
      (
        3, 0, 0, 4, false, .incomplete,
        "3 cases had a verdict; at least 4 are required (--min-cases)"
      ),
      (
        1, 0, 0, 2, false, .incomplete, "1 case had a verdict; at least 2 are required (--min-cases)"
      ),
      (3, 2, 0, 1, true, .incomplete, "2 cases were skipped; none may be (--fail-on-skipped)"),
      (3, 2, 0, 1, false, .agree, nil),
      (3, 1, 2, 1, true, .incomplete, "1 case was skipped; none may be (--fail-on-skipped)"),
      (3, 0, 2, 1, true, .agree, nil), (0, 2, 0, 9, true, .nothingSelected, nil),
    ]
      as [(
        agree: Int, skipped: Int, excused: Int, minimum: Int, failsSkipped: Bool, status: CommandStatus,
        words: String?
      )])
  func shortfall(
    row: (
      agree: Int, skipped: Int, excused: Int, minimum: Int, failsSkipped: Bool, status: CommandStatus,
      words: String?
    )
  ) {
    var tally = Tally()
    for _ in 0..<row.agree { tally.count(.agreed) }
    for _ in 0..<row.skipped { tally.count(.skipped) }
    for _ in 0..<row.excused { tally.count(.excused) }
    (tally.minimum.cases, tally.minimum.failsSkipped) = (row.minimum, row.failsSkipped)
    expect(tally.exitStatus, row.status)
    expect(tally.shortfall, row.words)
  }
}

@Suite("The page on the journal")
struct JournalPageTests {
  @Test("each example of a line is what is written")
  func examples() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Journal/Journal.docc/Journal-format.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").map(String.init)
    let keys = ["run", "case", "verdict", "left", "machine", "coverage", "finding", "campaign", "end"]
    let examples = lines.filter { line in keys.contains { line.hasPrefix("{\"\($0)\":") } }
    expect(Set(keys.filter { key in examples.contains { $0.hasPrefix("{\"\(key)\":") } }), Set(keys))
    for line in examples { expect(try Record(parsing: Array(line.utf8).span).line(), line) }
  }
}
