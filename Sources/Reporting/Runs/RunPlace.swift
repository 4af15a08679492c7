public import Journal
import Basics
public import System

/// Where earlier runs are.
public enum RunPlace {
  /// The journal of a run, by any of its names: its name under the reports, its folder, or the journal itself.
  public static func journal(of run: String, out: String) throws(UsageError) -> String {
    let stem = run.count > 1 && run.hasSuffix("/") ? String(run.dropLast()) : run
    let places = ["\(stem)/journal.jsonl", "\(out)/runs/\(stem)/journal.jsonl"]
    if run.hasSuffix(".jsonl"), Host.isFile(run) { return run }
    guard let found = places.first(where: Host.isFile) else {
      throw UsageError("there is no run \(run): neither \(places.joined(separator: " nor ")) is there")
    }
    return found
  }

  /// Says of runs that are under way that they are, and what that means.
  public static func noteLiving(_ journals: [String], _ meaning: String, _ messages: StatusLine) {
    for journal in journals {
      let folder = Path.folder(of: journal)
      guard case .held(let holder) = FolderHold.look(at: folder) else { continue }
      messages.say("lockstep: \(folder) \(EarlierRun.words(holder)); \(meaning)")
    }
  }
}
