import Basics
import Foundation
import Journal
import TestSupport
import Testing

@Suite("A case of another journal")
struct KeptCaseTests {
  private let folder = TestFolder()

  /// What a run of a night wrote: a case with a file, and what was visited.
  private static let run = """
    {"run":{"format":1,"seed":1,"cases":1},"lease":7}
    {"case":{"id":"a","name":"A","device":"lock:front","seed":3},"lease":7}
    {"t":"0.100","step":1,"line":4,"stimulus":"connect","lease":7}
    {"verdict":"divergence","case":"a","t":"2.000","message":"it moved","attachments":[{"kind":"capture","path":"packets/a.btsnoop"}],"lease":7}
    {"coverage":{"machine":"m","visits":{}},"lease":7}
    {"end":{"cases":1,"status":1},"lease":7}

    """

  private func write(_ name: String, _ text: String) -> String {
    let path = folder.path + "/" + name
    try? FileManager.default.createDirectory(
      atPath: Path.folder(of: path), withIntermediateDirectories: true)
    return folder.write(name, text)
  }

  /// The lines that a reader hands out of a journal that names one case.
  private func lines(_ kept: KeptCase) throws -> [String] {
    let journal = write("night/journal.jsonl", kept.line + "\n")
    var reader = try JournalReader(journal)
    var lines: [String] = []
    while let line = try reader.next() { lines.append(try line.get().line()) }
    return lines
  }

  private func kept(in journal: String, _ word: Record.Verdict.Word = .divergence) -> KeptCase {
    var test = Record.Case(id: "front/a")
    (test.name, test.attempt) = ("A [front]", 2)
    var kept = KeptCase(journal: journal, test, word)
    (kept.message, kept.quarantine) = ("why", "until 2099-01-01: known")
    return kept
  }

  @Test("is read as the other journal has it, under the name that it has here")
  func read() throws {
    _ = write("night/cases/1/journal.jsonl", Self.run)
    expect(
      try lines(kept(in: "cases/1/journal.jsonl")),
      [
        #"{"case":{"id":"front/a","name":"A [front]","device":"lock:front","seed":3,"attempt":2}}"#,
        #"{"t":"0.100","step":1,"line":4,"stimulus":"connect"}"#,
        #"{"verdict":"divergence","case":"front/a","t":"2.000","message":"it moved","quarantine":"until 2099-01-01: known","attachments":[{"kind":"capture","path":"cases/1/packets/a.btsnoop"}]}"#,
      ])
  }

  @Test(
    "is known by its own line where the other journal lies elsewhere, is lost, or has another verdict",
    arguments: [
      ("../elsewhere/journal.jsonl", Record.Verdict.Word.divergence, 0), ("/dev/zero", .divergence, 0),
      ("journal.jsonl", .divergence, 0), ("cases/2/journal.jsonl", .divergence, 0), ("", .divergence, 0),
      ("cases/1/journal.jsonl", .labFault, 1),
    ])
  func lost(journal: String, word: Record.Verdict.Word, events: Int) throws {
    _ = write("night/cases/1/journal.jsonl", Self.run)
    _ = write("elsewhere/journal.jsonl", Self.run)
    let lines = try lines(kept(in: journal, word))
    expect(lines.count, 2 + events)
    expect(
      lines.last,
      #"{"verdict":"\#(word.rawValue)","case":"front/a","t":"0.000","message":"why","quarantine":"until 2099-01-01: known"}"#
    )
  }

  @Test("counts in an index, with what was visited of machines once")
  func index() {
    _ = write("night/cases/1/journal.jsonl", Self.run)
    var (first, second) = (kept(in: "cases/1/journal.jsonl"), kept(in: "cases/1/journal.jsonl"))
    (first.test.attempt, first.isTriedAgain, first.quarantine) = (1, true, nil)
    second.quarantine = nil
    let journal = write(
      "night/journal.jsonl",
      """
      {"run":{"format":1,"seed":1,"cases":1}}
      \(first.line)
      \(second.line)
      {"end":{"cases":1,"status":1}}

      """)
    let summary = RunSummary(journals: [journal])
    expect([summary.tally.cases, summary.tally.divergences], [1, 1])
    expect(summary.coverage.map(\.machine), ["m"])
    expect(summary.problems, [])
  }
}
