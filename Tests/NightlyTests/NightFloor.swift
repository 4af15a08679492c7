import Basics
import Bench
import Conformance
import Journal
import Reporting
import System
import TestSupport

@testable import Nightly

/// A folder with a bench of one real and two emulated locks, a plan for them, and what the runs of a night wrote.
final class NightFloor {
  let folder = TestFolder()
  var path: String { folder.path }
  var benchPath: String { path + "/bench.yaml" }

  /// The scenarios, each for one kind of lock.
  static let scenarios = ["a", "b", "c"]

  init(
    bench: String = "", suites: String = "{ name: smoke, scenarios: [a.yaml, b.yaml], tags: [new] }",
    plan: String = ""
  ) {
    for name in Self.scenarios {
      folder.write("\(name).yaml", "scenario: \(name)\nmachine: sesame\ndevice: sesame5\nsteps: [connect]\n")
    }
    folder.write("old.yaml", "scenario: old\nmachine: sesame\ndevice: sesame3\nsteps: [connect]\n")
    folder.write(
      "lock.yaml",
      "lock: sesame5\nuuid: 7e57ab1e-c30c-4541-8f3e-d5e63b50dbea\nsecret: 6e4948392ccca36d631b84b4450984da\n")
    folder.write(
      "bench.yaml",
      """
      bench: third-floor
      dongles:
        - { name: blue, transport: "tcp-client:127.0.0.1:7001" }
        - { name: red, transport: "tcp-client:127.0.0.1:7002" }
      locks:
        - { name: front, file: lock.yaml, tags: [new, real], limits: { per-shift: 200 } }
        - { name: back, device: "emulator:sesame5", tags: [new] }
        - { name: old, device: "emulator:sesame3", tags: [old] }

      """ + bench)
    folder.write("plan.yaml", "nightly: N\nduration: 1 h\nsuites:\n  - \(suites)\n\(plan)")
  }

  /// The plan joined with the bench, and what was said meanwhile.
  func lab(seed: UInt64 = 1, today: Day = Day(unixTime: 0)) throws -> (lab: NightlyLab, said: String) {
    let messages = StatusLine(try OutputFile(creating: path + "/said"))
    var lab = try NightlyLab(path + "/plan.yaml", bench: benchPath)
    try lab.prepare(seed: seed, today: today, messages)
    messages.finish()
    return (lab, folder.read("said"))
  }

  func runs() throws -> NightlyRuns { NightlyRuns(try lab().lab, folder: path + "/night", seed: 7) }

  /// The folder of a new night.
  func place() throws -> NightlyFolder {
    var reports = ReportPlaces()
    reports.out = path + "/Reports"
    return try NightlyFolder(new: "plan.yaml", reports: reports, cases: 0, command: [], seed: 7)
  }

  /// Writes the journal of a run of a night.
  func write(_ records: [Record], run number: Int, in night: String? = nil) throws {
    let folder = "\(night ?? path + "/night")/cases/\(number.padded(to: 5))/runs/r"
    try makeFolder(folder)
    let lines = [.run(Record.Run(seed: 1, cases: 1))] + records
    TestFolder.write(folder + "/journal.jsonl", lines.map { $0.line() + "\n" }.joined(), mode: 0o600)
  }
}

/// The lines of a run with one case.
func run(
  _ word: Record.Verdict.Word?, _ message: String? = nil, limit: String? = nil, left: Record.Left? = nil,
  status: CommandStatus? = .agree, _ change: (inout Record.Verdict) -> Void = { _ in }
) -> [Record] {
  var records: [Record] = []
  var tally = Tally()
  if let word {
    var verdict = Record.Verdict(word, of: "a", at: .zero)
    (verdict.message, verdict.limit) = (message, limit)
    if word == .unmet { verdict.unmet = [Record.Unmet("status", expected: "locked", seen: "moved")] }
    change(&verdict)
    records += [.begin(Record.Case(id: "a")), .verdict(verdict)]
    tally.count(verdict.attemptEnding)
  }
  if let left { records.append(.left(left)) }
  if let status { records.append(.end(Record.End(tally, status))) }
  return records
}
