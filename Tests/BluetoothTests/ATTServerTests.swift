import Bluetooth
import Basics
import TestSupport
import Testing

private func h(_ number: UInt16) -> AttributeHandle { GATTFixture.handle(number) }
private func range(_ first: UInt16, _ last: UInt16) -> AttributeRange { GATTFixture.range(first, last) }
private func error(_ request: UInt8, _ number: UInt16, _ code: ATTErrorCode) -> ATTPacket {
  GATTFixture.error(request, number, code)
}

/// A request of a client, and what the server answers.
struct ServerExchange: Sendable, CustomTestStringConvertible {
  let request: ATTPacket
  let response: ATTPacket
  let mtu: UInt16

  init(_ request: ATTPacket, _ response: ATTPacket, mtu: UInt16 = 23) {
    self.request = request
    self.response = response
    self.mtu = mtu
  }

  var testDescription: String { "\(request), MTU \(mtu)" }
}

@Suite("The server of a link")
struct ATTServerTests {
  static let lookups: [ServerExchange] = [
    // Find Information: UUIDs of one length at a time.
    ServerExchange(
      .findInformationRequest(range(1, 0xFFFF)),
      .findInformationResponse(
        format: 1, [1, 0, 0, 0x28, 2, 0, 3, 0x28, 3, 0, 0, 0x2A, 4, 0, 3, 0x28, 5, 0, 1, 0x2A])),
    ServerExchange(
      .findInformationRequest(range(11, 14)), .findInformationResponse(format: 1, [11, 0, 3, 0x28])),
    ServerExchange(
      .findInformationRequest(range(12, 14)),
      .findInformationResponse(format: 2, [12, 0] + GATTFixture.longUUIDBytes)),
    ServerExchange(
      .findInformationRequest(range(15, 15)), .findInformationResponse(format: 1, [15, 0, 2, 0x29])),
    ServerExchange(.findInformationRequest(range(26, 0xFFFF)), error(4, 26, .attributeNotFound)),
    ServerExchange(.findInformationRequest(range(0, 9)), error(4, 0, .invalidHandle)),
    ServerExchange(.findInformationRequest(range(9, 8)), error(4, 9, .invalidHandle)),
    // Find By Type Value: services by either spelling, and whatever can be read.
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0x2800, value: [0x81, 0xFD]),
      .findByTypeValueResponse([range(10, 15)])),
    ServerExchange(
      .findByTypeValueRequest(
        range(1, 0xFFFF), type: 0x2800,
        value: [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0x81, 0xFD, 0, 0]),
      .findByTypeValueResponse([range(10, 15)])),
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0x2800, value: GATTFixture.longUUIDBytes),
      .findByTypeValueResponse([range(16, 25)])),
    ServerExchange(
      .findByTypeValueRequest(range(11, 0xFFFF), type: 0x2800, value: [0x81, 0xFD]),
      error(6, 11, .attributeNotFound)),
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0x2800, value: [0x81]),
      error(6, 1, .attributeNotFound)),
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0x2803, value: [0x20, 8, 0, 5, 0x2A]),
      .findByTypeValueResponse([range(7, 9)])),
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0x2A00, value: Array("Lock".utf8)),
      .findByTypeValueResponse([range(3, 3)])),
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0x2902, value: [0, 0]),
      .findByTypeValueResponse([range(9, 9), range(15, 15), range(21, 21)])),
    ServerExchange(
      .findByTypeValueRequest(range(1, 0xFFFF), type: 0xFFF1, value: []), error(6, 1, .attributeNotFound)),
    ServerExchange(
      .findByTypeValueRequest(range(0, 3), type: 0x2800, value: []), error(6, 0, .invalidHandle)),
    // Read By Type: values of one length at a time; only the first refuses.
    ServerExchange(
      .readByTypeRequest(range(1, 9), type: BluetoothUUID(0x2803)),
      .readByTypeResponse(
        length: 7, [2, 0, 2, 3, 0, 0, 0x2A, 4, 0, 2, 5, 0, 1, 0x2A, 7, 0, 0x20, 8, 0, 5, 0x2A])),
    ServerExchange(
      .readByTypeRequest(range(10, 15), type: BluetoothUUID(0x2803)),
      .readByTypeResponse(length: 21, [11, 0, 0x0C, 12, 0] + GATTFixture.longUUIDBytes)),
    ServerExchange(
      .readByTypeRequest(range(16, 25), type: BluetoothUUID(0xFFF3)),
      .readByTypeResponse(length: 3, [20, 0, 1, 23, 0, 2])),
    ServerExchange(
      .readByTypeRequest(range(18, 18), type: BluetoothUUID(0xFFF2)),
      .readByTypeResponse(length: 21, [18, 0] + Array(0..<19))),
    ServerExchange(
      .readByTypeRequest(range(1, 9), type: BluetoothUUID(0x2A05)), error(8, 8, .readNotPermitted)),
    ServerExchange(
      .readByTypeRequest(range(1, 9), type: BluetoothUUID(0x2A06)), error(8, 1, .attributeNotFound)),
    ServerExchange(.readByTypeRequest(range(5, 4), type: BluetoothUUID(0x2A06)), error(8, 5, .invalidHandle)),
    // Read By Group Type: primary services; there are no secondary ones.
    ServerExchange(
      .readByGroupTypeRequest(range(1, 0xFFFF), type: BluetoothUUID(0x2800)),
      .readByGroupTypeResponse(
        length: 6, [1, 0, 5, 0, 0, 0x18, 6, 0, 9, 0, 1, 0x18, 10, 0, 15, 0, 0x81, 0xFD])),
    ServerExchange(
      .readByGroupTypeRequest(range(2, 9), type: BluetoothUUID(0x2800)),
      .readByGroupTypeResponse(length: 6, [6, 0, 9, 0, 1, 0x18])),
    ServerExchange(
      .readByGroupTypeRequest(range(11, 0xFFFF), type: BluetoothUUID(0x2800)),
      .readByGroupTypeResponse(length: 20, [16, 0, 25, 0] + GATTFixture.longUUIDBytes)),
    ServerExchange(
      .readByGroupTypeRequest(range(17, 0xFFFF), type: BluetoothUUID(0x2800)),
      error(0x10, 17, .attributeNotFound)),
    ServerExchange(
      .readByGroupTypeRequest(range(1, 0xFFFF), type: BluetoothUUID(0x2801)),
      error(0x10, 1, .attributeNotFound)),
    ServerExchange(
      .readByGroupTypeRequest(range(1, 0xFFFF), type: BluetoothUUID(0x2803)),
      error(0x10, 1, .unsupportedGroupType)),
    ServerExchange(
      .readByGroupTypeRequest(range(0, 0xFFFF), type: BluetoothUUID(0x2803)),
      error(0x10, 0, .invalidHandle)),
  ]

  static let reads: [ServerExchange] = [
    ServerExchange(.readRequest(h(3)), .readResponse(Array("Lock".utf8))),
    ServerExchange(.readRequest(h(5)), .readResponse([0x08, 0x07])),
    ServerExchange(.readRequest(h(10)), .readResponse([0x81, 0xFD])),
    ServerExchange(.readRequest(h(13)), .readResponse([0x10, 14, 0, 0xF1, 0xFF])),
    ServerExchange(.readRequest(h(15)), .readResponse([0, 0])),
    ServerExchange(.readRequest(h(18)), .readResponse(Array(0..<22))),
    ServerExchange(.readRequest(h(18)), .readResponse(Array(0..<40)), mtu: 41),
    ServerExchange(.readRequest(h(14)), error(0x0A, 14, .readNotPermitted)),
    ServerExchange(.readRequest(h(0)), error(0x0A, 0, .invalidHandle)),
    ServerExchange(.readRequest(h(26)), error(0x0A, 26, .invalidHandle)),
    ServerExchange(.readRequest(h(0xFFFF)), error(0x0A, 0xFFFF, .invalidHandle)),
    ServerExchange(.readBlobRequest(h(18), offset: 22), .readBlobResponse(Array(22..<40))),
    ServerExchange(.readBlobRequest(h(18), offset: 0), .readBlobResponse(Array(0..<22))),
    ServerExchange(.readBlobRequest(h(18), offset: 40), .readBlobResponse([])),
    ServerExchange(.readBlobRequest(h(18), offset: 41), error(0x0C, 18, .invalidOffset)),
    ServerExchange(.readBlobRequest(h(14), offset: 9), error(0x0C, 14, .readNotPermitted)),
    ServerExchange(.readBlobRequest(h(26), offset: 0), error(0x0C, 26, .invalidHandle)),
    ServerExchange(
      .readMultipleRequest([h(20), h(25), h(3)]), .readMultipleResponse([1, 3, 3] + "Lock".utf8)),
    ServerExchange(.readMultipleRequest([h(3), h(18)]), .readMultipleResponse("Lock".utf8 + Array(0..<18))),
    ServerExchange(.readMultipleRequest([h(18), h(18), h(14)]), error(0x0E, 14, .readNotPermitted)),
    ServerExchange(.readMultipleRequest([h(3), h(99)]), error(0x0E, 99, .invalidHandle)),
    ServerExchange(.readMultipleRequest([h(3)]), error(0x0E, 0, .invalidPDU)),
  ]

  static let refusedWrites: [ServerExchange] = [
    ServerExchange(.writeRequest(h(0), [1]), error(0x12, 0, .invalidHandle)),
    ServerExchange(.writeRequest(h(26), [1]), error(0x12, 26, .invalidHandle)),
    ServerExchange(.writeRequest(h(10), [1]), error(0x12, 10, .writeNotPermitted)),
    ServerExchange(.writeRequest(h(11), [1]), error(0x12, 11, .writeNotPermitted)),
    ServerExchange(.writeRequest(h(3), [1]), error(0x12, 3, .writeNotPermitted)),
    ServerExchange(
      .writeRequest(h(18), [UInt8](repeating: 0, count: 513)), error(0x12, 18, .invalidValueLength), mtu: 517),
    ServerExchange(.writeRequest(h(15), [1]), error(0x12, 15, .invalidValueLength)),
    ServerExchange(.writeRequest(h(15), [1, 0, 0]), error(0x12, 15, .invalidValueLength)),
    ServerExchange(.writeRequest(h(15), [2, 0]), error(0x12, 15, .improperConfiguration)),
    ServerExchange(.writeRequest(h(15), [6, 0x80]), error(0x12, 15, .improperConfiguration)),
    ServerExchange(.writeRequest(h(9), [1, 0]), error(0x12, 9, .improperConfiguration)),
    ServerExchange(.prepareWriteRequest(h(3), offset: 0, [1]), error(0x16, 3, .writeNotPermitted)),
    ServerExchange(.prepareWriteRequest(h(26), offset: 0, [1]), error(0x16, 26, .invalidHandle)),
    ServerExchange(
      .prepareWriteRequest(h(18), offset: 0, [UInt8](repeating: 0, count: 19)), error(0x16, 18, .invalidPDU)),
    ServerExchange(.executeWriteRequest(true), .executeWriteResponse),
    ServerExchange(.executeWriteRequest(false), .executeWriteResponse),
    ServerExchange(.unknown(opcode: 0x20, [3, 0, 5, 0]), error(0x20, 0, .requestNotSupported)),
    ServerExchange(.unknown(opcode: 0x00, []), error(0x00, 0, .requestNotSupported)),
    ServerExchange(.unknown(opcode: 0xBF, []), error(0xBF, 0, .requestNotSupported)),
  ]

  @Test("each request has the one response of the specification", arguments: lookups + reads + refusedWrites)
  func answers(exchange: ServerExchange) {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTFixture.link(mtu: exchange.mtu, &database)
    expect(link.receive(exchange.request, &database, at: .zero), [.transmit(exchange.response)])
    expect(exchange.response.encoded.count <= Int(exchange.mtu), true)
  }

  @Test("no entry of a list is longer than its length can say")
  func longestEntry() {
    let long = [UInt8](repeating: 7, count: 512)
    var database = GATTDatabase([
      ServiceDefinition(BluetoothUUID(1), [.init(BluetoothUUID(2), .read, value: long)])
    ])
    var link = GATTFixture.link(mtu: 517, &database)
    expect(
      link.receive(.readByTypeRequest(.all, type: BluetoothUUID(2)), &database, at: .zero),
      [.transmit(.readByTypeResponse(length: 255, [3, 0] + long.prefix(253)))])
    expect(link.receive(.readRequest(h(3)), &database, at: .zero), [.transmit(.readResponse(long))])
  }

  @Test("a list ends where there is no room, and before what may not be read")
  func endOfList() {
    let service = ServiceDefinition(BluetoothUUID(1), [])
    let mixed = ServiceDefinition(
      BluetoothUUID(2),
      [.init(BluetoothUUID(3), .read, value: [7]), .init(BluetoothUUID(3), .write, value: [8])])
    var database = GATTDatabase(Array(repeating: service, count: 6) + [mixed])
    var link = GATTLink(offering: 23)
    expect(
      link.receive(.findByTypeValueRequest(.all, type: 0x2800, value: [1, 0]), &database, at: .zero),
      [.transmit(.findByTypeValueResponse((1...5).map { range($0, $0) }))])
    expect(
      link.receive(.readByTypeRequest(.all, type: BluetoothUUID(3)), &database, at: .zero),
      [.transmit(.readByTypeResponse(length: 3, [9, 0, 7]))])
    expect(
      link.receive(.readByTypeRequest(range(10, 11), type: BluetoothUUID(3)), &database, at: .zero),
      [.transmit(error(8, 11, .readNotPermitted))])
  }

  @Test("a write changes what every link reads, and is reported with its value")
  func write() {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: 23)
    var other = GATTLink(offering: 23)
    expect(
      link.receive(.writeRequest(h(18), [9]), &database, at: .zero),
      [.transmit(.writeResponse), .report(.written(h(18), [9]))])
    expect(
      link.receive(.writeCommand(h(12), [8, 8]), &database, at: .zero), [.report(.written(h(12), [8, 8]))])
    expect(other.receive(.readRequest(h(18)), &database, at: .zero), [.transmit(.readResponse([9]))])
    expect(database.value(of: h(12)), [8, 8])
    database.set([], of: h(18))
    expect(other.receive(.readRequest(h(18)), &database, at: .zero), [.transmit(.readResponse([]))])
  }

  @Test("where writes are held, one with response is made and answered as whoever was told of it says")
  func heldWrites() {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: 23, holdingWrites: true)
    func receive(_ packet: ATTPacket) -> [GATTLink.Action] { link.receive(packet, &database, at: .zero) }

    let old = database.value(of: h(18))
    expect(receive(.writeRequest(h(18), [9])), [.report(.written(h(18), [9]))])
    expect(database.value(of: h(18)), old)
    expect(receive(.readRequest(h(3))), [.reportViolation("a request before the one before was answered")])
    expect(
      link.answerWrite(ATTErrorCode(rawValue: 0x80), &database),
      [.transmit(error(0x12, 18, ATTErrorCode(rawValue: 0x80)))])
    expect(database.value(of: h(18)), old)

    expect(receive(.writeRequest(h(18), [9])), [.report(.written(h(18), [9]))])
    expect(link.answerWrite(nil, &database), [.transmit(.writeResponse)])
    expect(database.value(of: h(18)), [9])
    expect(link.answerWrite(nil, &database), [])

    // What cannot be written is refused without anybody being asked; commands and subscriptions are not held.
    expect(receive(.writeRequest(h(3), [1])), [.transmit(error(0x12, 3, .writeNotPermitted))])
    expect(receive(.writeCommand(h(12), [8])), [.report(.written(h(12), [8]))])
    expect(link.answerWrite(.unlikelyError, &database), [])
    expect(database.value(of: h(12)), [8])
    expect(
      receive(.writeRequest(h(15), [1, 0])),
      [.transmit(.writeResponse), .report(.subscribed(h(14), .notifications))])
    // The reserved bits of a configuration are ignored.
    expect(receive(.writeRequest(h(15), [0xF9, 0x80])), [.transmit(.writeResponse)])
    expect(receive(.readRequest(h(15))), [.transmit(.readResponse([1, 0]))])
  }

  @Test("of a long write that is held each value is asked of, and one that is refused lets none be written")
  func heldLongWrites() {
    let service = ServiceDefinition(
      BluetoothUUID(1),
      [
        .init(BluetoothUUID(2), .write, value: [1]), .init(BluetoothUUID(3), .write, value: [2]),
        .init(BluetoothUUID(4), .notify),
      ])
    let places = [h(3), h(5)]
    for refused in [nil, 0, 1] as [Int?] {
      var database = GATTDatabase([service])
      var link = GATTLink(offering: 23, holdingWrites: true)
      func receive(_ packet: ATTPacket) -> [GATTLink.Action] { link.receive(packet, &database, at: .zero) }
      for (handle, value) in [(places[0], [5]), (h(8), [1, 0]), (places[1], [6])]
        as [(AttributeHandle, [UInt8])]
      {
        _ = receive(.prepareWriteRequest(handle, offset: 0, value))
      }
      var actions = receive(.executeWriteRequest(true))
      for number in 0...(refused ?? 1) {
        expect(actions, [.report(.written(places[number], [[5], [6]][number]))])
        actions = link.answerWrite(number == refused ? .insufficientAuthorization : nil, &database)
      }
      if let refused {
        expect(
          actions, [.transmit(.errorResponse(request: 0x18, places[refused], .insufficientAuthorization))])
        expect(places.map { database.value(of: $0) }, [[1], [2]])
      } else {
        expect(actions, [.transmit(.executeWriteResponse), .report(.subscribed(h(7), .notifications))])
        expect(places.map { database.value(of: $0) }, [[5], [6]])
      }
      expect(receive(.executeWriteRequest(true)), [.transmit(.executeWriteResponse)])
    }
  }

  @Test("a command that may not be carried out is not answered, and complained of")
  func refusedCommands() {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: 517)
    let long = [UInt8](repeating: 0, count: 513)
    let cases: [(ATTPacket, [GATTLink.Action])] = [
      (
        .writeCommand(h(18), [1]),
        [.reportViolation("a write command to 0x0012 of 1 bytes, refused with 0x03 (write not permitted)")]
      ),
      (
        .writeCommand(h(0), []),
        [.reportViolation("a write command to 0x0000 of 0 bytes, refused with 0x01 (invalid handle)")]
      ),
      (
        .writeCommand(h(12), long),
        [
          .reportViolation(
            "a write command to 0x000c of 513 bytes, refused with 0x0d (invalid attribute value length)")
        ]
      ),
      (.signedWriteCommand(h(12), [UInt8](repeating: 0, count: 12)), []),
      (.unknown(opcode: 0x40, [1]), []),
      (.unknown(opcode: 0xFF, []), []),
      (.unknown(opcode: 0x23, [1]), [.reportViolation("opcode 0x23, which nothing asked for")]),
      (.confirmation, [.reportViolation("a confirmation of no indication")]),
    ]
    for (packet, actions) in cases { expect(link.receive(packet, &database, at: .zero), actions) }
    expect(database.value(of: h(12)), [])
  }
}

