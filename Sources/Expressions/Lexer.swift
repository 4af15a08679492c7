import Basics

/// A word of an expression, with its place in the text.
struct Lexeme: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    case integer(Int64)
    case number(Double)
    case text(String)
    case bytes([UInt8])
    case name(String)
    /// An operator or a bracket.
    case sign(String)
    case end
  }

  var kind: Kind
  var range: Range<Int>
}

/// Splits the text of an expression into tokens, as CEL does.
struct Lexer {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns all tokens, the last of which is the end of the text.
  static func tokens(of text: String) throws(ExpressionFault) -> [Lexeme] {
    var lexer = Lexer(text)
    var tokens: [Lexeme] = []
    repeat {
      tokens.append(try lexer.next())
    } while tokens.last?.kind != .end
    return tokens
  }

  private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func byte(after distance: Int) -> UInt8? {
    offset + distance < bytes.count ? bytes[offset + distance] : nil
  }

  private mutating func next() throws(ExpressionFault) -> Lexeme {
    skipBlanks()
    let start = offset
    guard let byte = current else { return Lexeme(kind: .end, range: start..<start) }
    if let prefix = stringPrefix() { return try string(prefix) }
    if byte.isDigit || byte == UInt8(ascii: ".") && self.byte(after: 1)?.isDigit == true {
      return try number()
    }
    if byte.isLetter {
      while current?.isLetter == true || current?.isDigit == true { offset += 1 }
      return Lexeme(kind: .name(text(from: start)), range: start..<offset)
    }
    for sign in Self.signs where bytes[offset...].starts(with: sign.utf8) {
      offset += sign.utf8.count
      return Lexeme(kind: .sign(sign), range: start..<offset)
    }
    throw unexpectedCharacter()
  }

  /// The signs, longer ones before their beginnings.
  private static let signs = [
    "||", "&&", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")",
    "[", "]",
    "{", "}",
  ]

  private func unexpectedCharacter() -> ExpressionFault {
    var end = offset + 1
    while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
    let character = String(decoding: bytes[offset..<end], as: UTF8.self)
    let hint: ExpressionFault.Hint? =
      switch character {
      case "=": .words("two values are compared with `==`")
      case "&": .words("both hold: `&&`")
      case "|": .words("either holds: `||`")
      default: nil
      }
    return ExpressionFault("unexpected `\(character)`", at: offset..<end, hint: hint)
  }

  private func text(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

  private mutating func skipBlanks() {
    while let byte = current {
      if byte == UInt8(ascii: "/"), self.byte(after: 1) == byte {
        while let byte = current, byte != UInt8(ascii: "\n") { offset += 1 }
      } else if [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte) {
        offset += 1
      } else {
        return
      }
    }
  }
}

// MARK: - Numbers

extension Lexer {
  private mutating func number() throws(ExpressionFault) -> Lexeme {
    let start = offset
    if current == UInt8(ascii: "0"), byte(after: 1).map({ $0 | 0x20 }) == UInt8(ascii: "x") {
      offset += 2
      while current?.isHexDigit == true { offset += 1 }
      let digits = text(from: start + 2)
      try refuseUnsigned(from: start)
      guard let value = Int64(digits, radix: 16) else { throw outOfRange(from: start) }
      return Lexeme(kind: .integer(value), range: start..<offset)
    }
    while current?.isDigit == true { offset += 1 }
    var isWhole = true
    if current == UInt8(ascii: "."), byte(after: 1)?.isDigit == true {
      isWhole = false
      offset += 1
      while current?.isDigit == true { offset += 1 }
    }
    if current.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
      let hasSign = [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(byte(after: 1))
      if byte(after: hasSign ? 2 : 1)?.isDigit == true {
        isWhole = false
        offset += hasSign ? 2 : 1
        while current?.isDigit == true { offset += 1 }
      }
    }
    try refuseUnsigned(from: start)
    if current?.isLetter == true { throw unit(after: start) }
    if isWhole {
      // The magnitude of the least integer has no positive counterpart; the parser negates it.
      guard let magnitude = UInt64(text(from: start)), magnitude <= Int64.min.magnitude else {
        throw outOfRange(from: start)
      }
      return Lexeme(kind: .integer(Int64(truncatingIfNeeded: magnitude)), range: start..<offset)
    }
    guard let value = Double(text(from: start)), value.isFinite else { throw outOfRange(from: start) }
    return Lexeme(kind: .number(value), range: start..<offset)
  }

  private mutating func refuseUnsigned(from start: Int) throws(ExpressionFault) {
    guard let byte = current, byte | 0x20 == UInt8(ascii: "u") else { return }
    let next = self.byte(after: 1)
    if next?.isLetter == true || next?.isDigit == true { return }
    let digits = text(from: start)
    offset += 1
    throw ExpressionFault(
      "there are no unsigned numbers", at: start..<offset, hint: .words("write \(digits)"))
  }

