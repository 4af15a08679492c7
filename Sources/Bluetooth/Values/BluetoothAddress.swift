import Basics

/// The 48-bit address of a device, without its type (public or random).
///
/// Text shows the most significant byte first; the air carries the least significant byte first.
public struct BluetoothAddress: Hashable, Sendable {
  /// The 48 bits as a number.
  public let value: UInt64

  /// Makes an address from the low 48 bits of a number.
  @inlinable
  public init(_ value: UInt64) {
    self.value = value & 0xFFFF_FFFF_FFFF
  }

  /// Reads `c7:e6:da:90:f5:f9`, of either case.
  public init(text: some StringProtocol) throws(DecodeError) {
    var value: UInt64 = 0
    var offset = 0
    for character in text.utf8 {
      guard offset < 17 else { throw .malformed("a Bluetooth address", at: offset) }
      if offset % 3 == 2 {
        guard character == UInt8(ascii: ":") else { throw .malformed("a Bluetooth address", at: offset) }
      } else {
        guard let digit = hexValue(character) else { throw .malformed("a Bluetooth address", at: offset) }
        value = value << 4 | UInt64(digit)
      }
      offset += 1
    }
    guard offset == 17 else { throw .malformed("a Bluetooth address", at: offset) }
    self.init(value)
  }

  /// A static random address: the low bits of a number below the two marking bits (Core 5.4, Vol 6 Part B
  /// §1.3.2.1).
  @inlinable
  public static func staticRandom(_ value: UInt64) -> BluetoothAddress {
    BluetoothAddress(value | 0xC000_0000_0000)
  }

  /// Whether the two highest bits mark a static address, given that the address is a random one.
  @inlinable public var isStaticRandom: Bool { value >> 46 == 0b11 }
}

extension BluetoothAddress: BinaryCodable {
  /// Reads six bytes, the least significant first.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    try reader.require(6)
    let low = try reader.u32()
    let high = try reader.u16()
    self.init(UInt64(high) << 32 | UInt64(low))
  }

  /// Appends six bytes, the least significant first.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt32(truncatingIfNeeded: value))
    bytes.append(littleEndian: UInt16(truncatingIfNeeded: value >> 32))
  }
}

extension BluetoothAddress: CustomStringConvertible {
  /// Six bytes in lower case with colons between them, the most significant first.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(17)
    for shift in stride(from: 40, through: 0, by: -8) {
      let byte = UInt8(truncatingIfNeeded: value >> UInt64(shift))
      if !text.isEmpty { text.append(UInt8(ascii: ":")) }
      text.append(hexDigit(byte >> 4))
      text.append(hexDigit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }
}
