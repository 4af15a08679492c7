/// A text read as a sequence of symbols of one alphabet; other characters only separate them.
///
/// A text has several readings, and a secret in it appears in at least one of them.
struct SymbolReading {
  /// A symbol, and its range in the text, including a prefix.
  struct Symbol {
    var value: UInt8
    var start: Int
    var end: Int
  }

  let alphabet: SymbolAlphabet
  /// The maximum number of bytes between two symbols that belong together.
  let gap: Int
  private(set) var symbols: [Symbol] = []

  private init(_ alphabet: SymbolAlphabet, gap: Int, upTo count: Int) {
    self.alphabet = alphabet
    self.gap = gap
    symbols.reserveCapacity(count)
  }

  private mutating func append(_ value: UInt8, _ start: Int, _ end: Int) {
    symbols.append(Symbol(value: value, start: start, end: end))
  }

  /// Returns the ranges of the text that contain parts of secrets.
  func ranges(of forms: SecretForms) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var window: UInt64 = 0
    var (count, end) = (0, 0)
    let length = alphabet.length
    for (index, symbol) in symbols.enumerated() {
      if symbol.start - end > gap { count = 0 }
      window = alphabet.push(symbol.value, onto: window)
      count += 1
      end = symbol.end
      guard count >= length, forms.contains(window, in: alphabet) else { continue }
      let start = symbols[index + 1 - length].start
      if let last = found.last, last.upperBound >= start {
        found[found.count - 1] = last.lowerBound..<end
      } else {
        found.append(start..<end)
      }
    }
    return found
  }

  /// Returns the offset at which an incomplete secret at the end of the text may begin.
  ///
  /// - Parameter minimum: how many bytes of it the text must contain.
  func unfinished(_ forms: SecretForms, in text: [UInt8], minimum: Int) -> Int? {
    var (end, fragment, offset) = (text.count, UInt64(0), Int?.none)
    for (index, symbol) in symbols.suffix(alphabet.length - 1).reversed().enumerated() {
      guard end - symbol.end <= gap else { break }
      fragment |= UInt64(symbol.value) << (index * alphabet.bits)
      if (index + 1) * alphabet.bits >= minimum * 8, forms.contains(fragment, of: index + 1, in: alphabet) {
        offset = symbol.start
      }
      end = symbol.start
    }
    return offset
  }
}

extension SymbolReading {
  /// The encodings in which a text is read.
  enum Encoding: CaseIterable {
    case bytes, escaped, hexadecimal, base64, base64ForURLs
  }

  /// Reads a text in an encoding.
  init(_ text: [UInt8], _ encoding: Encoding) {
    switch encoding {
    case .bytes: self = .bytes(text)
    case .escaped: self = .escaped(text)
    case .hexadecimal: self = .hexadecimal(text)
    case .base64: self = .base64(text, isForURLs: false)
    case .base64ForURLs: self = .base64(text, isForURLs: true)
    }
  }

  /// The maximum distance between the parts of a divided key, such as a line break and an indentation.
  private static let widestGap = 64

  private static func bytes(_ text: [UInt8]) -> SymbolReading {
    var reading = SymbolReading(.bytes, gap: 0, upTo: text.count)
    for (index, byte) in text.enumerated() { reading.append(byte, index, index + 1) }
    return reading
  }

  /// Reads characters, with the escapes of URLs, JSON, C and XML resolved.
  private static func escaped(_ text: [UInt8]) -> SymbolReading {
    var reading = SymbolReading(.bytes, gap: 0, upTo: text.count)
    var index = 0
    while index < text.count {
      if let (bytes, end) = Escape.resolve(text, at: index) {
        // All bytes of an escape have the range of the escape.
        for byte in bytes { reading.append(byte, index, end) }
        index = end
      } else {
        reading.append(text[index], index, index + 1)
        index += 1
      }
    }
    return reading
  }

  /// Reads hexadecimal digits; `0x`, `\x`, `\u00` and all other characters separate them.
  private static func hexadecimal(_ text: [UInt8]) -> SymbolReading {
    var reading = SymbolReading(.hexadecimal, gap: widestGap, upTo: text.count)
    var index = 0
    var prefix: Int?
    while index < text.count {
      if let end = digitPrefix(text, at: index) {
        prefix = prefix ?? index
        index = end
      } else if let digit = digitValue(text[index], radix: 16) {
        reading.append(digit, prefix ?? index, index + 1)
        prefix = nil
        index += 1
      } else {
        prefix = nil
        index += 1
      }
    }
    return reading
  }

  /// Returns the end of a prefix of hexadecimal digits: `0x`, `%`, `\u00` or `\x`; `nil` if there is none.
  private static func digitPrefix(_ text: [UInt8], at index: Int) -> Int? {
    func has(_ offset: Int, _ letter: Unicode.Scalar) -> Bool {
      index + offset < text.count && (text[index + offset] | 0x20) == UInt8(ascii: letter) | 0x20
    }
    if has(0, "0"), has(1, "x") { return index + 2 }
    if has(0, "%") { return index + 1 }
    guard has(0, "\\") else { return nil }
    if has(1, "u"), has(2, "0"), has(3, "0") { return index + 4 }
    return has(1, "x") ? index + 2 : nil
  }

  /// Reads the characters of base64, and skips all others. `-` and `_` are characters in the alphabet for URLs
  /// only.
  private static func base64(_ text: [UInt8], isForURLs: Bool) -> SymbolReading {
    var reading = SymbolReading(.base64, gap: widestGap, upTo: text.count)
    var index = 0
    while index < text.count {
      let (symbol, end) = base64Character(text, at: index, isForURLs: isForURLs)
      if let symbol { reading.append(symbol, index, end) }
      index = end
    }
    return reading
  }

