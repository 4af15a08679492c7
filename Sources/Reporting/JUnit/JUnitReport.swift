public import Journal
public import System

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
  /// How many agreed, and not at the first try.
  public var flaky = 0
  /// How many were not tried.
  public var skipped = 0
  /// The sum of the cases' times in milliseconds.
  public var milliseconds: Int64 = 0
  /// What is wrong with the journal itself.
  public var problems: [JournalProblem] = []

  /// Reads journals and writes the report of all of them, which appears at its path whole or not at all.
  ///
  /// The journals are read twice and never held: memory grows by about forty bytes a case. What is too large for one
  /// file goes on in others beside it: `junit-2.xml` and so on.
  ///
  /// - Parameters:
  ///   - journals: The journals, such as those of the shards of one run, in any order. When one cannot be read the
  ///     report says so in an error.
  ///   - manifests: The manifests of the runs, one for each journal; what they do not say is left out. Without any,
  ///     the files beside the journals.
  ///   - path: Where the report goes; missing directories are made.
  ///   - profile: The shape of the report.
  ///   - largest: The most bytes of a file.
  /// - Returns: What the report counts.
  /// - Throws: When the report cannot be written, or a journal not be read a second time; the old report stays.
  public static func write(
    journals: [String], manifests: [String] = [], to path: String, profile: JUnitProfile = .ci,
    largest: Int = 25_000_000
  ) throws(FileFault) -> JUnitReport {
    try RecordedRuns(journals: journals, manifests: manifests).writeJUnit(
      to: path, profile: profile, largest: largest)
  }

  /// Reads a journal and writes its report.
  public static func write(
    journal: String, manifest: String? = nil, to path: String, profile: JUnitProfile = .ci
  ) throws(FileFault) -> JUnitReport {
    try write(journals: [journal], manifests: manifest.map { [$0] } ?? [], to: path, profile: profile)
  }
}
