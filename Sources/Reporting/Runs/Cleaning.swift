import Basics
public import Journal
public import System

/// The runs to remove from a folder of reports.
public struct CleanSettings {
  /// The folder of reports.
  public var out: String
  /// The minimum age of a run, in seconds.
  public var age: Int64?
  /// The number of latest runs to keep.
  public var newest = 0
  /// Whether to keep runs with failures.
  public var keepsFailures = false
  /// Whether only to report what would be removed.
  public var isTrial = false

  /// Makes settings.
  public init(
    out: String, age: Int64? = nil, newest: Int = 0, keepsFailures: Bool = false, isTrial: Bool = false
  ) {
    self.out = out
    self.age = age
    self.newest = newest
    self.keepsFailures = keepsFailures
    self.isTrial = isTrial
  }
}

/// Removes old runs, and reports the results.
public struct Cleaning {
  private let settings: CleanSettings
  private var removed: [CleanReport.Run] = []
  private var kept: [CleanReport.Run] = []
  private var faults: [CleanReport.Run] = []
  private var isStopped = false

  /// The folder of a run.
  private struct Candidate {
    var name: String
    var path: String
    /// The end of the run according to its manifest.
    var time: String
  }

  /// Makes a cleaning that has removed nothing.
  public init(_ settings: CleanSettings) { self.settings = settings }

  public mutating func perform() {
    if !settings.isTrial { finish() }
    let found = candidates
    let limit = settings.age.map { age in
      WallTime(nanoseconds: WallClock.time.nanoseconds - age * 1_000_000_000).description
    }
    for candidate in found.dropFirst(settings.newest).reversed() {
      if Interruption.isRequested {
        isStopped = true
        return
      }
      if let limit, candidate.time >= limit { continue }
      remove(candidate)
    }
  }

  /// Completes removals that were begun earlier and not completed: a run is not reported as removed while a
  /// part of it exists.
  private mutating func finish() {
    for (run, path) in Remains.partlyRemoved(in: settings.out) {
      do throws(FileFault) {
        try removeFolder(path)
      } catch {
        // Another process may have been first.
        guard FolderNames.kind(path) != .missing else { continue }
        faults.append(.init(name: run, why: "\(error)"))
      }
    }
  }

  /// All runs with a time, the latest first.
  private var candidates: [Candidate] {
    mutating get {
      var found: [Candidate] = []
      let runs = settings.out + "/runs"
      do throws(FileFault) {
        for name in try FolderNames.listed(in: runs) where !name.hasPrefix(".") {
          do throws(FileFault) {
            if let run = try candidate(name, runs + "/" + name) { found.append(run) }
          } catch {
            faults.append(.init(name: name, why: "\(error)"))
          }
        }
      } catch {
        faults.append(.init(name: runs, why: "what is in it cannot be listed: \(error)"))
      }
      return found.sorted { ($1.time, $1.name) < ($0.time, $0.name) }
    }
  }

  /// A run by its folder; `nil` if it is no run, and stays.
  ///
  /// - Throws: why that is unknown.
  private mutating func candidate(_ name: String, _ path: String) throws(FileFault) -> Candidate? {
    guard try FolderNames.knownKind(path) == .folder,
      try FolderNames.knownKind(path + "/manifest.json") == .file,
      try FolderNames.knownKind(path + "/journal.jsonl") == .file
    else {
      keep(name, "it is no folder of a run")
      return nil
    }
    guard let manifest = try Manifest.read(path + "/manifest.json"), !manifest.command.isEmpty,
      let start = manifest.start
    else {
      keep(name, "its manifest does not say what it is")
      return nil
    }
    return Candidate(name: name, path: path, time: max(start, manifest.end ?? start))
  }

  private mutating func keep(_ name: String, _ reason: String) {
    kept.append(.init(name: name, why: reason))
  }

  private mutating func remove(_ run: Candidate) {
    do throws(FileFault) {
      if let reason = try reasonInUse(run.path) { return keep(run.name, reason) }
      if try UnsentRuns.hasNote(journal: run.path + "/journal.jsonl", out: settings.out) {
        return keep(run.name, "it is not in its history yet")
      }
    } catch {
      return faults.append(.init(name: run.name, why: "\(error)"))
    }
    if settings.keepsFailures, let reason = failure(of: run.path) { return keep(run.name, reason) }
    let size = FolderNames.size(below: run.path)
    let item = CleanReport.Run(name: run.name, why: "", time: run.time, bytes: size)
    if settings.isTrial { return removed.append(item) }
    do throws(FolderHold.Refusal) {
      // The run cannot be resumed from here on.
      let hold = try FolderHold(run.path)
      defer { withExtendedLifetime(hold) {} }
      do throws(FileFault) {
        try remove(run.path, run.name)
      } catch { throw .fault(error) }
      removed.append(item)
    } catch {
      switch error {
      case .held(let holder): keep(run.name, "it \(EarlierRun.words(holder))")
      case .fault(let fault): faults.append(.init(name: run.name, why: "\(fault)"))
      }
    }
  }

