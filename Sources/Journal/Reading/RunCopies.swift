import Basics
import System

extension JournalIndex {
  /// Removes copies of runs: the copies of a run's folder count as one run.
  ///
  /// The journal of a copy made during the run is the beginning of the complete journal, which is kept. If neither
  /// journal is the beginning of the other, each contains unique lines, and both are kept.
  ///
  /// - Parameter sources: The runs in an order that does not depend on their names.
  /// - Returns: The runs, and a sentence for each run with copies, which counts once.
  static func withoutCopies(_ sources: [Source]) -> (sources: [Source], words: [String]) {
    var kept: [(source: Source, folders: [String])] = []
    var places: [ExactText: [Int]] = [:]
    for source in sources {
      let folder = Path.folder(of: source.journal)
      let id = source.manifest.id.map { ExactText($0) }
      let known = id.flatMap { places[$0] } ?? []
      if let copy = known.lazy.compactMap({ Self.copy(at: $0, kept[$0].source, source) }).first {
        kept[copy.place].folders.append(folder)
        if copy.isLonger { kept[copy.place].source = source }
        continue
      }
      if let id { places[id, default: []].append(kept.count) }
      kept.append((source, [folder]))
    }
    let words = kept.filter { $0.folders.count > 1 }.map { item in
      let folders =
        item.folders.dropLast().joined(separator: ", ") + " and " + item.folders[item.folders.count - 1]
      return "\(folders) are one run, which counts once, as it is in \(Path.folder(of: item.source.journal))"
    }
    return (kept.map(\.source), words)
  }

  /// Returns whether a run is a copy of an earlier one, and whether it is the longer of the two; `nil` if it is not a
  /// copy.
  private static func copy(at place: Int, _ kept: Source, _ source: Source) -> (place: Int, isLonger: Bool)? {
    // A file that cannot be read is reported when it is read as a run.
    guard let likeness = try? FileLikeness(of: kept.journal, to: source.journal) else { return nil }
    return switch likeness {
    case .same, .continuation: (place, false)
    case .beginning: (place, true)
    case .different: nil
    }
  }
}
