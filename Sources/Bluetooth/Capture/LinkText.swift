import Basics

// The text of packets on a link.

extension ATTOpcode {
  /// The packet's name in the specification, or its number.
  public static func name(_ opcode: UInt8) -> String {
    switch opcode {
    case errorResponse: "Error Response"
    case exchangeMTURequest: "Exchange MTU Request"
    case exchangeMTUResponse: "Exchange MTU Response"
    case findInformationRequest: "Find Information Request"
    case findInformationResponse: "Find Information Response"
    case findByTypeValueRequest: "Find By Type Value Request"
    case findByTypeValueResponse: "Find By Type Value Response"
    case readByTypeRequest: "Read By Type Request"
    case readByTypeResponse: "Read By Type Response"
    case readRequest: "Read Request"
    case readResponse: "Read Response"
    case readBlobRequest: "Read Blob Request"
    case readBlobResponse: "Read Blob Response"
    case readMultipleRequest: "Read Multiple Request"
    case readMultipleResponse: "Read Multiple Response"
    case readByGroupTypeRequest: "Read By Group Type Request"
    case readByGroupTypeResponse: "Read By Group Type Response"
    case writeRequest: "Write Request"
    case writeResponse: "Write Response"
    case writeCommand: "Write Command"
    case signedWriteCommand: "Signed Write Command"
    case prepareWriteRequest: "Prepare Write Request"
    case prepareWriteResponse: "Prepare Write Response"
    case executeWriteRequest: "Execute Write Request"
    case executeWriteResponse: "Execute Write Response"
    case notification: "Notification"
    case indication: "Indication"
    case confirmation: "Confirmation"
    default: "opcode 0x\([opcode].hex)"
    }
  }
}

extension ATTPacket: CustomStringConvertible {
  /// The packet's name and its contents.
  public var description: String { text(calling: { _ in nil }, types: { "\($0)" }) }

  /// The packet's name and its contents, with the names of attributes and types.
  func text(
    calling name: (AttributeHandle) -> String?, types: (BluetoothUUID) -> String
  ) -> String {
    func attribute(_ handle: AttributeHandle) -> String {
      "handle \(handle)" + (name(handle).map { " (\($0))" } ?? "")
    }
    let details: String? =
      switch self {
      case .errorResponse(let request, let handle, let code):
        "to \(ATTOpcode.name(request)), \(attribute(handle)), \(code)"
      case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): "MTU \(mtu)"
      case .findInformationRequest(let range): "\(range.text)"
      case .findInformationResponse(let format, let list):
        entries(of: format == 1 ? 4 : 18, list) { entry in
          "\(attributeHandle(entry, 0)) \(type(entry, from: 2, types))"
        }
      case .findByTypeValueRequest(let range, let type, let value):
        "\(range.text), \(types(BluetoothUUID(type))) of "
          + ((try? BluetoothUUID(littleEndian: value)).map(types) ?? value.hex)
      case .findByTypeValueResponse(let ranges): ranges.map(\.text).joined(separator: ", ")
      case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
        "\(range.text), \(types(type))"
      case .readByTypeResponse(let length, let list):
        entries(of: Int(length), list) { entry in
          // A characteristic: properties, the place of its value, its type.
          guard entry.count == 7 || entry.count == 21 else {
            return "\(attributeHandle(entry, 0)) \(entry.dropFirst(2).hex)"
          }
          return "\(attributeHandle(entry, 0)) value \(attributeHandle(entry, 3)) "
            + type(entry, from: 5, types)
        }
      case .readByGroupTypeResponse(let length, let list):
        entries(of: Int(length), list) { entry in
          "\(attributeHandle(entry, 0))–\(attributeHandle(entry, 2)) \(type(entry, from: 4, types))"
        }
      case .readRequest(let handle): attribute(handle)
      case .readBlobRequest(let handle, let offset): "\(attribute(handle)), from \(offset)"
      case .readMultipleRequest(let handles): handles.map(attribute).joined(separator: ", ")
      case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value),
        .unknown(_, let value):
        counted(value.count, "byte")
      case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
        .signedWriteCommand(let handle, let value), .notification(let handle, let value),
        .indication(let handle, let value):
        "\(attribute(handle)), \(counted(value.count, "byte"))"
      case .prepareWriteRequest(let handle, let offset, let value),
        .prepareWriteResponse(let handle, let offset, let value):
        "\(attribute(handle)), \(counted(value.count, "byte")) at \(offset)"
      case .executeWriteRequest(let isWritten): isWritten ? "write" : "forget"
      case .writeResponse, .executeWriteResponse, .confirmation: nil
      }
    return ATTOpcode.name(opcode) + (details.map { ", " + $0 } ?? "")
  }
}

extension AttributeRange {
  fileprivate var text: String { "\(first)–\(last)" }
}

/// The entries of a list, each in words.
private func entries(of length: Int, _ list: [UInt8], _ text: ([UInt8]) -> String) -> String {
  guard length > 0 else { return list.hex }
  return stride(from: 0, to: list.count, by: length).map { start in
    text([UInt8](list[start..<min(start + length, list.count)]))
  }.joined(separator: ", ")
}

private func attributeHandle(_ entry: [UInt8], _ offset: Int) -> AttributeHandle {
  guard offset + 1 < entry.count else { return AttributeHandle(rawValue: 0) }
  return AttributeHandle(rawValue: UInt16(entry[offset]) | UInt16(entry[offset + 1]) << 8)
}

private func type(_ entry: [UInt8], from offset: Int, _ types: (BluetoothUUID) -> String) -> String {
  let bytes = [UInt8](entry.dropFirst(offset))
  return (try? BluetoothUUID(littleEndian: bytes)).map(types) ?? bytes.hex
}

extension SignallingPacket: CustomStringConvertible {
  /// The command's name, its identifier and its contents.
  public var description: String {
    switch self {
    case .commandReject(let identifier, let reason, _):
      "Command Reject \(identifier), reason 0x\(hexText(reason.rawValue))"
    case .connectionParameterUpdateRequest(let identifier, let parameters):
      "Connection Parameter Update Request \(identifier), \(parameters.text)"
    case .connectionParameterUpdateResponse(let identifier, let isAccepted):
      "Connection Parameter Update Response \(identifier), \(isAccepted ? "accepted" : "rejected")"
    case .creditBasedConnectionRequest(let identifier, let request):
      "LE Credit Based Connection Request \(identifier), service 0x\(hexText(request.service))"
    case .creditBasedConnectionResponse(let identifier, let response):
      "LE Credit Based Connection Response \(identifier), result 0x\(hexText(response.result))"
    case .other(let code, let identifier, let data):
      "signalling 0x\([code].hex) \(identifier), \(counted(data.count, "byte"))"
    }
  }
}

extension SecurityPacket: CustomStringConvertible {
  /// The command's name and its contents. Keys are not shown.
  public var description: String {
    switch self {
    case .pairingRequest(let features): "Pairing Request, authentication 0x\([features.authentication].hex)"
    case .pairingFailed(let reason): "Pairing Failed, reason 0x\([reason.rawValue].hex)"
    case .securityRequest(let authentication): "Security Request, authentication 0x\([authentication].hex)"
    case .other(let code, let data):
      "\(Self.name(of: code) ?? "security 0x" + [code].hex), \(counted(data.count, "byte"))"
    }
  }
}
