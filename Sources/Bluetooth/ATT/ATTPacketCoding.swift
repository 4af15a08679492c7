extension ATTPacket {
  /// The first byte of the packet.
  public var opcode: UInt8 {
    switch self {
    case .errorResponse: ATTOpcode.errorResponse
    case .exchangeMTURequest: ATTOpcode.exchangeMTURequest
    case .exchangeMTUResponse: ATTOpcode.exchangeMTUResponse
    case .findInformationRequest: ATTOpcode.findInformationRequest
    case .findInformationResponse: ATTOpcode.findInformationResponse
    case .findByTypeValueRequest: ATTOpcode.findByTypeValueRequest
    case .findByTypeValueResponse: ATTOpcode.findByTypeValueResponse
    case .readByTypeRequest: ATTOpcode.readByTypeRequest
    case .readByTypeResponse: ATTOpcode.readByTypeResponse
    case .readRequest: ATTOpcode.readRequest
    case .readResponse: ATTOpcode.readResponse
    case .readBlobRequest: ATTOpcode.readBlobRequest
    case .readBlobResponse: ATTOpcode.readBlobResponse
    case .readMultipleRequest: ATTOpcode.readMultipleRequest
    case .readMultipleResponse: ATTOpcode.readMultipleResponse
    case .readByGroupTypeRequest: ATTOpcode.readByGroupTypeRequest
    case .readByGroupTypeResponse: ATTOpcode.readByGroupTypeResponse
    case .writeRequest: ATTOpcode.writeRequest
    case .writeResponse: ATTOpcode.writeResponse
    case .writeCommand: ATTOpcode.writeCommand
    case .signedWriteCommand: ATTOpcode.signedWriteCommand
    case .prepareWriteRequest: ATTOpcode.prepareWriteRequest
    case .prepareWriteResponse: ATTOpcode.prepareWriteResponse
    case .executeWriteRequest: ATTOpcode.executeWriteRequest
    case .executeWriteResponse: ATTOpcode.executeWriteResponse
    case .notification: ATTOpcode.notification
    case .indication: ATTOpcode.indication
    case .confirmation: ATTOpcode.confirmation
    case .unknown(let opcode, _): opcode
    }
  }
}

extension ATTPacket: BinaryCodable {
  /// Reads a packet that extends to the end of the reader's bytes: a packet does not contain its own length, and one
  /// with a fixed layout may not have bytes after it.
  ///
  /// The lists of a response consist of complete entries of the length that it states; a response without entries is
  /// an error.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    let opcode = try reader.u8()
    self =
      switch opcode {
      // First those that carry the data.
      case ATTOpcode.notification: .notification(try reader.value(), reader.rest())
      case ATTOpcode.writeCommand: .writeCommand(try reader.value(), reader.rest())
      case ATTOpcode.writeRequest: .writeRequest(try reader.value(), reader.rest())
      case ATTOpcode.writeResponse: .writeResponse
      case ATTOpcode.indication: .indication(try reader.value(), reader.rest())
      case ATTOpcode.confirmation: .confirmation
      case ATTOpcode.readRequest: .readRequest(try reader.value())
      case ATTOpcode.readResponse: .readResponse(reader.rest())
      case ATTOpcode.readBlobRequest:
        .readBlobRequest(try reader.value(), offset: try reader.u16())
      case ATTOpcode.readBlobResponse: .readBlobResponse(reader.rest())
      case ATTOpcode.prepareWriteRequest:
        .prepareWriteRequest(try reader.value(), offset: try reader.u16(), reader.rest())
      case ATTOpcode.prepareWriteResponse:
        .prepareWriteResponse(try reader.value(), offset: try reader.u16(), reader.rest())
      case ATTOpcode.executeWriteRequest: .executeWriteRequest(try reader.flag("execute write"))
      case ATTOpcode.executeWriteResponse: .executeWriteResponse
      default: try Self.discovery(opcode, &reader)
      }
    try reader.end()
  }

  private static func discovery(
    _ opcode: UInt8, _ reader: inout ByteReader
  ) throws(DecodeError) -> ATTPacket {
    switch opcode {
    case ATTOpcode.errorResponse:
      .errorResponse(request: try reader.u8(), try reader.value(), try reader.value())
    case ATTOpcode.exchangeMTURequest: .exchangeMTURequest(try reader.u16())
    case ATTOpcode.exchangeMTUResponse: .exchangeMTUResponse(try reader.u16())
    case ATTOpcode.findInformationRequest: .findInformationRequest(try reader.value())
    case ATTOpcode.findInformationResponse: try findInformationResponse(&reader)
    case ATTOpcode.findByTypeValueRequest:
      .findByTypeValueRequest(try reader.value(), type: try reader.u16(), value: reader.rest())
    case ATTOpcode.findByTypeValueResponse: try findByTypeValueResponse(&reader)
    case ATTOpcode.readByTypeRequest:
      .readByTypeRequest(try reader.value(), type: try reader.uuid())
    case ATTOpcode.readByTypeResponse: try readByTypeResponse(&reader)
    case ATTOpcode.readMultipleRequest: try readMultipleRequest(&reader)
    case ATTOpcode.readMultipleResponse: .readMultipleResponse(reader.rest())
    case ATTOpcode.readByGroupTypeRequest:
      .readByGroupTypeRequest(try reader.value(), type: try reader.uuid())
    case ATTOpcode.readByGroupTypeResponse: try readByGroupTypeResponse(&reader)
    case ATTOpcode.signedWriteCommand: try signedWriteCommand(&reader)
    default: .unknown(opcode: opcode, reader.rest())
    }
  }

  private static func findInformationResponse(_ reader: inout ByteReader) throws(DecodeError) -> ATTPacket {
    let start = reader.offset
    let format = try reader.u8()
    guard format == 1 || format == 2 else { throw .value(Int(format), of: "UUID format", at: start) }
    return .findInformationResponse(
      format: format, try reader.list(of: format == 1 ? 4 : 18, "information data"))
  }

  private static func findByTypeValueResponse(_ reader: inout ByteReader) throws(DecodeError) -> ATTPacket {
    try reader.checkList(of: 4, "list of handles")
    var ranges: [AttributeRange] = []
    ranges.reserveCapacity(reader.remaining / 4)
    while !reader.isAtEnd { ranges.append(try reader.value()) }
    return .findByTypeValueResponse(ranges)
  }

  private static func readByTypeResponse(_ reader: inout ByteReader) throws(DecodeError) -> ATTPacket {
    // A handle and a value that may be empty.
    let length = try reader.entryLength(atLeast: 2)
    return .readByTypeResponse(length: length, try reader.list(of: Int(length), "list of attributes"))
  }

  private static func readByGroupTypeResponse(_ reader: inout ByteReader) throws(DecodeError) -> ATTPacket {
    // Two handles and a value that may be empty.
    let length = try reader.entryLength(atLeast: 4)
    return .readByGroupTypeResponse(length: length, try reader.list(of: Int(length), "list of groups"))
  }

  private static func readMultipleRequest(_ reader: inout ByteReader) throws(DecodeError) -> ATTPacket {
    try reader.require(4)
    try reader.checkList(of: 2, "set of handles")
    var handles: [AttributeHandle] = []
    handles.reserveCapacity(reader.remaining / 2)
    while !reader.isAtEnd { handles.append(try reader.value()) }
    return .readMultipleRequest(handles)
  }

  private static func signedWriteCommand(_ reader: inout ByteReader) throws(DecodeError) -> ATTPacket {
    let handle: AttributeHandle = try reader.value()
    try reader.require(12)
    return .signedWriteCommand(handle, reader.rest())
  }
}

