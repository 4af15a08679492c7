import Basics

// The declarations of the commands that an LE host needs, or that other hosts send at start: number, name,
// answer, octet and bit among the supported commands, parameters, return parameters, and the text of the
// parameters (Core 5.4, Vol 4 Part E §6.27, §7).

/// Features of LE, as bits (Core 5.4, Vol 6 Part B §4.6).
public enum LEFeature {
  /// The connection parameters request procedure.
  public static let parameterRequest: UInt64 = 1 << 1
  /// The data packet length extension.
  public static let dataLength: UInt64 = 1 << 5
}

extension HCICommand {
  /// All known commands.
  public static let all: [Declaration] = [
    disconnect.declaration, readRemoteVersionInformation.declaration, setEventMask.declaration,
    reset.declaration, setEventMaskPage2.declaration, readLocalVersionInformation.declaration,
    readLocalSupportedCommands.declaration, readLocalSupportedFeatures.declaration,
    readBufferSize.declaration, readBDADDR.declaration, readRSSI.declaration, leSetEventMask.declaration,
    leReadBufferSize.declaration, leReadLocalSupportedFeatures.declaration, leSetRandomAddress.declaration,
    leSetAdvertisingParameters.declaration, leReadAdvertisingTxPower.declaration,
    leSetAdvertisingData.declaration, leSetScanResponseData.declaration, leSetAdvertisingEnable.declaration,
    leSetScanParameters.declaration, leSetScanEnable.declaration, leCreateConnection.declaration,
    leCreateConnectionCancel.declaration, leReadFilterAcceptListSize.declaration,
    leClearFilterAcceptList.declaration, leAddToFilterAcceptList.declaration,
    leRemoveFromFilterAcceptList.declaration, leConnectionUpdate.declaration, leReadChannelMap.declaration,
    leReadRemoteFeatures.declaration, leEncrypt.declaration, leRand.declaration,
    leLongTermKeyRequestNegativeReply.declaration, leReadSupportedStates.declaration,
    leRemoteConnectionParameterRequestReply.declaration,
    leRemoteConnectionParameterRequestNegativeReply.declaration, leSetDataLength.declaration,
    leReadSuggestedDefaultDataLength.declaration, leWriteSuggestedDefaultDataLength.declaration,
    leReadMaximumDataLength.declaration, leReadPHY.declaration, leSetDefaultPHY.declaration,
  ]
}

private let handle = HCICommand.Field.of(ConnectionHandle.self)
private let reason = HCICommand.Field.of(HCIErrorCode.self)
private let mask = HCICommand.Field.of(UInt64.self)
private let peer = HCICommand.Field.of(PeerAddress.self)
private let timing = HCICommand.Field.of(ConnectionParameters.self)
private let block = HCICommand.Field.of(UUID128.self)
private let word = HCICommand.Field.of(UInt16.self)
private let octet = HCICommand.Field.of(UInt8.self)

// swift-format-ignore
extension HCICommand {
  // Link control, §7.1

  public static let disconnect = Kind(
    0x0406, "Disconnect", .status, (0, 5), .both(handle, reason)) { _, reason in "reason \(reason)" }
  public static let readRemoteVersionInformation = Kind(
    0x041D, "Read Remote Version Information", .status, (2, 7), handle)

  // Controller and baseband, §7.3

  public static let setEventMask = Kind(0x0C01, "Set Event Mask", .complete, (5, 6), mask, text: maskText)
  public static let reset = Kind(0x0C03, "Reset", .complete, (5, 7), .nothing)
  public static let setEventMaskPage2 = Kind(
    0x0C63, "Set Event Mask Page 2", .complete, (22, 2), mask, text: maskText)

  // Informational, §7.4

