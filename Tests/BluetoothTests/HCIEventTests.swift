import Bluetooth
import Basics
import TestSupport
import Testing

/// One event of every kind, drawn at random.
func sampleEvents(_ random: inout SeededGenerator) -> [Sample<HCIEvent>] {
  let handle = random.connection()
  let status = random.status()
  let timing = ConnectionTiming(
    interval: random.u16(), latency: random.u16(), supervisionTimeout: random.u16())
  let events: [HCIEvent] = [
    .disconnectionComplete(status: status, handle, reason: random.status()),
    .encryptionChange(status: status, handle, isEnabled: random.flag()),
    .readRemoteVersionInformationComplete(
      status: status, handle,
      VersionInformation(version: random.u8(), company: random.u16(), subversion: random.u16())),
    .commandStatus(status: status, credits: random.u8(), opcode: random.u16()),
    .hardwareError(code: random.u8()),
    .numberOfCompletedPackets(
      (0..<random.below(64)).map { _ in CompletedPackets(random.connection(), random.u16()) }),
    .dataBufferOverflow(linkType: random.u8()),
    .leConnectionComplete(
      ConnectionComplete(
        status: status, handle: handle, role: random.pick([.central, .peripheral]), peer: random.peer(),
        timing: timing, clockAccuracy: random.u8())),
    .leAdvertisingReport((0..<random.below(6)).map { _ in sampleReport(&random, extended: false) }),
    .leConnectionUpdateComplete(status: status, handle, timing),
    .leReadRemoteFeaturesComplete(status: status, handle, features: random.next()),
    .leLongTermKeyRequest(handle, random: random.next(), diversifier: random.u16()),
    .leRemoteConnectionParameterRequest(handle, random.parameters(withEventLengths: false)),
    .leDataLengthChange(
      handle,
      DataLength(
        transmitOctets: random.u16(), transmitTime: random.u16(), receiveOctets: random.u16(),
        receiveTime: random.u16())),
    .leExtendedAdvertisingReport((0..<random.below(4)).map { _ in sampleReport(&random, extended: true) }),
  ]
  let rest = random.bytes(random.below(250))
  return events.map { Sample($0) } + [
    Sample(
      .commandComplete(credits: random.u8(), opcode: random.u16(), returnParameters: rest),
      openEnd: rest.count),
    Sample(.otherLE(subevent: 0x12, parameters: rest), openEnd: rest.count),
    Sample(.other(code: 0xFF, parameters: rest), openEnd: rest.count),
  ]
}

private func sampleReport(_ random: inout SeededGenerator, extended: Bool) -> AdvertisingReport {
  let kinds: [AdvertisingReport.Kind] = [
    .connectable, .directed, .scannable, .nonconnectable, .scanResponse,
  ]
  return AdvertisingReport(
    extended && random.flag() ? .extended(random.u16() & 0x6F) : random.pick(kinds), from: random.peer(),
    random.bytes(random.below(32)), rssi: random.pick([nil, random.i8()].map { $0 == 127 ? nil : $0 }))
}

@Suite struct HCIEventTests {
  private static let peer = PeerAddress(.randomDevice, BluetoothAddress(0xF1F2_F3F4_F5F6))
  private static let link = ConnectionHandle(rawValue: 0x0040)
  private static let connection = ConnectionComplete(
    status: .success, handle: link, role: .central, peer: peer,
    timing: ConnectionTiming(interval: 24, latency: 0, supervisionTimeout: 200), clockAccuracy: 5)

