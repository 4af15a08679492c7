public import Bluetooth
public import Basics

/// A 128-bit key, or a secret that serves as one.
///
/// Its text forms and its mirror hide the bytes, it has no coded form, and ``exposedBytes`` is the only
/// access to them: a key cannot appear in a trace or a report by accident.
public struct SecretKey: Hashable, Sendable {
  /// The first and the last eight bytes, each as a little-endian number.
  let words: Words

  struct Words: Hashable {
    var first: UInt64
    var second: UInt64

    /// Compares in constant time.
    static func == (one: Words, other: Words) -> Bool {
      (one.first ^ other.first) | (one.second ^ other.second) == 0
    }
  }

  init(_ words: Words) {
    self.words = words
  }

  /// Makes a key from 16 bytes.
  public init(bytes: [UInt8]) throws(DecodeError) {
    guard bytes.count == 16 else { throw .length(bytes.count, of: "key") }
    var reader = ByteReader(bytes.span)
    try self.init(decoding: &reader)
  }

  /// Reads 16 bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    try reader.require(16)
    words = Words(first: try reader.u64(), second: try reader.u64())
  }

  /// Makes a key from the bytes of a UUID, in the order of its text.
  public init(_ uuid: UUID128) {
    words = Words(first: uuid.high.byteSwapped, second: uuid.low.byteSwapped)
  }

  /// The 16 bytes, for storing or sending the key itself.
  public var exposedBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    bytes.append(littleEndian: words.first)
    bytes.append(littleEndian: words.second)
    return bytes
  }

  /// Whether other bytes contain the 16 bytes.
  func occurs(in bytes: [UInt8]) -> Bool {
    guard bytes.count >= 16 else { return false }
    let first = UInt8(truncatingIfNeeded: words.first)
    for start in 0...bytes.count - 16 where bytes[start] == first {
      if bytes[start..<start + 16].elementsEqual(exposedBytes) { return true }
    }
    return false
  }

  /// The positions of the 16 bytes in other bytes.
  func places(in bytes: [UInt8]) -> [Range<Int>] {
    guard occurs(in: bytes) else { return [] }
    return (0...bytes.count - 16).map { $0..<$0 + 16 }.filter { bytes[$0].elementsEqual(exposedBytes) }
  }

  /// The first four bytes, which prove the knowledge of a key.
  public var proof: Proof { Proof(word: UInt32(truncatingIfNeeded: words.first)) }
}

/// A type that contains a secret: all its text forms and its mirror show only its description.
public protocol Concealed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Concealed {
  /// The description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SecretKey: Concealed {
  /// A placeholder that reveals nothing of the key.
  public var description: String { "<secret key>" }
}

/// Four bytes that may be shown.
public protocol FourBytes: Hashable, Sendable, BinaryCodable, CustomStringConvertible {
  /// The four bytes as a little-endian number.
  var word: UInt32 { get }

  /// Makes them from a little-endian number.
  init(word: UInt32)
}

extension FourBytes {
  /// Reads the four bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) { self.init(word: try reader.u32()) }

  /// Appends the four bytes.
  public func encode(into bytes: inout [UInt8]) { bytes.append(littleEndian: word) }

  /// The four bytes in hexadecimal, in the order of the wire.
  public var description: String { encoded.hex }
}

/// Four random bytes that one end contributes to a session.
public struct Token: FourBytes {
  public let word: UInt32

  public init(word: UInt32) {
    self.word = word
  }
}

/// The first four bytes of a message authentication code: a login proof or a signature.
public struct Proof: FourBytes {
  public let word: UInt32

  public init(word: UInt32) {
    self.word = word
  }
}

/// A source of keys and tokens.
///
/// Emulated locks and their clients draw from the seeded generator, so that a run is reproducible; the keys
/// of real locks come from the system and never from a seed.
public protocol SecretSource {
  /// Draws bytes.
  mutating func bytes(_ count: Int) -> [UInt8]
}

extension SecretSource {
  /// Draws a token.
  public mutating func token() -> Token {
    Token(word: bytes(4).reduce(0) { $0 << 8 | UInt32($1) }.byteSwapped)
  }
}

extension SeededGenerator: SecretSource {}