  public static let readLocalVersionInformation = Kind(
    0x1001, "Read Local Version Information", .complete, (14, 3), .nothing,
    returning: .of(CommandReturn.LocalVersion.self))
  /// It has no place itself, since a host could not read it.
  public static let readLocalSupportedCommands = Kind(
    0x1002, "Read Local Supported Commands", .complete, nil, .nothing,
    returning: .of(CommandReturn.SupportedCommands.self))
  /// Returns the features of the link manager as bits; bit 38 is LE.
  public static let readLocalSupportedFeatures = Kind(
    0x1003, "Read Local Supported Features", .complete, (14, 5), .nothing, returning: .of(UInt64.self))
  public static let readBufferSize = Kind(
    0x1005, "Read Buffer Size", .complete, (14, 7), .nothing, returning: .of(CommandReturn.ReadBufferSize.self))
  /// Returns the public address.
  public static let readBDADDR = Kind(
    0x1009, "Read BD_ADDR", .complete, (15, 1), .nothing, returning: .of(BluetoothAddress.self))

  // Status, §7.5

  /// Returns the signal strength in dBm; `nil` if the controller does not know it.
  public static let readRSSI = Kind(
    0x1405, "Read RSSI", .complete, (15, 5), handle, returning: .both(handle, .rssi))

  // LE controller, §7.8

