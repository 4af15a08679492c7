import Foundation
import TestSupport
import Testing

@Suite("What is printed", .timeLimit(.minutes(10)))
struct OutputTests {
  /// A line for each command that prints data.
  static let lines = [
    "list Scenarios/door", "list Scenarios/door --format json", "validate Scenarios/door",
    "schema scenario", "schema journal", "machines",
    "machines door --format yaml",
    "man", "completions bash", "version", "--version", "--help", "help run", "run --help", "schedule systemd",
    "replay Scenarios/door/open-and-close.yaml", "mutants door Scenarios/door", "doctor",
    "run Scenarios/door --out $OUT", "run Scenarios/door --format json --out $OUT",
    "fuzz door --steps 100 --seed 1 --out $OUT", "cover door --out $OUT",
    "history --out $OUT; exit $?", "report $OUT/runs/* --out $OUT",
  ]

  @Test("and cannot be is missed by nobody: no command is green on a full disk or without a standard output")
  func unwritten() throws {
    let folder = try Command.Folder()
    let out = folder.path + "/out"
    expect(try Command.line("run Scenarios/door --quiet --out '\(out)'").status, 0)
    for line in Self.lines {
      for place in [">/dev/full", ">&-"] {
        let line = line.split(separator: ";")[0].replacingOccurrences(of: "$OUT", with: "'\(out)'")
        let result = try Command.shell("$LOCKSTEP \(line) \(place)")
        let reason = place == ">&-" ? "Bad file descriptor" : "No space left on device"
        #expect(result.status == 3, "\(line) \(place): \(result.status) \(result.errors)")
        #expect(
          result.errors.hasSuffix("lockstep: not all of the output could be written: \(reason)\n"),
          "\(line) \(place): \(result.errors)")
        try? FileManager.default.removeItem(atPath: out + "/runs/nothing")
      }
    }
  }

  @Test("for who has read enough ends without a word, with the status of the command and all its reports")
  func closedPipe() throws {
    let folder = try Command.Folder()
    let out = folder.path + "/out"
    expect(try Command.line("run Scenarios/door --quiet --out '\(out)'").status, 0)
    for line in Self.lines {
      let line = line.split(separator: ";")[0].replacingOccurrences(of: "$OUT", with: "'\(out)'")
      let usual = try Command.line(line)
      let result = try Command.shell("{ $LOCKSTEP \(line); echo $? >&2; } | true")
      #expect(result.errors == usual.errors + "\(usual.status)\n", "\(line)")
    }
    let device = "--device 'emulator:sesame5?defect=jam-reported-as-locked'"
    let result = try Command.shell(
      "{ $LOCKSTEP run Scenarios/sesame5/jam.yaml -v \(device) --out '\(out)2'; echo $? >&2; } | head -1")
    expect(result.errors, "1\n")
    #expect(try folder.read("out2/junit.xml").contains("</testsuites>"))
  }

  @Test("hides no divergence where it cannot be written")
  func divergence() throws {
    let folder = try Command.Folder()
    let line = "run Scenarios/sesame5/jam.yaml --device 'emulator:sesame5?defect=jam-reported-as-locked'"
    let result = try Command.shell("$LOCKSTEP \(line) --out '\(folder.path)' >/dev/full")
    expect(result.status, 1)
    #expect(result.errors.hasSuffix("No space left on device\n"))
  }

  @Test(
    "goes nowhere else where a standard stream is closed: not into a journal, and not into a report",
    arguments: ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func closed(_ closing: String) throws {
    let folder = try Command.Folder()
    _ = try Command.shell("$LOCKSTEP run Scenarios/door --seed 1 --out '\(folder.path)/closed' -v \(closing)")
    _ = try Command.line("run Scenarios/door --seed 1 --out '\(folder.path)/open' -v")
    func journal(_ name: String) throws -> String {
      let run = try #require(folder.names(name + "/runs").first)
      return try folder.read("\(name)/runs/\(run)/journal.jsonl")
    }
    #expect(try journal("closed") == journal("open"))
    #expect(folder.names("closed") == folder.names("open"))
    expect(try Command.line("report '\(folder.path)'/closed/runs/*").status, 0)
  }
}

@Suite("A scenario that cannot be looked at", .timeLimit(.minutes(10)))
struct UnreadableScenarioTests {
  @Test("is not left out of its folder, as if it were not there")
  func unreadable() throws {
    let folder = try Command.Folder()
    let run = "run Scenarios/door --quiet --out '\(folder.path)/out'"
    func faulty(_ faults: String) throws -> Command.Result {
      try Command.shell("$WORKBENCH faulty '\(folder.path)/calls' \(faults) - -- \(run)")
    }
    expect(try faulty("-").status, 0)
    let looks = try folder.read("calls").split(separator: "\n").filter { $0.hasPrefix("stat@") }
    #expect(looks.count > 6)
    for look in looks.prefix(12) {
      guard try faulty("\(look)=EIO").status == 0 else { continue }
      // What is green has judged all three.
      let junit = try folder.read("out/junit.xml")
      #expect(junit.contains(#"tests="3""#), "\(look): \(junit.prefix(200))")
    }
  }

  @Test("is said to be missing where its name leads nowhere")
  func dangling() throws {
    let folder = try Command.Folder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/a.yaml", withDestinationPath: "nowhere.yaml")
    try folder.write("b.yaml", "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n")
    let result = try Command.call("run", folder.path, "--out", folder.path + "/out", "--quiet")
    expect(result.status, 2)
    #expect(result.errors.contains("a.yaml: there is no such file or folder"), "\(result.errors)")
  }
}