  /// The fault of a number that letters follow, such as `7s`.
  private mutating func unit(after start: Int) -> ExpressionFault {
    let digits = text(from: start)
    let unitStart = offset
    while current?.isLetter == true || current?.isDigit == true { offset += 1 }
    let unit = text(from: unitStart)
    let isTime = ["h", "m", "min", "s", "ms", "us", "ns"].contains(unit)
    return ExpressionFault(
      "unexpected `\(unit)` after a number", at: start..<offset,
      hint: isTime
        ? .words("a length of time is written duration('\(digits)\(unit == "min" ? "m" : unit)')") : nil)
  }

  private func outOfRange(from start: Int) -> ExpressionFault {
    ExpressionFault("the number does not fit in 64 bits", at: start..<offset)
  }
}

// MARK: - Texts and bytes

extension Lexer {
  private struct StringPrefix {
    var length = 0
    var isRaw = false
    var isBytes = false
  }

  /// The letters before a quotation mark, if a string begins here.
  private func stringPrefix() -> StringPrefix? {
    var prefix = StringPrefix()
    while let byte = byte(after: prefix.length) {
      switch byte | 0x20 {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): return byte == byte | 0x20 ? prefix : nil
      case UInt8(ascii: "r") where !prefix.isRaw: prefix.isRaw = true
      case UInt8(ascii: "b") where !prefix.isBytes: prefix.isBytes = true
      default: return nil
      }
      prefix.length += 1
    }
    return nil
  }

  private mutating func string(_ prefix: StringPrefix) throws(ExpressionFault) -> Lexeme {
    let start = offset
    offset += prefix.length
    let quote = bytes[offset]
    let isTriple = byte(after: 1) == quote && byte(after: 2) == quote
    offset += isTriple ? 3 : 1
    var value: [UInt8] = []
    while true {
      guard let byte = current, isTriple || byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\r") else {
        throw ExpressionFault("the text does not end", at: start..<offset)
      }
      if byte == quote, !isTriple || self.byte(after: 1) == quote && self.byte(after: 2) == quote {
        offset += isTriple ? 3 : 1
        break
      }
      if byte == UInt8(ascii: "\\"), !prefix.isRaw {
        try appendEscape(to: &value, isBytes: prefix.isBytes)
      } else {
        value.append(byte)
        offset += 1
      }
    }
    let range = start..<offset
    if prefix.isBytes { return Lexeme(kind: .bytes(value), range: range) }
    guard let text = String(validating: value, as: UTF8.self) else {
      throw ExpressionFault("the text is not valid Unicode", at: range)
    }
    return Lexeme(kind: .text(text), range: range)
  }

  private mutating func appendEscape(to value: inout [UInt8], isBytes: Bool) throws(ExpressionFault) {
    let start = offset
    offset += 1
    guard let letter = current else { throw unknownEscape(from: start) }
    offset += 1
    if let plain = Self.escapes[letter] {
      value.append(plain)
      return
    }
    let scalar: UInt32
    switch letter {
    case UInt8(ascii: "x"), UInt8(ascii: "X"): scalar = try digits(2, radix: 16, from: start)
    case UInt8(ascii: "u") where !isBytes: scalar = try digits(4, radix: 16, from: start)
    case UInt8(ascii: "U") where !isBytes: scalar = try digits(8, radix: 16, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "3"):
      offset -= 1
      scalar = try digits(3, radix: 8, from: start)
    default: throw unknownEscape(from: start)
    }
    if isBytes {
      value.append(UInt8(truncatingIfNeeded: scalar))
    } else {
      guard let scalar = Unicode.Scalar(scalar) else { throw unknownEscape(from: start) }
      value += Array(String(Character(scalar)).utf8)
    }
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 0x07, UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A,
    UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "v"): 0x0B, UInt8(ascii: "\\"): 0x5C,
    UInt8(ascii: "?"): 0x3F, UInt8(ascii: "\""): 0x22, UInt8(ascii: "'"): 0x27, UInt8(ascii: "`"): 0x60,
  ]

  private mutating func digits(_ count: Int, radix: Int, from start: Int) throws(ExpressionFault) -> UInt32 {
    let first = offset
    offset = min(offset + count, bytes.count)
    guard offset - first == count, let value = UInt32(text(from: first), radix: radix), current != nil else {
      throw unknownEscape(from: start)
    }
    return value
  }

  private func unknownEscape(from start: Int) -> ExpressionFault {
    ExpressionFault(
      "there is no such escape", at: start..<offset, hint: .words("a backslash is written \\\\"))
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  fileprivate var isLetter: Bool {
    self == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
  fileprivate var isHexDigit: Bool { hexValue(self) != nil }
}
