/// An L2CAP signalling command on an LE link, where each frame has one (Core 5.4, Vol 3 Part A §4).
public enum SignallingPacket: Hashable, Sendable {
  /// The command with this identifier is rejected; the data depend on the reason (§4.1).
  case commandReject(identifier: UInt8, RejectReason, data: [UInt8])
  /// The peripheral requests another timing, without the lengths of connection events (§4.20).
  case connectionParameterUpdateRequest(identifier: UInt8, ConnectionParameters)
  /// Whether the central accepts it (§4.21).
  case connectionParameterUpdateResponse(identifier: UInt8, isAccepted: Bool)
  /// The other end requests a credit-based channel (§4.22).
  case creditBasedConnectionRequest(identifier: UInt8, CreditBasedConnectionRequest)
  /// The response to such a request (§4.23).
  case creditBasedConnectionResponse(identifier: UInt8, CreditBasedConnectionResponse)
  /// Any other command.
  case other(code: UInt8, identifier: UInt8, data: [UInt8])
}

extension SignallingPacket {
  /// Why a command is rejected (§4.1).
  public struct RejectReason: BinaryNumber, Hashable, Sendable {
    /// The assigned number.
    public var rawValue: UInt16

    /// Makes a reason from its number.
    public init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    public static let commandNotUnderstood = RejectReason(rawValue: 0)
    /// The data are the maximum supported length, two bytes.
    public static let signallingMTUExceeded = RejectReason(rawValue: 1)
    /// The data are the two channels concerned, two bytes each.
    public static let invalidChannel = RejectReason(rawValue: 2)
  }

  /// The parameters of a request for a credit-based channel (§4.22).
  public struct CreditBasedConnectionRequest: Hashable, Sendable {
    /// The number of the service that the channel is for (SPSM).
    public var service: UInt16
    /// The channel at the requesting end.
    public var sourceChannel: UInt16
    /// The maximum length of a received packet.
    public var mtu: UInt16
    /// The maximum payload of one frame.
    public var mps: UInt16
    /// The initial number of credits.
    public var credits: UInt16
  }

  /// The parameters of the response to such a request (§4.23).
  public struct CreditBasedConnectionResponse: Hashable, Sendable {
    /// The channel at the responding end.
    public var destinationChannel: UInt16
    /// The maximum length of a received packet.
    public var mtu: UInt16
    /// The maximum payload of one frame.
    public var mps: UInt16
    /// The initial number of credits.
    public var credits: UInt16
    /// 0 if the channel was established, else the reason.
    public var result: UInt16

    /// The service does not exist; all fields except the result are 0.
    public static let serviceNotSupported = CreditBasedConnectionResponse(
      destinationChannel: 0, mtu: 0, mps: 0, credits: 0, result: 0x0002)
  }
}

extension SignallingPacket {
  private enum Code {
    static let commandReject: UInt8 = 0x01
    static let connectionParameterUpdateRequest: UInt8 = 0x12
    static let connectionParameterUpdateResponse: UInt8 = 0x13
    static let creditBasedConnectionRequest: UInt8 = 0x14
    static let creditBasedConnectionResponse: UInt8 = 0x15
  }

  /// The code of the command.
  public var code: UInt8 {
    switch self {
    case .commandReject: Code.commandReject
    case .connectionParameterUpdateRequest: Code.connectionParameterUpdateRequest
    case .connectionParameterUpdateResponse: Code.connectionParameterUpdateResponse
    case .creditBasedConnectionRequest: Code.creditBasedConnectionRequest
    case .creditBasedConnectionResponse: Code.creditBasedConnectionResponse
    case .other(let code, _, _): code
    }
  }

  /// The number that a request and its response share; never 0.
  public var identifier: UInt8 {
    switch self {
    case .commandReject(let identifier, _, _), .connectionParameterUpdateRequest(let identifier, _),
      .connectionParameterUpdateResponse(let identifier, _), .creditBasedConnectionRequest(let identifier, _),
      .creditBasedConnectionResponse(let identifier, _), .other(_, let identifier, _):
      identifier
    }
  }
}

extension SignallingPacket: BinaryCodable {
  /// Reads code, identifier, length and data. An identifier of 0 is invalid.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    let code = try reader.u8()
    let start = reader.offset
    let identifier = try reader.u8()
    guard identifier != 0 else { throw .value(0, of: "signalling identifier", at: start) }
    let length = Int(try reader.u16())
    var data = try reader.reader(length)
    switch code {
    case Code.commandReject:
      self = .commandReject(identifier: identifier, try data.value(), data: data.rest())
    case Code.connectionParameterUpdateRequest:
      self = .connectionParameterUpdateRequest(
        identifier: identifier, try ConnectionParameters(withoutEventLengths: &data))
    case Code.connectionParameterUpdateResponse:
      // A reserved result accepts nothing.
      self = .connectionParameterUpdateResponse(identifier: identifier, isAccepted: try data.u16() == 0)
    case Code.creditBasedConnectionRequest:
      self = .creditBasedConnectionRequest(identifier: identifier, try data.value())
    case Code.creditBasedConnectionResponse:
      self = .creditBasedConnectionResponse(identifier: identifier, try data.value())
    default:
      self = .other(code: code, identifier: identifier, data: data.rest())
    }
    try data.end()
  }

  /// Appends code, identifier, length and data.
  public func encode(into bytes: inout [UInt8]) {
    precondition(identifier != 0, "the identifier of a signalling command is never 0")
    var data: [UInt8] = []
    switch self {
    case .commandReject(_, let reason, let rest): data.append(fields: reason, rest)
    case .connectionParameterUpdateRequest(_, let parameters): data = parameters.withoutEventLengths
    case .connectionParameterUpdateResponse(_, let isAccepted):
      data.append(littleEndian: isAccepted ? 0 : 1 as UInt16)
    case .creditBasedConnectionRequest(_, let request): data.append(request)
    case .creditBasedConnectionResponse(_, let response): data.append(response)
    case .other(_, _, let rest): data = rest
    }
    precondition(data.count <= 0xFFFF, "a signalling command holds at most 65,535 bytes")
    bytes.append(fields: code, identifier, UInt16(data.count), data)
  }
}

extension SignallingPacket.CreditBasedConnectionRequest: FieldCodable {
  /// The five numbers.
  public static let fields = FieldList(Self.init, \.service, \.sourceChannel, \.mtu, \.mps, \.credits)
}

extension SignallingPacket.CreditBasedConnectionResponse: FieldCodable {
  /// The five numbers.
  public static let fields = FieldList(Self.init, \.destinationChannel, \.mtu, \.mps, \.credits, \.result)
}
