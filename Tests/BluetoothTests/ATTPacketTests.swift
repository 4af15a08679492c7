import Bluetooth
import Basics
import TestSupport
import Testing

/// One packet of every kind, drawn at random.
func sampleATTPackets(_ random: inout SeededGenerator) -> [Sample<ATTPacket>] {
  let handle = AttributeHandle(rawValue: random.u16())
  let range = AttributeRange(handle, AttributeHandle(rawValue: random.u16()))
  let value = random.bytes(random.below(245))
  let length = UInt8(4 + random.below(40))
  let list = random.bytes(Int(length) * (1 + random.below(5)))
  let open = value.count
  return [
    Sample(.errorResponse(request: random.u8(), handle, ATTErrorCode(rawValue: random.u8()))),
    Sample(.exchangeMTURequest(random.u16())),
    Sample(.exchangeMTUResponse(random.u16())),
    Sample(.findInformationRequest(range)),
    Sample(.findInformationResponse(format: 1, random.bytes(4))),
    Sample(.findInformationResponse(format: 2, random.bytes(18))),
    Sample(.findByTypeValueRequest(range, type: random.u16(), value: value), openEnd: open),
    Sample(.findByTypeValueResponse([range])),
    Sample(.readByTypeRequest(range, type: BluetoothUUID(random.u16()))),
    Sample(.readByGroupTypeRequest(range, type: BluetoothUUID(random.u16()))),
    Sample(.readByTypeResponse(length: 40, random.bytes(40))),
    Sample(.readByGroupTypeResponse(length: length, [UInt8](list[..<Int(length)]))),
    Sample(.readRequest(handle)),
    Sample(.readResponse(value), openEnd: open),
    Sample(.readBlobRequest(handle, offset: random.u16())),
    Sample(.readBlobResponse(value), openEnd: open),
    Sample(.readMultipleRequest([handle, handle])),
    Sample(.readMultipleResponse(value), openEnd: open),
    Sample(.writeRequest(handle, value), openEnd: open),
    Sample(.writeResponse),
    Sample(.writeCommand(handle, value), openEnd: open),
    Sample(.signedWriteCommand(handle, value + random.bytes(12)), openEnd: open),
    Sample(.prepareWriteRequest(handle, offset: random.u16(), value), openEnd: open),
    Sample(.prepareWriteResponse(handle, offset: random.u16(), value), openEnd: open),
    Sample(.executeWriteRequest(random.flag())),
    Sample(.executeWriteResponse),
    Sample(.notification(handle, value), openEnd: open),
    Sample(.indication(handle, value), openEnd: open),
    Sample(.confirmation),
    Sample(.unknown(opcode: 0x23, value), openEnd: open),
  ]
}

