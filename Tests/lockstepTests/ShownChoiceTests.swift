import Basics
import Foundation
import TestSupport
import Testing

@Suite("What a device has chosen once", .timeLimit(.minutes(10)))
struct ShownChoiceTests {
  private static let device = "emulator:sesame5?defect=autolock-start-varies"
  private static let contradiction =
    "the device changed its choice of autolock-start, which a device makes once: here it showed next-unlocking, and it "
    + "is held to at-once, which it showed in short"

  /// Two scenarios that agree each by itself, of which each shows another option of a lock that varies.
  private func scenarios() throws -> Command.Folder {
    let folder = try Command.Folder()
    for (name, delay) in [("short", 8), ("long", 15)] {
      try folder.write(
        "\(name).yaml",
        """
        scenario: \(name)
        machine: sesame
        device: { lock: sesame5, registered: true, configured: true, bolt: unlocked }
        steps: [closeTo, connect, { until: { status: unlocked } }, { setAutolock: \(delay) s }, { wait: 25 s }]

        """)
    }
    try folder.write(
      "bench.yaml",
      """
      bench: floor
      locks:
        - { name: front, device: "\(Self.device)" }
        - { name: back, device: emulator:sesame5 }

      """)
    try folder.write(
      "plan.yaml",
      """
      nightly: N
      bench: bench.yaml
      duration: 30 min
      suites: [{ name: a, scenarios: [short.yaml, long.yaml], retries: 2 }]

      """)
    return folder
  }

  private func check(_ night: Command.Result, in folder: Command.Folder) throws {
    expect(night.status, 1)
    let summary = try JSON(parsing: night.output)
    expect(summary["agree"], .number("3"))
    let divergences = summary["divergences"]?.elements ?? []
    expect(divergences.map { $0["lock"]?.string }, ["front"])
    expect(divergences.map { $0["message"]?.string }, [Self.contradiction])
    expect(
      (summary["chosen"]?.elements ?? []).compactMap(\.string).sorted(),
      [
        "back: autolock-start is at-once, as shown in back/short",
        "front: autolock-start is at-once, as shown in front/short",
      ])
    let junit = try folder.read("Reports/junit.xml")
    expect(junit.components(separatedBy: "<failure").count - 1, 1)
    #expect(junit.contains("front: autolock-start is at-once, as shown in front/short"))
    #expect(try folder.read("Reports/nightly.html").contains("front: autolock-start is at-once"))
    let starts = try folder.read(all: "Reports/runs/*/night.jsonl").split(separator: "\n").count { line in
      ["\"start\"", "\"case\"", "\"lock\":\"front\""].allSatisfy(line.contains)
    }
    expect(starts, 2)
  }

  @Test("a lock is held to it over all cases of a night, also where that is taken up again")
  func night() throws {
    let folder = try scenarios()
    // The cases of a night are processes of the same program.
    func night() throws -> Command.Result {
      try Command.shell(
        "LOCKSTEP_STATE=$PWD/state $LOCKSTEP nightly plan.yaml --seed 1 --jobs 1 --format json",
        in: folder.path)
    }
    try check(try night(), in: folder)
    // What is saved shows it alone.
    let saved = try folder.read(all: "Reports/runs/*/cases/*/failures/*.yaml")
    #expect(saved.contains("assume: [at-once]"), "\(saved)")
    // It was killed when the first case of the lock was over.
    let run =
      "Reports/runs/" + (try #require(folder.names("Reports/runs").first { $0.hasSuffix("-nightly") }))
    folder.remove(run + "/summary.json")
    let lines = try folder.read(run + "/night.jsonl").split(separator: "\n")
    let done = try #require(lines.firstIndex { $0.contains("\"done\"") })
    let record = lines[...done].map { $0 + "\n" }.joined()
    #expect(done + 1 < lines.count)
    try folder.write(run + "/night.jsonl", record)
    for name in folder.names(run + "/cases") {
      let number = try #require(Int(name))
      if !record.contains("\"run\":\(number),") { folder.remove("\(run)/cases/\(name)") }
    }
    let resumed = try night()
    try check(resumed, in: folder)
    expect(try JSON(parsing: resumed.output)["resumptions"], .number("1"))
  }

  @Test("runs that agree and contradict each other are a divergence together, in every report")
  func merged() throws {
    let folder = try scenarios()
    for name in ["short", "long"] {
      let run = try Command.line(
        "run \(name).yaml --device '\(Self.device)' --seed 1 -q -o \(name)", in: folder.path)
      expect(run.status, 0)
    }
    let merged = try Command.line(
      "report long/runs/* short/runs/* -o all", in: folder.path)
    expect(merged.status, 1)
    let words = "changed its choice of autolock-start, which a device makes once: in "
    #expect(merged.output.contains(words), "\(merged.output)\(merged.errors)")
    let junit = try folder.read("all/junit.xml")
    expect(junit.components(separatedBy: "<failure").count - 1, 1)
    #expect(junit.contains(words))
    #expect(try folder.read("all/report.html").contains(words))
    // Of one alone nothing is wrong.
    expect(try Command.line("report long/runs/* -o one", in: folder.path).status, 0)
  }

  @Test("a run is held to what another one showed, where it is told to")
  func shownIn() throws {
    let folder = try scenarios()
    _ = try Command.line("run short.yaml --device '\(Self.device)' -q -o short", in: folder.path)
    let run = try Command.line(
      "run long.yaml --device '\(Self.device)' --shown-in short/runs/*", in: folder.path)
    expect(run.status, 1)
    #expect(run.output.contains(Self.contradiction), "\(run.output)\(run.errors)")
    expect(try Command.line("run long.yaml --shown-in gone", in: folder.path).status, 2)
  }
}
