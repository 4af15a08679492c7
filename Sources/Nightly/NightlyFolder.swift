public import Reporting
public import System
public import Journal
import Basics

/// The folder of a night, next to those of runs: its results, and everything that is needed to resume it.
///
///     runs/2026-11-22T02-00-00-nightly/
///       night.jsonl      starts and results, each line on the disk before it takes effect
///       cases/00042/     the folder of the 42nd child
///       journal.jsonl    everything as the journal of one run; during the night, the verdicts so far
///       summary.json     the contents of its page; written last: if it exists, so does every report
public final class NightlyFolder {
  public let folder: RunFolder
  public let seed: UInt64
  /// The existing lines of the record.
  let record: [NightLine]
  private var file: OutputFile?

  /// The path of the record.
  var recordPath: String { folder.path + "/night.jsonl" }

  /// Creates the folder of a night that begins now.
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

  /// Continues in the folder of a night that did not end.
  public init(
    _ open: Unfinished, _ run: EarlierRun, reports: ReportPlaces, cases: Int
  ) throws(FileFault) {
    // The manifest names the plan at all times, so that the night is found again even if this process is killed.
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

  /// Writes lines to the record; they are on the disk at return.
  ///
  /// After a failure the file is reopened before the next write, which cuts off an incomplete line.
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

  /// The name of the file that is written last.
  public static let summary = "summary.json"

  /// A night that did not end.
  public struct Unfinished {
    public let path: String
    let plan: String
    let seed: UInt64
    public let record: [NightLine]
  }

  /// The last unfinished night of a plan, among the runs under a folder.
  public static func unfinished(_ plan: String, out: String) throws(UsageError) -> Unfinished? {
    let names = try checked { try FolderNames.listed(in: out + "/runs") }
    for name in names.reversed() where name.contains("-nightly") && !name.hasPrefix(".") {
      let path = "\(out)/runs/\(name)"
      let manifest = try checked { try Manifest.read(path + "/manifest.json") }
      guard let manifest, let seed = manifest.seed,
        manifest.properties.contains(where: { $0.name == "plan" && $0.value.words == plan })
      else { continue }
      // A night that was killed before it began has no record yet.
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
        throw UsageError("\(path)/night.jsonl cannot be resumed: \(error); move the folder away")
      }
      // A night that was killed while it wrote its report still has to write it.
      if case .finish? = record.last, Host.isFile(path + "/\(summary)") { return nil }
      return Unfinished(path: path, plan: plan, seed: seed, record: record)
    }
    return nil
  }
}
