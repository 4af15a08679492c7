import Foundation
import Reporting
import Basics
import TestSupport
import Testing

/// Strings that break reports, as a journal may hold them.
private struct HostileStrings {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private static let pieces: [[UInt8]] = {
    var pieces = [
      "a", "Z ", "  ", "]]>", "<![CDATA[", "<", ">", "&", "&amp;", "&#0;", "'", "--", "<!--", "?>", "é",
      "e\u{301}",
      "鍵", "🔒", "\u{85}", "\u{7F}", "\u{2028}", "\u{FFFD}", "\u{1FFFE}", "\u{10FFFF}", "\u{202E}", "\u{2066}",
      "\u{200F}", "\u{61C}", "\u{FFFE}", "\u{FFFF}", "\\\"", "\\\\", "\\t", "\\n", "\\r", "\\u001b[31m",
      "\u{1B}[0m", "\\u001b]8;;http://x\\u0007", "\\u001b", "\\u0000", "\\ufffe", "\\uFFFF", "\\ud83d",
      "\\udd12",
      "\\ud83d\\udd12", "\\u202e", "/", "/../", ".", "<script>alert(1)</script>", "]]",
      "\\n[[ATTACHMENT|/etc/passwd]]\\n",
    ].map { Array($0.utf8) }
    for value in 1..<0x20 as Range<UInt8> { pieces.append([value]) }
    for byte in [0x80, 0xBF, 0xC0, 0xED, 0xF5, 0xFE, 0xFF] as [UInt8] { pieces.append([byte]) }
    // Half of a surrogate pair as bytes.
    pieces.append([0xED, 0xA0, 0x80])
    // A line feed would end the line, and it is no string then.
    return pieces.filter { $0 != [0x0A] }
  }()

  mutating func next() -> [UInt8] {
    (0..<generator.below(7)).flatMap { _ in Self.pieces[generator.below(Self.pieces.count)] }
  }

  /// A string of a million bytes or more.
  mutating func long() -> [UInt8] {
    var bytes = Self.pieces[generator.below(Self.pieces.count)]
    while bytes.count < 1_000_000 { bytes += bytes }
    return bytes
  }
}

@Suite("Reports of hostile runs")
struct HostileReportTests {
  /// A journal with hostile names, messages and paths, ten strings a case.
  private static func journal(_ cases: Int, seed: UInt64) -> Data {
    var strings = HostileStrings(seed: seed)
    var data = Data((#"{"run":{"format":1}}"# + "\n").utf8)
    let words = ["divergence", "lab-fault", "incomplete", "skipped", "agree"]
    for number in 0..<cases {
      func text(_ isLong: Bool = false) -> Data {
        Data("\"".utf8) + (isLong ? strings.long() : strings.next()) + Data("\"".utf8)
      }
      func add(_ parts: (String, Data)...) {
        for (words, text) in parts { data += Data(words.utf8) + text }
      }
      let again = number % 7 == 0 && number % 5 < 2
      for attempt in 1...(again ? 2 : 1) {
        add(
          (#"{"case":{"id":"\#(number)","attempt":\#(attempt),"name":"#, text(number == 0)),
          (#","file":"#, text(number == 1)),
          (#","device":"#, text()), (#","seed":7,"model":"#, text()))
        add(
          (#"}}"# + "\n" + #"{"t":"0.1","diagnostic":"#, text()),
          ("}\n" + #"{"t":"0.2","status":"#, text(number == 2)))
        add(
          (
            "}\n" + #"{"verdict":"\#(words[number % 5])","case":"\#(number)","message":"#, text(number == 3)
          ),
          (#","expected":"#, text()), (#","details":["#, text(number == 4)),
          (#"],"attachments":[{"kind":"capture","path":"#, text()),
          (#"}]\#(again && attempt == 1 ? #","again":true"# : "")}"# + "\n", Data()))
      }
    }
    data += Data((#"{"end":{"cases":\#(cases),"status":1}}"# + "\n").utf8)
    return data
  }

  /// Ten strings a case, in four profiles. With LOCKSTEP_FULL=1 there are 100,000; by themselves they take minutes
  /// in a debug build.
  private static let cases = ProcessInfo.processInfo.environment["LOCKSTEP_FULL"] == "1" ? 2500 : 150

  @Test(
    "of hostile strings every report is well-formed and valid, in files that are not too large",
    arguments: JUnitProfile.allCases)
  func hostile(profile: JUnitProfile) throws {
    let scratch = try TestFolder()
    let number = JUnitProfile.allCases.firstIndex(of: profile)!
    try Self.journal(Self.cases, seed: UInt64(number + 5)).write(
      to: scratch.directory.appendingPathComponent("journal.jsonl"))
    let manifest = #"{"name":"\ud83d\u0000","host":"\u0001 ","properties":{"\ufffe":"]]>\u202e","":""}}"#
    _ = try scratch.file("manifest.json", Array(manifest.utf8))
    let report = try JUnitReport.write(
      journals: [scratch.path("journal.jsonl")], to: scratch.path("junit.xml"), profile: profile,
      largest: 1_000_000)
    expect([report.tests, report.skipped, report.problems.count], [Self.cases, Self.cases / 5, 0])
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).filter {
      $0.hasPrefix("junit")
    }
    let paths = names.map(scratch.path)
    expect(try complaints(paths, profile, scratch), [])
    var cases: Set<[UInt8]> = []
    var count = 0
    for path in paths {
      let xml = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(xml.count <= 1_000_000)
      // By bytes, many of which there are: as characters they take a minute.
      for line in xml.split(separator: UInt8(ascii: "\n"))
      where line.drop(while: { $0 == UInt8(ascii: " ") }).starts(with: "<testcase ".utf8) {
        // Names that look alike are different ones, too.
        cases.insert(Array(line[..<line.range(of: Data(" time=\"".utf8))!.lowerBound]))
        count += 1
      }
      for scalar in ["\u{202E}", "\u{2066}", "\u{200F}", "\u{61C}", "\u{1B}"] {
        #expect(xml.range(of: Data(scalar.utf8)) == nil)
      }
    }
    expect(count, Self.cases)
    expect(cases.count, Self.cases)
  }
}
