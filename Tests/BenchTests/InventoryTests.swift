@testable import Bench
import Conformance
import LockFiles
import Documents
import Basics
import TestSupport
import Testing

@Suite("The inventory of a bench")
struct InventoryTests {
  static let whole = """
    # yaml-language-server: $schema=Scenarios/schema/bench.schema.json
    bench: third-floor
    dongles:
      - { name: blue, transport: "usb:0A12:0001", serial: "00E04C", power: hub-1 }
      - { name: red, path: 1-2.3 }
      - { name: air-a, transport: "tcp-client:127.0.0.1:9001" }
      - { name: air-b, transport: "unix-client:run/air" }
      - { name: air-c, transport: "unix-client:@air" }
      - { name: board, transport: "serial:board,115200" }
    switches:
      - { name: hub-1, off: "uhubctl -l 1-1 -p 2 -a off", on: "uhubctl -l 1-1 -p 2 -a on", check: "true", settle: 500 ms }
    locks:
      - name: front-door
        file: keys/front-door.yaml
        firmware: 1.2.3
        park: as-found
        tags: [sesame5, outdoor]
        dongles: [red, blue]
        allow: [reset, configure]
        limits: { gap: 3 s, per-hour: 60, per-shift: 500, cool-down: 5 min, battery-floor: 20 %, battery-slope: 5% }
      - { name: played, device: "emulator:sesame5?loss=0.01", tags: [sesame5] }
      - { name: other, file: /etc/lockstep/other.yaml, control: "unix:run/other" }
    quarantine:
      - { scenario: Scenarios/sesame5/jam.yaml, lock: front-door, reason: "jams when cold", owner: ada, expires: 2026-12-01 }
      - { scenario: sesame5, reason: "all of them", owner: bob, expires: 2026-11-01 }
      - { lock: played, reason: "new", owner: bob, expires: 2026-12-24 }

    """

  private func read(_ text: String, name: String = "lab/bench.yaml") throws(DocumentError) -> Inventory {
    try Inventory(Array(text.utf8), name: name, checks: .init(guarded: LockFamily.allGuarded))
  }

  @Test("everything that a file says is read, and its paths are those of its folder")
  func everything() throws {
    let inventory = try read(Self.whole)
    expect(inventory.name, "third-floor")
    expect(
      inventory.dongles,
      [
        Inventory.Dongle(name: "blue", transport: "usb:0A12:0001/00E04C", power: "hub-1"),
        Inventory.Dongle(name: "red", transport: "usb:1-2.3"),
        Inventory.Dongle(name: "air-a", transport: "tcp-client:127.0.0.1:9001"),
        Inventory.Dongle(name: "air-b", transport: "unix-client:lab/run/air"),
        Inventory.Dongle(name: "air-c", transport: "unix-client:@air"),
        Inventory.Dongle(name: "board", transport: "serial:lab/board,115200"),
      ])
    expect(
      inventory.switches,
      [
        Inventory.PowerSwitch(
          name: "hub-1", off: "uhubctl -l 1-1 -p 2 -a off", on: "uhubctl -l 1-1 -p 2 -a on", check: "true",
          settle: .milliseconds(500), folder: "lab")
      ])
    expect(
      inventory.locks,
      [
        Inventory.Lock(
          name: "front-door", source: .file("lab/keys/front-door.yaml"), firmware: "1.2.3", park: .asFound,
          tags: ["sesame5", "outdoor"], dongles: ["red", "blue"], allow: ["reset", "configure"],
          limits: LockLimits(
            gap: .seconds(3), perHour: 60, perShift: 500, coolDown: .seconds(300), batteryFloor: 20,
            batterySlope: 5)),
        Inventory.Lock(
          name: "played", source: .device("emulator:sesame5?loss=0.01"), tags: ["sesame5"]),
        Inventory.Lock(
          name: "other", source: .file("/etc/lockstep/other.yaml"), control: "unix:lab/run/other"),
      ])
    expect(inventory.quarantine.count, 3)
    expect(
      inventory.locks.map { inventory.dongles(reaching: $0).map(\.name) },
      [
        ["red", "blue"], [], ["blue", "red", "air-a", "air-b", "air-c", "board"],
      ])
    expect(inventory.powerSwitch(of: inventory.dongles[0])?.name, "hub-1")
    expect(inventory.powerSwitch(of: inventory.dongles[1]), nil)
  }

