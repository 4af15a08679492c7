import Foundation
import Reporting
import Basics
import TestSupport
import Testing

/// Reads the outcomes of a report with Python's expat: message and text of each, as JSON.
private let expatReader = """
  import json, sys, xml.parsers.expat
  found, open_, parser = [], [], xml.parsers.expat.ParserCreate()
  parser.buffer_text = True
  def start(name, attributes):
      if name in ("failure", "error", "skipped"):
          open_.append([attributes["message"], ""])
  def data(text):
      if open_:
          open_[-1][1] += text
  def end(name):
      if name in ("failure", "error", "skipped"):
          found.append(open_.pop())
  parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = start, data, end
  with open(sys.argv[1], "rb") as file:
      parser.ParseFile(file)
  json.dump(found, sys.stdout)
  """

/// What is to be asked of two parsers that are not ours.
enum Parsers {
  static func xmllint(_ path: String, schema: String? = nil) throws -> (status: Int32, errors: String) {
    let (status, _, errors) = try run(
      "xmllint", ["--noout"] + (schema.map { ["--schema", $0] } ?? []) + [path])
    return (status, errors)
  }

  static func expat(_ path: String) throws -> (status: Int32, outcomes: [[String]], errors: String) {
    let (status, output, errors) = try run("python3", ["-c", expatReader, path])
    return (status, status == 0 ? try JSONDecoder().decode([[String]].self, from: output) : [], errors)
  }
}

@Suite("Reports in the eyes of other parsers")
struct ParserTests {
  /// A piece of a message: how it stands in the journal, and what a reader of the report must see of it.
  struct Piece {
    var journal: [UInt8]
    var shown: String

    init(_ journal: String, _ shown: String) {
      self.journal = Array(journal.utf8)
      self.shown = shown
    }

    init(byte: UInt8) {
      journal = [byte]
      shown = "\\x{" + String(byte, radix: 16, uppercase: true) + "}"
    }
  }

  static let pieces: [Piece] = {
    var pieces = [
      "a", "Z", " ", "  ", "]]>", "]]", "<![CDATA[", "<", ">", "&", "&amp;", "&#x1B;", "&#0;", "'", "--",
      "<!--",
      "?>", "é", "e\u{301}", "鍵", "🔒", "\u{85}", "\u{9F}", "\u{2028}", "\u{FFFD}", "\u{E000}", "\u{1FFFE}",
      "\u{10FFFF}", "\u{7F}",
    ].map { Piece($0, $0) }
    pieces += [
      ("\\\"", "\""), ("\\\\", "\\"), ("\\/", "/"), ("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r"),
      ("\\r\\n", "\r\n"),
    ]
    .map { Piece($0.0, $0.1) }
    for value in (0..<0x20 as Range<UInt32>) where ![0x09, 0x0A, 0x0D].contains(value) {
      let digits = String(value, radix: 16, uppercase: true)
      pieces.append(Piece("\\u00" + (value < 16 ? "0" : "") + digits, "\\u{\(digits)}"))
      // As it is, which JSON forbids.
      if value > 0 { pieces.append(Piece(String(Unicode.Scalar(UInt8(value))), "\\u{\(digits)}")) }
    }
    pieces += [
      ("\\uFFFE", "\\u{FFFE}"), ("\\uffff", "\\u{FFFF}"), ("\u{FFFE}", "\\u{FFFE}"),
      ("\u{FFFF}", "\\u{FFFF}"),
    ]
    .map { Piece($0.0, $0.1) }
    pieces += [
      ("\\ud83d\\udd12", "🔒"), ("\\uDBFF\\uDFFF", "\u{10FFFF}"), ("\\u00e9", "é"), ("\\b\\f", "\\u{8}\\u{C}"),
    ]
    .map { Piece($0.0, $0.1) }
    // Halves of surrogate pairs, never two that make a whole.
    pieces += [
      ("\\ud83d-", "\\u{D83D}-"), ("\\udd12-", "\\u{DD12}-"), ("\\ud83d\\ud83d-", "\\u{D83D}\\u{D83D}-"),
    ]
    .map { Piece($0.0, $0.1) }
    pieces += [("\\ud83d\\n", "\\u{D83D}\n"), ("\\uD83D\\u0041", "\\u{D83D}A")].map { Piece($0.0, $0.1) }
    return pieces + ([0x80, 0xBF, 0xC0, 0xC1, 0xF5, 0xFE, 0xFF] as [UInt8]).map { Piece(byte: $0) }
  }()

