import CallFaults
import Secrets
import Basics
import Databases
import Foundation
import System
import TestSupport
import Testing

@testable import Reporting

@Suite("A history that cannot be used")
struct HistoryTroubleTests {
  /// What opening a history says; a history that opens says nothing.
  private func message(
    _ place: HistoryPlace, _ purpose: History.Purpose, lockTimeout: Int32 = 200,
    steps: (Dialect) -> [[HistorySchema.Step]] = HistorySchema.steps
  ) -> String {
    do {
      let history = try History(place, for: purpose, lockTimeout: lockTimeout, steps: steps)
      if case .adding = purpose { try history.take([night(1, "..F")]) }
      _ = try history.cases()
      _ = try history.failures()
      return ""
    } catch {
      return "\(error)"
    }
  }

  /// What is done to a file before it is opened, and what is said then; PLACE stands for its path.
  static let contents: [(String, [UInt8]?, History.Purpose, String)] = [
    ("nothing there", nil, .asking, "there is no history at PLACE yet"),
    ("an empty file", [], .asking, "there is no history at PLACE yet"),
    ("an empty file to fill", [], .adding, ""),
    (
      "garbage", Array(repeating: 0x41, count: 9000), .adding,
      "the history at PLACE is damaged: file is not a database. Put it aside: 'lockstep history add RUN…' "
        + "fills a new one from the journals"
    ),
  ]

  @Test("what is no history says so", arguments: contents.indices)
  func files(_ index: Int) throws {
    let (_, bytes, purpose, expected) = Self.contents[index]
    let scratch = try TestFolder()
    let path = scratch.path("h.sqlite")
    if let bytes { _ = try scratch.file("h.sqlite", bytes) }
    expect(message(.file(path), purpose), expected.replacingOccurrences(of: "PLACE", with: path))
    if purpose == .asking { expect(FileManager.default.fileExists(atPath: path), bytes != nil) }
  }

  @Test("a folder, a place that cannot be, and another program's database are told apart")
  func places() throws {
    let scratch = try TestFolder()
    let folder = scratch.directory.path
    expect(
      message(.file(folder), .adding), "the history at \(folder) cannot be used: unable to open database file"
    )
    expect(
      message(.file("/dev/null/x/h.sqlite"), .adding),
      "the history at /dev/null/x/h.sqlite cannot be used: unable to open database file")
    let other = scratch.path("other.sqlite")
    let database = try HistoryDatabase(.file(other), .writing, lockTimeout: 100)
    try database.run("CREATE TABLE t (a)")
    expect(
      message(.file(other), .adding),
      "the history at \(other) cannot be used: it is a database of another program")
  }

  @Test("a page that was written over is noticed, and the rest is not made worse")
  func damaged() throws {
    let room = try HistoryRoom(.sqlite)
    guard case .file(let path) = room.place else { return }
    try room.history().take((1...28).map { night($0, "..F~......") })
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var seen: Set<String> = []
    for page in 1..<(whole.count / 4096) {
      var bytes = whole
      bytes.replaceSubrange(page * 4096..<page * 4096 + 4096, with: Data(repeating: 0xA5, count: 4096))
      try bytes.write(to: URL(fileURLWithPath: path))
      let said = message(room.place, .adding)
      if !said.isEmpty { seen.insert(String(said.prefix(while: { $0 != ":" }).suffix(10))) }
    }
    expect(seen, ["is damaged"])
  }

  @Test(
    "a file that another process keeps for itself is said to be locked, after waiting",
    arguments: HistoryRoom.Kind.present)
  func locked(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let first = try room.history()
    try first.take([night(1, ".")])
    try first.database.beginWriting()
    expect(
      message(room.place, .adding), "the history at \(room.place) is locked: another process is writing to it"
    )
    // Who only asks need not wait.
    expect(message(room.place, .asking), "")
    try first.database.run("ROLLBACK")
    expect(message(room.place, .adding), "")
  }

  @Test("a newer schema is left alone, and an older one brought forward", arguments: HistoryRoom.Kind.present)
  func versions(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    try room.history().take([night(1, "..F")])
    let steps = { (dialect: Dialect) -> [[HistorySchema.Step]] in
      HistorySchema.steps(dialect) + [
        ["ALTER TABLE runs ADD COLUMN note TEXT", "UPDATE runs SET note = 'old'"]
      ]
    }
    let broken = { (dialect: Dialect) -> [[HistorySchema.Step]] in
      HistorySchema.steps(dialect) + [["ALTER TABLE runs ADD COLUMN note TEXT", "UPDATE nothing SET a = 1"]]
    }
    // A step that fails changes nothing.
    #expect(message(room.place, .adding, steps: broken).contains("cannot be used: "))
    expect(message(room.place, .adding), "")
    expect(message(room.place, .adding, steps: steps), "")
    let history = try History(room.place, for: .asking, lockTimeout: 100, steps: steps)
    expect(try history.database.version, 7)
    expect(try history.runs().count, 1)
    expect(
      message(room.place, .adding),
      "the history at \(room.place) was written by a newer lockstep: its schema is 7, and this one knows them up to 6"
    )
  }

