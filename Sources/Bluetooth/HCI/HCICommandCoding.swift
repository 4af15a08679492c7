extension HCICommand {
  /// The command's number.
  public var opcode: UInt16 {
    switch self {
    case .disconnect: HCIOpcode.disconnect
    case .readRemoteVersionInformation: HCIOpcode.readRemoteVersionInformation
    case .setEventMask: HCIOpcode.setEventMask
    case .reset: HCIOpcode.reset
    case .setEventMaskPage2: HCIOpcode.setEventMaskPage2
    case .readLocalVersionInformation: HCIOpcode.readLocalVersionInformation
    case .readLocalSupportedCommands: HCIOpcode.readLocalSupportedCommands
    case .readLocalSupportedFeatures: HCIOpcode.readLocalSupportedFeatures
    case .readBufferSize: HCIOpcode.readBufferSize
    case .readBDADDR: HCIOpcode.readBDADDR
    case .readRSSI: HCIOpcode.readRSSI
    case .leSetEventMask: HCIOpcode.leSetEventMask
    case .leReadBufferSize: HCIOpcode.leReadBufferSize
    case .leReadLocalSupportedFeatures: HCIOpcode.leReadLocalSupportedFeatures
    case .leSetRandomAddress: HCIOpcode.leSetRandomAddress
    case .leSetAdvertisingParameters: HCIOpcode.leSetAdvertisingParameters
    case .leReadAdvertisingTxPower: HCIOpcode.leReadAdvertisingTxPower
    case .leSetAdvertisingData: HCIOpcode.leSetAdvertisingData
    case .leSetScanResponseData: HCIOpcode.leSetScanResponseData
    case .leSetAdvertisingEnable: HCIOpcode.leSetAdvertisingEnable
    case .leSetScanParameters: HCIOpcode.leSetScanParameters
    case .leSetScanEnable: HCIOpcode.leSetScanEnable
    case .leCreateConnection: HCIOpcode.leCreateConnection
    case .leCreateConnectionCancel: HCIOpcode.leCreateConnectionCancel
    case .leReadFilterAcceptListSize: HCIOpcode.leReadFilterAcceptListSize
    case .leClearFilterAcceptList: HCIOpcode.leClearFilterAcceptList
    case .leAddToFilterAcceptList: HCIOpcode.leAddToFilterAcceptList
    case .leRemoveFromFilterAcceptList: HCIOpcode.leRemoveFromFilterAcceptList
    case .leConnectionUpdate: HCIOpcode.leConnectionUpdate
    case .leReadChannelMap: HCIOpcode.leReadChannelMap
    case .leReadRemoteFeatures: HCIOpcode.leReadRemoteFeatures
    case .leEncrypt: HCIOpcode.leEncrypt
    case .leRand: HCIOpcode.leRand
    case .leLongTermKeyRequestNegativeReply: HCIOpcode.leLongTermKeyRequestNegativeReply
    case .leReadSupportedStates: HCIOpcode.leReadSupportedStates
    case .leRemoteConnectionParameterRequestReply: HCIOpcode.leRemoteConnectionParameterRequestReply
    case .leRemoteConnectionParameterRequestNegativeReply:
      HCIOpcode.leRemoteConnectionParameterRequestNegativeReply
    case .leSetDataLength: HCIOpcode.leSetDataLength
    case .leReadSuggestedDefaultDataLength: HCIOpcode.leReadSuggestedDefaultDataLength
    case .leWriteSuggestedDefaultDataLength: HCIOpcode.leWriteSuggestedDefaultDataLength
    case .leReadMaximumDataLength: HCIOpcode.leReadMaximumDataLength
    case .leReadPHY: HCIOpcode.leReadPHY
    case .leSetDefaultPHY: HCIOpcode.leSetDefaultPHY
    case .other(let opcode, _): opcode
    }
  }

  /// The command as a packet.
  public var packet: HCIPacket {
    var parameters: [UInt8] = []
    encodeParameters(into: &parameters)
    return .command(opcode: opcode, parameters: parameters)
  }

  private func encodeParameters(into bytes: inout [UInt8]) {
    switch self {
    case .disconnect(let handle, let reason),
      .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      bytes.append(handle)
      bytes.append(reason.rawValue)

    case .readRemoteVersionInformation(let handle), .readRSSI(let handle), .leReadChannelMap(let handle),
      .leReadRemoteFeatures(let handle), .leLongTermKeyRequestNegativeReply(let handle),
      .leReadPHY(let handle):
      bytes.append(handle)

    case .setEventMask(let mask), .setEventMaskPage2(let mask), .leSetEventMask(let mask):
      bytes.append(littleEndian: mask)

    case .reset, .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
      .readBufferSize, .readBDADDR, .leReadBufferSize, .leReadLocalSupportedFeatures,
      .leReadAdvertisingTxPower, .leCreateConnectionCancel, .leReadFilterAcceptListSize,
      .leClearFilterAcceptList, .leRand, .leReadSupportedStates, .leReadSuggestedDefaultDataLength,
      .leReadMaximumDataLength:
      break

    case .leSetRandomAddress(let address): bytes.append(address)
    case .leSetAdvertisingParameters(let parameters): bytes.append(parameters)
    case .leSetAdvertisingData(let data), .leSetScanResponseData(let data): bytes.append(padded: data)
    case .leSetAdvertisingEnable(let isEnabled): bytes.append(isEnabled)
    case .leSetScanParameters(let parameters): bytes.append(parameters)
    case .leSetScanEnable(let isEnabled, let filterDuplicates):
      bytes.append(isEnabled)
      bytes.append(filterDuplicates)
    case .leCreateConnection(let request): bytes.append(request)
    case .leAddToFilterAcceptList(let peer), .leRemoveFromFilterAcceptList(let peer): bytes.append(peer)

    case .leConnectionUpdate(let handle, let parameters),
      .leRemoteConnectionParameterRequestReply(let handle, let parameters):
      bytes.append(handle)
      bytes.append(parameters)

    case .leEncrypt(let key, let plaintext):
      bytes.append(key)
      bytes.append(plaintext)

    case .leSetDataLength(let handle, let octets, let time):
      bytes.append(handle)
      bytes.append(littleEndian: octets)
      bytes.append(littleEndian: time)

    case .leWriteSuggestedDefaultDataLength(let octets, let time):
      bytes.append(littleEndian: octets)
      bytes.append(littleEndian: time)

    case .leSetDefaultPHY(let all, let transmit, let receive):
      bytes.append(contentsOf: [all, transmit, receive])
    case .other(_, let parameters): bytes.append(contentsOf: parameters)
    }
  }
}

