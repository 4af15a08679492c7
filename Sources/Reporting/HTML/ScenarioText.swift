import Basics
import Journal
import Secrets
import System

/// Reads the scenarios that journals name, for display in a page.
///
/// A journal may come from another user and name any file. So a file is read only if its real path is below
/// the folder of the report, or among the scenarios saved beside the run; and it is shown only if its
/// fingerprint is in the journal. Text that looks like a key is redacted nevertheless.
struct ScenarioTexts {
  /// The result for a scenario.
  enum Finding: Equatable {
    case lines([String])
    /// It is not shown, for this reason, which is the rest of a sentence.
    case withheld(String)
  }

  /// The real path of the folder; `nil` if nothing is read.
  private let folder: String?

  /// The maximum size of a shown scenario, in bytes.
  static let maximumBytes = 64 << 10

  /// Makes a reader for a folder; it reads nothing if the folder is the root.
  init(below folder: String?) {
    self.folder = folder.flatMap(realPath).flatMap { $0 == "/" ? nil : $0 }
  }

  /// The text of a scenario; `nil` without a file.
  ///
  /// - Parameters:
  ///   - file: its path in the journal.
  ///   - fingerprint: the fingerprint of the text that was run.
  ///   - journal: the journal, beside whose run scenarios may be saved: their names are enough, wherever the
  ///     run was made and its folder is now.
  func text(of file: String, fingerprint: String?, savedBy journal: String? = nil) -> Finding? {
    guard Self.isScenario(file) else { return nil }
    if let fingerprint, let saved = journal.flatMap({ Self.saved(file, by: $0, fingerprint) }) {
      return saved
    }
    guard let folder else { return .withheld("is not shown: the report is made in no folder of its own") }
    guard let fingerprint else {
      return .withheld("is not shown: the journal does not say which text it had")
    }
    let outside = Finding.withheld("is not shown: it lies outside of the folder in which the report is made")
    // The existence of files outside is not even checked.
    let path = Path.normalized(Path.join(folder, file))
    guard path.hasPrefix(folder + "/") else { return outside }
    guard let real = realPath(path) else { return .withheld("is not there any more") }
    guard real.hasPrefix(folder + "/"), Self.isScenario(real) else { return outside }
    guard fileKind(real) == .file else { return .withheld("is not shown: it is no file") }
    guard let bytes = try? WholeFile.bytes(of: real, limit: Self.maximumBytes) else {
      return .withheld("is not shown: it cannot be read, or is too large")
    }
    guard Self.isText(bytes, of: fingerprint) else { return .withheld("has changed since the run") }
    return .lines(Self.lines(of: bytes))
  }

  /// The text of a scenario with a name among those saved beside a run; `nil` if there is none, or another
  /// one.
  private static func saved(_ file: String, by journal: String, _ fingerprint: String) -> Finding? {
    guard let name = file.split(separator: "/").last,
      let home = SavedPlaces(journal: journal).flatMap({ realPath($0.folder) }), home != "/",
      let real = realPath(Path.join(home, String(name))), real.hasPrefix(home + "/"), isScenario(real),
      fileKind(real) == .file, let bytes = try? WholeFile.bytes(of: real, limit: maximumBytes),
      isText(bytes, of: fingerprint)
    else { return nil }
    return .lines(lines(of: bytes))
  }

  private static func isText(_ bytes: [UInt8], of fingerprint: String) -> Bool {
    var found = Fingerprint()
    found.mix(bytes)
    return found.description == fingerprint
  }

  private static func isScenario(_ path: String) -> Bool {
    path.hasSuffix(".yaml") || path.hasSuffix(".yml")
  }

  /// The lines with secrets redacted.
  private static func lines(of bytes: [UInt8]) -> [String] {
    // A likely key is redacted in this text only: the journal may contain the same bytes of a scenario.
    let redactor = Redactor()
    redactor.registerLookalikes(in: bytes)
    let shown = Redactor.shared.redacted(redactor.redacted(bytes))
    var lines = shown.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}
