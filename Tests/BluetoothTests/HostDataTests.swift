@testable import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("A host's data")
struct HostDataTests {
  private static let link = HostFixture.link

  /// A write command's frame: 7 bytes and the value.
  private static func written(_ value: [UInt8]) -> [UInt8] {
    frame(.att, ATTPacket.writeCommand(HostFixture.commandHandle, value))
  }

  private static func write(
    _ value: [UInt8], to host: inout BluetoothHost, on link: LinkID = link
  ) -> [HostAction]? {
    host.writeCommand(HostFixture.commandHandle, value, on: link, at: .zero)
  }

  private static func completed(_ packets: CompletedPackets...) -> HCIPacket {
    HCIEvent.numberOfCompletedPackets(packets).packet
  }

  private static func completed(_ count: UInt16) -> HCIPacket {
    completed(CompletedPackets(HostFixture.handle, count))
  }

  /// Agrees on an MTU of 247 with the other end.
  private static func raiseMTU(_ host: inout BluetoothHost) {
    let (id, actions) = host.start(.exchangeMTU, on: link, at: .zero)
    expect(actions, [outgoing(frame(.att, ATTPacket.exchangeMTURequest(247)))])
    expect(
      host.receive(arriving(frame(.att, ATTPacket.exchangeMTUResponse(247))), at: .zero),
      [.report(.gatt(link, .mtu(247))), .report(.gatt(link, .finished(id, .success(.mtu(247)))))])
    expect(host.receive(completed(1), at: .zero), [])
  }

  @Test("two hosts find each other's services, subscribe, write and notify", arguments: [27, 251])
  func conversation(_ aclLength: Int) {
    var pair = HostPair(aclLength: aclLength, aclCount: 1)
    expect(pair.run(.exchangeMTU), .success(.mtu(247)))
    let range = AttributeRange(AttributeHandle(rawValue: 10), HostFixture.configurationHandle)
    expect(
      pair.run(.discoverServices(HostFixture.service)),
      .success(.services([DiscoveredService(uuid: HostFixture.service, range: range)])))
    expect(pair.run(.read(AttributeHandle(rawValue: 3))), .success(.value(Array("Lockstep".utf8))))
    expect(pair.run(.write(HostFixture.configurationHandle, [3, 0])), .success(.written))
    pair.centralEvents = []
    pair.peripheralEvents = []
    let value = [UInt8](0..<244)
    pair.carryOut(central: Self.write(value, to: &pair.central) ?? [])
    pair.carryOut(
      peripheral: pair.peripheral.notify(HostFixture.publishHandle, [7], on: Self.link, at: .zero) ?? [])
    pair.carryOut(
      peripheral: pair.peripheral.indicate(HostFixture.publishHandle, [8], on: Self.link, at: .zero))
    expect(
      pair.peripheralEvents,
      [
        .gatt(Self.link, .written(HostFixture.commandHandle, value)),
        .gatt(Self.link, .confirmed(HostFixture.publishHandle)),
      ])
    expect(
      pair.centralEvents,
      [
        .gatt(Self.link, .notification(HostFixture.publishHandle, [7])),
        .gatt(Self.link, .notification(HostFixture.publishHandle, [8])),
      ])
    #expect(pair.central.hasSentEverything(on: Self.link) && pair.central.mtu(of: Self.link) == 247)
  }

  @Test("a frame that fits a buffer leaves whole; a longer one in fragments, as buffers come free")
  func fragments() {
    var host = HostFixture.connected(.central, aclLength: 27, aclCount: 2)
    Self.raiseMTU(&host)
    expect(Self.write([UInt8](0..<20), to: &host), [outgoing(Self.written([UInt8](0..<20)))])
    expect(host.receive(Self.completed(1), at: .zero), [])
    let long = Self.written([UInt8](0..<60))
    expect(
      Self.write([UInt8](0..<60), to: &host),
      [outgoing(Array(long[..<27])), outgoing(Array(long[27..<54]), .continuing)])
    #expect(!host.hasSentEverything(on: Self.link))
    expect(Self.write([1], to: &host), [])
    expect(host.receive(Self.completed(1), at: .zero), [outgoing(Array(long[54...]), .continuing)])
    expect(host.receive(Self.completed(2), at: .zero), [outgoing(Self.written([1]))])
    expect(host.receive(Self.completed(1), at: .zero), [])
    #expect(host.hasSentEverything(on: Self.link))
  }

