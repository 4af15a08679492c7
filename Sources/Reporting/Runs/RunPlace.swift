public import Journal
import Basics
public import System

/// Finds earlier runs.
public enum RunPlace {
  /// The journal of a run, by its name under the reports, its folder, or the path of the journal itself.
  public static func journal(of run: String, out: String) throws(UsageError) -> String {
    let stem = stem(of: run)
    var folders = [stem, "\(out)/runs/\(stem)"]
    // A user with another report folder may still name a run in the default one.
    if out != ReportPlaces().out { folders.append("\(ReportPlaces().out)/runs/\(stem)") }
    let places = folders.map { "\($0)/journal.jsonl" }
    if run.hasSuffix(".jsonl"), Host.isFile(run) { return run }
    guard let found = places.first(where: Host.isFile) else {
      throw UsageError("there is no run \(run): neither \(places.joined(separator: " nor ")) is there")
    }
    return found
  }

  /// The journals of named runs: of one run by any of its names, and of all runs below a folder of reports or
  /// its `runs`, in the order of their names.
  public static func journals(of runs: [String], out: String) throws(UsageError) -> [String] {
    var journals: [String] = []
    for run in runs {
      let below = below(run)
      if below.isEmpty {
        if let reason = emptiness(of: run) { throw UsageError(reason) }
        journals.append(try journal(of: run, out: out))
      }
      journals += below
    }
    return journals
  }

  /// The journals below a folder of runs; empty for another folder.
  private static func below(_ folder: String) -> [String] {
    let stem = stem(of: folder)
    guard !folder.isEmpty, !Host.isFile("\(stem)/journal.jsonl") else { return [] }
    for place in ["\(stem)/runs", stem] {
      // Names that begin with a dot are incomplete runs, or are being removed.
      let names = (FolderNames.all(in: place) ?? []).filter { !$0.hasPrefix(".") }.sorted()
      let found = names.map { "\(place)/\($0)/journal.jsonl" }.filter(Host.isFile)
      if !found.isEmpty { return found }
    }
    return []
  }

  /// Why a folder in the form of a run folder has no run to report.
  private static func emptiness(of folder: String) -> String? {
    let runs = "\(stem(of: folder))/runs"
    guard FolderNames.kind(runs) == .folder, !Host.isFile("\(stem(of: folder))/journal.jsonl") else {
      return nil
    }
    return "there is no run below \(runs)"
  }

  private static func stem(of run: String) -> String {
    run.count > 1 && run.hasSuffix("/") ? String(run.dropLast()) : run
  }

  /// Prints a note on runs in progress, with its meaning.
  public static func reportRunning(_ journals: [String], _ meaning: String, _ messages: StatusLine) {
    for journal in journals {
      let folder = Path.folder(of: journal)
      guard case .held(let holder) = FolderHold.state(at: folder) else { continue }
      messages.say("lockstep: \(folder) \(EarlierRun.words(holder)); \(meaning)")
    }
  }
}
