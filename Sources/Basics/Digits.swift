extension BinaryInteger {
  /// Returns the number in decimal, padded with zeros; it must not be negative.
  @inlinable
  public func padded(to digits: Int) -> String { filled(String(self), digits) }

  /// Returns the number in lower-case hexadecimal, padded with zeros; it must not be negative.
  @inlinable
  public func hex(digits: Int) -> String { filled(String(self, radix: 16), digits) }
}

/// Returns a number with commas between its thousands.
public func grouped(_ number: Int) -> String {
  var digits = String(number.magnitude)
  var groups: [Substring] = []
  while digits.count > 3 {
    groups.append(digits.suffix(3))
    digits.removeLast(3)
  }
  groups.append(digits[...])
  return (number < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
}

@usableFromInline
func filled(_ text: String, _ digits: Int) -> String {
  String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}

extension Collection<UInt8> {
  /// The bytes as lower-case hexadecimal digits, two per byte, without separators.
  public var hex: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * count)
    for byte in self {
      digits.append(hexDigit(byte >> 4))
      digits.append(hexDigit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

/// Returns the lower-case hexadecimal digit of a value below 16, in ASCII.
@inlinable
public func hexDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

/// Returns the value of a hexadecimal digit in ASCII, of either case, or `nil` for any other byte.
@inlinable
public func hexValue(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
  default: nil
  }
}

/// Returns the bytes that hexadecimal digits denote, two digits each, or `nil` for any other text.
public func bytes(ofHex text: String) -> [UInt8]? {
  let digits = text.utf8.compactMap(hexValue)
  guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

extension UInt8 {
  /// Whether it is an ASCII letter or digit.
  public var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}

/// Returns a text with everything but letters, digits, `-._~` and `others` percent-encoded (RFC 3986).
public func percentEncoded(_ text: String, leaving others: String = "") -> String {
  let plain = Array(("-._~" + others).utf8)
  let bytes = text.utf8.flatMap { byte in
    byte.isLetterOrDigit || plain.contains(byte) ? [byte] : Array("%\(byte.hex(digits: 2).uppercased())".utf8)
  }
  return String(decoding: bytes, as: UTF8.self)
}