  public static let leSetEventMask = Kind(
    0x2001, "LE Set Event Mask", .complete, (25, 0), mask, text: maskText)
  public static let leReadBufferSize = Kind(
    0x2002, "LE Read Buffer Size", .complete, (25, 1), .nothing,
    returning: .of(CommandReturn.LEReadBufferSize.self))
  /// Returns the features of LE as bits (Vol 6 Part B §4.6).
  public static let leReadLocalSupportedFeatures = Kind(
    0x2003, "LE Read Local Supported Features", .complete, (25, 2), .nothing, returning: .of(UInt64.self))
  public static let leSetRandomAddress = Kind(
    0x2005, "LE Set Random Address", .complete, (25, 4), .of(BluetoothAddress.self)) { "\($0)" }
  public static let leSetAdvertisingParameters = Kind(
    0x2006, "LE Set Advertising Parameters", .complete, (25, 5), .of(AdvertisingParameters.self)) {
    "\($0.kind.text), \(times($0.minimumInterval, 625)) to " + times($0.maximumInterval, 625) }
  /// Returns the power in dBm.
  public static let leReadAdvertisingTxPower = Kind(
    0x2007, "LE Read Advertising Physical Channel Tx Power", .complete, (25, 6), .nothing,
    returning: .of(Int8.self))
  /// At most 31 bytes.
  public static let leSetAdvertisingData = Kind(
    0x2008, "LE Set Advertising Data", .complete, (25, 7), .advertisingData, text: advertisingText)
  /// At most 31 bytes.
  public static let leSetScanResponseData = Kind(
    0x2009, "LE Set Scan Response Data", .complete, (26, 0), .advertisingData, text: advertisingText)
  public static let leSetAdvertisingEnable = Kind(
    0x200A, "LE Set Advertising Enable", .complete, (26, 1), .flag("advertising enable")) {
    $0 ? "on" : "off" }
  public static let leSetScanParameters = Kind(
    0x200B, "LE Set Scan Parameters", .complete, (26, 2), .of(ScanParameters.self)) {
    "\($0.isActive ? "active" : "passive"), window \(times($0.window, 625)) of " + times($0.interval, 625) }
  /// Whether to scan, and whether to report each device once only.
  public static let leSetScanEnable = Kind(
    0x200C, "LE Set Scan Enable", .complete, (26, 3), .both(.flag("scan enable"), .flag("filter duplicates"))) {
    isOn, filters in isOn ? "on" + (filters ? ", without duplicates" : "") : "off" }
  public static let leCreateConnection = Kind(
    0x200D, "LE Create Connection", .status, (26, 4), .of(ConnectionRequest.self)) {
    $0.usesFilterAcceptList ? "to the filter accept list" : "to \($0.peer)" }
  public static let leCreateConnectionCancel = Kind(
    0x200E, "LE Create Connection Cancel", .complete, (26, 5), .nothing)
  /// Returns how many devices the list can hold.
  public static let leReadFilterAcceptListSize = Kind(
    0x200F, "LE Read Filter Accept List Size", .complete, (26, 6), .nothing, returning: .of(UInt8.self))
  public static let leClearFilterAcceptList = Kind(
    0x2010, "LE Clear Filter Accept List", .complete, (26, 7), .nothing)
  public static let leAddToFilterAcceptList = Kind(
    0x2011, "LE Add Device To Filter Accept List", .complete, (27, 0), peer) { "\($0)" }
  public static let leRemoveFromFilterAcceptList = Kind(
    0x2012, "LE Remove Device From Filter Accept List", .complete, (27, 1), peer) { "\($0)" }
  public static let leConnectionUpdate = Kind(
    0x2013, "LE Connection Update", .status, (27, 2), .both(handle, timing)) { _, timing in timing.text }
  /// Returns the data channels in use, as bits 0 to 36.
  public static let leReadChannelMap = Kind(
    0x2015, "LE Read Channel Map", .complete, (27, 4), handle, returning: .both(handle, .channels))
  public static let leReadRemoteFeatures = Kind(0x2016, "LE Read Remote Features", .status, (27, 5), handle)
  /// AES-128 of one block: the key and the plaintext. These and the returned ciphertext are 16 bytes each,
  /// least significant first.
  public static let leEncrypt = Kind(
    0x2017, "LE Encrypt", .complete, (27, 6), .both(block, block), hidingFrom: 0, hidesReturn: true,
    returning: .of(UUID128.self)) { _, _ in "key withheld" }
  /// Returns the random number, which may become a key.
  public static let leRand = Kind(
    0x2018, "LE Rand", .complete, (27, 7), .nothing, hidesReturn: true, returning: .of(UInt64.self))
  public static let leLongTermKeyRequestNegativeReply = Kind(
    0x201B, "LE Long Term Key Request Negative Reply", .complete, (28, 2), handle,
    returning: handle)
  /// Returns the combinations of states and roles as bits.
  public static let leReadSupportedStates = Kind(
    0x201C, "LE Read Supported States", .complete, (28, 3), .nothing, returning: .of(UInt64.self))
  public static let leRemoteConnectionParameterRequestReply = Kind(
    0x2020, "LE Remote Connection Parameter Request Reply", .complete, (33, 4), .both(handle, timing),
    features: LEFeature.parameterRequest, returning: handle) { _, timing in timing.text }
  public static let leRemoteConnectionParameterRequestNegativeReply = Kind(
    0x2021, "LE Remote Connection Parameter Request Negative Reply", .complete, (33, 5), .both(handle, reason),
    features: LEFeature.parameterRequest, returning: handle) { _, reason in "reason \(reason)" }
  /// Bytes of payload, from 27 to 251, and microseconds.
  public static let leSetDataLength = Kind(
    0x2022, "LE Set Data Length", .complete, (33, 6), .three(handle, word, word),
    features: LEFeature.dataLength, returning: handle) { _, octets, time in
    "\(octets) bytes, \(time) µs"
  }
  /// Returns bytes of payload, from 27 to 251, and microseconds.
  public static let leReadSuggestedDefaultDataLength = Kind(
    0x2023, "LE Read Suggested Default Data Length", .complete, (33, 7), .nothing,
    features: LEFeature.dataLength, returning: .both(word, word))
  /// Bytes of payload, from 27 to 251, and microseconds.
  public static let leWriteSuggestedDefaultDataLength = Kind(
    0x2024, "LE Write Suggested Default Data Length", .complete, (34, 0), .both(word, word),
    features: LEFeature.dataLength) { octets, time in "\(octets) bytes, \(time) µs" }
  public static let leReadMaximumDataLength = Kind(
    0x202F, "LE Read Maximum Data Length", .complete, (35, 3), .nothing, features: LEFeature.dataLength,
    returning: .of(DataLength.self))
  /// Returns the transmit PHY and the receive PHY: 1 for 1M, 2 for 2M, 3 for coded.
  public static let leReadPHY = Kind(
    0x2030, "LE Read PHY", .complete, (35, 4), handle, returning: .three(handle, octet, octet))
  /// The directions without a preference, as bits, and for each direction the preferred PHYs: 1 for 1M, 2 for 2M, 4
  /// for coded.
  public static let leSetDefaultPHY = Kind(
    0x2031, "LE Set Default PHY", .complete, (35, 5), .three(octet, octet, octet)) {
    _, transmit, receive in "transmit \(transmit), receive \(receive)" }
  }
