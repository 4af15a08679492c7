@testable import LockFiles
import Basics
import Bluetooth
import Glibc
import Secrets
import Sesame
import System
import TestSupport
import Testing

/// A key that no other test has.
private let digits = "5b0f93e1c7a2486d9e31f0c8b7d6a245"

@Suite("The lock file of a driver", .serialized)
struct DriverLockTests {
  private let folder = TestFolder()

  init() {
    folder.write("keypad.yaml", "machine: keypad\n")
    unsafe setenv("DRIVER_PIN", "2580", 1)
  }

  private func read(_ text: String) throws -> LockFile {
    try LockFile(reading: folder.write("lock.yaml", text))
  }

  private func driver(_ file: LockFile) -> DriverLock? {
    file.lock as? DriverLock
  }

  @Test("a program, its machine, and what it is given")
  func whole() throws {
    let file = try read(
      """
      driver: python3 keypad-driver.py
      machine: keypad.yaml
      name: Back door
      address: c7:e6:da:90:f5:f9
      id: KP-0042
      secrets: { pin: env:DRIVER_PIN, key: \(digits), "the other": "0 1" }

      """)
    let home = Path.folder(of: file.path)
    expect(file.name, "Back door")
    expect(file.identity, "KP-0042")
    expect(file.address, PeerAddress(text: "c7:e6:da:90:f5:f9"))
    let lock = try #require(driver(file))
    expect(lock.command, "python3 keypad-driver.py")
    expect(lock.folder, home)
    expect(lock.machine, home + "/keypad.yaml")
    expect(lock.id, "KP-0042")
    expect(lock.secrets.map(\.name), ["pin", "key", "the other"])
    expect(lock.secrets.map(\.value.revealed), ["2580", digits, "0 1"])
    // Other programs do not inherit it.
    expect(Secrecy.withheldVariables.contains("DRIVER_PIN"), true)
    expect(LockFile.isDriven(file.path), true)
  }

  @Test("what need not be said, and by what the lock is known then")
  func least() throws {
    let file = try read("driver: ./keypad\nmachine: door\naddress: c7:e6:da:90:f5:f9/P\n")
    expect(file.identity, "c7:e6:da:90:f5:f9")
    expect(file.name, nil)
    let lock = try #require(driver(file))
    expect(lock.machine, "door")
    expect(lock.secrets.count, 0)
    let other = try read("driver: ./keypad\nmachine: door\nid: KP-0042\n")
    expect(other.identity, "KP-0042")
    expect(other.address, nil)
  }

  @Test("a secret is in no text of the file, and in nothing that is written")
  func hidden() throws {
    let file = try read(
      "driver: ./keypad\nmachine: door\nid: KP-0042\nsecrets: { pin: env:DRIVER_PIN, key: \(digits) }\n")
    var text = ""
    dump(file, to: &text)
    for shown in [text, "\(file)", String(reflecting: file)] {
      #expect(!shown.contains("2580") && !shown.contains(digits.prefix(13)), "\(shown)")
    }
    try WholeFile.replace(folder.path + "/told.txt", with: "\(digits) \(digits.uppercased())\n")
    expect(folder.read("told.txt"), "‹redacted› ‹redacted›\n")
  }

