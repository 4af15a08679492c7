/// A command of the security manager (Core 5.4, Vol 3 Part H §3.3).
///
/// Sesame locks have their own security above GATT, so the hosts here refuse to pair; only the packets for
/// that are supported.
public enum SecurityPacket: Hashable, Sendable {
  /// The central requests pairing (§3.5.1).
  case pairingRequest(PairingFeatures)
  /// Pairing is refused (§3.5.5).
  case pairingFailed(FailureReason)
  /// The peripheral asks the central to pair, with these requirements as bits (§3.6.7).
  case securityRequest(authentication: UInt8)
  /// Any other command.
  case other(code: UInt8, data: [UInt8])
}

extension SecurityPacket {
  /// A device's features and requirements for pairing (§3.5.1).
  public struct PairingFeatures: Hashable, Sendable {
    /// 3 for a device with neither input nor output.
    public var capability: UInt8
    /// Whether it has data of the other device from another channel.
    public var hasOutOfBandData = false
    /// The requirements as bits: bonding, protection against a man in the middle, secure connections.
    public var authentication: UInt8
    /// The longest key, 7 to 16 bytes.
    public var keySize: UInt8 = 16
    /// The keys that the central will distribute, as bits.
    public var initiatorKeys: UInt8 = 0
    /// The keys that the peripheral will distribute, as bits.
    public var responderKeys: UInt8 = 0
  }

  /// Why pairing failed (§3.5.5).
  public struct FailureReason: BinaryNumber, Hashable, Sendable {
    /// The assigned number.
    public var rawValue: UInt8

    /// Makes a reason from its number.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The device does not pair, or not at present.
    public static let pairingNotSupported = FailureReason(rawValue: 0x05)
    public static let invalidParameters = FailureReason(rawValue: 0x0A)
  }
}

extension SecurityPacket {
  private enum Code {
    static let pairingRequest: UInt8 = 0x01
    static let pairingFailed: UInt8 = 0x05
    static let securityRequest: UInt8 = 0x0B
  }

  /// The first byte of the packet.
  public var code: UInt8 {
    switch self {
    case .pairingRequest: Code.pairingRequest
    case .pairingFailed: Code.pairingFailed
    case .securityRequest: Code.securityRequest
    case .other(let code, _): code
    }
  }
}

extension SecurityPacket {
  /// The name of a command; `nil` for a code that is reserved: such a command is ignored (§3.3).
  static func name(of code: UInt8) -> String? { names[code]?.name }

  /// Whether a capture may show the contents of a command: not keys, nor the random numbers from which a
  /// passkey or a short-term key is derived.
  static func isHarmless(_ code: UInt8) -> Bool { names[code]?.isHarmless ?? false }

  // swift-format-ignore
  private static let names: [UInt8: (name: String, isHarmless: Bool)] = [
    0x01: ("Pairing Request", true), 0x02: ("Pairing Response", true), 0x03: ("Pairing Confirm", false),
    0x04: ("Pairing Random", false), 0x05: ("Pairing Failed", true), 0x06: ("Encryption Information", false),
    0x07: ("Central Identification", true), 0x08: ("Identity Information", false),
    0x09: ("Identity Address Information", true), 0x0A: ("Signing Information", false),
    0x0B: ("Security Request", true), 0x0C: ("Pairing Public Key", true),
    0x0D: ("Pairing DHKey Check", false), 0x0E: ("Pairing Keypress Notification", true),
  ]
}

extension SecurityPacket: BinaryCodable {
  /// Reads a packet that extends to the end of the reader's bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    let code = try reader.u8()
    switch code {
    case Code.pairingRequest: self = .pairingRequest(try reader.value())
    case Code.pairingFailed: self = .pairingFailed(try reader.value())
    case Code.securityRequest: self = .securityRequest(authentication: try reader.u8())
    default: self = .other(code: code, data: reader.rest())
    }
    try reader.end()
  }

  /// Appends the packet.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(code)
    switch self {
    case .pairingRequest(let features): bytes.append(features)
    case .pairingFailed(let reason): bytes.append(reason)
    case .securityRequest(let authentication): bytes.append(authentication)
    case .other(_, let data): bytes.append(data)
    }
  }
}

extension SecurityPacket.PairingFeatures: BinaryCodable {
  /// Reads the six bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    capability = try reader.u8()
    hasOutOfBandData = try reader.isSet(upTo: 1)
    authentication = try reader.u8()
    keySize = try reader.u8()
    initiatorKeys = try reader.u8()
    responderKeys = try reader.u8()
  }

  /// Appends the six bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(capability)
    bytes.append(hasOutOfBandData)
    bytes.append(contentsOf: [authentication, keySize, initiatorKeys, responderKeys])
  }
}
