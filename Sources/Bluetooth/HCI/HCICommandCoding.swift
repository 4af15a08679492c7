extension HCICommand {
  /// The command's number.
  public var opcode: UInt16 { HCIOpcode.form(of: self).opcode }

  /// The command as a packet.
  public var packet: HCIPacket {
    let (opcode, parameters) = HCIOpcode.form(of: self)
    return .command(opcode: opcode, parameters: parameters)
  }

  /// Reads a command from its number and its parameters, which must end where the command's layout ends.
  ///
  /// Numbers that may have any value here, such as intervals, may still be out of the range that the
  /// specification gives them: a controller refuses those with ``HCIErrorCode/invalidParameters``.
  public init(opcode: UInt16, parameters: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(parameters.span)
    self = try HCIOpcode.command(opcode, &reader)
    try reader.end()
  }
}

extension HCIOpcode {
  fileprivate static func form(of command: HCICommand) -> (opcode: UInt16, parameters: [UInt8]) {
    switch command {
    case .disconnect(let handle, let reason): (disconnect, bytes(handle, reason))
    case .readRemoteVersionInformation(let handle): (readRemoteVersionInformation, bytes(handle))
    case .setEventMask(let mask): (setEventMask, bytes(mask))
    case .reset: (reset, [])
    case .setEventMaskPage2(let mask): (setEventMaskPage2, bytes(mask))
    case .readLocalVersionInformation: (readLocalVersionInformation, [])
    case .readLocalSupportedCommands: (readLocalSupportedCommands, [])
    case .readLocalSupportedFeatures: (readLocalSupportedFeatures, [])
    case .readBufferSize: (readBufferSize, [])
    case .readBDADDR: (readBDADDR, [])
    case .readRSSI(let handle): (readRSSI, bytes(handle))
    case .leSetEventMask(let mask): (leSetEventMask, bytes(mask))
    case .leReadBufferSize: (leReadBufferSize, [])
    case .leReadLocalSupportedFeatures: (leReadLocalSupportedFeatures, [])
    case .leSetRandomAddress(let address): (leSetRandomAddress, bytes(address))
    case .leSetAdvertisingParameters(let parameters): (leSetAdvertisingParameters, bytes(parameters))
    case .leReadAdvertisingTxPower: (leReadAdvertisingTxPower, [])
    case .leSetAdvertisingData(let data): (leSetAdvertisingData, bytes(padded(data)))
    case .leSetScanResponseData(let data): (leSetScanResponseData, bytes(padded(data)))
    case .leSetAdvertisingEnable(let isEnabled): (leSetAdvertisingEnable, bytes(isEnabled.byte))
    case .leSetScanParameters(let parameters): (leSetScanParameters, bytes(parameters))
    case .leSetScanEnable(let isEnabled, let filterDuplicates):
      (leSetScanEnable, bytes(isEnabled.byte, filterDuplicates.byte))
    case .leCreateConnection(let request): (leCreateConnection, bytes(request))
    case .leCreateConnectionCancel: (leCreateConnectionCancel, [])
    case .leReadFilterAcceptListSize: (leReadFilterAcceptListSize, [])
    case .leClearFilterAcceptList: (leClearFilterAcceptList, [])
    case .leAddToFilterAcceptList(let peer): (leAddToFilterAcceptList, bytes(peer))
    case .leRemoveFromFilterAcceptList(let peer): (leRemoveFromFilterAcceptList, bytes(peer))
    case .leConnectionUpdate(let handle, let parameters): (leConnectionUpdate, bytes(handle, parameters))
    case .leReadChannelMap(let handle): (leReadChannelMap, bytes(handle))
    case .leReadRemoteFeatures(let handle): (leReadRemoteFeatures, bytes(handle))
    case .leEncrypt(let key, let plaintext): (leEncrypt, bytes(key, plaintext))
    case .leRand: (leRand, [])
    case .leLongTermKeyRequestNegativeReply(let handle): (leLongTermKeyRequestNegativeReply, bytes(handle))
    case .leReadSupportedStates: (leReadSupportedStates, [])
    case .leRemoteConnectionParameterRequestReply(let handle, let parameters):
      (leRemoteConnectionParameterRequestReply, bytes(handle, parameters))
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      (leRemoteConnectionParameterRequestNegativeReply, bytes(handle, reason))
    case .leSetDataLength(let handle, let octets, let time): (leSetDataLength, bytes(handle, octets, time))
    case .leReadSuggestedDefaultDataLength: (leReadSuggestedDefaultDataLength, [])
    case .leWriteSuggestedDefaultDataLength(let octets, let time):
      (leWriteSuggestedDefaultDataLength, bytes(octets, time))
    case .leReadMaximumDataLength: (leReadMaximumDataLength, [])
    case .leReadPHY(let handle): (leReadPHY, bytes(handle))
    case .leSetDefaultPHY(let all, let transmit, let receive):
      (leSetDefaultPHY, bytes(all, transmit, receive))
    case .other(let opcode, let parameters): (opcode, parameters)
    }
  }

