/// A value with a layout in bytes, of a length that it knows itself.
///
/// Encoding and decoding are inverse: what was encoded decodes to an equal value, and that property is
/// tested for every conforming type.
public protocol BinaryCodable {
  /// Reads the value and leaves the reader behind it.
  init(decoding reader: inout ByteReader) throws(DecodeError)

  /// Appends the value's bytes.
  func encode(into bytes: inout [UInt8])
}

extension BinaryCodable {
  /// Reads a value that the bytes hold exactly; bytes left over are an error.
  @inlinable
  public init(decoding bytes: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    try self.init(decoding: &reader)
    try reader.end()
  }

  /// The value's bytes.
  @inlinable public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    encode(into: &bytes)
    return bytes
  }
}

extension BinaryCodable where Self: FixedWidthInteger {
  /// Reads an integer, least significant byte first.
  @inlinable
  public init(decoding reader: inout ByteReader) throws(DecodeError) { self = try reader.littleEndian() }

  /// Appends the integer, least significant byte first.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { bytes.append(littleEndian: self) }
}

extension UInt8: BinaryCodable {}
extension UInt16: BinaryCodable {}
extension UInt64: BinaryCodable {}
extension Int8: BinaryCodable {}

extension Array<UInt8> {
  /// Appends an integer, least significant byte first.
  @inlinable
  public mutating func append(littleEndian value: some FixedWidthInteger) {
    var rest = value
    for _ in 0..<value.bitWidth / 8 {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  /// Appends an integer, most significant byte first.
  @inlinable
  public mutating func append(bigEndian value: some FixedWidthInteger) {
    append(littleEndian: value.byteSwapped)
  }

  /// Appends a value's bytes.
  @inlinable
  public mutating func append(_ value: some BinaryCodable) {
    value.encode(into: &self)
  }
}
