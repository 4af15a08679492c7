import Bluetooth
import Basics
import TestSupport
import Testing

private func h(_ number: UInt16) -> AttributeHandle { GATTFixture.handle(number) }

@Suite("Both ends of a link")
struct GATTLinkTests {
  @Test("the other end's wish for an MTU is granted as far as this end's goes")
  func mtu() {
    let minimum = GATTLink.minimumMTU
    let cases: [(offered: UInt16, asked: UInt16, actions: [GATTLink.Action], mtu: UInt16)] = [
      (185, 100, [.transmit(.exchangeMTUResponse(185)), .report(.mtu(100))], 100),
      (100, 517, [.transmit(.exchangeMTUResponse(100)), .report(.mtu(100))], 100),
      (517, minimum, [.transmit(.exchangeMTUResponse(517))], 23),
      (23, 65_535, [.transmit(.exchangeMTUResponse(23))], 23),
      (50, 0, [.transmit(.exchangeMTUResponse(50)), .reportViolation("an MTU of 0, below 23")], 23),
    ]
    for example in cases {
      var database = GATTDatabase([])
      var link = GATTLink(offering: example.offered)
      expect(link.receive(.exchangeMTURequest(example.asked), &database, at: .zero), example.actions)
      expect(link.mtu, example.mtu)
      expect(
        link.receive(.exchangeMTURequest(30), &database, at: .zero).prefix(2),
        [
          .transmit(.exchangeMTUResponse(example.offered)),
          .reportViolation("the MTU was asked for more than once"),
        ])
    }
  }

