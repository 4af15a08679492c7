import Basics
import Journal
/// A buffer of XML text.
struct XMLBuffer {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Adds markup, or text that needs no escapes; a literal is not converted to a string.
  @_disfavoredOverload
  mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Adds markup.
  mutating func add(_ markup: StaticString) {
    markup.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  /// Adds a number in decimal digits.
  mutating func add(_ number: Int64) {
    if number > 9 { add(number / 10) }
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// Adds seconds with three decimals.
  mutating func add(milliseconds: Int64) {
    add(milliseconds / 1000)
    bytes.append(UInt8(ascii: "."))
    for unit: Int64 in [100, 10, 1] { add(milliseconds / unit % 10) }
  }

  mutating func add(_ other: XMLBuffer) { bytes.append(contentsOf: other.bytes) }

  /// Adds text for XML 1.0, between tags or in an attribute.
  ///
  /// Characters that no escape can express are made visible: see ``visible(_:)``. No CDATA section is needed:
  /// `>` is escaped, so that `]]>` cannot occur. White space that a parser would change is written as a
  /// reference: CR everywhere, TAB and LF in attributes.
  mutating func addEscaped(_ text: String, inAttribute: Bool = false) {
    let text = visible(text)
    if text.utf8.contains(where: { needsEscape($0, inAttribute) }) {
      for byte in text.utf8 { addEscaped(byte, inAttribute) }
    } else {
      add(text)
    }
  }

  private mutating func addEscaped(_ byte: UInt8, _ inAttribute: Bool) {
    switch byte {
    case UInt8(ascii: "&"): add("&amp;")
    case UInt8(ascii: "<"): add("&lt;")
    case UInt8(ascii: ">"): add("&gt;")
    case UInt8(ascii: "\r"): add("&#13;")
    case UInt8(ascii: "\"") where inAttribute: add("&quot;")
    case UInt8(ascii: "\n") where inAttribute: add("&#10;")
    case UInt8(ascii: "\t") where inAttribute: add("&#9;")
    default: bytes.append(byte)
    }
  }

  /// Adds an attribute, with a space before it.
  mutating func attribute(_ name: String, _ value: String) {
    add(" ")
    add(name)
    add("=\"")
    addEscaped(value, inAttribute: true)
    add("\"")
  }

  /// Adds the value of an attribute in its encoded form; long values are truncated.
  mutating func addEscaped(_ raw: LineTokens.Raw, _ scanner: borrowing LineTokens) {
    if raw.form == .plain, raw.range.count <= longestValue {
      append(scanner.bytes.extracting(raw.range))
    } else {
      addEscaped(clipped(scanner.text(of: raw) ?? "", toBytes: longestValue), inAttribute: true)
    }
  }

  private mutating func append(_ span: Span<UInt8>) {
    unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }
}

/// The maximum length of a property's value, in bytes.
let longestValue = 4 << 10

private func needsEscape(_ byte: UInt8, _ inAttribute: Bool) -> Bool {
  switch byte {
  case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\r"): true
  case UInt8(ascii: "\""), UInt8(ascii: "\t"), UInt8(ascii: "\n"): inAttribute
  default: false
  }
}

/// Text truncated to its beginning and its end, so that reports stay within their readers' limits.
struct HeadAndTail {
  private let limit: Int
  private var head: [UInt8] = []
  private var tail: [UInt8] = []
  private var omitted = 0

  /// Makes a text with a maximum length in bytes, half of it for the beginning and half for the end.
  init(limit: Int = 64 << 10) {
    self.limit = limit
  }

  /// Makes the beginning and the end of a text.
  init(_ text: String) {
    self.init()
    append(text)
  }

  mutating func append(_ text: String) {
    var bytes = Array(text.utf8)[...]
    if tail.isEmpty {
      var taken = min(bytes.count, limit / 2 - head.count)
      // Characters are not split: one that does not fit goes to the tail.
      while taken < bytes.count, taken > 0, bytes[bytes.startIndex + taken] & 0xC0 == 0x80 { taken -= 1 }
      head += bytes.prefix(taken)
      bytes = bytes.dropFirst(taken)
    }
    tail += bytes
    if tail.count > 2 * limit { dropMiddle() }
  }

  /// The text, with a line about the omitted length if there is any.
  var text: String {
    var whole = self
    whole.dropMiddle()
    let gap = whole.omitted > 0 ? "\n… \(whole.omitted) bytes left out …\n" : ""
    return String(decoding: whole.head, as: UTF8.self) + gap + String(decoding: whole.tail, as: UTF8.self)
  }

  private mutating func dropMiddle() {
    var excess = tail.count - limit / 2
    guard excess > 0 else { return }
    while excess < tail.count, tail[excess] & 0xC0 == 0x80 { excess += 1 }
    omitted += excess
    tail.removeFirst(excess)
  }
}