  @Test("frames wait up to the limit of the queue; then there is no room until half of them has left")
  func room() {
    var host = HostFixture.connected(.central, aclCount: 1)
    expect(Self.write([0], to: &host), [outgoing(Self.written([0]))])
    for value in 1...4 as ClosedRange<UInt8> { expect(Self.write([value], to: &host), []) }
    expect(Self.write([5], to: &host), nil)
    expect(Self.write([5], to: &host), nil)
    expect(host.receive(Self.completed(1), at: .zero), [outgoing(Self.written([1]))])
    expect(
      host.receive(Self.completed(1), at: .zero),
      [outgoing(Self.written([2])), .report(.readyToSend(Self.link))])
    expect(host.receive(Self.completed(1), at: .zero), [outgoing(Self.written([3]))])
    expect(Self.write([5], to: &host), [])
  }

  @Test("several links take turns with one buffer, fragment by fragment")
  func turns() {
    var host = HostFixture.connected(.central, aclCount: 1)
    let (second, other) = (ConnectionHandle(rawValue: 0x41), LinkID(rawValue: 2))
    HostFixture.add(.peripheral, second, other, to: &host)
    expect(Self.write([0], to: &host), [outgoing(Self.written([0]))])
    for value in 1...3 as ClosedRange<UInt8> { expect(Self.write([value], to: &host), []) }
    for value in 4...5 as ClosedRange<UInt8> { expect(Self.write([value], to: &host, on: other), []) }
    var order: [[UInt8]] = []
    var last = HostFixture.handle
    for _ in 0..<5 {
      for action in host.receive(Self.completed(CompletedPackets(last, 1)), at: .zero) {
        guard case .transmit(.acl(let fragment)) = action else { continue }
        order.append(Array(fragment.data.suffix(1)))
        last = fragment.handle
      }
    }
    expect(order, [[1], [4], [2], [5], [3]])
  }

  @Test("the buffers of a link that ended are free for the others")
  func buffersComeBack() {
    var host = HostFixture.connected(.central, aclCount: 2)
    let (second, other) = (ConnectionHandle(rawValue: 0x41), LinkID(rawValue: 2))
    HostFixture.add(.peripheral, second, other, to: &host)
    for value in 0...2 as ClosedRange<UInt8> { _ = Self.write([value], to: &host) }
    expect(Self.write([9], to: &host, on: other), [])
    expect(Self.write([10], to: &host, on: other), [])
    let over = HCIEvent.disconnectionComplete(
      status: .success, HostFixture.handle, reason: .connectionTimeout)
    expect(
      host.receive(over.packet, at: .zero),
      [
        .report(.disconnected(Self.link, reason: .connectionTimeout, unacknowledged: 3)),
        outgoing(Self.written([9]), on: second), outgoing(Self.written([10]), on: second),
      ])
    // What the controller says of them afterwards, at once, is the echo of former times; later it is odd.
    expect(host.receive(Self.completed(2), at: .zero), [])
    expect(
      host.receive(Self.completed(2), at: .zero + .seconds(1)),
      [.report(.protocolViolation(nil, "2 packets sent of an unknown link 0x0040"))])
    expect(
      host.receive(Self.completed(CompletedPackets(second, 3)), at: .zero),
      [
        .report(
          .protocolViolation(other, "the controller says that it sent 3 packets and had 2"))
      ])
  }