extension ATTPacket {
  /// Appends the packet.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(opcode)
    switch self {
    case .errorResponse(let request, let handle, let code): bytes.append(fields: request, handle, code)
    case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): bytes.append(mtu)
    case .findInformationRequest(let range): bytes.append(range)
    case .findByTypeValueRequest(let range, let type, let value): bytes.append(fields: range, type, value)
    case .findByTypeValueResponse(let ranges): for range in ranges { bytes.append(range) }
    case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
      bytes.append(fields: range, type.littleEndian)
    case .findInformationResponse(let number, let list), .readByTypeResponse(let number, let list),
      .readByGroupTypeResponse(let number, let list):
      bytes.append(fields: number, list)
    case .readRequest(let handle): bytes.append(handle)
    case .readBlobRequest(let handle, let offset): bytes.append(fields: handle, offset)
    case .readMultipleRequest(let handles): for handle in handles { bytes.append(handle) }
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .signedWriteCommand(let handle, let value), .notification(let handle, let value),
      .indication(let handle, let value):
      bytes.append(fields: handle, value)
    case .prepareWriteRequest(let handle, let offset, let value),
      .prepareWriteResponse(let handle, let offset, let value):
      bytes.append(fields: handle, offset, value)
    case .executeWriteRequest(let isWritten): bytes.append(isWritten)
    case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value),
      .unknown(_, let value):
      bytes.append(value)
    case .writeResponse, .executeWriteResponse, .confirmation: break
    }
  }
}

extension ByteReader {
  /// Reads a UUID that extends to the end: 2 or 16 bytes.
  @_lifetime(self: copy self)
  fileprivate mutating func uuid() throws(DecodeError) -> BluetoothUUID {
    switch remaining {
    case 2: return BluetoothUUID(try u16())
    case 16:
      let low = try u64()
      return BluetoothUUID(UUID128(high: try u64(), low: low))
    default: throw .length(remaining, of: "UUID", at: offset)
    }
  }

  /// Reads how long each entry of a list is.
  @_lifetime(self: copy self)
  fileprivate mutating func entryLength(atLeast minimum: UInt8) throws(DecodeError) -> UInt8 {
    let start = offset
    let length = try u8()
    guard length >= minimum else { throw .value(Int(length), of: "length of an entry", at: start) }
    return length
  }

  /// Reads entries of a length to the end; at least one.
  @_lifetime(self: copy self)
  fileprivate mutating func list(of length: Int, _ name: String) throws(DecodeError) -> [UInt8] {
    try checkList(of: length, name)
    return rest()
  }

  /// Requires that whole entries of a length are left, at least one.
  fileprivate func checkList(of length: Int, _ name: String) throws(DecodeError) {
    try require(length)
    guard remaining % length == 0 else { throw .length(remaining, of: name, at: offset) }
  }
}