extension ATTServerTests {
  @Test("each link has its own subscriptions, and a change is reported once")
  func subscriptions() {
    var database = GATTDatabase(GATTFixture.services)
    var (one, other) = (GATTLink(offering: 23), GATTLink(offering: 23))
    expect(
      one.receive(.writeRequest(h(21), [3, 0]), &database, at: .zero),
      [.transmit(.writeResponse), .report(.subscribed(h(20), [.notifications, .indications]))])
    expect(one.receive(.writeRequest(h(21), [3, 0]), &database, at: .zero), [.transmit(.writeResponse)])
    expect(one.receive(.readRequest(h(21)), &database, at: .zero), [.transmit(.readResponse([3, 0]))])
    expect(other.receive(.readRequest(h(21)), &database, at: .zero), [.transmit(.readResponse([0, 0]))])
    expect(one.mayNotify(h(20), database) && one.mayIndicate(h(20), database), true)
    expect(other.mayNotify(h(20), database) || other.mayIndicate(h(20), database), false)
    // Neither another value, nor what is no value, nor what does not exist.
    expect([14, 21, 12, 0, 99].map { one.mayNotify(h($0), database) }, Array(repeating: false, count: 5))
    expect(
      one.receive(.writeRequest(h(21), [2, 0]), &database, at: .zero),
      [.transmit(.writeResponse), .report(.subscribed(h(20), .indications))])
    expect(one.mayNotify(h(20), database), false)
    expect(
      one.receive(.writeCommand(h(21), [0, 0]), &database, at: .zero), [.report(.subscribed(h(20), []))])
  }

