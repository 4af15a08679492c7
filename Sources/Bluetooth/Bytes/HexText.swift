extension Collection<UInt8> {
  /// The bytes as lower-case hexadecimal digits, two for each and nothing between them.
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

extension Array<UInt8> {
  /// Reads hexadecimal digits of either case, two for each byte and nothing between them.
  ///
  /// The offset of an error counts characters.
  public init(hex text: some StringProtocol) throws(DecodeError) {
    self = []
    reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    var offset = 0
    for character in text.utf8 {
      guard let value = hexValue(character) else { throw .malformed("hexadecimal", at: offset) }
      if let first = high {
        append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
      offset += 1
    }
    guard high == nil else { throw .malformed("an even number of hexadecimal digits", at: offset) }
  }
}

/// The lower-case digit of a value below 16, in ASCII.
func hexDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

/// The value of a digit in ASCII, of either case.
func hexValue(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
  default: nil
  }
}
