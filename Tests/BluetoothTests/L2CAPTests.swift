@testable import Bluetooth
import Basics
import TestSupport
import Testing

/// One command of every kind, drawn at random.
func sampleSignalling(_ random: inout SeededGenerator) -> [SignallingPacket] {
  let identifier = UInt8(1 + random.below(255))
  return [
    .commandReject(
      identifier: identifier, .init(rawValue: random.u16()), data: random.bytes(random.below(9))),
    .connectionParameterUpdateRequest(
      identifier: identifier, random.parameters(withEventLengths: false)),
    .connectionParameterUpdateResponse(identifier: identifier, isAccepted: random.flag()),
    .creditBasedConnectionRequest(
      identifier: identifier,
      .init(
        service: random.u16(), sourceChannel: random.u16(), mtu: random.u16(), mps: random.u16(),
        credits: random.u16())),
    .creditBasedConnectionResponse(
      identifier: identifier,
      .init(
        destinationChannel: random.u16(), mtu: random.u16(), mps: random.u16(), credits: random.u16(),
        result: random.u16())),
    .other(code: 0x17, identifier: identifier, data: random.bytes(random.below(100))),
  ]
}

@Suite struct L2CAPTests {
  @Test("a frame is a length, a channel and a payload")
  func frames() throws {
    let frame = L2CAPFrame(.att, [0x02, 0xF7, 0x00])
    expect(frame.encoded.hex, "0300040002f700")
    expect(L2CAPChannel(rawValue: frame.channel), .att)
    checkCodec(Sample(frame), encode: \.encoded) { bytes throws(DecodeError) in
      try L2CAPFrame(decoding: bytes)
    }
    expect(try L2CAPFrame(decoding: [0, 0, 6, 0]), L2CAPFrame(.security, []))
    #expect(throws: DecodeError.trailing(at: 5, count: 1)) { try L2CAPFrame(decoding: [1, 0, 4, 0, 9, 9]) }
    #expect(throws: DecodeError.truncated(at: 5, missing: 1)) { try L2CAPFrame(decoding: [2, 0, 4, 0, 9]) }
  }

  static let signalling: [(String, SignallingPacket)] = [
    (
      "010702000000",
      .commandReject(identifier: 7, .commandNotUnderstood, data: [])
    ),
    (
      "01080600020040004100",
      .commandReject(identifier: 8, .invalidChannel, data: [0x40, 0x00, 0x41, 0x00])
    ),
    (
      "1201080006000c0000006400",
      .connectionParameterUpdateRequest(
        identifier: 1, ConnectionParameters(maximumInterval: 12, supervisionTimeout: 100))
    ),
    ("130102000000", .connectionParameterUpdateResponse(identifier: 1, isAccepted: true)),
    ("130202000100", .connectionParameterUpdateResponse(identifier: 2, isAccepted: false)),
    (
      "14030a0025004000000217000500",
      .creditBasedConnectionRequest(
        identifier: 3,
        .init(service: 0x25, sourceChannel: 0x40, mtu: 512, mps: 23, credits: 5))
    ),
    (
      "15030a0000000000000000000200",
      .creditBasedConnectionResponse(identifier: 3, .serviceNotSupported)
    ),
    ("1609040040000100", .other(code: 0x16, identifier: 9, data: [0x40, 0, 1, 0])),
  ]

  @Test("signalling has the specification's layouts, and nothing shorter is a command")
  func signallingLayouts() throws {
    for (text, packet) in Self.signalling {
      expect(packet.encoded.hex, text)
      expect([packet.code, packet.identifier].hex, String(text.prefix(4)))
      checkCodec(Sample(packet), encode: \.encoded) { bytes throws(DecodeError) in
        try SignallingPacket(decoding: bytes)
      }
    }
  }

  @Test("signalling of random values comes back", arguments: 0..<20 as Range<UInt64>)
  func signallingInverse(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for packet in sampleSignalling(&random) {
      checkCodec(Sample(packet), encode: \.encoded) { bytes throws(DecodeError) in
        try SignallingPacket(decoding: bytes)
      }
    }
  }

  @Test(
    "what is no signalling command says why",
    arguments: [
      ("", DecodeError.truncated(at: 0)),
      ("01000200", .value(0, of: "signalling identifier", at: 1)),
      ("01070100ff", .truncated(at: 5, missing: 1)),
      ("130104000000ffff", .trailing(at: 6, count: 2)),
      ("130102000000ff", .trailing(at: 6, count: 1)),
      ("1201070006000c00000064", .truncated(at: 11, missing: 1)),
    ])
  func signallingRefusals(text: String, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try SignallingPacket(decoding: bytes) }
  }

  static let security: [(String, SecurityPacket)] = [
    (
      "01030009100201",
      .pairingRequest(.init(capability: 3, authentication: 0x09, initiatorKeys: 2, responderKeys: 1))
    ),
    ("0505", .pairingFailed(.pairingNotSupported)),
    ("0b01", .securityRequest(authentication: 1)),
    ("03000102030405060708090a0b0c0d0e0f", .other(code: 3, data: [UInt8](0...15))),
  ]

  @Test("security commands have the specification's layouts, and come back")
  func securityLayouts() throws {
    for (text, packet) in Self.security {
      expect(packet.encoded.hex, text)
      expect([packet.code].hex, String(text.prefix(2)))
      checkCodec(Sample(packet, openEnd: packet.code == 3 ? 16 : 0), encode: \.encoded) {
        bytes throws(DecodeError) in try SecurityPacket(decoding: bytes)
      }
    }
    // Reserved values of what is only asked with yes and no.
    var features = SecurityPacket.PairingFeatures(
      capability: 3, authentication: 0x09, initiatorKeys: 2, responderKeys: 1)
    features.hasOutOfBandData = true
    expect(try SecurityPacket(decoding: [UInt8](hex: "01030209100201")), .pairingRequest(features))
    expect(
      try SignallingPacket(decoding: [UInt8](hex: "130102000200")),
      .connectionParameterUpdateResponse(identifier: 1, isAccepted: false))
    #expect(throws: DecodeError.trailing(at: 2, count: 1)) { try SecurityPacket(decoding: [5, 5, 5]) }
  }
}
