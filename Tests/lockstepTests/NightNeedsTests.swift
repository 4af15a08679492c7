import Basics
import Foundation
import TestSupport
import Testing

@Suite("What a night says in the morning", .timeLimit(.minutes(10)))
struct NightNeedsTests {
  /// Drives the night of a folder in a process: its cases are processes of the same program.
  private static func night(in folder: String) throws -> Command.Result {
    try Command.run("nightly", "plan.yaml", "--seed", "1", in: folder)
  }

  @Test(
    "names every lock that needs a person, with what to paste, and agrees with devices on what is out of use")
  func needs() throws {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      """
      bench: floor-\(UUID().uuidString)
      locks:
        - { name: front, device: "emulator:sesame5" }
        - { name: back, device: "emulator:sesame5?defect=jam-reported-as-locked" }
        - { name: gone, device: "exec:sh -c 'echo no such module >&2; exit 3'" }

      """)
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 30 min
      suites: [{ name: new, scenarios: \(Command.root)/Scenarios/sesame5/jam.yaml }]

      """)
    let result = try Self.night(in: folder.path)
    expect(result.status, 1)
    let head = "2 of 3 locks need you: back diverged, gone has a program that does not start (no such module)"
    #expect(result.output.hasPrefix("Test floor   \(head)   "), "\(result.output)")
    let lines = result.output.split(separator: "\n").map(String.init)
    let restore = "      lockstep devices restore gone"
    #expect(lines.contains { $0.hasPrefix("      lockstep replay Reports/runs/") } && lines.contains(restore))
    let page = try folder.read("Reports/nightly.html")
    #expect(page.contains("<title>\(head)") && page.contains("<code>lockstep devices restore gone</code>"))
    let summary = try Self.summary(in: folder)
    expect(summary["headline"]?.string, head)
    expect(summary["notDone"], [])
    let needs = try #require(summary["needs"]?.elements)
    expect(
      needs.map { [$0["kind"], $0["name"], $0["what"]].map { $0?.string ?? "" } },
      [
        ["lock", "back", "diverged"], ["lock", "gone", "has a program that does not start (no such module)"],
      ])
    expect(
      needs.map { $0["causes"] },
      [
        [["cause": "diverged"]],
        [["cause": "doesNotStart", "program": "program", "lastWords": "no such module"]],
      ])
    let commands = needs.map {
      ($0["commands"]?.elements ?? []).map { [$0["does"], $0["line"]].map { $0?.string ?? "" } }
    }
    expect(commands.map { $0.map { $0[0] } }, [["replay"], ["restore", "replay"]])
    expect(commands[1][0][1], "lockstep devices restore gone")
    #expect(commands.joined().allSatisfy { lines.contains("      " + $0[1]) }, "\(commands)")
    let reasons = needs.map { $0["reasons"]?.elements?.count }
    expect(reasons, [1, 1])
    let shown = try Command.call("devices", in: folder.path).output
    #expect(
      shown.contains("  back    available   ") && shown.contains("  gone    out of use   since "), "\(shown)")
    for (name, use) in [("back", "available"), ("gone", "out of use")] {
      #expect(lines.contains { $0.hasPrefix("  \(name) ") && $0.hasSuffix(use) }, "\(result.output)")
    }
    expect(try Command.line("devices restore gone", in: folder.path).output, "gone is back in use\n")
  }

  @Test("says what was planned and did not happen")
  func notDone() throws {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      "bench: floor-\(UUID().uuidString)\nlocks: [{ name: front, device: \"emulator:sesame5\" }]\n")
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 9 s
      suites: [{ name: new, scenarios: \(Command.root)/Scenarios/sesame5/jam.yaml, tags: [new] }]
      fuzz: { machine: sesame }

      """)
    let result = try Self.night(in: folder.path)
    let words = "1 case (no lock has the tags new); fuzzing of front (no time was left)"
    #expect(result.output.contains("\n  not done: \(words)\n"), "\(result.output)")
    #expect(try folder.read("Reports/nightly.html").contains("Not done: \(words)"))
    let summary = try Self.summary(in: folder)
    #expect(summary["headline"] == nil)
    expect(summary["needs"], [])
    expect(
      summary["notDone"],
      [
        ["what": "cases", "reason": "no lock has the tags new", "locks": ["no lock"], "count": 1],
        ["what": "fuzzing", "reason": "no time was left", "locks": ["front"]],
      ])
  }

  @Test("names the program that failed, of a driver and a peripheral")
  func programs() throws {
    let folder = try Command.Folder()
    expect(try Command.call("new", "keypad", "--quiet", in: folder.path).status, 0)
    try folder.write(
      "keypad/bench.yaml",
      """
      bench: floor-\(UUID().uuidString)
      locks:
        - { name: mute, device: "driver:python3 driver.py?peripheral=echo no battery >&2; exit 4" }
        - { name: lost, device: "driver:echo no radio >&2; exit 1?peripheral=python3 lock.py" }
        - { name: dies, device: "driver:python3 driver.py?peripheral=python3 dies.py" }

      """)
    let lock = try folder.read("keypad/lock.py")
    let death = #"os.write(2, b"it died\n"), os._exit(1)"#
    try folder.write(
      "keypad/dies.py", "import os\n" + lock.replacing("return turn(UNLOCKED, 5)", with: death))
    try folder.write(
      "keypad/plan.yaml",
      "nightly: Keypads\nduration: 30 min\nsuites: [{ name: all, scenarios: scenarios/opens.yaml }]\n")
    let result = try Self.night(in: folder.path + "/keypad")
    #expect(
      result.output.hasPrefix(
        "Keypads   3 of 3 locks need you: mute has a peripheral that does not start (no battery), "
          + "lost has a driver that does not start (no radio), dies has a peripheral that ended (it died)   "),
      "\(result.output)")
    expect(result.status, 3)
  }

  /// The object of `summary.json`.
  private static func summary(in folder: Command.Folder) throws -> JSON {
    let night = folder.names("Reports/runs").first { $0.hasSuffix("-nightly") } ?? "none"
    return try JSON(parsing: Array(folder.read("Reports/runs/\(night)/summary.json").utf8))
  }
}
