import Bluetooth
import Simulation
import TestSupport
import Testing

/// A client and a server that hand each other their packets, through bytes, until both are silent.
private struct GATTPair {
  var client: GATTLink
  var server: GATTLink
  var database: GATTDatabase
  private var none = GATTDatabase([])
  /// What the client was told, and what the server was.
  var events: [GATTEvent] = []
  var served: [GATTEvent] = []
  var requests = 0

  init(_ services: [ServiceDefinition], mtu: UInt16 = 23) {
    client = GATTLink(offering: mtu)
    server = GATTLink(offering: mtu)
    database = GATTDatabase(services)
    if mtu > 23 { expect(run(.exchangeMTU), .success(.mtu(mtu))) }
  }

  /// Runs a procedure to its end.
  mutating func run(_ procedure: GATTProcedure) -> Result<GATTResult, GATTFailure>? {
    let (id, actions) = client.start(procedure, at: .zero)
    carry(actions, fromClient: true)
    for case .finished(id, let result) in events { return result }
    return nil
  }

  private mutating func carry(_ first: [GATTLink.Action], fromClient: Bool) {
    var queue = first.map { ($0, fromClient) }
    while !queue.isEmpty, requests < 10_000 {
      let (action, isClients) = queue.removeFirst()
      switch action {
      case .transmit(let packet):
        requests += 1
        #expect(packet.encoded.count <= Int(client.mtu), "\(packet)")
        guard let packet = try? ATTPacket(decoding: packet.encoded) else {
          Issue.record("\(packet) does not decode")
          return
        }
        queue +=
          isClients
          ? server.receive(packet, &database, at: .zero).map { ($0, false) }
          : client.receive(packet, &none, at: .zero).map { ($0, true) }
      case .report(let event): if isClients { events.append(event) } else { served.append(event) }
      case .complain(let sentence): Issue.record("\(sentence)")
      case .disconnect(let reason): Issue.record("disconnected, \(reason)")
      }
    }
  }
}

@Suite("The two ends of a link")
struct GATTLinkTests {
  private static func randomUUID(_ generator: inout SeededGenerator) -> BluetoothUUID {
    generator.below(2) == 0
      ? BluetoothUUID(UInt16(0xF000 + generator.below(0xFFF)))
      : BluetoothUUID(UUID128(high: generator.next(), low: generator.next()))
  }

  private static func randomServices(_ generator: inout SeededGenerator) -> [ServiceDefinition] {
    (0..<generator.below(5) + 1).map { _ in
      ServiceDefinition(
        randomUUID(&generator),
        (0..<generator.below(5)).map { _ in
          let isNotifying = generator.below(2) == 0
          return ServiceDefinition.Characteristic(
            randomUUID(&generator), isNotifying ? [.read, .write, .notify] : [.read, .write],
            value: generator.bytes(generator.below(200)))
        })
    }
  }

  @Test("what is discovered is what was defined, and what is read is what was written", arguments: 1...40)
  func roundTrip(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let services = Self.randomServices(&generator)
    var pair = GATTPair(services, mtu: [23, 24, 50, 247, 517][generator.below(5)])
    guard case .success(.services(let found)) = pair.run(.discoverAllServices) else {
      Issue.record("no services")
      return
    }
    expect(found.map(\.uuid), services.map(\.uuid))
    for (service, definition) in zip(found, services) {
      guard case .success(.services(let same)) = pair.run(.discoverServices(service.uuid)) else { continue }
      #expect(same.contains(service))
      let characteristics = pair.run(.discoverCharacteristics(service.range, wanted: []))
      guard case .success(.characteristics(let found)) = characteristics else {
        Issue.record("no characteristics: \(String(describing: characteristics))")
        return
      }
      expect(found.map(\.uuid), definition.characteristics.map(\.uuid))
      expect(found.map(\.properties), definition.characteristics.map(\.properties))
      for (characteristic, definition) in zip(found, definition.characteristics) {
        expect(pair.run(.read(characteristic.value)), .success(.value(definition.value)))
        let value = generator.bytes(generator.below(512))
        expect(pair.run(.write(characteristic.value, value)), .success(.written))
        expect(pair.served.last, .written(characteristic.value, value))
        expect(pair.run(.read(characteristic.value)), .success(.value(value)))
      }
    }
    #expect(pair.requests < 10_000)
  }

