@testable import Bluetooth
import Basics
import TestSupport
import Testing

private func h(_ number: UInt16) -> AttributeHandle { GATTFixture.handle(number) }
private func range(_ first: UInt16, _ last: UInt16) -> AttributeRange { GATTFixture.range(first, last) }
private func notFound(_ request: UInt8, _ number: UInt16) -> ATTPacket {
  GATTFixture.error(request, number, .attributeNotFound)
}

/// A procedure, what a server answers to its requests, and what comes of it.
struct ProcedureCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let procedure: GATTProcedure
  let exchanges: [ServerExchange]
  let result: Result<GATTResult, GATTFailure>

  init(
    _ name: String, _ procedure: GATTProcedure, _ exchanges: [ServerExchange],
    _ result: Result<GATTResult, GATTFailure>
  ) {
    testDescription = name
    self.procedure = procedure
    self.exchanges = exchanges
    self.result = result
  }
}

@Suite("The client of a link")
struct GATTClientTests {
  static let lock = BluetoothUUID(0xFD81)
  static let long = GATTFixture.longUUID
  static let longBytes = GATTFixture.longUUIDBytes

  static func search(_ first: UInt16) -> ATTPacket {
    .findByTypeValueRequest(range(first, 0xFFFF), type: 0x2800, value: [0x81, 0xFD])
  }
  static func groups(_ first: UInt16) -> ATTPacket {
    .readByGroupTypeRequest(range(first, 0xFFFF), type: BluetoothUUID(0x2800))
  }
  static func declarations(_ first: UInt16, _ last: UInt16) -> ATTPacket {
    .readByTypeRequest(range(first, last), type: BluetoothUUID(0x2803))
  }
  static func service(_ uuid: BluetoothUUID, _ first: UInt16, _ last: UInt16) -> DiscoveredService {
    DiscoveredService(uuid: uuid, range: range(first, last))
  }
  static func characteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ declaration: UInt16, _ value: UInt16
  ) -> DiscoveredCharacteristic {
    DiscoveredCharacteristic(
      uuid: uuid, properties: properties, declaration: h(declaration), value: h(value))
  }

  static let services: [ProcedureCase] = [
    ProcedureCase(
      "services of a UUID until there are no more", .discoverServices(lock),
      [
        ServerExchange(search(1), .findByTypeValueResponse([range(3, 5), range(9, 9)])),
        ServerExchange(search(10), notFound(6, 10)),
      ], .success(.services([service(lock, 3, 5), service(lock, 9, 9)]))),
    ProcedureCase(
      "services of a UUID up to the last handle", .discoverServices(lock),
      [ServerExchange(search(1), .findByTypeValueResponse([range(3, 0xFFFF)]))],
      .success(.services([service(lock, 3, 0xFFFF)]))),
    ProcedureCase(
      "the first service of a UUID, and no other", .findService(lock),
      [ServerExchange(search(1), .findByTypeValueResponse([range(3, 5), range(9, 9)]))],
      .success(.services([service(lock, 3, 5)]))),
    ProcedureCase(
      "not even a first service of a UUID", .findService(lock),
      [ServerExchange(search(1), notFound(6, 1))], .success(.services([]))),
    ProcedureCase(
      "no service of a long UUID", .discoverServices(long),
      [ServerExchange(.findByTypeValueRequest(.all, type: 0x2800, value: longBytes), notFound(6, 1))],
      .success(.services([]))),
    ProcedureCase(
      "all services", .discoverAllServices,
      [
        ServerExchange(
          groups(1), .readByGroupTypeResponse(length: 6, [1, 0, 5, 0, 0, 0x18, 6, 0, 9, 0, 0x81, 0xFD])),
        ServerExchange(groups(10), .readByGroupTypeResponse(length: 20, [16, 0, 25, 0] + longBytes)),
        ServerExchange(groups(26), notFound(0x10, 26)),
      ],
      .success(
        .services([service(BluetoothUUID(0x1800), 1, 5), service(lock, 6, 9), service(long, 16, 25)]))),
    ProcedureCase(
      "services refused", .discoverAllServices,
      [ServerExchange(groups(1), GATTFixture.error(0x10, 1, .insufficientAuthentication))],
      .failure(.refused(.insufficientAuthentication, h(1)))),
  ]

  static let attributes: [ProcedureCase] = [
    ProcedureCase(
      "characteristics until there are no more", .discoverCharacteristics(range(10, 30), wanted: []),
      [
        ServerExchange(
          declarations(10, 30),
          .readByTypeResponse(length: 7, [11, 0, 2, 12, 0, 1, 0, 13, 0, 0x10, 14, 0, 2, 0])),
        ServerExchange(declarations(15, 30), .readByTypeResponse(length: 21, [16, 0, 4, 17, 0] + longBytes)),
        ServerExchange(declarations(18, 30), notFound(8, 18)),
      ],
      .success(
        .characteristics([
          characteristic(BluetoothUUID(1), .read, 11, 12),
          characteristic(BluetoothUUID(2), .notify, 13, 14),
          characteristic(long, .writeWithoutResponse, 16, 17),
        ]))),
    ProcedureCase(
      "characteristics up to the end of the range", .discoverCharacteristics(range(10, 12), wanted: []),
      [ServerExchange(declarations(10, 12), .readByTypeResponse(length: 7, [11, 0, 2, 12, 0, 1, 0]))],
      .success(.characteristics([characteristic(BluetoothUUID(1), .read, 11, 12)]))),
    ProcedureCase(
      "characteristics until all that are wanted were found",
      .discoverCharacteristics(range(10, 30), wanted: [long, BluetoothUUID(1), long]),
      [
        ServerExchange(declarations(10, 30), .readByTypeResponse(length: 7, [11, 0, 2, 12, 0, 1, 0])),
        ServerExchange(declarations(13, 30), .readByTypeResponse(length: 21, [16, 0, 4, 17, 0] + longBytes)),
      ],
      .success(
        .characteristics([
          characteristic(BluetoothUUID(1), .read, 11, 12),
          characteristic(long, .writeWithoutResponse, 16, 17),
        ]))),
    ProcedureCase(
      "wanted characteristics that are not there",
      .discoverCharacteristics(range(10, 30), wanted: [long]),
      [ServerExchange(declarations(10, 30), notFound(8, 10))], .success(.characteristics([]))),
    ProcedureCase(
      "characteristics of nothing", .discoverCharacteristics(range(10, 9), wanted: [long]), [],
      .success(.characteristics([]))),
    ProcedureCase(
      "descriptors until there are no more", .discoverDescriptors(range(5, 40), wanted: nil),
      [
        ServerExchange(
          .findInformationRequest(range(5, 40)),
          .findInformationResponse(format: 1, [5, 0, 2, 0x29, 7, 0, 1, 0x29])),
        ServerExchange(
          .findInformationRequest(range(8, 40)), .findInformationResponse(format: 2, [9, 0] + longBytes)),
        ServerExchange(.findInformationRequest(range(10, 40)), notFound(4, 10)),
      ],
      .success(
        .descriptors([
          DiscoveredDescriptor(uuid: BluetoothUUID(0x2902), handle: h(5)),
          DiscoveredDescriptor(uuid: BluetoothUUID(0x2901), handle: h(7)),
          DiscoveredDescriptor(uuid: long, handle: h(9)),
        ]))),
    ProcedureCase(
      "descriptors until the one that is wanted was found",
      .discoverDescriptors(range(5, 40), wanted: BluetoothUUID(0x2902)),
      [
        ServerExchange(
          .findInformationRequest(range(5, 40)), .findInformationResponse(format: 1, [6, 0, 2, 0x29]))
      ],
      .success(.descriptors([DiscoveredDescriptor(uuid: BluetoothUUID(0x2902), handle: h(6))]))),
    ProcedureCase(
      "descriptors of nothing", .discoverDescriptors(range(41, 40), wanted: nil), [],
      .success(.descriptors([]))),
  ]

  static func bytes(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0) } }
  static func prepare(_ part: Range<Int>) -> ServerExchange {
    let offset = UInt16(part.lowerBound)
    return ServerExchange(
      .prepareWriteRequest(h(3), offset: offset, bytes(part)),
      .prepareWriteResponse(h(3), offset: offset, bytes(part)))
  }

  static let transfers: [ProcedureCase] = [
    ProcedureCase(
      "a short value", .read(h(3)), [ServerExchange(.readRequest(h(3)), .readResponse(bytes(0..<21)))],
      .success(.value(bytes(0..<21)))),
    ProcedureCase(
      "an empty value", .read(h(3)), [ServerExchange(.readRequest(h(3)), .readResponse([]))],
      .success(.value([]))),
    ProcedureCase(
      "a long value", .read(h(3)),
      [
        ServerExchange(.readRequest(h(3)), .readResponse(bytes(0..<22))),
        ServerExchange(.readBlobRequest(h(3), offset: 22), .readBlobResponse(bytes(22..<44))),
        ServerExchange(.readBlobRequest(h(3), offset: 44), .readBlobResponse([])),
      ], .success(.value(bytes(0..<44)))),
    ProcedureCase(
      "a value that fills a packet and is not long", .read(h(3)),
      [
        ServerExchange(.readRequest(h(3)), .readResponse(bytes(0..<22))),
        ServerExchange(
          .readBlobRequest(h(3), offset: 22), GATTFixture.error(0x0C, 3, .attributeNotLong)),
      ], .success(.value(bytes(0..<22)))),
    ProcedureCase(
      "a value of which not even a read is possible", .read(h(3)),
      [ServerExchange(.readRequest(h(3)), GATTFixture.error(0x0A, 3, .attributeNotLong))],
      .failure(.refused(.attributeNotLong, h(3)))),
    ProcedureCase(
      "the longest value", .read(h(3)),
      [
        ServerExchange(.readRequest(h(3)), .readResponse(bytes(0..<256)), mtu: 257),
        ServerExchange(.readBlobRequest(h(3), offset: 256), .readBlobResponse(bytes(256..<512)), mtu: 257),
      ], .success(.value(bytes(0..<512)))),
    ProcedureCase(
      "a value refused half way", .read(h(3)),
      [
        ServerExchange(.readRequest(h(3)), .readResponse(bytes(0..<22))),
        ServerExchange(.readBlobRequest(h(3), offset: 22), GATTFixture.error(0x0C, 3, .readNotPermitted)),
      ], .failure(.refused(.readNotPermitted, h(3)))),
    ProcedureCase(
      "a write", .write(h(3), bytes(0..<20)),
      [ServerExchange(.writeRequest(h(3), bytes(0..<20)), .writeResponse)], .success(.written)),
    ProcedureCase(
      "a write refused", .write(h(3), []),
      [ServerExchange(.writeRequest(h(3), []), GATTFixture.error(0x12, 3, .writeNotPermitted))],
      .failure(.refused(.writeNotPermitted, h(3)))),
    ProcedureCase(
      "a long write", .write(h(3), bytes(0..<21)),
      [
        prepare(0..<18), prepare(18..<21), ServerExchange(.executeWriteRequest(true), .executeWriteResponse),
      ], .success(.written)),
    ProcedureCase(
      "a long write refused at once", .write(h(3), bytes(0..<21)),
      [
        ServerExchange(
          .prepareWriteRequest(h(3), offset: 0, bytes(0..<18)),
          GATTFixture.error(0x16, 3, .prepareQueueFull))
      ], .failure(.refused(.prepareQueueFull, h(3)))),
    ProcedureCase(
      "a long write refused half way", .write(h(3), bytes(0..<21)),
      [
        prepare(0..<18),
        ServerExchange(
          .prepareWriteRequest(h(3), offset: 18, bytes(18..<21)),
          GATTFixture.error(0x16, 3, .prepareQueueFull)),
        ServerExchange(.executeWriteRequest(false), .executeWriteResponse),
      ], .failure(.refused(.prepareQueueFull, h(3)))),
    ProcedureCase(
      "a long write refused at the end", .write(h(3), bytes(0..<21)),
      [
        prepare(0..<18), prepare(18..<21),
        ServerExchange(.executeWriteRequest(true), GATTFixture.error(0x18, 3, .invalidOffset)),
      ], .failure(.refused(.invalidOffset, h(3)))),
    ProcedureCase(
      "a long write with a wrong echo", .write(h(3), bytes(0..<21)),
      [
        ServerExchange(
          .prepareWriteRequest(h(3), offset: 0, bytes(0..<18)),
          .prepareWriteResponse(h(3), offset: 0, bytes(0..<17))),
        ServerExchange(.executeWriteRequest(false), GATTFixture.error(0x18, 0, .unlikelyError)),
      ], .failure(.badAnswer("what was prepared at 0 came back different"))),
    ProcedureCase(
      "a long write with an echo of another place", .write(h(3), bytes(0..<21)),
      [
        prepare(0..<18),
        ServerExchange(
          .prepareWriteRequest(h(3), offset: 18, bytes(18..<21)),
          .prepareWriteResponse(h(3), offset: 0, bytes(18..<21))),
        ServerExchange(.executeWriteRequest(false), .executeWriteResponse),
      ], .failure(.badAnswer("what was prepared at 18 came back different"))),
  ]

  @Test("a procedure asks no more than it must", arguments: services + attributes + transfers)
  func procedure(_ example: ProcedureCase) {
    check(example)
  }

  static let lies: [(String, GATTProcedure, ATTPacket, String)] = [
    ("no list", .discoverServices(lock), .findByTypeValueResponse([]), "an empty list"),
    (
      "a group that ends before it begins", .discoverServices(lock),
      .findByTypeValueResponse([range(5, 3)]), "handles from 0x0005 to 0x0003"
    ),
    (
      "groups in the wrong order", .discoverServices(lock),
      .findByTypeValueResponse([range(5, 7), range(7, 9)]),
      "handle 0x0007 up to 0x0009, where 0x0008 to 0xffff was left"
    ),
    (
      "something behind the last handle", .discoverServices(lock),
      .findByTypeValueResponse([range(5, 0xFFFF), range(1, 1)]),
      "handle 0x0001 up to 0x0001, where nothing was left"
    ),
    (
      "handle 0", .discoverAllServices, .readByGroupTypeResponse(length: 6, [0, 0, 9, 0, 1, 2]),
      "handle 0x0000 up to 0x0009, where 0x0001 to 0xffff was left"
    ),
    (
      "entries of no length", .discoverAllServices, .readByGroupTypeResponse(length: 0, []),
      "entries of 0 bytes"
    ),
    (
      "entries of an impossible length", .discoverAllServices,
      .readByGroupTypeResponse(length: 8, [1, 0, 1, 0, 1, 2, 3, 4]), "entries of 8 bytes"
    ),
    (
      "half an entry", .discoverAllServices,
      .readByGroupTypeResponse(length: 6, [1, 0, 1, 0, 1, 2, 2, 0, 2]), "9 bytes of entries of 6"
    ),
    (
      "no entry", .discoverCharacteristics(range(2, 9), wanted: []), .readByTypeResponse(length: 7, []),
      "0 bytes of entries of 7"
    ),
    (
      "a declaration outside the range", .discoverCharacteristics(range(2, 9), wanted: []),
      .readByTypeResponse(length: 7, [1, 0, 2, 2, 0, 1, 2]),
      "handle 0x0001 up to 0x0002, where 0x0002 to 0x0009 was left"
    ),
    (
      "a value outside the range", .discoverCharacteristics(range(2, 9), wanted: []),
      .readByTypeResponse(length: 7, [9, 0, 2, 10, 0, 1, 2]),
      "handle 0x0009 up to 0x000a, where 0x0002 to 0x0009 was left"
    ),
    (
      "a value in its declaration's place", .discoverCharacteristics(range(2, 9), wanted: []),
      .readByTypeResponse(length: 7, [3, 0, 2, 3, 0, 1, 2]), "value 0x0003 of characteristic 0x0003"
    ),
    (
      "descriptors of no format", .discoverDescriptors(range(2, 9), wanted: nil),
      .findInformationResponse(format: 3, [2, 0, 1, 2]), "format 3"
    ),
    (
      "one descriptor twice", .discoverDescriptors(range(2, 9), wanted: nil),
      .findInformationResponse(format: 1, [2, 0, 1, 2, 2, 0, 1, 2]),
      "handle 0x0002 up to 0x0002, where 0x0003 to 0x0009 was left"
    ),
    (
      "an answer longer than a packet", .read(h(3)), .readResponse([UInt8](repeating: 0, count: 23)),
      "23 bytes in a packet of 23"
    ),
    ("another answer", .read(h(3)), .writeResponse, "opcode 0x13 for request 0x0a"),
    (
      "an error for another request", .write(h(3), []), notFound(0x0A, 3),
      "an error for request 0x0a, not 0x12"
    ),
  ]

  @Test("an MTU that is too small changes nothing, and is said")
  func smallMTU() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 100)
    _ = link.start(.exchangeMTU, at: .zero)
    expect(
      link.receive(.exchangeMTUResponse(22), &database, at: .zero),
      [.reportViolation("an MTU of 22, below 23"), .report(.finished(1, .success(.mtu(23))))])
    expect(link.mtu, 23)
  }

  @Test("an answer that cannot be true fails the procedure, and the next one goes on", arguments: lies)
  func lie(name: String, procedure: GATTProcedure, answer: ATTPacket, sentence: String) {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 100)
    _ = link.start(procedure, at: .zero)
    _ = link.start(.write(h(9), [1]), at: .zero)
    expect(
      link.receive(answer, &database, at: .zero),
      [.report(.finished(1, .failure(.badAnswer(sentence)))), .transmit(.writeRequest(h(9), [1]))])
    expect(
      link.receive(.writeResponse, &database, at: .zero), [.report(.finished(2, .success(.written)))])
    expect(link.mtu, 23)
  }
}

