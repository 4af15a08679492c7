import Basics
import Foundation
import TestSupport
import Testing

@Suite("A device's GATT server", .timeLimit(.minutes(10)))
struct GattTests {
  private let folder: Command.Folder
  private let bench: EmulatedBench
  private let address: String
  private let way: String
  private static let write = "16860002-a5ae-9856-b6d3-dbb4c676993e"
  private static let told = "16860003-a5ae-9856-b6d3-dbb4c676993e"

  init() throws {
    folder = try Command.Folder()
    bench = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml"], in: folder)
    address = try #require(bench.announcement["advertising"]?["address"]?.string)
    way = bench.transports[0]
  }

  private func gatt(_ words: String..., target: String? = nil) throws -> Command.Result {
    try Command.call(["gatt", target ?? address, "--transport", way] + words, in: folder.path)
  }

  /// Listens to it in a process, which goes on until it is ended.
  private func listener(out: Command.Folder) throws -> Program {
    let listener = try Command.start(
      Command.path, ["gatt", address, "--transport", way, "--subscribe", Self.told, "--duration", "600s"],
      in: folder.path, out: out)
    try eventually(by: listener) { try out.read("output").contains(Self.told) }
    return listener
  }

  /// Types what a line of the shell prints.
  private func interactive(_ typed: String) throws -> Command.Result {
    try Command.shell(
      "\(typed) | $LOCKSTEP gatt \(address) --transport \(way) --interactive", in: folder.path)
  }

  private func objects(_ result: Command.Result) throws -> [JSON] {
    try result.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
  }

