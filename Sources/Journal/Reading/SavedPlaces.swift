import Basics
import System

extension JournalIndex {
  /// Where a case stands: no two begin at one place.
  package struct Place: Hashable {
    package let journal: Int32
    let offset: Int
  }

  /// The files in which campaigns saved the tests of what they found, by the cases that show it.
  package var savedFiles: [Place: String] {
    var files: [Place: String] = [:]
    for found in findings {
      if let place = found.place { files[entry(place).standing] = found.finding.file }
    }
    return files
  }
}

extension JournalIndex.Entry {
  /// Where the case stands.
  package var standing: JournalIndex.Place { JournalIndex.Place(journal: journal, offset: offset) }
}

/// Where the tests that a campaign saved are now.
///
/// A journal says where they were saved, as seen from where the campaign ran. Whoever moved its folder of reports, or
/// unpacked it on another machine, has them beside the folder of its runs:
///
///     OUT/runs/NAME/journal.jsonl
///     OUT/failures/fuzz-sesame-8f31c2.yaml
package struct SavedPlaces {
  /// `OUT/failures`.
  package let folder: String

  /// The places for a journal; `nil` for one that does not stand where runs are.
  package init?(journal: String) {
    let runs = Path.folder(of: Path.folder(of: journal))
    guard runs.split(separator: "/").last == "runs" else { return nil }
    folder = Path.normalized(Path.join(Path.folder(of: runs), "failures"))
  }

  /// The record with the places that hold now.
  func now(_ record: Record) -> Record {
    switch record {
    case .finding(var finding):
      finding.file = finding.file.map(now(path:))
      return .finding(finding)
    case .verdict(var verdict):
      verdict.replay = verdict.replay.map(now(replay:))
      return .verdict(verdict)
    default: return record
    }
  }

  /// What is still where it was saved, and what is nowhere, keeps its path.
  private func now(path: String) -> String {
    let parts = path.split(separator: "/")
    guard parts.dropLast().last == "failures", let name = parts.last, fileKind(path) == .missing else {
      return path
    }
    let place = Path.join(folder, String(name))
    return fileKind(place) == .file ? place : path
  }

  private func now(replay line: String) -> String {
    let head = "lockstep replay "
    guard line.hasPrefix(head) else { return line }
    let rest = line.dropFirst(head.count)
    // A path with a quote in it is left as it is.
    let isQuoted = rest.first == "'"
    let path = rest.dropFirst(isQuoted ? 1 : 0).prefix { $0 != (isQuoted ? "'" : " ") }
    let place = now(path: String(path))
    guard place != path, rest.hasPrefix(shellWord(String(path))) else { return line }
    return head + shellWord(place) + rest.dropFirst(shellWord(String(path)).count)
  }
}