  @Test("where nothing may be written, questions are answered and runs are refused")
  func readOnly() throws {
    let room = try HistoryRoom(.sqlite)
    guard case .file(let path) = room.place else { return }
    try room.history().take([night(1, "..F")])
    // Root may write anywhere, so SQLite is told instead.
    let database = try HistoryDatabase(.file(path), .writing, lockTimeout: 100)
    try database.run("PRAGMA query_only = ON")
    #expect {
      try database.run("DELETE FROM runs")
    } throws: { "\($0)" == "the history at \(path) cannot be used: attempt to write a readonly database" }
  }

  @Test("a digest that is none is noticed")
  func digests() throws {
    let room = try HistoryRoom(.sqlite)
    let history = try room.history()
    try history.take([night(1, "..F")])
    let good = try #require(try history.database.first("SELECT digest FROM digests")?.first?.bytes)
    var bad: [[UInt8]] = [
      [0], [1], [1, 0], [0, 0, 0], [1, 7, 0], [99, 0, 0], Array(repeating: 0xFF, count: 40),
      // A setting of nothing, the same again, two in a row, and one that nobody knows.
      [0, 1], [0, 1, 1, 0, 0, 0, 1, 1, 0, 0], [0, 2, 0, 1, 1, 0, 0], [0, 9, 1, 0, 0],
    ]
    // The setting takes two bytes and each result four.
    bad += (1..<good.count).filter { $0 % 4 != 2 || $0 == 2 }.map { Array(good.prefix($0)) }
    for bytes in bad {
      try history.database.run("UPDATE digests SET digest = $1", [.bytes(bytes)])
      #expect(throws: HistoryError.self, "\(bytes)") { try history.cases() }
    }
    try history.database.run("UPDATE digests SET digest = $1", [.bytes(good)])
    expect(try history.cases().cases.count, 3)
  }

  @Test(
    "a password is never shown",
    arguments: [
      ("postgres://db/lockstep", "postgres://db/lockstep"),
      ("postgres://me:hunter2@db:5432/lockstep?sslmode=require", "postgres://db:5432/lockstep"),
      ("postgresql://me:hunter2@db/lockstep", "postgres://db/lockstep"),
      ("postgres:///lockstep?host=/tmp&password=hunter2", "postgres:///lockstep"),
      ("--history=postgres://me:hunter2@db/lockstep", "--history=postgres://db/lockstep"),
      ("postgres://me:hunter2/x@db/lockstep", "postgres://db/lockstep"),
      ("postgres://me:a@hunter2@db/lockstep#hunter2", "postgres://db/lockstep"),
      ("postgres://db/lockstep hunter2", "postgres://db/lockstep"),
      ("Reports/history.sqlite", "Reports/history.sqlite"), ("", ""),
    ])
  func passwords(_ word: String, _ shown: String) {
    expect(withoutSecrets(word), shown)
    if word.hasPrefix("postgres") { expect("\(HistoryPlace(word))", shown) }
  }

  @Test(
    "a server that freezes in the middle of a statement is away, and so is one that takes a visitor in silence",
    .enabled(if: PostgresServer.isThere, "PostgreSQL is not installed"))
  func silent() throws {
    let place = try HistoryRoom(.postgres).place
    guard case .postgres(let url) = place else { return }
    let database = try PostgresDatabase(url, lockTimeout: 200, responseTimeout: .milliseconds(300))
    let process = try #require(try database.first("SELECT pg_backend_pid()::bigint")?.first?.integer)
    try #require(kill(Int32(process), SIGSTOP) == 0)
    defer { kill(Int32(process), SIGCONT) }
    #expect(throws: DatabaseError.unavailable("its server has not answered for 300 ms")) {
      try database.run("SELECT 1")
    }
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, size) == 0 && listen(listener, 8) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    try #require(isListening)
    let port = UInt16(bigEndian: address.sin_port)
    let said = message(.postgres("postgres://me@127.0.0.1:\(port)/db?connect_timeout=2"), .adding)
    #expect(said.contains("timeout expired"), "\(said)")
    #expect(said.hasPrefix("the history at postgres://127.0.0.1:\(port)/db"), "\(said)")
  }

  @Test(
    "a connection that cannot be made, or breaks, is a server that is away",
    .enabled(if: PostgresServer.isThere, "PostgreSQL is not installed"))
  func gate() async throws {
    guard case .postgres(let url) = try HistoryRoom(.postgres).place else { return }
    await #expect(processExitsWith: .success) { [url = url as String] in
      let place = HistoryPlace.postgres(url)
      let calls = try FaultGate.calls { _ = try History(place, for: .adding) }.map(\.call)
      #expect(calls.contains("connect@PostgreSQL:0") && calls.contains("query@PostgreSQL:0"), "\(calls)")
      let fault = try #require(CallFault("connect@PostgreSQL:0#1=ECONNREFUSED"))
      let away = HistoryError.unavailable(place, reason: "Connection refused")
      #expect {
        try FaultGate.with(fault) { _ = try History(place, for: .adding) }
      } throws: { "\($0)" == "\(away)" }
    }
  }

  @Test("a server that is not there is said without the password")
  func unreachable() {
    for url in [
      "postgres://me:hunter2@/db?host=/nonexistent", "postgres://me:hunter2@127.0.0.1:1/db",
      "postgres://me:hunter2@host:hunter2/db", "postgres://me:hunter2@db/x?nonsense=hunter2",
    ] {
      let said = message(HistoryPlace(url), .adding)
      #expect(said.hasPrefix("the history at postgres://") && !said.contains("hunter2"), "\(said)")
    }
  }
}
