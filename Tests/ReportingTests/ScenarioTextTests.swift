import Basics
import Foundation
@testable import Reporting
import Secrets
import System
import TestSupport
import Testing

/// A folder in which a report is made, beside what is none of its business.
private struct Desk {
  let scratch: TestFolder
  let home: String
  static let text = "scenario: A door\nmachine: door\nsteps:\n  - Open\n  - Close\n"

  init() throws {
    scratch = try TestFolder()
    // The real path: a temporary folder may be behind a link.
    let root = try #require(realPath(scratch.directory.path))
    home = root + "/home"
    for folder in [home + "/Scenarios", root + "/away", root + "/home-not"] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    for path in [
      "home/Scenarios/door.yaml", "away/door.yaml", "home-not/door.yaml", "home/Scenarios/notes.txt",
    ] {
      try Data(Self.text.utf8).write(to: URL(fileURLWithPath: root + "/" + path))
    }
    let links = [
      ("out.yaml", "../../away/door.yaml"), ("in.yaml", "door.yaml"), ("notes.yaml", "notes.txt"),
      ("circle.yaml", "circle.yaml"), ("away", "../../away"), ("null.yaml", "/dev/null"),
      ("zero.yaml", "/dev/zero"),
    ]
    for (name, target) in links {
      try FileManager.default.createSymbolicLink(
        atPath: home + "/Scenarios/" + name, withDestinationPath: target)
    }
    #expect(unsafe mkfifo(home + "/Scenarios/pipe.yaml", 0o600) == 0)
    try FileManager.default.createDirectory(
      atPath: home + "/Scenarios/folder.yaml", withIntermediateDirectories: true)
    let large = Self.text + String(repeating: "# so it goes on\n", count: 10_000)
    try Data(large.utf8).write(to: URL(fileURLWithPath: home + "/Scenarios/large.yaml"))
  }

  static func fingerprint(_ text: String) -> String { Fingerprint(text).description }

  func found(_ file: String, _ text: String? = Desk.text) -> ScenarioTexts.Finding? {
    ScenarioTexts(below: home).text(of: file, fingerprint: text.map(Self.fingerprint))
  }
}

@Suite("Scenarios in the HTML report")
struct ScenarioTextTests {
  private static let lines = ScenarioTexts.Finding.lines([
    "scenario: A door", "machine: door", "steps:", "  - Open", "  - Close",
  ])
  private static let outside = ScenarioTexts.Finding.withheld(
    "is not shown: it lies outside of the folder in which the report is made")

  @Test("what lies below the folder, and is the text that was driven, is shown")
  func shown() throws {
    let desk = try Desk()
    for file in [
      "Scenarios/door.yaml", "./Scenarios/../Scenarios/door.yaml", desk.home + "/Scenarios/door.yaml",
    ] {
      expect(desk.found(file), Self.lines)
    }
    // A link that stays below leads where it leads.
    expect(desk.found("Scenarios/in.yaml"), Self.lines)
  }

  @Test(
    "nothing else is read, whatever a journal says",
    arguments: [
      // Elsewhere: by its path, by dots, by a link of its own or of a folder, and where names begin alike.
      ("/etc/passwd.yaml", outside), ("/away/door.yaml", outside), ("../away/door.yaml", outside),
      ("Scenarios/../../away/door.yaml", outside), ("../home-not/door.yaml", outside),
      ("Scenarios/out.yaml", outside), ("Scenarios/away/door.yaml", outside),
      ("Scenarios/null.yaml", outside),
      ("Scenarios/zero.yaml", outside),
      // Nothing that is called otherwise, at the end of a link either, nor behind a zero.
      ("Scenarios/notes.yaml", outside), ("Scenarios/notes.txt\0.yaml", outside),
      ("Scenarios/notes.txt", nil),
      ("/etc/passwd", nil), ("", nil), ("fuzz/door", nil),
      // No file.
      ("Scenarios/pipe.yaml", .withheld("is not shown: it is no file")),
      ("Scenarios/folder.yaml", .withheld("is not shown: it is no file")),
      ("Scenarios/gone.yaml", .withheld("is not there any more")),
      ("Scenarios/circle.yaml", .withheld("is not there any more")),
      ("Scenarios/large.yaml", .withheld("is not shown: it cannot be read, or is too large")),
    ] as [(String, ScenarioTexts.Finding?)])
  func withheld(file: String, expected: ScenarioTexts.Finding?) throws {
    expect(try Desk().found(file), expected)
  }

