@testable import Bluetooth
import Basics
import TestSupport
import Testing

@Suite struct HCIReturnTests {
  private static let link = ConnectionHandle(rawValue: 0x0EFF)

  private func check<Return, Value>(
    _ kind: HCICommand.Kind<Return, Value>, _ value: Return, _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    expect(kind.success(value).hex, text, sourceLocation: sourceLocation)
    let bytes = try [UInt8](hex: text)
    expect(try CommandReturn.status(of: bytes), .success, sourceLocation: sourceLocation)
    expect(kind.success(try kind.returned(bytes)).hex, text, sourceLocation: sourceLocation)
    checkCodec(Sample(bytes), encode: { $0 }, decode: kind.declaration.returnedAgain)
    var ignored = Reserved()
    _ = try kind.returned(bytes + [0], ignoring: &ignored)
    expect(ignored, .rest, sourceLocation: sourceLocation)
  }

  @Test("return parameters have the specification's layouts")
  func layouts() throws {
    try check(
      HCICommand.readLocalVersionInformation,
      CommandReturn.LocalVersion(
        hciVersion: 0x0D, hciSubversion: 0x0102, lmpVersion: 0x0C, company: 2, lmpSubversion: 0x0304),
      "000d02010c02000403")
    try check(HCICommand.readLocalSupportedFeatures, 0x0000_0060_0000_0000, "000000000060000000")
    try check(
      HCICommand.readBufferSize,
      CommandReturn.ReadBufferSize(
        aclLength: 1021, synchronousLength: 64, aclCount: 8, synchronousCount: 1), "00fd034008000100")
    try check(HCICommand.readBDADDR, BluetoothAddress(0x1122_3344_5566), "00665544332211")
    try check(HCICommand.readRSSI, (Self.link, -60), "00ff0ec4")
    try check(HCICommand.readRSSI, (Self.link, nil), "00ff0e7f")
    try check(
      HCICommand.leReadBufferSize, CommandReturn.LEReadBufferSize(aclLength: 251, aclCount: 15), "00fb000f")
    try check(HCICommand.leReadLocalSupportedFeatures, 0x59FF, "00ff59000000000000")
    try check(HCICommand.leReadAdvertisingTxPower, -12, "00f4")
    try check(HCICommand.leReadFilterAcceptListSize, 16, "0010")
    try check(HCICommand.leReadChannelMap, (Self.link, 0x1F_FFFF_FFFE), "00ff0efeffffff1f")
    try check(
      HCICommand.leEncrypt, UUID128(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
      "00000102030405060708090a0b0c0d0e0f")
    try check(HCICommand.leRand, 0x0807_0605_0403_0201, "000102030405060708")
    try check(HCICommand.leReadSupportedStates, 0x03FF_FFFF_FFFF, "00ffffffffff030000")
    try check(HCICommand.leReadSuggestedDefaultDataLength, (27, 328), "001b004801")
    try check(
      HCICommand.leReadMaximumDataLength,
      DataLength(
        transmitOctets: 251, transmitTime: 2120, receiveOctets: 251, receiveTime: 17_040),
      "00fb004808fb009042")
    try check(HCICommand.leReadPHY, (Self.link, 1, 2), "00ff0e0102")
    try check(HCICommand.leSetDataLength, Self.link, "00ff0e")
  }

  @Test("supported commands are numbered by octet and bit")
  func supportedCommands() throws {
    var commands = CommandReturn.SupportedCommands()
    commands[octet: 5, bit: 7] = true
    commands[octet: 63, bit: 0] = true
    commands[octet: 5, bit: 6] = true
    commands[octet: 5, bit: 6] = false
    let text = "00" + "0000000000" + "80" + String(repeating: "00", count: 57) + "01"
    try check(HCICommand.readLocalSupportedCommands, commands, text)
    expect(commands[octet: 5, bit: 7], true)
    expect(commands[octet: 5, bit: 6], false)
  }

  @Test(
    "what a later version returns behind the last known field is ignored, as are reserved bits of a handle")
  func longer() throws {
    var ignored = Reserved()
    expect(
      try HCICommand.leReadBufferSize.returned([0, 251, 0, 15, 9, 9], ignoring: &ignored),
      CommandReturn.LEReadBufferSize(aclLength: 251, aclCount: 15))
    expect(ignored, .rest)
    ignored = []
    expect(try HCICommand.leSetDataLength.returned([0, 0xFF, 0xFE], ignoring: &ignored), Self.link)
    expect(ignored, .handleBits)
  }

  @Test("a command that failed may return its status alone")
  func failure() throws {
    expect(try CommandReturn.status(of: [0x0C]), .commandDisallowed)
    #expect(throws: DecodeError.truncated(at: 0)) { try CommandReturn.status(of: []) }
    #expect(throws: DecodeError.truncated(at: 1, missing: 2)) {
      try HCICommand.leSetDataLength.returned([0x0C])
    }
  }
}
