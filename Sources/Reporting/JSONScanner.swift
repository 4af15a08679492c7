/// Why a text is not JSON.
struct JSONError: Error, Equatable {
  /// In bytes from the start of the text.
  var offset: Int
  var reason: String
}

/// Reads JSON from borrowed bytes; what is not needed is checked and stepped over without being built.
///
/// More lenient than the standard in one point: a string may hold control characters as they are.
struct JSONScanner: ~Escapable {
  let bytes: Span<UInt8>
  private var position = 0

  /// The most arrays and objects inside one another.
  private static let depthLimit = 100

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  /// The whole text as one value.
  mutating func document() throws(JSONError) -> JSONValue {
    let value = try value(depth: 0)
    try expectEnd()
    return value
  }

  /// Whether an object is next.
  mutating func isObject() throws(JSONError) -> Bool { try peek() == UInt8(ascii: "{") }

  /// Enters an object; `false` when it is empty and over.
  mutating func beginObject() throws(JSONError) -> Bool {
    try expect(UInt8(ascii: "{"), "an object")
    return try !take(UInt8(ascii: "}"))
  }

  /// The next key of an object that was entered; its value must be read or stepped over.
  mutating func key() throws(JSONError) -> String {
    let key = try string()
    try expect(UInt8(ascii: ":"), "a colon")
    return key
  }

  /// Whether another member follows; the object is left when not.
  mutating func objectGoesOn() throws(JSONError) -> Bool {
    if try take(UInt8(ascii: ",")) { return true }
    try expect(UInt8(ascii: "}"), "a comma or the end of the object")
    return false
  }

  /// Makes sure that only white space follows.
  mutating func expectEnd() throws(JSONError) {
    skipSpace()
    if position < bytes.count { throw error("something follows the value") }
  }

  /// Reads the value of a member of the outermost object.
  mutating func value() throws(JSONError) -> JSONValue { try value(depth: 1) }

  /// Steps over the value of a member of the outermost object, as strictly as ``value()`` reads it.
  mutating func skip() throws(JSONError) { try skip(depth: 1) }
}

// MARK: - Values

extension JSONScanner {
  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    switch try peek() {
    case UInt8(ascii: "\""):
      return .string(try string())
    case UInt8(ascii: "["):
      try enter(depth)
      var elements: [JSONValue] = []
      if try take(UInt8(ascii: "]")) { return .array([]) }
      repeat { elements.append(try value(depth: depth + 1)) } while try arrayGoesOn()
      return .array(elements)
    case UInt8(ascii: "{"):
      try enter(depth)
      var members: [JSONValue.Member] = []
      if try take(UInt8(ascii: "}")) { return .object([]) }
      repeat {
        let key = try key()
        members.append(JSONValue.Member(key, try value(depth: depth + 1)))
      } while try objectGoesOn()
      return .object(members)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let range = try skipNumber()
      return .number(text(range) ?? "")
    default:
      return switch try skipWord() {
      case .true: .bool(true)
      case .false: .bool(false)
      case .null: .null
      }
    }
  }

  private mutating func skip(depth: Int) throws(JSONError) {
    switch try peek() {
    case UInt8(ascii: "\""):
      _ = try skipString()
    case UInt8(ascii: "["):
      try enter(depth)
      if try take(UInt8(ascii: "]")) { return }
      repeat { try skip(depth: depth + 1) } while try arrayGoesOn()
    case UInt8(ascii: "{"):
      try enter(depth)
      if try take(UInt8(ascii: "}")) { return }
      repeat {
        _ = try skipString()
        try expect(UInt8(ascii: ":"), "a colon")
        try skip(depth: depth + 1)
      } while try objectGoesOn()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      _ = try skipNumber()
    default:
      _ = try skipWord()
    }
  }

  private mutating func enter(_ depth: Int) throws(JSONError) {
    guard depth < Self.depthLimit else { throw error("nested more than \(Self.depthLimit) deep") }
    position += 1
  }

  private mutating func arrayGoesOn() throws(JSONError) -> Bool {
    if try take(UInt8(ascii: ",")) { return true }
    try expect(UInt8(ascii: "]"), "a comma or the end of the array")
    return false
  }

  private enum Word { case `true`, `false`, null }

  private mutating func skipWord() throws(JSONError) -> Word {
    for (text, word) in [("true", .true), ("false", .false), ("null", .null)] as [(StaticString, Word)] {
      if take(text) { return word }
    }
    throw error("no value")
  }

  private mutating func skipNumber() throws(JSONError) -> Range<Int> {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    let leadingZero = position < bytes.count && bytes[position] == UInt8(ascii: "0")
    let whole = skipDigits()
    guard whole == 1 || (whole > 1 && !leadingZero) else { throw error("no number") }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits() > 0 else { throw error("no digit after the point") }
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      guard skipDigits() > 0 else { throw error("no digit in the exponent") }
    }
    return start..<position
  }

  @inline(__always)
  private mutating func skipDigits() -> Int {
    let start = position
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
      position += 1
    }
    return position - start
  }
}

