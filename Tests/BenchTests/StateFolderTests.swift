@testable import Bench
import Basics
import Conformance
import Databases
import Foundation
import TestSupport
import Testing

@testable import Transports

@Suite("What outlives a run")
struct StateFolderTests {
  // swift-format-ignore
  static let places: [(named: String?, own: String?, isSetUp: Bool, place: StateFolder.Place?)] = [
    (nil, "/home/ada/state", false, .init(path: "/home/ada/state", reach: .user)),
    (nil, "/home/ada/state", true, .init(path: "/var/lib/lockstep", reach: .machine)),
    (nil, nil, true, .init(path: "/var/lib/lockstep", reach: .machine)),
    (nil, nil, false, nil),
    (nil, "/var/lib/lockstep", false, .init(path: "/var/lib/lockstep", reach: .machine)),
    ("/tmp/x", "/home/ada/state", true, .init(path: "/tmp/x", reach: .named)),
    ("x", "/home/ada/state", true, nil),
  ]

  @Test(
    "the machine's folder is used where it is set up, and the user's own where not", arguments: places.indices
  )
  func choice(index: Int) {
    let (named, own, isSetUp, place) = Self.places[index]
    expect(
      StateFolder.choose(named: named, own: own) { $0 == "/var/lib/lockstep" && isSetUp }, place)
  }

  @Test("the line that sets it up asks for what it needs, and for no more")
  func setUp() {
    let line =
      #"sh -c 'groupadd -f -r lockstep && usermod -aG lockstep "$1" && install -d -m 2775 -g lockstep /var/lib/lockstep' sh "$(id -un)""#
    expect(StateFolder.setUpLine(isRoot: true), line)
    expect(StateFolder.setUpLine(isRoot: false), "sudo " + line)
  }
}

