/// What is wrong with a text that should be JSON.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Where, in bytes from the start.
  public var offset: Int
  /// What was expected there.
  public var reason: String

  public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
  /// Reads one JSON value and nothing else, as RFC 8259 writes it.
  ///
  /// Stricter than most readers, since a device that is tested by it should not get away with more: a name may
  /// stand only once in a mapping, escapes must make whole characters, and values nest at most 64 deep.
  public init(parsing bytes: [UInt8]) throws(JSONError) {
    var parser = JSONParser(bytes: bytes)
    self = try parser.document()
  }

  /// Reads one JSON value and nothing else.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }
}

private struct JSONParser {
  static let deepest = 64

  let bytes: [UInt8]
  var offset = 0

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
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { offset += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard depth < Self.deepest else { throw fault("expected no more than \(Self.deepest) levels") }
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
    guard bytes[offset...].starts(with: word.utf8) else { throw fault("expected '\(word)'") }
    offset += word.utf8.count
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
      guard names.insert(name).inserted else {
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
    return .number(String(decoding: bytes[start..<offset], as: UTF8.self))
  }

  private mutating func digits() throws(JSONError) {
    let start = offset
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    guard offset > start else { throw fault("expected a digit") }
  }

  private mutating func string() throws(JSONError) -> String {
    offset += 1
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw fault("expected characters in UTF-8 before")
        }
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        text += Array(String(try escape()).utf8)
      case 0x00...0x1F:
        throw fault("expected a control character to be escaped")
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw fault("expected the closing quote")
  }

  private mutating func escape() throws(JSONError) -> Character {
    offset += 1
    guard let byte = next else { throw fault("expected the closing quote") }
    let simple: Character? =
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
    guard (0xD800...0xDFFF).contains(unit) else { return character(UInt32(unit)) }
    guard unit < 0xDC00, take("\\"), take("u") else { throw fault("expected both halves of a character") }
    let second = try codeUnit()
    guard (0xDC00...0xDFFF).contains(second) else { throw fault("expected both halves of a character") }
    return character(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
  }

  private func character(_ value: UInt32) -> Character {
    // Only scalars come here: the halves of pairs are joined before.
    Unicode.Scalar(value).map(Character.init) ?? "\u{FFFD}"
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    guard offset + 4 <= bytes.count else { throw fault("expected four hexadecimal digits") }
    var unit: UInt16 = 0
    for byte in bytes[offset..<offset + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw fault("expected four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
    }
    offset += 4
    return unit
  }
}
