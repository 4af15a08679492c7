import CallFaults
import System
import Bluetooth
import Foundation
import Glibc
import Basics
import TestSupport
import Testing

@testable import Transports

/// Where a program writes that is started by another, and is killed.
private func pathOfKilled(_ parent: Int32) -> String { "/tmp/lockstep-killed-\(parent).btsnoop" }

@Suite("Captures of transports")
struct TransportCaptureTests {
  private let files: TemporaryFolder
  private var path: String { files.path + "/capture.btsnoop" }

  init() throws { files = try TemporaryFolder() }

  private let reset = HCIPacket.command(opcode: 0x0C03, parameters: [])
  private let resetDone = HCIPacket.event(code: 0x0E, parameters: [0x01, 0x03, 0x0C, 0x00])
  private let exchange = HCIPacket.acl(
    ACLPacket(
      handle: ConnectionHandle(rawValue: 0x040), boundary: .first, data: [3, 0, 4, 0, 0x02, 0x17, 0]))

  /// A reset, its answer, and a request on a link.
  private func record(_ role: TransportSettings.Role, path: String) throws -> TransportRig {
    let rig = try TransportRig(.unixClient) {
      $0.tap = path
      $0.role = role
    }
    let (said, heard) = role == .host ? (reset, resetDone) : (resetDone, reset)
    try rig.transport.send(said)
    rig.say(heard.h4)
    expect(rig.outcome(packets: 1).packets, [heard])
    try rig.transport.send(exchange)
    return rig
  }

  private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

  @Test(
    "both ways are in it while the transport is still open",
    arguments: [TransportSettings.Role.host, .controller])
  func content(role: TransportSettings.Role) throws {
    let start = Date().timeIntervalSince1970
    let rig = try record(role, path: path)
    var reader = try BTSnoopReader(bytes())
    var records: [BTSnoop.Record] = []
    while let record = try reader.next() { records.append(record) }
    let isHost = role == .host
    expect(
      try records.map { try HCIPacket(decoding: $0.packet) },
      isHost ? [reset, resetDone, exchange] : [resetDone, reset, exchange])
    expect(
      records.map { $0.flags.contains(.received) }, isHost ? [false, true, false] : [true, false, true])
    expect(records.map { $0.flags.contains(.control) }, [true, true, false])
    let first = try #require(records.first)
    let seconds = Double(first.time - BTSnoop.unixEpoch) / 1e6
    #expect((start - 1...Date().timeIntervalSince1970 + 1).contains(seconds))
    #expect(zip(records, records.dropFirst()).allSatisfy { $0.time <= $1.time })
    expect(reader.tear, nil)
    rig.transport.close()
  }

  @Test("it goes on over a new opening")
  func reopened() throws {
    let rig = try record(.host, path: path)
    try rig.transport.reopen()
    try rig.meet()
    try rig.transport.send(reset)
    var reader = try BTSnoopReader(bytes())
    var count = 0
    while try reader.next() != nil { count += 1 }
    expect(count, 4)
  }

  @Test("it begins empty, but not while another program writes to it")
  func taken() throws {
    try Data([1, 2, 3]).write(to: URL(filePath: path))
    let rig = try record(.host, path: path)
    let before = try bytes()
    let fault = #expect(throws: TransportFault.self) { _ = try SnoopTap(creating: path, role: .host) }
    expect(fault, TransportFault(.busy, "the capture \(path) is being written by another program"))
    expect(try bytes(), before)
    expect(before.starts(with: BTSnoop.header), true)
    rig.transport.close()
  }

  @Test("one that cannot be locked at all is nobody's")
  func unlockable() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let calls = try FaultGate.calls { _ = try SnoopTap(creating: path, role: .host) }
      let call = try #require(calls.first { $0.call.hasPrefix("lock@") }?.call)
      let gate = try #require(CallFault("\(call)#1=ENOLCK"))
      let words = "the capture \(path) cannot be kept from other programs (\(errorText(ENOLCK)))"
      #expect(throws: TransportFault(.unavailable, words)) {
        try FaultGate.with(gate) { _ = try SnoopTap(creating: path, role: .host) }
      }
    }
  }

  @Test("a program that is killed while it writes leaves whole records, but perhaps for the last")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      var tap = try SnoopTap(creating: pathOfKilled(getppid()), role: .host)
      let packet = HCIPacket.event(code: 0xFF, parameters: Array(0..<100))
      let end = Waiting.now + .milliseconds(200)
      // The signal comes while another thread goes on.
      Thread.detachNewThread {
        Waiting.wait(for: [], until: end)
        kill(getpid(), SIGKILL)
      }
      while tap.note(packet, isSent: false) {}
    }
    let path = pathOfKilled(getpid())
    defer { _ = unsafe unlink(path) }
    var reader = try BTSnoopReader(Array(try Data(contentsOf: URL(filePath: path))))
    var count = 0
    while let record = try reader.next() {
      if record.packet.count != 103 { Issue.record("record \(count) has \(record.packet.count) bytes") }
      count += 1
    }
    #expect(count > 100)
    // The system writes page by page, and may be ended between two.
    try expectReadable(path, packets: count)
  }

  /// Has tshark, where there is one, read a capture to its end.
  private func expectReadable(_ path: String, packets: Int) throws {
    guard unsafe access("/usr/bin/tshark", X_OK) == 0 else { try Test.cancel("tshark is not installed") }
    let tool = try ChildProcess(command: "tshark -r \(path) | wc -l; echo done")
    expect(tool.nextLine(until: MonotonicClock.now + timeLimit), .line(Array("\(packets)".utf8)))
    tool.stop(grace: .seconds(1))
  }

  @Test("a full disk ends the capture, with a diagnostic, and nothing else")
  func full() throws {
    #expect(throws: TransportFault.self) { try TransportRig(.unixClient) { $0.tap = "/dev/full" } }
    #expect(throws: TransportFault.self) { try TransportRig(.unixClient) { $0.tap = "/nonexistent/capture" } }
    // A pipe takes the header, and nothing more once its other end is closed.
    let pipe = files.path + "/pipe"
    _ = unsafe mkfifo(pipe, 0o600)
    let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK)
    let rig = try TransportRig(.unixClient) { $0.tap = pipe }
    close(reader)
    try rig.transport.send(reset)
    try rig.transport.send(reset)
    expect(rig.hear(8), reset.h4 + reset.h4)
    expect(
      rig.transport.takeDiagnostics(),
      ["\(rig.transport.spec): the capture ends here, since it cannot be written any more (Broken pipe)"])
  }

  @Test(
    "other people's tools read it",
    arguments: [
      ("tshark -r", ["Sent Reset", "Rcvd Command Complete (Reset)", "Exchange MTU Request"]),
      ("btmon -r", ["HCI Command: Reset", "Command Complete", "Exchange MTU Request"]),
    ])
  func tools(command: String, wanted: [String]) throws {
    let program = String(command.split(separator: " ")[0])
    guard unsafe access("/usr/bin/" + program, X_OK) == 0 else {
      try Test.cancel("\(program) is not installed")
    }
    let rig = try record(.host, path: path)
    let tool = try ChildProcess(command: "exec \(command) \(path)")
    var output = ""
    while case .line(let line) = tool.nextLine(until: MonotonicClock.now + timeLimit) {
      output += String(decoding: line, as: UTF8.self) + "\n"
    }
    tool.stop(grace: .seconds(1))
    for text in wanted { #expect(output.contains(text), "\(output)") }
    rig.transport.close()
  }
}
