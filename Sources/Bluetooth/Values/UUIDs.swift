import Basics

/// A 128-bit universally unique identifier.
///
/// Its bytes are in the order of the text; the air carries them the other way round.
public struct UUID128: Hashable, Sendable {
  /// The first eight bytes, as a big-endian number.
  public var high: UInt64
  /// The last eight bytes, as a big-endian number.
  public var low: UInt64

  /// Makes an identifier from its two halves, in the order of the text.
  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads 16 bytes in the order of the text.
  public init(bytes: [UInt8]) throws(DecodeError) {
    try self.init(decoding: bytes)
  }

  /// The 16 bytes in the order of the text.
  public var bytes: [UInt8] { encoded }

  /// Reads `00112233-4455-6677-8899-aabbccddeeff`, of either case, with or without all of its hyphens.
  public init(text: some StringProtocol) throws(DecodeError) {
    var halves: (high: UInt64, low: UInt64) = (0, 0)
    var digits = 0
    var offset = 0
    let hyphens = text.utf8.count == 32 ? [] : [8, 13, 18, 23]
    for character in text.utf8 {
      if hyphens.contains(offset) {
        guard character == UInt8(ascii: "-") else { throw .malformed("a UUID", at: offset) }
      } else {
        guard let value = hexValue(character), digits < 32 else { throw .malformed("a UUID", at: offset) }
        if digits < 16 {
          halves.high = halves.high << 4 | UInt64(value)
        } else {
          halves.low = halves.low << 4 | UInt64(value)
        }
        digits += 1
      }
      offset += 1
    }
    guard digits == 32 else { throw .malformed("a UUID", at: offset) }
    self.init(high: halves.high, low: halves.low)
  }
}

extension UUID128: BinaryCodable {
  /// Reads 16 bytes in the order of the text.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    try reader.require(16)
    high = try reader.bigEndian()
    low = try reader.bigEndian()
  }

  /// Appends the 16 bytes in the order of the text.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
  }
}

extension UUID128: CustomStringConvertible {
  /// The text form, in lower case.
  public var description: String {
    let digits = bytes.hex
    var text = ""
    text.reserveCapacity(36)
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    return text
  }
}

/// A Bluetooth UUID; a short one of 16 bits stands for a long one over the Bluetooth base.
///
/// Both forms of one identifier are equal (Core 5.4, Vol 3 Part B §2.5.1); ``short`` shows whether the
/// two-byte form exists.
public struct BluetoothUUID: Hashable, Sendable {
  /// All 128 bits.
  public var long: UUID128

  /// Makes an identifier from all 128 bits.
  @inlinable
  public init(_ long: UUID128) {
    self.long = long
  }

  /// Makes an identifier from its 16-bit form.
  @inlinable
  public init(_ short: UInt16) { self.init(number: UInt32(short)) }

  /// Makes an identifier from its 32-bit form, which stands for a long one like the 16-bit form.
  @inlinable
  public init(number: UInt32) {
    long = UUID128(high: UInt64(number) << 32 | 0x1000, low: 0x8000_0080_5F9B_34FB)
  }

  /// The 16-bit form; `nil` if there is none.
  @inlinable public var short: UInt16? {
    guard long.low == 0x8000_0080_5F9B_34FB, long.high & 0xFFFF_0000_FFFF_FFFF == 0x1000 else { return nil }
    return UInt16(truncatingIfNeeded: long.high >> 32)
  }
}

extension BluetoothUUID {
  /// Reads `fff1`, `0000fff1`, or `0000fff1-0000-1000-8000-00805f9b34fb` with or without its hyphens, in
  /// either case; `nil` if the text is not a UUID.
  public init?(text: String) {
    if [4, 8].contains(text.utf8.count), text.utf8.allSatisfy({ hexValue($0) != nil }),
      let number = UInt32(text, radix: 16)
    {
      self.init(number: number)
    } else if let long = try? UUID128(text: text) {
      self.init(long)
    } else {
      return nil
    }
  }

  /// Reads a UUID of 2 or 16 bytes as the air carries it, least significant byte first.
  public init(littleEndian bytes: [UInt8]) throws(DecodeError) {
    switch bytes.count {
    case 2: self.init(UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
    case 16: self.init(try UUID128(bytes: bytes.reversed()))
    case let count: throw .length(count, of: "UUID")
    }
  }

  /// The shortest form as the air carries it: 2 or 16 bytes, least significant byte first.
  public var littleEndian: [UInt8] {
    guard let short else { return long.bytes.reversed() }
    return [UInt8(truncatingIfNeeded: short), UInt8(truncatingIfNeeded: short >> 8)]
  }
}

extension BluetoothUUID: CustomStringConvertible {
  /// Four digits if there is a short form, else the text of all 128 bits.
  public var description: String {
    guard let short else { return long.description }
    return [UInt8(truncatingIfNeeded: short >> 8), UInt8(truncatingIfNeeded: short)].hex
  }
}
