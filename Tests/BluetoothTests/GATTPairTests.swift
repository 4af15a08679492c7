@testable import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("A client and a server that speak to each other")
struct GATTPairTests {
  @Test("what is discovered is what was defined, at any MTU", arguments: 1...40 as ClosedRange<UInt64>)
  func discovery(seed: UInt64) {
    var random = SeededGenerator(seed: seed, for: "discovery")
    let definitions = randomServices(&random)
    let layout = Layout(definitions)
    var pair = randomPair(definitions, &random)
    expect(pair.run(.discoverAllServices), .success(.services(layout.services)))
    for (service, characteristics) in zip(layout.services, layout.characteristics) {
      let alike = layout.services.filter { $0.uuid == service.uuid }
      expect(pair.run(.discoverServices(service.uuid)), .success(.services(alike)))
      expect(pair.run(.findService(service.uuid)), .success(.services([alike[0]])))
      expect(
        pair.run(.discoverCharacteristics(service.range, wanted: [])),
        .success(.characteristics(characteristics)))
      expect(
        pair.run(.discoverDescriptors(service.range, wanted: nil)),
        .success(.descriptors(layout.descriptors.filter { service.range.contains($0.handle) })))
    }
    expect(pair.run(.discoverServices(BluetoothUUID(0x1234))), .success(.services([])))
    expect(pair.run(.discoverDescriptors(.all, wanted: nil)), .success(.descriptors(layout.descriptors)))
  }

  @Test("what is read is what was defined or written", arguments: 1...40 as ClosedRange<UInt64>)
  func transfer(seed: UInt64) {
    var random = SeededGenerator(seed: seed, for: "transfer")
    let definitions = randomServices(&random)
    let layout = Layout(definitions)
    var pair = randomPair(definitions, &random)
    let values = definitions.flatMap(\.characteristics)
    for (characteristic, definition) in zip(layout.characteristics.flatMap(\.self), values) {
      let handle = characteristic.value
      let refusedRead = GATTFailure.refused(.readNotPermitted, handle)
      let canRead = definition.properties.contains(.read)
      expect(
        pair.run(.read(handle)), canRead ? .success(.value(definition.value)) : .failure(refusedRead))
      let value = random.bytes(random.below(4) == 0 ? random.below(513) : random.below(40))
      let canWrite = definition.properties.contains(.write)
      let refusedWrite = GATTFailure.refused(.writeNotPermitted, handle)
      expect(pair.run(.write(handle, value)), canWrite ? .success(.written) : .failure(refusedWrite))
      expect(pair.served, canWrite ? [.written(handle, value)] : [])
      expect(pair.database.value(of: handle), canWrite ? value : definition.value)
    }
  }

  @Test("a client that asks for what it wants spends no packet on more")
  func airTime() {
    var pair = GATTPair(GATTFixture.services)
    let lock = BluetoothUUID(0xFD81)
    let found = DiscoveredService(uuid: lock, range: GATTFixture.range(10, 15))
    expect(pair.run(.discoverServices(lock)), .success(.services([found])))
    // There may be a second one: only the refusal ends it.
    expect(pair.packets.map(\.opcode), [0x06, 0x07, 0x06, 0x01])
    expect(pair.run(.findService(lock)), .success(.services([found])))
    expect(pair.packets.map(\.opcode), [0x06, 0x07])
    _ = pair.run(
      .discoverCharacteristics(found.range, wanted: [BluetoothUUID(0xFFF1), GATTFixture.longUUID]))
    expect(pair.packets.map(\.opcode), [0x08, 0x09, 0x08, 0x09])
    _ = pair.run(.discoverDescriptors(GATTFixture.range(15, 15), wanted: BluetoothUUID(0x2902)))
    expect(pair.packets.map(\.opcode), [0x04, 0x05])
  }

  @Test("an indication comes out at the other end, and is confirmed by itself")
  func indication() {
    var pair = GATTPair(GATTFixture.services)
    let value = GATTFixture.handle(20)
    expect(pair.run(.write(GATTFixture.handle(21), [2, 0])), .success(.written))
    expect(pair.server.mayIndicate(value, pair.database), true)
    pair.events = []
    pair.served = []
    for byte in 1...3 as ClosedRange<UInt8> {
      pair.carry(pair.server.indicate(value, [byte], at: .zero), isClients: false)
    }
    expect(pair.events, [1, 2, 3].map { .notification(value, [$0]) })
    expect(pair.served, [1, 2, 3].map { _ in .confirmed(value) })
  }
}

