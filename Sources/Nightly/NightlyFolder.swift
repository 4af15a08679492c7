public import Reporting
public import System
public import Journal
import Basics

/// Where a night keeps what it takes to go on, and what it leaves: a folder beside those of runs.
///
///     runs/2026-11-22T02-00-00-nightly/
///       night.jsonl      what was begun and what came of it, each line on the disk before it takes effect
///       cases/00042/     what the 42nd child left
///       journal.jsonl    all of it as the journal of one run; while the night goes on, what is judged by then
///       summary.json     what stands on its page; where it is there, so is every report
public final class NightlyFolder {
  public let folder: RunFolder
  public let seed: UInt64
  /// What the record says already.
  let record: [NightLine]
  private var file: OutputFile?

  /// The path of the record.
  var recordPath: String { folder.path + "/night.jsonl" }

  /// Makes the folder of a night that begins now.
  public init(
    new plan: String, reports: ReportPlaces, cases: Int, command: [String], seed: UInt64
  ) throws(FileFault) {
    folder = try RunFolder(
      reports: reports, cases: cases, kind: "nightly", command: command, seed: seed,
      properties: [("plan", plan)])
    self.seed = seed
    record = []
    try prepare()
  }

  /// Takes up the folder of one that did not end.
  public init(
    _ open: Unfinished, _ run: EarlierRun, reports: ReportPlaces, cases: Int
  ) throws(FileFault) {
    // Its manifest names the plan at all times: by that it is found again, whenever we are killed.
    folder = try RunFolder(
      resuming: run, reports: reports, cases: cases, command: [], properties: [("plan", open.plan)])
    seed = open.seed
    record = open.record
    try prepare()
  }

  private func prepare() throws(FileFault) {
    try makeFolder(folder.path + "/cases")
    try WholeFile.replace(folder.path + "/park.yaml", with: NightlyRuns.park)
    file = try OutputFile(appendingTo: recordPath)
  }

  /// Writes lines to the record; they are on the disk when it returns.
  ///
  /// After a failure the file is opened anew before it is written again, which cuts off what was torn.
  func write(_ lines: [NightLine]) throws(FileFault) {
    do throws(FileFault) {
      let file: OutputFile
      if let open = self.file { file = open } else { file = try OutputFile(appendingTo: recordPath) }
      self.file = file
      try file.write(lines.map { $0.json.line + "\n" }.joined())
      try file.finish()
      try file.synchronizeOrThrow()
    } catch {
      file = nil
      throw error
    }
  }

  /// What is written last of all that a night leaves.
  public static let summary = "summary.json"

  /// A night that did not end.
  public struct Unfinished {
    public let path: String
    let plan: String
    let seed: UInt64
    public let record: [NightLine]
  }

  /// The last night of a plan that did not end, among the runs under a folder.
  public static func unfinished(_ plan: String, out: String) throws(UsageError) -> Unfinished? {
    let names = try checked { try FolderNames.listed(in: out + "/runs") }
    for name in names.reversed() where name.contains("-nightly") && !name.hasPrefix(".") {
      let path = "\(out)/runs/\(name)"
      let manifest = try checked { try Manifest.read(path + "/manifest.json") }
      guard let manifest, let seed = manifest.seed,
        manifest.properties.contains(where: { $0.name == "plan" && $0.value.words == plan })
      else { continue }
      // One that was killed before it could begin has no record yet.
      let bytes = try checked { () throws(FileFault) in
        do throws(FileFault) {
          return try WholeFile.bytes(of: path + "/night.jsonl")
        } catch {
          if error.isAbsence { return [] }
          throw error
        }
      }
      let record: [NightLine]
      do {
        record = try NightLine.lines(of: bytes)
      } catch {
        throw UsageError("\(path)/night.jsonl cannot be gone on with: \(error); move the folder away")
      }
      // One that was killed over its report has that still to come.
      if case .finish? = record.last, Host.isFile(path + "/\(summary)") { return nil }
      return Unfinished(path: path, plan: plan, seed: seed, record: record)
    }
    return nil
  }
}
