import System
import Basics
import CSQLite
import Glibc

/// A database in a file.
///
/// The file is in WAL mode: readers continue while a process writes. One process writes at a time; others wait for a
/// while.
public final class SQLiteDatabase: Database {
  public let dialect = Dialect.sqlite
  private let connection: Connection
  /// The prepared statements, by their text.
  private var prepared: [String: Statement] = [:]

  /// The number that distinguishes the file from the databases of other programs.
  private let application: Int64

  /// How a file is opened.
  public enum Mode: Sendable {
    /// For writing; the file is created if it does not exist.
    case writing
    /// For reading; the file must exist and is not changed.
    case reading
  }

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - application: The number that distinguishes the file from the databases of other programs.
  ///   - lockTimeout: How long to wait for other writers, in milliseconds.
  public init(
    _ path: String, _ mode: Mode, application: Int64, lockTimeout: Int32
  ) throws(DatabaseError) {
    self.application = application
    switch mode {
    case .writing:
      makeFolders(above: path)
      connection = try Connection(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    case .reading:
      guard Kernel.access(path, F_OK) == 0 else { throw .absent }
      connection = try Self.readable(path)
    }
    unsafe sqlite3_busy_timeout(connection.pointer, lockTimeout)
    try run("PRAGMA foreign_keys = ON")
    try run("PRAGMA trusted_schema = OFF")
    try checkOwner()
    if case .writing = mode { try enterWAL(lockTimeout) }
  }

  /// Returns a connection that can read even if neither the file nor its folder is writable.
  private static func readable(_ path: String) throws(DatabaseError) -> Connection {
    if Kernel.access(path, W_OK) == 0, Kernel.access(Path.folder(of: path), W_OK) == 0 {
      return try Connection(path, SQLITE_OPEN_READWRITE)
    }
    let hasLog = Kernel.access(path + "-wal", F_OK) == 0
    guard !hasLog else { return try Connection(path, SQLITE_OPEN_READONLY) }
    let absolute = path.hasPrefix("/") ? "" : "./"
    return try Connection(
      "file:\(absolute)\(percentEncoded(path, leaving: "/"))?immutable=1",
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  }

  /// Checks that the file is ours, or empty.
  private func checkOwner() throws(DatabaseError) {
    // In one snapshot, because another process may be creating the file.
    try beginReading()
    defer { try? run("COMMIT") }
    let found = try first("PRAGMA application_id")?.first?.integer ?? 0
    if found == application { return }
    let tables = try first("SELECT count(*) FROM sqlite_schema")?.first?.integer ?? 0
    guard found == 0, tables == 0, try version == 0 else {
      throw .foreign
    }
  }

  /// Switches to WAL mode. Several processes that create a file at once conflict here, in spite of their lock
  /// timeout.
  private func enterWAL(_ lockTimeout: Int32) throws(DatabaseError) {
    if try first("PRAGMA journal_mode")?.first?.text == "wal" { return }
    var waited: Int32 = 0
    while true {
      do {
        let mode = try first("PRAGMA journal_mode = WAL")?.first?.text
        // Some file systems do not support WAL: then SQLite uses its older journal.
        if mode != nil { return }
      } catch .busy where waited < lockTimeout {
        usleep(10_000)
        waited += 10
      }
    }
  }

  public var version: Int {
    get throws(DatabaseError) { Int(try first("PRAGMA user_version")?.first?.integer ?? 0) }
  }

  public func setVersion(_ version: Int) throws(DatabaseError) {
    try run("PRAGMA application_id = \(application)")
    try run("PRAGMA user_version = \(version)")
  }

  /// Whether the file begins as a database does: it may have been emptied or overwritten.
  ///
  /// The header is read through SQLite's own descriptor, because closing another one would release the locks of this
  /// process.
  public var isIntact: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = unsafe sqlite3_file_control(connection.pointer, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods else {
      return false
    }
    var beginning = [UInt8](repeating: 0, count: 16)
    let status = unsafe beginning.withUnsafeMutableBytes { bytes in
      unsafe methods.pointee.xRead(file, bytes.baseAddress, 16, 0)
    }
    return status == SQLITE_OK && beginning == Array("SQLite format 3\0".utf8)
  }

  public func beginWriting() throws(DatabaseError) { try run("BEGIN IMMEDIATE") }

  public func beginReading() throws(DatabaseError) { try run("BEGIN") }

  public var isTransient: Bool { false }

  public func query(
    _ text: String, _ values: [SQLValue], row: ([SQLValue]) -> Void
  ) throws(DatabaseError) {
    let statement = try statement(text)
    defer { statement.reset() }
    for (index, value) in values.enumerated() { try check(statement.bind(value, at: Int32(index + 1))) }
    while true {
      let code = statement.step()
      if code == SQLITE_DONE { return }
      try check(code, isRow: true)
      row(statement.row)
    }
  }

  private func statement(_ text: String) throws(DatabaseError) -> Statement {
    if let statement = prepared[text] { return statement }
    var pointer: OpaquePointer?
    try check(unsafe sqlite3_prepare_v2(connection.pointer, text, -1, &pointer, nil))
    guard let pointer = unsafe pointer else { throw .unusable("an empty statement") }
    let statement = unsafe Statement(pointer)
    prepared[text] = statement
    return statement
  }

  private func check(_ code: Int32, isRow: Bool = false) throws(DatabaseError) {
    if code == SQLITE_OK || isRow && code == SQLITE_ROW { return }
    throw Self.error(code, unsafe String(cString: sqlite3_errmsg(connection.pointer)))
  }

  fileprivate static func error(_ code: Int32, _ message: String) -> DatabaseError {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged(message)
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM: .failing(message)
    default: .unusable(message)
    }
  }
}

/// A connection to an open file, which is closed with it.
@safe
private struct Connection: ~Copyable {
  let pointer: OpaquePointer