  @Test("ten thousand hostile messages are well-formed to xmllint and to expat, and their text survives")
  func messages() throws {
    var generator = SeededGenerator(seed: 41)
    var journal = Array((#"{"run":{"format":1}}"# + "\n").utf8)
    var expected: [(message: String, detail: String)] = []
    let words = ["divergence", "lab-fault", "incomplete"]
    for index in 0..<10_000 {
      func draw() -> (journal: [UInt8], shown: String) {
        let drawn = (0..<generator.below(8)).map { _ in Self.pieces[generator.below(Self.pieces.count)] }
        return (drawn.flatMap(\.journal), drawn.map(\.shown).joined())
      }
      let (message, detail) = (draw(), draw())
      journal += Array("{\"case\":{\"id\":\"a/\(index)\",\"file\":\"a.yaml\",\"name\":\"n\(index) ".utf8)
      journal += message.journal + Array("\"}}\n{\"t\":\"0.000\",\"lab\":\"".utf8) + detail.journal
      journal += Array(
        "\"}\n{\"verdict\":\"\(words[index % 3])\",\"case\":\"a/\(index)\",\"message\":\"m".utf8)
      journal += message.journal + Array("\",\"details\":[\"".utf8) + detail.journal + Array("\"]}\n".utf8)
      expected.append(("m" + message.shown, detail.shown))
    }
    journal += Array(#"{"end":{"cases":10000,"status":1}}"#.utf8)

    let scratch = try TestFolder()
    let report = try scratch.report(journal).report
    expect([report.tests, report.failures, report.errors, report.problems.count], [10_000, 3334, 6666, 0])
    let path = scratch.path("junit.xml")
    let schema = try scratch.file("ci.xsd", Array(JUnitProfile.schema.utf8))
    let lint = try Parsers.xmllint(path, schema: schema)
    expect(lint.status, 0)
    expect(lint.errors, "\(path) validates\n")
    let (status, outcomes, errors) = try Parsers.expat(path)
    expect(status, 0)
    expect(errors, "")
    expect(outcomes.count, expected.count)
    for (outcome, (message, detail)) in zip(outcomes, expected) {
      // By bytes: strings that look the same must be the same.
      let end = "\n\n\(message)\n\(detail)"
      if Array(outcome[0].utf8) != Array(message.utf8)
        || !outcome[1].utf8.reversed().starts(with: end.utf8.reversed())
      {
        Issue.record("\(outcome) instead of \([message, detail])")
        return
      }
    }
  }

  static let malformed = [
    "<testsuites name=\"\u{1B}\"/>", "<testsuites>\u{1}</testsuites>", "<testsuites>]]></testsuites>",
    "<testsuites>&</testsuites>", "<testsuites name=\"<\"/>", "<testsuites>",
    "<testsuites>&#27;</testsuites>",
    "<testsuites>\u{FFFE}</testsuites>",
  ]

  @Test("both parsers refuse what is malformed, so that their silence means something", arguments: malformed)
  func canary(text: String) throws {
    let scratch = try TestFolder()
    let bad = try scratch.file(
      "bad.xml", Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(text)\n".utf8))
    #expect(try Parsers.xmllint(bad).status == 1)
    let (status, _, errors) = try Parsers.expat(bad)
    #expect(status == 1 && errors.contains("ExpatError"), "\(errors)")
  }

  @Test("whatever bytes a journal holds, there is a report, and it is well-formed")
  func hostileJournals() throws {
    var generator = SeededGenerator(seed: 43)
    let lines = journal(
      caseLines("a", file: "x.yaml") + [
        #"{"case":{"id":"b","name":"n"}}"#, #"{"t":"0.5","status":["x\u001b",{"k":1.5e3}]}"#,
      ]
        + [#"{"verdict":"divergence","case":"b","t":"1","details":["d"],"message":"m","step":3}"#]
        + [#"{"coverage":{"machine":"m","legal":[1,2],"empty":[3,4]}}"#], cases: 2, status: 1)
    let seed = Array(lines.joined(separator: "\n").utf8)
    let scratch = try TestFolder()
    var paths: [String] = []
    for round in 0..<120 {
      var bytes = generator.below(10) == 0 ? generator.bytes(300) : seed
      for _ in 0...generator.below(6) where !bytes.isEmpty {
        let place = generator.below(bytes.count)
        switch generator.below(4) {
        case 0: bytes[place] = UInt8(generator.below(256))
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 1 + generator.below(20)))
        case 2: bytes.insert(contentsOf: generator.bytes(1 + generator.below(3)), at: place)
        default: bytes.insert(Array("{}[]\",:\\\n0e-u".utf8)[generator.below(13)], at: place)
        }
      }
      let source = try scratch.file("journal.jsonl", bytes)
      let path = scratch.path("\(round).xml")
      let report = try JUnitReport.write(journal: source, to: path)
      // Two cases and a good end, or something red.
      #expect(report.failures + report.errors > 0 || report.tests == 2, "round \(round)")
      paths.append(path)
    }
    let schema = try scratch.file("ci.xsd", Array(JUnitProfile.schema.utf8))
    let (status, _, errors) = try run("xmllint", ["--noout", "--schema", schema] + paths)
    expect(status, 0)
    expect(errors.split(separator: "\n").filter { !$0.hasSuffix(" validates") }, [])
  }
}

@Suite("Schemas of reports")
struct SchemaTests {
  /// A report with every element there is.
  static func fullReport(_ scratch: TestFolder) throws -> String {
    let lines =
      caseLines("a/b/passed", file: "a/b.yaml") + caseLines("a/b/failed", "divergence", file: "a/b.yaml")
      + caseLines("a/c/broken", "lab-fault", file: "a/c.yaml")
      + caseLines("a/c/left", "skipped", file: "a/c.yaml")
      + [#"{"case":{"id":"a/c/open","file":"a/c.yaml","line":7,"machine":"m","device":"d","seed":1}}"#]
      + [#"{"t":"0.001","step":1,"line":8,"stimulus":"connect"}"#, "this is no record"]
    let manifest = #"{"host":"bench-01","start":"2026-11-20T22:38:51Z"}"#
    return try scratch.report(journal(lines, cases: 5, status: 1), manifest: manifest).xml
  }

  @Test("a report is valid against the schema of ci")
  func valid() throws {
    let scratch = try TestFolder()
    let xml = try Self.fullReport(scratch)
    for element in [
      "<failure", "<error", "<skipped", "<system-out", "<property", "timestamp=", "hostname=", "line=",
    ] {
      #expect(xml.contains(element))
    }
    let schema = try scratch.file("profile.xsd", Array(JUnitProfile.schema.utf8))
    let (status, errors) = try Parsers.xmllint(scratch.path("junit.xml"), schema: schema)
    expect(status, 0)
    expect(errors, scratch.path("junit.xml") + " validates\n")
  }

  static let damages: [(String, String)] = [
    ("time=\"1.000\"", "time=\"1.0001\""), ("time=\"1.000\"", "time=\"1,000\""), ("time=\"1.000\"", ""),
    ("name=\"passed\"", "name=\"failed\""), ("name=\"passed\"", "name=\"\""), ("classname=\"a.b\" ", ""),
    ("line=\"8\"", "line=\"0\""), ("<error type=\"lab-fault\"", "<error"), ("51Z\"", "51\""),
    ("<failure type=\"divergence\"", "<failure kind=\"divergence\""),
    ("<testsuite name=\"a.b\"", "<testsuite name=\"a.c\""), ("tests=\"6\"", "tests=\"six\""),
  ]

  @Test("the schema of ci refuses what its readers would trip over", arguments: damages)
  func invalid(original: String, damaged: String) throws {
    let scratch = try TestFolder()
    let xml = try Self.fullReport(scratch)
    let range = try #require(xml.range(of: original), "\(xml)")
    let bad = try scratch.file("bad.xml", Array(xml.replacingCharacters(in: range, with: damaged).utf8))
    let schema = try scratch.file("ci.xsd", Array(JUnitProfile.schema.utf8))
    let (status, errors) = try Parsers.xmllint(bad, schema: schema)
    expect(status, 3)
    #expect(errors.contains("fails to validate"))
  }
}
