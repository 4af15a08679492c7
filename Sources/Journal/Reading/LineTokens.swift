import Basics

/// A fast tokenizer for one line of JSON, which finds the positions of keys and values: a journal has millions of
/// lines.
///
/// It rejects anything unusual. The line is then parsed as ``JSON``, which also reports errors. The tokenizer accepts
/// no line that ``JSON`` rejects.
package struct LineTokens: ~Escapable {
  package let bytes: Span<UInt8>
  private(set) var offset = 0

  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  /// Whether only white space remains.
  @inline(__always)
  var isAtEnd: Bool {
    for index in offset..<bytes.count where !isSpace(bytes[index]) { return false }
    return true
  }

  /// Skips a byte, and white space before it; returns false if another byte comes first.
  @inline(__always)
  mutating func take(_ byte: UInt8) -> Bool {
    while offset < bytes.count {
      let next = bytes[offset]
      if next == byte {
        offset += 1
        return true
      }
      guard isSpace(next) else { return false }
      offset += 1
    }
    return false
  }

  /// Skips a key and its colon; `nil` if there is no key, or one with an escape.
  @inline(__always)
  mutating func key() -> Range<Int>? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    let start = offset
    skipPlain()
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        let end = offset
        offset += 1
        return take(UInt8(ascii: ":")) ? start..<end : nil
      }
      if byte == UInt8(ascii: "\\") { return nil }
      offset += 1
    }
    return nil
  }

  /// Skips a value; `nil` if there is none, or an unusual one.
  @inline(__always)
  mutating func value() -> Raw? {
    while offset < bytes.count, isSpace(bytes[offset]) { offset += 1 }
    guard offset < bytes.count else { return nil }
    let first = bytes[offset]
    if first == UInt8(ascii: "\"") {
      offset += 1
      return string()
    }
    if first == UInt8(ascii: "-") || isDigit(first) { return number() }
    let start = offset
    return skip(depth: 0) ? Raw(range: start..<offset, kind: .other) : nil
  }

  /// Skips the rest of a string.
  @inline(__always)
  private mutating func string() -> Raw? {
    let start = offset
    var form = Form.plain
    while true {
      skipPlain()
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        offset += 1
        return Raw(range: start..<offset - 1, kind: .string, form: form)
      }
      if byte &- 0x20 >= 0x60 || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<")
        || byte == UInt8(ascii: ">")
      {
        if form == .plain { form = .special }
      } else if byte == UInt8(ascii: "\\") {
        guard skipEscape() else { return nil }
        form = .escaped
      }
      offset += 1
    }
  }

  /// Skips plain bytes, eight at a time, up to a byte that is not plain or until fewer than eight remain.
  @inline(__always)
  private mutating func skipPlain() {
    while bytes.count - offset >= 8 {
      let word = UInt64(
        littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
      // The high bit is set in the lowest byte that is not plain, and in no byte before it.
      let special =
        word | below(0x20, word) | below(1, (word | each(4)) ^ each(UInt8(ascii: "&")))
        | below(1, (word | each(2)) ^ each(UInt8(ascii: ">"))) | below(1, word ^ each(UInt8(ascii: "\\")))
      let marks = special & each(0x80)
      if marks != 0 {
        offset += marks.trailingZeroBitCount / 8
        return
      }
      offset += 8
    }
  }

  /// Skips an escape except for its last character.
  private mutating func skipEscape() -> Bool {
    guard offset + 1 < bytes.count else { return false }
    switch bytes[offset + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      offset += 1
      return true
    case UInt8(ascii: "u"):
      guard offset + 5 < bytes.count else { return false }
      for index in offset + 2...offset + 5 {
        guard isDigit(bytes[index]) || 0x61...0x66 ~= bytes[index] | 0x20 else { return false }
      }
      offset += 5
      return true
    default:
      return false
    }
  }

  /// Skips a number.
  @inline(__always)
  private mutating func number() -> Raw? {
    let start = offset
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    let first = offset
    while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
    guard offset - first == 1 || offset > first && bytes[first] != UInt8(ascii: "0") else { return nil }
    if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
      offset += 1
      let fraction = offset
      while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
      guard offset > fraction else { return nil }
    }
    // A number with an exponent is unusual.
    if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") { return nil }
    return Raw(range: start..<offset, kind: .number)
  }

  /// Skips a value of any kind.
  private mutating func skip(depth: Int) -> Bool {
    guard depth < 16 else { return false }
    while offset < bytes.count, isSpace(bytes[offset]) { offset += 1 }
    guard offset < bytes.count else { return false }
    switch bytes[offset] {
    case UInt8(ascii: "\""):
      offset += 1
      return string() != nil
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return number() != nil
    case UInt8(ascii: "["):
      offset += 1
      if take(UInt8(ascii: "]")) { return true }
      repeat {
        guard skip(depth: depth + 1) else { return false }
      } while take(UInt8(ascii: ","))
      return take(UInt8(ascii: "]"))
    case UInt8(ascii: "{"):
      offset += 1
      if take(UInt8(ascii: "}")) { return true }
      repeat {
        guard key() != nil, skip(depth: depth + 1) else { return false }
      } while take(UInt8(ascii: ","))
      return take(UInt8(ascii: "}"))
    case UInt8(ascii: "t"): return word("true")
    case UInt8(ascii: "f"): return word("false")
    case UInt8(ascii: "n"): return word("null")
    default: return false
    }
  }

  private mutating func word(_ text: StaticString) -> Bool {
    guard reads(offset..<offset + text.utf8CodeUnitCount, text) else { return false }
    offset += text.utf8CodeUnitCount
    return true
  }

  /// Returns whether a range contains the given ASCII word.
  @inline(__always)
  func reads(_ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount, range.upperBound <= bytes.count else { return false }
    return word.withUTF8Buffer { letters in
      for index in 0..<letters.count where unsafe bytes[range.lowerBound + index] != letters[index] {
        return false
      }
      return true
    }
  }
}

