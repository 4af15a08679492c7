import Basics
import Foundation
import TestSupport
import Testing

/// What `run --resume` does with a run that was cut off anywhere.
@Suite("Taking up a run again")
struct ResumeTests {
  private static let run = "Reports/runs/run"

  /// A folder with a copy of the doors' scenarios, and a run of them that ended.
  private func finished() throws -> (folder: Command.Folder, journal: [String]) {
    let folder = try Command.Folder()
    try folder.copy(Command.root + "/Scenarios/door", to: "Scenarios/door")
    let made = try Command.line("run --seed 7 -q", in: folder.path)
    folder.move("Reports/runs/" + (try #require(folder.names("Reports/runs").last)), to: Self.run)
    expect([made.status == 0 ? "" : made.errors, made.output], ["", ""])
    let journal = try folder.read(Self.run + "/journal.jsonl")
    return (folder, journal.split(separator: "\n").map(String.init))
  }

  /// The verdicts of a journal, in order.
  private func verdicts(_ journal: String) -> [String] {
    journal.split(separator: "\n").filter { $0.hasPrefix(#"{"verdict""#) }.map(String.init)
  }

  @Test("wherever it was cut off, what is missing is run and nothing else, and the report is the same")
  func cut() throws {
    let (folder, lines) = try finished()
    let whole = try folder.read("Reports/junit.xml")
    for count in 0..<lines.count {
      // The line that was being written is torn off in its middle.
      let kept = lines[..<count].map { $0 + "\n" }.joined() + lines[count].prefix(lines[count].count / 2)
      try folder.write(Self.run + "/journal.jsonl", kept)
      let report = try Command.line("report run --history none", in: folder.path)
      expect(report.status, 5)
      #expect(report.output.contains("incomplete"), "\(report.output)")
      let resumed = try Command.line("run --resume run -q --history none", in: folder.path)
      expect([resumed.output, resumed.errors], ["", ""])
      expect(resumed.status, 0)
      let journal = try folder.read(Self.run + "/journal.jsonl")
      expect(verdicts(journal), verdicts(lines.joined(separator: "\n")))
      expect(try folder.read("Reports/junit.xml").contains("errors=\"0\""), true)
      if count == lines.count - 1 { expect(cases(try folder.read("Reports/junit.xml")), cases(whole)) }
    }
  }

  @Test("files whose names only look alike are two, and a run that is taken up again judges each once")
  func alike() throws {
    let folder = try Command.Folder()
    // A door that does not answer while there is a file that says so.
    let program = """
      import json, os, sys, time
      status = "Closed"
      for line in sys.stdin:
          message = json.loads(line)
          while "hello" not in message and len(sys.argv) > 1 and os.path.exists(sys.argv[1]): time.sleep(0.01)
          if "reset" in message: status = "Closed"
          elif "stimulus" in message: status = {"Open": "Opened", "Close": "Closed"}[message["stimulus"]]
          print(json.dumps({"status": status}))
          print(json.dumps({"settled": True}), flush=True)

      """
    try folder.write("door.py", program)
    func scenario(_ words: String) -> String {
      "scenario: A\nmachine: door\ndevice: \"exec:python3 -u door.py\(words)\"\nsteps: [Open]\n"
    }
    try folder.write("d/one.yaml", scenario(""))
    try folder.write("d/other.yaml", scenario(" hold"))
    let line = """
      touch hold; mv d/one.yaml "$(printf 'd/e\\314\\201.yaml')"; mv d/other.yaml "$(printf 'd/\\303\\251.yaml')"
      "$LOCKSTEP" run d --answer-timeout 600s --seed 7 -q --history none &
      until test "$(grep -c '^{"verdict"' Reports/runs/*/journal.jsonl)" = 1; do sleep 0.05; done 2>/dev/null
      kill -KILL $!; wait $!; rm hold; mv Reports/runs/*-run Reports/runs/run
      cp Reports/runs/run/journal.jsonl half
      "$LOCKSTEP" run --resume run --history none
      """
    let result = try Command.shell(line, in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("2 cases: 2 agree"), "\(result.output)\(result.errors)")
    let all = verdicts(try folder.read("Reports/runs/run/journal.jsonl"))
    expect(all.count, 2)
    expect(Array(all.prefix(1)), verdicts(try folder.read("half")))
    // Swift takes the two names for one.
    expect(Set(all.map { Array($0.utf8) }).count, 2)
    expect(cases(try folder.read("Reports/junit.xml")).count, 2)
  }

  @Test("the coverage of several sessions or runs is that of all their cases, and the same in every report")
  func coverage() throws {
    let folder = try Command.Folder()
    try folder.copy(Command.root + "/Scenarios/sesame5/autolock.yaml", to: "s/a.yaml")
    try folder.copy(Command.root + "/Scenarios/sesame5/refusals-unregistered.yaml", to: "s/b.yaml")
    /// The figures on the terminal after `lines`, in the JUnit report, and on the page.
    func figures(_ lines: String..., out: String) throws -> [String] {
      var output = ""
      for line in lines {
        output = try Command.line("\(line) -o \(out) --history none", in: folder.path).output
      }
      let xml = try folder.read("\(out)/junit.xml")
      let page = try folder.read("\(out)/report.html")
      let words = try #require(output.firstMatch(of: #/coverage sesame: (.*)/#)).1
      let property = try #require(xml.firstMatch(of: #/coverage\.sesame" value="(.*?)"/#)).1
      let meters = page.matches(of: #/<dt>([a-z ]*)<\/dt>.*?<span class="num">(.*?)<\/span>/#)
      return [
        String(words), String(property),
        [2, 1].compactMap { $0 < meters.count ? "\(meters[$0].2) \(meters[$0].1)" : nil }.joined(
          separator: ", "),
      ]
    }
    let run = "run s --seed 7 --device emulator:sesame5 -v"
    let whole = try figures(run, out: "whole")
    let one = try figures(run + " --shard 1/2", out: "parts")
    let other = try figures(run + " --shard 2/2", out: "other")
    expect(whole.map { $0 == whole[0] }, [true, true, true])
    expect([one[0] == whole[0], other[0] == whole[0]], [false, false])
    let parts =
      folder.names("parts/runs").map { "parts/runs/\($0)" }
      + folder.names("other/runs").map { "other/runs/\($0)" }
    expect(try figures("report \(parts.joined(separator: " "))", out: "sum"), whole)

    // The journal of a run that was stopped after its first case.
    let name = "whole/runs/" + (try #require(folder.names("whole/runs").last))
    let begun = try folder.read("\(name)/journal.jsonl").split(separator: "\n").prefix(1)
    let half = try folder.read(all: "parts/runs/*/journal.jsonl").split(separator: "\n").dropFirst()
    try folder.write("\(name)/journal.jsonl", (begun + half).map { $0 + "\n" }.joined())
    expect(try figures("run --resume \(name) -v", out: "whole"), whole)
    expect(try figures("report \(name)", out: "again"), whole)
  }

  private func cases(_ report: String) -> [Substring] {
    report.split(separator: "\n").filter { $0.contains("<testcase") }
  }

  /// What is done to a run or its scenarios.
  private enum Change {
    case nothing
    case remove(String)
    case move(String, String)
    case edit(String, String, String)

    func perform(in folder: Command.Folder) throws {
      switch self {
      case .nothing: break
      case .remove(let name):
        #expect(folder.has(name))
        folder.remove(name)
      case .move(let name, let new): folder.move(name, to: new)
      case .edit(let name, let text, let other):
        let before = try folder.read(name)
        #expect(before.contains(text))
        try folder.write(name, before.replacing(text, with: other, maxReplacements: 1))
      }
    }
  }

  /// What is done to the run, the command, and what is said of it.
  // swift-format-ignore
  private static let refusals: [(Change, String, String)] = [
    (.nothing, "run --resume gone",
     "--resume: there is no run gone: neither gone/journal.jsonl nor Reports/runs/gone/journal.jsonl is there"),
    (.nothing, "run Scenarios/door --resume run",
     "--resume takes scenarios, device, seed, filter, shard, rounds, what failed last and --shown-in from the run: leave them out"),
    (.nothing, "run --resume run --last-failed",
     "--resume takes scenarios, device, seed, filter, shard, rounds, what failed last and --shown-in from the run: leave them out"),
    (.nothing, "run --resume run --shown-in run",
     "--resume takes scenarios, device, seed, filter, shard, rounds, what failed last and --shown-in from the run: leave them out"),
    (.remove("Scenarios/door/again-and-again.yaml"), "run --resume run",
     "--resume: Reports/runs/run cannot be resumed: it had 3 cases, and now there are 2; start a new run"),
    (.edit("Scenarios/door/out-of-turn.yaml", "scenario: ", "scenario: Another "), "run --resume run",
     "--resume: Reports/runs/run cannot be resumed: Scenarios/door/out-of-turn.yaml has changed; "
       + "start a new run"),
    (.move("Scenarios/door/out-of-turn.yaml", "Scenarios/door/other.yaml"), "run --resume run",
     "--resume: Reports/runs/run cannot be resumed: it had cases that are gone; start a new run"),
    (.edit("Reports/runs/run/journal.jsonl", "\n", "\nx"), "run --resume run",
     "--resume: Reports/runs/run/journal.jsonl: line 2: not JSON at column 1: expected a JSON value"),
    (.edit("Reports/runs/run/manifest.json", "\"run\",", "\"cover\","), "run --resume run",
     "--resume: Reports/runs/run is of 'lockstep cover', which 'lockstep run' cannot resume"),
    (.edit("Reports/runs/run/manifest.json", "{", "x"), "run --resume run",
     "--resume: Reports/runs/run/manifest.json is not a manifest, or not one of this version"),
  ]

  @Test("what is asked of the whole holds when a run is gone on with")
  func demands() throws {
    let (folder, _) = try finished()
    let result = try Command.call("run", "--resume", "run", "--min-cases", "900", in: folder.path)
    expect(result.status, 5)
    #expect(
      result.errors.contains("3 cases had a verdict; at least 900 are required (--min-cases)"),
      "\(result.errors)")
  }

  @Test("a run that is not what it was is not gone on with", arguments: refusals.indices)
  func refused(index: Int) throws {
    let (change, command, message) = Self.refusals[index]
    let (folder, _) = try finished()
    try change.perform(in: folder)
    let journal = try folder.read(Self.run + "/journal.jsonl")
    let result = try Command.line(command, in: folder.path)
    expect(result.errors.split(separator: "\n").first.map(String.init), "lockstep: " + message)
    expect(result.status, 2)
    expect(try folder.read(Self.run + "/journal.jsonl"), journal)
  }
}
