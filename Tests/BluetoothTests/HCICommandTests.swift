import Bluetooth
import Basics
import TestSupport
import Testing

/// One command of every kind, drawn at random.
func sampleCommands(_ random: inout SeededGenerator) -> [Sample<HCICommand>] {
  let handle = random.connection()
  let commands: [HCICommand] = [
    .disconnect(handle, random.status()),
    .readRemoteVersionInformation(handle),
    .setEventMask(random.next()),
    .reset(),
    .setEventMaskPage2(random.next()),
    .readLocalVersionInformation(),
    .readLocalSupportedCommands(),
    .readLocalSupportedFeatures(),
    .readBufferSize(),
    .readBDADDR(),
    .readRSSI(handle),
    .leSetEventMask(random.next()),
    .leReadBufferSize(),
    .leReadLocalSupportedFeatures(),
    .leSetRandomAddress(random.address()),
    .leSetAdvertisingParameters(sampleAdvertisingParameters(&random)),
    .leReadAdvertisingTxPower(),
    .leSetAdvertisingData(random.bytes(random.below(32))),
    .leSetScanResponseData(random.bytes(random.below(32))),
    .leSetAdvertisingEnable(random.flag()),
    .leSetScanParameters(
      ScanParameters(
        isActive: random.flag(), interval: random.u16(), window: random.u16(), ownAddressType: random.u8(),
        filterPolicy: random.u8())),
    .leSetScanEnable(random.flag(), random.flag()),
    .leCreateConnection(
      ConnectionRequest(
        peer: random.peer(), parameters: random.parameters(), scanInterval: random.u16(),
        scanWindow: random.u16(), usesFilterAcceptList: random.flag(), ownAddressType: random.u8())),
    .leCreateConnectionCancel(),
    .leReadFilterAcceptListSize(),
    .leClearFilterAcceptList(),
    .leAddToFilterAcceptList(random.peer()),
    .leRemoveFromFilterAcceptList(random.peer()),
    .leConnectionUpdate(handle, random.parameters()),
    .leReadChannelMap(handle),
    .leReadRemoteFeatures(handle),
    .leEncrypt(random.uuid(), random.uuid()),
    .leRand(),
    .leLongTermKeyRequestNegativeReply(handle),
    .leReadSupportedStates(),
    .leRemoteConnectionParameterRequestReply(handle, random.parameters()),
    .leRemoteConnectionParameterRequestNegativeReply(handle, random.status()),
    .leSetDataLength(handle, random.u16(), random.u16()),
    .leReadSuggestedDefaultDataLength(),
    .leWriteSuggestedDefaultDataLength(random.u16(), random.u16()),
    .leReadMaximumDataLength(),
    .leReadPHY(handle),
    .leSetDefaultPHY(random.u8(), random.u8(), random.u8()),
  ]
  let rest = random.bytes(random.below(256))
  return commands.map { Sample($0) } + [Sample(.other(opcode: 0xFC01, parameters: rest), openEnd: rest.count)]
}

private func sampleAdvertisingParameters(_ random: inout SeededGenerator) -> AdvertisingParameters {
  AdvertisingParameters(
    minimumInterval: random.u16(), maximumInterval: random.u16(),
    kind: random.pick([.connectable, .directedHighDuty, .scannable, .nonconnectable, .directedLowDuty]),
    ownAddressType: random.u8(), peer: random.peer(), channels: random.u8(), filterPolicy: random.u8())
}

func parameters(of packet: HCIPacket) -> [UInt8] {
  switch packet {
  case .command(_, let parameters), .event(_, let parameters): parameters
  case .acl(let packet): packet.data
  case .synchronous(let bytes), .isochronous(let bytes): bytes
  }
}

@Suite struct HCICommandTests {
  private static let peer = PeerAddress(.randomDevice, BluetoothAddress(0xF1F2_F3F4_F5F6))
  private static let link = ConnectionHandle(rawValue: 0x0040)