extension GATTPairTests {
  @Test("answers drawn at random end every procedure", arguments: 1...40 as ClosedRange<UInt64>)
  func hostileServer(seed: UInt64) {
    var random = SeededGenerator(seed: seed, for: "server")
    var none = GATTDatabase([])
    for procedure in Self.procedures {
      var link = GATTLink(offering: 247)
      var finished = 0
      var asked: ATTPacket?
      var (id, actions) = link.start(procedure, at: .zero)
      for _ in 0..<5_000 where finished == 0 {
        for action in actions {
          switch action {
          case .transmit(let packet): asked = packet
          case .report(.finished(id, _)): finished += 1
          case .report, .reportViolation, .disconnect: break
          }
        }
        guard finished == 0, let request = asked else { break }
        actions = answer(to: request, &link, &none, &random)
      }
      // Whatever has not ended by now ends with the link, and nothing ends twice.
      for case .report(.finished(id, _)) in link.linkLost() { finished += 1 }
      #expect(finished == 1, "\(procedure)")
    }
  }

  private static let procedures: [GATTProcedure] = [
    .exchangeMTU, .discoverAllServices, .discoverServices(BluetoothUUID(0xFD81)),
    .findService(BluetoothUUID(0xFD81)),
    .discoverCharacteristics(.all, wanted: []),
    .discoverCharacteristics(GATTFixture.range(7, 90), wanted: [BluetoothUUID(0x2A00)]),
    .discoverDescriptors(.all, wanted: nil), .read(GATTFixture.handle(3)),
    .write(GATTFixture.handle(3), Array(repeating: 7, count: 20)),
    .write(GATTFixture.handle(3), Array(repeating: 7, count: 512)),
  ]

  /// Something that might be the answer to a request, more often than not; bytes that do not decode, too.
  private func answer(
    to request: ATTPacket, _ link: inout GATTLink, _ database: inout GATTDatabase,
    _ random: inout SeededGenerator
  ) -> [GATTLink.Action] {
    var bytes: [UInt8]
    switch random.below(10) {
    case 0: bytes = random.bytes(1 + random.below(30))
    case 1: bytes = [0x01, request.opcode, 0, 0, UInt8(random.below(20))]
    case _: bytes = plausibleAnswer(to: request, &random)
    }
    if random.below(10) == 0 { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
    do throws(DecodeError) {
      return link.receive(try ATTPacket(decoding: bytes), &database, at: .zero)
    } catch {
      return link.receiveUndecodable(opcode: bytes[0], at: .zero)
    }
  }

  private func plausibleAnswer(to request: ATTPacket, _ random: inout SeededGenerator) -> [UInt8] {
    func handles(_ range: AttributeRange) -> [UInt8] {
      let first = UInt16(clamping: Int(range.first.rawValue) + random.below(3))
      let last = UInt16(clamping: Int(first) + random.below(3))
      return [UInt8(first & 0xFF), UInt8(first >> 8), UInt8(last & 0xFF), UInt8(last >> 8)]
    }
    let start = [request.opcode + 1]
    return switch request {
    case .findByTypeValueRequest(let range, _, _): start + handles(range)
    case .findInformationRequest(let range): start + [1] + handles(range).prefix(2) + [0, 0x2A]
    case .readByTypeRequest(let range, _):
      start + [7] + handles(range).prefix(2) + [2] + handles(range).suffix(2) + random.bytes(2)
    case .readByGroupTypeRequest(let range, _): start + [6] + handles(range) + random.bytes(2)
    case .readRequest, .readBlobRequest: start + random.bytes(random.below(3) == 0 ? random.below(23) : 22)
    case .prepareWriteRequest: start + request.encoded.dropFirst()
    case .exchangeMTURequest: start + [UInt8(random.below(256)), UInt8(random.below(3))]
    case _: start
    }
  }

  @Test("requests drawn at random have one response each", arguments: 1...20 as ClosedRange<UInt64>)
  func hostileClient(seed: UInt64) {
    var random = SeededGenerator(seed: seed, for: "client")
    var database = GATTDatabase(GATTFixture.services)
    var link = GATTLink(offering: UInt16(23 + random.below(495)))
    for _ in 0..<500 {
      let opcode = Self.requests[random.below(Self.requests.count)]
      var bytes = [opcode]
      while bytes.count < 23, random.below(8) > 0 {
        // Small handles, small offsets and the types that matter.
        let words = [random.below(28), random.below(28), 0x2800 + random.below(4), 0xFFFF]
        bytes.append(littleEndian: UInt16(words[random.below(words.count)]))
        if random.below(12) == 0 { bytes.removeLast() }
      }
      let actions: [GATTLink.Action]
      do throws(DecodeError) {
        actions = link.receive(try ATTPacket(decoding: bytes), &database, at: .zero)
      } catch {
        actions = link.receiveUndecodable(opcode: opcode, at: .zero)
      }
      checkAnswered(bytes, actions, mtu: link.mtu)
    }
  }

  private static let requests: [UInt8] = [
    0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20, 0x52, 0xD2, 0x42,
  ]

  /// Requests have their response or an error that names them; commands have nothing.
  private func checkAnswered(_ request: [UInt8], _ actions: [GATTLink.Action], mtu: UInt16) {
    var responses: [ATTPacket] = []
    for case .transmit(let packet) in actions { responses.append(packet) }
    guard request[0] & 0x40 == 0 else {
      #expect(responses == [], "\(request.hex)")
      return
    }
    guard let response = responses.first, responses.count == 1 else {
      Issue.record("\(responses.count) responses to \(request.hex)")
      return
    }
    if case .errorResponse(let opcode, _, _) = response {
      #expect(opcode == request[0], "\(request.hex)")
    } else {
      #expect(response.opcode == request[0] + 1, "\(request.hex)")
    }
    let bytes = response.encoded
    #expect(bytes.count <= Int(mtu) && (try? ATTPacket(decoding: bytes)) == response, "\(request.hex)")
  }
}

/// Where everything must be that was defined, worked out again from the rule that ``ServiceDefinition`` states.
private struct Layout {
  var services: [DiscoveredService] = []
  /// By service.
  var characteristics: [[DiscoveredCharacteristic]] = []
  /// Every attribute with its type.
  var descriptors: [DiscoveredDescriptor] = []