  @Test("nothing is notified or indicated to who did not subscribe, nor sent on a link that is gone")
  func nobody() {
    var host = HostFixture.connected(.peripheral)
    expect(host.notify(HostFixture.publishHandle, [1], on: Self.link, at: .zero), [])
    expect(host.indicate(HostFixture.publishHandle, [1], on: Self.link, at: .zero), [])
    let gone = LinkID(rawValue: 9)
    expect(Self.write([1], to: &host, on: gone), [])
    expect(host.notify(HostFixture.publishHandle, [1], on: gone, at: .zero), [])
    expect(host.disconnect(gone, reason: .remoteUserTerminated, at: .zero), [])
    expect(host.updateParameters(gone, ConnectionParameters(), at: .zero), [])
    expect(host.setDataLength(gone, octets: 251, time: 2120, at: .zero), [])
    let (id, actions) = host.start(.exchangeMTU, on: gone, at: .zero)
    expect(actions, [.report(.gatt(gone, .finished(id, .failure(.linkLost))))])
    #expect(host.mtu(of: gone) == 23 && host.hasSentEverything(on: gone))
  }

  @Test("a value that does not fit the MTU is our own fault")
  func tooLong() async {
    await #expect(processExitsWith: .failure) {
      var host = HostFixture.connected(.central)
      _ = Self.write([UInt8](0..<21), to: &host)
    }
  }
}

@Suite("What arrives in fragments")
struct HostAssemblyTests {
  private static let value = [UInt8](10..<20)
  private static let whole = frame(
    .att, ATTPacket.notification(AttributeHandle(rawValue: 3), value))
  private static let heard: HostAction = .report(
    .gatt(HostFixture.link, .notification(AttributeHandle(rawValue: 3), value)))

