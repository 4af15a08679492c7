import Basics
import Foundation
import Journal
import Reporting
import TestSupport
import Testing

/// A run with every outcome: a case that is tried again, one that the lab fails, files, tags, and times.
private enum Everything {
  static let lines = [
    #"{"run":{"format":1,"seed":42,"cases":5}}"#,
    #"{"case":{"id":"Scenarios/s5/drop","name":"A \"drop\"","file":"Scenarios/s5/drop.yaml","line":2,"tags":["link","smoke"],"machine":"sesame","device":"emulator:sesame5?defect=x","settings":"defect=x","firmware":"3.0","seed":7}}"#,
    #"{"t":"0.010","step":2,"line":8,"fault":"drop","value":"next"}"#,
    #"{"verdict":"divergence","case":"Scenarios/s5/drop","t":"5.000","step":2,"line":8,"message":"nothing was shown","expected":"a","observed":"b","replay":"lockstep replay f.yaml","attachments":[{"kind":"capture","path":"packets/drop.btsnoop"},{"kind":"capture","path":"../outside"},{"kind":"packets","path":"packets/link.jsonl"}]}"#,
    #"{"case":{"id":"Scenarios/s5/again","name":"Now and then"}}"#,
    #"{"verdict":"divergence","case":"Scenarios/s5/again","t":"1.000","step":1,"line":4,"message":"first","again":true}"#,
    #"{"case":{"id":"Scenarios/s5/again","name":"Now and then","attempt":2}}"#,
    #"{"verdict":"agree","case":"Scenarios/s5/again","t":"2.000"}"#,
    #"{"case":{"id":"Scenarios/gone"}}"#,
    #"{"verdict":"lab-fault","case":"Scenarios/gone","t":"1.500","message":"no dongle"}"#,
    #"{"case":{"id":"Scenarios/not"}}"#,
    #"{"verdict":"skipped","case":"Scenarios/not","message":"the battery is low"}"#,
    #"{"case":{"id":"Scenarios/open"}}"#, #"{"t":"0.500","status":"locked"}"#,
  ]
  static let times = [
    #"{"line":2,"start":"2026-11-20T22:38:51.100Z","seconds":0.25}"#,
    #"{"line":5,"start":"2026-11-20T22:38:52.000Z","seconds":0.5}"#,
    #"{"line":7,"start":"2026-11-20T22:38:53.000Z","seconds":0.0625}"#,
    #"{"line":9,"start":"2026-11-20T22:38:54.000Z","seconds":3}"#,
    #"{"line":11,"start":"2026-11-20T22:38:57.000Z","seconds":0}"#,
  ]
  static let manifest =
    #"{"id":"00112233445566778899aabbccddeeff","name":"r1","host":"bench-01","start":"2026-11-20T22:38:51.042Z","version":"1.0","properties":{"revision":"61f6abf","dongle: 1":"a\nb\\c"}}"#

  /// Writes the run, and the files that belong to it, one of which leads outside.
  static func run(in scratch: TestFolder) throws -> RecordedRuns {
    let journal = try scratch.file("run/journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
    _ = try scratch.file("run/times.jsonl", Array(times.joined(separator: "\n").utf8))
    _ = try scratch.file("run/manifest.json", Array(manifest.utf8))
    _ = try scratch.file("run/packets/drop.btsnoop", Array("btsnoop".utf8))
    _ = try scratch.file("outside", Array("secret".utf8))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("run/packets/link.jsonl"), withDestinationPath: scratch.path("outside"))
    return RecordedRuns(journals: [journal])
  }
}

