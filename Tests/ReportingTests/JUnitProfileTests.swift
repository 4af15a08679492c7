import Journal
import System
import Basics
import Foundation
import Reporting
import TestSupport
import Testing

/// A run with every outcome there is: tries, files, diagnostics, and characters that no XML can hold.
private enum Everything {
  static let lines = journal(
    [
      #"{"case":{"id":"p","name":"passes","file":"a/b.yaml","line":2,"machine":"sesame","model":"8f31","device":"emulator:sesame5","firmware":"3.0","seed":7}}"#,
      #"{"t":"0.1","diagnostic":"the dongle was reset"}"#,
      #"{"verdict":"agree","case":"p","t":"1.000","attachments":[{"kind":"capture","path":"packets/p.btsnoop"}]}"#,
    ] + failing("f", "diverges")
      + failing("c", "\\u0007\\u001b[31mred\\u001b[0m \\u202e ]]> \\ud83d <&\\\"> \\t\\r\\n")
      + failing("e", "is in trouble", word: "lab-fault", file: "a/c.yaml")
      + caseLines("s", "skipped", file: "a/c.yaml")
      + failing("i", "is left", word: "incomplete", file: "a/c.yaml")
      // Agrees at the third try.
      + failing("y", "first", again: true)
      + failing("y", "second", word: "lab-fault", attempt: 2, again: true)
      + trying("y", 3) + [#"{"verdict":"agree","case":"y","t":"0.5"}"#]
      // Never agrees.
      + failing("n", "once", again: true) + failing("n", "twice", attempt: 2, again: true)
      + failing("n", "thrice", word: "lab-fault", attempt: 3)
      // The lab fails it twice.
      + failing("l", "gone", word: "lab-fault", again: true)
      + failing("l", "gone for good", word: "lab-fault", attempt: 2)
      + [
        #"{"t":"0.0","diagnostic":"the lock is open"}"#, "this is no record",
        #"{"case":{"id":"open","file":"a/c.yaml"}}"#,
      ],
    cases: 10, status: 1)

  static let manifest = #"""
    {"name":"r1","host":"bench-01","start":"2026-11-20T22:38:51.5Z","version":"1.0","properties":{"revision":"61f6abf","a b":"\u0001"}}
    """#

  static func trying(_ id: String, _ attempt: Int) -> [String] {
    [#"{"case":{"id":"\#(id)","name":"\#(id)","file":"a/b.yaml","seed":9,"attempt":\#(attempt)}}"#]
  }

  static func failing(
    _ id: String, _ message: String, word: String = "divergence", file: String = "a/b.yaml", attempt: Int = 1,
    again: Bool = false
  ) -> [String] {
    [
      #"{"case":{"id":"\#(id)","name":"\#(message)","file":"\#(file)","line":3,"seed":9\#(attempt > 1 ? #","attempt":\#(attempt)"# : "")}}"#,
      #"{"t":"0.2","step":1,"line":4,"stimulus":"connect"}"#,
      #"{"t":"0.3","status":"try \#(attempt) of \#(id)"}"#,
      #"{"verdict":"\#(word)","case":"\#(id)","t":"0.4","step":1,"line":4,"message":"\#(message)","expected":"x","observed":"\#(message)","replay":"lockstep replay \#(id)"\#(again ? #","again":true"# : ""),"attachments":[{"kind":"capture","path":"packets/\#(id)-\#(attempt).btsnoop"}]}"#,
    ]
  }

  /// Writes journal and manifest to a folder, and the report beside them.
  static func report(
    _ scratch: TestFolder, _ profile: JUnitProfile, largest: Int = 25_000_000
  ) throws -> JUnitReport {
    let journal = try scratch.file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
    _ = try scratch.file("manifest.json", Array(manifest.utf8))
    return try JUnitReport.write(
      journals: [journal], to: scratch.path("junit.xml"), profile: profile, largest: largest)
  }
}

/// The schemas of other programs, which are no part of this package; a checkout may have them beside it.
enum Neighbours {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("../shared/junit").standardized

  static var areThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

  /// What each profile is valid against; ours is written to a file first.
  static func schemas(_ profile: JUnitProfile, _ scratch: TestFolder) throws -> [String] {
    let names =
      switch profile {
      case .ci: [String]()
      case .jenkins: ["jenkins-junit-10.xsd"]
      case .strict: ["jenkins-junit.xsd", "jenkins-junit-10.xsd", "windyroad-JUnit.xsd"]
      case .surefire: ["surefire-test-report.xsd"]
      }
    if profile == .ci { return [try scratch.file("own.xsd", Array(JUnitProfile.schema.utf8))] }
    return areThere ? names.map { folder.appendingPathComponent($0).path } : []
  }
}

/// Says of files what xmllint says against them; nothing when they are valid, or well-formed where no schema is there.
func complaints(_ paths: [String], _ profile: JUnitProfile, _ scratch: TestFolder) throws -> [String] {
  let schemas = try Neighbours.schemas(profile, scratch)
  let runs = schemas.isEmpty ? [[String]()] : schemas.map { ["--schema", $0] }
  return try runs.flatMap { schema in
    let (_, _, errors) = try run("xmllint", ["--noout"] + schema + paths)
    return errors.split(separator: "\n").map(String.init).filter { !$0.hasSuffix(" validates") }
  }
}

@Suite("Profiles of JUnit")
struct JUnitProfileTests {
  @Test("a run of every outcome is valid for the readers of each profile", arguments: JUnitProfile.allCases)
  func valid(profile: JUnitProfile) throws {
    let scratch = try TestFolder()
    let report = try Everything.report(scratch, profile)
    expect([report.tests, report.failures, report.errors, report.skipped, report.flaky], [11, 3, 5, 1, 1])
    expect(try complaints([scratch.path("junit.xml")], profile, scratch), [])
    // Zero tests, and a journal that is not there.
    for journal in ["/dev/null", "/nowhere"] {
      _ = try JUnitReport.write(journals: [journal], to: scratch.path("junit.xml"), profile: profile)
      expect(try complaints([scratch.path("junit.xml")], profile, scratch), [])
    }
  }

  @Test(
    "each profile is valid for the schemas that its readers check",
    .enabled(if: Neighbours.areThere, "the schemas of JUnit's readers are not beside this checkout"))
  func schemas() throws {
    // The check above is one of well-formedness only where the schemas are missing; here they must bite.
    let scratch = try TestFolder()
    for (profile, other) in [
      (JUnitProfile.ci, JUnitProfile.jenkins), (.jenkins, .strict), (.surefire, .strict),
      (.strict, .surefire),
    ] {
      _ = try Everything.report(scratch, profile)
      #expect(
        try !complaints([scratch.path("junit.xml")], other, scratch).isEmpty, "\(profile) as \(other)")
    }
  }

  @Test(
    "nothing vanishes in any profile: messages, tries, traces, files, properties",
    arguments: JUnitProfile.allCases)
  func everything(profile: JUnitProfile) throws {
    let scratch = try TestFolder()
    _ = try Everything.report(scratch, profile)
    let xml = try scratch.text("junit.xml")
    let folder = scratch.directory.path + "/"
    var words = [
      "the dongle was reset", "the lock is open", "line ", "not JSON", "61f6abf", "8f31", "emulator:sesame5",
    ]
    words += [
      "step 1, t = 0.400 s, a/b.yaml:4\nscenario: diverges\nexpected: x\nobserved: diverges\nseed: 9\nreplay: lockstep replay f\n\ndiverges"
    ]
    for (id, tries) in [("f", 1), ("c", 1), ("e", 1), ("i", 1), ("y", 2), ("n", 3), ("l", 2)] {
      for attempt in 1...tries {
        words += [
          "\n[[ATTACHMENT|\(folder)packets/\(id)-\(attempt).btsnoop]]\n", "status try \(attempt) of \(id)\n",
        ]
      }
    }
    words += [
      "[[ATTACHMENT|\(folder)packets/p.btsnoop]]\n", "first", "second", "once", "twice", "thrice",
      "gone for good",
    ]
    words += ["\\u{7}red \\u{202E} ]]&gt; \\u{D83D} &lt;&amp;\"&gt; \t&#13;\n", "value=\"\\u{1}\""]
    for word in words { #expect(xml.contains(word), "\(word) in \(xml)") }
  }

  static let triedCases: [(profile: JUnitProfile, id: String, expected: String)] = [
    (
      .ci, "y",
      """
            <flakyFailure type="divergence" message="first">
              <stackTrace>…</stackTrace>
              <system-out>…</system-out>
            </flakyFailure>
            <flakyError type="lab-fault" message="second">
              <stackTrace>…</stackTrace>
              <system-out>…</system-out>
            </flakyError>

      """
    ),
    (
      .jenkins, "n",
      """
            <failure type="divergence" message="once">…</failure>
            <rerunFailure type="divergence" message="twice">
              <stackTrace>…</stackTrace>
              <system-out>…</system-out>
            </rerunFailure>
            <rerunError type="lab-fault" message="thrice">
              <stackTrace>…</stackTrace>
              <system-out>…</system-out>
            </rerunError>
            <system-out>…</system-out>

      """
    ),
    (
      .surefire, "l",
      """
            <error type="lab-fault" message="gone">…</error>
            <rerunError type="lab-fault" message="gone for good">
              <stackTrace>…</stackTrace>
              <system-out>…</system-out>
            </rerunError>
            <system-out>…</system-out>

      """
    ),
  ]

  @Test("tries are flaky and rerun elements", arguments: triedCases)
  func tries(profile: JUnitProfile, id: String, expected: String) throws {
    let scratch = try TestFolder()
    _ = try Everything.report(scratch, profile)
    let xml = try scratch.text("junit.xml")
    let start = try #require(xml.range(of: "<testcase classname=\"\(id)\""))
    var text = xml[start.upperBound...].drop { $0 != "\n" }.dropFirst().prefix(upTo: xml.endIndex)
    text = text.prefix(upTo: try #require(text.range(of: "    </testcase>")).lowerBound)
    if let properties = text.range(of: "      </properties>\n") { text = text[properties.upperBound...] }
    let short = String(text).replacingOccurrences(
      of: #">[^<]+</(failure|error|stackTrace|system-out)>"#, with: ">…</$1>", options: .regularExpression)
    expect(short, expected)
  }

  @Test("a flaky case fails where the run was told so")
  func flakyFails() throws {
    let scratch = try TestFolder()
    let lines =
      [#"{"run":{"format":1,"cases":1,"flaky":"fail"}}"#] + Everything.failing("y", "first", again: true)
      + Everything.trying("y", 2) + [#"{"verdict":"agree","case":"y"}"#, #"{"end":{"cases":1,"status":1}}"#]
    for profile in JUnitProfile.allCases {
      let path = try scratch.file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
      let report = try JUnitReport.write(journals: [path], to: scratch.path("junit.xml"), profile: profile)
      expect([report.tests, report.failures, report.errors, report.flaky], [1, 1, 0, 1])
      let failure = #"<failure type="flaky" message="flaky, agreed at try 2: first">"#
      #expect(try scratch.text("junit.xml").contains(failure))
      expect(try complaints([scratch.path("junit.xml")], profile, scratch), [])
    }
  }

  static let openTries: [(lines: [String], counts: [Int], text: String)] = [
    // Killed before the try that was announced, or in it.
    (
      Everything.failing("y", "first", again: true), [2, 0, 2, 0],
      #"<rerunFailure type="divergence" message="first">"#
    ),
    (
      Everything.failing("y", "first", again: true) + Everything.trying("y", 2), [1, 0, 1, 0],
      #"<error type="incomplete" message="the run ended before"#
    ),
    // A divergence stands unless a later try agrees.
    (
      Everything.failing("y", "first", again: true)
        + Everything.failing("y", "second", word: "lab-fault", attempt: 2)
        + journal([], cases: 1, status: 1).suffix(1),
      [1, 1, 0, 0], #"<rerunError type="lab-fault" message="second">"#
    ),
    // Tries of two cases are not mixed up.
    (
      Everything.failing("x", "other") + Everything.trying("y", 2) + [#"{"verdict":"agree","case":"y"}"#]
        + journal([], cases: 2, status: 1).suffix(1), [2, 1, 0, 0], #"name="y""#
    ),
  ]

  @Test("tries that do not come to an end", arguments: openTries)
  func endings(lines: [String], counts: [Int], text: String) throws {
    let (xml, report) = try TestFolder().report([#"{"run":{"format":1}}"#] + lines)
    expect([report.tests, report.failures, report.errors, report.flaky], counts)
    #expect(xml.contains(text), "\(xml)")
  }

  @Test("paths of files are those from where we are in ci, where a run is below it")
  func attachments() throws {
    let here = FileManager.default.currentDirectoryPath
    let name = "lockstep-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: "\(here)/\(name)", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: "\(here)/\(name)") }
    try Data(Everything.lines.map { $0 + "\n" }.joined().utf8).write(
      to: URL(fileURLWithPath: "\(name)/journal.jsonl"))
    for (profile, prefix) in [(JUnitProfile.ci, ""), (.jenkins, here + "/")] {
      for folder in [name, "./\(name)", "\(here)/\(name)"] {
        _ = try JUnitReport.write(
          journals: ["\(folder)/journal.jsonl"], to: "\(name)/junit.xml", profile: profile)
        let xml = try String(contentsOfFile: "\(name)/junit.xml", encoding: .utf8)
        #expect(
          xml.contains("\n[[ATTACHMENT|\(prefix)\(name)/packets/f-1.btsnoop]]\n</system-out>"), "\(xml)")
      }
    }
  }

  @Test("a file beside the folder of the runs is named without a detour")
  func normalizedPaths() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/lockstep-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: "\(folder)/runs/a", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lines = Everything.lines.map {
      $0.replacing("packets/f-1.btsnoop", with: "../../failures/./f.yaml") + "\n"
    }
    try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: "\(folder)/runs/a/journal.jsonl"))
    _ = try JUnitReport.write(
      journals: ["\(folder)/runs/a/journal.jsonl"], to: "\(folder)/junit.xml", profile: .ci)
    let xml = try String(contentsOfFile: "\(folder)/junit.xml", encoding: .utf8)
    #expect(xml.contains("\n[[ATTACHMENT|\(folder)/failures/f.yaml]]\n"), "\(xml)")
  }
}

@Suite("Reports of several files and runs")
struct JUnitPartsTests {
  /// The numbers in the first tag of a report that counts.
  private static func counts(_ xml: String, _ tag: String) throws -> [[Int]] {
    try xml.split(separator: "\n").filter { $0.drop { $0 == " " }.hasPrefix("<\(tag) ") }.map { line in
      try ["tests", "failures", "errors"].map { name in
        let value = try #require(line.range(of: " \(name)=\"")).upperBound
        return Int(line[value...].prefix { $0 != "\"" })!
      }
    }
  }

  @Test(
    "a large report goes on in further files, each valid and right by itself",
    arguments: JUnitProfile.allCases)
  func split(profile: JUnitProfile) throws {
    let scratch = try TestFolder()
    let lines = (0..<60).flatMap { number in
      Everything.failing(
        "\(number)", "case \(number)", word: number % 3 == 0 ? "divergence" : "lab-fault",
        file: "\(number / 25).yaml")
    }
    let path = try scratch.file(
      "journal.jsonl", Array(journal(lines, cases: 60, status: 1).map { $0 + "\n" }.joined().utf8))
    func report(_ largest: Int) throws -> [String] {
      let report = try JUnitReport.write(
        journals: [path], to: scratch.path("junit.xml"), profile: profile, largest: largest)
      expect([report.tests, report.failures, report.errors], [60, 20, 40])
      return try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).filter {
        $0.hasPrefix("junit")
      }.sorted { ($0.count, $0) < ($1.count, $1) }
    }
    // Somebody else's, which no report may remove.
    _ = try scratch.file("junit-30.xml", Array("<mine/>".utf8))
    let names = try report(9000)
    #expect(names.count > 3 && names[0] == "junit.xml" && names.contains("junit-2.xml"), "\(names)")
    let own = names.filter { $0 != "junit-30.xml" }
    var (all, found) = ([0, 0, 0], 0)
    for name in own {
      let xml = try scratch.text(name)
      #expect(xml.utf8.count <= 9000, "\(name) has \(xml.utf8.count) bytes")
      let suites = try Self.counts(xml, "testsuite")
      let sum = suites.reduce([0, 0, 0]) { zip($0, $1).map(+) }
      all = zip(all, sum).map(+)
      let cases = xml.components(separatedBy: "<testcase ").count - 1
      expect(
        sum,
        [
          cases, xml.components(separatedBy: "<failure ").count - 1,
          xml.components(separatedBy: "<error ").count - 1,
        ])
      if profile == .ci || profile == .jenkins { expect(try Self.counts(xml, "testsuites"), [sum]) }
      found += cases
    }
    expect(all, [60, 20, 40])
    expect(found, 60)
    expect(try complaints(own.map(scratch.path), profile, scratch), [])
    // A smaller report takes what is left of a larger one away.
    expect(try report(25_000_000), ["junit.xml", "junit-30.xml"])
    expect(try scratch.text("junit-30.xml"), "<mine/>")
  }

  @Test("a report that cannot be completed leaves the old one, and nothing beside it")
  func failure() throws {
    let scratch = try TestFolder()
    let path = try scratch.file("journal.jsonl", Array(Everything.lines.map { $0 + "\n" }.joined().utf8))
    _ = try scratch.file("junit.xml", Array("old".utf8))
    try FileManager.default.createDirectory(
      atPath: scratch.path("junit-2.xml"), withIntermediateDirectories: true)
    #expect(throws: FileFault.self) {
      try JUnitReport.write(journals: [path], to: scratch.path("junit.xml"), largest: 3000)
    }
    expect(try scratch.text("junit.xml"), "old")
    expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).sorted(),
      ["journal.jsonl", "junit-2.xml", "junit.xml"])
  }

  /// Folders of four runs: two shards with cases of one file and a finding each, one that was killed, one with retries.
  private static func runs(_ scratch: TestFolder) throws -> [String] {
    let find = { (id: String, length: Int) in
      [#"{"finding":{"signature":"s","message":"m","shortest":\#(length)}}"#]
        + caseLines(id, "divergence", file: "f")
    }
    let coverage = { (legal: String) in
      [#"{"coverage":{"machine":"m","legal":[1,4],"empty":[0,4],"visited":["\#(legal)","0"]}}"#]
    }
    let journals = [
      journal(caseLines("x", file: "b.yaml") + find("one", 9) + coverage("8"), cases: 2, status: 1),
      journal(
        caseLines("x", "lab-fault", file: "b.yaml") + find("two", 9) + coverage("1"), cases: 2, status: 1),
      [#"{"run":{"format":1,"seed":7,"cases":4}}"#] + caseLines("x", "skipped", file: "a.yaml"),
      journal(
        Everything.failing("y", "again", again: true) + Everything.trying("y", 2)
          + [#"{"verdict":"agree","case":"y"}"#, #"{"t":"0","diagnostic":"left open"}"#, "no record"],
        cases: 1),
    ]
    return try journals.enumerated().map { number, lines in
      let folder = scratch.path("run \(number)")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      _ = try scratch.file("run \(number)/journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
      // All in one second, as an array of jobs starts.
      let manifest = #"""
        {"name":"r","host":"h\#(number / 2)","start":"2026-11-20T22:38:51Z","properties":{"job":"\#(number)","revision":"1"}}
        """#
      _ = try scratch.file("run \(number)/manifest.json", Array(manifest.utf8))
      return folder + "/journal.jsonl"
    }
  }

  private static func permutations(_ items: [String]) -> [[String]] {
    items.isEmpty
      ? [[]]
      : items.indices.flatMap { index in
        permutations(items.enumerated().filter { $0.offset != index }.map(\.element)).map {
          [items[index]] + $0
        }
      }
  }

  @Test("runs are merged in any order with one result", arguments: JUnitProfile.allCases)
  func permutations(profile: JUnitProfile) throws {
    let scratch = try TestFolder()
    let paths = try Self.runs(scratch)
    var reports: [String] = []
    var summaries: [String] = []
    for order in Self.permutations(paths + ["/nowhere/journal.jsonl"]) {
      _ = try JUnitReport.write(journals: order, to: scratch.path("junit.xml"), profile: profile)
      reports.append(try scratch.text("junit.xml"))
      summaries.append("\(RunSummary(journals: order))")
    }
    expect(reports.count, 120)
    #expect(reports.allSatisfy { $0 == reports[0] } && summaries.allSatisfy { $0 == summaries[0] })
    for text in [
      #"lockstep.job" value="0, 1, 2, 3""#, #"lockstep.hosts" value="h0, h1""#,
      #"lockstep.revision" value="1""#,
      #"lockstep.seed" value="42, 7""#, "2 of 4 allowed requests tried", "3 of 4 cases were not begun",
      #"name="x (2)""#,
    ] {
      #expect(reports[0].contains(text), "\(text)")
    }
    expect(reports[0].components(separatedBy: "<failure").count - 1, 1)
    expect(try complaints([scratch.path("junit.xml")], profile, scratch), [])
  }
}
