import Basics
import System

extension JournalIndex {
  /// Some runs, each once: copies of the folder of a run are the run.
  ///
  /// Of a copy that was taken while the run went on the journal is the beginning of the other, which stands. Where neither
  /// is, both have something to say that the other has not, and both stay.
  ///
  /// - Parameter sources: the runs in an order that does not depend on how they were named.
  /// - Returns: the runs, and in a sentence for each of which there are copies that it counts once.
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

  /// Whether a run is a copy of one at a place, and has more of it; `nil` where it is none.
  private static func copy(at place: Int, _ kept: Source, _ source: Source) -> (place: Int, isLonger: Bool)? {
    // What cannot be read is said when it is read as a run.
    guard let likeness = try? FileLikeness(of: kept.journal, to: source.journal) else { return nil }
    return switch likeness {
    case .same, .continuation: (place, false)
    case .beginning: (place, true)
    case .different: nil
    }
  }
}