extension HCICommand {
  /// Reads a command from its number and its parameters, which must end where the command's layout ends.
  ///
  /// Numbers that may have any value here, such as intervals, may still be out of the range that the
  /// specification gives them: a controller refuses those with ``HCIErrorCode/invalidParameters``.
  public init(opcode: UInt16, parameters: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(parameters.span)
    if let command = Self.withoutParameters[opcode] {
      self = command
    } else if opcode >> 10 == 0x08 {
      self = try Self.le(opcode, &reader)
    } else {
      self = try Self.classic(opcode, &reader)
    }
    try reader.end()
  }

  private static let withoutParameters: [UInt16: HCICommand] = {
    let commands: [HCICommand] = [
      .reset, .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
      .readBufferSize, .readBDADDR, .leReadBufferSize, .leReadLocalSupportedFeatures,
      .leReadAdvertisingTxPower,
      .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList, .leRand,
      .leReadSupportedStates, .leReadSuggestedDefaultDataLength, .leReadMaximumDataLength,
    ]
    return Dictionary(uniqueKeysWithValues: commands.map { ($0.opcode, $0) })
  }()

  private static func classic(
    _ opcode: UInt16, _ reader: inout ByteReader
  ) throws(DecodeError) -> HCICommand {
    switch opcode {
    case HCIOpcode.disconnect:
      .disconnect(try reader.value(), reason: try reader.errorCode())
    case HCIOpcode.readRemoteVersionInformation:
      .readRemoteVersionInformation(try reader.value())
    case HCIOpcode.setEventMask: .setEventMask(try reader.u64())
    case HCIOpcode.setEventMaskPage2: .setEventMaskPage2(try reader.u64())
    case HCIOpcode.readRSSI: .readRSSI(try reader.value())
    default: .other(opcode: opcode, parameters: reader.rest())
    }
  }

