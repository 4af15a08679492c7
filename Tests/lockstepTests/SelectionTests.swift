import Basics
import Foundation
import TestSupport
import Testing

@Suite("Running some of the scenarios")
struct SelectionTests {
  @Test("without a path it is Scenarios, or scenarios where there is that alone")
  func usualFolder() throws {
    let folder = try Command.Folder()
    try folder.write("scenarios/a.yaml", "scenario: A\nmachine: door\nsteps: [Open]\n")
    expect(try Command.call("run", "--seed", "1", in: folder.path).status, 0)
    expect(try Command.call("list", in: folder.path).output.contains("scenarios/a"), true)
    expect(try Command.call("schedule", "gitlab", in: folder.path).output.contains("-- scenarios"), true)
    try folder.write("Scenarios/b.yaml", "scenario: B\nmachine: door\nsteps: [Open]\n")
    let both = try Command.call("list", in: folder.path).output
    #expect(both.contains("Scenarios/b") && !both.contains("scenarios/a"), "\(both)")
  }

  /// A folder with three scenarios, of which one diverges on any healthy door.
  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    for (name, steps) in [
      ("a", "[Open, Close]"), ("b", "[Open, { expect: { status: Closed } }]"), ("c", "[Open]"),
    ] {
      try folder.write(
        "s/\(name).yaml",
        "scenario: Door \(name)\nmachine: door\ndevice: { emulator: door }\ntags: [t\(name)]\nsteps: \(steps)\n"
      )
    }
    return folder
  }

  private func files(_ folder: Command.Folder, _ words: String...) throws -> [String] {
    try Command.call(["run", "s", "-vq"] + words, in: folder.path).output.split(separator: "\n")
      .compactMap { line in
        ["a", "b", "c", "d"].first { line.hasPrefix("✔ s/\($0)") || line.hasPrefix("✘ s/\($0)") }
      }
  }

  @Test("what failed the last time is run alone, first, and no more once it agrees")
  func lastFailed() throws {
    let folder = try folder()
    expect(try Set(files(folder)), ["a", "b", "c"])
    expect(try files(folder, "--last-failed").uniqued, ["b"])
    expect(try files(folder, "--failed-first").uniqued, ["b", "a", "c"])
    // Others that agree take nothing back.
    expect(try files(folder, "--filter", "tag(ta)").uniqued, ["a"])
    expect(try files(folder, "--last-failed").uniqued, ["b"])
    try folder.write(
      "s/b.yaml", "scenario: Door b\nmachine: door\ndevice: { emulator: door }\nsteps: [Open]\n")
    expect(try files(folder, "--last-failed").uniqued, ["b"])
    // Being skipped takes nothing back, and neither does being gone on with.
    try folder.write(
      "s/d.yaml",
      try folder.read("s/c.yaml").replacing("[Open]", with: "[Open, { expect: { status: Closed } }]"))
    _ = try files(folder, "--filter", "s/d.yaml")
    _ = try files(folder, "--device", "emulator:socket")
    expect(try files(folder, "--last-failed").uniqued, ["d"])
    let latest = try #require(folder.names("Reports/runs").last { !$0.hasPrefix(".") })
    expect(try Command.call("run", "--resume", latest, in: folder.path).status, 1)
    try folder.write("s/d.yaml", try folder.read("s/c.yaml"))
    expect(try files(folder, "--last-failed").uniqued, ["d"])
    let rest = try Command.call("run", "s", "--last-failed", in: folder.path)
    expect(rest.status, 0)
    #expect(rest.errors.contains("lockstep: no scenario failed in its last run: all are run\n"))
    #expect(rest.output.contains("4 cases: 4 agree"))
  }

  @Test("a file with a line is the scenario of that line; several filters add up")
  func places() throws {
    let folder = try folder()
    for place in ["s/a.yaml:1", "s/a.yaml:4:2"] {
      let run = try Command.call("run", place, in: folder.path)
      expect(run.status, 0)
      #expect(run.output.contains("1 case: 1 agree"))
    }
    let wrong = try Command.call("run", "s/a.yaml:99", in: folder.path)
    expect(wrong.status, 2)
    #expect(wrong.errors.contains("s/a.yaml:99: the file has 6 lines\n"))
    let both = try Command.call("list", "s", "--filter", "tag(ta)", "--filter", "Door c", in: folder.path)
    expect(both.output, "s/a.yaml  Door a\ns/c.yaml  Door c\n")
  }

  @Test("cases side by side leave the journal of cases in a row")
  func jobs() throws {
    let folder = try folder()
    var journals: [String] = []
    for jobs in ["1", "4"] {
      let run = try Command.call(
        "run", "s", "--seed", "3", "--repeat", "40", "--jobs", jobs, "--out", "out\(jobs)", in: folder.path)
      expect(run.status, 1)
      #expect(run.output.contains("120 cases: 80 agree, 40 not as expected"))
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out\(jobs)/runs").first {
          !$0.hasPrefix(".")
        })
      journals.append(try folder.read("out\(jobs)/runs/\(name)/journal.jsonl"))
    }
    expect(journals[0].replacing("out1/", with: "out4/"), journals[1])
  }

  @Test("a selection that is empty leaves the report that is there")
  func empty() throws {
    let folder = try folder()
    _ = try Command.call("run", "s", in: folder.path)
    let report = try folder.read("Reports/junit.xml")
    let none = try Command.call("run", "s", "--filter", "nowhere", in: folder.path)
    expect(none.status, 4)
    #expect(none.errors.contains("lockstep: Reports/junit.xml is left as it is\n"))
    expect(try folder.read("Reports/junit.xml"), report)
    // Whichever report it is.
    let page = try folder.read("Reports/report.html")
    let other = try Command.call("run", "s", "--filter", "nowhere", "--junit", "other.xml", in: folder.path)
    #expect(other.errors.contains("lockstep: Reports/report.html is left as it is\n"), "\(other.errors)")
    expect(try folder.read("Reports/report.html"), page)
    #expect(!folder.has("other.xml"))
  }

  @Test("what runs save in the folder of the scenarios is none of them, run after run")
  func ownResults() throws {
    let folder = try folder()
    for place in ["s/Reports", "Reports"] {
      for _ in 1...3 {
        let result = try Command.call("run", ".", "--out", place, "--allure", "s/al", in: folder.path)
        #expect(result.output.contains("3 cases: 2 agree, 1 not as expected "), "\(result.output)")
        try FileManager.default.removeItem(atPath: folder.path + "/s/al")
      }
      try FileManager.default.removeItem(atPath: folder.path + "/" + place)
    }
  }

  @Test("beside scenarios there may be machines, benches and nights, but not what nobody knows")
  func others() throws {
    let folder = try Command.Folder()
    expect(try Command.call("new", "p", "--kind", "exec", in: folder.path).status, 0)
    let place = folder.path + "/p"
    let listed = try Command.call("list", ".", in: place)
    expect(listed.output.split(separator: "\n").count, 3)
    expect(listed.errors, "")
    expect(try Command.call("validate", ".", in: place).output, "3 scenarios and 1 machine are well-formed\n")
    let named = try Command.call("list", "bench.yaml", in: place)
    expect(named.status, 2)
    #expect(named.errors.contains("bench.yaml:3:1: unknown key `bench`"), "\(named.errors)")
    try folder.write("p/s.yaml", "scenraio: A\nmachine: door\n")
    let typo = try Command.call("list", ".", in: place)
    expect(typo.status, 2)
    #expect(typo.errors.contains("s.yaml:1:1: unknown key `scenraio`"), "\(typo.errors)")
  }

  @Test("what agrees only when it is tried again is in sight", arguments: [("pass", 0), ("fail", 1)])
  func flaky(result: String, status: Int32) throws {
    let folder = try Command.Folder()
    try folder.write(
      "door.py",
      """
      import json, os, sys
      for line in sys.stdin:
          if "Open" in line:
              print(json.dumps({"status": "Opened" if os.path.exists("seen") else "Closed"}))
              open("seen", "w").close()
          print(json.dumps({"settled": True}), flush=True)

      """)
    for name in ["a", "b"] {
      try folder.write(
        "s/\(name).yaml", "scenario: A\nmachine: door\ndevice: \"exec:python3 -u door.py\"\nsteps: [Open]\n")
    }
    let run = try Command.call(
      "run", "s", "--retries", "1", "--flaky-result", result, "--max-fail", "1", in: folder.path)
    expect(run.status, status)
    #expect(run.output.contains("\n~ s/a.yaml   flaky: it agrees when tried again\n"), "\(run.output)")
    let words = "\n  flaky    1 agreed only when tried again"
    #expect(
      run.output.contains(words + (status == 0 ? "\n" : ", which counts as failed (--flaky-result fail)\n")),
      "\(run.output)")
    #expect(
      run.output.contains(status == 0 ? "2 cases: 2 agree " : "2 cases: 1 diverge, 1 skipped "),
      "\(run.output)")
    let page = try folder.read("Reports/report.html")
    #expect(page.contains(status == 0 ? "<title>All 2 cases agree, 1 flaky" : "<title>1 of 2 cases diverged"))
    let again = try Command.call("run", "s", "--last-failed", in: folder.path)
    #expect(again.errors.contains("no scenario failed in its last run") == (status == 0), "\(again.errors)")
  }

  @Test("report names a case that agreed at a later try and counts as failed, and counts it alone")
  func flakyInReport() throws {
    let folder = try Command.Folder()
    try folder.write(
      "door.py",
      """
      import json, os, sys
      for line in sys.stdin:
          if "Open" in line:
              print(json.dumps({"status": "Opened" if os.path.exists(sys.argv[1]) else "Closed"}))
              open(sys.argv[1], "w").close()
          print(json.dumps({"settled": True}), flush=True)

      """)
    for name in ["a", "b"] {
      try folder.write(
        "\(name).yaml",
        "scenario: A\nmachine: door\ndevice: \"exec:python3 -u door.py \(name)\"\nsteps: [Open]\n")
    }
    for (name, result, status) in [("a", "pass", 0), ("b", "fail", 1)] as [(String, String, Int32)] {
      let run = "run --retries 1 --quiet --seed 1 \(name).yaml --flaky-result \(result)"
      expect(try Command.line(run, in: folder.path).status, status)
    }
    let report = try Command.line("report Reports", in: folder.path)
    let lines = report.output.split(separator: "\n").map(String.init)
    expect(report.status, 1)
    expect(lines.first, "✘ b")
    #expect(
      lines.contains("    it agreed when tried again, and counts as failed (--flaky-result fail)"), "\(lines)"
    )
    #expect(lines.contains { $0.hasPrefix("  lockstep replay Reports/failures/b-") }, "\(lines)")
    #expect(
      lines.contains(
        "  flaky    2 agreed only when tried again, 1 of which counts as failed (--flaky-result fail)"),
      "\(lines)")
    #expect(!lines.contains("✘ a"))
    let junit = try folder.read("Reports/junit.xml")
    expect(junit.components(separatedBy: "<failure").count - 1, 1)
    let json = try JSON(
      parsing: Command.line("report Reports --quiet --format json", in: folder.path).output)
    expect([json["divergences"], json["flaky"]], [1, 2])
  }

  @Test("where none of what is run failed the last time, that is said")
  func noneFailed() throws {
    let folder = try folder()
    expect(try Command.call("run", "s", in: folder.path).status, 1)
    let other = try Command.call("run", "s/a.yaml", "--last-failed", in: folder.path)
    expect(other.errors, "lockstep: none of these failed in its last run: all are run\n")
    expect(other.status, 0)
  }

  @Test("a text that was looked for as it stands is answered with the expression that may have been meant")
  func meant() throws {
    let folder = try folder()
    let hint =
      "lockstep: --filter 'ta & Door' was searched for literally; as an expression it is 'text(ta) & text(Door)'\n"
    let list = try Command.call("list", "s", "--filter", "ta & Door", in: folder.path)
    expect(list.errors, hint)
    expect(list.status, 4)
    let run = try Command.call("run", "s", "--filter", "ta & Door", "--filter", "nowhere", in: folder.path)
    #expect(
      run.errors.hasSuffix("lockstep: nothing to run: no scenario is selected\n" + hint), "\(run.errors)")
    expect(run.status, 4)
    expect(
      try Command.call("list", "s", "--filter", "text(ta) & text(Door)", in: folder.path).output,
      "s/a.yaml  Door a\n")
    let some = try Command.call("list", "s", "--filter", "ta & Door", "--filter", "tag(tb)", in: folder.path)
    expect(some.errors, "")
  }

  @Test("a filter that is wrong is not repeated at any length")
  func longFilter() throws {
    let text = "tag(" + String(repeating: "a", count: 100_000)
    let folder = try folder()
    let wrong = try Command.call("list", "s", "--filter", text, in: folder.path)
    expect(
      wrong.errors,
      "lockstep: --filter 'tag(\(String(repeating: "a", count: 196))…': column 1: `tag(` is not closed\n"
        + "See 'lockstep list --help'.\n")
    expect(wrong.status, 2)
  }

  @Test("the slowest cases are named")
  func durations() throws {
    let folder = try folder()
    try folder.write(
      "slow.py",
      """
      import json, sys, time
      for line in sys.stdin:
          message = json.loads(line)
          if "stimulus" in message:
              time.sleep(0.2)
              print('{"status":"Opened"}')
          print('{"settled":true}', flush=True)

      """)
    try folder.write(
      "s/slow.yaml", "scenario: Slow\nmachine: door\ndevice: exec:python3 slow.py\nsteps: [Open]\n")
    // What is told of late took as long as it took, and not as long as the telling.
    for jobs in ["1", "4"] {
      let run = try Command.call("run", "s", "--durations", "2", "--jobs", jobs, in: folder.path)
      let slowest = run.output.split(separator: "\n").filter { $0.hasPrefix("  slowest  s/") }
      expect(slowest.count, 2)
      #expect(slowest.first?.hasPrefix("  slowest  s/slow.yaml") == true, "\(run.output)\(run.errors)")
    }
  }
}

extension [String] {
  /// Each once, in the order of its first place.
  fileprivate var uniqued: [String] {
    var seen = Set<String>()
    return filter { seen.insert($0).inserted }
  }
}
