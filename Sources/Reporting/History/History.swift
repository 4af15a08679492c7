import Databases
import Journal

/// The results of earlier runs: a database that is filled from journals.
///
/// It is a file of SQLite, or a PostgreSQL database for a lab with many hosts. Several processes may add to
/// it at once.
public final class History {
  let database: HistoryDatabase

  /// The purpose of opening a history.
  public enum Purpose: Sendable {
    /// To add runs; it is created if it does not exist.
    case adding
    /// To query it; it must exist.
    case asking
  }

  /// Opens a history, and migrates one of an older Lockstep.
  public convenience init(_ place: HistoryPlace, for purpose: Purpose) throws(HistoryError) {
    try self.init(place, for: purpose, lockTimeout: 30_000, steps: HistorySchema.steps)
  }

  /// - Parameters:
  ///   - lockTimeout: how long to wait for other writers, in milliseconds.
  ///   - steps: the migration steps from each version of the schema to the next.
  init(
    _ place: HistoryPlace, for purpose: Purpose, lockTimeout: Int32,
    steps: (Dialect) -> [[HistorySchema.Step]]
  ) throws(HistoryError) {
    database = try HistoryDatabase(place, purpose == .adding ? .writing : .reading, lockTimeout: lockTimeout)
    if purpose == .asking, try database.version == 0 { throw .absent(place) }
    try HistorySchema.migrate(database, steps)
  }

  /// Adds the results of a run; a run that was added before is replaced.
  public func take(journal: String, manifest: String? = nil) throws(HistoryError) {
    try take([RunRecord(journal: journal, manifest: manifest)])
  }

  /// Adds runs, all of them or none; one that was added before is replaced.
  public func take(_ records: [RunRecord]) throws(HistoryError) {
    try database.write { () throws(HistoryError) in
      var numbers = Numbers()
      for record in records { try take(record, &numbers) }
    }
  }

  private func take(_ record: RunRecord, _ numbers: inout Numbers) throws(HistoryError) {
    let cases = try numbered(record, numbers)
    if record.isPartOfJob, try isSurpassed(record, cases) { return }
    let run = try runNumber(record, cases)
    var digest = RunDigest()
    for item in cases {
      guard let result = try record.result(at: item.place) else { continue }
      let number = item.number
      let setting = try numbers.setting(result.setting, database)
      let edition = try numbers.edition(result.edition, of: number, database)
      try database.run(
        """
        INSERT INTO results (run_id, case_id, setting_id, word, flaky, attempts, milliseconds, seed, edition)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """,
        [
          .integer(run), .integer(number), .integer(setting), SQLValue(result.ending.word.code),
          .integer(result.ending.isFlaky ? 1 : 0), SQLValue(result.attempts), .integer(result.milliseconds),
          SQLValue(result.seed), .integer(edition),
        ])
      if result.ending.isRed || result.ending.isFlaky {
        try database.run(
          "INSERT INTO failures (run_id, case_id, signature, message) VALUES ($1, $2, $3, $4)",
          [
            .integer(run), .integer(number), SQLValue(result.signature), .text(result.message ?? ""),
          ])
      }
      digest.append(
        RunDigest.Entry(
          caseNumber: number, ending: result.ending, attempts: Int64(result.attempts),
          milliseconds: result.milliseconds, setting: setting, edition: edition))
    }
    try database.run(
      "INSERT INTO digests (run_id, digest) VALUES ($1, $2)", [.integer(run), .bytes(digest.bytes)])
  }

  /// A case of a run by its number, with the data that are needed for all cases at once.
  private struct NumberedCase {
    var number: Int64
    var place: RunRecord.Place
    var ending: Record.Ending
    var milliseconds: Int64
  }

  /// The cases by their numbers.
  ///
  /// Truncated or escaped names may have become equal: of two such cases the one with more data is kept.
  private func numbered(_ record: RunRecord, _ numbers: Numbers) throws(HistoryError) -> [NumberedCase] {
    var all: [NumberedCase] = []
    try record.forEach { place, result throws(HistoryError) in
      all.append(
        NumberedCase(
          number: try numbers.number(of: result, database), place: place, ending: result.ending,
          milliseconds: result.milliseconds))
    }
    all.sort { ($0.number, $0.ending.rawValue) < ($1.number, $1.ending.rawValue) }
    var last: Int64 = 0
    all.removeAll { item in
      defer { last = item.number }
      return item.number == last
    }
    return all
  }

