/// A value with a binary layout that contains its own length.
///
/// Encoding and decoding are inverse: an encoded value decodes to an equal value, which is tested for every
/// conforming type.
public protocol BinaryCodable {
  /// Reads the value; the reader is then at its end.
  init(decoding reader: inout ByteReader) throws(DecodeError)

  /// Appends the value's bytes.
  func encode(into bytes: inout [UInt8])
}

extension BinaryCodable {
  /// Decodes a value from all of the bytes; bytes left over are an error.
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
extension UInt32: BinaryCodable {}
extension UInt64: BinaryCodable {}
extension Int8: BinaryCodable {}
extension Int16: BinaryCodable {}
extension Int32: BinaryCodable {}

extension Array: BinaryCodable where Element == UInt8 {
  /// Reads all bytes that are left.
  @inlinable
  public init(decoding reader: inout ByteReader) throws(DecodeError) { self = reader.rest() }

  /// Appends the bytes.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

/// A code or a set of flags that is encoded as its number; every number is valid.
public protocol BinaryNumber: RawRepresentable, BinaryCodable where RawValue: BinaryCodable {
  /// Makes the value of a number.
  init(rawValue: RawValue)
}

extension BinaryNumber {
  /// Reads the number.
  @inlinable
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try RawValue(decoding: &reader))
  }

  /// Appends the number.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { rawValue.encode(into: &bytes) }
}

/// A value that is encoded as the sequence of its fields.
public protocol FieldCodable: BinaryCodable {
  /// The fields in the order in which they are sent.
  static var fields: FieldList<Self> { get }
}

/// The fields of a value, with its initializer.
public struct FieldList<Whole>: Sendable {
  @usableFromInline let read: @Sendable (inout ByteReader) throws(DecodeError) -> Whole
  @usableFromInline let append: @Sendable (Whole, inout [UInt8]) -> Void

  /// Makes a list from the initializer and the key paths of its parameters, in the same order.
  @inlinable
  public init<each Field: BinaryCodable & SendableMetatype>(
    _ make: @escaping @Sendable (repeat each Field) -> Whole,
    _ field: repeat @escaping @Sendable (Whole) -> each Field
  ) {
    read = { (reader) throws(DecodeError) in make(repeat try (each Field)(decoding: &reader)) }
    append = { whole, bytes in repeat (each field)(whole).encode(into: &bytes) }
  }
}

extension FieldCodable {
  /// Reads the fields.
  @inlinable
  public init(decoding reader: inout ByteReader) throws(DecodeError) { self = try Self.fields.read(&reader) }

  /// Appends the fields.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { Self.fields.append(self, &bytes) }
}

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

  /// Appends values one behind another.
  @inlinable
  public mutating func append<each Value: BinaryCodable>(fields: repeat each Value) {
    repeat (each fields).encode(into: &self)
  }
}
