public import Basics
import Journal
import System

/// Which cases failed when they were driven the last time, as the runs below a folder of reports tell.
///
/// A case that no later run has driven is as it was: whoever drives only what failed, and mends a part of it, has the rest
/// left.
public struct LastFailures {
  /// The cases without the rounds behind their ids.
  public private(set) var ids: Set<ExactText> = []

  /// How many runs are looked at, the latest first.
  private static let maximumRuns = 30

  /// Reads the runs below a folder.
  ///
  /// - Parameter run: the name or the folder of a run that is gone on with: only what was before it counts.
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
      // Being skipped says nothing of a case.
      for (id, judged) in progress.judged where judged.ending.word != .skipped {
        seen.insert(ExactText(withoutRound(id.text)))
      }
      ids.formUnion(failed.subtracting(known))
      known.formUnion(seen)
    }
  }

  /// A name as runs follow on each other: those of one second have a number at the end, from the second on.
  private static func order(_ name: String) -> (stem: Substring, number: Int, name: String) {
    guard let dash = name.lastIndex(of: "-"), let number = Int(name[name.index(after: dash)...]) else {
      return (name[...], 1, name)
    }
    return (name[..<dash], number, name)
  }
}
