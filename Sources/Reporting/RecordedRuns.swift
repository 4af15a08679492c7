public import Journal
public import System

/// Runs as their journals record them, read once for all reports.
///
/// It does not matter in which order the journals are named.
public struct RecordedRuns {
  let index: JournalIndex

  /// Reads journals, such as those of the shards of one run.
  ///
  /// - Parameters:
  ///   - journals: Their paths. One that cannot be read is a problem of the runs.
  ///   - manifests: The manifests of the runs, one for each journal; what they do not say is left out. Without any,
  ///     the files beside the journals.
  ///   - isReproducible: Whether the reports say nothing that differs between two runs of one seed: when and where they
  ///     were made, by which command, and in which folders they are.
  ///   - minimum: How much must have been judged in all of them together.
  public init(
    journals: [String], manifests: [String] = [], isReproducible: Bool = false,
    minimum: MinimumVerdicts = MinimumVerdicts()
  ) {
    index = JournalIndex(
      journals: journals, manifests: manifests, isReproducible: isReproducible, minimum: minimum)
  }

  /// What the runs came to.
  public var summary: RunSummary { RunSummary(index) }

  /// Why a journal or a manifest could not be read, if one could not: then reports lack what it says.
  public var fault: FileFault? { index.sources.lazy.compactMap(\.fault).first }

  /// Writes the JUnit report of the runs, which appears at its path whole or not at all.
  ///
  /// The journals are read again and never held: memory grows by about forty bytes a case. What is too large for one file
  /// goes on in others beside it: `junit-2.xml` and so on.
  ///
  /// - Parameters:
  ///   - path: Where the report goes; missing directories are made.
  ///   - profile: The shape of the report.
  ///   - largest: The most bytes of a file.
  /// - Returns: What the report counts.
  /// - Throws: When the report cannot be written, or a journal not be read a second time; the old report stays.
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
