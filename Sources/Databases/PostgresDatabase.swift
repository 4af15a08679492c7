public import Basics
import CPostgres
import Glibc
import System

/// A database in PostgreSQL, in its own schema `lockstep`.
///
/// One process writes at a time: each transaction that writes takes the same advisory lock. It is best to leave
/// passwords to `PGPASSWORD` or `~/.pgpass`, which libpq reads by itself.
@safe
public final class PostgresDatabase: Database {
  public let dialect = Dialect.postgres
  private let library: PostgresLibrary
  private let connection: OpaquePointer
  private let password: String?
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]

  /// The key of the writers' advisory lock: "lockstep" as a number.
  private static let lock = 0x6C6F_636B_7374_6570 as Int64

  /// The maximum time without data from the server during a statement.
  private let responseTimeout: Interval

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - lockTimeout: How many milliseconds to wait for a lock that another connection holds.
  ///   - responseTimeout: How long the server may send nothing during a statement before it counts as unavailable.
  public init(
    _ url: String, lockTimeout: Int32, responseTimeout: Interval = .seconds(60)
  ) throws(DatabaseError) {
    self.responseTimeout = responseTimeout
    library = try PostgresLibrary.load()
    let options = try library.options(url)
    password = options.password
    var parameters = [
      ("dbname", url), ("fallback_application_name", "lockstep"), ("client_encoding", "UTF8"),
    ]
    if !options.hasTimeout { parameters.append(("connect_timeout", "10")) }
    if let code = Kernel.error(.connect, of: "PostgreSQL") {
      throw .unavailable(errorText(code))
    }
    guard let opened = unsafe library.connect(parameters) else {
      throw .unusable("there is no memory")
    }
    unsafe connection = opened
    unsafe library.suppressNotices(of: opened)
    guard unsafe library.calls.status(opened) == CONNECTION_OK else {
      throw .unavailable(connectionMessage)
    }
    _ = unsafe library.calls.setNonblocking(opened, 1)
    try command("SET lock_timeout = \(lockTimeout)")
    try command("SET client_min_messages = warning")
    try command("SET search_path = lockstep")
  }

  deinit {
    unsafe library.calls.finish(connection)
  }

  public var version: Int {
    get throws(DatabaseError) {
      guard case .integer = try first("SELECT to_regclass('lockstep.version')::oid::bigint")?.first else {
        return 0
      }
      return Int(try first("SELECT max(version) FROM lockstep.version")?.first?.integer ?? 0)
    }
  }

  public func setVersion(_ version: Int) throws(DatabaseError) {
    try command("CREATE TABLE IF NOT EXISTS lockstep.version (version BIGINT NOT NULL)")
    try command("DELETE FROM lockstep.version")
    try command("INSERT INTO lockstep.version VALUES (\(version))")
  }

  public func beginWriting() throws(DatabaseError) {
    state = ""
    try command("BEGIN")
    do {
      try command("SELECT pg_advisory_xact_lock(\(Self.lock))")
      if try version == 0 { try command("CREATE SCHEMA IF NOT EXISTS lockstep") }
    } catch {
      try? command("ROLLBACK")
      throw error
    }
  }

  public func beginReading() throws(DatabaseError) {
    try command("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
  }

  /// The SQLSTATE code of the last error.
  private var state = ""

  public var isTransient: Bool {
    // A serialization failure, or a deadlock with a statement of another connection.
    ["40001", "40P01"].contains(state)
  }

  public func query(
    _ text: String, _ values: [SQLValue], row: ([SQLValue]) -> Void
  ) throws(DatabaseError) {
    // A statement that changes tables is not prepared, and has no values.
    let isPlain = values.isEmpty && !text.hasPrefix("SELECT")
    if isPlain { return try command(text) }
    let name = try prepare(text)
    let answer = try unsafe answer { unsafe library.send(connection, name, values) }
    defer { unsafe library.calls.clear(answer) }
    let count = unsafe library.calls.ntuples(answer)
    for index in 0..<count { row(unsafe library.row(answer, index)) }
  }

  /// Executes a statement of our own, without values or rows.
  private func command(_ text: String) throws(DatabaseError) {
    let answer = try unsafe answer { unsafe library.calls.sendQuery(connection, text) == 1 }
    unsafe library.calls.clear(answer)
  }

  private func prepare(_ text: String) throws(DatabaseError) -> String {
    if let name = prepared[text] { return name }
    let name = "s\(prepared.count)"
    let answer = try unsafe answer { unsafe library.calls.sendPrepare(connection, name, text, 0, nil) == 1 }
    unsafe library.calls.clear(answer)
    prepared[text] = name
    return name
  }

  /// Sends a statement and waits for its result, which the caller must clear.
  private func answer(to send: () -> Bool) throws(DatabaseError) -> OpaquePointer? {
    // A test can break the connection here.
    if Kernel.error(.query, of: "PostgreSQL") != nil {
      shutdown(unsafe library.calls.socket(connection), Int32(SHUT_RDWR))
    }
    guard send() else {
      try unsafe check(nil)
      return nil
    }
    let (answer, isSilent) = unsafe library.answer(connection, timeout: responseTimeout)
    if isSilent {
      unsafe library.calls.clear(answer)
      throw .unavailable("its server has not answered for \(responseTimeout)")
    }
    do {
      try unsafe check(answer)
    } catch {
      unsafe library.calls.clear(answer)
      throw error
    }
    return unsafe answer
  }

  private func check(_ answer: OpaquePointer?) throws(DatabaseError) {
    let status = unsafe library.calls.resultStatus(answer)
    if status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK { return }
    state = unsafe library.field(answer, "C") ?? ""
    let message = unsafe library.field(answer, "M").map(hidden) ?? connectionMessage
    switch state {
    // A lock was not available in time.
    case "55P03": throw .busy
    // The data, or an index, is not what was written.
    case "XX001", "XX002": throw .damaged(message)
    // The server is stopping or starting, or has too many clients; or the connection to it is lost.
    case "57P01", "57P02", "57P03", "53300": throw .unavailable(message)
    case _ where state.hasPrefix("08") || isLost:
      throw .unavailable(message)
    default: throw .unusable(message)
    }
  }

  private var isLost: Bool { unsafe library.calls.status(connection) != CONNECTION_OK }

  private var connectionMessage: String {
    let text = unsafe library.calls.errorMessage(connection).map { unsafe String(cString: $0) } ?? ""
    let lines = text.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
    return lines.isEmpty ? "the connection is lost" : hidden(lines.joined(separator: "; "))
  }

  /// Returns a message without the password, in case libpq includes it.
  private func hidden(_ message: String) -> String {
    guard let password, !password.isEmpty else { return message }
    var (text, rest) = ("", message[...])
    while !rest.isEmpty {
      if rest.hasPrefix(password) {
        text += "…"
        rest = rest.dropFirst(password.count)
      } else {
        text.append(rest.removeFirst())
      }
    }
    return text
  }
}
