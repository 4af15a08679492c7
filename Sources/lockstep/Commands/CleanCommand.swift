import Reporting
import Harness
import Controllers
import Basics
import Journal
import System

/// The options of `clean`.
struct CleanArguments {
  var out = "Reports"
  var older: Age?
  var newest: Count?
  var keepsFailures = false
  var isTrial = false
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var isQuiet = false
}

/// How long ago something was, in whole units.
struct Age: ArgumentValue, Equatable {
  let seconds: Int64
  static let form = "an age such as 30d, 12h or 8w"

  init?(argument: String) {
    let units: [Character: Int64] = ["h": 3600, "d": 86_400, "w": 604_800]
    guard let unit = argument.last.flatMap({ units[$0] }), argument.count <= 6,
      argument.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int64(argument.dropLast())
    else { return nil }
    seconds = count * unit
  }
}

extension Command {
  static var clean: Command {
    Command(
      "clean", "Removes old runs and nights with all that is in their folders.",
      discussion: """
        What goes are folders under DIR/runs that have the manifest and the journal of a run: those that are over for
        longer than --older says, and are not among the --keep latest. Reports, the history, failures/ and corpus/ stay,
        and whatever is no folder of a run. Symbolic links are not followed.

        A run that is under way stays, and so does one that is not in its history yet. With --keep-failures those stay that
        had a divergence, trouble in the lab or a finding, and those that cannot be read.

        A folder gets a hidden name before anything in it goes: whatever ends this command, each run is whole or not
        there. What it had begun to remove is removed by whoever works under DIR next.

        Exit status: 0, also where nothing is old enough; 3 where something could not be removed, or not even looked at, 4
        where there are no runs, 5 when it was stopped.

        """,
      examples: [
        Example(
          "lockstep clean --older 30d --keep-failures",
          "Runs of more than thirty days ago that came to nothing of note."),
        Example("lockstep clean --keep 100 --dry-run", "Says what would go if the latest hundred were kept."),
      ],
      options: [
        .value(
          "older", \.older, "AGE", "Only runs that have been over for so long: hours, days or weeks.",
          example: "30d"),
        .value("keep", \.newest, "N", "Keeps the latest N runs.", example: "100"),
        .flag("keep-failures", \.keepsFailures, "Keeps runs that had a divergence, trouble or a finding."),
        .flag("dry-run", \.isTrial, "Says what would be done, and does nothing.", short: "n"),
        .out(\.out, "Where the reports are. Reports unless given."),
        .format(\.format, "How it is told what was done; json is one object."), .color(\.color),
        .quiet(\.isQuiet, "Says only what could not be done."),
      ],
      defaults: CleanArguments(), perform: CleanArguments.perform)
  }
}

extension CleanArguments {
  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    guard older != nil || newest != nil else {
      throw UsageError("what may go? Say --older AGE, --keep N or both")
    }
    let runs = out + "/runs"
    switch FolderNames.kind(runs) {
    case .folder: break
    case .missing:
      console.say("lockstep: there are no runs: \(runs) is not there")
      return .nothingSelected
    case .unknown(let code):
      console.say("lockstep: \(runs): \(errorText(code))")
      return .labFault
    case .file, .other:
      throw UsageError("\(runs) is no folder itself; name the one that has the runs by --out")
    }
    Interruption.listen()
    // A trial leaves everything as it is, also what others left.
    let use: FolderUse?
    do throws(FileFault) {
      use = isTrial ? nil : try Remains.begin(in: out)
    } catch {
      console.say("lockstep: nothing is removed: \(error)")
      return .labFault
    }
    return withExtendedLifetime(use) {
      var cleaning = Cleaning(arguments: self)
      cleaning.perform()
      cleaning.show(console)
      return cleaning.status
    }
  }
}

/// What `clean` does, and what came of it.
private struct Cleaning {
  let arguments: CleanArguments
  private var gone: [CleanReport.Run] = []
  private var stays: [CleanReport.Run] = []
  private var faults: [CleanReport.Run] = []
  private var isStopped = false