  // swift-format-ignore
  private static let problems: [(text: String, message: String)] = [
    ("driver: ./keypad\nid: a\n", "lock.yaml:1:1: missing key `machine`\n  1 | driver: .*******\n    | ^~~~~~~~~~~~~~~~"),
    ("driver:\nmachine: door\nid: a\n", "lock.yaml:1:8: expected a command, found nothing\n  1 | driver:\n    |        ^"),
    ("driver: [a]\nmachine: door\nid: a\n", "lock.yaml:1:9: expected a command, found a list\n  1 | driver: [*]\n    |         ^~~"),
    ("driver: ./keypad\nmachine: door\n", "lock.yaml:1:1: which lock is it?\n  1 | driver: .*******\n    | ^~~~~~~~~~~~~~~~ give its `id` or its `address`; `lockstep scan` shows addresses"),
    ("driver: ./keypad\nmachine: keypda.yaml\nid: a\n", "lock.yaml:2:10: there is no such machine\n  2 | machine: keypda.yaml\n    |          ^~~~~~~~~~~ its path begins in the folder of this file"),
    ("driver: ./keypad\nmachine: door\nid: ../a\n", "lock.yaml:3:5: expected an identity of letters, digits and _.-, found `../a`\n  3 | id: ../a\n    |     ^~~~"),
    ("driver: ./keypad\nmachine: door\naddress: c7\n", "lock.yaml:3:10: expected an address such as c7:e6:da:90:f5:f9, or with /P a public one, found `c7`\n  3 | address: c7\n    |          ^~"),
    ("driver: ./keypad\nmachine: door\nid: a\nuuid: a\n", "lock.yaml:4:1: unknown key `uuid`\n  4 | uuid: a\n    | ^~~~ expected driver, machine, name, address, id, secrets, gap"),
    ("driver: ./keypad\nmachine: door\nid: a\nlock: sesame5\n", "lock.yaml:1:1: `driver` stands in place of `lock`, and both are given\n  1 | driver: .*******\n    | ^~~~~~"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecret: { pin: 2580 }\n", "lock.yaml:4:1: unknown key `secret`\n  4 | secret: { ***: **** }\n    | ^~~~~~ did you mean `secrets`?"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: 2580\n", "lock.yaml:4:10: expected names, each with its secret\n  4 | secrets: ****\n    |          ^~~~ secrets: { pin: env:PIN }"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: [2580]\n", "lock.yaml:4:10: expected names, each with its secret\n  4 | secrets: [****]\n    |          ^~~~~~ secrets: { pin: env:PIN }"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: { pin: [2580] }\n", "lock.yaml:4:17: expected a text, or env:NAME\n  4 | secrets: { ***: [****] }\n    |                 ^~~~~~"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: { pin: 2580, key: }\n", "lock.yaml:4:28: expected a text, or env:NAME\n  4 | secrets: { ***: ****, ***: }\n    |                            ^"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets:\n  name: { a: 2580 }\n", "lock.yaml:5:9: expected a text, or env:NAME\n  5 |   name: { *: **** }\n    |         ^~~~~~~~~~~"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets:\n  pin: ~\n  key: \"\"\n", "lock.yaml:5:8: expected a text, or env:NAME\n  5 |   pin: *\n    |        ^\nlock.yaml:6:8: expected a text, or env:NAME\n  6 |   key: \"\"\n    |        ^~"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: { pin: env:DRIVER_GONE }\n", "lock.yaml:4:17: this environment variable is not set, or empty\n  4 | secrets: { ***: ***:*********** }\n    |                 ^~~~~~~~~~~~~~~"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: { pin: env:\(digits) }\n", "lock.yaml:4:17: this environment variable is not set, or empty\n  4 | secrets: { ***: ***:******************************** }\n    |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"),
    ("driver: ./keypad\nmachine: door\nid: a\nsecrets: {\nname: 2580, id: [a] }\n", "lock.yaml:5:17: expected a text, or env:NAME\n  5 | name: ****, **: [*] }\n    |                 ^~~"),
    ("driver: ./keypad --pin 2580\nmachine: door\nsecrets: {\n  pin: 2580\n", "lock.yaml:5:1: did not find expected ',' or '}'\n  while parsing a flow mapping that starts on line 3"),
    ("drivr: ./keypad\nmachine: door\nid: a\n", "lock.yaml:1:1: unknown key `drivr`\n  1 | drivr: .*******\n    | ^~~~~ did you mean `driver`?\nlock.yaml:1:1: missing key `lock`\n  1 | drivr: .*******\n    | ^~~~~~~~~~~~~~~ or `driver`, of a lock that a program of your own speaks to"),
    ("machine: door\nid: a\n", "lock.yaml:1:1: missing key `lock`\n  1 | machine: door\n    | ^~~~~~~~~~~~~ or `driver`, of a lock that a program of your own speaks to"),
  ]

  @Test("what is wrong is said with its place, and never with a secret", arguments: problems.indices)
  func told(index: Int) {
    let (text, message) = Self.problems[index]
    var said = "none"
    do {
      _ = try read(text)
    } catch {
      said = "\(error)".replacing(folder.path + "/", with: "")
    }
    expect(said, message)
    #expect(!said.contains("2580") && !said.contains(digits.prefix(13)), "\(said)")
  }

  @Test("what others can read is refused, whatever kind of lock it describes")
  func mode() throws {
    let path = folder.write("open.yaml", "driver: ./keypad\nmachine: door\nid: a\n", mode: 0o644)
    do {
      _ = try LockFile(reading: path)
      Issue.record("it was read")
    } catch {
      expect(
        error.description,
        "\(path): others can read the key of this lock (mode 0644): chmod 600 \(path)")
    }
  }

  @Test("who knows Sesames alone says so, and writes over no driver's file")
  func sesame() throws {
    let file = try read("driver: ./keypad\nmachine: door\nid: a\n")
    do {
      _ = try file.sesame(or: "only what a Sesame says can be decoded")
      Issue.record("it is no Sesame")
    } catch {
      expect(
        error.description,
        "\(file.path): this is the lock of a driver: only what a Sesame says can be decoded")
    }
    try SesameLockFile(path: file.path, lock: SesameLock(model: .sesame5)).save()
    expect(folder.read("lock.yaml.old-1"), "driver: ./keypad\nmachine: door\nid: a\n")
  }
}
