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

  /// Reads a journal and writes the report, which appears at its path whole or not at all.
  ///
  /// The journal is read twice and never held: memory grows by less than a hundred bytes a case.
  ///
  /// - Parameters:
  ///   - journal: The journal. When it cannot be read the report says so in an error.
  ///   - manifest: The manifest of the run, or `nil`; what it does not say is left out.
  ///   - path: Where the report goes; missing directories are made.
  ///   - profile: The shape of the report.
  /// - Returns: What the report counts.
  /// - Throws: When the report cannot be written, or the journal not be read a second time; the old report stays.
  public static func write(
    journal: String, manifest: String? = nil, to path: String, profile: JUnitProfile = .ci
  ) throws(ReportError) -> JUnitReport {
    let index: JournalIndex
    var reader: JournalReader?
    do {
      var opened = try JournalReader(journal)
      index = JournalIndex(&opened)
      reader = consume opened
    } catch {
      index = JournalIndex(Journal.Problem(line: 0, message: "\(error)"))
      reader = nil
    }
    var writer = JUnitWriter(
      output: try OutputFile(path), reader: reader,
      manifest: manifest.map(Manifest.init(path:)) ?? Manifest(),
      profile: profile)
    return try writer.write(index)
  }
}
