import Basics
import System

extension JournalIndex {
  /// The position of a case; no two cases start at the same position.
  package struct Place: Hashable {
    package let journal: Int32
    let offset: Int
  }

  /// The files in which campaigns saved the tests of their findings, by the positions of the cases that show them.
  package var savedFiles: [Place: String] {
    var files: [Place: String] = [:]
    for found in findings {
      if let caseIndex = found.caseIndex { files[entry(caseIndex).position] = found.finding.file }
    }
    return files
  }
}

extension JournalIndex.Entry {
  /// The position of the case.
  package var position: JournalIndex.Place { JournalIndex.Place(journal: journal, offset: offset) }
}

/// The current location of the tests that a campaign saved.
///
/// A journal contains their paths relative to the working directory of the campaign. If the folder of reports has
/// moved, or was unpacked on another machine, the tests are still next to the folder of its runs:
///
///     OUT/runs/NAME/journal.jsonl
///     OUT/failures/fuzz-sesame-8f31c2.yaml
package struct SavedPlaces {
  /// `OUT/failures`.
  package let folder: String

  /// Creates the location for a journal; `nil` if the journal is not in a folder of runs.
  package init?(journal: String) {
    let runs = Path.folder(of: Path.folder(of: journal))
    guard runs.split(separator: "/").last == "runs" else { return nil }
    folder = Path.normalized(Path.join(Path.folder(of: runs), "failures"))
  }

  /// Returns the record with current paths.
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

  /// Returns the current path; a file that has not moved, or does not exist, keeps its path.
  private func now(path: String) -> String {
    let parts = path.split(separator: "/")
    guard parts.dropLast().last == "failures", let name = parts.last, fileKind(path) == .missing else {
      return path
    }
    let current = Path.join(folder, String(name))
    return fileKind(current) == .file ? current : path
  }

  private func now(replay line: String) -> String {
    let head = "lockstep replay "
    guard line.hasPrefix(head) else { return line }
    let rest = line.dropFirst(head.count)
    // A path with a quotation mark is not changed.
    let isQuoted = rest.first == "'"
    let path = rest.dropFirst(isQuoted ? 1 : 0).prefix { $0 != (isQuoted ? "'" : " ") }
    let current = now(path: String(path))
    guard current != path, rest.hasPrefix(shellWord(String(path))) else { return line }
    return head + shellWord(current) + rest.dropFirst(shellWord(String(path)).count)
  }
}