// MARK: - Strings

extension JSONScanner {
  private mutating func string() throws(JSONError) -> String {
    let (range, form) = try skipString()
    if form != .escaped, let text = text(range) { return text }
    return decoded(range)
  }

  /// The bytes as they are, or `nil` where they are no UTF-8.
  private func text(_ range: Range<Int>) -> String? {
    guard let utf8 = try? UTF8Span(validating: bytes.extracting(range)) else { return nil }
    return String(copying: utf8)
  }

  /// Steps over a string; says where its content is, and how much of a look it needs.
  private mutating func skipString() throws(JSONError) -> (range: Range<Int>, form: Form) {
    try expect(UInt8(ascii: "\""), "a string")
    let start = position
    var form = Form.plain
    // In variables of its own, which the compiler keeps in registers.
    let bytes = bytes
    var place = start
    while true {
      place = skipEight(bytes, from: place, &form)
      guard place < bytes.count else { break }
      switch bytes[place] {
      case UInt8(ascii: "\""):
        position = place + 1
        return (start..<place, form)
      case UInt8(ascii: "\\"):
        form = .escaped
        position = place
        try skipEscape()
        place = position
      case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), 0..<0x20, 0x80...:
        if form == .plain { form = .special }
        place += 1
      default:
        place += 1
      }
    }
    position = place
    throw error("a string without an end")
  }

  private mutating func skipEscape() throws(JSONError) {
    let kind = position + 1 < bytes.count ? bytes[position + 1] : 0
    switch kind {
    case UInt8(ascii: "u"):
      guard hexadecimal(at: position + 2) != nil else { throw error("an escape that is none") }
      position += 6
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    default:
      throw error("an escape that is none")
    }
  }

  /// The four hexadecimal digits at a place.
  private func hexadecimal(at start: Int) -> UInt32? {
    guard start + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for offset in start..<start + 4 {
      guard let digit = Character(Unicode.Scalar(bytes[offset])).hexDigitValue else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// The text of a string whose escapes are known to be well-formed.
  private func decoded(_ range: Range<Int>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\\") {
        offset = appendEscape(at: offset, to: &text)
      } else if byte < 0x80 {
        text.append(byte)
        offset += 1
      } else if let length = scalarLength(bytes, at: offset, limit: range.upperBound) {
        for place in offset..<offset + length { text.append(bytes[place]) }
        offset += length
      } else {
        text.append(contentsOf: "\\x{\(String(byte, radix: 16, uppercase: true))}".utf8)
        offset += 1
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes one escape, a pair of surrogates as one; returns where it ends.
  private func appendEscape(at offset: Int, to text: inout [UInt8]) -> Int {
    switch bytes[offset + 1] {
    case UInt8(ascii: "u"): break
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case let other: text.append(other)
    }
    guard bytes[offset + 1] == UInt8(ascii: "u"), let unit = hexadecimal(at: offset + 2) else {
      return offset + 2
    }
    if let scalar = Unicode.Scalar(unit) {
      text.append(contentsOf: String(scalar).utf8)
      return offset + 6
    }
    if unit < 0xDC00, offset + 7 < bytes.count, bytes[offset + 6] == UInt8(ascii: "\\"),
      bytes[offset + 7] == UInt8(ascii: "u"), let low = hexadecimal(at: offset + 8), 0xDC00...0xDFFF ~= low,
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    {
      text.append(contentsOf: String(scalar).utf8)
      return offset + 12
    }
    text.append(contentsOf: "\\u{\(String(unit, radix: 16, uppercase: true))}".utf8)
    return offset + 6
  }
}

// MARK: - Texts as they stand

extension JSONScanner {
  /// Where a key or a value stands, for comparing and copying it without building a string.
  struct Raw {
    enum Kind {
      case string
      case number
      /// `true`, `false`, `null`, an array or an object.
      case other
    }

    /// Without the quotation marks.
    var range: Range<Int>
    var kind: Kind
    var form = Form.plain

    var hasEscapes: Bool { form == .escaped }
  }

  /// How much of a look a text needs.
  enum Form: UInt8 {
    /// None: it is of ASCII without control characters, and stands for itself in XML too.
    case plain
    case special
    case escaped
  }

  /// Where the next key of an object stands that was entered; its value must be read or stepped over.
  mutating func rawKey() throws(JSONError) -> Raw {
    skipSpace()
    let (range, form) = try skipString()
    try expect(UInt8(ascii: ":"), "a colon")
    return Raw(range: range, kind: .string, form: form)
  }

  /// Where the value of a member of the outermost object stands, or of one in it.
  mutating func rawValue() throws(JSONError) -> Raw {
    switch try peek() {
    case UInt8(ascii: "\""):
      let (range, form) = try skipString()
      return Raw(range: range, kind: .string, form: form)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return Raw(range: try skipNumber(), kind: .number)
    default:
      let start = position
      try skip(depth: 2)
      return Raw(range: start..<position, kind: .other)
    }
  }

  /// Whether a key or a value is a word of ASCII.
  @inline(__always)
  func reads(_ raw: Raw, _ word: StaticString) -> Bool {
    guard !raw.hasEscapes, raw.range.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { letters in
      for index in 0..<raw.range.count where unsafe bytes[raw.range.lowerBound + index] != letters[index] {
        return false
      }
      return true
    }
  }

  /// The text of a string or a number; `nil` for anything else.
  func text(of raw: Raw) -> String? {
    if raw.kind == .other { return nil }
    if !raw.hasEscapes, let text = text(raw.range) { return text }
    return decoded(raw.range)
  }
}

// MARK: - Single bytes

extension JSONScanner {
  @inline(__always)
  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  @inline(__always)
  private mutating func peek() throws(JSONError) -> UInt8 {
    skipSpace()
    guard position < bytes.count else { throw error("the text ends too early") }
    return bytes[position]
  }

  @inline(__always)
  private mutating func take(_ byte: UInt8) throws(JSONError) -> Bool {
    guard try peek() == byte else { return false }
    position += 1
    return true
  }

  private mutating func take(_ word: StaticString) -> Bool {
    let letters = word.description.utf8
    guard position + letters.count <= bytes.count else { return false }
    for (index, letter) in letters.enumerated() where bytes[position + index] != letter { return false }
    position += letters.count
    return true
  }

  @inline(__always)
  private mutating func expect(_ byte: UInt8, _ what: String) throws(JSONError) {
    guard try take(byte) else { throw error("\(what) is missing") }
  }

  private func error(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }
}

/// How many bytes the character at a place takes, or `nil` where the bytes are no well-formed UTF-8.
private func scalarLength(_ bytes: Span<UInt8>, at offset: Int, limit: Int) -> Int? {
  let second: ClosedRange<UInt8>
  let length: Int
  switch bytes[offset] {
  case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
  case 0xE0: (length, second) = (3, 0xA0...0xBF)
  case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
  case 0xED: (length, second) = (3, 0x80...0x9F)
  case 0xF0: (length, second) = (4, 0x90...0xBF)
  case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
  case 0xF4: (length, second) = (4, 0x80...0x8F)
  default: return nil
  }
  guard offset + length <= limit, second.contains(bytes[offset + 1]) else { return nil }
  for place in offset + 1..<offset + length where bytes[place] & 0xC0 != 0x80 { return nil }
  return length
}

/// Goes on, in steps of eight bytes, to where the next quotation mark or backslash is, or to the last few bytes; notes
/// when it passes over anything that is not plain.
@inline(__always)
private func skipEight(_ bytes: Span<UInt8>, from start: Int, _ form: inout JSONScanner.Form) -> Int {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let highs: UInt64 = 0x8080_8080_8080_8080
  /// The highest bit of the first byte that is like one, and perhaps of some after it.
  func marks(_ word: UInt64, _ byte: UInt8) -> UInt64 {
    let difference = word ^ (ones &* UInt64(byte))
    return (difference &- ones) & ~difference & highs
  }
  var place = start
  while place + 8 <= bytes.count {
    let word = unsafe UInt64(
      littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
    let stops = marks(word, UInt8(ascii: "\"")) | marks(word, UInt8(ascii: "\\"))
    let controls = (word &- ones &* 0x20) & ~word & highs
    let special =
      word & highs | controls | marks(word, UInt8(ascii: "&")) | marks(word, UInt8(ascii: "<"))
      | marks(word, UInt8(ascii: ">"))
    let before = stops == 0 ? UInt64.max : (stops & (0 &- stops)) &- 1
    if special & before != 0, form == .plain { form = .special }
    if stops != 0 { return place + stops.trailingZeroBitCount / 8 }
    place += 8
  }
  return place
}
