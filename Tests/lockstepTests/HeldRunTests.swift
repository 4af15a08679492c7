import Basics
import Foundation
import TestSupport
import Testing

/// What a run that lives keeps others from, and what one that was killed leaves to others.
@Suite("Runs that are under way")
struct HeldRunTests {
  /// A folder with a fuzzing campaign that is under way; its name, and the process.
  private func living(_ folder: Command.Folder) throws -> (run: String, process: Program) {
    let process = try Command.start(
      Command.path, ["fuzz", "sesame-table", "--duration", "600s", "--seed", "3"], in: folder.path,
      out: folder)
    eventually(by: process) { folder.names("Reports/runs").contains { $0.hasSuffix("-fuzz") } }
    let run = folder.names("Reports/runs").first { $0.hasSuffix("-fuzz") }
    return (try #require(run), process)
  }

  @Test("are not gone on with, reports of them say so, and clean leaves them alone")
  func living() throws {
    let folder = try Command.Folder()
    let (run, process) = try living(folder)
    defer { process.signal(SIGTERM) }
    let held = try folder.read("Reports/runs/\(run)/.held").split(separator: "\n")
    let words =
      "Reports/runs/\(run) still runs: process \(process.processIdentifier) on \(held[1]), since \(held[2])"
    let results = try [
      "fuzz --resume \(run)", "run --resume \(run)", "report \(run) --junit x.xml --html none -q",
      "clean --older 0h",
    ].map { try Command.line($0, in: folder.path) }
    expect(results.map(\.status), [2, 2, 5, 0])
    let told = words.dropFirst("Reports/runs/\(run) ".count)
    expect(
      results.map(\.output),
      [
        "", "", "  journal  incomplete: the run did not end, its journal just stops\n",
        "  kept     \(run): it \(told)\n0 runs removed\n",
      ])
    expect(
      results.map(\.errors),
      [
        "lockstep: --resume: \(words); stop it, or wait for its end\nSee 'lockstep fuzz --help'.\n",
        "lockstep: --resume: \(words); stop it, or wait for its end\nSee 'lockstep run --help'.\n",
        "lockstep: \(words); the report covers what it did so far\n", "",
      ])
    #expect(try folder.read("x.xml").hasSuffix("</testsuites>\n"))
  }

  @Test("campaigns that are killed at once can be gone on with", arguments: [1, 2])
  func killed(jobs: Int) throws {
    let folder = try Command.Folder()
    for _ in 1...3 {
      let process = try Command.start(
        Command.path, ["fuzz", "sesame-table", "--steps", "3000", "--seed", "3", "--jobs", "\(jobs)"],
        in: folder.path, out: folder)
      while folder.names("Reports/runs").allSatisfy({ $0.hasPrefix(".") }) { usleep(500) }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let run = try #require(folder.names("Reports/runs").first { !$0.hasPrefix(".") })
      let result = try Command.run("fuzz", "--resume", run, "-q", in: folder.path)
      expect([result.status == 0 ? "" : result.errors, "\(result.status)"], ["", "0"])
      let report = try Command.call("report", run, "-q", in: folder.path)
      folder.remove("Reports/runs/\(run)")
      expect([report.output, report.errors], ["", ""])
    }
  }

  @Test("what killed runs leave behind is swept by the next one, and nothing else")
  func remains() throws {
    let folder = try Command.Folder()
    let unborn = "Reports/runs/.2026-11-20T22-38-51-run"
    let swept = [
      "Reports/junit.xml.1abc9.new", "Reports/junit-2.xml.z.new", "Reports/report.html.0.new",
      "Reports/failures/door-12ab34.yaml.q1.new", "Reports/corpus/door/12ab34.yaml.q1.new",
      "Reports/corpus/door/job-7/12ab34.yaml.q1.new", "\(unborn).4711/manifest.json",
      "\(unborn).8f31ab/manifest.json.0a.new", "\(unborn).8f31ab/journal.jsonl", "\(unborn).8f31ab/.held",
      "Reports/runs/.gone.2026-11-20T22-38-51-run.1/anything",
    ]
    let kept = [
      "Reports/junit.xml.new", "Reports/notes.1abc9.new", "Reports/failures/a.txt.1.new",
      "Reports/corpus/door/x.yaml", "\(unborn).9f31ab/precious", "Reports/runs/.mine/journal.jsonl",
      "Reports/runs/.gone/x", "Reports/runs/2026-11-20T22-38-51-run/manifest.json.1.new",
      "other/junit.xml.1.new",
    ]
    for name in swept + kept { try folder.write(name, "x") }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/Reports/runs/.gone.link.1", withDestinationPath: folder.path + "/other")
    let line = "run '\(Command.root)/Scenarios/door' --filter out-of-turn -q --history none"
    // Nothing is touched as long as somebody else works there.
    let (run, process) = try living(folder)
    let beside = try Command.line(line, in: folder.path)
    expect([beside.errors, "\(beside.status)"], ["", "0"])
    // The campaign came first, and nobody was there.
    expect(swept.filter(folder.has), [])
    for name in swept { try folder.write(name, "x") }
    expect(try Command.line(line, in: folder.path).status, 0)
    expect(swept.filter(folder.has), swept)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    expect(try Command.line(line, in: folder.path).status, 0)
    expect(swept.filter(folder.has), [])
    expect(kept.filter(folder.has), kept)
    expect(folder.has("Reports/runs/\(run)/journal.jsonl"), true)
  }

  @Test("two at a time with the same places leave each report whole, and are two in the history")
  func beside() throws {
    let folder = try Command.Folder()
    let run = "$LOCKSTEP run '\(Command.root)/Scenarios/door' --seed 7 -q"
    let result = try Command.shell(
      "\(run) & \(run) & \(run) & \(run); wait; $LOCKSTEP history runs --format json", in: folder.path)
    expect(result.errors, "")
    let answer = try JSON(parsing: Array(result.output.utf8))
    let ids = answer["runs"]?.elements?.compactMap { $0["id"]?.string } ?? []
    expect(Set(ids).count, 4)
    #expect(ids.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) }, "\(ids)")
    #expect(try folder.read("Reports/junit.xml").hasSuffix("</testsuites>\n"))
    #expect(try folder.read("Reports/report.html").hasSuffix("</html>\n"))
    expect(folder.names("Reports").filter { $0.hasSuffix(".new") }, [])
    // Taken in again they are the same.
    expect(
      try Command.line("history add Reports/runs/*/", in: folder.path).output,
      "4 runs taken into Reports/history.sqlite\n")
    expect(try Command.line("history runs --format json", in: folder.path).output, result.output)
  }
}
