@testable import Bench
import Basics
import Conformance
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

@Suite("An odometer that was kept elsewhere")
struct TakenOverTests {
  private let folder: TestFolder
  private let now = BenchTime(
    wall: WallTime(text: "2026-11-24T12:00:00.000Z")!, boot: "a", uptime: .zero + .seconds(90_000))

  init() { folder = TestFolder() }

  private func write(_ name: String, _ lines: [String]) throws {
    try Data((lines.map { $0 + "\n" }.joined()).utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
  }

  private func line(_ text: String, _ uptime: Int) -> String {
    "2026-11-24T11:00:00.000Z \(text) @a+\(uptime).000"
  }

  private func open() throws -> Odometer {
    try Odometer(
      opening: folder.path + "/new.log", takingOver: folder.path + "/old.log", clock: { [now] in now })
  }

  // swift-format-ignore
  static let cases: [(old: [Int], new: [Int], total: Int, night: Int)] = [
    ([1000, 2000, 89_000], [], 3, 1),
    ([1000, 2000, 89_000], [1000], 3, 1),
    ([1000, 89_000], [1000, 2000, 3000], 4, 1),
    ([1000], [1000, 2000, 3000], 3, 0),
    ([], [89_500], 1, 1),
  ]

  @Test(
    "the greater count holds, what counts in a budget is never less, and it is taken over once",
    arguments: cases.indices)
  func counts(index: Int) throws {
    let (old, new, total, night) = Self.cases[index]
    try write("old.log", old.map { line("unlock", $0) })
    try write("old.notes", [line("away locked", 89_000), line("jam x", 89_000)])
    try write("new.log", new.map { line("unlock", $0) })
    for _ in 0..<2 {
      let odometer = try open()
      expect(odometer.total, total)
      expect(odometer.ledger.count(in: WearLedger.night, at: now.uptime), night)
      expect(odometer.ledger.owed?.goal, "locked")
      #expect(odometer.ledger.lastJam != nil)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/old.log"))
  }

  @Test("what another process counts in now is not taken over")
  func held() throws {
    try write("old.log", [line("unlock", 1000)])
    let other = try Odometer(opening: folder.path + "/old.log", clock: { [now] in now })
    #expect(throws: LabFault.self) { try open() }
    withExtendedLifetime(other) {}
  }

  @Test("with its file deleted or replaced, or the folder, nothing moves any more", arguments: 0..<3)
  func deleted(way: Int) throws {
    let odometer = try Odometer(opening: folder.path + "/new.log", clock: { [now] in now })
    try odometer.count("unlock")
    switch way {
    case 0: try FileManager.default.removeItem(atPath: folder.path + "/new.log")
    case 1: try write("new.log", [])
    default: try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + "-gone")
    }
    if way == 1 {
      // One that is written anew in place is the same; one that is put in its place is not.
      try odometer.count("lock")
      try FileManager.default.removeItem(atPath: folder.path + "/new.log")
      try write("new.log", [])
    }
    var fault: LabFault?
    do { try odometer.count("lock") } catch { fault = error }
    expect(fault?.symptom, .safetyLimit)
    expect(
      fault?.detail,
      "movements cannot be counted, and so nothing is moved: \(folder.path)/new.log was deleted or replaced while it was "
        + "in use")
    if way == 2 { try FileManager.default.removeItem(atPath: folder.path + "-gone") }
  }
}

@Suite("A calendar that is set back")
struct SeenCalendarTests {
  private let folder: TestFolder
  private var path: String { folder.path + "/calendar" }

  init() { folder = TestFolder() }

  private func time(_ text: String) -> WallTime { WallTime(text: text + "Z")! }

  @Test("the latest moment that was seen is held to, and what is behind it is said")
  func heldTo() {
    let first = SeenCalendar(now: time("2026-11-24T12:00:00"), at: path)
    expect(first.latest, first.now)
    expect(first.warning, nil)
    first.note()
    let back = SeenCalendar(now: time("2019-01-01T00:00:00"), at: path)
    expect(back.latest, first.now)
    expect(
      back.warning,
      "the calendar of this machine was set back: it says 2019-01-01T00:00:00.000Z, and said 2026-11-24T12:00:00.000Z "
        + "before, which is held to; where that was wrong, remove \(path)")
    back.note()
    expect(SeenCalendar(now: time("2019-01-01T00:00:00"), at: path).latest, first.now)
    // What a time server corrects is no news.
    let corrected = SeenCalendar(now: time("2026-11-24T11:56:00"), at: path)
    expect([corrected.latest == first.now, corrected.warning == nil], [true, true])
    let later = SeenCalendar(now: time("2026-11-25T00:00:00"), at: path)
    later.note()
    expect(SeenCalendar(now: first.now, at: path).latest, later.now)
  }

  @Test("a quarantine that was over stays over")
  func quarantine() {
    SeenCalendar(now: time("2026-11-24T12:00:00"), at: path).note()
    let entry = Quarantine(
      scenario: "a.yaml", reason: "cold", owner: "ada", expires: Day(text: "2026-11-20")!)
    let seen = SeenCalendar(now: time("2026-11-01T12:00:00"), at: path)
    expect(entry.status(on: Day(unixTime: seen.latest.unixTime)), .lapsed)
    expect(entry.status(on: Day(unixTime: seen.now.unixTime)), .active)
  }

  @Test("what was written down cannot be understood, and nothing is held to")
  func torn() throws {
    try Data("yesterday".utf8).write(to: URL(filePath: path))
    let seen = SeenCalendar(now: time("2026-11-24T12:00:00"), at: path)
    expect(seen.latest, seen.now)
  }
}