  /// Returns the base64 character at an offset, if there is one, and the offset after it.
  private static func base64Character(
    _ text: [UInt8], at index: Int, isForURLs: Bool
  ) -> (symbol: UInt8?, end: Int) {
    let byte = text[index]
    if let value = sextet(byte, isForURLs: isForURLs) { return (value, index + 1) }
    if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%"),
      let (bytes, end) = Escape.resolve(text, at: index)
    {
      return (bytes.count == 1 ? sextet(bytes[0], isForURLs: isForURLs) : nil, end)
    }
    return (nil, index + 1)
  }

  private static func sextet(_ byte: UInt8, isForURLs: Bool) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    case UInt8(ascii: "-") where isForURLs: 62
    case UInt8(ascii: "_") where isForURLs: 63
    default: nil
    }
  }
}

/// The escapes of URLs, C, JSON and XML.
enum Escape {
  /// Returns the offsets at which a text that continues may end: at its end, or before an incomplete escape or an
  /// incomplete `0x`.
  static func ends(of text: [UInt8]) -> [Int] {
    var ends = [text.count]
    let last = text.suffix(longest)
    for sign in [UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "&")] {
      if let offset = last.lastIndex(of: sign) { ends.append(offset) }
    }
    // The zero of `0x`.
    if text.last == UInt8(ascii: "0") { ends.append(text.count - 1) }
    return ends
  }

  /// The length of `\u{10FFFF}` and `&#1114111;` without their last character.
  private static let longest = 9

  /// Returns the bytes that the escape at an offset represents, and its end; `nil` if there is none.
  static func resolve(_ text: [UInt8], at index: Int) -> (bytes: [UInt8], end: Int)? {
    switch text[index] {
    case UInt8(ascii: "%"): byte(text, at: index + 1, digits: 2)
    case UInt8(ascii: "\\"): backslash(text, at: index + 1)
    case UInt8(ascii: "&"): entity(text, at: index + 1)
    default: nil
    }
  }

  private static func backslash(_ text: [UInt8], at index: Int) -> (bytes: [UInt8], end: Int)? {
    guard index < text.count else { return nil }
    switch text[index] {
    case UInt8(ascii: "x"): return byte(text, at: index + 1, digits: 2)
    case UInt8(ascii: "u"):
      guard index + 1 < text.count, text[index + 1] == UInt8(ascii: "{") else {
        return scalar(text, at: index + 1, radix: 16, digits: 4...4, end: nil)
      }
      return scalar(text, at: index + 2, radix: 16, digits: 1...6, end: UInt8(ascii: "}"))
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      return scalar(text, at: index, radix: 8, digits: 1...3, end: nil)
    case let letter:
      let bytes: UInt8 =
        switch letter {
        case UInt8(ascii: "n"): 10
        case UInt8(ascii: "r"): 13
        case UInt8(ascii: "t"): 9
        case UInt8(ascii: "b"): 8
        case UInt8(ascii: "f"): 12
        default: letter
        }
      return ([bytes], index + 1)
    }
  }

  private static func entity(_ text: [UInt8], at index: Int) -> (bytes: [UInt8], end: Int)? {
    for (name, character) in entities where text[index...].starts(with: name.utf8) {
      return ([character], index + name.utf8.count)
    }
    guard index + 1 < text.count, text[index] == UInt8(ascii: "#") else { return nil }
    return text[index + 1] == UInt8(ascii: "x")
      ? scalar(text, at: index + 2, radix: 16, digits: 1...6, end: UInt8(ascii: ";"))
      : scalar(text, at: index + 1, radix: 10, digits: 1...7, end: UInt8(ascii: ";"))
  }

  private static let entities: [(name: String, character: UInt8)] = [
    ("amp;", UInt8(ascii: "&")), ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")),
    ("quot;", UInt8(ascii: "\"")), ("apos;", UInt8(ascii: "'")),
  ]

  private static func byte(
    _ text: [UInt8], at index: Int, digits: Int
  ) -> (bytes: [UInt8], end: Int)? {
    number(text, at: index, radix: 16, digits: digits...digits).map { ([UInt8($0.value)], $0.end) }
  }

  private static func scalar(
    _ text: [UInt8], at index: Int, radix: UInt8, digits: ClosedRange<Int>, end: UInt8?
  ) -> (bytes: [UInt8], end: Int)? {
    guard let number = number(text, at: index, radix: radix, digits: digits),
      let scalar = Unicode.Scalar(number.value)
    else { return nil }
    guard let end else { return (Array(String(scalar).utf8), number.end) }
    guard number.end < text.count, text[number.end] == end else { return nil }
    return (Array(String(scalar).utf8), number.end + 1)
  }

  private static func number(
    _ text: [UInt8], at start: Int, radix: UInt8, digits: ClosedRange<Int>
  ) -> (value: UInt32, end: Int)? {
    var value: UInt32 = 0
    var index = start
    while index < text.count, index - start < digits.upperBound,
      let digit = digitValue(text[index], radix: radix)
    {
      value = value * UInt32(radix) + UInt32(digit)
      index += 1
    }
    return index - start >= digits.lowerBound ? (value, index) : nil
  }
}

/// Returns the value of a digit of either case; `nil` if the byte is not a digit of the radix.
func digitValue(_ byte: UInt8, radix: UInt8) -> UInt8? {
  let value: UInt8
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
  default: return nil
  }
  return value < radix ? value : nil
}