  /// Whether a better attempt at the same part of a job is stored already, or an equal one that began
  /// earlier.
  private func isSurpassed(
    _ record: RunRecord, _ cases: [NumberedCase]
  ) throws(HistoryError) -> Bool {
    let known = try database.first(
      "SELECT status, divergences + unmet, agree + skipped, started FROM runs WHERE identity = $1",
      [.text(record.identity.id)])
    guard let known else { return false }
    let divergences = Int(known[1].integer ?? 0)
    let other = RunRank(
      status: known[0].integer.map(Int.init), divergences: divergences,
      judged: divergences + Int(known[2].integer ?? 0))
    let own = RunRank(
      status: record.status, divergences: cases.count { $0.ending.element == .failed },
      judged: cases.count { $0.ending.element != .error })
    return own < other || own == other && (known[3].text ?? "") < record.started
  }

  /// The number of a run, which then has only its own row.
  private func runNumber(
    _ record: RunRecord, _ cases: [NumberedCase]
  ) throws(HistoryError) -> Int64 {
    func count(_ word: Record.Verdict.Word) -> SQLValue { SQLValue(cases.count { $0.ending.word == word }) }
    try database.run("DELETE FROM runs WHERE identity = $1", [.text(record.identity.id)])
    let time = cases.reduce(0 as Int64) { min($0 + $1.milliseconds, 1 << 52) }
    let row = try database.first(
      """
      INSERT INTO runs (identity, host, name, started, seed, revision, version, status, milliseconds,
        agree, divergences, lab_faults, skipped, incomplete, flaky, unmet)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING id
      """,
      [
        .text(record.identity.id), .text(record.identity.host), .text(record.identity.name),
        .text(record.started), SQLValue(record.seed), SQLValue(record.revision), SQLValue(record.version),
        record.status.map { SQLValue($0) } ?? .null, .integer(time),
        count(.agree), count(.divergence), count(.labFault), count(.skipped), count(.incomplete),
        SQLValue(cases.count(where: \.ending.isFlaky)), count(.unmet),
      ])
    guard let number = row?.first?.integer else {
      throw .damaged(database.place, reason: "a run has no number")
    }
    return number
  }
}

/// The class and the name of a case.
struct CaseName {
  var className: String
  var name: String
}

/// The numbers of cases and settings, in an exclusive transaction.
private struct Numbers {
  private var settings: [RunRecord.Setting: Int64] = [:]

  /// The number of a case. The database is queried for each: there may be too many for memory.
  func number(of result: RunRecord.Result, _ database: HistoryDatabase) throws(HistoryError) -> Int64 {
    if let number = try database.caseNumber(result.className, result.name) { return number }
    return try Self.insert(
      "INSERT INTO cases (class, name) VALUES ($1, $2) RETURNING id",
      [.text(result.className), .text(result.name)], database)
  }

  mutating func setting(
    _ setting: RunRecord.Setting, _ database: HistoryDatabase
  ) throws(HistoryError) -> Int64 {
    if let number = settings[setting] { return number }
    let values: [SQLValue] = [
      .text(setting.device), .text(setting.firmware), .text(setting.machine), .text(setting.model),
    ]
    let known = try database.first(
      "SELECT id FROM settings WHERE device = $1 AND firmware = $2 AND machine = $3 AND model = $4", values)
    var number = known?.first?.integer ?? 0
    if known == nil {
      number = try Self.insert(
        "INSERT INTO settings (device, firmware, machine, model) VALUES ($1, $2, $3, $4) RETURNING id",
        values,
        database)
    }
    settings[setting] = number
    return number
  }

  /// The number of an edition of a case, from 1; zero if it is unknown.
  func edition(_ edition: String, of number: Int64, _ database: HistoryDatabase) throws(HistoryError) -> Int64
  {
    if edition.isEmpty { return 0 }
    let known = try database.first(
      "SELECT number FROM editions WHERE case_id = $1 AND edition = $2", [.integer(number), .text(edition)])
    if let known = known?.first?.integer { return known }
    let last = try database.first("SELECT MAX(number) FROM editions WHERE case_id = $1", [.integer(number)])
    let next = (last?.first?.integer ?? 0) + 1
    try database.run(
      "INSERT INTO editions (case_id, number, edition) VALUES ($1, $2, $3)",
      [.integer(number), .integer(next), .text(edition)])
    return next
  }

  private static func insert(
    _ statement: String, _ values: [SQLValue], _ database: HistoryDatabase
  ) throws(HistoryError) -> Int64 {
    guard let number = try database.first(statement, values)?.first?.integer else {
      throw .damaged(database.place, reason: "a row has no number")
    }
    return number
  }
}