@Suite("A store")
struct StateStoreTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/state.sqlite" }
  private let now = BenchTime(
    wall: WallTime(text: "2026-11-24T12:00:00.000Z")!, boot: "a", uptime: .zero + .seconds(90_000))

  private func open(_ name: String = "state.sqlite", at uptime: Int64 = 90_000) throws -> CycleCounter {
    var time = now
    time.uptime = .zero + .seconds(uptime)
    return try CycleCounter(of: "a:b", in: "\(folder.path)/\(name)", takingOver: nil) { time }
  }

  // swift-format-ignore
  static let takings: [(old: [Int64], new: [Int64], total: Int, night: Int)] = [
    ([1000, 2000, 89_000], [], 3, 1),
    ([1000, 2000, 89_000], [1000], 3, 1),
    ([1000, 89_000], [1000, 2000, 3000], 4, 1),
    ([1000], [1000, 2000, 3000], 3, 0),
    ([], [89_500], 1, 1),
  ]

  @Test(
    "of another the greater count holds, what counts in a budget is never less, and it is taken over once",
    arguments: takings.indices)
  func takenOver(index: Int) throws {
    let (old, new, total, night) = Self.takings[index]
    for time in old { try open("old.sqlite", at: time).count("unlock") }
    try open("old.sqlite", at: 89_000).noteAway("locked", autolock: nil)
    try open("old.sqlite", at: 89_000).noteJam("in the night")
    for time in new { try open(at: time).count("unlock") }
    for _ in 0..<2 {
      let counter = try CycleCounter(of: "a:b", in: path, takingOver: folder.path + "/old.sqlite") { [now] in
        now
      }
      expect(counter.total, total)
      expect(counter.ledger.count(in: ActuationBudget.shift, at: now.uptime), night)
      expect(counter.ledger.pendingPark?.goal, "locked")
      #expect(counter.ledger.lastJam != nil)
    }
    #expect(try CycleCounter.known(of: "a:b", in: folder.path + "/old.sqlite") == nil)
  }

  @Test("what was noted long ago holds as long as nothing else was, and movements of then do not")
  func longAgo() throws {
    let first = try open(at: 10)
    try first.noteAutolock(true)
    try first.noteAway("unlocked", autolock: 60)
    try first.noteBattery(57)
    for _ in 0..<1500 { try first.count("lock") }
    try open(at: 46_000).count("unlock", returnsByItself: true)
    let ledger = try open().ledger
    expect(ledger.isAutolockOn, true)
    expect(ledger.pendingPark, PendingPark("unlocked", autolock: 60, since: now.wall))
    expect(ledger.battery, 57)
    expect(ledger.awaited, 0)
    expect(ledger.count(in: ActuationBudget.shift, at: now.uptime), 0)
    expect(try open(at: 46_010).ledger.awaited, 1)
    expect(try CycleCounter.known(of: "a:b", in: path, now: now)?.total, 1502)
    expect(try CycleCounter.known(of: "b", in: path, now: now)?.total, nil)
  }

  @Test(
    "with its file deleted, replaced or written over, or one beside it, or the folder, nothing moves any more",
    arguments: 0..<7)
  func deleted(way: Int) throws {
    let counter = try open()
    try counter.count("unlock")
    let files = FileManager.default
    switch way {
    case 0...2: try files.removeItem(atPath: path + ["", "-wal", "-shm"][way])
    case 3:
      try files.copyItem(atPath: path, toPath: path + "-copy")
      try files.removeItem(atPath: path)
      try files.moveItem(atPath: path + "-copy", toPath: path)
    case 4: try files.moveItem(atPath: folder.path, toPath: folder.path + "-gone")
    default:
      let file = try #require(FileHandle(forUpdatingAtPath: path))
      if way == 5 {
        try file.truncate(atOffset: 0)
      } else {
        try file.write(contentsOf: Data("nonsense".utf8))
      }
    }
    #expect(
      throws: LabFault(
        .safetyLimit,
        "movements cannot be counted, and so nothing is moved: \(path): it was deleted, replaced or "
          + "written over while it was in use; check the locks"
      )
    ) { try counter.count("lock") }
    // Nobody counts anew while the log of what was counted is there.
    guard way == 0 else {
      if way == 4 { try files.removeItem(atPath: folder.path + "-gone") }
      return
    }
    for attempt in [
      { _ = try open() }, { _ = try CycleCounter.known(of: "a:b", in: path) },
    ] as [() throws -> Void] {
      let fault = try #require(throws: LabFault.self) { try attempt() }
      #expect(
        fault.detail.contains("it is missing, but its log, -wal, exists; restore it"), "\(fault.detail)")
    }
  }

  @Test("a link to it is as good as its own name")
  func linked() throws {
    let files = FileManager.default
    try files.createDirectory(atPath: folder.path + "/far", withIntermediateDirectories: false)
    try files.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/far/kept")
    // One that leads nowhere may lead to a disk that is not there.
    #expect(throws: LabFault.self) { try CycleCounter.known(of: "a:b", in: path) }
    try Data().write(to: URL(filePath: folder.path + "/far/kept"))
    try open().count("lock")
    expect(try CycleCounter.known(of: "a:b", in: path)?.total, 1)
  }

  @Test(
    "one that nobody can use is said to be so, with what can be done, and there is no budget",
    arguments: 0..<12)
  func unusable(way: Int) throws {
    let files = FileManager.default
    switch way {
    case 0: try Data(repeating: 0x4C, count: 5000).write(to: URL(filePath: path))
    case 1: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
    case 2: try #require(unsafe mkfifo(path, 0o600) == 0)
    case 3:
      try open().count("lock")
      let database = try SQLiteDatabase(path, .writing, application: 0x4C6B_5374, lockTimeout: 100)
      try database.run("PRAGMA user_version = 7")
    case 4:
      let database = try SQLiteDatabase(path, .writing, application: 7, lockTimeout: 100)
      try database.run("CREATE TABLE t (a)")
      try database.setVersion(1)
    case 5:
      try open().count("lock")
      let database = try SQLiteDatabase(path, .writing, application: 0x4C6B_5374, lockTimeout: 100)
      try database.run("UPDATE events SET kind = 'dance'")
    default:
      try open().count("lock")
      let database = try SQLiteDatabase(path, .writing, application: 0x4C6B_5374, lockTimeout: 100)
      try database.run(
        [
          "DROP TABLE events", "PRAGMA user_version = 0", "DROP TABLE calendar",
          "UPDATE locks SET movements = 0",
          "UPDATE events SET uptime = -1", "UPDATE events SET kind = 'battery', value = 101",
        ][way - 6])
    }
    let words = [
      "it is damaged: file is not a database; check the locks, then move it away",
      "expected a file, and it is a folder; this user must be able to write the file and its folder",
      "expected a file, and it is a pipe; this user must be able to write the file and its folder",
      "it was written by a newer lockstep: its schema is 7, and this one knows 1; use that one",
      "it is a database of another program; name another folder with LOCKSTEP_STATE",
      "it is damaged: an event of the lock is not one that can happen; check the locks",
      "it is damaged: a table is missing; check the locks",
      "it is damaged: its schema has no number; check the locks",
      "it is damaged: a table is missing; check the locks",
      "it is damaged: more movements of the lock are written down than were counted; check the locks",
      "it is damaged: an event of the lock is not one that can happen; check the locks",
      "it is damaged: an event of the lock is not one that can happen; check the locks",
    ][way]
    for attempt in [
      { _ = try open() }, { _ = try CycleCounter.known(of: "a:b", in: path) },
    ] as [() throws -> Void] {
      let fault = try #require(throws: LabFault.self) { try attempt() }
      expect(fault.symptom, .noDevice)
      #expect(fault.detail.contains("\(path): \(words)"), "\(fault.detail)")
    }
  }

  @Test("a page that was written over is noticed before anything is counted")
  func damagedPage() throws {
    do {
      let counter = try open()
      for _ in 0..<400 { try counter.count("lock") }
    }
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    for page in 2..<12 as Range<UInt64> {
      try file.seek(toOffset: page * 4096 + 100)
      try file.write(contentsOf: Data(repeating: 0xA5, count: 2000))
    }
    try file.close()
    let fault = try #require(throws: LabFault.self) { try open() }
    #expect(fault.detail.contains("it is damaged: "), "\(fault.detail)")
  }

  @Test("somebody who keeps it for himself is waited for, and readers are not kept waiting")
  func busy() throws {
    let counter = try open()
    let other = try SQLiteDatabase(path, .writing, application: 0x4C6B_5374, lockTimeout: 100)
    try other.beginWriting()
    expect(try CycleCounter.known(of: "a:b", in: path)?.total, 0)
    nonisolated(unsafe) let writer = other
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      unsafe try? writer.run("COMMIT")
    }
    // It takes no second, so one time is enough.
    try counter.count("lock")
    expect(try CycleCounter.known(of: "a:b", in: path)?.total, 1)
  }
}