@Suite("Reports in the formats of others")
struct ExchangeTests {
  private func object(_ path: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  @Test("Allure: a result for each try, told apart by its start; files only from the folder of the run")
  func allure() throws {
    let scratch = try TestFolder()
    let folder = scratch.path("deep/allure")
    try Everything.run(in: scratch).writeAllure(to: folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    let results = try names.filter { $0.hasSuffix("-result.json") }.map { name -> [String: Any] in
      let result = try #require(try object(folder + "/" + name) as? [String: Any])
      expect("\(result["uuid"] ?? "")-result.json", name)
      return result
    }
    func words(_ result: [String: Any]) -> String {
      let details = result["statusDetails"] as? [String: Any] ?? [:]
      return
        "\(result["fullName"] ?? "") \(result["status"] ?? "") \(result["start"] ?? "-") \(result["stop"] ?? "-") "
        + "\(details["flaky"] ?? "-") \(details["message"] ?? "-")"
    }
    expect(
      results.map(words).sorted(),
      [
        "Scenarios.gone broken 1795214334000 1795214337000 0 no dongle",
        "Scenarios.not skipped 1795214337000 1795214337000 0 the battery is low",
        "Scenarios.open unknown - - 0 the run ended before this case had a verdict",
        "Scenarios.s5.again failed 1795214332000 1795214332500 1 first",
        "Scenarios.s5.again passed 1795214333000 1795214333063 1 -",
        "Scenarios.s5.drop [defect=x] failed 1795214331100 1795214331350 0 nothing was shown",
      ])
    let again = results.filter { "\($0["fullName"] ?? "")".hasSuffix("again") }
    expect(Set(again.map { "\($0["historyId"] ?? "")" }).count, 1)
    let drop = try #require(results.first { "\($0["fullName"] ?? "")".contains("drop") })
    let labels = (drop["labels"] as? [[String: String]] ?? []).map {
      "\($0["name"] ?? "")=\($0["value"] ?? "")"
    }
    expect(
      labels,
      [
        "parentSuite=Scenarios", "suite=s5", "package=Scenarios.s5", "framework=lockstep", "language=yaml",
        "host=bench-01", "thread=emulator:sesame5?defect=x", "tag=link", "tag=smoke",
      ])
    let files = (drop["attachments"] as? [[String: String]] ?? [])
    expect(files.map { $0["name"] ?? "" }, ["packets/drop.btsnoop"])
    let copied = names.filter { $0.contains("-attachment") }
    expect(copied, files.map { $0["source"] ?? "" })
    expect(try String(contentsOfFile: folder + "/" + copied[0], encoding: .utf8), "btsnoop")
    expect(
      try String(contentsOfFile: folder + "/environment.properties", encoding: .utf8),
      "lockstep = 1.0\nrun = r1\nhost = bench-01\nseed = 42\nrevision = 61f6abf\ndongle__1 = a\\\\nb\\\\c\n")
    // The same run again changes nothing, and another run's results stay.
    _ = try scratch.file("deep/allure/other-result.json", Array("{}".utf8))
    // So do an environment and categories that somebody has written.
    _ = try scratch.file("deep/allure/environment.properties", Array("browser = none\n".utf8))
    _ = try scratch.file("deep/allure/categories.json", Array("[]".utf8))
    try RecordedRuns(journals: [scratch.path("run/journal.jsonl")]).writeAllure(to: folder)
    expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted(),
      (names + ["other-result.json"]).sorted())
    expect(
      try ["environment.properties", "categories.json"].map {
        try String(contentsOfFile: folder + "/" + $0, encoding: .utf8)
      }, ["browser = none\n", "[]"])
  }

  /// Runs by the part that they are and what their journals say: how reports name what is missing of them, and what they
  /// count.
  private static let damaged: [(runs: [(part: String, lines: [String])], message: String?, tests: Int)] = [
    (
      [("1/3", journal(caseLines("s/a"), cases: 1)), ("3/3", journal(caseLines("s/b"), cases: 1))],
      "part 2/3 is not among the runs", 3
    ),
    (
      [("1/1", [#"{"run":{"format":1,"seed":7,"cases":4}}"#] + caseLines("s/a") + caseLines("t/b"))],
      "incomplete: the run did not end, 2 of its 4 cases were not begun", 3
    ),
    (
      [("1/1", [#"{"run":{"format":1,"seed":7,"cases":4}}"#])],
      "incomplete: the run did not end, 4 of its 4 cases were not begun", 1
    ),
    ([("1/1", journal(caseLines("s/a"), cases: 1))], nil, 1),
  ]

  /// Writes runs, each in a folder, and reads them.
  private func runs(_ parts: [(part: String, lines: [String])], in scratch: TestFolder) throws -> RecordedRuns
  {
    RecordedRuns(
      journals: try parts.map { part, lines in
        let folder = part.replacing("/", with: "-")
        let manifest = #"{"id":"\#(folder)","name":"r","host":"h","seed":7,"part":"\#(part)"}"#
        _ = try scratch.file("\(folder)/manifest.json", Array(manifest.utf8))
        return try scratch.file("\(folder)/journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
      })
  }

  /// The results in a folder of Allure that are of no case: class and name, status, and message.
  private func allureDamage(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix("-result.json") }
      .map { try object(folder + "/" + $0) as? [String: Any] ?? [:] }
      .filter { $0["name"] as? String == "journal" }
      .map { result in
        let details = result["statusDetails"] as? [String: Any] ?? [:]
        return "\(result["fullName"] ?? "") \(result["status"] ?? "") \(details["message"] ?? "")"
      }
  }

  @Test(
    "what is missing of runs is an entry of one name and one message in all formats, which count alike",
    arguments: damaged.indices)
  func damage(number: Int) throws {
    let (parts, message, count) = Self.damaged[number]
    let scratch = try TestFolder()
    let runs = try runs(parts, in: scratch)
    try runs.writeJUnit(to: scratch.path("junit.xml"))
    try runs.writeAllure(to: scratch.path("allure"))
    let errors = message == nil ? 0 : 1
    let junit = try scratch.text("junit.xml")
    #expect(
      junit.contains(#"name="lockstep" tests="\#(count)" failures="0" errors="\#(errors)""#), "\(junit)")
    if let message {
      #expect(
        junit.contains(
          #"<testcase classname="lockstep/journal" name="journal" time="0.000">"# + "\n      "
            + #"<error type="journal" message="\#(message)">"#), "\(junit)")
    }
    expect(
      try allureDamage(scratch.path("allure")),
      message.map { ["lockstep/journal.journal broken \($0)"] } ?? [])
  }

  @Test("what was missing and is there now is missing no more in the results of Allure")
  func mended() throws {
    let scratch = try TestFolder()
    let (one, three) = (Self.damaged[0].runs[0], Self.damaged[0].runs[1])
    let two = (part: "2/3", lines: journal(caseLines("s/c"), cases: 1))
    let folder = scratch.path("allure")
    for (parts, count) in [([two, three], 1), ([one, two], 1), ([one, two, three], 0)] {
      try runs(parts, in: scratch).writeAllure(to: folder)
      expect(try allureDamage(folder).count, count)
    }
  }
}