  @Test("a request that did not decode is an invalid PDU, and a response that did not is a bad answer")
  func undecodable() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 23)
    for opcode in [2, 4, 6, 8, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18] as [UInt8] {
      expect(
        link.receiveUndecodable(opcode: opcode, at: .zero),
        [
          .reportViolation("an undecodable request, opcode 0x\([opcode].hex)"),
          .transmit(GATTFixture.error(opcode, 0, .invalidPDU)),
        ])
    }
    for opcode in [0x1B, 0x1D, 0x1E, 0x52, 0xD2] as [UInt8] {
      expect(
        link.receiveUndecodable(opcode: opcode, at: .zero),
        [.reportViolation("an undecodable packet, opcode 0x\([opcode].hex)")])
    }
    for opcode in [1, 3, 5, 7, 9, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19] as [UInt8] {
      let (id, _) = link.start(.read(h(1)), at: .zero)
      expect(
        link.receiveUndecodable(opcode: opcode, at: .zero),
        [
          .report(
            .finished(id, .failure(.badAnswer("an undecodable response, opcode 0x\([opcode].hex)"))))
        ])
      expect(
        link.receiveUndecodable(opcode: opcode, at: .zero),
        [.reportViolation("an undecodable response, opcode 0x\([opcode].hex), to no request")])
    }
    expect(link.receive(.readResponse([]), &database, at: .zero).count, 1)
  }

  @Test("indications go out one at a time, each behind the confirmation of the one before")
  func indications() {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: 23)
    let long = [UInt8](repeating: 4, count: 30)
    expect(link.indicate(h(20), [1], at: .zero), [.transmit(.indication(h(20), [1]))])
    expect(link.indicate(h(8), [2], at: .zero), [])
    expect(link.indicate(h(20), long, at: .zero), [])
    expect(link.deadline, .zero + .seconds(30))
    expect(
      link.receive(.confirmation, &database, at: .zero + .seconds(1)),
      [.report(.confirmed(h(20))), .transmit(.indication(h(8), [2]))])
    expect(link.deadline, .zero + .seconds(31))
    expect(
      link.receive(.confirmation, &database, at: .zero + .seconds(2)),
      [.report(.confirmed(h(8))), .transmit(.indication(h(20), Array(long.prefix(20))))])
    expect(
      link.receive(.confirmation, &database, at: .zero + .seconds(3)), [.report(.confirmed(h(20)))])
    expect(link.deadline, nil)
    expect(
      link.receive(.confirmation, &database, at: .zero), [.reportViolation("a confirmation of no indication")]
    )
  }

  @Test("a response that is thirty seconds late ends everything, even what comes at that moment")
  func lateResponse() {
    for isLate in [true, false] {
      var database = GATTDatabase(GATTFixture.services)
      var link = GATTLink(offering: 23)
      _ = link.indicate(h(20), [1], at: .zero + .seconds(9))
      _ = link.start(.read(h(3)), at: .zero + .seconds(1))
      _ = link.start(.exchangeMTU, at: .zero + .seconds(2))
      let late = Instant.zero + .seconds(31)
      expect(link.deadline, late)
      expect(link.advance(to: .zero + .milliseconds(30_999)), [])
      expect(
        isLate ? link.advance(to: late) : link.receive(.readResponse([]), &database, at: late),
        [
          .report(.finished(1, .failure(.timedOut))), .report(.finished(2, .failure(.timedOut))),
          .disconnect(.remoteUserTerminated),
        ])
      checkClosed(&link, .timedOut)
    }
  }

  @Test("a confirmation that is thirty seconds late ends everything alike")
  func lateConfirmation() {
    var link = GATTLink(offering: 23)
    _ = link.indicate(h(20), [1], at: .zero)
    _ = link.indicate(h(20), [2], at: .zero)
    _ = link.start(.read(h(3)), at: .zero + .seconds(1))
    expect(
      link.advance(to: .zero + .seconds(30)),
      [.report(.finished(1, .failure(.timedOut))), .disconnect(.remoteUserTerminated)])
    checkClosed(&link, .timedOut)
  }

  @Test("a lost link fails what runs and what waits, once")
  func linkLost() {
    var link = GATTLink(offering: 23)
    _ = link.start(.read(h(3)), at: .zero)
    _ = link.start(.discoverAllServices, at: .zero)
    _ = link.indicate(h(20), [1], at: .zero)
    expect(
      link.linkLost(),
      [.report(.finished(1, .failure(.linkLost))), .report(.finished(2, .failure(.linkLost)))])
    checkClosed(&link, .linkLost)
  }

  /// Nothing is sent, taken in or waited for any more, and procedures fail at once.
  private func checkClosed(
    _ link: inout GATTLink, _ failure: GATTFailure, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var database = GATTDatabase(GATTFixture.services)
    let later = Instant.zero + .seconds(100)
    expect(link.deadline, nil, sourceLocation: sourceLocation)
    let (id, actions) = link.start(.read(h(3)), at: later)
    expect(actions, [.report(.finished(id, .failure(failure)))], sourceLocation: sourceLocation)
    var rest = link.advance(to: later) + link.indicate(h(20), [1], at: later) + link.linkLost()
    for packet: ATTPacket in [.readRequest(h(3)), .readResponse([]), .notification(h(3), []), .confirmation] {
      rest += link.receive(packet, &database, at: later)
    }
    rest += link.receiveUndecodable(opcode: 2, at: later)
    expect(rest, [], sourceLocation: sourceLocation)
  }

  @Test("a database finds its values, and takes no others")
  func database() async {
    let database = GATTDatabase(GATTFixture.services)
    expect(database.handle(of: GATTFixture.longUUID, in: BluetoothUUID(0xFD81)), h(12))
    expect(database.handle(of: BluetoothUUID(0xFFF3), in: GATTFixture.longUUID), h(20))
    expect(database.handle(of: BluetoothUUID(0xFFF3), in: BluetoothUUID(0xFD81)), nil)
    expect(database.handle(of: BluetoothUUID(0x2902), in: BluetoothUUID(0x1801)), nil)
    expect(database.handle(of: BluetoothUUID(0x2A05), in: BluetoothUUID(0x1801)), h(8))
    expect([0, 1, 11, 15, 26].map { database.value(of: h($0)) }, Array(repeating: nil, count: 5))
    expect(database.value(of: h(5)), [0x08, 0x07])
    await #expect(processExitsWith: .failure) {
      var database = GATTDatabase(GATTFixture.services)
      database.set([], of: GATTFixture.handle(15))
    }
  }
}