  private static func le(_ opcode: UInt16, _ reader: inout ByteReader) throws(DecodeError) -> HCICommand {
    switch opcode {
    case HCIOpcode.leSetEventMask: .leSetEventMask(try reader.u64())
    case HCIOpcode.leSetRandomAddress: .leSetRandomAddress(try reader.value())
    case HCIOpcode.leSetAdvertisingParameters: .leSetAdvertisingParameters(try reader.value())
    case HCIOpcode.leSetAdvertisingData: .leSetAdvertisingData(try reader.paddedData())
    case HCIOpcode.leSetScanResponseData: .leSetScanResponseData(try reader.paddedData())
    case HCIOpcode.leSetAdvertisingEnable: .leSetAdvertisingEnable(try reader.flag("advertising enable"))
    case HCIOpcode.leSetScanParameters: .leSetScanParameters(try reader.value())
    case HCIOpcode.leSetScanEnable:
      .leSetScanEnable(try reader.flag("scan enable"), filterDuplicates: try reader.flag("filter duplicates"))
    case HCIOpcode.leCreateConnection: .leCreateConnection(try reader.value())
    case HCIOpcode.leAddToFilterAcceptList: .leAddToFilterAcceptList(try reader.value())
    case HCIOpcode.leRemoveFromFilterAcceptList: .leRemoveFromFilterAcceptList(try reader.value())
    case HCIOpcode.leEncrypt: .leEncrypt(key: try reader.value(), plaintext: try reader.value())
    case HCIOpcode.leWriteSuggestedDefaultDataLength:
      .leWriteSuggestedDefaultDataLength(octets: try reader.u16(), time: try reader.u16())
    case HCIOpcode.leSetDefaultPHY:
      .leSetDefaultPHY(all: try reader.u8(), transmit: try reader.u8(), receive: try reader.u8())
    default: try leOfLink(opcode, &reader)
    }
  }

  private static func leOfLink(
    _ opcode: UInt16, _ reader: inout ByteReader
  ) throws(DecodeError) -> HCICommand {
    switch opcode {
    case HCIOpcode.leConnectionUpdate:
      .leConnectionUpdate(try reader.value(), try reader.value())
    case HCIOpcode.leReadChannelMap: .leReadChannelMap(try reader.value())
    case HCIOpcode.leReadRemoteFeatures: .leReadRemoteFeatures(try reader.value())
    case HCIOpcode.leLongTermKeyRequestNegativeReply:
      .leLongTermKeyRequestNegativeReply(try reader.value())
    case HCIOpcode.leRemoteConnectionParameterRequestReply:
      .leRemoteConnectionParameterRequestReply(try reader.value(), try reader.value())
    case HCIOpcode.leRemoteConnectionParameterRequestNegativeReply:
      .leRemoteConnectionParameterRequestNegativeReply(
        try reader.value(), reason: try reader.errorCode())
    case HCIOpcode.leSetDataLength:
      .leSetDataLength(try reader.value(), octets: try reader.u16(), time: try reader.u16())
    case HCIOpcode.leReadPHY: .leReadPHY(try reader.value())
    default: .other(opcode: opcode, parameters: reader.rest())
    }
  }
}

extension ByteReader {
  /// Reads advertising data of a length that comes first, in a field of 31 bytes
  /// (Core 5.4, Vol 4 Part E §7.8.7).
  @_lifetime(self: copy self)
  fileprivate mutating func paddedData() throws(DecodeError) -> [UInt8] {
    let start = offset
    let length = Int(try u8())
    guard length <= AdvertisingData.legacyCapacity else {
      throw .value(length, of: "length of advertising data", at: start)
    }
    let data = try bytes(length)
    try skip(AdvertisingData.legacyCapacity - length)
    return data
  }
}

extension Array<UInt8> {
  fileprivate mutating func append(padded data: [UInt8]) {
    precondition(data.count <= AdvertisingData.legacyCapacity, "legacy advertising data is at most 31 bytes")
    append(UInt8(data.count))
    append(contentsOf: data)
    append(contentsOf: repeatElement(0, count: AdvertisingData.legacyCapacity - data.count))
  }
}
