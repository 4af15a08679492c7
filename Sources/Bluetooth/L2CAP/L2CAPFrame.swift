/// The channels that an LE link has from its beginning, and one of BR/EDR that carries keys of LE (Core 5.4, Vol 3 Part A §2.1).
public enum L2CAPChannel: UInt16, Hashable, Sendable {
  /// The attribute protocol.
  case att = 0x0004
  /// L2CAP's own signalling.
  case signalling = 0x0005
  /// The security manager.
  case security = 0x0006
  /// The security manager on a BR/EDR link.
  case securityBREDR = 0x0007
}

/// A basic frame, which carries one packet of a higher protocol (Core 5.4, Vol 3 Part A §3.1).
public struct L2CAPFrame: Hashable, Sendable {
  /// The channel; the fixed ones are in ``L2CAPChannel``.
  public var channel: UInt16
  /// The payload, at most 65,535 bytes.
  public var payload: [UInt8]

  /// Makes a frame for any channel.
  @inlinable
  public init(channel: UInt16, payload: [UInt8]) {
    self.channel = channel
    self.payload = payload
  }

  /// Makes a frame for a fixed channel.
  @inlinable
  public init(_ channel: L2CAPChannel, _ payload: [UInt8]) {
    self.init(channel: channel.rawValue, payload: payload)
  }
}

extension L2CAPFrame {
  /// The number of bytes before the payload: its length and the channel.
  public static let headerSize = 4
}

extension L2CAPFrame: BinaryCodable {
  /// Decodes the length, the channel and the payload.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    let length = try reader.u16()
    channel = try reader.u16()
    payload = try reader.bytes(Int(length))
  }

  /// Appends the length, the channel and the payload.
  public func encode(into bytes: inout [UInt8]) {
    precondition(payload.count <= 0xFFFF, "a frame carries at most 65,535 bytes")
    bytes.append(littleEndian: UInt16(payload.count))
    bytes.append(littleEndian: channel)
    bytes.append(contentsOf: payload)
  }
}
