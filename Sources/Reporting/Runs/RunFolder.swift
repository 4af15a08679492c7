import Secrets
public import System
public import Journal
import Basics

/// The folder of a run: `runs/NAME/` with its manifest and journal; counterexamples are in `failures/`.
///
/// The folder appears with its manifest and a journal in it, or not at all: however the run ends, folders
/// under `runs/` can be reported and resumed. The process holds its folder for its lifetime, so that a
/// running run cannot be resumed.
public final class RunFolder: JournalListener {
  /// The folder of reports.
  public let out: String
  /// The folder of this run.
  public private(set) var path: String
  /// The unique id, however many runs begin in one second.
  private let id: String
  private var name: String
  /// When the run began.
  public let start: String
  private let command: [String]
  /// The job that the run is a part of, if any, and the part of a run, such as `3/16`, if it was divided.
  private let (job, part): (String?, String?)
  private let journal: OutputFile
  /// The number of lines in the journal.
  private var lines = 0
  /// The file with the times of cases, once there is one.
  private var times: OutputFile?
  /// Why the times of some cases are unknown, which has no other consequence for the run.
  private var untimed: FileFault?
  /// The first line of the current attempt, its time, and the time that its worker reported.
  private var open = (
    line: 0, start: WallTime(nanoseconds: 0), clock: Interval.zero, reportedTime: CaseTime?.none
  )
  /// If the file system does not support locks, the folder is not held.
  private let hold: FolderHold?
  private let use: FolderUse?
  /// Additional properties for the manifest.
  public var properties: [(name: String, value: String)] = []
  /// Why no more is written; `nil` if it is.
  public private(set) var fault: FileFault?
  /// The reserved space for the JUnit report, in case the disk becomes full.
  private let space: ReservedSpace
  /// The number of the lease of the driven lock, which every line has from now on.
  public var lease: Int?

  /// Creates the folder of a run that begins now.
  ///
  /// - Parameters:
  ///   - reports: the places of its reports.
  ///   - cases: the number of cases to report, if known.
  ///   - files: additional initial files, by name.
  public init(
    reports: ReportPlaces, cases: Int = 0, kind: String, command: [String], seed: UInt64?,
    share: JobShare? = nil, shard: Shard? = nil, properties: [(name: String, value: String)] = [],
    files: [(name: String, text: String)] = []
  ) throws(FileFault) {
    let entropy = SystemEntropy()
    id = (0..<2).map { _ in entropy.next().hex(digits: 16) }.joined()
    out = reports.out
    use = try Remains.begin(in: out)
    space = try reports.reserve(cases: cases)
    self.properties = properties
    (job, part) = (share?.job, (share?.shard ?? shard).map { "\($0.part)/\($0.count)" })
    self.command = command
    start = WallClock.now
    let stem = start.prefix(19).map { $0 == ":" ? "-" : String($0) }.joined() + "-" + kind
    name = stem
    path = "\(out)/runs/.\(stem).\(id)"
    try makeFolder(path)
    hold = try? FolderHold(path)
    for (name, text) in files { try WholeFile.replace(path + "/" + name, with: text) }
    journal = try OutputFile(creating: path + "/journal.jsonl")
    // Two runs may begin in the same second.
    var number = 1
    let hidden = path
    repeat {
      if number > 1 { name = "\(stem)-\(number)" }
      try writeManifest(end: nil, seed: seed)
      number += 1
    } while try !rename(hidden, to: "\(out)/runs/\(name)")
    path = "\(out)/runs/\(name)"
  }

  /// Continues in the folder of an earlier run: new records are appended to its own.
  public init(
    resuming earlier: EarlierRun, reports: ReportPlaces, cases: Int = 0, command: [String],
    share: JobShare? = nil, shard: Shard? = nil, properties: [(name: String, value: String)] = []
  ) throws(FileFault) {
    out = reports.out
    use = try Remains.begin(in: out)
    space = try reports.reserve(cases: cases)
    hold = earlier.hold
    let path = earlier.folder
    Remains.sweep(below: path)
    self.properties = properties
    (job, part) = (share?.job, (share?.shard ?? shard).map { "\($0.part)/\($0.count)" })
    self.path = path
    let manifest = earlier.manifest
    // A run from before ids gets the one by which the history knows it.
    id = RunRecord.Identity(journal: path + "/journal.jsonl", manifest.withoutPart).id
    self.command = manifest?.command ?? command
    name = path.split(separator: "/").last.map(String.init) ?? path
    start = manifest?.start ?? WallClock.now
    journal = try OutputFile(appendingTo: path + "/journal.jsonl")
    var reader = try LineReader(path + "/journal.jsonl")
    while try reader.advance() {}
    lines = reader.number
    try writeManifest(end: nil, seed: manifest?.seed)
  }

