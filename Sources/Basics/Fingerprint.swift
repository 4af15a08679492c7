/// A fingerprint of bytes that is the same in every process and on every machine, as `Hasher`'s is not: FNV-1a over
/// 64 bits.
///
/// It tells things apart that nobody forges: names of files, traces, tests. It is no protection against anybody.
public struct Fingerprint: Hashable, Sendable {
  /// The fingerprint so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// That of nothing.
  public init() {}

  /// That of a text in UTF-8.
  public init(_ text: String) {
    mix(text)
  }

  /// Adds the bytes of a text in UTF-8.
  public mutating func mix(_ text: String) {
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}

extension Fingerprint: CustomStringConvertible {
  /// Sixteen hexadecimal digits.
  public var description: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
