extension OutputFile {
  /// Adds text as it stands in XML 1.0, between tags or in an attribute.
  ///
  /// What `Char` of the specification excludes, which no escape can express either, is shown as `\u{1B}`. Nothing
  /// needs a CDATA section: `>` is escaped, and so `]]>` cannot arise. Where a parser would change white space it
  /// is written as a reference: CR everywhere, TAB and LF in attributes.
  mutating func writeEscaped(_ text: String, inAttribute: Bool = false) throws(ReportError) {
    guard text.utf8.contains(where: { mayNeedEscape($0, inAttribute) }) else { return try write(text) }
    try write(escaped(text, inAttribute))
  }
}

private func escaped(_ text: String, _ inAttribute: Bool) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": result += "&amp;".unicodeScalars
    case "<": result += "&lt;".unicodeScalars
    case ">": result += "&gt;".unicodeScalars
    case "\"" where inAttribute: result += "&quot;".unicodeScalars
    case "\r": result += "&#13;".unicodeScalars
    case "\n" where inAttribute: result += "&#10;".unicodeScalars
    case "\t" where inAttribute: result += "&#9;".unicodeScalars
    case "\t", "\n", " "..."\u{FFFD}", "\u{10000}"...: result.append(scalar)
    default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
    }
  }
  return String(result)
}

/// Whether a byte may be part of what must be escaped; 0xEF starts U+FFFE and U+FFFF.
private func mayNeedEscape(_ byte: UInt8, _ inAttribute: Bool) -> Bool {
  switch byte {
  case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), 0xEF: true
  case UInt8(ascii: "\""), UInt8(ascii: "\t"), UInt8(ascii: "\n"): inAttribute
  default: byte < 0x20
  }
}

/// Text of any length cut to its beginning and its end, so that no report outgrows its readers.
struct HeadAndTail {
  private let limit: Int
  private var head: [UInt8] = []
  private var tail: [UInt8] = []
  private var omitted = 0

  /// Keeps so many bytes, half of them from the beginning and half from the end.
  init(limit: Int = 64 << 10) {
    self.limit = limit
  }

  /// Keeps the beginning and the end of a text.
  init(_ text: String) {
    self.init()
    append(text)
  }

  mutating func append(_ text: String) {
    var bytes = Array(text.utf8)[...]
    if tail.isEmpty {
      var taken = min(bytes.count, limit / 2 - head.count)
      // No character is cut: what does not fit whole goes to the tail.
      while taken < bytes.count, taken > 0, bytes[bytes.startIndex + taken] & 0xC0 == 0x80 { taken -= 1 }
      head += bytes.prefix(taken)
      bytes = bytes.dropFirst(taken)
    }
    tail += bytes
    if tail.count > 2 * limit { dropMiddle() }
  }

  /// The text, with a line that says how much was left out where something was.
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

/// The beginning of a text, for where a whole one would be too long.
func clipped(_ text: String, toBytes limit: Int) -> String {
  guard text.utf8.count > limit else { return text }
  var end = text.utf8.index(text.utf8.startIndex, offsetBy: limit)
  while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
  return text[..<end] + "…"
}
