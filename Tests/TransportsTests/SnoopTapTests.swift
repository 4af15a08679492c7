import Bluetooth
import Foundation
import Simulation
import TestSupport
import Testing

@testable import Transports

private let reset = HCIPacket.command(opcode: 0x0C03, parameters: [])
private let resetDone = HCIPacket.event(code: 0x0E, parameters: [0x01, 0x03, 0x0C, 0x00])
private let data = HCIPacket.acl(
  ACLPacket(
    handle: ConnectionHandle(rawValue: 0x040), boundary: .firstFlushable, data: [3, 0, 4, 0, 0x02, 0x17, 0]))

/// The records of a capture, which ends with a whole one unless it may be torn.
func records(of path: String, mayBeTorn: Bool = false) throws -> [BTSnoop.Record] {
  var reader = try BTSnoopReader(Array(try Data(contentsOf: URL(filePath: path))))
  var records: [BTSnoop.Record] = []
  while let record = try reader.next() { records.append(record) }
  if !mayBeTorn { expect(reader.tear, nil) }
  return records
}

/// A program that reads captures, and what it says of one.
private struct Reader: CustomTestStringConvertible {
  var program: String
  var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }
  var testDescription: String { program }

  static let all = [Reader(program: "/usr/bin/tshark"), Reader(program: "/usr/bin/btmon")]

  func read(_ path: String) throws -> (status: Int32, lines: [Substring]) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["-r", path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text.split(separator: "\n"))
  }

  /// How many packets there are in what it said.
  func packets(_ lines: [Substring]) -> Int {
    program.hasSuffix("tshark") ? lines.count : lines.count { $0.hasPrefix("<") || $0.hasPrefix(">") }
  }
}

@Suite("Captures of carriers")
struct SnoopTapTests {
  private let files: TemporaryFolder
  private var path: String { files.path + "/capture.btsnoop" }

  init() throws { files = try TemporaryFolder() }

  @Test(
    "both directions are written down as they happen", arguments: [CarrierSettings.Role.host, .controller])
  func bothWays(role: CarrierSettings.Role) throws {
    let rig = try CarrierRig(.unixClient) {
      $0.tap = path
      $0.role = role
    }
    let (ours, theirs) = role == .host ? (reset, resetDone) : (resetDone, reset)
    try rig.carrier.send(ours)
    expect(try records(of: path).map(\.packet), [ours.h4])
    rig.say(theirs.h4 + data.h4)
    expect(rig.outcome(packets: 2).packets, [theirs, data])
    let written = try records(of: path)
    expect(written.map(\.packet), [ours.h4, theirs.h4, data.h4])
    let isReceived = role == .host
    expect(written.map { $0.flags.contains(.received) }, [!isReceived, isReceived, isReceived])
    expect(written.map { $0.flags.contains(.control) }, [true, true, false])
    let now = BTSnoop.unixEpoch + UInt64(Date().timeIntervalSince1970 * 1_000_000)
    #expect(written.allSatisfy { $0.time <= now && $0.time + 60_000_000 > now })
  }

  @Test("what is no packet any more is not in it, and it goes on over another connection")
  func afterFault() throws {
    let rig = try CarrierRig(.tcpClient) { $0.tap = path }
    rig.say(resetDone.h4 + [0x63])
    expect(rig.outcome().fault?.symptom, .nonsense)
    try rig.openAgain()
    try rig.carrier.send(reset)
    expect(try records(of: path).map(\.packet), [resetDone.h4, reset.h4])
  }

  @Test("it begins empty, but not while another program writes to it")
  func taken() throws {
    _ = try Data([1, 2, 3]).write(to: URL(filePath: path))
    let rig = try CarrierRig(.unixClient) { $0.tap = path }
    try rig.carrier.send(reset)
    let fault = #expect(throws: CarrierFault.self) { _ = try SnoopTap(creating: path, role: .host) }
    expect(fault, CarrierFault(.busy, "the capture \(path) is being written by another program"))
    expect(try records(of: path).map(\.packet), [reset.h4])
  }

  @Test(
    "where it cannot be written, that is said, and the carrier goes on without",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
  func unwritable() throws {
    for (path, reason) in [("/nonexistent/tap", "No such file"), ("/dev/full", "No space left")] {
      let fault = #expect(throws: CarrierFault.self) { try CarrierRig(.unixClient) { $0.tap = path } }
      expect(fault?.symptom, .unavailable)
      #expect(fault?.detail.hasPrefix("the capture \(path) cannot be written (\(reason)") == true, "\(fault)")
    }
  }

  @Test(
    "other programs read it without a complaint",
    .enabled(if: Reader.all.allSatisfy(\.isInstalled), "tshark and btmon are not both installed"),
    arguments: Reader.all)
  private func readable(reader: Reader) throws {
    let rig = try CarrierRig(.unixClient) { $0.tap = path }
    try rig.carrier.send(reset)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
    let (status, lines) = try reader.read(path)
    expect(status, 0)
    expect(reader.packets(lines), 2)
    #expect(!lines.contains { $0.contains("alformed") }, "\(lines)")
  }

  @Test("a program that is killed while it writes leaves a file that can be read")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      var tap = try SnoopTap(creating: pathOfKilled(getppid()), role: .host)
      Thread.detachNewThread {
        usleep(200_000)
        kill(getpid(), SIGKILL)
      }
      while tap.note(data, isSent: true), tap.note(resetDone, isSent: false) {}
    }
    let path = pathOfKilled(getpid())
    defer { _ = unsafe unlink(path) }
    // The system writes page by page, and may be ended between two.
    let written = try records(of: path, mayBeTorn: true)
    #expect(written.count > 100)
    expect(Set(written.map(\.packet)), [data.h4, resetDone.h4])
    for reader in Reader.all where reader.isInstalled {
      expect(reader.packets(try reader.read(path).lines), written.count)
    }
  }
}

/// Where a program writes that is started by another, and is killed.
private func pathOfKilled(_ parent: Int32) -> String { "/tmp/lockstep-killed-\(parent).btsnoop" }
