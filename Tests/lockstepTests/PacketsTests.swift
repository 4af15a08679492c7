import Basics
import Documents
import Foundation
import TestSupport
import Testing

@Suite("Packets", .timeLimit(.minutes(10)))
struct PacketsTests {
  private let folder: Command.Folder

  init() throws { folder = try Command.Folder() }

  /// A case that fails: the lock does what is asked of it, and something else is expected.
  private func scenario(_ lock: String, _ bolt: String = ", bolt: locked") throws {
    try folder.write(
      "case.yaml",
      """
      scenario: It is never where one wants it
      machine: sesame
      device: { lock: \(lock), registered: true, configured: true\(bolt) }
      steps:
        - closeTo
        - connect
        - expect: { status: locked, within: 15 s }
        - unlock: { tag: Alice }
        - expect: { status: moved, within: 3 s }
      """)
  }

  /// Runs the case, and gives what its folder holds: the names of the capture and of what it means.
  private func run(_ device: String, out: String) throws -> (capture: String, packets: String) {
    let result = try Command.call(
      "run", "case.yaml", "--device", device, "--seed", "7", "--out", out, in: folder.path)
    expect(result.status, 1)
    let run = "\(out)/runs/" + (folder.names("\(out)/runs").first ?? "none")
    let names = folder.names(run + "/packets")
    let journal = try folder.read(run + "/journal.jsonl")
    try #require(names.count == 2, "\(names)")
    for (kind, name) in [("capture", names[0]), ("packets", names[1])] {
      #expect(journal.contains(#"{"kind":"\#(kind)","path":"packets/\#(name)"}"#), "\(journal)")
      let attributes = try FileManager.default.attributesOfItem(
        atPath: "\(folder.path)/\(run)/packets/\(name)")
      expect(attributes[.posixPermissions] as? Int, 0o600)
    }
    return ("\(run)/packets/\(names[0])", "\(run)/packets/\(names[1])")
  }

