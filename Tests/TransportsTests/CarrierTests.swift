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

@Suite("Carriers of H4")
struct CarrierTests {
  @Test("packets go both ways", arguments: CarrierWay.allCases)
  func bothWays(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    try rig.carrier.send(reset)
    try rig.carrier.send(data)
    expect(rig.hear(16), reset.h4 + data.h4)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test("a packet arrives whole, wherever it was divided", arguments: CarrierWay.allCases)
  func divided(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    for packet in [resetDone, data] {
      for split in 1..<packet.h4.count {
        rig.say(Array(packet.h4[..<split]))
        Waiting.wait(for: rig.carrier.descriptors, until: rig.carrier.now + .milliseconds(100))
        try rig.carrier.service()
        #expect(rig.carrier.take() == nil, "after \(split) bytes")
        rig.say(Array(packet.h4[split...]))
        expect(rig.outcome(packets: 1).packets, [packet])
      }
    }
  }

  @Test("packets that arrive together are taken one by one", arguments: CarrierWay.allCases)
  func together(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    rig.say(resetDone.h4 + data.h4 + hardwareError.h4)
    expect(rig.outcome(packets: 3).packets, [resetDone, data, hardwareError])
    expect(try rig.carrier.receive(until: rig.carrier.now), nil)
  }

  @Test("a wait ends at its limit when nothing arrives", arguments: CarrierWay.allCases)
  func limit(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    let limit = rig.carrier.now + .milliseconds(30)
    expect(try rig.carrier.receive(until: limit), nil)
    #expect(rig.carrier.now >= limit)
    #expect(rig.carrier.now < limit + .milliseconds(500))
  }

  @Test("what arrived before nonsense is given, then the fault, for good", arguments: CarrierWay.allCases)
  func nonsense(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    rig.say(resetDone.h4 + data.h4 + [0x63, 0x01, 0x02])
    let (packets, fault) = rig.outcome()
    expect(packets, [resetDone, data])
    let sentence = "\(rig.carrier.spec) sent what is no HCI packet (99 is not a valid H4 packet indicator)"
    expect(fault, CarrierFault(.nonsense, sentence))
    rig.say(resetDone.h4)
    expect(rig.outcome().fault, fault)
    expect(#expect(throws: CarrierFault.self) { try rig.carrier.send(reset) }, fault)
  }

  @Test("what only the other end may send is nonsense from this one")
  func wrongEnd() throws {
    let host = try CarrierRig(.tcpClient)
    host.say(reset.h4)
    expect(host.outcome().fault?.symptom, .nonsense)
    let controller = try CarrierRig(.tcpServer) { $0.role = .controller }
    controller.say(reset.h4)
    expect(controller.outcome(packets: 1).packets, [reset])
    // What came before it counts, it and what comes after it do not.
    controller.say(data.h4 + resetDone.h4 + reset.h4)
    let (packets, fault) = controller.outcome()
    expect(packets, [data])
    expect(fault?.symptom, .nonsense)
  }

  @Test("the end of a connection is a loss, in the middle of a packet too", arguments: CarrierWay.closable)
  func closed(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    rig.say(resetDone.h4 + [0x04, 0x0E])
    rig.hangUp()
    let (packets, fault) = rig.outcome()
    expect(packets, [resetDone])
    let sentence = "\(rig.carrier.spec) closed the connection in the middle of a packet"
    expect(fault, CarrierFault(.lost, sentence))
  }

  @Test("a serial line that is unplugged is a loss")
  func unplugged() throws {
    let rig = try CarrierRig(.serial)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
    rig.hangUp()
    expect(rig.outcome().fault?.symptom, .lost)
  }

  @Test("half a packet and nothing more is silence", arguments: CarrierWay.allCases)
  func half(way: CarrierWay) throws {
    let rig = try CarrierRig(way) { $0.packetTimeout = .milliseconds(100) }
    rig.say([0x04, 0x0E, 0x04, 0x01])
    let sentence = "\(rig.carrier.spec) sent 4 bytes of a packet, and nothing more for 100 ms"
    expect(rig.outcome().fault, CarrierFault(.silent, sentence))
  }

  @Test("a packet that trickles in is no silence")
  func trickle() throws {
    let rig = try CarrierRig(.unixClient) { $0.packetTimeout = .milliseconds(300) }
    for byte in resetDone.h4 {
      expect(try rig.carrier.receive(until: rig.carrier.now + .milliseconds(60)), nil)
      rig.say([byte])
    }
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test(
    "a peer that takes nothing is silent, and only so much is kept for it", arguments: CarrierWay.allCases)
  func deaf(way: CarrierWay) throws {
    let rig = try CarrierRig(way) { $0.sendTimeout = .milliseconds(100) }
    let large = HCIPacket.acl(
      ACLPacket(
        handle: ConnectionHandle(rawValue: 1), boundary: .first, data: Array(repeating: 7, count: 1000)))
    let start = rig.carrier.now
    var sent = 0
    let fault = #expect(throws: CarrierFault.self) {
      while sent < 100_000 {
        try rig.carrier.send(large)
        sent += 1
      }
    }
    expect(fault?.symptom, .silent)
    // The buffers of the system hold some megabytes at most.
    #expect(sent < 20_000)
    #expect(rig.carrier.now - start < .seconds(5))
  }

  @Test("a peer that takes a little now and then is not silent")
  func reluctant() throws {
    let rig = try CarrierRig(.serial) { $0.sendTimeout = .milliseconds(300) }
    let large = HCIPacket.acl(
      ACLPacket(
        handle: ConnectionHandle(rawValue: 1), boundary: .first, data: Array(repeating: 7, count: 1000)))
    // More than the system holds, so some of it waits with us from here to the end.
    for _ in 0..<60 { try rig.carrier.send(large) }
    for _ in 0..<6 {
      expect(try rig.carrier.receive(until: rig.carrier.now + .milliseconds(100)), nil)
      expect(rig.hear(3000).count, 3000)
      expect(rig.carrier.descriptors.first?.events, Int16(POLLIN | POLLOUT))
    }
  }

  @Test("a slow peer hears everything, in order", arguments: CarrierWay.allCases)
  func slow(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    var expected: [UInt8] = []
    var heard: [UInt8] = []
    for number in 0..<1000 {
      let packet = HCIPacket.acl(
        ACLPacket(
          handle: ConnectionHandle(rawValue: 1), boundary: .first,
          data: Array(repeating: UInt8(truncatingIfNeeded: number), count: 250)))
      expected += packet.h4
      try rig.carrier.send(packet)
      heard += rig.hear(255)
      if number % 2 == 0 { try rig.carrier.send(packet); expected += packet.h4 }
      if number % 10 == 9 { heard += rig.hear(5 * 255) }
    }
    heard += rig.hear(expected.count - heard.count)
    expect(heard == expected, true)
  }

  @Test("the rest of a packet is not late while nothing is read")
  func full() throws {
    let rig = try CarrierRig(.unixClient) { $0.packetTimeout = .milliseconds(100) }
    // One read takes 4096 bytes, which are no multiple of three.
    let small = HCIPacket.event(code: 0xFF, parameters: [])
    rig.say(Array(repeating: small.h4, count: 1400).flatMap(\.self))
    try rig.carrier.service()
    Waiting.wait(for: [], until: Waiting.now + .milliseconds(150))
    try rig.carrier.service()
    let (packets, fault) = rig.outcome(packets: 1400)
    expect(packets.count, 1400)
    expect(fault, nil)
  }

  @Test("a peer that says more than is taken has to wait")
  func flood() throws {
    let rig = try CarrierRig(.unixClient)
    let chunk = Array(repeating: hardwareError.h4, count: 500).flatMap(\.self)
    var said = 0
    for _ in 0..<2000 {
      said += max(0, rig.say(chunk))
      try rig.carrier.service()
    }
    #expect(said < 2_000_000)
    expect(rig.carrier.pollTimeout, .zero)
    let (packets, fault) = rig.outcome(packets: said / 4)
    expect(packets.count, said / 4)
    expect(fault, nil)
  }
}

/// Calls a server as soon as there is one, says something, and stays for a second.
private func speakOnce(to port: UInt16, _ bytes: [UInt8]) {
  for _ in 0..<1000 {
    usleep(5000)
    guard let peer = try? callLoopback(port) else { continue }
    _ = unsafe write(peer, bytes, bytes.count)
    sleep(1)
    close(peer)
    return
  }
}

@Suite("Opening carriers, and opening them again")
struct CarrierOpeningTests {
  @Test("after a fault a carrier is opened again, and says so", arguments: CarrierWay.closable)
  func reopen(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    let name = "\(rig.carrier.spec)"
    rig.hangUp()
    expect(rig.outcome().fault?.symptom, .lost)
    try rig.carrier.reopen()
    try rig.meet()
    let remarks = rig.carrier.takeRemarks()
    expect(remarks.first?.hasPrefix("\(name): closed"), true)
    expect(remarks.contains("\(name): opened"), true)
    expect(rig.carrier.takeRemarks(), [])
    try rig.carrier.send(reset)
    expect(rig.hear(4), reset.h4)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test("nothing of the old connection comes out of the new one", arguments: CarrierWay.closable)
  func forgets(way: CarrierWay) throws {
    let rig = try CarrierRig(way)
    rig.say(resetDone.h4 + [0x04, 0x0E])
    Waiting.wait(for: rig.carrier.descriptors, until: rig.carrier.now + .seconds(1))
    try rig.carrier.service()
    try rig.carrier.reopen()
    try rig.meet()
    rig.say(data.h4)
    expect(rig.outcome(packets: 1).packets, [data])
  }

  @Test("a serial line is opened again under its lock")
  func serialAgain() throws {
    let rig = try CarrierRig(.serial)
    rig.say([0x63])
    expect(rig.outcome().fault?.symptom, .nonsense)
    try rig.carrier.reopen()
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
  }

  @Test("trying again ends after a while, and says once why")
  func gone() throws {
    let (listener, port) = try listenOnLoopback()
    let files = try TemporaryFolder()
    let settings = CarrierRig.settings(files)
    let carrier = try Carrier(opening: .tcpClient(host: "127.0.0.1", port: port), settings: settings)
    _ = carrier.takeRemarks()
    close(listener)
    let start = carrier.now
    let fault = #expect(throws: CarrierFault.self) { try carrier.reopen() }
    expect(fault?.symptom, .unavailable)
    #expect(carrier.now - start < .seconds(2))
    let refusal = "does not answer (Connection refused); does the controller run there?"
    expect(
      carrier.takeRemarks(),
      [
        "\(carrier.spec): closed",
        "\(carrier.spec): not opened yet: controller unavailable: \(carrier.spec) \(refusal)",
      ])
    expect(#expect(throws: CarrierFault.self) { try carrier.receive(until: .never) }, fault)
  }

  @Test("a server serves one peer, then the next, on one port")
  func nextPeer() throws {
    let rig = try CarrierRig(.tcpServer)
    let port = try #require(rig.carrier.port)
    let second = try callLoopback(port)
    defer { close(second) }
    _ = unsafe write(second, data.h4, data.h4.count)
    rig.say(resetDone.h4)
    expect(rig.outcome(packets: 1).packets, [resetDone])
    expect(try rig.carrier.receive(until: rig.carrier.now), nil)
    rig.hangUp()
    expect(rig.outcome().fault?.symptom, .lost)
    try rig.carrier.reopen()
    expect(rig.carrier.port, port)
    expect(rig.outcome(packets: 1).packets, [data])
  }

  @Test("what is sent while a server has no peer reaches nobody")
  func nobody() throws {
    let files = try TemporaryFolder()
    var settings = CarrierRig.settings(files)
    settings.awaitsPeer = false
    let carrier = try Carrier(opening: .tcpServer(host: nil, port: 0), settings: settings)
    try carrier.send(reset)
    let peer = try callLoopback(try #require(carrier.port))
    defer { close(peer) }
    expect(try carrier.receive(until: carrier.now + .milliseconds(10)), nil)
    try carrier.send(data)
    var bytes = [UInt8](repeating: 0, count: 100)
    Waiting.wait(for: [(peer, Int16(POLLIN))], until: carrier.now + .seconds(1))
    let count = unsafe read(peer, &bytes, bytes.count)
    expect(Array(bytes.prefix(max(0, count))), data.h4)
  }

  @Test("a server to which nobody connects is silent")
  func awaited() throws {
    let files = try TemporaryFolder()
    var settings = CarrierRig.settings(files)
    settings.openTimeout = .milliseconds(50)
    let fault = #expect(throws: CarrierFault.self) {
      try Carrier(opening: .tcpServer(host: "127.0.0.1", port: 0), settings: settings)
    }
    expect(fault, CarrierFault(.silent, "nobody connected to tcp-server:127.0.0.1:0"))
  }

  @Test("what a peer says with its call is heard, and a command from a controller is not")
  func calledWithWords() throws {
    let files = try TemporaryFolder()
    // Nobody else takes a port so soon that the system has just given away.
    let (listener, port) = try listenOnLoopback()
    close(listener)
    Thread.detachNewThread { speakOnce(to: port, resetDone.h4 + reset.h4) }
    var settings = CarrierRig.settings(files)
    settings.tap = files.path + "/tap"
    settings.openTimeout = .seconds(5)
    let spec = CarrierSpec.tcpServer(host: "127.0.0.1", port: port)
    let fault = #expect(throws: CarrierFault.self) {
      let carrier = try Carrier(opening: spec, settings: settings)
      expect(try carrier.receive(until: Waiting.now + .seconds(1)), resetDone)
      _ = try carrier.receive(until: Waiting.now + .seconds(1))
    }
    expect(fault?.symptom, .nonsense)
    let capture = Array(try Data(contentsOf: URL(filePath: files.path + "/tap")))
    expect(capture.count, BTSnoop.header.count + 2 * 24 + resetDone.h4.count + reset.h4.count)
  }

  @Test("a port that is taken is busy")
  func portTaken() throws {
    let (listener, port) = try listenOnLoopback()
    defer { close(listener) }
    let fault = #expect(throws: CarrierFault.self) {
      try Carrier(opening: .tcpServer(host: "127.0.0.1", port: port))
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
    let spec = try CarrierSpec(text: text)
    let fault = #expect(throws: CarrierFault.self) {
      try Carrier(opening: spec, settings: CarrierRig.settings(files))
    }
    expect(fault?.symptom, .unavailable)
    expect(fault?.detail.hasPrefix(text), true)
  }

  @Test("after closing, everything is a fault and nothing is polled")
  func afterClose() throws {
    let rig = try CarrierRig(.tcpClient)
    rig.carrier.close()
    let fault = CarrierFault(.unavailable, "\(rig.carrier.spec) is closed")
    expect(#expect(throws: CarrierFault.self) { try rig.carrier.send(reset) }, fault)
    expect(#expect(throws: CarrierFault.self) { try rig.carrier.receive(until: .never) }, fault)
    expect(#expect(throws: CarrierFault.self) { try rig.carrier.service() }, fault)
    expect(rig.carrier.descriptors.isEmpty, true)
    expect(rig.hear(1), [])
  }
}