  init(_ name: String, _ flags: Int32) throws(DatabaseError) {
    var pointer: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &pointer, flags | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened = unsafe pointer else { throw .unusable("there is no memory") }
    guard code == SQLITE_OK else {
      let reason = unsafe String(cString: sqlite3_errmsg(opened))
      unsafe sqlite3_close_v2(opened)
      throw SQLiteDatabase.error(code, reason)
    }
    unsafe self.pointer = opened
  }

  deinit {
    // SQLite defers closing until all statements are finalized.
    unsafe sqlite3_close_v2(pointer)
  }
}

/// A prepared statement, which is finalized with it.
@safe
private final class Statement {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe sqlite3_finalize(pointer)
  }

  func reset() {
    unsafe sqlite3_reset(pointer)
    unsafe sqlite3_clear_bindings(pointer)
  }

  func step() -> Int32 { unsafe sqlite3_step(pointer) }

  /// Binds a value, which SQLite copies.
  func bind(_ value: SQLValue, at index: Int32) -> Int32 {
    let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: return unsafe sqlite3_bind_null(pointer, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(pointer, index, number)
    case .text(var text):
      return text.withUTF8 { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
          // An empty text may have no address, which would make it NULL.
          guard let start = bytes.baseAddress else {
            return unsafe sqlite3_bind_text(pointer, index, "", 0, copying)
          }
          return unsafe sqlite3_bind_text64(
            pointer, index, start, UInt64(bytes.count), copying, UInt8(SQLITE_UTF8))
        }
      }
    case .bytes(let bytes):
      return unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(pointer, index, 0) }
        return unsafe sqlite3_bind_blob64(pointer, index, start, UInt64(bytes.count), copying)
      }
    }
  }

  /// The values of the current row.
  var row: [SQLValue] {
    let count = unsafe sqlite3_column_count(pointer)
    return (0..<count).map(value)
  }

  private func value(_ column: Int32) -> SQLValue {
    switch unsafe sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(pointer, column))
    case SQLITE_NULL: return .null
    case SQLITE_BLOB:
      let start = unsafe sqlite3_column_blob(pointer, column)
      let count = unsafe Int(sqlite3_column_bytes(pointer, column))
      return .bytes(unsafe Array(UnsafeRawBufferPointer(start: start, count: count)))
    default:
      let start = unsafe sqlite3_column_text(pointer, column)
      let count = unsafe Int(sqlite3_column_bytes(pointer, column))
      return .text(unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    }
  }
}
