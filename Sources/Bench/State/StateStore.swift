import Basics
import Databases
import Glibc
import System

/// The data of a bench that outlives its runs: one SQLite file, `state.sqlite` in the ``StateFolder``.
///
/// | table | a row is |
/// | --- | --- |
/// | `locks` | a lock, by its identity, and the number of its motor's movements |
/// | `events` | a ``LockEvent``, in the order in which they happened |
/// | `health` | the health of a lock or a dongle: its last good check, and why it is out of use |
/// | `failures` | a check since then that failed, as a ``DeviceHealth/Failure`` |
/// | `recoveries` | an attempt at a ``RecoveryStep`` on a controller |
/// | `calendar` | the latest calendar time that any run has seen |
///
/// Times are in nanoseconds: `wall` since 1970 in UTC, `uptime` since the start of the machine that `boot`
/// identifies.
///
/// Each change is one transaction, which is on the disk when it ends: if the process is killed or the machine loses
/// power, the change is complete or absent. One process writes at a time; readers do not wait for it. If the file
/// cannot be read or written there is no budget, and so nothing moves.
final class StateStore {
  /// The path of the file.
  let path: String
  private let database: SQLiteDatabase
  /// The open files: the database, its log and its shared memory.
  private var files: [FileNumber] = []

  /// The schema version.
  private static let version = 1
  /// How long to wait for other writers, in milliseconds.
  private static let lockTimeout: Int32 = 10_000

