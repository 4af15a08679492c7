import Databases
import Basics
import Journal

/// The tables of a history, the same in SQLite and in PostgreSQL.
///
/// | table | a row is |
/// | --- | --- |
/// | `words` | the possible results of a case, by number |
/// | `runs` | a run: its identity is unique; host and name are for display |
/// | `cases` | a case, identified by class and name as in JUnit: another lock, or another title, does not change it |
/// | `settings` | the devices of cases: device, firmware, machine and its hash |
/// | `results` | the result of a case in a run |
/// | `failures` | the reason of a failure, also if a later attempt agreed |
/// | `editions` | the contents of a case in a run: a hash of its scenario, its machine and its program, with its number |
/// | `digests` | the results of a run again, in a few bytes, which answer most queries |
///
/// Nothing that is computed over several runs is stored, so that runs may be added in any order, from several
/// hosts at once, and repeatedly.
enum HistorySchema {
  /// The migration steps from each version to the next; the first ones create the tables.
  static func steps(_ dialect: Dialect) -> [[Step]] {
    [
      tables(dialect).map(Step.statement), identities(dialect), [.work(renameCases)], [.work(digestSettings)],
      editions(dialect), expectations(dialect),
    ]
  }

  /// A migration step.
  enum Step: ExpressibleByStringLiteral {
    case statement(String)
    /// A step that differs between the databases.
    case work((HistoryDatabase) throws(HistoryError) -> Void)

    init(stringLiteral statement: String) { self = .statement(statement) }

    fileprivate func take(_ database: HistoryDatabase) throws(HistoryError) {
      switch self {
      case .statement(let statement): try database.run(statement)
      case .work(let work): try work(database)
      }
    }
  }

  /// Migrates a database to the newest version: all of it or nothing.
  static func migrate(_ database: HistoryDatabase, _ steps: (Dialect) -> [[Step]]) throws(HistoryError) {
    let steps = steps(database.dialect)
    try check(try database.version, database.place, steps.count)
    if try database.version == steps.count { return }
    try database.change { () throws(HistoryError) in
      // Another process may have been faster.
      let version = try database.version
      try check(version, database.place, steps.count)
      for step in steps[version...].joined() { try step.take(database) }
      if version < steps.count { try database.setVersion(steps.count) }
    }
  }

  private static func check(_ version: Int, _ place: HistoryPlace, _ known: Int) throws(HistoryError) {
    if version > known { throw .newer(place, version: version, known: known) }
    if version < 0 { throw .damaged(place, reason: "its schema is \(version)") }
  }

  private static func tables(_ dialect: Dialect) -> [String] {
    let (text, integer) = (dialect.text, dialect.integer)
    let words = Record.Verdict.Word.allCases.filter { $0 != .unmet }.map { "(\($0.code), '\($0.rawValue)')" }
      .joined(separator: ", ")
    return [
      """
      CREATE TABLE words (code \(integer) NOT NULL PRIMARY KEY, word \(text) NOT NULL UNIQUE) \(dialect.plain)
      """,
      "INSERT INTO words (code, word) VALUES \(words)",
      """
      CREATE TABLE runs (
        id \(dialect.counter), host \(text) NOT NULL, name \(text) NOT NULL, started \(text) NOT NULL,
        seed \(text), revision \(text), version \(text), status \(integer), milliseconds \(integer) NOT NULL,
        agree \(integer) NOT NULL, divergences \(integer) NOT NULL, lab_faults \(integer) NOT NULL,
        skipped \(integer) NOT NULL, incomplete \(integer) NOT NULL, flaky \(integer) NOT NULL,
        UNIQUE (host, name)) \(dialect.plain)
      """,
      "CREATE INDEX runs_started ON runs (started, host, name)",
      """
      CREATE TABLE cases (
        id \(dialect.counter), class \(text) NOT NULL, name \(text) NOT NULL,
        UNIQUE (class, name)) \(dialect.plain)
      """,
      """
      CREATE TABLE settings (
        id \(dialect.counter), device \(text) NOT NULL, firmware \(text) NOT NULL, machine \(text) NOT NULL,
        model \(text) NOT NULL, UNIQUE (device, firmware, machine, model)) \(dialect.plain)
      """,
      """
      CREATE TABLE results (
        run_id \(integer) NOT NULL REFERENCES runs ON DELETE CASCADE,
        case_id \(integer) NOT NULL REFERENCES cases, setting_id \(integer) NOT NULL REFERENCES settings,
        word \(integer) NOT NULL REFERENCES words, flaky \(integer) NOT NULL, attempts \(integer) NOT NULL,
        milliseconds \(integer) NOT NULL, seed \(text), PRIMARY KEY (run_id, case_id)) \(dialect.ordered)
      """,
      """
      CREATE TABLE failures (
        run_id \(integer) NOT NULL, case_id \(integer) NOT NULL, signature \(text), message \(text) NOT NULL,
        PRIMARY KEY (run_id, case_id),
        FOREIGN KEY (run_id, case_id) REFERENCES results ON DELETE CASCADE) \(dialect.ordered)
      """,
      "CREATE INDEX failures_signature ON failures (case_id, signature)",
      """
      CREATE TABLE digests (
        run_id \(integer) NOT NULL PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
        digest \(dialect.bytes) NOT NULL) \(dialect.plain)
      """,
    ]
  }

