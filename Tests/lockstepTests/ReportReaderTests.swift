import Foundation
import TestSupport
import Testing

/// The schemas of others, which are no part of this package; a checkout may have them beside it.
private let schemas = Command.root + "/../shared/junit"

/// JUnit and Allure as those see them who read them: junitparser, junit2html, xunitparser, flakemap, and the classes of
/// Allure. `Tests/Peers/reports.py` asks them.
@Suite("Reports in the eyes of their readers", .timeLimit(.minutes(10)), .needs(.flakemap))
struct ReportReaderTests {
  /// How a case ended, in the words of each reader.
  enum End {
    case passed, flaky, failed, broken, unfinished, skipped

    var junit: String {
      switch self {
      case .passed, .flaky: "passed"
      case .failed: "failure"
      case .broken, .unfinished: "error"
      case .skipped: "skipped"
      }
    }
    var page: String { ["failure": "failed", "error": "failed"][junit] ?? junit }
    var flakemap: String {
      ["passed": "pass", "skipped": "skip"][junit, default: "fail"] + (self == .flaky ? " recovered" : "")
    }
    var allure: String {
      switch self {
      case .flaky: "passed flaky"
      case .broken: "broken"
      case .unfinished: "unknown"
      case .failed: "failed"
      case .passed, .skipped: junit
      }
    }
  }

  /// A case, and what is to be seen of it.
  struct Expected {
    var suite: String
    var name: String
    var end = End.passed
    var file: String
    /// Where it ended as it did, or begins where it agreed.
    var line = 1
    /// The endings of its files.
    var files: [String] = []

    func seen(by reader: String) -> String {
      switch reader {
      case "junitparser": "\(suite) \(name) \(end.junit) \(file):\(line)"
      case "junit2html": "\(suite) \(name) \(end.page)"
      case "xunitparser": "\(suite) \(name) \(end.junit)"
      case "flakemap": "\(suite).\(name) \(end.flakemap)"
      default: ([suite + "." + name, end.allure] + files).joined(separator: " ")
      }
    }
  }

  private struct Seen: Decodable {
    var cases: [String]
    var seconds: Double?
  }

  private let folder: Command.Folder

  init() throws {
    folder = try Command.Folder()
    for (file, title, device) in [
      ("a.b/c/one", "One", "door"), ("a.b/two", "Two", "door"), ("door/three", "Three", "door"),
      ("lab/gone", "Gone", "exec:exit 7"), ("flaky/door", "Now and then", "exec:sh flaky.sh"),
    ] {
      try folder.write(
        "S/\(file).yaml",
        "scenario: \(title)\nmachine: door\ndevice: \"\(device)\"\nsteps:\n  - Open\n  - expect: { status: Opened }\n"
      )
    }
    try folder.write("flaky.sh", TestFrameworks.flakyDoor)
    try folder.write("locks/unlock.yaml", TestFrameworks.unlock)
    try folder.write("locks/lock.yaml", TestFrameworks.lock)
    try folder.write("slow.py", Self.slowDoor)
    try folder.write("held.py", Self.slowDoor.replacing("time.sleep(0.2)", with: Self.held))
    for number in 1...4 {
      try folder.write(
        "slow/\(number).yaml",
        "scenario: Slow \(number)\nmachine: door\ndevice: \"exec:python3 -u \(number == 3 ? "held" : "slow").py\"\nsteps: [Open, Close, Open, Close]\n"
      )
    }
  }

  /// A door that takes 0.2 s for everything.
  private static let slowDoor = OutputPlacesTests.program.replacing(
    "import json, os, sys", with: "import json, os, sys, time"
  ).replacing(
    "elif \"stimulus\" in message: ", with: "elif \"stimulus\" in message:\n        time.sleep(0.2); ")

  /// As the slow door, and it stands still where there is a file `hold`.
  private static let held = "time.sleep(0.2 if not os.path.exists('hold') else 600)"

  private static let healthy = [
    Expected(suite: "S.a_b", name: "two", file: "S/a.b/two.yaml"),
    Expected(suite: "S.a_b.c", name: "one", file: "S/a.b/c/one.yaml"),
    Expected(suite: "S.door", name: "three", file: "S/door/three.yaml"),
  ]

  private func run(_ line: String) throws -> Int32 {
    try Command.line(line, in: folder.path).status
  }

  /// What each reader sees of the reports of some runs.
  private func readers(of runs: String) throws -> [String: Seen] {
    let python = Command.root + "/.build/peers/venv/bin/python"
    folder.remove("allure")
    for options in ["--junit ci.xml --allure allure", "--junit surefire.xml --junit-profile surefire"] {
      let report = try Command.line("report \(runs) \(options) --html none --quiet", in: folder.path)
      expect(report.errors, "")
    }
    let result = try Tool.shell(
      "'\(python)' '\(Command.root)/Tests/Peers/reports.py' ci.xml surefire.xml allure", in: folder.path)
    expect(result.status, 0)
    expect(result.errors, "")
    return try JSONDecoder().decode([String: Seen].self, from: Data(result.output.utf8))
  }

