import Basics
import Journal
import Secrets
import System

/// Reads the scenarios that journals name, to be shown in a page.
///
/// A journal may be somebody else's, and name whatever file its author would like to see. So a file is read only where
/// its real path lies below the folder in which the report is made, or among the scenarios that were saved beside the run;
/// and what is read is shown only where it is the text that the journal knows already, by its fingerprint. What looks like a
/// key in it is taken out all the same.
struct ScenarioTexts {
  /// What is to be shown of a scenario.
  enum Finding: Equatable {
    case lines([String])
    /// Why it is not shown, as the rest of a sentence.
    case withheld(String)
  }

  /// The real path of the folder; `nil` where nothing is read.
  private let folder: String?

  /// The most bytes of a scenario that are shown.
  static let maximumBytes = 64 << 10

  /// Reads what lies below a folder, and nothing where that is everything.
  init(below folder: String?) {
    self.folder = folder.flatMap(realPath).flatMap { $0 == "/" ? nil : $0 }
  }

  /// The text of a scenario; `nil` where the file is none.
  ///
  /// - Parameters:
  ///   - file: its path, as the journal says it.
  ///   - fingerprint: that of the text that was driven.
  ///   - journal: the journal, beside whose run scenarios may be saved: of such a file its name is enough, wherever the run
  ///     was made and its folder is now.
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
    // Of what is certainly outside it is not even asked whether it is there.
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

  /// The text of a scenario of that name among those that were saved beside a run; `nil` where there is none, or another.
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

  /// The lines without what must not be printed.
  private static func lines(of bytes: [UInt8]) -> [String] {
    // What looks like a key is one for this text alone: a scenario may send bytes that the journal has too.
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
