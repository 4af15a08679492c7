/// The error of a text that is not JSON.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The position, in bytes from the start.
  public var offset: Int
  /// What was expected at that position.
  public var reason: String

  public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
  /// Reads one JSON value and nothing else, according to RFC 8259.
  ///
  /// The parser is stricter than most, so that it detects the errors of a device under test: a name may occur only once
  /// in a mapping, escapes must form whole characters, and values nest at most 64 deep.
  public init(parsing bytes: [UInt8]) throws(JSONError) {
    try self.init(parsing: bytes.span)
  }

  /// Reads one JSON value and nothing else.
  ///
  /// - Parameter isLenient: Whether a damaged string is accepted, because the rest of a record is still useful. Half
  ///   of a surrogate pair is shown as `\u{D83D}`, a byte that is not UTF-8 as `\x{FF}`. A control character stays,
  ///   and a name may occur again.
  public init(parsing bytes: Span<UInt8>, isLenient: Bool = false) throws(JSONError) {
    var parser = JSONParser(bytes, isLenient: isLenient)
    self = try parser.document()
  }

  /// Reads one JSON value and nothing else.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }
}

private struct JSONParser: ~Escapable {
  static let maximumDepth = 64

  let bytes: Span<UInt8>
  let isLenient: Bool
  var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, isLenient: Bool) {
    self.bytes = bytes
    self.isLenient = isLenient
  }

  mutating func document() throws(JSONError) -> JSON {
    skipSpace()
    let value = try value(depth: 0)
    skipSpace()
    guard offset == bytes.count else { throw fault("expected nothing more") }
    return value
  }

  private func fault(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard depth < Self.maximumDepth else { throw fault("expected no more than \(Self.maximumDepth) levels") }
    guard let next else { throw fault("expected a JSON value") }
    switch next {
    case UInt8(ascii: "{"): return try mapping(depth: depth)
    case UInt8(ascii: "["): return try list(depth: depth)
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .flag(true))
    case UInt8(ascii: "f"): return try word("false", .flag(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw fault("expected a JSON value")
    }
  }

  private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
    var index = offset
    for byte in word.utf8 {
      guard index < bytes.count, bytes[index] == byte else { throw fault("expected '\(word)'") }
      index += 1
    }
    offset = index
    return value
  }

  private mutating func mapping(depth: Int) throws(JSONError) -> JSON {
    offset += 1
    var members: [JSON.Member] = []
    var names = Set<String>()
    skipSpace()
    if take("}") { return .mapping([]) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
      let start = offset
      let name = try string()
      guard isLenient || names.insert(name).inserted else {
        throw JSONError(offset: start, reason: "expected '\(name)' only once")
      }
      skipSpace()
      guard take(":") else { throw fault("expected ':'") }
      skipSpace()
      members.append(JSON.Member(name, try value(depth: depth + 1)))
      skipSpace()
      if take("}") { return .mapping(members) }
      guard take(",") else { throw fault("expected ',' or '}'") }
    }
  }

  private mutating func list(depth: Int) throws(JSONError) -> JSON {
    offset += 1
    var values: [JSON] = []
    skipSpace()
    if take("]") { return .list([]) }
    while true {
      skipSpace()
      values.append(try value(depth: depth + 1))
      skipSpace()
      if take("]") { return .list(values) }
      guard take(",") else { throw fault("expected ',' or ']'") }
    }
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = offset
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return .number(text(start..<offset) ?? "")
  }

  private mutating func digits() throws(JSONError) {
    let start = offset
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    guard offset > start else { throw fault("expected a digit") }
  }
}

// MARK: - Strings

extension JSONParser {
  private mutating func string() throws(JSONError) -> String {
    offset += 1
    let start = offset
    // Most strings need no decoding.
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      offset += 1
    }
    if next == UInt8(ascii: "\""), let text = text(start..<offset) {
      offset += 1
      return text
    }
    offset = start
    return try decodedString()
  }

  /// Returns the bytes as text, or `nil` if they are not UTF-8.
  private func text(_ range: Range<Int>) -> String? {
    guard let utf8 = try? UTF8Span(validating: bytes.extracting(range)) else { return nil }
    return String(copying: utf8)
  }

  private mutating func decodedString() throws(JSONError) -> String {
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: isLenient ? repaired(text) : text, as: UTF8.self) else {
          throw fault("expected characters in UTF-8 before")
        }
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        text += try escape().utf8
      case 0x00...0x1F where !isLenient:
        throw fault("expected a control character to be escaped")
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw fault("expected the closing quote")
  }

  /// Returns the bytes, with those that are not UTF-8 shown as escapes.
  private func repaired(_ text: [UInt8]) -> [UInt8] {
    if String(validating: text, as: UTF8.self) != nil { return text }
    var result: [UInt8] = []
    var rest = text[...]
    while !rest.isEmpty {
      let length = (1...min(4, rest.count)).first { length in
        String(validating: rest.prefix(length), as: UTF8.self) != nil
      }
      if let length {
        result += rest.prefix(length)
        rest = rest.dropFirst(length)
      } else {
        result += "\\x{\(rest.removeFirst().hex(digits: 1).uppercased())}".utf8
      }
    }
    return result
  }

  private mutating func escape() throws(JSONError) -> String {
    offset += 1
    guard let byte = next else { throw fault("expected the closing quote") }
    let simple: String? =
      switch byte {
      case UInt8(ascii: "\""): "\""
      case UInt8(ascii: "\\"): "\\"
      case UInt8(ascii: "/"): "/"
      case UInt8(ascii: "b"): "\u{08}"
      case UInt8(ascii: "f"): "\u{0C}"
      case UInt8(ascii: "n"): "\n"
      case UInt8(ascii: "r"): "\r"
      case UInt8(ascii: "t"): "\t"
      default: nil
      }
    if let simple {
      offset += 1
      return simple
    }
    guard take("u") else { throw fault("expected an escape that JSON knows") }
    let unit = try codeUnit()
    guard (0xD800...0xDFFF).contains(unit) else { return character(unit) }
    let after = offset
    if unit < 0xDC00, take("\\"), take("u") {
      let second = try codeUnit()
      if (0xDC00...0xDFFF).contains(second) {
        return character(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
      }
    }
    guard isLenient else { throw fault("expected both halves of a character") }
    offset = after
    return escaped(unit)
  }

  private func character(_ value: UInt32) -> String {
    // The value is a scalar: the halves of pairs have already been joined.
    Unicode.Scalar(value).map { String(Character($0)) } ?? "\u{FFFD}"
  }

  private mutating func codeUnit() throws(JSONError) -> UInt32 {
    guard offset + 4 <= bytes.count else { throw fault("expected four hexadecimal digits") }
    var unit: UInt32 = 0
    for index in offset..<offset + 4 {
      guard let digit = hexValue(bytes[index]) else {
        throw fault("expected four hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
    }
    offset += 4
    return unit
  }
}