  @Test("a discovery that has found what was wanted asks no more")
  func wanted() {
    var pair = GATTPair(GATTFixture.services)
    let before = pair.requests
    expect(
      pair.run(.discoverServices(BluetoothUUID(0xFD81))),
      .success(.services([.init(uuid: BluetoothUUID(0xFD81), range: GATTFixture.range(0x0A, 0x0F))])))
    // One answer, and one more question that nothing answers: there may be several.
    expect(pair.requests - before, 4)
    expect(
      pair.run(.findService(BluetoothUUID(0xFD81))),
      .success(.services([.init(uuid: BluetoothUUID(0xFD81), range: GATTFixture.range(0x0A, 0x0F))])))
    expect(pair.requests - before, 6)
    expect(pair.run(.findService(BluetoothUUID(0xFD82))), .success(.services([])))
    expect(pair.requests - before, 8)
    let found = pair.run(
      .discoverCharacteristics(
        GATTFixture.range(0x0A, 0x0F), wanted: [BluetoothUUID(0xFFF1), GATTFixture.longUUID]))
    guard case .success(.characteristics(let characteristics)) = found else {
      Issue.record("nothing found")
      return
    }
    expect(characteristics.map(\.value), [GATTFixture.handle(0x0C), GATTFixture.handle(0x0E)])
    expect(pair.requests - before, 12)
    expect(
      pair.run(.discoverDescriptors(GATTFixture.range(0x0F, 0x0F), wanted: BluetoothUUID(0x2902))),
      .success(.descriptors([.init(uuid: BluetoothUUID(0x2902), handle: GATTFixture.handle(0x0F))])))
    expect(pair.requests - before, 14)
  }

  @Test("a subscription belongs to its link and is told")
  func subscription() {
    var pair = GATTPair(GATTFixture.services)
    let value = GATTFixture.handle(0x0E)
    expect(pair.server.mayNotify(value, pair.database), false)
    expect(pair.run(.write(GATTFixture.handle(0x0F), [1, 0])), .success(.written))
    expect(pair.served, [.subscribed(value, .notifications)])
    expect(pair.server.mayNotify(value, pair.database), true)
    var other = GATTLink(offering: 23)
    expect(other.mayNotify(value, pair.database), false)
    expect(pair.run(.read(GATTFixture.handle(0x0F))), .success(.value([1, 0])))
  }

  @Test(
    "answers drawn at random end every procedure, or leave it waiting for its thirty seconds",
    arguments: 1...60)
  func hostileServer(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let procedures: [GATTProcedure] = [
      .exchangeMTU, .discoverAllServices, .discoverServices(BluetoothUUID(0xFD81)),
      .discoverCharacteristics(.all, wanted: []), .discoverDescriptors(.all, wanted: nil),
      .read(GATTFixture.handle(3)), .write(GATTFixture.handle(3), Array(repeating: 7, count: 100)),
    ]
    for procedure in procedures {
      var link = GATTLink(offering: 247)
      var none = GATTDatabase([])
      var (id, actions) = link.start(procedure, at: .zero)
      var isFinished = false
      var steps = 0
      while !isFinished, steps < 100_000 {
        steps += 1
        var requests: [ATTPacket] = []
        for action in actions {
          switch action {
          case .transmit(let packet): requests.append(packet)
          case .report(.finished(id, _)): isFinished = true
          case .disconnect, .report, .complain: break
          }
        }
        if isFinished { break }
        if generator.below(200) == 0 {
          actions = link.advance(to: .zero + .seconds(31))
          continue
        }
        // The right opcode with bytes drawn at random, or anything at all.
        var bytes = generator.bytes(generator.below(24))
        if let request = requests.last, generator.below(4) > 0 { bytes.insert(request.opcode + 1, at: 0) }
        if let packet = try? ATTPacket(decoding: bytes) {
          actions = link.receive(packet, &none, at: .zero)
        } else {
          actions = bytes.isEmpty ? [] : link.receiveUndecodable(opcode: bytes[0], at: .zero)
        }
      }
      #expect(isFinished, "\(procedure)")
    }
  }
}