extension GATTClientTests {
  /// Plays a server that answers as the example says.
  private func check(_ example: ProcedureCase, sourceLocation: SourceLocation = #_sourceLocation) {
    var database = GATTDatabase([])
    var link = GATTFixture.link(mtu: example.exchanges.first?.mtu ?? 23, &database)
    var (id, actions) = link.start(example.procedure, at: .zero)
    for exchange in example.exchanges {
      expect(actions, [.transmit(exchange.request)], sourceLocation: sourceLocation)
      actions = link.receive(exchange.response, &database, at: .zero)
    }
    expect(actions, [.report(.finished(id, example.result))], sourceLocation: sourceLocation)
    expect(link.deadline, nil, sourceLocation: sourceLocation)
  }

  @Test("the MTU is asked for once, and is the lesser of both")
  func exchangeMTU() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 185)
    expect(link.start(.exchangeMTU, at: .zero).1, [.transmit(.exchangeMTURequest(185))])
    expect(
      link.receive(.exchangeMTUResponse(100), &database, at: .zero),
      [.report(.mtu(100)), .report(.finished(1, .success(.mtu(100))))])
    expect(link.mtu, 100)
    expect(link.start(.exchangeMTU, at: .zero).1, [.report(.finished(2, .success(.mtu(100))))])
  }

  @Test("a server that does not know the MTU exchange leaves the least MTU")
  func refusedMTU() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 185)
    _ = link.start(.exchangeMTU, at: .zero)
    expect(
      link.receive(GATTFixture.error(2, 0, .requestNotSupported), &database, at: .zero),
      [.report(.finished(1, .failure(.refused(.requestNotSupported, h(0)))))])
    expect(link.mtu, 23)
    expect(link.start(.exchangeMTU, at: .zero).1, [.report(.finished(2, .success(.mtu(23))))])
  }

  @Test("a read that was asked before the MTU grew, and answered short of the new one, goes on")
  func growingMTU() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 100)
    _ = link.start(.read(h(3)), at: .zero)
    _ = link.receive(.exchangeMTURequest(100), &database, at: .zero)
    expect(
      link.receive(.readResponse([UInt8](repeating: 5, count: 22)), &database, at: .zero),
      [.transmit(.readBlobRequest(h(3), offset: 22))])
    expect(
      link.receive(.readBlobResponse([6]), &database, at: .zero),
      [.report(.finished(1, .success(.value([UInt8](repeating: 5, count: 22) + [6]))))])
  }

  @Test("a value that never ends is given up at 512 bytes")
  func endlessValue() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 23)
    var actions = link.start(.read(h(3)), at: .zero).1
    expect(actions, [.transmit(.readRequest(h(3)))])
    let full = [UInt8](repeating: 0, count: 22)
    actions = link.receive(.readResponse(full), &database, at: .zero)
    for count in 1..<24 {
      expect(actions, [.transmit(.readBlobRequest(h(3), offset: UInt16(22 * count)))])
      actions = link.receive(.readBlobResponse(full), &database, at: .zero)
    }
    expect(actions, [.report(.finished(1, .failure(.badAnswer("a value longer than 512 bytes"))))])
  }

  @Test("procedures wait for each other, and what the server says unasked does not")
  func queue() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 23)
    expect(link.start(.read(h(3)), at: .zero).1, [.transmit(.readRequest(h(3)))])
    expect(link.start(.discoverDescriptors(range(2, 1), wanted: nil), at: .zero).1, [])
    expect(link.start(.write(h(4), [7]), at: .zero).1, [])
    expect(
      link.receive(.notification(h(9), [1]), &database, at: .zero), [.report(.notification(h(9), [1]))])
    expect(
      link.receive(.indication(h(9), [2]), &database, at: .zero),
      [.transmit(.confirmation), .report(.notification(h(9), [2]))])
    expect(
      link.receive(.notification(h(0), [1]), &database, at: .zero),
      [.reportViolation("a notification or indication of handle 0")])
    expect(
      link.receive(.readResponse([5]), &database, at: .zero),
      [
        .report(.finished(1, .success(.value([5])))), .report(.finished(2, .success(.descriptors([])))),
        .transmit(.writeRequest(h(4), [7])),
      ])
    expect(
      link.receive(.writeResponse, &database, at: .zero), [.report(.finished(3, .success(.written)))])
    expect(
      link.receive(.writeResponse, &database, at: .zero),
      [.reportViolation("a response, opcode 0x13, to no request")])
  }

  @Test("the slowest server in the world is done after 65535 answers")
  func slowest() {
    var database = GATTDatabase([])
    var link = GATTLink(offering: 23)
    var actions = link.start(.discoverAllServices, at: .zero).1
    var count = 0
    while case .transmit(.readByGroupTypeRequest(let left, _))? = actions.first, count < 70_000 {
      let (low, high) = (UInt8(left.first.rawValue & 0xFF), UInt8(left.first.rawValue >> 8))
      let entry = [low, high, low, high, 1, 2]
      actions = link.receive(.readByGroupTypeResponse(length: 6, entry), &database, at: .zero)
      count += 1
    }
    expect(count, 65_535)
    guard case .report(.finished(1, .success(.services(let services))))? = actions.first else {
      Issue.record("not finished")
      return
    }
    expect(services.count, 65_535)
  }
}