  private static func said(_ sentence: String) -> HostAction {
    .report(.protocolViolation(HostFixture.link, sentence))
  }

  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var fragments: [(ACLPacket.Boundary, [UInt8])]
    var actions: [HostAction]
  }

  static let cases: [Case] = [
    Case(testDescription: "whole", fragments: [(.firstFlushable, whole)], actions: [heard]),
    Case(
      testDescription: "whole, marked as hosts mark it", fragments: [(.first, whole)], actions: [heard]),
    Case(
      testDescription: "byte by byte",
      fragments: whole.indices.map { ($0 == 0 ? .firstFlushable : .continuing, [whole[$0]]) },
      actions: [heard]),
    Case(
      testDescription: "an empty beginning",
      fragments: [(.firstFlushable, []), (.continuing, []), (.continuing, whole)], actions: [heard]),
    Case(
      testDescription: "two frames",
      fragments: [
        (.firstFlushable, Array(whole[..<5])), (.continuing, Array(whole[5...])), (.firstFlushable, whole),
      ], actions: [heard, heard]),
    Case(
      testDescription: "a later fragment without a first", fragments: [(.continuing, whole)],
      actions: [said("a later fragment without a first")]),
    Case(
      testDescription: "a frame broken off by a whole one",
      fragments: [(.firstFlushable, Array(whole[..<9])), (.firstFlushable, whole)],
      actions: [said("a frame broken off after 9 bytes by another"), heard]),
    Case(
      testDescription: "a frame broken off by one that goes on",
      fragments: [
        (.firstFlushable, Array(whole[..<9])), (.firstFlushable, Array(whole[..<3])),
        (.continuing, Array(whole[3...])),
      ], actions: [said("a frame broken off after 9 bytes by another"), heard]),
    Case(
      testDescription: "a first fragment too long", fragments: [(.firstFlushable, whole + [0])],
      actions: [said("a fragment of 18 bytes, longer than its frame")]),
    Case(
      testDescription: "a first fragment too long that breaks off another",
      fragments: [(.firstFlushable, Array(whole[..<9])), (.firstFlushable, whole + [0])],
      actions: [
        said("a frame broken off after 9 bytes by another"),
        said("a fragment of 18 bytes, longer than its frame"),
      ]),
    Case(
      testDescription: "fragments too long together, and what follows them",
      fragments: [
        (.firstFlushable, Array(whole[..<9])), (.continuing, whole), (.continuing, [1]),
        (.firstFlushable, whole),
      ],
      actions: [
        said("fragments of 26 bytes, longer than their frame"), said("a later fragment without a first"),
        heard,
      ]),
    Case(
      testDescription: "a boundary that LE does not have", fragments: [(.complete, whole)],
      actions: [said("a fragment with the boundary of a frame that is flushed together")]),
    Case(
      testDescription: "a channel that does not exist is said once",
      fragments: [(.firstFlushable, [1, 0, 0x40, 0, 9]), (.firstFlushable, [1, 0, 0x41, 0, 9])],
      actions: [said("a frame on channel 0x0040, which does not exist")]),
    Case(
      testDescription: "an empty ATT packet", fragments: [(.firstFlushable, [0, 0, 4, 0])],
      actions: [said("an empty ATT packet")]),
    Case(
      testDescription: "an ATT packet beyond the MTU",
      fragments: [(.firstFlushable, [24, 0, 4, 0, 0x1B, 3, 0] + [UInt8](0..<21))],
      actions: [said("an ATT packet of 24 bytes, where the MTU is 23")]),
    Case(
      testDescription: "a torn request is refused", fragments: [(.firstFlushable, [2, 0, 4, 0, 0x0A, 3])],
      actions: [
        said("an undecodable request, opcode 0x0a"),
        outgoing(
          frame(
            .att, ATTPacket.errorResponse(request: 0x0A, AttributeHandle(rawValue: 0), .invalidPDU))),
      ]),
  ]

  @Test("frames are put together, and what does not fit is dropped and said", arguments: cases)
  func assembly(_ test: Case) {
    var host = HostFixture.connected(.central)
    var actions: [HostAction] = []
    for (boundary, data) in test.fragments {
      actions += host.receive(arriving(data, boundary), at: .zero)
    }
    expect(actions, test.actions)
  }

  @Test("what was broadcast is not for a link")
  func broadcast() {
    var host = HostFixture.connected(.central)
    let packet = ACLPacket(
      handle: HostFixture.handle, boundary: .firstFlushable, broadcast: 1, data: Self.whole)
    expect(host.receive(.acl(packet), at: .zero), [Self.said("data that was broadcast")])
  }

  @Test("data that arrives a moment before its link is kept for it")
  func early() {
    var host = HostFixture.ready()
    expect(host.receive(arriving(Array(Self.whole[..<9])), at: .zero), [])
    expect(host.receive(arriving(Array(Self.whole[9...]), .continuing), at: .zero), [])
    let connection = HostFixture.connection(.peripheral)
    expect(
      host.receive(HCIEvent.leConnectionComplete(connection).packet, at: .zero + .milliseconds(1)),
      [.report(.connected(HostFixture.link, connection)), Self.heard])
    expect(host.deadline, nil)
  }

  @Test("data of a link that never comes up is given up, and no more of it kept than a little")
  func unknown() {
    var host = HostFixture.ready()
    let protocolViolation: HostAction = .report(.protocolViolation(nil, "data of an unknown link 0x0040"))
    for _ in 0..<16 { expect(host.receive(arriving(Self.whole), at: .zero), []) }
    expect(host.receive(arriving(Self.whole), at: .zero), [protocolViolation])
    expect(host.deadline, .zero + .milliseconds(100))
    expect(
      host.advance(to: .zero + .milliseconds(100)), [HostAction](repeating: protocolViolation, count: 16))
    expect(host.deadline, nil)
  }

  @Test("data that arrives a moment after the end of its link is passed over")
  func late() {
    var host = HostFixture.connected(.central)
    let over = HCIEvent.disconnectionComplete(
      status: .success, HostFixture.handle, reason: .remoteUserTerminated)
    expect(
      host.receive(over.packet, at: .zero),
      [.report(.disconnected(HostFixture.link, reason: .remoteUserTerminated, unacknowledged: 0))])
    expect(host.receive(arriving(Self.whole), at: .zero + .milliseconds(20)), [])
    expect(host.deadline, nil)
  }
}