@Suite struct ATTPacketTests {
  private static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }
  private static let range = AttributeRange(handle(1), handle(0xFFFF))

  static let vectors: [(String, ATTPacket)] = [
    ("011001000a", .errorResponse(request: 0x10, handle(1), .attributeNotFound)),
    ("02f700", .exchangeMTURequest(247)),
    ("031700", .exchangeMTUResponse(23)),
    ("040100ffff", .findInformationRequest(range)),
    ("050112000229", .findInformationResponse(format: 1, [0x12, 0x00, 0x02, 0x29])),
    (
      "060100ffff0028108081fd",
      .findByTypeValueRequest(range, type: 0x2800, value: [0x10, 0x80, 0x81, 0xFD])
    ),
    ("0701000900", .findByTypeValueResponse([AttributeRange(handle(1), handle(9))])),
    ("080100ffff0328", .readByTypeRequest(range, type: BluetoothUUID(0x2803))),
    (
      "08010009003e9976c6b4dbd3b65698aea502008616",
      .readByTypeRequest(
        AttributeRange(handle(1), handle(9)),
        type: BluetoothUUID(UUID128(high: 0x1686_0002_A5AE_9856, low: 0xB6D3_DBB4_C676_993E)))
    ),
    ("0904010004aa", .readByTypeResponse(length: 4, [0x01, 0x00, 0x04, 0xAA])),
    ("0a0300", .readRequest(handle(3))),
    ("0b6c6f636b", .readResponse([0x6C, 0x6F, 0x63, 0x6B])),
    ("0c03001600", .readBlobRequest(handle(3), offset: 22)),
    ("0d6c", .readBlobResponse([0x6C])),
    ("0e03000500", .readMultipleRequest([handle(3), handle(5)])),
    ("0f0102", .readMultipleResponse([1, 2])),
    ("100100ffff0028", .readByGroupTypeRequest(range, type: BluetoothUUID(0x2800))),
    ("11060100090081fd", .readByGroupTypeResponse(length: 6, [1, 0, 9, 0, 0x81, 0xFD])),
    ("1204000100", .writeRequest(handle(4), [1, 0])),
    ("13", .writeResponse),
    ("520300aabb", .writeCommand(handle(3), [0xAA, 0xBB])),
    (
      "d20300aa000000000102030405060708",
      .signedWriteCommand(handle(3), [0xAA, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    ),
    ("1603001200aa", .prepareWriteRequest(handle(3), offset: 18, [0xAA])),
    ("1703001200aa", .prepareWriteResponse(handle(3), offset: 18, [0xAA])),
    ("1801", .executeWriteRequest(true)),
    ("19", .executeWriteResponse),
    ("1b0300aabb", .notification(handle(3), [0xAA, 0xBB])),
    ("1d0300", .indication(handle(3), [])),
    ("1e", .confirmation),
    ("200102", .unknown(opcode: 0x20, [1, 2])),
  ]

  private static func decode(_ bytes: [UInt8]) throws(DecodeError) -> ATTPacket {
    try ATTPacket(decoding: bytes)
  }

  @Test("packets have the specification's layouts")
  func layouts() throws {
    for (text, packet) in Self.vectors {
      expect(packet.encoded.hex, text)
      expect(try ATTPacket(decoding: [UInt8](hex: text)), packet)
      expect([packet.opcode].hex, String(text.prefix(2)))
    }
    var random = SeededGenerator(seed: 0)
    expect(
      Set(Self.vectors.map(\.1.opcode)).symmetricDifference(sampleATTPackets(&random).map(\.value.opcode)),
      [0x20, 0x23])
  }

  @Test(
    "decoding undoes encoding for every packet, and nothing shorter is one",
    arguments: 0..<20 as Range<UInt64>)
  func inverse(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for sample in sampleATTPackets(&random) { checkCodec(sample, encode: \.encoded, decode: Self.decode) }
  }

  @Test("lists of several entries come back whole")
  func lists() throws {
    var random = SeededGenerator(seed: 3)
    let ranges = (0..<5).map { _ in AttributeRange(Self.handle(random.u16()), Self.handle(random.u16())) }
    let packets: [ATTPacket] = [
      .findByTypeValueResponse(ranges), .readMultipleRequest(ranges.map(\.last)),
      .findInformationResponse(format: 1, random.bytes(16)),
      .findInformationResponse(format: 2, random.bytes(54)),
      .readByTypeResponse(length: 7, random.bytes(21)),
      .readByGroupTypeResponse(length: 20, random.bytes(40)),
    ]
    for packet in packets { expect(try ATTPacket(decoding: packet.encoded), packet) }
  }

  @Test("packets of wrong bytes are refused or stable")
  func garbage() {
    var random = SeededGenerator(seed: 7)
    let samples = sampleATTPackets(&random).map(\.value.encoded)
    checkGarbage(like: samples, seed: 8, encode: \.encoded, decode: Self.decode)
  }

  @Test("bytes are appended to what is there")
  func appending() {
    var bytes: [UInt8] = [0xFF]
    ATTPacket.notification(Self.handle(3), [1]).encode(into: &bytes)
    expect(bytes.hex, "ff1b030001")
  }

  @Test(
    "what is no packet says why",
    arguments: [
      ("", DecodeError.truncated(at: 0)),
      ("02f70000", .trailing(at: 3, count: 1)),
      ("0a030000", .trailing(at: 3, count: 1)),
      ("1300", .trailing(at: 1, count: 1)),
      ("1b03", .truncated(at: 2)),
      ("0503", .value(3, of: "UUID format", at: 1)),
      ("0501", .truncated(at: 2, missing: 4)),
      ("05010100002801", .length(5, of: "information data", at: 2)),
      ("0700", .truncated(at: 2, missing: 3)),
      ("070100090001", .length(5, of: "list of handles", at: 1)),
      ("080100ffff032800", .length(3, of: "UUID", at: 5)),
      ("0900", .value(0, of: "length of an entry", at: 1)),
      ("0903", .truncated(at: 2, missing: 3)),
      ("090301020304", .length(4, of: "list of attributes", at: 2)),
      ("1103010203", .value(3, of: "length of an entry", at: 1)),
      ("0e0300", .truncated(at: 3, missing: 2)),
      ("0e0300050001", .length(5, of: "set of handles", at: 1)),
      ("1802", .value(2, of: "execute write", at: 1)),
      ("d203000102030405060708090a0b", .truncated(at: 14)),
    ])
  func refusals(text: String, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try ATTPacket(decoding: bytes) }
  }
}