  @Test("what a campaign saved beside its run is shown wherever that is, and nothing else of that folder")
  func saved() throws {
    let desk = try Desk()
    let root = Path.folder(of: desk.home)
    let out = root + "/out"
    for folder in ["/runs/a", "/failures"] {
      try FileManager.default.createDirectory(atPath: out + folder, withIntermediateDirectories: true)
    }
    try Data(Desk.text.utf8).write(to: URL(fileURLWithPath: out + "/failures/fuzz-door-1.yaml"))
    try Data(Desk.text.utf8).write(to: URL(fileURLWithPath: out + "/runs/other.yaml"))
    try FileManager.default.createSymbolicLink(
      atPath: out + "/failures/link.yaml", withDestinationPath: root + "/away/door.yaml")
    func found(_ file: String, _ text: String = Desk.text) -> ScenarioTexts.Finding? {
      ScenarioTexts(below: desk.home).text(
        of: file, fingerprint: Desk.fingerprint(text), savedBy: out + "/runs/a/journal.jsonl")
    }
    // By the path that it had where it was saved, too.
    for file in [
      out + "/failures/fuzz-door-1.yaml", "/gone/failures/fuzz-door-1.yaml",
      "../out/failures/fuzz-door-1.yaml",
    ] {
      expect(found(file), Self.lines)
    }
    expect(found(out + "/failures/fuzz-door-1.yaml", "another"), Self.outside)
    for file in [
      out + "/runs/other.yaml", out + "/failures/link.yaml", "/etc/passwd.yaml", root + "/away/door.yaml",
    ] {
      expect(found(file), Self.outside)
    }
  }

  @Test("a text that the journal does not know is not shown")
  func changed() throws {
    let desk = try Desk()
    expect(desk.found("Scenarios/door.yaml", "scenario: Another"), .withheld("has changed since the run"))
    expect(
      desk.found("Scenarios/door.yaml", nil),
      .withheld("is not shown: the journal does not say which text it had"))
  }

  @Test("where the folder is all there is, nothing is read")
  func root() throws {
    let desk = try Desk()
    let expected = ScenarioTexts.Finding.withheld("is not shown: the report is made in no folder of its own")
    for folder in ["/", "/usr/..", desk.home + "/gone", nil] {
      let texts = ScenarioTexts(below: folder)
      expect(
        texts.text(of: desk.home + "/Scenarios/door.yaml", fingerprint: Desk.fingerprint(Desk.text)), expected
      )
    }
  }

  @Test("what looks like a key in it, or is a secret, is taken out")
  func secrets() throws {
    let desk = try Desk()
    let key = "9f3ac1d5e7b80246cc11ad90fe3572b8"
    let own = "3b6e0c94d1f7a852e0c7d49b61f2a835"
    try Redactor.shared.register(Secret(text: own))
    let text = "scenario: A lock\nkey: \(key)\nother: \(own)\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: desk.home + "/Scenarios/lock.yaml"))
    expect(
      desk.found("Scenarios/lock.yaml", text),
      .lines(["scenario: A lock", "key: \(Redactor.mark)", "other: \(Redactor.mark)"]))
    // It is one in this text alone.
    expect(Redactor.shared.redacted(key), key)
  }

  /// The page about a case that ended at a line of a scenario.
  private func page(_ desk: Desk, line: Int, text: String) throws -> String {
    let lines = [
      #"{"case":{"id":"door","file":"Scenarios/door.yaml","line":1,"text":"\#(Desk.fingerprint(text))"}}"#,
      #"{"verdict":"divergence","case":"door","t":"1.0","step":2,"line":\#(line),"message":"it stayed <shut>"}"#,
    ]
    let source = try desk.scratch.file(
      "journal.jsonl", Array(journal(lines, cases: 1, status: 1).map { $0 + "\n" }.joined().utf8))
    let path = desk.scratch.path("report.html")
    try HTMLReport.write(journals: [source], to: path, scenariosBelow: desk.home)
    return try desk.scratch.text("report.html")
  }

  @Test("the line at which a case ended is marked, a few stand around it, and the others are folded")
  func marked() throws {
    let desk = try Desk()
    let text = (1...20).map { "line <\($0)>\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: desk.home + "/Scenarios/door.yaml"))
    let html = try page(desk, line: 12, text: text)
    #expect(html.contains("<h4>The scenario, line 12</h4>"))
    #expect(
      html.contains(
        """
        <span class="row hit"><span class="no">12</span> ✘ line &lt;12&gt;</span>
        <span class="row why">     ↑ it stayed &lt;shut&gt;</span>
        """))
    #expect(html.contains("<details><summary>Lines 1 to 7</summary>"))
    #expect(html.contains("<details><summary>Lines 17 to 20</summary>"))
    expect(html.matches(of: /class="row(?: hit)?"/).count, 20)
    // One that is at no line has all of it, folded.
    #expect(try page(desk, line: 0, text: text).contains("<summary>The scenario</summary>"))
    #expect(try page(desk, line: 21, text: text).contains("<summary>The scenario</summary>"))
  }

  @Test("why it is not shown is said in its place")
  func said() throws {
    let desk = try Desk()
    let html = try page(desk, line: 1, text: "another")
    #expect(html.contains("The scenario <code>Scenarios/door.yaml</code> has changed since the run.</p>"))
    #expect(!html.contains("class=\"source\""))
  }
}