  /// Adds a word of its own for unmet expectations, which counted as divergences.
  private static func expectations(_ dialect: Dialect) -> [Step] {
    let word = Record.Verdict.Word.unmet
    return [
      .statement("INSERT INTO words (code, word) VALUES (\(word.code), '\(word.rawValue)')"),
      .statement("ALTER TABLE runs ADD COLUMN unmet \(dialect.integer) NOT NULL DEFAULT 0"),
    ]
  }

  /// Replaces host and name by an identity: runs that began in the same second may have the same name.
  private static func identities(_ dialect: Dialect) -> [Step] {
    let (text, integer) = (dialect.text, dialect.integer)
    let columns = """
      id, host, name, started, seed, revision, version, status, milliseconds, agree, divergences, lab_faults, skipped,
      incomplete, flaky
      """
    // SQLite can remove a constraint only by rewriting the table; ``HistoryDatabase/change(_:)`` preserves
    // references to it meanwhile.
    let table: [Step] =
      dialect.rewritesTables
      ? [
        .statement(
          """
          CREATE TABLE new_runs (
            id \(dialect.counter), host \(text) NOT NULL, name \(text) NOT NULL, started \(text) NOT NULL,
            seed \(text), revision \(text), version \(text), status \(integer), milliseconds \(integer) NOT NULL,
            agree \(integer) NOT NULL, divergences \(integer) NOT NULL, lab_faults \(integer) NOT NULL,
            skipped \(integer) NOT NULL, incomplete \(integer) NOT NULL, flaky \(integer) NOT NULL,
            identity \(text) NOT NULL DEFAULT '') \(dialect.plain)
          """),
        .statement("INSERT INTO new_runs (\(columns)) SELECT \(columns) FROM runs"), "DROP TABLE runs",
        "ALTER TABLE new_runs RENAME TO runs", "CREATE INDEX runs_started ON runs (started, host, name)",
      ]
      : [
        "ALTER TABLE runs DROP CONSTRAINT runs_host_name_key",
        .statement("ALTER TABLE runs ADD COLUMN identity \(text) NOT NULL DEFAULT ''"),
      ]
    return table + [.work(identify), "CREATE UNIQUE INDEX runs_identity ON runs (identity)"]
  }

  /// Gives each run the identity that its journal would have when it is added again.
  private static func identify(_ database: HistoryDatabase) throws(HistoryError) {
    var known: [(number: Int64, identity: RunRecord.Identity)] = []
    try database.query("SELECT id, host, name, started, seed FROM runs", []) { row in
      let identity = RunRecord.Identity(
        rowOf: row[1].text ?? "", row[2].text ?? "", started: row[3].text ?? "", seed: row[4].text)
      known.append((row[0].integer ?? 0, identity))
    }
    for (number, identity) in known {
      try database.run(
        "UPDATE runs SET identity = $1 WHERE id = $2", [.text(identity.id), .integer(number)])
    }
  }
}

extension HistorySchema {
  /// Adds editions to results; those of older results are unknown.
  private static func editions(_ dialect: Dialect) -> [Step] {
    let (text, integer) = (dialect.text, dialect.integer)
    return [
      .statement("ALTER TABLE results ADD COLUMN edition \(integer) NOT NULL DEFAULT 0"),
      .statement(
        """
        CREATE TABLE editions (
          case_id \(integer) NOT NULL REFERENCES cases, number \(integer) NOT NULL, edition \(text) NOT NULL,
          PRIMARY KEY (case_id, edition)) \(dialect.ordered)
        """),
    ]
  }