  private func remove(_ path: String, _ name: String) throws(FileFault) {
    var number = 1
    while true {
      let hidden = "\(settings.out)/runs/\(Remains.removalName(of: name, number))"
      if FolderNames.kind(hidden) == .missing, try rename(path, to: hidden) {
        return try removeFolder(hidden)
      }
      number += 1
    }
  }

  /// Why a run is still in use, by itself or by a child of a night; `nil` if it is not.
  private func reasonInUse(_ path: String) throws(FileFault) -> String? {
    let holdState = FolderHold.state(at: path)
    if case .held(let holder) = holdState { return "it " + EarlierRun.words(holder) }
    _ = try holdState.isHeld()
    guard try FolderNames.knownKind(path + "/cases") == .folder else { return nil }
    for child in try FolderNames.listed(in: path + "/cases") {
      let folder = "\(path)/cases/\(child)"
      guard try FolderNames.knownKind(folder) == .folder else { continue }
      var isHeld = try FolderHold.state(atFile: folder + "/alive").isHeld()
      for run in try FolderNames.listed(in: folder + "/runs").map({ "\(folder)/runs/\($0)" }) {
        let isFolder = try FolderNames.knownKind(run) == .folder
        if isFolder, !isHeld { isHeld = try FolderHold.state(at: run).isHeld() }
      }
      if isHeld { return "one of its cases still runs" }
    }
    return nil
  }

  /// The failure of a run; `nil` if it has none.
  private func failure(of path: String) -> String? {
    var journals = [path + "/journal.jsonl"]
    for child in FolderNames.all(in: path + "/cases") ?? [] {
      let runs = "\(path)/cases/\(child)/runs"
      journals += (FolderNames.all(in: runs) ?? []).filter { !$0.hasPrefix(".") }
        .map { "\(runs)/\($0)/journal.jsonl" }.filter { FolderNames.kind($0) == .file }
    }
    let summaries = journals.map { RunSummary(journals: [$0]) }
    if summaries.contains(where: { $0.tally.includes(.divergence) || !$0.findings.isEmpty }) {
      return "it has a divergence"
    }
    if summaries.contains(where: { $0.tally.includes(.labFault) }) { return "it had trouble in the lab" }
    // A killed run has no end in its manifest either.
    if summaries[0].statuses.allSatisfy({ $0 == nil }),
      (try? Manifest.read(path + "/manifest.json"))??.end != nil
    {
      return "it has ended, and its journal does not say how"
    }
    // A killed run stops somewhere; a damaged line is another problem.
    let damage = summaries.flatMap(\.problems).first { $0.line > 0 }
    return damage.map { "its journal cannot be read: \($0)" }
  }

  public var status: CommandStatus {
    if !faults.isEmpty { return .labFault }
    return isStopped ? .incomplete : .agree
  }

  /// The results.
  public var report: CleanReport {
    CleanReport(removed: removed, kept: kept, faults: faults, isTrial: settings.isTrial, isStopped: isStopped)
  }
}

/// The removed and the kept runs.
public struct CleanReport {
  /// A run, or another folder among them.
  public struct Run {
    public var name: String
    /// Why it was kept, or could not be removed.
    public var why: String
    /// The end of the run.
    public var time = ""
    public var bytes = 0
  }

  public var removed: [Run]
  public var kept: [Run]
  public var faults: [Run]
  public var isTrial: Bool
  public var isStopped: Bool

  public func text(_ paint: Painter) -> String {
    let verb = isTrial ? "would go" : "removed"
    var lines = removed.map { "  \(verb)  \($0.name.inOneLine)  \(Self.size($0.bytes))" }
    lines += kept.map { paint(.faint, "  kept     \($0.name.inOneLine): \($0.why.inOneLine)") }
    let bytes = removed.reduce(0) { $0 + $1.bytes }
    lines.append(
      paint(.strong, "\(counted(removed.count, "run")) \(isTrial ? "would be removed" : "removed")")
        + (removed.isEmpty ? "" : ", \(Self.size(bytes))"))
    return lines.joined(separator: "\n")
  }

  private static func size(_ bytes: Int) -> String {
    for (unit, size) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] where bytes >= size {
      let tenths = bytes / (size / 10)
      return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return "\(bytes) B"
  }
}

extension CleanReport: Written {
  public static let fields: [Field<Self>] = [
    .derived("dryRun", \.isTrial, .flag), .derived("removed", \.removed, .list(.object(removedFields))),
    .derived("kept", \.kept, .list(.object(reasonFields))),
    .derived("faults", \.faults, .list(.object(reasonFields))),
    .derived("stopped", \.isStopped, .flag),
  ]

  private static let removedFields: [Field<Run>] = [
    .derived("run", \.name, .text), .derived("over", \.time, .text), .derived("bytes", \.bytes, .count),
  ]

  private static let reasonFields: [Field<Run>] = [
    .derived("run", \.name, .text), .derived("why", \.why, .text),
  ]
}
