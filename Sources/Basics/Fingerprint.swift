/// A fingerprint of bytes that is the same in every process and on every machine, as `Hasher`'s is not: FNV-1a over
/// 64 bits.
///
/// It tells things apart that nobody forges: names of files, traces, tests. It is no protection against anybody.
public struct Fingerprint: Hashable, Sendable {
  @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The fingerprint so far.
  @inlinable public var value: UInt64 { state }

  /// That of nothing.
  @inlinable
  public init() {}

  /// That of a text in UTF-8.
  public init(_ text: String) {
    mix(text)
  }

  /// Goes on behind what has a fingerprint.
  @inlinable
  public init(after value: UInt64) { state = value }

  /// Adds a byte, or a whole word as if it were one.
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