  @Test("prepared writes become one value when they are executed, and nothing when they are cancelled")
  func preparedWrites() {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: 23)
    let parts: [ATTPacket] = [
      .prepareWriteRequest(h(18), offset: 0, [1, 2, 3]),
      .prepareWriteRequest(h(21), offset: 0, [1]),
      .prepareWriteRequest(h(18), offset: 3, [4]),
      .prepareWriteRequest(h(21), offset: 1, [0]),
    ]
    let echoes: [ATTPacket] = [
      .prepareWriteResponse(h(18), offset: 0, [1, 2, 3]),
      .prepareWriteResponse(h(21), offset: 0, [1]),
      .prepareWriteResponse(h(18), offset: 3, [4]),
      .prepareWriteResponse(h(21), offset: 1, [0]),
    ]
    for (part, echo) in zip(parts, echoes) {
      expect(link.receive(part, &database, at: .zero), [.transmit(echo)])
    }
    expect(
      link.receive(.executeWriteRequest(false), &database, at: .zero), [.transmit(.executeWriteResponse)])
    expect(
      link.receive(.executeWriteRequest(true), &database, at: .zero), [.transmit(.executeWriteResponse)])
    expect(database.value(of: h(18)), Array(0..<40))
    for part in parts { _ = link.receive(part, &database, at: .zero) }
    expect(
      link.receive(.executeWriteRequest(true), &database, at: .zero),
      [
        .transmit(.executeWriteResponse), .report(.written(h(18), [1, 2, 3, 4])),
        .report(.subscribed(h(20), .notifications)),
      ])
    expect(database.value(of: h(18)), [1, 2, 3, 4])
    expect(
      link.receive(.executeWriteRequest(true), &database, at: .zero), [.transmit(.executeWriteResponse)])
  }

  static let badQueues: [([(UInt16, UInt16, [UInt8])], UInt16, ATTErrorCode)] = [
    ([(18, 0, [1]), (18, 2, [2])], 18, .invalidOffset),
    ([(18, 41, [1])], 18, .invalidOffset),
    ([(18, 0, [1]), (12, 1, [1])], 12, .invalidOffset),
    (
      [(18, 0, [UInt8](repeating: 0, count: 300)), (18, 300, [UInt8](repeating: 0, count: 213))], 18,
      .invalidValueLength
    ),
    ([(18, 0, [1]), (15, 0, [1])], 15, .invalidValueLength),
    ([(15, 2, [0])], 15, .invalidValueLength),
    ([(18, 0, [1]), (15, 0, [6, 0])], 15, .improperConfiguration),
    ([(15, 0, [1, 0]), (15, 2, [0]), (18, 0, [1])], 15, .invalidValueLength),
  ]

  @Test("of a queue with one bad part nothing is written", arguments: badQueues)
  func atomicQueue(parts: [(UInt16, UInt16, [UInt8])], handle: UInt16, code: ATTErrorCode) {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTFixture.link(mtu: 517, &database)
    for (handle, offset, part) in parts {
      expect(
        link.receive(.prepareWriteRequest(h(handle), offset: offset, part), &database, at: .zero),
        [.transmit(.prepareWriteResponse(h(handle), offset: offset, part))])
    }
    expect(
      link.receive(.executeWriteRequest(true), &database, at: .zero), [.transmit(error(0x18, handle, code))])
    expect(database.value(of: h(18)), Array(0..<40))
    expect(link.mayNotify(h(14), database), false)
    // The queue is empty again.
    expect(
      link.receive(.executeWriteRequest(true), &database, at: .zero), [.transmit(.executeWriteResponse)])
  }

  @Test("a queue is full at 64 parts, each link has its own, and what was refused is not in it")
  func fullQueue() {
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: 23)
    var other = GATTLink(offering: 23)
    for offset in 0..<UInt16(64) {
      expect(
        link.receive(.prepareWriteRequest(h(18), offset: offset, [7]), &database, at: .zero),
        [.transmit(.prepareWriteResponse(h(18), offset: offset, [7]))])
    }
    expect(
      link.receive(.prepareWriteRequest(h(18), offset: 64, [7]), &database, at: .zero),
      [.transmit(error(0x16, 18, .prepareQueueFull))])
    expect(
      other.receive(.prepareWriteRequest(h(18), offset: 0, [1]), &database, at: .zero),
      [.transmit(.prepareWriteResponse(h(18), offset: 0, [1]))])
    expect(
      link.receive(.executeWriteRequest(true), &database, at: .zero),
      [.transmit(.executeWriteResponse), .report(.written(h(18), [UInt8](repeating: 7, count: 64)))])
  }
}
