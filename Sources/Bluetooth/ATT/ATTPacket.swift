/// A packet of the attribute protocol (Core 5.4, Vol 3 Part F §3.4).
///
/// Lists in a response stay bytes, with the length of an entry if the packet has one: only the requester
/// knows their type.
public enum ATTPacket: Hashable, Sendable {
  case errorResponse(request: UInt8, AttributeHandle, ATTErrorCode)
  case exchangeMTURequest(UInt16)
  case exchangeMTUResponse(UInt16)
  case findInformationRequest(AttributeRange)
  /// The format is 1 for UUIDs of 2 bytes, 2 for UUIDs of 16.
  case findInformationResponse(format: UInt8, [UInt8])
  case findByTypeValueRequest(AttributeRange, type: UInt16, value: [UInt8])
  case findByTypeValueResponse([AttributeRange])
  case readByTypeRequest(AttributeRange, type: BluetoothUUID)
  case readByTypeResponse(length: UInt8, [UInt8])
  case readRequest(AttributeHandle)
  case readResponse([UInt8])
  case readBlobRequest(AttributeHandle, offset: UInt16)
  case readBlobResponse([UInt8])
  case readMultipleRequest([AttributeHandle])
  case readMultipleResponse([UInt8])
  case readByGroupTypeRequest(AttributeRange, type: BluetoothUUID)
  case readByGroupTypeResponse(length: UInt8, [UInt8])
  case writeRequest(AttributeHandle, [UInt8])
  case writeResponse
  case writeCommand(AttributeHandle, [UInt8])
  /// The signature is the last 12 bytes.
  case signedWriteCommand(AttributeHandle, [UInt8])
  case prepareWriteRequest(AttributeHandle, offset: UInt16, [UInt8])
  case prepareWriteResponse(AttributeHandle, offset: UInt16, [UInt8])
  /// Whether to write the prepared values; otherwise they are discarded.
  case executeWriteRequest(Bool)
  case executeWriteResponse
  case notification(AttributeHandle, [UInt8])
  case indication(AttributeHandle, [UInt8])
  case confirmation
  /// An opcode that this version does not know, with everything behind it.
  case unknown(opcode: UInt8, [UInt8])
}