  /// Adds settings to digests.
  private static func digestSettings(_ database: HistoryDatabase) throws(HistoryError) {
    var runs: [Int64] = []
    try database.query("SELECT run_id FROM digests ORDER BY run_id", []) { row in
      runs.append(row[0].integer ?? 0)
    }
    for run in runs {
      var digest = RunDigest()
      var isWhole = true
      try database.query(
        """
        SELECT case_id, word, attempts, flaky, milliseconds, setting_id FROM results WHERE run_id = $1
        ORDER BY case_id
        """, [.integer(run)]
      ) { row in
        let numbers = row.map { $0.integer ?? 0 }
        guard let word = Record.Verdict.Word(code: Int(numbers[1])), numbers[0] > 0 else {
          isWhole = false
          return
        }
        digest.append(
          RunDigest.Entry(
            caseNumber: numbers[0], ending: .init(word, isFlaky: numbers[3] == 1), attempts: numbers[2],
            milliseconds: numbers[4], setting: numbers[5]))
      }
      guard isWhole else { throw .damaged(database.place, reason: "a result of the run \(run) is invalid") }
      try database.run(
        "UPDATE digests SET digest = $1 WHERE run_id = $2", [.bytes(digest.bytes), .integer(run)])
    }
  }

  /// Replaces the file and the title of a case as class and name by its folder and its file.
  ///
  /// If a class has several titles, the right one for the file is unknown: they stay unchanged.
  private static func renameCases(_ database: HistoryDatabase) throws(HistoryError) {
    var known: [(number: Int64, className: String, name: String)] = []
    try database.query("SELECT id, class, name FROM cases ORDER BY class, id", []) { row in
      known.append((row[0].integer ?? 0, row[1].text ?? "", row[2].text ?? ""))
    }
    var titles: [String: Set<Substring>] = [:]
    for item in known { titles[item.className, default: []].insert(title(item.name).text) }
    var taken = Set(known.map { [$0.className, $0.name] })
    for item in known where titles[item.className]?.count == 1 {
      guard let dot = item.className.lastIndex(of: ".") else { continue }
      let round = title(item.name).round.map { "#\($0)" } ?? ""
      let new = [String(item.className[..<dot]), item.className[item.className.index(after: dot)...] + round]
      guard taken.insert(new).inserted else { continue }
      try database.run(
        "UPDATE cases SET class = $1, name = $2 WHERE id = $3",
        [.text(new[0]), .text(new[1]), .integer(item.number)])
    }
  }

  /// A name as a title and the number after it that distinguished rounds.
  private static func title(_ name: String) -> (text: Substring, round: Int?) {
    guard name.hasSuffix(")"), let mark = name.lastIndex(of: "("), mark > name.startIndex,
      let number = Int(name[name.index(after: mark)...].dropLast()), number > 1
    else { return (name[...], nil) }
    return (name[..<name.index(before: mark)], number)
  }
}

extension Record.Verdict.Word {
  /// In the order of their numbers in a history, which must never change.
  private static let coded: [Record.Verdict.Word] = [
    .agree, .divergence, .labFault, .skipped, .incomplete, .unmet,
  ]

  /// The number in a history.
  var code: Int { Self.coded.firstIndex(of: self) ?? 0 }

  /// The word with a number, if there is one.
  init?(code: Int) {
    guard Self.coded.indices.contains(code) else { return nil }
    self = Self.coded[code]
  }
}

/// A text in its stored form: not longer than an index permits, and with NUL escaped, which PostgreSQL cannot
/// store.
///
/// A truncated text ends with a hash of the whole, so that two long names with the same beginning stay
/// different.
func kept(_ text: String, toBytes limit: Int = 1100) -> String {
  let isLong = text.utf8.count > limit
  var head = isLong ? clipped(text, toBytes: limit) : text
  if head.utf8.contains(0) {
    head = head.unicodeScalars.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
      .joined(separator: escaped(0))
  }
  if !isLong, head.utf8.count <= limit { return head }
  return clipped(head, toBytes: limit - 20) + Fingerprint(text).description
}
