public import Basics
import Journal
import System

/// The cases that failed when they were last run, according to the runs below a folder of reports.
///
/// The result of a case that no later run has repeated stays: a user who repeats only the failed cases, and
/// fixes some of them, keeps the others.
public struct LastFailures {
  /// The ids of the cases, without rounds.
  public private(set) var ids: Set<ExactText> = []

  /// The maximum number of runs, the latest first.
  private static let maximumRuns = 30

  /// Reads the runs below a folder.
  ///
  /// - Parameter run: the name or the folder of a run that is resumed: only runs before it count.
  public init(in out: String, before run: String? = nil) {
    var known = Set<ExactText>()
    let limit = run.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    let names = (FolderNames.all(in: out + "/runs") ?? []).filter { !$0.hasPrefix(".") }
      .map(Self.order).sorted { $0 > $1 }
      .drop { name in limit.map { name >= Self.order($0) } ?? false }.map(\.name)
    var count = 0
    for name in names where count < Self.maximumRuns {
      let folder = "\(out)/runs/\(name)"
      guard let manifest = try? Manifest.read(folder + "/manifest.json"), manifest.command.first == "run",
        let progress = try? RunProgress(journal: folder + "/journal.jsonl")
      else { continue }
      count += 1
      var failed = Set<ExactText>()
      for id in progress.failed { failed.insert(ExactText(withoutRound(id.text))) }
      var seen = failed
      // A skipped case has no result.
      for (id, judged) in progress.judged where judged.ending.word != .skipped {
        seen.insert(ExactText(withoutRound(id.text)))
      }
      ids.formUnion(failed.subtracting(known))
      known.formUnion(seen)
    }
  }

  /// A sort key for the names of runs: those of the same second end with a number, from the second one on.
  private static func order(_ name: String) -> (stem: Substring, number: Int, name: String) {
    guard let dash = name.lastIndex(of: "-"), let number = Int(name[name.index(after: dash)...]) else {
      return (name[...], 1, name)
    }
    return (name[..<dash], number, name)
  }
}