  /// Packets as hosts send them, with the octet of H4.
  static let vectors: [(String, HCICommand)] = [
    ("01030c00", .reset()),
    ("01060403400013", .disconnect(link, .remoteUserTerminated)),
    ("011d04024000", .readRemoteVersionInformation(link)),
    ("01010c08ffffffffffffff3f", .setEventMask(0x3FFF_FFFF_FFFF_FFFF)),
    ("01630c080000800000000000", .setEventMaskPage2(0x0080_0000)),
    ("01011000", .readLocalVersionInformation()),
    ("01021000", .readLocalSupportedCommands()),
    ("01031000", .readLocalSupportedFeatures()),
    ("01051000", .readBufferSize()),
    ("01091000", .readBDADDR()),
    ("010514024000", .readRSSI(link)),
    ("010120081f00000000000000", .leSetEventMask(0x1F)),
    ("01022000", .leReadBufferSize()),
    ("01032000", .leReadLocalSupportedFeatures()),
    ("01052006f6f5f4f3f2f1", .leSetRandomAddress(peer.address)),
    (
      "0106200fa00040010001006655443322110700",
      .leSetAdvertisingParameters(
        AdvertisingParameters(
          minimumInterval: 0xA0, maximumInterval: 0x0140,
          peer: PeerAddress(.publicDevice, BluetoothAddress(0x1122_3344_5566))))
    ),
    ("01072000", .leReadAdvertisingTxPower()),
    (
      "010820200302010600000000000000000000000000000000000000000000000000000000",
      .leSetAdvertisingData([2, 1, 6])
    ),
    ("010920200000000000000000000000000000000000000000000000000000000000000000", .leSetScanResponseData([])),
    ("010a200101", .leSetAdvertisingEnable(true)),
    ("010b200701600030000100", .leSetScanParameters(ScanParameters(interval: 0x60, window: 0x30))),
    ("010c20020100", .leSetScanEnable(true, false)),
    (
      "010d2019600030000001f6f5f4f3f2f101180028000000c80004000600",
      .leCreateConnection(
        ConnectionRequest(
          peer: peer,
          parameters: ConnectionParameters(
            minimumInterval: 24, maximumInterval: 40, supervisionTimeout: 200, minimumEventLength: 4,
            maximumEventLength: 6), scanInterval: 0x60, scanWindow: 0x30))
    ),
    ("010e2000", .leCreateConnectionCancel()),
    ("010f2000", .leReadFilterAcceptListSize()),
    ("01102000", .leClearFilterAcceptList()),
    ("0111200701f6f5f4f3f2f1", .leAddToFilterAcceptList(peer)),
    ("0112200701f6f5f4f3f2f1", .leRemoveFromFilterAcceptList(peer)),
    (
      "0113200e4000060008000100640000000000",
      .leConnectionUpdate(
        link, ConnectionParameters(maximumInterval: 8, latency: 1, supervisionTimeout: 100))
    ),
    ("011520024000", .leReadChannelMap(link)),
    ("011620024000", .leReadRemoteFeatures(link)),
    (
      "01172020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
      .leEncrypt(
        UUID128(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
        UUID128(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F))
    ),
    ("01182000", .leRand()),
    ("011b20024000", .leLongTermKeyRequestNegativeReply(link)),
    ("011c2000", .leReadSupportedStates()),
    (
      "0120200e4000060006000000c80001000200",
      .leRemoteConnectionParameterRequestReply(
        link, ConnectionParameters(minimumEventLength: 1, maximumEventLength: 2))
    ),
    (
      "0121200340003b",
      .leRemoteConnectionParameterRequestNegativeReply(link, .unacceptableConnectionParameters)
    ),
    ("012220064000fb004808", .leSetDataLength(link, 251, 2120)),
    ("01232000", .leReadSuggestedDefaultDataLength()),
    ("01242004fb004808", .leWriteSuggestedDefaultDataLength(251, 2120)),
    ("012f2000", .leReadMaximumDataLength()),
    ("013020024000", .leReadPHY(link)),
    ("01312003000202", .leSetDefaultPHY(0, 2, 2)),
    ("0102fc03010203", .other(opcode: 0xFC02, parameters: [1, 2, 3])),
  ]

  @Test("commands have the specification's layouts")
  func layouts() throws {
    for (text, command) in Self.vectors {
      expect(command.packet.h4.hex, text)
      let packet = try HCIPacket(decoding: [UInt8](hex: text))
      guard case .command(let opcode, let parameters) = packet else {
        Issue.record("\(text) is no command")
        continue
      }
      expect(try HCICommand(opcode: opcode, parameters: parameters), command)
      expect(command.opcode, opcode)
    }
    var random = SeededGenerator(seed: 0)
    expect(Set(Self.vectors.map(\.1.opcode)).count, sampleCommands(&random).count)
  }

  @Test(
    "decoding undoes encoding for every command, and nothing shorter is one",
    arguments: 0..<20 as Range<UInt64>)
  func inverse(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for sample in sampleCommands(&random) {
      let opcode = sample.value.opcode
      checkCodec(sample, encode: { BluetoothTests.parameters(of: $0.packet) }) { bytes throws(DecodeError) in
        try HCICommand(opcode: opcode, parameters: bytes)
      }
    }
  }

  @Test(
    "the list has every command once, with a number, a name and a place of its own, and reads it as it was made"
  )
  func list() throws {
    var random = SeededGenerator(seed: 1)
    let samples = sampleCommands(&random).map(\.value).filter { HCICommand.declaration(of: $0.opcode) != nil }
    expect(HCICommand.all.map(\.opcode), samples.map(\.opcode))
    expect(Set(HCICommand.all.map(\.opcode)).count, HCICommand.all.count)
    expect(Set(HCICommand.all.map(\.name)).count, HCICommand.all.count)
    let places = HCICommand.all.compactMap(\.place).map { 8 * $0.octet + $0.bit }
    // Read Local Supported Commands has none.
    expect(Set(places).count, HCICommand.all.count - 1)
    for sample in samples {
      expect(try HCICommand(opcode: sample.opcode, parameters: sample.parameters), sample)
    }
  }

  @Test("commands of wrong bytes are refused or stable")
  func garbage() {
    var random = SeededGenerator(seed: 7)
    let samples = sampleCommands(&random).map { $0.value.packet.h4 }
    checkGarbage(like: samples, seed: 8, encode: { (command: HCICommand) in command.packet.h4 }) {
      bytes throws(DecodeError) in
      guard case .command(let opcode, let parameters) = try HCIPacket(decoding: bytes) else {
        throw .missing("command")
      }
      return try HCICommand(opcode: opcode, parameters: parameters)
    }
  }

  @Test(
    "a value that a field may not hold is named with its place",
    arguments: [
      (HCICommand.reset.opcode, "00", DecodeError.trailing(at: 0, count: 1)),
      (HCICommand.leSetAdvertisingEnable.opcode, "02", .value(2, of: "advertising enable", at: 0)),
      (HCICommand.leSetScanEnable.opcode, "0102", .value(2, of: "filter duplicates", at: 1)),
      (HCICommand.leSetScanParameters.opcode, "02100010000000", .value(2, of: "scan type", at: 0)),
      (HCICommand.leAddToFilterAcceptList.opcode, "ff000000000000", .value(255, of: "address type", at: 0)),
      (
        HCICommand.leSetAdvertisingParameters.opcode, "a000a0000500000000000000000700",
        .value(5, of: "advertising type", at: 4)
      ),
      (
        HCICommand.leSetAdvertisingData.opcode,
        "2000000000000000000000000000000000000000000000000000000000000000",
        .value(32, of: "length of advertising data", at: 0)
      ),
      (HCICommand.leSetAdvertisingData.opcode, "020106", .truncated(at: 3, missing: 29)),
      (
        HCICommand.leCreateConnection.opcode, "10001000020000000000000001060006000000c80000000000",
        .value(2, of: "initiator filter policy", at: 4)
      ),
    ])
  func wrongValues(opcode: UInt16, text: String, error: DecodeError) throws {
    let parameters = try [UInt8](hex: text)
    #expect(throws: error) { try HCICommand(opcode: opcode, parameters: parameters) }
  }

  @Test("the reserved bits above a connection handle are ignored in every command of a link")
  func reservedBits() throws {
    var random = SeededGenerator(seed: 9)
    for sample in sampleCommands(&random) {
      guard let declaration = HCICommand.declaration(of: sample.value.opcode), declaration.isOfLink else {
        continue
      }
      var parameters = sample.value.parameters
      parameters[1] |= 0xF0
      expect(try HCICommand(opcode: sample.value.opcode, parameters: parameters), sample.value)
    }
  }

  @Test("advertising data of more than 31 bytes is the caller's fault")
  func tooLong() async {
    await #expect(processExitsWith: .failure) {
      _ = HCICommand.leSetAdvertisingData([UInt8](repeating: 0, count: 32)).packet
    }
  }
}
