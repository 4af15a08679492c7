import Basics
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("lockstep clean")
struct CleanTests {
  /// A folder with runs by name: the day in January 2026 on which they were, and what came of their case.
  private func reports(_ runs: [(day: Int, word: String)]) throws -> Command.Folder {
    let folder = try Command.Folder()
    for (day, word) in runs {
      let name = "Reports/runs/2026-01-0\(day)T02-00-00-run"
      try folder.write(
        name + "/manifest.json",
        #"{"id":"\#(day)","name":"n","host":"h","start":"2026-01-0\#(day)T02:00:00Z","command":["run"]}"#)
      let end =
        word == ""
        ? []
        : [
          #"{"verdict":"\#(word)","case":"c","t":"1.000","message":"m"}"#, #"{"end":{"cases":1,"status":0}}"#,
        ]
      let lines = [#"{"run":{"format":1,"seed":42}}"#, #"{"case":{"id":"c"}}"#] + end
      try folder.write(name + "/journal.jsonl", lines.map { $0 + "\n" }.joined())
      try folder.write(name + "/packets/c.btsnoop", "x")
    }
    return folder
  }

  private func names(_ days: Int...) -> [String] { days.map { "2026-01-0\($0)T02-00-00-run" } }

  @Test(
    "removes what is old, of that what came to nothing, and not the latest",
    arguments: [
      ("--older 1d", []), ("--older 90000d", [1, 2, 3, 4, 5, 6]), ("--keep 2", [5, 6]),
      ("--keep 9", [1, 2, 3, 4, 5, 6]),
      ("--older 1d --keep 3", [4, 5, 6]), ("--older 1d --keep-failures", [2, 3, 6]),
      ("--keep 1 --keep-failures", [2, 3, 6]), ("--older 1d --dry-run", [1, 2, 3, 4, 5, 6]),
    ] as [(String, [Int])])
  func choice(_ words: String, _ left: [Int]) throws {
    let folder = try reports([
      (1, "agree"), (2, "divergence"), (3, "lab-fault"), (4, "agree"), (5, ""), (6, "divergence"),
    ])
    let result = try Command.shell("$LOCKSTEP clean \(words) -q", in: folder.path)
    expect([result.output, result.errors, "\(result.status)"], ["", "", "0"])
    expect(
      folder.names("Reports/runs").filter { !$0.hasPrefix(".") }, left.map { "2026-01-0\($0)T02-00-00-run" })
  }

  @Test("touches nothing that is no folder of a run, follows no link, and says what it did")
  func others() throws {
    let folder = try reports([(1, "agree"), (2, "divergence")])
    for name in [
      "outside/keep", "Reports/runs/mine/x", "Reports/runs/note.txt", "Reports/failures/a.yaml",
      "Reports/corpus/d/b.yaml",
    ] {
      try folder.write(name, "x")
    }
    try folder.write(
      "elsewhere/manifest.json", try folder.read("Reports/runs/2026-01-01T02-00-00-run/manifest.json"))
    try folder.write("elsewhere/journal.jsonl", "")
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: folder.path + "/Reports/runs/link", withDestinationPath: folder.path + "/elsewhere")
    try files.createSymbolicLink(
      atPath: folder.path + "/Reports/runs/2026-01-01T02-00-00-run/out",
      withDestinationPath: folder.path + "/outside")
    let line = "$LOCKSTEP clean --older 1d --keep-failures"
    let text = """
        kept     link: it is no folder of a run
        kept     mine: it is no folder of a run
        kept     note.txt: it is no folder of a run
        kept     2026-01-02T02-00-00-run: it has a divergence

      """
    let trial = try Command.shell("\(line) -n", in: folder.path)
    let size = "2[0-9][0-9] B"
    #expect(
      try trial.output.contains(Regex("^  would go  2026-01-01T02-00-00-run  \(size)\n")), "\(trial.output)")
    #expect(trial.output.contains(text.dropLast()), "\(trial.output)")
    let result = try Command.shell("\(line) --format json", in: folder.path)
    expect([result.errors, "\(result.status)"], ["", "0"])
    let json = try JSON(parsing: Array(result.output.utf8))
    expect(json["removed"]?.elements?.map { $0["run"]?.string }, ["2026-01-01T02-00-00-run"])
    expect(json["kept"]?.elements?.map { $0["why"]?.string }.last, "it has a divergence")
    expect(folder.names("Reports/runs"), ["2026-01-02T02-00-00-run", "link", "mine", "note.txt"])
    expect(
      ["outside/keep", "elsewhere/journal.jsonl", "Reports/failures/a.yaml", "Reports/corpus/d/b.yaml"]
        .filter(folder.has).count, 4)
  }

  @Test(
    "says what is wrong",
    arguments: [
      (
        "clean", 2, "lockstep: what may go? Say --older AGE, --keep N or both\nSee 'lockstep clean --help'.\n"
      ),
      (
        "clean --older 30", 2,
        "lockstep: '--older' expects an age such as 30d, 12h or 8w, not '30'\nSee 'lockstep clean --help'.\n"
      ),
      ("clean --older 1d --out none", 4, "lockstep: there are no runs: none/runs is not there\n"),
      (
        "clean --older 1d --out link", 2,
        "lockstep: link/runs is no folder itself; name the one that has the runs by --out\nSee 'lockstep clean --help'.\n"
      ),
    ] as [(String, Int32, String)])
  func wrong(_ words: String, _ status: Int32, _ said: String) throws {
    let folder = try reports([(1, "agree")])
    try folder.write("link/x", "")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link/runs", withDestinationPath: folder.path + "/Reports/runs")
    let result = try Command.shell("$LOCKSTEP \(words)", in: folder.path)
    expect("\(result.status) \(result.output)\(result.errors)", "\(status) \(said)")
    expect(folder.names("Reports/runs"), names(1))
  }
}