  init(_ definitions: [ServiceDefinition]) {
    for definition in definitions {
      let first = place(BluetoothUUID(0x2800))
      var found: [DiscoveredCharacteristic] = []
      for characteristic in definition.characteristics {
        let declaration = place(BluetoothUUID(0x2803))
        let value = place(characteristic.uuid)
        if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
          _ = place(BluetoothUUID(0x2902))
        }
        found.append(
          DiscoveredCharacteristic(
            uuid: characteristic.uuid, properties: characteristic.properties, declaration: declaration,
            value: value))
      }
      let last = AttributeHandle(rawValue: UInt16(descriptors.count))
      services.append(DiscoveredService(uuid: definition.uuid, range: AttributeRange(first, last)))
      characteristics.append(found)
    }
  }

  private mutating func place(_ type: BluetoothUUID) -> AttributeHandle {
    let handle = AttributeHandle(rawValue: UInt16(descriptors.count + 1))
    descriptors.append(DiscoveredDescriptor(uuid: type, handle: handle))
    return handle
  }
}

extension AttributeRange {
  fileprivate func contains(_ handle: AttributeHandle) -> Bool { first <= handle && handle <= last }
}

/// Both ends agree on the lesser of what they offer.
private func randomPair(_ services: [ServiceDefinition], _ random: inout SeededGenerator) -> GATTPair {
  let mtus = (UInt16(23 + random.below(495)), UInt16(random.below(3) == 0 ? 23 : 23 + random.below(495)))
  var pair = GATTPair(services, clientMTU: mtus.0, serverMTU: mtus.1)
  expect(pair.run(.exchangeMTU), .success(.mtu(min(mtus.0, mtus.1))))
  expect(pair.client.mtu, pair.server.mtu)
  return pair
}

private func randomUUID(_ random: inout SeededGenerator) -> BluetoothUUID {
  // Few enough that some come twice.
  let short = BluetoothUUID(UInt16(0xFFE0 + random.below(8)))
  return random.below(2) == 0 ? short : BluetoothUUID(UUID128(high: UInt64(random.below(8)), low: 0xABCD))
}

private func randomServices(_ random: inout SeededGenerator) -> [ServiceDefinition] {
  (0..<random.below(7)).map { _ in
    ServiceDefinition(
      randomUUID(&random),
      (0..<random.below(6)).map { _ in
        let properties = CharacteristicProperties(rawValue: UInt8(random.below(128)))
        let length = random.below(5) == 0 ? random.below(513) : random.below(30)
        return ServiceDefinition.Characteristic(
          randomUUID(&random), properties, value: random.bytes(length))
      })
  }
}