  private func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: folder.path + "/" + name))
  }

  @Test(
    "a case that fails leaves its capture and what it means, the same for the same seed, and no key",
    arguments: [("sesame5", "direct"), ("sesame5", "radio"), ("sesame3", "direct"), ("sesame3", "radio")])
  func failingCase(lock: String, link: String) throws {
    try scenario(lock)
    // One seed, one key: that of the lock that is driven.
    let bench = try EmulatedBench(
      [
        "\(lock)?registered=yes", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed",
        "7",
      ], in: folder)
    bench.stop()
    let device = "emulator:\(lock)?link=\(link)"
    let first = try run(device, out: "one")
    let second = try run(device, out: "two")
    expect(try bytes(first.capture), try bytes(second.capture))
    expect(try bytes(first.packets), try bytes(second.packets))

    let lines = try folder.read(first.packets).split(separator: "\n")
    for line in lines { expectPacket(try JSON(parsing: String(line))) }
    #expect(lines.contains { $0.contains(#"{"layer":"Command","text":"unlock, “Alice”"}"#) })
    #expect(lines.contains { $0.contains(#"{"layer":"Publish","text":"mech status, unlocked ("#) })
    #expect(lines.contains { $0.contains(#""event":"connected to "#) })
    expect(lines.filter { $0.contains("malformed") || $0.contains("not authentic") }.count, 0)

    // The capture is read again: by the lock's key where that is enough.
    let text = try Command.call("packets", first.capture, "--key", "lock.yaml", in: folder.path)
    expect(text.status, 0)
    let isRead = text.output.contains("client      Command    unlock, “Alice”\n")
    expect(isRead, lock == "sesame5")
    expect(text.output.contains("not readable: an OS2 session's key"), lock == "sesame3")
    let json = try Command.call(
      "packets", first.capture, "--key", "lock.yaml", "--format", "json", in: folder.path)
    expect(json.output.split(separator: "\n").count, lines.count)
    let all = try Command.call("packets", first.capture, "--verbose", in: folder.path)
    #expect(all.output.contains("\n              L2CAP      channel 0x0004 (ATT), "), "\(all.output)")

    let secret = try folder.secret()
    expect(folder.files(with: secret), ["lock.yaml"])
    let key = try #require(Data(hex: secret))
    for name in [first.capture, first.packets] { #expect(try bytes(name).range(of: key) == nil) }
    #expect(!(text.output + json.output + all.output).contains(secret))
    try expectNothingMalformed(first.capture)
  }

  /// What the journal's format has.
  private func expectPacket(_ line: JSON) {
    guard case .text(let time)? = line["t"], time.contains(".") else {
      Issue.record("no time: \(line.line)")
      return
    }
    if case .text? = line["event"] { return }
    guard case .text? = line["bytes"], case .text? = line["from"], case .list(let layers)? = line["layers"],
      !layers.isEmpty
    else {
      Issue.record("no packet: \(line.line)")
      return
    }
  }

  /// Has Wireshark read a capture, where it is there.
  private func expectNothingMalformed(_ capture: String) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/tshark") else { return }
    let result = try Tool.shell("tshark -r \(capture) 2>/dev/null", in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("Write Command"), "\(result.output)")
    #expect(!result.output.contains("Malformed") && !result.output.contains("nknown)  Unknown"))
  }

  @Test("what agrees leaves no packets, and a replay keeps them where somebody asks")
  func replay() throws {
    try scenario("sesame5")
    let result = try Command.call(
      "run", Command.root + "/Scenarios/sesame5/drop-during-login.yaml", "--seed", "7", "--out", "out",
      in: folder.path)
    expect(result.status, 0)
    expect(
      folder.names("out/runs/" + folder.names("out/runs")[0]),
      [".held", "journal.jsonl", "manifest.json", "times.jsonl"])
    let replay = try Command.call(
      "replay", "case.yaml", "--seed", "7", "--capture", "it.btsnoop", in: folder.path)
    expect(replay.status, 1)
    let failed = try run("emulator:sesame5", out: "other")
    expect(try bytes("it.btsnoop"), try bytes(failed.capture))
    let useless = try Command.call("run", "case.yaml", "--capture", "it.btsnoop", in: folder.path)
    expect(useless.status, 2)
    #expect(useless.errors.hasPrefix("lockstep: --capture goes with --transport;"), "\(useless.errors)")
  }

  @Test("the registration of an OS2 lock is kept without the secret that it tells")
  func registration() throws {
    try folder.write(
      "case.yaml",
      """
      scenario: A registration that nobody likes
      machine: sesame
      device: { lock: sesame3, registered: false }
      steps:
        - closeTo
        - connect
        - until: { status: readytoRegister }
        - register
        - expect: { status: locked, within: 3 s }
      """)
    let failed = try run("emulator:sesame3", out: "one")
    let packets = try folder.read(failed.packets)
    #expect(packets.contains(String(repeating: "**", count: 16) + "\""), "\(packets)")
    #expect(packets.contains(#"{"layer":"Answer","text":"identity: success, the rest withheld"}"#))
    #expect(packets.contains(#"{"layer":"Publish","text":"login, clock "#), "\(packets)")
    // What is gone is gone: nobody can read the session in the capture.
    let text = try Command.call("packets", failed.capture, in: folder.path)
    #expect(text.output.contains("not readable: an OS2 session's key"), "\(text.output)")
  }

  @Test("a lock on the air is read down to its commands, on the client's side and on its own")
  func onTheAir() throws {
    try scenario("sesame5", "")
    let bench = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"], in: folder)
    let result = try Command.drive(["case.yaml"], bench)
    expect(result.status, 1)
    let run = "Reports/runs/" + folder.names("Reports/runs")[0]
    let names = folder.names(run + "/packets")
    try #require(names.count == 2, "\(names)")
    for name in ["\(run)/capture.btsnoop", "\(run)/packets/\(names[0])"] {
      let text = try Command.call("packets", name, "--key", "lock.yaml", in: folder.path)
      expect(text.status, 0)
      #expect(text.output.contains("client      Command    unlock, “Alice”\n"), "\(text.output)")
      #expect(text.output.contains("lock        Answer     login: success, clock "), "\(text.output)")
      try expectNothingMalformed(name)
    }
    #expect(
      try folder.read("\(run)/packets/\(names[1])").contains(#"{"layer":"Command","text":"unlock, “Alice”"}"#)
    )
    expect(folder.files(with: try folder.secret()), ["lock.yaml"])
  }

  @Test("what is no capture is refused, and one that is torn is read as far as it goes")
  func odd() throws {
    try scenario("sesame5")
    let capture = try run("emulator:sesame5", out: "one").capture
    let whole = try Command.call("packets", capture, in: folder.path)
    try bytes(capture).dropLast(3).write(to: URL(filePath: folder.path + "/torn"))
    let torn = try Command.call("packets", "torn", in: folder.path)
    expect(torn.status, 0)
    expect(torn.output.split(separator: "\n"), whole.output.split(separator: "\n").dropLast())
    #expect(
      torn.errors.hasPrefix("lockstep: torn: the capture ends in the middle of a packet, at "),
      "\(torn.errors)")
    var broken = try bytes(capture)
    broken[20] = 0xFF
    try broken.write(to: URL(filePath: folder.path + "/broken"))
    try folder.write("none", "scenario: 1")
    try folder.write("open.yaml", "lock: sesame5\nuuid: 5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10\n")
    for (words, complaint) in [
      (["broken"], "lockstep: broken: not btsnoop any more, at 20: "),
      (["none"], "lockstep: none: this is no capture that can be read, at 0: not a btsnoop file"),
      (["missing"], "lockstep: missing: there is no such file or folder"),
      ([capture, "--key", "missing"], "lockstep: --key: missing: there is no such file or folder"),
      ([capture, "--key", "open.yaml"], "lockstep: --key: open.yaml: others can read the key of this lock"),
    ] {
      let result = try Command.line(
        "packets " + words.joined(separator: " "), in: folder.path)
      expect(result.status, 2)
      #expect(result.errors.hasPrefix(complaint), "\(result.errors)")
    }
  }
}
