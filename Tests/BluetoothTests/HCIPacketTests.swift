import Bluetooth
import Basics
import TestSupport
import Testing

@Suite struct HCIPacketTests {
  private static let samples: [(String, HCIPacket)] = [
    ("01030c00", .command(opcode: 0x0C03, parameters: [])),
    ("0101fc02aabb", .command(opcode: 0xFC01, parameters: [0xAA, 0xBB])),
    ("040e0401030c00", .event(code: 0x0E, parameters: [1, 3, 0x0C, 0])),
    (
      "02ff2e03000a0b0c",
      .acl(
        ACLPacket(
          handle: ConnectionHandle(rawValue: 0x0EFF), boundary: .firstFlushable, data: [0x0A, 0x0B, 0x0C]))
    ),
    (
      "0201900000",
      .acl(
        ACLPacket(handle: ConnectionHandle(rawValue: 1), boundary: .continuing, broadcast: 2, data: []))
    ),
    ("0301000201ff", .synchronous([0x01, 0x00, 0x02, 0x01, 0xFF])),
    ("05014002c0aabb", .isochronous([0x01, 0x40, 0x02, 0xC0, 0xAA, 0xBB])),
  ]

  private static func samplePacket(_ random: inout SeededGenerator) -> HCIPacket {
    switch random.below(5) {
    case 0: return .command(opcode: random.u16(), parameters: random.bytes(random.below(256)))
    case 1: return .event(code: random.u8(), parameters: random.bytes(random.below(256)))
    case 2:
      let count = random.below(10)
      return .synchronous(random.bytes(2) + [UInt8(count)] + random.bytes(count))
    case 3:
      let count = random.below(400)
      return .isochronous(
        random.bytes(2) + [UInt8(count & 255), UInt8(count >> 8)] + random.bytes(count))
    default:
      return .acl(
        ACLPacket(
          handle: random.connection(),
          boundary: random.pick([.first, .continuing, .firstFlushable, .complete]),
          broadcast: UInt8(random.below(4)), data: random.bytes(random.below(600))))
    }
  }

  @Test("packets have the layouts of H4")
  func layouts() throws {
    for (text, packet) in Self.samples {
      expect(packet.h4.hex, text)
      checkCodec(Sample(packet), encode: \.h4) { bytes throws(DecodeError) in
        try HCIPacket(decoding: bytes)
      }
    }
  }

  @Test("decoding undoes encoding, and nothing shorter is a packet")
  func inverse() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<100 {
      checkCodec(Sample(Self.samplePacket(&random)), encode: \.h4) { bytes throws(DecodeError) in
        try HCIPacket(decoding: bytes)
      }
    }
  }

  @Test(
    "what is no packet says why",
    arguments: [
      ("", DecodeError.truncated(at: 0)),
      ("06", .value(6, of: "H4 packet indicator", at: 0)),
      ("00030c00", .value(0, of: "H4 packet indicator", at: 0)),
      ("01030c0000", .trailing(at: 4, count: 1)),
      ("020100050001", .truncated(at: 6, missing: 4)),
      ("0301000201", .truncated(at: 5, missing: 1)),
    ])
  func refusals(text: String, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try HCIPacket(decoding: bytes) }
  }

  @Test("data of a handle that no link has are data all the same: a stream goes on behind them")
  func reservedHandle() throws {
    var stream = H4Stream()
    stream.append(try [UInt8](hex: "02ff2f010007" + "01030c00"))
    let packet = ACLPacket(handle: ConnectionHandle(rawValue: 0x0FFF), boundary: .firstFlushable, data: [7])
    expect(try stream.next(), .acl(packet))
    expect(packet.encoded.hex, "ff2f010007")
    expect(try stream.next(), .command(opcode: 0x0C03, parameters: []))
  }

  @Test("a stream gives the same packets however it is cut", arguments: 0..<8 as Range<UInt64>)
  func cuts(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let packets = (0..<200).map { _ in Self.samplePacket(&random) }
    let bytes = packets.flatMap(\.h4)
    let longest = [1, 2, 7, 100, 5000][random.below(5)]
    var stream = H4Stream()
    var seen: [HCIPacket] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + 1 + random.below(longest))
      stream.append(bytes[start..<end])
      start = end
      // Now and then the packets wait for each other.
      while random.below(4) != 0, let packet = try stream.next() { seen.append(packet) }
    }
    while let packet = try stream.next() { seen.append(packet) }
    expect(seen, packets)
    expect(try stream.next(), nil)
  }

  @Test(
    "a stream out of step fails at once, and stays so until it is reset",
    arguments: [
      ("07", DecodeError.value(7, of: "H4 packet indicator", at: 0)),
      ("0201200110", .value(0x1001, of: "data length", at: 3)),
      ("0501200110", .value(0x1001, of: "data length", at: 3)),
    ])
  func outOfStep(text: String, error: DecodeError) throws {
    var stream = H4Stream()
    stream.append(try [UInt8](hex: "01030c00" + text))
    expect(try stream.next(), .command(opcode: 0x0C03, parameters: []))
    #expect(throws: error) { try stream.next() }
    stream.append(try [UInt8](hex: "01030c00"))
    #expect(throws: error) { try stream.next() }
    stream.reset()
    expect(try stream.next(), nil)
    stream.append(try [UInt8](hex: "01030c00"))
    expect(try stream.next(), .command(opcode: 0x0C03, parameters: []))
  }

  @Test("the longest data that is allowed passes")
  func longest() throws {
    let packet = HCIPacket.acl(
      ACLPacket(
        handle: ConnectionHandle(rawValue: 1), boundary: .first, data: [UInt8](repeating: 7, count: 4096)))
    var stream = H4Stream()
    stream.append(packet.h4)
    expect(try stream.next(), packet)
  }
}
