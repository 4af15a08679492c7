/// A value in a database.
public enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  public init(_ value: Int) { self = .integer(Int64(value)) }

  public init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }

  /// The number, or `nil` for anything else.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

  /// The text, or `nil` for anything else.
  public var text: String? { if case .text(let value) = self { value } else { nil } }

  /// The bytes, or none for anything else.
  public var bytes: [UInt8] { if case .bytes(let value) = self { value } else { [] } }
}

/// Why a database cannot be read or written.
public enum DatabaseError: Error, Hashable, Sendable {
  /// The database does not exist yet.
  case absent
  /// The server does not respond, or no longer does.
  case unavailable(String)
  /// The machine has a fault, such as a full or broken disk; the database itself is unchanged.
  case failing(String)
  /// The database cannot be opened, or cannot be used as required.
  case unusable(String)
  /// The database belongs to another program.
  case foreign
  /// Another process holds a lock on it for longer than the timeout.
  case busy
  /// Its content is not what was written to it.
  case damaged(String)
}

/// A connection to a database.
///
/// Statements use only what SQLite and PostgreSQL share, with values as `$1`, `$2`, … in their order; ``Dialect`` has
/// the differences. Text from outside is only ever passed as a value.
public protocol Database: AnyObject {
  /// The dialect of the database.
  var dialect: Dialect { get }

  /// The version of its schema; 0 for an empty database.
  var version: Int { get throws(DatabaseError) }

  /// Records the version of the schema, in the open transaction.
  func setVersion(_ version: Int) throws(DatabaseError)

  /// Executes a statement and passes its rows to `row`.
  func query(_ statement: String, _ values: [SQLValue], row: ([SQLValue]) -> Void) throws(DatabaseError)

  /// Begins a transaction that is the only one to write.
  func beginWriting() throws(DatabaseError)

  /// Begins a transaction that reads a single snapshot.
  func beginReading() throws(DatabaseError)

  /// Whether the last failure is temporary, so that the transaction may succeed if it is repeated.
  var isTransient: Bool { get }
}

extension Database {
  /// Executes a statement without rows.
  public func run(_ statement: String, _ values: [SQLValue] = []) throws(DatabaseError) {
    try query(statement, values) { _ in }
  }

  /// Returns the first row of a statement's result.
  public func first(_ statement: String, _ values: [SQLValue] = []) throws(DatabaseError) -> [SQLValue]? {
    var first: [SQLValue]?
    try query(statement, values) { row in
      if first == nil { first = row }
    }
    return first
  }

  /// Performs a write transaction: all of it or nothing.
  ///
  /// - Parameter convert: Converts an error of the database into the error to throw.
  public func write<Result, Failure: Error>(
    _ convert: (DatabaseError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var attempts = 0
    while true {
      attempts += 1
      do throws(DatabaseError) { try beginWriting() } catch { throw convert(error) }
      do throws(Failure) {
        let result = try body()
        do throws(DatabaseError) { try run("COMMIT") } catch { throw convert(error) }
        return result
      } catch {
        let isTransient = isTransient
        try? run("ROLLBACK")
        guard isTransient, attempts < 10 else { throw error }
      }
    }
  }

  /// Performs a read transaction on a single snapshot.
  ///
  /// - Parameter convert: Converts an error of the database into the error to throw.
  public func read<Result, Failure: Error>(
    _ convert: (DatabaseError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do throws(DatabaseError) { try beginReading() } catch { throw convert(error) }
    defer { try? run("ROLLBACK") }
    return try body()
  }
}

/// The names that differ between SQLite and PostgreSQL.
public struct Dialect: Sendable {
  /// A primary key that increments automatically.
  public var counter: String
  /// Text in the order of its bytes.
  public var text: String
  /// A 64-bit integer.
  public var integer: String
  /// Bytes.
  public var bytes: String
  /// The clause after a table that is ordered by its primary key.
  public var ordered: String
  /// The clause after any other table.
  public var plain: String
  /// Whether the constraints of a table can change only if the whole table is rewritten.
  public var rewritesTables: Bool

  static let sqlite = Dialect(
    counter: "INTEGER PRIMARY KEY", text: "TEXT", integer: "INTEGER", bytes: "BLOB",
    ordered: "STRICT, WITHOUT ROWID", plain: "STRICT", rewritesTables: true)

  static let postgres = Dialect(
    counter: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", text: "TEXT COLLATE \"C\"",
    integer: "BIGINT", bytes: "BYTEA", ordered: "", plain: "", rewritesTables: false)
}
