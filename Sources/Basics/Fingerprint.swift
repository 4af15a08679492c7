/// A fingerprint of bytes that, unlike that of `Hasher`, is the same in every process and on every machine: FNV-1a
/// over 64 bits.
///
/// It distinguishes names of files, traces and tests. It is not secure against forgery.
public struct Fingerprint: Hashable, Sendable {
  @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The fingerprint so far.
  @inlinable public var value: UInt64 { state }

  /// Makes the fingerprint of no bytes.
  @inlinable
  public init() {}

  /// Makes the fingerprint of a text in UTF-8.
  public init(_ text: String) {
    mix(text)
  }

  /// Continues from an earlier fingerprint.
  @inlinable
  public init(after value: UInt64) { state = value }

  /// Adds a byte, or a whole word as if it were one byte.
  @inlinable
  public mutating func mix(_ word: UInt64) { state = (state ^ word) &* 0x100_0000_01B3 }

  /// Adds bytes.
  public mutating func mix(_ bytes: [UInt8]) {
    for byte in bytes { mix(UInt64(byte)) }
  }

  /// Adds the bytes of a text in UTF-8.
  @inlinable
  public mutating func mix(_ text: String) {
    for byte in text.utf8 { mix(UInt64(byte)) }
  }
}

extension Fingerprint: CustomStringConvertible {
  /// Sixteen hexadecimal digits.
  public var description: String { value.hex(digits: 16) }
}
