import Journal
import Foundation
import Reporting
import TestSupport
import Testing

/// Several goes at one part of a job: one stands for all.
@Suite("Parts of a job")
struct JobPartTests {
  /// A go: what its manifest and its journal say.
  private struct Go {
    var part: String
    var start: String
    var lines: [String]
  }

  private static func go(_ part: Int, at minute: Int, _ words: [String], ended: Int? = 0) -> Go {
    let cases = words.enumerated().flatMap { number, word in
      caseLines("s/\(part)-\(number)", word, file: "s/\(part).yaml", time: "\(part).00\(number)")
    }
    let head = #"{"run":{"format":1,"seed":42,"cases":3}}"#
    let end = ended.map { [#"{"end":{"cases":\#(words.count),"status":\#($0)}}"#] } ?? []
    return Go(part: "\(part)/2", start: "2026-11-22T01:0\(minute):00Z", lines: [head] + cases + end)
  }

  private static let all = ["agree", "agree", "skipped"]
  private static let sound = [go(1, at: 0, all), go(2, at: 0, ["agree", "divergence", "agree"], ended: 1)]

  /// What may come beside: a go that was killed, one in trouble, one again, one at another time.
  private static let others: [[Go]] = [
    [], [go(1, at: 1, ["agree"], ended: nil)], [go(1, at: 1, ["agree", "lab-fault", "agree"], ended: 3)],
    [go(1, at: 1, all)], [go(2, at: 2, ["agree", "divergence"], ended: 5), go(1, at: 1, [], ended: nil)],
    [go(2, at: 2, ["agree", "divergence", "agree"], ended: 1), go(2, at: 3, ["agree", "agree", "agree"])],
  ]

  private func write(_ goes: [Go], in shop: TestFolder) throws -> [String] {
    try goes.enumerated().map { number, go in
      let folder = shop.directory.appendingPathComponent("\(goes.count)-\(UUID())-\(number)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let manifest =
        #"{"name":"n\#(number)","host":"h\#(number)","start":"\#(go.start)","job":"slurm-7","part":"\#(go.part)"}"#
      try Data(manifest.utf8).write(to: folder.appendingPathComponent("manifest.json"))
      try Data(go.lines.map { $0 + "\n" }.joined().utf8).write(
        to: folder.appendingPathComponent("journal.jsonl"))
      return folder.appendingPathComponent("journal.jsonl").path
    }
  }

  private func reports(_ journals: [String], in shop: TestFolder) throws -> [String] {
    let runs = RecordedRuns(journals: journals, isReproducible: true)
    try runs.writeJUnit(to: shop.path("junit.xml"))
    try runs.writeHTML(to: shop.path("report.html"))
    return [try shop.text("junit.xml"), try shop.text("report.html"), "\(runs.summary.status)"]
  }

  @Test("whatever goes there were, and in whichever order they are named, the reports are the same")
  func goes() throws {
    let shop = try TestFolder()
    let plain = try reports(try write(Self.sound, in: shop), in: shop)
    #expect(plain[0].contains(#"tests="6" failures="1" errors="0" skipped="1""#), "\(plain[0])")
    #expect(plain[2] == "1")
    for others in Self.others {
      let journals = try write(Self.sound + others, in: shop)
      for order in [journals, journals.reversed(), Array(journals.dropFirst()) + journals.prefix(1)] {
        expect(try reports(order, in: shop), plain)
      }
    }
    // Nothing of when, where and under which name is in them.
    for text in plain {
      #expect(!text.contains("2026-11-22") && !text.contains("h0") && !text.contains("slurm-7"))
    }
  }

  @Test("where no go came to its end, the one that came furthest stands, and what is missing is said")
  func incomplete() throws {
    let shop = try TestFolder()
    let goes = [
      Self.go(1, at: 0, ["agree"], ended: nil), Self.go(1, at: 1, ["agree", "agree"], ended: nil),
      Self.go(2, at: 0, Self.all),
    ]
    let text = try reports(try write(goes, in: shop), in: shop)
    #expect(
      text[0].contains("1 of its 3 cases were not begun") && text[0].contains(#"tests="6""#), "\(text[0])")
    expect(text[2], "5")
  }

  @Test("other runs are what they were: equal cases of two are copies")
  func copies() throws {
    let shop = try TestFolder()
    let paths = try ["a", "b"].map { name in
      try shop.file("\(name).jsonl", Array(journal(caseLines("x"), cases: 1).map { $0 + "\n" }.joined().utf8))
    }
    expect(RecordedRuns(journals: paths).summary.tally.agree, 2)
  }

  /// What folders of runs hold, a letter for each case: those of one id and a journal that is the beginning of another's
  /// are copies. Then the cases that there are, and the folders that stand.
  private static let copied: [(runs: [(id: String, letters: String)], cases: Int, words: [String])] = [
    ([("x", "ab"), ("x", "ab")], 2, ["0 and 1 are one run, which counts once, as it is in 0"]),
    (
      [("x", "ab"), ("x", "ab."), ("x", "a")], 2, ["0, 1 and 2 are one run, which counts once, as it is in 1"]
    ),
    (
      [("x", "a"), ("x", "ab"), ("x", "abc.")], 3,
      ["0, 1 and 2 are one run, which counts once, as it is in 2"]
    ),
    ([("x", "ab."), ("x", "ac.")], 4, []), ([("x", "ab."), ("y", "ab.")], 4, []),
    ([("", "ab."), ("", "ab.")], 4, []),
    (
      [("x", "ab."), ("y", "cd."), ("x", "ab."), ("y", "c")], 4,
      [
        "0 and 2 are one run, which counts once, as it is in 0",
        "1 and 3 are one run, which counts once, as it is in 1",
      ]
    ),
  ]

  @Test(
    "copies of the folder of a run are one run, in whichever order they are named", arguments: copied.indices)
  func copiedFolders(number: Int) throws {
    let (runs, cases, words) = Self.copied[number]
    let shop = try TestFolder()
    let journals = try runs.enumerated().map { number, run in
      let id = run.id.isEmpty ? "" : #""id":"\#(run.id)","#
      _ = try shop.file(
        "\(number)/manifest.json", Array(#"{\#(id)"name":"r","start":"2026-11-22T01:00:00Z"}"#.utf8))
      let lines = run.letters.flatMap { letter in
        letter == "."
          ? [#"{"end":{"cases":\#(run.letters.count - 1),"status":0}}"#] : caseLines("s/\(letter)")
      }
      return try shop.file(
        "\(number)/journal.jsonl",
        Array(([#"{"run":{"format":1,"seed":42}}"#] + lines).map { $0 + "\n" }.joined().utf8))
    }
    for order in [journals, journals.reversed()] {
      let summary = RecordedRuns(journals: order).summary
      expect(summary.tally.agree, cases)
      expect(
        summary.copies.map { $0.replacing(shop.path("") + "/", with: "").replacing(shop.path(""), with: "") },
        words)
    }
  }

  @Test(
    "a history keeps one go of each part, the same whichever comes first, and again",
    arguments: [false, true].filter { !$0 || PostgresServer.isThere })
  func history(isServer: Bool) throws {
    let shop = try TestFolder()
    for others in Self.others {
      var answers: [[String]] = []
      let goes = try write(Self.sound + others, in: shop)
      for journals in [goes, goes.reversed(), goes + goes] {
        let place =
          isServer
          ? HistoryPlace(try #require(PostgresServer.shared).newDatabase())
          : HistoryPlace(shop.path("\(UUID()).sqlite"))
        let history = try History(place, for: .adding)
        for journal in journals { try history.take(journal: journal) }
        answers.append(
          try history.runs().map { run in
            "\(run.identity.host) \(run.identity.name) \(run.started) \(run.counts) \(run.status ?? -1)"
          })
      }
      expect(answers[1], answers[0])
      expect(answers[2], answers[0])
      expect(answers[0].map { $0.prefix(20) }.sorted(), ["slurm-7 part 1 of 2 ", "slurm-7 part 2 of 2 "])
    }
  }
}
