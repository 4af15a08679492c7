import System
import Bluetooth
import Foundation
import Glibc
import Basics
import TestSupport
import Testing

@testable import Transports

private let reset = HCIPacket.command(opcode: 0x0C03, parameters: [])
private let resetDone = HCIPacket.event(code: 0x0E, parameters: [0x01, 0x03, 0x0C, 0x00])
private let data = HCIPacket.acl(
  ACLPacket(
    handle: ConnectionHandle(rawValue: 0x040), boundary: .firstFlushable, data: [3, 0, 4, 0, 0x02, 0x17, 0]))
private let hardwareError = HCIPacket.event(code: 0x10, parameters: [0x42])

@Suite("Transports of H4")
struct TransportTests {
  @Test("packets go both ways", arguments: TransportWay.allCases)
  func bothWays(way: TransportWay) throws {
    let rig = try TransportRig(way)
    try rig.transport.send(reset)
    try rig.transport.send(data)
    expect(rig.hear(16), reset.h4 + data.h4)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test("a packet arrives whole, wherever it was divided", arguments: TransportWay.allCases)
  func divided(way: TransportWay) throws {
    let rig = try TransportRig(way)
    for packet in [resetDone, data] {
      for split in 1..<packet.h4.count {
        rig.say(Array(packet.h4[..<split]))
        Waiting.wait(for: rig.transport.descriptors, until: rig.transport.now + .milliseconds(100))
        try rig.transport.service()
        #expect(rig.transport.take() == nil, "after \(split) bytes")
        rig.say(Array(packet.h4[split...]))
        expect(rig.outcome(packets: 1).packets, [packet])
      }
    }
  }

  @Test("packets that arrive together are taken one by one", arguments: TransportWay.allCases)
  func together(way: TransportWay) throws {
    let rig = try TransportRig(way)
    rig.say(resetDone.h4 + data.h4 + hardwareError.h4)
    expect(rig.outcome(packets: 3).packets, [resetDone, data, hardwareError])
    expect(try rig.transport.receive(until: rig.transport.now), nil)
  }

  @Test("a wait ends at its limit when nothing arrives", arguments: TransportWay.allCases)
  func limit(way: TransportWay) throws {
    let rig = try TransportRig(way)
    let limit = rig.transport.now + .milliseconds(30)
    expect(try rig.transport.receive(until: limit), nil)
    #expect(rig.transport.now >= limit)
    #expect(rig.transport.now < limit + timeLimit)
  }

  @Test("what arrived before nonsense is given, then the fault, for good", arguments: TransportWay.allCases)
  func malformed(way: TransportWay) throws {
    let rig = try TransportRig(way)
    rig.say(resetDone.h4 + data.h4 + [0x63, 0x01, 0x02])
    let (packets, fault) = rig.outcome()
    expect(packets, [resetDone, data])
    let sentence = "\(rig.transport.spec) sent what is no HCI packet (99 is not a valid H4 packet indicator)"
    expect(fault, TransportFault(.malformed, sentence))
    rig.say(resetDone.h4)
    expect(rig.outcome().fault, fault)
    expect(#expect(throws: TransportFault.self) { try rig.transport.send(reset) }, fault)
  }

  @Test("what only the other end may send is nonsense from this one")
  func wrongEnd() throws {
    let host = try TransportRig(.tcpClient)
    host.say(reset.h4)
    expect(host.outcome().fault?.symptom, .malformed)
    let controller = try TransportRig(.tcpServer) { $0.role = .controller }
    controller.say(reset.h4)
    expect(controller.outcome(packets: 1).packets, [reset])
    // What came before it counts, it and what comes after it do not.
    controller.say(data.h4 + resetDone.h4 + reset.h4)
    let (packets, fault) = controller.outcome()
    expect(packets, [data])
    expect(fault?.symptom, .malformed)
  }

  @Test("the end of a connection is a loss, in the middle of a packet too", arguments: TransportWay.closable)
  func closed(way: TransportWay) throws {
    let rig = try TransportRig(way)
    rig.say(resetDone.h4 + [0x04, 0x0E])
    rig.hangUp()
    let (packets, fault) = rig.outcome()
    expect(packets, [resetDone])
    let sentence = "\(rig.transport.spec) closed the connection in the middle of a packet"
    expect(fault, TransportFault(.lost, sentence))
  }

  @Test("a serial line that is unplugged is a loss")
  func unplugged() throws {
    let rig = try TransportRig(.serial)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
    rig.hangUp()
    expect(rig.outcome().fault?.symptom, .lost)
  }

  @Test("half a packet and nothing more is silence", arguments: TransportWay.allCases)
  func half(way: TransportWay) throws {
    let rig = try TransportRig(way) { $0.packetTimeout = .milliseconds(100) }
    rig.say([0x04, 0x0E, 0x04, 0x01])
    let sentence = "\(rig.transport.spec) sent 4 bytes of a packet, and nothing more for 100 ms"
    expect(rig.outcome().fault, TransportFault(.silent, sentence))
  }

  @Test("a packet that trickles in is no silence")
  func trickle() throws {
    // It takes longer in all than a byte may take.
    let isHeard = try sometimes {
      let rig = try TransportRig(.unixClient) { $0.packetTimeout = .milliseconds(300) }
      do throws(TransportFault) {
        for byte in resetDone.h4 {
          expect(try rig.transport.receive(until: rig.transport.now + .milliseconds(60)), nil)
          rig.say([byte])
        }
      } catch { return false }
      return rig.outcome(packets: 1).packets == [resetDone]
    }
    expect(isHeard, true)
  }

  @Test(
    "a peer that takes nothing is silent, and only so much is kept for it", arguments: TransportWay.allCases)
  func deaf(way: TransportWay) throws {
    let rig = try TransportRig(way) { $0.sendTimeout = .milliseconds(100) }
    let large = HCIPacket.acl(
      ACLPacket(
        handle: ConnectionHandle(rawValue: 1), boundary: .first, data: Array(repeating: 7, count: 1000)))
    var sent = 0
    let fault = #expect(throws: TransportFault.self) {
      while sent < 100_000 {
        try rig.transport.send(large)
        sent += 1
      }
    }
    expect(fault?.symptom, .silent)
    // The buffers of the system hold some megabytes at most.
    #expect(sent < 20_000)
  }

  @Test("a peer that takes a little now and then is not silent")
  func reluctant() throws {
    let large = HCIPacket.acl(
      ACLPacket(
        handle: ConnectionHandle(rawValue: 1), boundary: .first, data: Array(repeating: 7, count: 1000)))
    // It takes longer in all than it may take nothing.
    let isServed = try sometimes {
      let rig = try TransportRig(.serial) { $0.sendTimeout = .milliseconds(300) }
      do throws(TransportFault) {
        // More than the system holds, so some of it waits with us from here to the end.
        for _ in 0..<60 { try rig.transport.send(large) }
        for _ in 0..<6 {
          expect(try rig.transport.receive(until: rig.transport.now + .milliseconds(100)), nil)
          expect(rig.hear(3000).count, 3000)
          expect(rig.transport.descriptors.first?.events, Int16(POLLIN | POLLOUT))
        }
      } catch { return false }
      return true
    }
    expect(isServed, true)
  }

  @Test("a slow peer hears everything, in order", arguments: TransportWay.allCases)
  func slow(way: TransportWay) throws {
    let rig = try TransportRig(way)
    var expected: [UInt8] = []
    var heard: [UInt8] = []
    for number in 0..<1000 {
      let packet = HCIPacket.acl(
        ACLPacket(
          handle: ConnectionHandle(rawValue: 1), boundary: .first,
          data: Array(repeating: UInt8(truncatingIfNeeded: number), count: 250)))
      expected += packet.h4
      try rig.transport.send(packet)
      heard += rig.hear(255)
      if number % 2 == 0 { try rig.transport.send(packet); expected += packet.h4 }
      if number % 10 == 9 { heard += rig.hear(5 * 255) }
    }
    heard += rig.hear(expected.count - heard.count)
    expect(heard == expected, true)
  }

  @Test("the rest of a packet is not late while nothing is read")
  func full() throws {
    let rig = try TransportRig(.unixClient) { $0.packetTimeout = .milliseconds(100) }
    // One read takes 4096 bytes, which are no multiple of three.
    let small = HCIPacket.event(code: 0xFF, parameters: [])
    rig.say(Array(repeating: small.h4, count: 1400).flatMap(\.self))
    try rig.transport.service()
    Waiting.wait(for: [], until: Waiting.now + .milliseconds(150))
    try rig.transport.service()
    let (packets, fault) = rig.outcome(packets: 1400)
    expect(packets.count, 1400)
    expect(fault, nil)
  }

  @Test("a peer that says more than is taken has to wait")
  func flood() throws {
    let rig = try TransportRig(.unixClient)
    let chunk = Array(repeating: hardwareError.h4, count: 500).flatMap(\.self)
    var said = 0
    for _ in 0..<2000 {
      said += max(0, rig.say(chunk))
      try rig.transport.service()
    }
    #expect(said < 2_000_000)
    expect(rig.transport.pollTimeout, .zero)
    let (packets, fault) = rig.outcome(packets: said / 4)
    expect(packets.count, said / 4)
    expect(fault, nil)
  }
}

/// Calls a server as soon as there is one, says something, and stays for a second.
private func speakOnce(to port: UInt16, _ bytes: [UInt8]) {
  while true {
    usleep(5000)
    guard let peer = try? callLoopback(port) else { continue }
    _ = unsafe write(peer, bytes, bytes.count)
    sleep(1)
    close(peer)
    return
  }
}

@Suite("Opening transports, and opening them again")
struct TransportOpeningTests {
  @Test("after a fault a transport is opened again, and says so", arguments: TransportWay.closable)
  func reopen(way: TransportWay) throws {
    let rig = try TransportRig(way)
    let name = "\(rig.transport.spec)"
    rig.hangUp()
    expect(rig.outcome().fault?.symptom, .lost)
    try rig.transport.reopen()
    try rig.meet()
    let diagnostics = rig.transport.takeDiagnostics()
    expect(diagnostics.first?.hasPrefix("\(name): closed"), true)
    expect(diagnostics.contains("\(name): opened"), true)
    expect(rig.transport.takeDiagnostics(), [])
    try rig.transport.send(reset)
    expect(rig.hear(4), reset.h4)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test("nothing of the old connection comes out of the new one", arguments: TransportWay.closable)
  func forgets(way: TransportWay) throws {
    let rig = try TransportRig(way)
    rig.say(resetDone.h4 + [0x04, 0x0E])
    Waiting.wait(for: rig.transport.descriptors, until: rig.transport.now + timeLimit)
    try rig.transport.service()
    try rig.transport.reopen()
    try rig.meet()
    rig.say(data.h4)
    expect(rig.outcome(packets: 1).packets, [data])
  }

  @Test("a serial line is opened again under its lock")
  func serialAgain() throws {
    let rig = try TransportRig(.serial)
    rig.say([0x63])
    expect(rig.outcome().fault?.symptom, .malformed)
    try rig.transport.reopen()
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test("trying again ends after a while, and says once why")
  func gone() throws {
    let (listener, port) = try listenOnLoopback()
    let files = try TemporaryFolder()
    let settings = TransportRig.settings(files)
    let transport = try Transport(opening: .tcpClient(host: "127.0.0.1", port: port), settings: settings)
    _ = transport.takeDiagnostics()
    close(listener)
    let fault = #expect(throws: TransportFault.self) { try transport.reopen() }
    expect(fault?.symptom, .unavailable)
    let refusal = "does not answer (Connection refused); does the controller run there?"
    expect(
      transport.takeDiagnostics(),
      [
        "\(transport.spec): closed",
        "\(transport.spec): not opened yet: controller unavailable: \(transport.spec) \(refusal)",
      ])
    expect(#expect(throws: TransportFault.self) { try transport.receive(until: .never) }, fault)
  }

  @Test("a server serves one peer, then the next, on one port")
  func nextPeer() throws {
    let rig = try TransportRig(.tcpServer)
    let port = try #require(rig.transport.port)
    let second = try callLoopback(port)
    defer { close(second) }
    _ = unsafe write(second, data.h4, data.h4.count)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
    expect(try rig.transport.receive(until: rig.transport.now), nil)
    rig.hangUp()
    expect(rig.outcome().fault?.symptom, .lost)
    try rig.transport.reopen()
    expect(rig.transport.port, port)
    expect(rig.outcome(packets: 1).packets, [data])
  }

  @Test("what is sent while a server has no peer reaches nobody")
  func nobody() throws {
    let files = try TemporaryFolder()
    var settings = TransportRig.settings(files)
    settings.awaitsPeer = false
    let transport = try Transport(opening: .tcpServer(host: nil, port: 0), settings: settings)
    try transport.send(reset)
    let peer = try callLoopback(try #require(transport.port))
    defer { close(peer) }
    expect(try transport.receive(until: transport.now + .milliseconds(10)), nil)
    try transport.send(data)
    var bytes = [UInt8](repeating: 0, count: 100)
    Waiting.wait(for: [(peer, Int16(POLLIN))], until: transport.now + timeLimit)
    let count = unsafe read(peer, &bytes, bytes.count)
    expect(Array(bytes.prefix(max(0, count))), data.h4)
  }

  @Test("a server to which nobody connects is silent")
  func awaited() throws {
    let files = try TemporaryFolder()
    var settings = TransportRig.settings(files)
    settings.openTimeout = .milliseconds(50)
    let fault = #expect(throws: TransportFault.self) {
      try Transport(opening: .tcpServer(host: "127.0.0.1", port: 0), settings: settings)
    }
    expect(fault, TransportFault(.silent, "no program connected to tcp-server:127.0.0.1:0"))
  }

  @Test("what a peer says with its call is heard, and a command from a controller is not")
  func calledWithWords() throws {
    let files = try TemporaryFolder()
    // Nobody else takes a port so soon that the system has just given away.
    let (listener, port) = try listenOnLoopback()
    close(listener)
    Thread.detachNewThread { speakOnce(to: port, resetDone.h4 + reset.h4) }
    var settings = TransportRig.settings(files)
    settings.tap = files.path + "/tap"
    let spec = TransportSpec.tcpServer(host: "127.0.0.1", port: port)
    let fault = #expect(throws: TransportFault.self) {
      let transport = try Transport(opening: spec, settings: settings)
      expect(try transport.receive(until: Waiting.now + timeLimit), resetDone)
      _ = try transport.receive(until: Waiting.now + timeLimit)
    }
    expect(fault?.symptom, .malformed)
    let capture = Array(try Data(contentsOf: URL(filePath: files.path + "/tap")))
    expect(capture.count, BTSnoop.header.count + 2 * 24 + resetDone.h4.count + reset.h4.count)
  }

  @Test("a port that is taken is busy")
  func portTaken() throws {
    let (listener, port) = try listenOnLoopback()
    defer { close(listener) }
    let fault = #expect(throws: TransportFault.self) {
      try Transport(opening: .tcpServer(host: "127.0.0.1", port: port))
    }
    expect(fault?.symptom, .busy)
  }

  @Test(
    "what is not there is unavailable, in one sentence that names it",
    arguments: [
      "tcp-client:127.0.0.1:1", "tcp-client:no-such-host.invalid:1", "unix-client:/nonexistent/socket",
      "serial:/nonexistent/tty,115200", "serial:/dev/null,115200",
    ])
  func unavailable(text: String) throws {
    let files = try TemporaryFolder()
    let spec = try TransportSpec(text: text)
    let fault = #expect(throws: TransportFault.self) {
      try Transport(opening: spec, settings: TransportRig.settings(files))
    }
    expect(fault?.symptom, .unavailable)
    expect(fault?.detail.hasPrefix(text), true)
  }

  @Test("after closing, everything is a fault and nothing is polled")
  func afterClose() throws {
    let rig = try TransportRig(.tcpClient)
    rig.transport.close()
    let fault = TransportFault(.unavailable, "\(rig.transport.spec) is closed")
    expect(#expect(throws: TransportFault.self) { try rig.transport.send(reset) }, fault)
    expect(#expect(throws: TransportFault.self) { try rig.transport.receive(until: .never) }, fault)
    expect(#expect(throws: TransportFault.self) { try rig.transport.service() }, fault)
    expect(rig.transport.descriptors.isEmpty, true)
    expect(rig.hear(1), [])
  }
}