  private func check(_ runs: String, _ expected: [Expected], areTimed: Bool = true) throws {
    let seen = try readers(of: runs)
    expect(seen.keys.sorted(), ["allure", "flakemap", "junit2html", "junitparser", "xunitparser"])
    let times = try folder.read(all: runs.replacing("*", with: "*/times.jsonl"))
    let took = times.split(separator: "\n").compactMap { line in
      line.split(separator: "\"seconds\":").last.flatMap { Double($0.dropLast()) }
    }
    for (reader, told) in seen {
      expect(told.cases, expected.map { $0.seen(by: reader) }.sorted())
      if areTimed, let seconds = told.seconds {
        #expect(
          abs(seconds - took.reduce(0, +)) < 0.001 * Double(took.count + 1), "\(reader): \(seconds), \(took)")
      }
    }
  }

  @Test("a run in which all agree, in one piece and as two shards that are merged")
  func healthy() throws {
    expect(try run("run S/a.b S/door --quiet"), 0)
    try check("Reports/runs/*", Self.healthy)
    for shard in 1...2 { expect(try run("run S/a.b S/door --shard \(shard)/2 --out shards --quiet"), 0) }
    expect(folder.names("shards/runs").count, 2)
    try check("shards/runs/*", Self.healthy)
  }

  @Test(
    "a broken lock: the line of the step, the settings in the name, packets and the scenario that does it again"
  )
  func broken() throws {
    expect(try run("run locks --device '\(TestFrameworks.broken)' --quiet"), 1)
    let settings = " [defect=status-lags-one-behind]"
    try check(
      "Reports/runs/*",
      [
        Expected(suite: "locks", name: "lock" + settings, file: "locks/lock.yaml"),
        Expected(
          suite: "locks", name: "unlock" + settings, end: .failed, file: "locks/unlock.yaml", line: 12,
          files: [".btsnoop", ".jsonl", ".yaml"]),
      ])
  }

  @Test("trouble of the lab is no failure, and what was not begun is skipped")
  func lab() throws {
    expect(try run("run S/lab S/door --max-fail 1 --quiet"), 3)
    try check(
      "Reports/runs/*",
      [
        Expected(suite: "S.lab", name: "gone", end: .broken, file: "S/lab/gone.yaml"),
        Expected(suite: "S.door", name: "three", end: .skipped, file: "S/door/three.yaml"),
      ])
  }

  @Test("a case that agrees at its second try is flaky to all that know of it, and takes the time of both")
  func flaky() throws {
    expect(try run("run S/flaky --retries 2 --quiet"), 0)
    try check(
      "Reports/runs/*", [Expected(suite: "S.flaky", name: "door", end: .flaky, file: "S/flaky/door.yaml")])
  }

  @Test("a campaign names the file in which it saved what it found, and none of its own")
  func campaign() throws {
    expect(
      try run("fuzz sesame --device '\(TestFrameworks.broken)' --steps 3000 --seed 1 --quiet --out found"), 1)
    let file = try #require(folder.names("found/failures").first)
    let lines = try folder.read("found/failures/\(file)").split(
      separator: "\n", omittingEmptySubsequences: false)
    let steps = try #require(lines.lastIndex { $0.hasPrefix("  - ") })
    let settings = " [defect=status-lags-one-behind]"
    let seen = try readers(of: "found/runs/*")
    expect(
      seen["junitparser"]?.cases,
      [
        "failures \(file.dropLast(5))\(settings) failure found/failures/\(file):\(steps + 1)",
        "fuzz sesame\(settings) passed :",
      ])
    expect(
      seen["allure"]?.cases,
      ["failures.\(file.dropLast(5))\(settings) failed .btsnoop .jsonl", "fuzz.sesame\(settings) passed"])
  }

  @Test("a run that is killed has a case without an end, and taken up again the times of both sessions")
  func killed() throws {
    let script = """
      touch hold; "$LOCKSTEP" run slow --quiet --history none --answer-timeout 10min & run=$!
      until grep -c seconds Reports/runs/*/times.jsonl 2>/dev/null | grep -q 2; do sleep 0.05; done
      until grep -q slow/3.yaml Reports/runs/*/journal.jsonl; do sleep 0.05; done
      kill -9 $run; wait $run 2>/dev/null; rm hold; basename Reports/runs/*
      """
    let begin = Date()
    let name = try Command.shell(script, in: folder.path).output.split(separator: "\n").last ?? ""
    let slow = (1...4).map { Expected(suite: "slow", name: "\($0)", file: "slow/\($0).yaml") }
    let done = try folder.read("Reports/runs/\(name)/times.jsonl").split(separator: "\n").count
    var seen = Array(slow[..<done])
    var open = slow[done]
    open.end = .unfinished
    seen.append(open)
    // The case without an end has no time of ours, and the report says that the run did not end.
    let told = try readers(of: "Reports/runs/*")
    expect(
      told["allure"]?.cases.filter { $0.hasPrefix("slow") }, seen.map { $0.seen(by: "allure") })
    expect(try run("run --resume \(name) --quiet --history none"), 0)
    try check("Reports/runs/*", slow)
    // Each took four stimuli of 0.2 s in this run or in the first.
    let seconds = try #require(try readers(of: "Reports/runs/*")["junitparser"]?.seconds)
    #expect(seconds > 3.2 && seconds < Date().timeIntervalSince(begin), "\(seconds)")
  }

  @Test("times are what somebody waited, in a row and side by side", arguments: [1, 4])
  func times(jobs: Int) throws {
    let begin = Date()
    expect(try run("run slow --jobs \(jobs) --quiet"), 0)
    let waited = Date().timeIntervalSince(begin)
    let told = try readers(of: "Reports/runs/*")
    for reader in ["junitparser", "junit2html", "xunitparser", "allure"] {
      let seconds = try #require(told[reader]?.seconds)
      // Four stimuli of 0.2 s in each of four cases; so many at a time take no longer than all of them together.
      #expect(seconds >= 3.2 && seconds < waited * Double(jobs), "\(reader): \(seconds) of \(waited)")
    }
  }

  @Test("a title makes no other case, a defect does, and says nothing of how steady the suite is")
  func identities() throws {
    let history = "--history h.sqlite --quiet"
    expect(try run("run locks --out first \(history)"), 0)
    let first = try readers(of: "first/runs/*")
    let retitled = TestFrameworks.unlock.replacing("An unlock is told", with: "What an unlock shows")
    try folder.write("locks/unlock.yaml", retitled)
    expect(try run("run locks --out second \(history)"), 0)
    let second = try readers(of: "second/runs/*")
    for (reader, told) in first { expect(second[reader]?.cases, told.cases) }
    expect(try run("run locks --device '\(TestFrameworks.broken)' --out third \(history)"), 1)
    let third = try readers(of: "third/runs/*")
    for (reader, told) in first {
      let names = Set(told.cases.map { $0.split(separator: "lock").first ?? "" })
      expect(names.count, 2)
      #expect(Set(told.cases).isDisjoint(with: third[reader]?.cases ?? []), "\(reader)")
      #expect(third[reader]?.cases.allSatisfy { $0.contains("[defect=") } == true, "\(reader)")
    }
    let flaky = try Command.line("history flaky --history h.sqlite", in: folder.path)
    expect(flaky.output, "no case is flaky in 3 runs\n")
  }

  @Test("a file of times that is damaged, or none, leaves a report with the times of the device")
  func damaged() throws {
    let begin = Date()
    expect(try run("run slow/1.yaml slow/2.yaml --quiet"), 0)
    let waited = Date().timeIntervalSince(begin)
    let whole = try #require(try readers(of: "Reports/runs/*")["junitparser"])
    for damage in [
      "head -c 70 $T >t; mv t $T", "head -c 3000 /dev/urandom >$T", "rm $T", "rm -f $T; mkdir $T",
      "rm -r $T; mkfifo $T",
      "rm -f $T; ln -s /dev/zero $T",
      "rm -f $T; echo '{\"line\":2,\"start\":\"9999-12-31T23:59:59Z\",\"seconds\":9000000000000000000}' >$T",
    ] {
      expect(try Tool.shell("T=$(echo Reports/runs/*)/times.jsonl; \(damage)", in: folder.path).errors, "")
      let told = try #require(try readers(of: "Reports/runs/*")["junitparser"])
      expect(told.cases, whole.cases)
      let seconds = try #require(told.seconds)
      #expect(seconds >= 1.6 && seconds < waited, "\(damage): \(seconds) of \(waited)")
    }
  }

  @Test(
    "each profile is valid by the schema of its readers",
    .enabled(
      if: FileManager.default.fileExists(atPath: schemas),
      "needs ../shared/junit with the schemas of Jenkins, Ant and Surefire"),
    arguments: [
      ("jenkins", "jenkins-junit-10.xsd"), ("strict", "windyroad-JUnit.xsd"), ("strict", "jenkins-junit.xsd"),
      ("surefire", "surefire-test-report.xsd"),
    ])
  func valid(profile: String, schema: String) throws {
    expect(try run("run S locks --device '\(TestFrameworks.broken)' --retries 1 --quiet"), 1)
    expect(try run("report Reports/runs/* --junit p.xml --junit-profile \(profile) --html none --quiet"), 1)
    let lint = try Tool.shell(
      "xmllint --noout --schema '\(schemas)/\(schema)' p.xml", in: folder.path)
    expect(lint.errors, "p.xml validates\n")
  }
}