  /// A file, or what stands behind `bench: a` in it, and what is wrong with it.
  // swift-format-ignore
  static let mistakes: [(text: String, problems: [String])] = [
    ("locks: []", ["1:1 missing key `bench`"]),
    ("bench: a", ["1:1 missing key `locks`"]),
    ("bench: a b\nlocks: []", ["1:8 expected a name of letters, digits and _.-, found `a b`"]),
    ("bench: -a\nlocks: []", ["1:8 expected a name of letters, digits and _.-, found `-a`"]),
    ("bench: a\nlocks: {}", ["2:8 expected a list, found a mapping"]),
    ("bench: a\nlokcs: []", ["1:1 missing key `locks`", "2:1 unknown key `lokcs`; did you mean `locks`?"]),
    ("bench: a\nlocks: []\nlocks: []", ["3:1 duplicate key `locks`; it is given on line 2 already"]),
    ("bench: a\nlocks: [{ file: a.yaml }]", ["2:9 missing key `name`"]),
    ("bench: a\nlocks: [{ name: a }]", ["2:9 missing key `file` or `device`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, device: emulator:sesame5 }]", ["2:34 `device` stands beside `file`; give one of them"]),
    ("bench: a\nlocks: [{ name: a, device: emulator:sesame5, control: unix:a }]", ["2:46 `control` goes with `file`"]),
    ("bench: a\nlocks: [{ name: a, device: lock:a.yaml }]", ["2:28 expected a device such as emulator:sesame5, found `lock:a.yaml`; a real lock is described by its `file`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml }, { name: a, file: b.yaml }]", ["2:44 duplicate name `a`; it is given on line 2 already"]),
    ("bench: a\nlocks:\n- { name: a, file: a.yaml }\n- { name: b, file: a.yaml }", ["4:20 duplicate file `a.yaml`; it is given on line 3 already"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, dongles: [bleu] }]\ndongles: [{ name: blue, path: 1-2 }]", ["2:44 unknown dongle `bleu`; did you mean `blue`?"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, dongles: [blue] }]", ["2:44 unknown dongle `blue`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, park: open }]", ["2:40 unknown park position `open`; expected locked, unlocked, as-found"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, allow: [rest] }]", ["2:42 unknown stimulus `rest`; did you mean `reset`?"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, control: a }]", ["2:43 expected unix:PATH, found `a`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, limits: { gap: 3 } }]", ["2:49 expected a duration such as 3 s, found `3`; a unit is missing: `3 s`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, limits: { per-hour: 0 } }]", ["2:54 expected a whole number from 1 to 1000000, found `0`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, limits: { battery-floor: 20 } }]", ["2:59 expected a percentage such as 20 %, found `20`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, limits: { battery-floor: 120 % } }]", ["2:59 expected a percentage such as 20 %, found `120 %`"]),
    ("bench: a\nlocks: [{ name: a, file: a.yaml, limits: { perhour: 3 } }]", ["2:44 unknown key `perhour`; did you mean `per-hour`?"]),
    ("bench: a\nlocks: [{ name: a, file: }]", ["2:26 expected the path of a lock file, found nothing"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b }]", ["3:11 missing key `transport` or `path`"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, path: 1-2, transport: usb:0 }]", ["3:22 `path` stands beside `transport`; give one of them"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, path: one }]", ["3:28 expected bus and ports such as 1-2.3, found `one`"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, path: 1-2, serial: A }]", ["3:33 `serial` goes with `transport`"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, transport: usb:0, serial: A }]", ["3:48 `serial` goes with a transport usb:VENDOR:PRODUCT, such as usb:0A12:0001"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, transport: bad:0 }]", ["3:33 'bad:0' is no transport"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, transport: usb:0, power: hub }]\nswitches: [{ name: hub-1, off: a, on: b }]", ["3:47 unknown switch `hub`; did you mean `hub-1`?"]),
    ("bench: a\nlocks: []\ndongles: [{ name: b, transport: usb:0 }, { name: c, transport: usb:0 }]", ["3:64 duplicate transport `usb:0`; it is given on line 3 already"]),
    ("bench: a\nlocks: []\nswitches: [{ name: b, off: a }]", ["3:12 missing key `on`"]),
    ("bench: a\nlocks: [{ name: a, device: emulator:bad }]", ["2:28 unknown device `bad`"]),
    ("bench: a\nlocks: []\nquarantine: [{ reason: a, owner: b, expires: 2026-12-01 }]", ["3:14 missing key `scenario` or `lock`"]),
    ("bench: a\nlocks: []\nquarantine: [{ lock: a, reason: a, owner: b, expires: 2026-12-01 }]", ["3:22 unknown lock `a`"]),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, owner: b, expires: 2026-12-01 }]", ["3:14 missing key `reason`"]),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, expires: 2026-12-01 }]", ["3:14 missing key `owner`"]),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, owner: c }]", ["3:14 missing key `expires`"]),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, owner: c, expires: 2026-02-30 }]", ["3:59 expected a day such as 2026-12-01, found `2026-02-30`"]),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, owner: c, expires: next week }]", ["3:59 expected a day such as 2026-12-01, found `next week`"]),
    ("bench: a\nlocks: [{ name: a, park: open }]\nquarantine: [{ lock: b, owner: c }]", [
      "2:9 missing key `file` or `device`", "2:26 unknown park position `open`; expected locked, unlocked, as-found",
      "3:14 missing key `reason`", "3:14 missing key `expires`", "3:22 unknown lock `b`; expected a",
    ]),
  ]

  @Test(
    "what is wrong is said with its place, all of it at once, and with the nearest name",
    arguments: mistakes.indices)
  func wrong(index: Int) {
    let (text, problems) = Self.mistakes[index]
    let checks = Inventory.Checks(
      transport: { $0.hasPrefix("bad:") ? "'\($0)' is no transport" : nil },
      device: { $0.hasPrefix("emulator:bad") ? "unknown device `bad`" : nil },
      guarded: LockFamily.allGuarded)
    do {
      _ = try Inventory(Array(text.utf8), name: "bench.yaml", checks: checks)
      Issue.record("it is read: \(text)")
    } catch {
      let found = error.problems.map { "\($0.position) \($0.message)" + ($0.hint.map { "; \($0)" } ?? "") }
      expect(found, problems)
    }
  }

  @Test("what a driver's lock has to be allowed its driver alone knows")
  func driven() throws {
    let checks = Inventory.Checks(guarded: ["reset"], isDriven: { $0 == "lab/b.yaml" })
    func read(_ file: String) throws(DocumentError) -> Inventory {
      let text = "bench: a\nlocks: [{ name: a, file: \(file), allow: [wipe, reset] }]"
      return try Inventory(Array(text.utf8), name: "lab/bench.yaml", checks: checks)
    }
    expect(try read("b.yaml").locks[0].allow, ["wipe", "reset"])
    #expect(throws: DocumentError.self) { try read("a.yaml") }
  }

  @Test("a file that is damaged anyhow is read, or refused with words, and never a trap")
  func damaged() {
    var generator = SeededGenerator(seed: 3)
    let whole = Array(Self.whole.utf8)
    let pieces = [
      "{", "}", "[", "]", ":", "- ", "\n", "\"", "&a ", "*a", "%", "0", "\u{FF}", " name", " file: a",
    ]
    var (read, refused) = (0, 0)
    for _ in 0..<1500 {
      var bytes = whole
      for _ in 0...generator.below(3) {
        let start = generator.below(bytes.count)
        let end = min(bytes.count, start + generator.below(12))
        bytes.replaceSubrange(start..<end, with: Array(pieces[generator.below(pieces.count)].utf8))
      }
      do {
        _ = try Inventory(bytes, name: "bench.yaml", checks: .init(guarded: LockFamily.allGuarded))
        read += 1
      } catch {
        if error.description.isEmpty {
          Issue.record("nothing is said of \(String(decoding: bytes, as: UTF8.self))")
        }
        refused += 1
      }
    }
    #expect(read > 20 && refused > 500, "\(read) \(refused)")
  }

  @Test("a message shows the line with a caret")
  func caret() {
    do {
      _ = try read("bench: a\nlocks: [{ name: a, file: a.yaml, park: unlokced }]\n")
      Issue.record("it is read")
    } catch {
      expect(
        error.description,
        """
        lab/bench.yaml:2:40: unknown park position `unlokced`
          2 | locks: [{ name: a, file: a.yaml, park: unlokced }]
            |                                        ^~~~~~~~ did you mean `unlocked`?
        """)
    }
  }

  @Test(
    "an entry of the quarantine holds until the end of its day",
    arguments: [("2026-11-30", true), ("2026-12-01", true), ("2026-12-02", false), ("2027-01-01", false)])
  func expiry(date: String, isActive: Bool) throws {
    let entry = try read(Self.whole).quarantine[0]
    let day = try #require(Day(text: date))
    expect(entry.status(on: day), isActive ? .active : .lapsed)
  }

  @Test(
    "an entry covers a scenario, a folder or the end of a path, on one lock or on all",
    arguments: [
      ("Scenarios/sesame5/jam.yaml", "front-door", "ada"),
      ("./Scenarios/sesame5/jam.yaml", "front-door", "ada"),
      ("/srv/lab/Scenarios/sesame5/jam.yaml", "front-door", "ada"),
      ("Scenarios/sesame5/jam.yaml", "other", "bob"),
      ("Scenarios/sesame5/other.yaml", "front-door", "bob"), ("Scenarios/door/jam.yaml", "front-door", nil),
      ("Scenarios/door/jam.yaml", "played", "bob"), ("Scenarios/sesame55/jam.yaml", "front-door", nil),
    ])
  func covers(file: String, lock: String, owner: String?) throws {
    expect(try read(Self.whole).quarantine(of: file, on: lock)?.owner, owner)
  }
}