@Suite("A calendar that is set back")
struct SeenCalendarTests {
  private let folder: TestFolder
  private var path: String { folder.path + "/state.sqlite" }

  init() { folder = TestFolder() }

  private func time(_ text: String) -> WallTime { WallTime(text: text + "Z")! }

  @Test("the latest moment that was seen is held to, and what is behind it is said")
  func heldTo() {
    let first = SeenCalendar(now: time("2026-11-24T12:00:00"), in: path)
    expect(first.latest, first.now)
    expect(first.warning, nil)
    first.note()
    let back = SeenCalendar(now: time("2019-01-01T00:00:00"), in: path)
    expect(back.latest, first.now)
    expect(
      back.warning,
      "the calendar of this machine was set back: it says 2019-01-01T00:00:00.000Z, but said 2026-11-24T12:00:00.000Z "
        + "before, which still counts; if that was wrong, 'lockstep devices restore calendar' forgets it")
    back.note()
    expect(SeenCalendar(now: time("2019-01-01T00:00:00"), in: path).latest, first.now)
    // What a time server corrects is no news.
    let corrected = SeenCalendar(now: time("2026-11-24T11:56:00"), in: path)
    expect([corrected.latest == first.now, corrected.warning == nil], [true, true])
    let later = SeenCalendar(now: time("2026-11-25T00:00:00"), in: path)
    later.note()
    expect(SeenCalendar(now: first.now, in: path).latest, later.now)
  }

  @Test("a quarantine that was over stays over")
  func quarantine() {
    SeenCalendar(now: time("2026-11-24T12:00:00"), in: path).note()
    let entry = Quarantine(
      scenario: "a.yaml", reason: "cold", owner: "ada", expires: Day(text: "2026-11-20")!)
    let seen = SeenCalendar(now: time("2026-11-01T12:00:00"), in: path)
    expect(entry.status(on: Day(unixTime: seen.latest.unixTime)), .lapsed)
    expect(entry.status(on: Day(unixTime: seen.now.unixTime)), .active)
  }

  @Test("where nobody can say what was seen, nothing is held to, and that is said")
  func torn() throws {
    try Data("yesterday".utf8).write(to: URL(filePath: path))
    let seen = SeenCalendar(now: time("2026-11-24T12:00:00"), in: path)
    expect(seen.latest, seen.now)
    #expect(seen.warning?.contains("is not known: \(path): it is damaged") ?? false)
  }
}
