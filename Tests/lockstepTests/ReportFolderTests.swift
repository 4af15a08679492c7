import Foundation
import TestSupport
import Testing

@Suite("Folders of reports", .timeLimit(.minutes(10)))
struct ReportFolderTests {
  @Test(
    "stand for all runs in them, by the folder, by its runs, or from within, and a run is found where runs usually are"
  )
  func runs() throws {
    let folder = try Command.Folder()
    try folder.copy(Command.root + "/Scenarios/door", to: "door")
    func perform(_ line: String, below place: String = "") throws -> Command.Result {
      try Command.line(line, in: folder.path + place)
    }
    for number in 1...2 {
      for name in ["open-and-close", "again-and-again"] {
        let out = "--seed \(number) --quiet --out 'out \(number)'"
        expect(try perform("run door/\(name).yaml \(out)").status, 0)
      }
    }
    expect(try perform("run door/open-and-close.yaml --quiet").status, 0)
    let name = try #require(folder.names("Reports/runs").first { !$0.hasPrefix(".") })
    let (two, one) = (#"{"runs":2,"cases":2"#, #"{"runs":1,"cases":1"#)
    for (runs, place, counts) in [
      ("'out 1' --quiet", "", two), ("'out 1/' --quiet", "", two), ("'out 1/runs' --quiet", "", two),
      ("'out 1/runs/' --out more --quiet", "", two), ("'out 1' 'out 2' --quiet", "", #"{"runs":4,"cases":4"#),
      ("Reports/runs/* --quiet", "", one), (".", "/out 2", two), ("\(name) --out elsewhere", "", one),
    ] {
      let result = try perform("report \(runs) --format json", below: place)
      expect(result.output.components(separatedBy: ",\"agree").first, counts)
      expect(result.errors, "")
    }
    let added = try perform("history add 'out 1' 'out 2' --out both")
    expect([added.output, added.errors], ["4 runs taken into both/history.sqlite\n", ""])
    try folder.makeFolder("empty/runs")
    for (runs, message) in [
      ("empty", "there is no run below empty/runs"),
      (
        "nowhere",
        "there is no run nowhere: neither nowhere/journal.jsonl nor Reports/runs/nowhere/journal.jsonl is there"
      ),
    ] {
      let result = try perform("report \(runs)")
      expect(
        ["\(result.status)", result.output, result.errors],
        ["2", "", "lockstep: \(message)\nSee 'lockstep report --help'.\n"])
    }
  }

  @Test(
    "that cannot be written are named with the option that names another",
    arguments: [
      "run Scenarios/door", "fuzz door --steps 10", "cover door", "report RUN",
    ])
  func unwritable(line: String) throws {
    let folder = try Command.Folder()
    try folder.write("file", "")
    let run = try Command.line("run Scenarios/door --quiet --out '\(folder.path)/out'")
    expect(run.status, 0)
    let line = line.replacing("RUN", with: "'\(folder.path)'/out/runs/*")
    let result = try Command.line("\(line) --out '\(folder.path)/file/out'")
    expect(result.status, 2)
    #expect(
      result.errors.contains(": Not a directory; --out DIR puts reports into another folder\n")
        && result.errors.hasPrefix("lockstep: cannot write \(folder.path)/file/out"), "\(result.errors)")
  }
}