// MARK: - Raw texts

extension LineTokens {
  /// The position of a key or a value, for comparing and copying it without building a string.
  package struct Raw {
    package enum Kind {
      case string
      case number
      /// `true`, `false`, `null`, an array or an object.
      case other
    }

    private let start: UInt32
    private let end: UInt32
    package let kind: Kind
    package let form: Form

    @inline(__always)
    init(range: Range<Int>, kind: Kind, form: Form = .plain) {
      (start, end) = (UInt32(range.lowerBound), UInt32(range.upperBound))
      (self.kind, self.form) = (kind, form)
    }

    /// The range without the quotation marks.
    package var range: Range<Int> { Int(start)..<Int(end) }

    package var hasEscapes: Bool { form == .escaped }
  }

  /// How much processing a text needs.
  package enum Form: UInt8 {
    /// None: it is ASCII without control characters, and needs no escape in XML.
    case plain
    case special
    case escaped
  }

  /// Returns the text of a string or a number; `nil` for anything else.
  package func text(of raw: Raw) -> String? {
    if raw.kind == .other { return nil }
    if !raw.hasEscapes, let utf8 = try? UTF8Span(validating: bytes.extracting(raw.range)) {
      return String(copying: utf8)
    }
    let quoted = raw.range.lowerBound - 1..<raw.range.upperBound + 1
    return (try? JSON(parsing: bytes.extracting(quoted), isLenient: true))?.string
  }

  /// Returns the bytes of a text, with its escapes decoded.
  package func bytes(of raw: Raw) -> [UInt8] {
    if raw.hasEscapes { return Array((text(of: raw) ?? "").utf8) }
    return unsafe bytes.extracting(raw.range).withUnsafeBufferPointer { unsafe Array($0) }
  }

  /// Returns whether a text consists of these bytes.
  package func isText(_ raw: Raw, _ other: [UInt8]) -> Bool {
    if raw.hasEscapes { return bytes(of: raw) == other }
    guard raw.range.count == other.count else { return false }
    var offset = raw.range.lowerBound
    for byte in other {
      if bytes[offset] != byte { return false }
      offset += 1
    }
    return true
  }

  /// Returns an id up to and including its last slash, or all of an id without a slash.
  package func front(of id: Raw) -> Raw {
    var end = id.range.upperBound
    while end > id.range.lowerBound, bytes[end - 1] != UInt8(ascii: "/") { end -= 1 }
    return end == id.range.lowerBound
      ? id : Raw(range: id.range.lowerBound..<end, kind: id.kind, form: id.form)
  }
}

/// Returns a word with the byte in each of its eight positions.
@inline(__always)
private func each(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

/// Returns a word with the high bit set in the lowest byte below a limit of at most 0x80, and in no byte before it.
@inline(__always)
private func below(_ limit: UInt8, _ word: UInt64) -> UInt64 { (word &- each(limit)) & ~word & each(0x80) }

@inline(__always)
private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

@inline(__always)
private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

/// A text that most consecutive lines share; it is built only when it changes.
struct RepeatedText {
  /// The text; `nil` if the last line had none.
  private(set) var text: String?
  private var bytes: [UInt8]

  /// Starts with a text.
  init(_ text: String? = nil) { (self.text, bytes) = (text, Array((text ?? "").utf8)) }

  /// Reads the text of a line.
  mutating func read(_ raw: LineTokens.Raw?, _ scanner: borrowing LineTokens) {
    guard let raw else { return self = RepeatedText() }
    guard text == nil || !scanner.isText(raw, bytes) else { return }
    (text, bytes) = (scanner.text(of: raw), scanner.bytes(of: raw))
  }
}