  @Test("everything is listed, with what can be read of it, for people and for programs")
  func listing() throws {
    let plain = try gatt("--values", "--quiet")
    expect(plain.status, 0)
    expect(plain.errors, "")
    #expect(
      plain.output.hasPrefix("0x0001  service 1800 (Generic Access), up to 0x0005\n"), "\(plain.output)")
    #expect(
      plain.output.contains("    characteristic 2a00 (Device Name): read\n              "), "\(plain.output)")
    #expect(plain.output.contains("    characteristic \(Self.told): notify\n"), "\(plain.output)")
    let json = try objects(try gatt("--format", "json", target: "lock.yaml"))
    expect(json.first?["event"], "connected")
    expect(json.first?["address"], .text(address))
    let told = try #require(json.first { $0["uuid"] == .text(Self.told) })
    expect(told["event"], "characteristic")
    expect(told["service"], "fd81")
    expect(told["properties"], ["notify"])
    #expect(
      json.contains { $0["event"] == "descriptor" && $0["uuid"] == "2902" && $0["of"] == told["handle"] })
  }

  @Test("operations are done in their order, and a lock that is subscribed to speaks")
  func operations() throws {
    let result = try gatt(
      "--read", "device-name", "--subscribe", Self.told, "--write", "\(Self.write)=00", "--duration", "1s",
      "--format", "json")
    let json = try objects(result)
    expect(result.status, 0)
    let events = json.compactMap { $0["event"]?.string }
    expect(
      events.filter { $0 != "notification" }, ["connected", "read", "subscription", "written", "listening"])
    // What it says of itself first is the token of the session.
    let notification = try #require(json.first { $0["event"] == "notification" })
    expect(notification["uuid"], .text(Self.told))
    #expect(notification["value"]?.string?.count ?? 0 > 8, "\(notification)")
  }

  @Test("lines of a pipe are operations, and what is wrong with one does not end it")
  func interactive() throws {
    let result = try interactive(
      "printf 'mtu\\nraed 2a00\\nread 2a01\\nread \(Self.write)\\nsubscribe \(Self.told)\\nunsubscribe \(Self.told)'"
    )
    expect(result.status, 0)
    #expect(result.output.hasPrefix("MTU 2"), "\(result.output)")
    #expect(result.output.contains("(2a01, Appearance)   "), "\(result.output)")
    #expect(result.errors.contains("there is no 'raed': did you mean 'read'?"), "\(result.errors)")
    #expect(result.errors.contains("refused with 0x02 (read not permitted)"), "\(result.errors)")
    #expect(
      result.errors.hasSuffix("unsubscribed from \(try handle(of: result.errors)) (\(Self.told))\n"),
      "\(result.errors)")
  }

  @Test("a line that never ends is none")
  func endless() throws {
    let long = try interactive("head -c 70000 /dev/zero | tr '\\0' a")
    expect(long.status, 2)
    #expect(long.errors.contains("a line has at most 65536 bytes"), "\(long.errors)")
  }

  @Test("a lock of a bench is called by its name, and reached by the dongles of the bench")
  func named() throws {
    try folder.write(
      "bench.yaml",
      """
      bench: floor
      dongles:
        - { name: air, transport: "\(way)" }
      locks:
        - { name: door, file: lock.yaml }
      """)
    let result = try Command.call("gatt", "door", "--read", "2a00", "--quiet", in: folder.path)
    expect(result.output, "0x0003 (2a00, Device Name)   536573616d65  \"Sesame\"\n")
    expect(result.status, 0)
    let absent = try Command.call("gatt", "dor", in: folder.path)
    expect(absent.status, 2)
    #expect(absent.errors.contains("has no lock 'dor': did you mean 'door'?"), "\(absent.errors)")
  }

  /// The handle of what was subscribed to.
  private func handle(of text: String) throws -> String {
    String(try #require(text.firstMatch(of: /subscribed to notifications of (0x[0-9a-f]{4})/)).1)
  }

  @Test("what the device refuses is 1, what it does not have is 2 and nothing is done")
  func wrong() throws {
    let refused = try gatt("--read", Self.write, "--read", "2a00")
    expect(refused.status, 1)
    expect(refused.output, "")
    #expect(refused.errors.contains("refused with 0x02 (read not permitted) at "), "\(refused.errors)")
    #expect(refused.errors.contains("; it offers write"), "\(refused.errors)")
    let absent = try gatt("--read", "2a00", "--read", "2a19")
    expect(absent.status, 2)
    expect(absent.output, "")
    #expect(absent.errors.contains("the device has no 2a19 (Battery Level)"), "\(absent.errors)")
    let mute = try gatt("--subscribe", "2a00")
    expect(mute.status, 2)
    #expect(mute.errors.contains("offers neither notify nor indicate"), "\(mute.errors)")
  }

  // swift-format-ignore
  private static let mistakes: [(String, Int32, String)] = [
    ("", 2, "missing TARGET"),
    ("c7:e6:da:90:f5:f9", 2, "a visit needs a controller: --transport usb:0"),
    ("front-door --transport usb:0", 2, "'front-door' is neither an address such as c7:e6:da:90:f5:f9"),
    ("./front-door.yaml --transport usb:0", 2, "./front-door.yaml: "),
    ("lock:x.yaml --transport usb:0", 2, "x.yaml: "),
    ("c7:e6:da:90:f5:f9 --transport usb:0 --read 2a0", 2, "'--read' expects a UUID such as 2a00, a handle such as 0x0003 or an assigned name, not '2a0'"),
    ("c7:e6:da:90:f5:f9 --transport usb:0 --write fff1=0g", 2, "'--write' expects UUID=HEX or HANDLE=HEX, two digits for each of at most 512 bytes, not 'fff1=0g'"),
    ("c7:e6:da:90:f5:f9 --transport usb:0 --values --read 2a00", 2, "'--values' is for the list of everything"),
    ("c7:e6:da:90:f5:f9 --transport usb:0 --sbscribe 2a00", 2, "did you mean '--subscribe'?"),
    ("c7:e6:da:90:f5:f9 --transport tcp-client:127.0.0.1:1", 3, "'lockstep doctor' checks this computer"),
  ]

  @Test("what is wrong with a call is said", arguments: mistakes.indices)
  func mistake(index: Int) throws {
    let (line, status, words) = Self.mistakes[index]
    let result = try Command.line("gatt " + line, in: folder.path)
    expect(result.status, status)
    #expect(result.errors.contains(words), "\(result.errors)")
    expect(result.output, "")
  }

  @Test(
    "a device that is not there, a controller and a lock that others have, and one that goes away, are the lab's trouble"
  )
  func lab() throws {
    let absent = try gatt("--timeout", "3s", target: "c7:e6:da:90:f5:f0")
    expect(absent.status, 3)
    #expect(
      absent.errors.contains(
        "no c7:e6:da:90:f5:f0 in range within 3 s: 'lockstep scan --all' lists the 1 other device"),
      "\(absent.errors)")

    let out = try Command.Folder()
    let listener = try listener(out: out)
    let second = try gatt()
    expect(second.status, 3)
    #expect(second.errors.contains("lockstep gatt"), "\(second.errors)")
    let other = try Command.call(
      ["gatt", "lock.yaml", "--transport", "tcp-client:127.0.0.1:1"], in: folder.path)
    expect(other.status, 3)
    #expect(
      other.errors.hasPrefix("lockstep: lock.yaml: ") && other.errors.contains("lockstep gatt"),
      "\(other.errors)")
    bench.kill()
    expect(listener.waitUntilExit(), 3)
    #expect(try out.read("errors").contains("lockstep: controller lost: "))
  }

  @Test("Ctrl-C ends listening as its time would, and disconnects")
  func interrupted() throws {
    let out = try Command.Folder()
    let listener = try listener(out: out)
    listener.signal(SIGINT)
    expect(listener.waitUntilExit(), 0)
    let seeker = try Command.start(
      Command.path, ["gatt", "c7:e6:da:90:f5:f0", "--transport", way, "--timeout", "600s"], in: folder.path,
      out: out)
    seeker.awaitRest()
    seeker.signal(SIGTERM)
    expect(seeker.waitUntilExit(), 5)
    // The lock takes the next client at once.
    expect(try gatt("--read", "2a00").status, 0)
  }

  @Test("where the output cannot be written that is said, and nothing more is listened to")
  func full() throws {
    let begin = Date()
    let result = try Command.shell(
      "$LOCKSTEP gatt \(address) --transport \(way) --subscribe \(Self.told) --duration 60s > /dev/full",
      in: folder.path)
    #expect(Date().timeIntervalSince(begin) < 40)
    expect(result.status, 3)
    #expect(result.errors.contains("not all of the output could be written"), "\(result.errors)")
  }
}
