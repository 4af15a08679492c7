public import Journal
public import System

/// Runs from their journals, read once for all reports.
///
/// The order of the journals does not matter.
public struct RecordedRuns {
  let index: JournalIndex

  /// Reads journals, such as those of the shards of one run.
  ///
  /// - Parameters:
  ///   - journals: their paths. An unreadable one is a problem of the runs.
  ///   - manifests: the manifests of the runs, one for each journal. Without any, the files beside the
  ///     journals.
  ///   - isReproducible: whether the reports omit everything that differs between two runs of one seed:
  ///     times, commands and folders.
  ///   - minimum: the minimum number of judgements in all of them together.
  public init(
    journals: [String], manifests: [String] = [], isReproducible: Bool = false,
    minimum: MinimumVerdicts = MinimumVerdicts()
  ) {
    index = JournalIndex(
      journals: journals, manifests: manifests, isReproducible: isReproducible, minimum: minimum)
  }

  /// The result of the runs.
  public var summary: RunSummary { RunSummary(index) }

  /// Why a journal or a manifest could not be read; reports then lack its data.
  public var fault: FileFault? { index.sources.lazy.compactMap(\.fault).first }

  /// Writes the JUnit report of the runs, which appears at its path as a whole or not at all.
  ///
  /// The journals are read again and never kept in memory, which grows by about forty bytes a case. A report
  /// that is too large for one file continues in others beside it: `junit-2.xml` and so on.
  ///
  /// - Parameters:
  ///   - path: the path of the report; missing folders are created.
  ///   - profile: the variant of the report.
  ///   - largest: the maximum size of a file, in bytes.
  /// - Returns: the counts of the report.
  /// - Throws: if the report cannot be written, or a journal cannot be read again; the old report then stays.
  @discardableResult
  public func writeJUnit(
    to path: String, profile: JUnitProfile = .ci, largest: Int = 25_000_000
  ) throws(FileFault) -> JUnitReport {
    var writer = try JUnitWriter(index, to: path, profile: profile, limit: largest)
    let counts = try writer.write()
    return JUnitReport(
      tests: counts.tests, failures: counts.failures, errors: counts.errors, flaky: counts.flaky,
      skipped: counts.skipped, milliseconds: Int64(clamping: counts.milliseconds), problems: index.remarks)
  }
}
