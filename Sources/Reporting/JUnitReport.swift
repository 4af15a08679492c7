/// JUnit XML made from a journal, and what it counted.
///
/// A *failure* is a divergence, an *error* is trouble of the lab or a case that was not brought to its end, and
/// *skipped* was not tried. There is always a report, and none is greener than its run: a journal that stops
/// early, or holds lines that cannot be read, gives an error of its own.
public struct JUnitReport: Hashable, Sendable {
  /// How many test cases the report holds, one for a damaged journal included.
  public var tests = 0
  /// How many diverged.
  public var failures = 0
  /// How many the lab failed, or were not brought to their end.
  public var errors = 0
  /// How many were not tried.
  public var skipped = 0
  /// The sum of the cases' times in milliseconds.
  public var milliseconds: Int64 = 0
  /// What is wrong with the journal itself.
  public var problems: [Journal.Problem] = []

  /// Reads journals and writes the report of all of them, which appears at its path whole or not at all.
  ///
  /// The journals are read twice and never held: memory grows by about a hundred bytes a case.
  ///
  /// - Parameters:
  ///   - journals: The journals, such as those of the shards of one run. When one cannot be read the report says so in
  ///     an error.
  ///   - manifests: The manifests of the runs, as far as there are; what they do not say is left out.
  ///   - path: Where the report goes; missing directories are made.
  ///   - profile: The shape of the report.
  /// - Returns: What the report counts.
  /// - Throws: When the report cannot be written, or a journal not be read a second time; the old report stays.
  public static func write(
    journals: [String], manifests: [String] = [], to path: String, profile: JUnitProfile = .ci
  ) throws(ReportError) -> JUnitReport {
    var index = JournalIndex()
    var sources: [JournalSource?] = []
    for journal in journals {
      sources.append(index.read(journal))
    }
    var writer = JUnitWriter(
      output: try OutputFile(path), sources: sources, manifest: Manifest(paths: manifests), profile: profile)
    return try writer.write(index)
  }

  /// Reads a journal and writes its report.
  public static func write(
    journal: String, manifest: String? = nil, to path: String, profile: JUnitProfile = .ci
  ) throws(ReportError) -> JUnitReport {
    try write(journals: [journal], manifests: manifest.map { [$0] } ?? [], to: path, profile: profile)
  }
}

/// A journal that stays open, to be read in several places.
final class JournalSource {
  var reader: JournalReader

  init(_ path: String) throws(ReportError) {
    reader = try JournalReader(path)
  }
}

extension JournalIndex {
  /// Reads a journal behind those before it; `nil` when it cannot be opened, which the index says.
  mutating func read(_ path: String) -> JournalSource? {
    do {
      let source = try JournalSource(path)
      read(&source.reader)
      return source
    } catch {
      note(Journal.Problem(line: 0, message: "\(error)"))
      return nil
    }
  }
}