  fileprivate static func command(
    _ opcode: UInt16, _ reader: inout ByteReader
  ) throws(DecodeError) -> HCICommand {
    switch opcode {
    case disconnect: .disconnect(try reader.value(), reason: try reader.value())
    case readRemoteVersionInformation: .readRemoteVersionInformation(try reader.value())
    case setEventMask: .setEventMask(try reader.value())
    case reset: .reset
    case setEventMaskPage2: .setEventMaskPage2(try reader.value())
    case readLocalVersionInformation: .readLocalVersionInformation
    case readLocalSupportedCommands: .readLocalSupportedCommands
    case readLocalSupportedFeatures: .readLocalSupportedFeatures
    case readBufferSize: .readBufferSize
    case readBDADDR: .readBDADDR
    case readRSSI: .readRSSI(try reader.value())
    case leSetEventMask: .leSetEventMask(try reader.value())
    case leReadBufferSize: .leReadBufferSize
    case leReadLocalSupportedFeatures: .leReadLocalSupportedFeatures
    case leSetRandomAddress: .leSetRandomAddress(try reader.value())
    case leSetAdvertisingParameters: .leSetAdvertisingParameters(try reader.value())
    case leReadAdvertisingTxPower: .leReadAdvertisingTxPower
    case leSetAdvertisingData: .leSetAdvertisingData(try reader.paddedData())
    case leSetScanResponseData: .leSetScanResponseData(try reader.paddedData())
    case leSetAdvertisingEnable: .leSetAdvertisingEnable(try reader.flag("advertising enable"))
    case leSetScanParameters: .leSetScanParameters(try reader.value())
    case leSetScanEnable:
      .leSetScanEnable(try reader.flag("scan enable"), filterDuplicates: try reader.flag("filter duplicates"))
    case leCreateConnection: .leCreateConnection(try reader.value())
    case leCreateConnectionCancel: .leCreateConnectionCancel
    case leReadFilterAcceptListSize: .leReadFilterAcceptListSize
    case leClearFilterAcceptList: .leClearFilterAcceptList
    case leAddToFilterAcceptList: .leAddToFilterAcceptList(try reader.value())
    case leRemoveFromFilterAcceptList: .leRemoveFromFilterAcceptList(try reader.value())
    case leConnectionUpdate: .leConnectionUpdate(try reader.value(), try reader.value())
    case leReadChannelMap: .leReadChannelMap(try reader.value())
    case leReadRemoteFeatures: .leReadRemoteFeatures(try reader.value())
    case leEncrypt: .leEncrypt(key: try reader.value(), plaintext: try reader.value())
    case leRand: .leRand
    case leLongTermKeyRequestNegativeReply: .leLongTermKeyRequestNegativeReply(try reader.value())
    case leReadSupportedStates: .leReadSupportedStates
    case leRemoteConnectionParameterRequestReply:
      .leRemoteConnectionParameterRequestReply(try reader.value(), try reader.value())
    case leRemoteConnectionParameterRequestNegativeReply:
      .leRemoteConnectionParameterRequestNegativeReply(try reader.value(), reason: try reader.value())
    case leSetDataLength:
      .leSetDataLength(try reader.value(), octets: try reader.value(), time: try reader.value())
    case leReadSuggestedDefaultDataLength: .leReadSuggestedDefaultDataLength
    case leWriteSuggestedDefaultDataLength:
      .leWriteSuggestedDefaultDataLength(octets: try reader.value(), time: try reader.value())
    case leReadMaximumDataLength: .leReadMaximumDataLength
    case leReadPHY: .leReadPHY(try reader.value())
    case leSetDefaultPHY:
      .leSetDefaultPHY(all: try reader.value(), transmit: try reader.value(), receive: try reader.value())
    default: .other(opcode: opcode, parameters: reader.rest())
    }
  }
}

private func bytes<each Field: BinaryCodable>(_ fields: repeat each Field) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.append(fields: repeat each fields)
  return bytes
}

extension Bool {
  fileprivate var byte: UInt8 { self ? 1 : 0 }
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

/// The same data, with its length in front, in such a field.
private func padded(_ data: [UInt8]) -> [UInt8] {
  precondition(data.count <= AdvertisingData.legacyCapacity, "legacy advertising data is at most 31 bytes")
  return [UInt8(data.count)] + data + repeatElement(0, count: AdvertisingData.legacyCapacity - data.count)
}
