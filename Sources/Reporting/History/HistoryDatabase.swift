import Databases

/// The database of a history, whose errors are those of the history.
final class HistoryDatabase {
  /// The place of the database.
  let place: HistoryPlace
  private let database: any Database

  /// - Parameter lockTimeout: how long to wait for other writers, in milliseconds.
  init(_ place: HistoryPlace, _ mode: SQLiteDatabase.Mode, lockTimeout: Int32) throws(HistoryError) {
    self.place = place
    do throws(DatabaseError) {
      switch place {
      case .file(let path):
        // "Lkst": identifies the file among other programs' databases.
        database = try SQLiteDatabase(path, mode, application: 0x4C6B_7374, lockTimeout: lockTimeout)
      case .postgres(let url): database = try PostgresDatabase(url, lockTimeout: lockTimeout)
      }
    } catch {
      throw HistoryError(error, place)
    }
  }

  var dialect: Dialect { database.dialect }

  /// The version of its schema; 0 if it is empty.
  var version: Int {
    get throws(HistoryError) { try reported { () throws(DatabaseError) in try database.version } }
  }

  /// Writes the version, in the open transaction.
  func setVersion(_ version: Int) throws(HistoryError) {
    try reported { () throws(DatabaseError) in try database.setVersion(version) }
  }

  func query(
    _ statement: String, _ values: [SQLValue], row: ([SQLValue]) -> Void
  ) throws(HistoryError) {
    try reported { () throws(DatabaseError) in try database.query(statement, values, row: row) }
  }

  func run(_ statement: String, _ values: [SQLValue] = []) throws(HistoryError) {
    try reported { () throws(DatabaseError) in try database.run(statement, values) }
  }

  func first(_ statement: String, _ values: [SQLValue] = []) throws(HistoryError) -> [SQLValue]? {
    try reported { () throws(DatabaseError) in try database.first(statement, values) }
  }

  /// The number of a case; `nil` if it is in no run.
  func caseNumber(_ className: String, _ name: String) throws(HistoryError) -> Int64? {
    try first("SELECT id FROM cases WHERE class = $1 AND name = $2", [.text(className), .text(name)])?.first?
      .integer
  }

  func beginWriting() throws(HistoryError) {
    try reported { () throws(DatabaseError) in try database.beginWriting() }
  }

  /// Runs an exclusive transaction: all of it or nothing.
  func write<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
    try database.write({ HistoryError($0, place) }, body)
  }

  /// Runs a transaction that reads a consistent state.
  func read<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
    try database.read({ HistoryError($0, place) }, body)
  }

  /// Runs an exclusive transaction that changes tables.
  func change(_ body: () throws(HistoryError) -> Void) throws(HistoryError) {
    // While a table is rewritten, references to it must not be deleted with the old one.
    if dialect.rewritesTables { try run("PRAGMA foreign_keys = OFF") }
    defer { if dialect.rewritesTables { try? run("PRAGMA foreign_keys = ON") } }
    try write(body)
  }

  private func reported<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(HistoryError) -> Result {
    do throws(DatabaseError) { return try body() } catch { throw HistoryError(error, place) }
  }
}

extension HistoryError {
  /// Makes the error of a history from that of its database.
  fileprivate init(_ error: DatabaseError, _ place: HistoryPlace) {
    switch error {
    case .absent: self = .absent(place)
    case .unavailable(let reason): self = .unavailable(place, reason: reason)
    case .failing(let reason): self = .failing(place, reason: reason)
    case .unusable(let reason): self = .unusable(place, reason: reason)
    case .foreign: self = .unusable(place, reason: "it is a database of another program")
    case .busy: self = .busy(place)
    case .damaged(let reason): self = .damaged(place, reason: reason)
    }
  }
}