  /// The journal's path.
  public var journalPath: String { path + "/journal.jsonl" }

  public func take(_ record: Record) {
    guard fault == nil else { return }
    do {
      try journal.write(record.line(lease: lease) + "\n")
    } catch {
      return fault = FileFault(path: journalPath, code: error.code)
    }
    lines += 1
    switch record {
    case .begin: open = (lines, WallClock.time, MonotonicClock.now, nil)
    case .verdict: writeTime()
    default: break
    }
  }

  public func take(_ time: CaseTime) { open.reportedTime = time }

  /// Writes the time of the case with its verdict: the reported one, or else that of its lines.
  private func writeTime() {
    guard untimed == nil else { return }
    let time = open.reportedTime ?? CaseTime(start: open.start, taken: MonotonicClock.now - open.clock)
    let path = self.path + "/" + CaseTime.file
    do throws(FileFault) {
      if times == nil { times = try OutputFile(appendingTo: path) }
      try times?.write(CaseTime.Line(time, line: open.line).json.line + "\n")
    } catch {
      untimed = FileFault(path: path, code: error.code)
    }
  }

  /// Completes the manifest, and releases the reserved space.
  public func finish(seed: UInt64) throws(FileFault) {
    space.release()
    journal.synchronize()
    try writeManifest(end: WallClock.now, seed: seed)
    if let fault { throw fault }
  }

  /// Completes the manifest and makes the reports.
  ///
  /// Reports are made of an incomplete journal, too: they state that.
  ///
  /// - Parameter replacesReports: whether to replace existing reports. It is false if nothing was selected: a
  ///   misspelt word must not cost anybody's reports.
  /// - Returns: the paths of the reports; `nil` after a reported failure.
  public func conclude(
    seed: UInt64, _ places: ReportPlaces, replacing replacesReports: Bool = true, _ messages: StatusLine
  ) -> [String]? {
    let finished: Void? = messages.attempt("the run is not all on disk: ") { try finish(seed: seed) }
    if let untimed {
      messages.say(
        "lockstep: reports have times of the device, since those of the clock are not written: \(untimed)")
    }
    if !replacesReports, let report = places.firstExisting {
      messages.say("lockstep: \(report) is left as it is")
      return finished == nil ? nil : []
    }
    let reports = messages.attempt("the reports are not written: ") {
      try places.publish(journal: journalPath, messages)
    }
    if reports == nil {
      messages.say(
        "  once there is a place for them: \((["lockstep", "report", path] + places.words).map(shellWord).joined(separator: " "))"
      )
    }
    return finished == nil ? nil : reports
  }

  private func writeManifest(end: String?, seed: UInt64?) throws(FileFault) {
    var manifest = Manifest()
    manifest.id = id
    (manifest.name, manifest.host) = (name, Host.name)
    (manifest.start, manifest.end, manifest.version) = (start, end, Version.text)
    manifest.seed = seed
    (manifest.job, manifest.part) = (job, part)
    manifest.command = command.map(withoutSecrets)
    manifest.properties = (RunEnvironment.properties + properties).map { .init($0.name, .text($0.value)) }
    try manifest.write(to: path + "/manifest.json")
  }

  /// The path of a file under the folder of reports, relative to the folder of the run.
  public func relative(_ path: String) -> String {
    path.hasPrefix(out + "/") ? "../../" + path.dropFirst(out.count + 1) : path
  }
}

extension Manifest? {
  /// The manifest of a run that is no part of a job: attempts at a part have ids of their own.
  fileprivate var withoutPart: Manifest {
    var manifest = self ?? Manifest()
    (manifest.job, manifest.part) = (nil, nil)
    return manifest
  }
}
