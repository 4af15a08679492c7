import Basics
import CPostgres
import Glibc
import System

/// libpq, loaded on first use.
///
/// Few histories are in PostgreSQL. If libpq were linked, it and its dependencies would delay every start of the
/// command by some milliseconds.
struct PostgresLibrary {
  /// The functions of libpq, all of which were found.
  let calls: PostgresCalls

  /// The names of the functions, in the order of the members of `PostgresCalls`.
  private static let names = [
    "PQconninfoParse", "PQconninfoFree", "PQfreemem", "PQconnectdbParams", "PQfinish", "PQstatus",
    "PQerrorMessage", "PQsetNoticeReceiver", "PQsendPrepare", "PQsendQueryPrepared", "PQsendQuery",
    "PQsetnonblocking", "PQflush", "PQconsumeInput", "PQisBusy", "PQgetResult", "PQsocket", "PQresultStatus",
    "PQresultErrorField", "PQntuples", "PQnfields", "PQftype", "PQgetisnull", "PQgetlength", "PQgetvalue",
    "PQclear",
  ]

  /// Loads the library, which is never unloaded.
  static func load() throws(DatabaseError) -> PostgresLibrary {
    guard let library = unsafe dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL) else {
      throw .unusable(
        "PostgreSQL needs libpq, which is not installed: apt-get install libpq5")
    }
    var calls = PostgresCalls()
    let width = MemoryLayout<Int>.size
    precondition(MemoryLayout<PostgresCalls>.size == names.count * width, "a name for each function")
    for (index, name) in names.enumerated() {
      guard let symbol = unsafe dlsym(library, name) else {
        throw .unusable("this libpq is too old: it has no \(name)")
      }
      unsafe withUnsafeMutableBytes(of: &calls) { bytes in
        unsafe bytes.storeBytes(of: symbol, toByteOffset: index * width, as: UnsafeMutableRawPointer.self)
      }
    }
    return PostgresLibrary(calls: calls)
  }
}

extension PostgresLibrary {
  /// Returns the options in a URL that are needed before it is used.
  func options(
    _ url: String
  ) throws(DatabaseError) -> (password: String?, hasTimeout: Bool) {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = unsafe calls.conninfoParse(url, &message) else {
      // The message would repeat parts of the URL, and possibly of a password.
      unsafe calls.freemem(message)
      throw .unusable(
        "its URL is not of the form postgres://USER@HOST:PORT/DATABASE?OPTION=VALUE")
    }
    defer { unsafe calls.conninfoFree(options) }
    var (password, hasTimeout): (String?, Bool) = (nil, false)
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      let value = unsafe option.pointee.val.map { unsafe String(cString: $0) }
      switch unsafe String(cString: keyword) {
      case "password": password = value
      case "connect_timeout": hasTimeout = value != nil
      default: break
      }
      unsafe option += 1
    }
    return (password, hasTimeout)
  }

  /// Opens a connection, which may have failed; `nil` if there is no memory.
  func connect(_ parameters: [(String, String)]) -> OpaquePointer? {
    unsafe withStrings(parameters.map(\.0)) { keys in
      unsafe withStrings(parameters.map(\.1)) { values in unsafe calls.connectdbParams(keys, values, 1) }
    }
  }

  /// Sends the execution of a prepared statement. Numbers are sent as text, and all results are binary.
  ///
  /// - Returns: Whether the statement was sent.
  func send(_ connection: OpaquePointer, _ name: String, _ values: [SQLValue]) -> Bool {
    var buffers = unsafe [UnsafeMutablePointer<CChar>?]()
    var (lengths, formats): ([Int32], [Int32]) = ([], [])
    for value in values {
      let bytes: [UInt8]? =
        switch value {
        case .null: nil
        case .integer(let number): Array(String(number).utf8)
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        }
      unsafe buffers.append(bytes.map(copy))
      lengths.append(Int32(bytes?.count ?? 0))
      if case .bytes = value { formats.append(1) } else { formats.append(0) }
    }
    defer { unsafe buffers.forEach { unsafe $0?.deallocate() } }
    let pointers = unsafe buffers.map { unsafe UnsafePointer($0) }
    return unsafe calls.sendQueryPrepared(
      connection, name, Int32(values.count), pointers, lengths, formats, 1) == 1
  }

  /// Waits for the complete result of a statement.
  ///
  /// - Parameter timeout: How long the server may send nothing.
  /// - Returns: The result, or `nil` if the connection is lost or the server is silent for too long, and whether it
  ///   was silent.
  func answer(
    _ connection: OpaquePointer, timeout: Interval
  ) -> (answer: OpaquePointer?, isSilent: Bool) {
    let socket = unsafe calls.socket(connection)
    var limit = Waiting.now + timeout
    var last: OpaquePointer?
    while true {
      let unsent = unsafe calls.flush(connection)
      guard unsent >= 0, unsafe calls.consumeInput(connection) == 1 else { return unsafe (last, false) }
      if unsent == 0 {
        while unsafe calls.isBusy(connection) == 0 {
          guard let next = unsafe calls.getResult(connection) else { return unsafe (last, false) }
          unsafe calls.clear(last)
          unsafe last = unsafe next
        }
      }
      let events = Int16(POLLIN) | (unsent > 0 ? Int16(POLLOUT) : 0)
      if Waiting.wait(for: [(socket, events)], until: limit) {
        limit = Waiting.now + timeout
      } else if Waiting.now >= limit {
        return unsafe (last, true)
      }
    }
  }

  /// Returns a copy of the bytes, terminated by a NUL.
  private func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar> {
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
    unsafe buffer[bytes.count] = 0
    return unsafe buffer
  }

  /// Returns a row of a result.
  func row(_ answer: OpaquePointer?, _ row: Int32) -> [SQLValue] {
    let count = unsafe calls.nfields(answer)
    return (0..<count).map { unsafe value(answer, row, $0) }
  }

  private func value(_ answer: OpaquePointer?, _ row: Int32, _ column: Int32) -> SQLValue {
    if unsafe calls.getisnull(answer, row, column) == 1 { return .null }
    let count = unsafe Int(calls.getlength(answer, row, column))
    let start = unsafe calls.getvalue(answer, row, column)
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    // The type numbers are fixed: integers of two, four and eight bytes, and bytes. Everything else is text.
    switch unsafe calls.ftype(answer, column) {
    case 20, 21, 23:
      // The first byte has the sign.
      let first = unsafe bytes.first.map { Int64(Int8(bitPattern: $0)) } ?? 0
      return .integer(unsafe bytes.dropFirst().reduce(first) { $0 << 8 | Int64($1) })
    case 17: return .bytes(unsafe Array(bytes))
    default: return .text(unsafe String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Returns a field of an error: `C` is its code, `M` its message.
  func field(_ answer: OpaquePointer?, _ letter: Unicode.Scalar) -> String? {
    unsafe calls.resultErrorField(answer, Int32(letter.value)).map { unsafe String(cString: $0) }
  }

  /// Suppresses notices on standard error.
  func suppressNotices(of connection: OpaquePointer) {
    _ = unsafe calls.setNoticeReceiver(connection, { _, _ in }, nil)
  }

  /// Passes strings as a null-terminated array of C strings.
  private func withStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let buffers = unsafe strings.map { unsafe copy(Array($0.utf8)) }
    defer { unsafe buffers.forEach { unsafe $0.deallocate() } }
    let pointers = unsafe buffers.map { unsafe UnsafePointer<CChar>?($0) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
