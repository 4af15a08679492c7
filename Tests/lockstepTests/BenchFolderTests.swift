import Foundation
import TestSupport
import Testing

@Suite("A bench in another folder", .timeLimit(.minutes(10)))
struct BenchFolderTests {
  private static func floor() throws -> Command.Folder {
    let folder = try Command.Folder()
    expect(try Command.line("new keypad --kind exec --quiet", in: folder.path).status, 0)
    folder.move("keypad", to: "its lab")
    try folder.write(
      "its lab/bench.yaml",
      """
      bench: floor-\(UUID().uuidString)
      locks:
        - { name: good, device: "exec:python3 device.py" }
        - { name: bad, device: "exec:python3 device.py bug" }

      """)
    return folder
  }

  @Test("runs its programs in that folder, and what it saves is replayed from where it was run")
  func programs() throws {
    let folder = try Self.floor()
    func run(_ lock: String) throws -> Command.Result {
      try Command.line(
        "run 'its lab/scenarios' --bench 'its lab/bench.yaml' --device lock:\(lock) --seed 1",
        in: folder.path)
    }
    let good = try run("good")
    #expect(good.status == 0, "\(good)")
    let bad = try run("bad")
    #expect(bad.status == 1, "\(bad)")
    let replay = try #require(bad.output.split(separator: "\n").first { $0.hasPrefix("  lockstep replay ") })
    let again = try Command.line(String(replay.dropFirst("  lockstep ".count)), in: folder.path)
    expect(again.status, 1)
    let saved = try #require(folder.names("Reports/failures").first)
    let text = try folder.read("Reports/failures/\(saved)")
    #expect(text.contains("device: exec:cd './its lab' || exit; python3 device.py bug\n"), "\(text)")
    // The program itself is known by its hash wherever it stands.
    let runs = folder.names("Reports/runs")
    let journal = try folder.read("Reports/runs/\(runs.first ?? "none")/journal.jsonl")
    #expect(journal.contains(#""program":""#), "\(journal.prefix(2000))")
  }

  @Test("has its nights from elsewhere")
  func night() throws {
    let folder = try Self.floor()
    try folder.write(
      "its lab/nightly.yaml",
      """
      nightly: Elsewhere
      bench: bench.yaml
      duration: 30 min
      suites: [{ name: all, scenarios: scenarios/shuts-out.yaml }]

      """)
    let result = try Command.run("nightly", "its lab/nightly.yaml", "--seed", "1", in: folder.path)
    #expect(result.status == 1, "\(result)")
    #expect(result.output.hasPrefix("Elsewhere   1 of 2 locks needs you: bad diverged "), "\(result.output)")
    let replay = try #require(
      result.output.split(separator: "\n").first { $0.hasPrefix("      lockstep replay ") })
    let again = try Command.line(String(replay.dropFirst("      lockstep ".count)), in: folder.path)
    expect(again.status, 1)
  }
}