  /// Packets as controllers send them, with the octet of H4.
  static let vectors: [(String, HCIEvent)] = [
    ("04050400400013", .disconnectionComplete(status: .success, link, reason: .remoteUserTerminated)),
    ("04080400400001", .encryptionChange(status: .success, link, isEnabled: true)),
    (
      "040c080040000d02003412",
      .readRemoteVersionInformationComplete(
        status: .success, link, VersionInformation(version: 0x0D, company: 2, subversion: 0x1234))
    ),
    (
      "040e0401030c00",
      .commandComplete(credits: 1, opcode: HCICommand.reset.opcode, returnParameters: [0])
    ),
    (
      "040f0400010d20",
      .commandStatus(status: .success, credits: 1, opcode: HCICommand.leCreateConnection.opcode)
    ),
    ("04100142", .hardwareError(code: 0x42)),
    (
      "0413090240000100fe0e0200",
      .numberOfCompletedPackets([
        CompletedPackets(link, 1), CompletedPackets(ConnectionHandle(rawValue: 0x0EFE), 2),
      ])
    ),
    ("041a0101", .dataBufferOverflow(linkType: 1)),
    ("043e13010040000001f6f5f4f3f2f118000000c80005", .leConnectionComplete(connection)),
    (
      "043e1902020001f6f5f4f3f2f103020106c40401f6f5f4f3f2f1007f",
      .leAdvertisingReport([
        AdvertisingReport(.connectable, from: peer, [2, 1, 6], rssi: -60),
        AdvertisingReport(.scanResponse, from: peer, [], rssi: nil),
      ])
    ),
    (
      "043e0a03004000060000006400",
      .leConnectionUpdateComplete(
        status: .success, link, ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 100))
    ),
    (
      "043e0c04004000ff59000000000000",
      .leReadRemoteFeaturesComplete(status: .success, link, features: 0x59FF)
    ),
    (
      "043e0d05400001020304050607083412",
      .leLongTermKeyRequest(link, random: 0x0807_0605_0403_0201, diversifier: 0x1234)
    ),
    (
      "043e0b0640000600080001006400",
      .leRemoteConnectionParameterRequest(
        link, ConnectionParameters(maximumInterval: 8, latency: 1, supervisionTimeout: 100))
    ),
    (
      "043e0b074000fb0048081b004801",
      .leDataLengthChange(link, DataLength(transmitOctets: 251, transmitTime: 2120))
    ),
    (
      "043e370d02"
        + "130001f6f5f4f3f2f10100ff7fc400000000000000000003020106"
        + "010001f6f5f4f3f2f10100ff7f7f000000000000000000020109",
      .leExtendedAdvertisingReport([
        AdvertisingReport(.connectable, from: peer, [2, 1, 6], rssi: -60),
        AdvertisingReport(.extended(1), from: peer, [0x01, 0x09], rssi: nil),
      ])
    ),
    ("043e06120001400005", .otherLE(subevent: 0x12, parameters: [0x00, 0x01, 0x40, 0x00, 0x05])),
    ("04ff021234", .other(code: 0xFF, parameters: [0x12, 0x34])),
  ]

  private static func decode(_ h4: [UInt8]) throws(DecodeError) -> HCIEvent {
    guard case .event(let code, let parameters) = try HCIPacket(decoding: h4) else { throw .missing("event") }
    return try HCIEvent(code: code, parameters: parameters)
  }

  @Test("events have the specification's layouts")
  func layouts() throws {
    for (text, event) in Self.vectors {
      expect(event.packet.h4.hex, text)
      expect(try Self.decode([UInt8](hex: text)), event)
    }
    var random = SeededGenerator(seed: 0)
    expect(Self.vectors.count, sampleEvents(&random).count)
  }

  @Test(
    "decoding undoes encoding for every event, and nothing shorter is one", arguments: 0..<20 as Range<UInt64>
  )
  func inverse(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for sample in sampleEvents(&random) {
      guard case .event(let code, _) = sample.value.packet else {
        Issue.record("\(sample.value) is not sent as an event")
        continue
      }
      checkCodec(sample, encode: { parameters(of: $0.packet) }) { bytes throws(DecodeError) in
        try HCIEvent(code: code, parameters: bytes)
      }
    }
  }

  @Test("events of wrong bytes are refused or stable")
  func garbage() {
    var random = SeededGenerator(seed: 7)
    let samples = sampleEvents(&random).map { $0.value.packet.h4 }
    checkGarbage(like: samples, seed: 8, encode: { $0.packet.h4 }, decode: Self.decode)
  }

  @Test("the enhanced event of a connection comes out as the plain one")
  func enhanced() throws {
    let text = "043e1f0a0040000001f6f5f4f3f2f101020304050611121314151618000000c80005"
    expect(try Self.decode([UInt8](hex: text)), .leConnectionComplete(Self.connection))
  }

  @Test("a connection that failed may hold anything but its status")
  func failedConnection() throws {
    let event = try Self.decode([UInt8](hex: "043e13013effff07ee00000000000000000000000000"))
    guard case .leConnectionComplete(let connection) = event else {
      Issue.record("\(event) is no connection")
      return
    }
    expect(connection.status, .failedToEstablish)
    expect(try Self.decode(event.packet.h4), event)
  }

  @Test(
    "an extended report of a legacy advertisement has its kind",
    arguments: [
      (0x13, AdvertisingReport.Kind.connectable), (0x15, .directed), (0x12, .scannable),
      (0x10, .nonconnectable), (0x1B, .scanResponse), (0x1A, .scanResponse), (0x01, .extended(0x01)),
      (0x20, .extended(0x20)),
    ] as [(UInt8, AdvertisingReport.Kind)])
  func extendedKinds(eventType: UInt8, kind: AdvertisingReport.Kind) throws {
    let text = "043e1b0d01" + [eventType].hex + "0001f6f5f4f3f2f10100ff7fc400000000000000000001aa"
    let report = AdvertisingReport(kind, from: Self.peer, [0xAA], rssi: -60)
    expect(try Self.decode([UInt8](hex: text)), .leExtendedAdvertisingReport([report]))
  }

  @Test("an anonymous advertisement is passed over, and those beside it are not")
  func anonymous() throws {
    let text =
      "043e340d02"
      + "0000ff0000000000000100007fc400000000000000000001aa"
      + "130001f6f5f4f3f2f10100ff7fc400000000000000000001aa"
    let report = AdvertisingReport(.connectable, from: Self.peer, [0xAA], rssi: -60)
    expect(try Self.decode([UInt8](hex: text)), .leExtendedAdvertisingReport([report]))
  }

  /// What is reserved for future use, and what is read all the same.
  static let reserved: [(text: String, event: HCIEvent, ignored: Reserved)] = [
    (
      "0405040040f013", .disconnectionComplete(status: .success, link, reason: .remoteUserTerminated),
      .handleBits
    ),
    ("04080400401001", .encryptionChange(status: .success, link, isEnabled: true), .handleBits),
    ("04080400400002", .encryptionChange(status: .success, link, isEnabled: true), []),
    ("04080400400003", .encryptionChange(status: .success, link, isEnabled: true), .value),
    (
      "040c080040800d02003412",
      .readRemoteVersionInformationComplete(
        status: .success, link, VersionInformation(version: 0x0D, company: 2, subversion: 0x1234)),
      .handleBits
    ),
    ("0413050140100200", .numberOfCompletedPackets([CompletedPackets(link, 2)]), .handleBits),
    (
      "0413050100ff0100",
      .numberOfCompletedPackets([CompletedPackets(ConnectionHandle(rawValue: 0x0F00), 1)]), .handleBits
    ),
    ("043e13010040200001f6f5f4f3f2f118000000c80005", .leConnectionComplete(connection), .handleBits),
    (
      "043e1f0a0040300001f6f5f4f3f2f101020304050611121314151618000000c80005",
      .leConnectionComplete(connection), .handleBits
    ),
    (
      "043e0a03004040060000006400",
      .leConnectionUpdateComplete(
        status: .success, link, ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 100)),
      .handleBits
    ),
    (
      "043e0c04004050ff59000000000000",
      .leReadRemoteFeaturesComplete(status: .success, link, features: 0x59FF), .handleBits
    ),
    (
      "043e0d05406001020304050607083412",
      .leLongTermKeyRequest(link, random: 0x0807_0605_0403_0201, diversifier: 0x1234), .handleBits
    ),
    (
      "043e0b0640700600080001006400",
      .leRemoteConnectionParameterRequest(
        link, ConnectionParameters(maximumInterval: 8, latency: 1, supervisionTimeout: 100)), .handleBits
    ),
    (
      "043e0b0740f0fb0048081b004801",
      .leDataLengthChange(link, DataLength(transmitOctets: 251, transmitTime: 2120)), .handleBits
    ),
    // A report of a type that is not defined, of an address type that is not, and one beside it.
    (
      "043e2002030501f6f5f4f3f2f1007f0007f6f5f4f3f2f1007f0001f6f5f4f3f2f1007f",
      .leAdvertisingReport([AdvertisingReport(.connectable, from: peer, [], rssi: nil)]), .report
    ),
    (
      "043e1b0d01110001f6f5f4f3f2f10100ff7fc400000000000000000001aa", .leExtendedAdvertisingReport([]),
      .report
    ),
    (
      "043e1b0d01138001f6f5f4f3f2f10100ff7fc400000000000000000001aa",
      .leExtendedAdvertisingReport([AdvertisingReport(.connectable, from: peer, [0xAA], rssi: -60)]),
      .eventTypeBits
    ),
    // More than the last known field.
    (
      "0405060040001300ff", .disconnectionComplete(status: .success, link, reason: .remoteUserTerminated),
      .rest
    ),
    (
      "043e0e02010001f6f5f4f3f2f1007f0000",
      .leAdvertisingReport([AdvertisingReport(.connectable, from: peer, [], rssi: nil)]), .rest
    ),
  ]

  @Test("what is reserved for future use is ignored, and noted", arguments: reserved)
  func ignored(text: String, event: HCIEvent, ignored: Reserved) throws {
    guard case .event(let code, let parameters) = try HCIPacket(decoding: [UInt8](hex: text)) else {
      throw DecodeError.missing("event")
    }
    var noted = Reserved()
    expect(try HCIEvent(code: code, parameters: parameters, ignoring: &noted), event)
    expect(noted, ignored)
  }

  @Test(
    "a value that a field may not hold is named with its place",
    arguments: [
      ("0413024000", DecodeError.truncated(at: 2, missing: 255)),
      ("043e130100000f0001f6f5f4f3f2f118000000c80005", .value(0x0F00, of: "connection handle", at: 2)),
      ("043e00", .truncated(at: 0)),
      ("043e13010040000201f6f5f4f3f2f118000000c80005", .value(2, of: "role", at: 4)),
      ("043e13010040000004f6f5f4f3f2f118000000c80005", .value(4, of: "address type", at: 5)),
      ("043e0c02010001f6f5f4f3f2f1037f", .truncated(at: 12, missing: 2)),
    ])
  func wrongValues(text: String, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try Self.decode(bytes) }
  }
}
