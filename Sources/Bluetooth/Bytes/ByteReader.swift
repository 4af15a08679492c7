/// Reads fields from borrowed bytes, in order; it copies nothing and cannot run past the end.
///
/// Integers are little-endian like Bluetooth on the air, unless the method's name says otherwise.
public struct ByteReader: ~Escapable {
  @usableFromInline let span: Span<UInt8>
  @usableFromInline let start: Int
  @usableFromInline var position = 0
  /// The reserved fields and values that were read and ignored.
  public internal(set) var reserved = Reserved()

  /// Starts at the first byte.
  @inlinable
  @_lifetime(copy span)
  public init(_ span: Span<UInt8>) {
    self.span = span
    start = 0
  }

  @inlinable
  @_lifetime(copy span)
  init(_ span: Span<UInt8>, start: Int) {
    self.span = span
    self.start = start
  }

  /// The number of bytes read since the start of the outermost reader, which errors report.
  @inlinable public var offset: Int { start + position }

  /// The number of unread bytes.
  @inlinable public var remaining: Int { span.count - position }

  /// Whether everything was read.
  @inlinable public var isAtEnd: Bool { position == span.count }

  /// Checks that a number of bytes are left, without reading them.
  @inlinable
  public func require(_ count: Int) throws(DecodeError) {
    guard remaining >= count else { throw .truncated(at: offset + remaining, missing: count - remaining) }
  }

  /// Requires that everything was read.
  @inlinable
  public func end() throws(DecodeError) {
    guard isAtEnd else { throw .trailing(at: offset, count: remaining) }
  }

  /// Skips the fields that a later version of the specification adds after the last known one.
  mutating func ignoreRest() {
    guard !isAtEnd else { return }
    reserved.insert(.rest)
    position = span.count
  }

  /// The next byte, which stays unread; `nil` at the end.
  @inlinable
  public func peek() -> UInt8? { isAtEnd ? nil : span[position] }
}

extension ByteReader {
  /// Reads an unsigned byte.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func u8() throws(DecodeError) -> UInt8 {
    try require(1)
    defer { position += 1 }
    return span[position]
  }

  /// Reads a signed byte.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func i8() throws(DecodeError) -> Int8 { Int8(bitPattern: try u8()) }

  /// Reads an unsigned 16-bit integer.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func u16() throws(DecodeError) -> UInt16 { try littleEndian() }

  /// Reads a signed 16-bit integer.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func i16() throws(DecodeError) -> Int16 { try littleEndian() }

  /// Reads an unsigned 32-bit integer.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func u32() throws(DecodeError) -> UInt32 { try littleEndian() }

  /// Reads a signed 32-bit integer.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func i32() throws(DecodeError) -> Int32 { try littleEndian() }

  /// Reads an unsigned 64-bit integer.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func u64() throws(DecodeError) -> UInt64 { try littleEndian() }

  /// Reads an integer, least significant byte first.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func littleEndian<Value: FixedWidthInteger>(
    _: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    let size = Value.bitWidth / 8
    try require(size)
    var value: Value = 0
    for index in 0..<size {
      value |= Value(truncatingIfNeeded: span[position + index]) << (8 * index)
    }
    position += size
    return value
  }

  /// Reads an integer, most significant byte first.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func bigEndian<Value: FixedWidthInteger>(
    _: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    try littleEndian(Value.self).byteSwapped
  }
}

extension ByteReader {
  /// Reads a number of bytes.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func bytes(_ count: Int) throws(DecodeError) -> [UInt8] {
    try require(count)
    defer { position += count }
    return [UInt8](capacity: count) { output in
      for index in position..<position + count { output.append(span[index]) }
    }
  }

  /// Reads everything that is left.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func rest() -> [UInt8] {
    defer { position = span.count }
    return [UInt8](capacity: remaining) { output in
      for index in position..<span.count { output.append(span[index]) }
    }
  }

  /// Skips a number of bytes.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) throws(DecodeError) {
    try require(count)
    position += count
  }

  /// Reads a number of bytes with another reader, whose offsets continue from here.
  @inlinable
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func reader(_ count: Int) throws(DecodeError) -> ByteReader {
    try require(count)
    defer { position += count }
    return ByteReader(span.extracting(position..<position + count), start: offset)
  }
}