  // swift-format-ignore
  private static let schema = [
    "CREATE TABLE locks (identity TEXT PRIMARY KEY, movements INTEGER NOT NULL CHECK (movements >= 0)) STRICT",
    """
    CREATE TABLE events (
      id INTEGER PRIMARY KEY, lock TEXT NOT NULL REFERENCES locks, kind TEXT NOT NULL, detail TEXT, value INTEGER,
      wall INTEGER NOT NULL, boot TEXT NOT NULL, uptime INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX events_lock ON events (lock)",
    "CREATE INDEX events_kind ON events (lock, kind)",
    """
    CREATE TABLE health (
      identity TEXT PRIMARY KEY, name TEXT, passed INTEGER, out_since INTEGER, out_reason TEXT,
      CHECK ((out_since IS NULL) = (out_reason IS NULL))) STRICT
    """,
    """
    CREATE TABLE failures (
      id INTEGER PRIMARY KEY, identity TEXT NOT NULL REFERENCES health ON DELETE CASCADE, time INTEGER NOT NULL,
      reason TEXT NOT NULL, other TEXT) STRICT
    """,
    """
    CREATE TABLE recoveries (
      id INTEGER PRIMARY KEY, controller TEXT NOT NULL, step TEXT NOT NULL, helped INTEGER NOT NULL,
      milliseconds INTEGER NOT NULL, wall INTEGER NOT NULL, boot TEXT NOT NULL, uptime INTEGER NOT NULL) STRICT
    """,
    "CREATE TABLE calendar (id INTEGER PRIMARY KEY CHECK (id = 0), latest INTEGER NOT NULL) STRICT",
  ]

  /// Opens the store for writing, and creates it if it does not exist.
  convenience init(_ path: String) throws(StateFault) {
    let folder = Path.folder(of: path)
    if fileKind(path) == .missing { try Self.checkLog(of: path) }
    do throws(FileFault) {
      try makeFolder(folder)
      try Self.make(path)
    } catch {
      throw StateFault(path, .unusable(error.path == path ? error.reason : "\(error)"))
    }
    try self.init(path, .writing)
    let mode = try ask { () throws(DatabaseError) in try database.first("PRAGMA journal_mode")?.first?.text }
    guard mode == "wal" else { throw StateFault(path, .noSharedMemory) }
    try ask { () throws(DatabaseError) in try database.run("PRAGMA synchronous = FULL") }
    if try isBlank {
      try change { database throws(DatabaseError) in
        // Another process may have created it meanwhile.
        guard try database.version == 0 else { return }
        for statement in Self.schema { try database.run(statement) }
        try database.setVersion(Self.version)
      }
    }
    try checkVersion()
    do throws(FileFault) {
      // A file is lost if its directory entry, or that of its folder, is not on the disk.
      for name in [path, folder] { try keepName(of: name) }
    } catch {
      throw StateFault(path, .unusable("\(error)"))
    }
    files = try Self.numbers(of: self.path)
  }

  /// Opens the store for reading; `nil` if it was never created.
  static func reading(_ path: String?) throws(StateFault) -> StateStore? {
    guard let path else { return nil }
    // A dangling link may refer to a disk that is not mounted.
    guard fileKind(path) != .missing || isLink(path) else {
      try checkLog(of: path)
      return nil
    }
    let store = try StateStore(path, .reading)
    if try store.isBlank { return nil }
    try store.checkVersion()
    return store
  }

  private init(_ path: String, _ mode: SQLiteDatabase.Mode) throws(StateFault) {
    // SQLite keeps its log beside the target of a link.
    self.path = realPath(path) ?? path
    // Reading something other than a file may never end.
    if let problem = Self.problem(at: path) { throw StateFault(path, .unusable(problem)) }
    do throws(DatabaseError) {
      // "LkSt": distinguishes the file from other programs' databases, and from a history.
      database = try SQLiteDatabase(path, mode, application: 0x4C6B_5374, lockTimeout: Self.lockTimeout)
    } catch {
      throw StateFault(path, .database(error))
    }
  }

  /// Creates an empty file that only its owner, or the folder's group, may open.
  ///
  /// An existing file is not opened: closing it would release SQLite's locks on it in this process.
  private static func make(_ path: String) throws(FileFault) {
    let descriptor = Kernel.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return }
      throw FileFault(path: path, code: errno)
    }
    Kernel.close(descriptor)
    StateFolder.share(path)
  }

  /// Verifies that no log exists without its database: the log holds stored events, which must not be counted from
  /// zero.
  private static func checkLog(of path: String) throws(StateFault) {
    if fileKind(path + "-wal") != .missing { throw StateFault(path, .gone) }
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return Kernel.lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  private static func problem(at path: String) -> String? {
    switch fileKind(path) {
    case .missing: isLink(path) ? "it is a link that leads nowhere" : nil
    case .file: nil
    case .folder: "expected a file, and it is a folder"
    case .other(let strange): "expected a file, and it is \(strange)"
    case .unknown(let code): errorText(code)
    }
  }
}

// MARK: - Reading and writing

extension StateStore {
  private var version: Int {
    get throws(StateFault) { try ask { () throws(DatabaseError) in try database.version } }
  }

  /// Whether nothing was ever stored.
  private var isBlank: Bool {
    get throws(StateFault) {
      try read { database throws(DatabaseError) in
        guard try database.version == 0 else { return false }
        return try database.first("SELECT count(*) FROM sqlite_schema")?.first?.integer == 0
      }
    }
  }

  private func checkVersion() throws(StateFault) {
    let version = try version
    if version == 0 { throw StateFault(path, .database(.damaged("its schema has no number"))) }
    if version != Self.version { throw StateFault(path, .newer(version, known: Self.version)) }
    let tables = try ask { () throws(DatabaseError) in
      // Objects that SQLite creates by itself have no SQL text.
      try database.first("SELECT count(*) FROM sqlite_schema WHERE sql IS NOT NULL")?.first?.integer
    }
    if tables ?? 0 < Self.schema.count { throw StateFault(path, .database(.damaged("a table is missing"))) }
  }

  private func ask<Result>(_ body: () throws(DatabaseError) -> Result) throws(StateFault) -> Result {
    do throws(DatabaseError) { return try body() } catch { throw StateFault(path, .database(error)) }
  }

  /// Reads a consistent snapshot.
  func read<Result>(_ body: (SQLiteDatabase) throws(DatabaseError) -> Result) throws(StateFault) -> Result {
    try ask { () throws(DatabaseError) in
      try database.read({ $0 }) { () throws(DatabaseError) in try body(database) }
    }
  }

  /// Makes an exclusive change: afterwards all of it is on the disk, or none.
  func change<Result>(_ body: (SQLiteDatabase) throws(DatabaseError) -> Result) throws(StateFault) -> Result {
    try ask { () throws(DatabaseError) in
      try database.write({ $0 }) { () throws(DatabaseError) in try body(database) }
    }
  }

  /// Verifies that the open file is still the one at its path: data in a deleted, replaced, emptied or overwritten
  /// file is lost.
  func confirm() throws(StateFault) {
    guard let now = try? Self.numbers(of: path), now == files, database.isIntact else {
      throw StateFault(path, .replaced)
    }
  }

  /// Checks the integrity of the whole file.
  func check() throws(StateFault) {
    let said = try read { database throws(DatabaseError) in
      try database.first("PRAGMA quick_check(1)")?.first?.text
    }
    if said != "ok" { throw StateFault(path, .database(.damaged(said ?? "it says nothing"))) }
  }

  private struct FileNumber: Equatable {
    var device: dev_t
    var number: ino_t
  }

  private static func numbers(of path: String) throws(StateFault) -> [FileNumber] {
    var numbers: [FileNumber] = []
    for end in ["", "-wal", "-shm"] {
      var status = stat()
      guard Kernel.stat(path + end, &status) == 0 else { throw StateFault(path, .replaced) }
      numbers.append(FileNumber(device: status.st_dev, number: status.st_ino))
    }
    return numbers
  }
}

// MARK: - Failures

/// Why the store cannot be read or changed.
struct StateFault: Error, Equatable, CustomStringConvertible {
  /// The cause.
  enum Trouble: Equatable {
    case database(DatabaseError)
    case unusable(String)
    /// The file system does not support SQLite's shared memory.
    case noSharedMemory
    case newer(Int, known: Int)
    /// The file was deleted, replaced or overwritten while it was open.
    case replaced
    /// The file is missing, but its log exists.
    case gone
  }

  let path: String
  let trouble: Trouble

  init(_ path: String, _ trouble: Trouble) { (self.path, self.trouble) = (path, trouble) }

  /// The path, the cause, and the remedy.
  var description: String {
    let text =
      switch trouble {
      case .database(.absent): "it is gone"
      case .database(.foreign):
        "it is a database of another program; name another folder with \(StateFolder.variable), or move the file away"
      case .database(.unavailable(let reason)), .database(.failing(let reason)):
        "\(reason); make room on its disk, or check the disk"
      case .database(.unusable(let reason)), .unusable(let reason):
        "\(reason); this user must be able to write the file and its folder"
      case .database(.busy): "another process has locked it for 10 s; end that process"
      case .database(.damaged(let reason)):
        "it is damaged: \(reason); check the locks, then move it away with its -wal and -shm; all "
          + "counts start again"
      case .noSharedMemory: Self.disk
      case .newer(let version, let known):
        "it was written by a newer lockstep: its schema is \(version), and this one knows \(known); use that one"
      case .replaced: "it was deleted, replaced or written over while it was in use; check the locks"
      case .gone:
        "it is missing, but its log, -wal, exists; restore it, or check the locks and move away the log "
          + "and its -shm; all counts start again"
      }
    return "\(path): \(text)"
  }

  private static let disk =
    "its file system has no memory that processes share, as those of networks have none; name a folder on a disk of this "
    + "machine with \(StateFolder.variable)"
}

extension StateFolder {
  /// The problem found by a full check of the store; `nil` if there is none.
  public static var trouble: String? {
    do throws(StateFault) {
      try StateStore.reading(store)?.check()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
