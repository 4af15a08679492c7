extension Collection<UInt8> {
  /// The bytes in base64 (RFC 4648, section 4), with padding.
  public var base64: String { base64(padded: true) }

  /// The bytes in base64 (RFC 4648, section 4), with or without the `=` at the end.
  public func base64(padded: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((count + 2) / 3 * 4)
    var group: UInt32 = 0
    var bits = 0
    for byte in self {
      group = group << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(group >> bits & 63)])
      }
    }
    if bits > 0 {
      text.append(alphabet[Int(group << (6 - bits) & 63)])
    }
    while padded, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }
}

extension Array<UInt8> {
  /// Reads base64 (RFC 4648, section 4), with its padding or without.
  ///
  /// Only the canonical encoding is accepted: incomplete padding, unused bits that are not 0, and characters
  /// outside the alphabet are errors. The offset of an error counts characters.
  public init(base64 text: some StringProtocol) throws(DecodeError) {
    self = []
    reserveCapacity(text.utf8.count / 4 * 3 + 2)
    var group: UInt32 = 0
    var bits = 0
    var digits = 0
    var padding = 0
    for character in text.utf8 {
      if character == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = base64Value(character) else {
        throw .malformed("base64", at: digits + padding)
      }
      group = group << 6 | UInt32(value)
      bits += 6
      digits += 1
      if bits >= 8 {
        bits -= 8
        append(UInt8(truncatingIfNeeded: group >> bits))
      }
    }
    let isWhole = padding == 0 || (padding <= 2 && (digits + padding) % 4 == 0)
    guard digits % 4 != 1, isWhole, group & (1 << bits - 1) == 0 else {
      throw .malformed("base64", at: digits)
    }
  }
}

private let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

private func base64Value(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
  case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
  case UInt8(ascii: "+"): 62
  case UInt8(ascii: "/"): 63
  default: nil
  }
}