  /// A folder of a run.
  private struct Candidate {
    var name: String
    var path: String
    /// When it was over, as far as its manifest says.
    var time: String
  }

  init(arguments: CleanArguments) { self.arguments = arguments }

  mutating func perform() {
    if !arguments.isTrial { finish() }
    let found = candidates
    let limit = arguments.older.map { age in
      WallTime(nanoseconds: WallClock.time.nanoseconds - age.seconds * 1_000_000_000).description
    }
    let newest = arguments.newest?.value ?? 0
    for candidate in found.dropFirst(newest).reversed() {
      if Interruption.isRequested {
        isStopped = true
        return
      }
      if let limit, candidate.time >= limit { continue }
      remove(candidate)
    }
  }

  /// Brings to its end what was begun to be removed before, and could not be by whoever tidied up: it is not said to be
  /// gone while something of it is there.
  private mutating func finish() {
    for (run, path) in Remains.halfGone(in: arguments.out) {
      do throws(FileFault) {
        try removeFolder(path)
      } catch {
        // Another one may have come first.
        guard FolderNames.kind(path) != .missing else { continue }
        faults.append(.init(name: run, why: "\(error)"))
      }
    }
  }

  /// All runs that say when they were, the latest first.
  private var candidates: [Candidate] {
    mutating get {
      var found: [Candidate] = []
      let runs = arguments.out + "/runs"
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

  /// A run by its folder; `nil` for what is none, and stays.
  ///
  /// - Throws: why nobody can say which of the two it is.
  private mutating func candidate(_ name: String, _ path: String) throws(FileFault) -> Candidate? {
    guard try FolderNames.knownKind(path) == .folder,
      try FolderNames.knownKind(path + "/manifest.json") == .file,
      try FolderNames.knownKind(path + "/journal.jsonl") == .file
    else {
      stay(name, "it is no folder of a run")
      return nil
    }
    guard let manifest = try Manifest.read(path + "/manifest.json"), !manifest.command.isEmpty,
      let start = manifest.start
    else {
      stay(name, "its manifest does not say what it is")
      return nil
    }
    return Candidate(name: name, path: path, time: max(start, manifest.end ?? start))
  }

  private mutating func stay(_ name: String, _ why: String) {
    stays.append(.init(name: name, why: why))
  }

  private mutating func remove(_ run: Candidate) {
    do throws(FileFault) {
      if let lives = try lives(run.path) { return stay(run.name, lives) }
      if try UnsentRuns.note(journal: run.path + "/journal.jsonl", out: arguments.out) {
        return stay(run.name, "it is not in its history yet")
      }
    } catch {
      return faults.append(.init(name: run.name, why: "\(error)"))
    }
    if arguments.keepsFailures, let why = failure(of: run.path) { return stay(run.name, why) }
    let size = FolderNames.size(below: run.path)
    let item = CleanReport.Run(name: run.name, why: "", time: run.time, bytes: size)
    if arguments.isTrial { return gone.append(item) }
    do throws(FolderHold.Refusal) {
      // Nobody takes it up again from here on.
      let hold = try FolderHold(run.path)
      defer { withExtendedLifetime(hold) {} }
      do throws(FileFault) {
        try remove(run.path, run.name)
      } catch { throw .fault(error) }
      gone.append(item)
    } catch {
      switch error {
      case .held(let holder): stay(run.name, "it \(EarlierRun.words(holder))")
      case .fault(let fault): faults.append(.init(name: run.name, why: "\(fault)"))
      }
    }
  }

  private func remove(_ path: String, _ name: String) throws(FileFault) {
    var number = 1
    while true {
      let hidden = "\(arguments.out)/runs/\(Remains.goneName(of: name, number))"
      if FolderNames.kind(hidden) == .missing, try rename(path, to: hidden) {
        return try removeFolder(hidden)
      }
      number += 1
    }
  }

  /// Says that a run or a child of a night lives; `nil` where none does.
  private func lives(_ path: String) throws(FileFault) -> String? {
    let sight = FolderHold.look(at: path)
    if case .held(let holder) = sight { return "it " + EarlierRun.words(holder) }
    _ = try sight.isHeld()
    guard try FolderNames.knownKind(path + "/cases") == .folder else { return nil }
    for child in try FolderNames.listed(in: path + "/cases") {
      let folder = "\(path)/cases/\(child)"
      guard try FolderNames.knownKind(folder) == .folder else { continue }
      var isHeld = try FolderHold.look(atFile: folder + "/alive").isHeld()
      for run in try FolderNames.listed(in: folder + "/runs").map({ "\(folder)/runs/\($0)" }) {
        let isFolder = try FolderNames.knownKind(run) == .folder
        if isFolder, !isHeld { isHeld = try FolderHold.look(at: run).isHeld() }
      }
      if isHeld { return "one of its cases still runs" }
    }
    return nil
  }

  /// Why a run is of note; `nil` for one that came to nothing.
  private func failure(of path: String) -> String? {
    var journals = [path + "/journal.jsonl"]
    for child in FolderNames.all(in: path + "/cases") ?? [] {
      let runs = "\(path)/cases/\(child)/runs"
      journals += (FolderNames.all(in: runs) ?? []).filter { !$0.hasPrefix(".") }
        .map { "\(runs)/\($0)/journal.jsonl" }.filter { FolderNames.kind($0) == .file }
    }
    let summaries = journals.map { RunSummary(journals: [$0]) }
    if summaries.contains(where: { $0.tally.divergences > 0 || !$0.findings.isEmpty }) {
      return "it has a divergence"
    }
    if summaries.contains(where: { $0.tally.labFaults > 0 || $0.statuses.contains(3) }) {
      return "it had trouble in the lab"
    }
    // One that was killed stops somewhere; what is said of a line is another matter.
    let damage = summaries.flatMap(\.problems).first { $0.line > 0 }
    return damage.map { "its journal cannot be read: \($0)" }
  }

  var status: CommandStatus {
    if !faults.isEmpty { return .labFault }
    return isStopped ? .incomplete : .agree
  }

  func show(_ console: Console) {
    let report = CleanReport(
      removed: gone, kept: stays, faults: faults, isTrial: arguments.isTrial, isStopped: isStopped)
    for fault in faults { console.say("lockstep: \(fault.name) is not removed: \(fault.why)") }
    if isStopped { console.say("lockstep: stopped; what was not removed is whole") }
    switch arguments.format {
    case .json: console.print(report.json)
    case .human:
      if !arguments.isQuiet { console.print(report.text(console.painter(arguments.color))) }
    }
  }
}

/// What was removed and what was kept.
struct CleanReport {
  /// A run, or what else stands among them.
  struct Run {
    var name: String
    /// Why it was kept, or could not be removed.
    var why: String
    /// When it was over.
    var time = ""
    var bytes = 0
  }

  var removed: [Run]
  var kept: [Run]
  var faults: [Run]
  var isTrial: Bool
  var isStopped: Bool

  func text(_ paint: Painter) -> String {
    let verb = isTrial ? "would go" : "removed"
    var lines = removed.map { "  \(verb)  \(visible($0.name))  \(Self.size($0.bytes))" }
    lines += kept.map { paint(.faint, "  kept     \(visible($0.name)): \(visible($0.why))") }
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
  static let fields: [Field<Self>] = [
    .derived("dryRun", \.isTrial, .flag), .derived("removed", \.removed, .list(.object(gone))),
    .derived("kept", \.kept, .list(.object(reasons))), .derived("faults", \.faults, .list(.object(reasons))),
    .derived("stopped", \.isStopped, .flag),
  ]

  private static let gone: [Field<Run>] = [
    .derived("run", \.name, .text), .derived("over", \.time, .text), .derived("bytes", \.bytes, .count),
  ]

  private static let reasons: [Field<Run>] = [.derived("run", \.name, .text), .derived("why", \.why, .text)]
}
