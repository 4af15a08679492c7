/// A text and its name in messages, usually a path.
public struct Source: Hashable, Sendable {
  /// The name at the start of messages.
  public var name: String

  /// The whole text, as it is in the file.
  public var bytes: [UInt8]

  /// Makes a source from a text and its name.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}

/// The parts of a line before and after a position, for a person.
struct Excerpt {
  /// The line before the position; starts with `…` if it was cut.
  var before: String
  /// The line from the position on; ends with `…` if it was cut.
  var after: String

  /// The maximum number of bytes on either side.
  private static let maximumContext = 100

  /// Takes the line from a text, or returns `nil` if the line is blank or beyond the text.
  init?(_ source: Source, around offset: Int) {
    let bytes = source.bytes
    guard offset <= bytes.count else { return nil }
    var start = offset
    while start > 0, offset - start < Self.maximumContext, !isBreak(bytes[start - 1]) { start -= 1 }
    var end = offset
    while end < bytes.count, end - offset < Self.maximumContext, !isBreak(bytes[end]) { end += 1 }
    let isCutBefore = start > 0 && !isBreak(bytes[start - 1])
    let isCutAfter = end < bytes.count && !isBreak(bytes[end])
    // Do not cut inside a character.
    while isCutBefore, start < offset, bytes[start] & 0xC0 == 0x80 { start += 1 }
    while isCutAfter, end > offset, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    before = (isCutBefore ? "…" : "") + visible(bytes[start..<offset], atStart: start == 0)
    after = visible(bytes[offset..<end], atStart: offset == 0) + (isCutAfter ? "…" : "")
    guard (before + after).contains(where: { $0 != " " && $0 != "\t" }) else { return nil }
  }
}

private func isBreak(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

/// Returns text that is safe on a terminal: invalid UTF-8 and control characters become U+FFFD.
private func visible(_ bytes: ArraySlice<UInt8>, atStart: Bool) -> String {
  var text = String.UnicodeScalarView()
  for (index, scalar) in String(decoding: bytes, as: UTF8.self).unicodeScalars.enumerated() {
    if atStart, index == 0, scalar == "\u{FEFF}" { continue }
    let isControl = scalar.properties.generalCategory == .control && scalar != "\t"
    text.append(isControl ? "\u{FFFD}" : scalar)
  }
  return String(text)
}
