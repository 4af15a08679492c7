/// Returns a text in a form that is safe to show to a person.
///
/// Characters that XML 1.0 excludes, and characters that change the direction of writing, because a name can deceive
/// with them, are shown as `\u{1B}`. Terminal sequences for colours and cursor movements are removed.
public func visible(_ text: String) -> String {
  let bytes = text.utf8.span
  var isPlain = true
  for index in 0..<bytes.count where !isHarmless(bytes[index]) {
    isPlain = false
    break
  }
  if isPlain { return text }
  var shown: [UInt8] = []
  shown.reserveCapacity(bytes.count)
  var index = 0
  while index < bytes.count {
    if isHarmless(bytes[index]) {
      shown.append(bytes[index])
      index += 1
    } else if let end = controlSequence(bytes, at: index) {
      index = end
    } else if let (scalar, length) = hidden(bytes, at: index) {
      shown += escaped(scalar).utf8
      index += length
    } else {
      shown.append(bytes[index])
      index += 1
    }
  }
  return String(decoding: shown, as: UTF8.self)
}

/// Returns a character as an escape with its number, such as `\u{1B}`.
public func escaped(_ scalar: UInt32) -> String { "\\u{\(scalar.hex(digits: 1).uppercased())}" }

/// Returns whether a byte needs no check: ASCII from the space on, TAB, LF, CR, and bytes that cannot begin a
/// character to escape.
private func isHarmless(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x20...0x7F, 0x09, 0x0A, 0x0D: true
  case 0xD8, 0xE2, 0xEF: false
  default: byte >= 0x80
  }
}

/// Returns a character to escape, with its length in bytes, or `nil` if there is none.
private func hidden(_ bytes: Span<UInt8>, at index: Int) -> (scalar: UInt32, length: Int)? {
  func byte(_ offset: Int) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }
  switch (byte(0), byte(1), byte(2)) {
  case (0x00...0x1F, _, _): return (UInt32(byte(0)), 1)
  // U+061C, U+200E and U+200F, U+202A to U+202E, U+2066 to U+2069: marks and brackets of direction.
  case (0xD8, 0x9C, _): return (0x061C, 2)
  case (0xE2, 0x80, 0x8E...0x8F), (0xE2, 0x80, 0xAA...0xAE), (0xE2, 0x81, 0xA6...0xA9): break
  // U+FFFE and U+FFFF.
  case (0xEF, 0xBF, 0xBE...0xBF): break
  default: return nil
  }
  return (UInt32(byte(0) & 0x0F) << 12 | UInt32(byte(1) & 0x3F) << 6 | UInt32(byte(2) & 0x3F), 3)
}

/// Returns the end of a terminal sequence: a control sequence (ECMA-48 §5.4), or one that sets a title, a link or a
/// character set; `nil` if there is none.
private func controlSequence(_ bytes: Span<UInt8>, at start: Int) -> Int? {
  guard bytes[start] == 0x1B, start + 1 < bytes.count else { return nil }
  var index = start + 2
  switch bytes[start + 1] {
  case UInt8(ascii: "["):
    while index < bytes.count, 0x20...0x3F ~= bytes[index] { index += 1 }
    return index < bytes.count && 0x40...0x7E ~= bytes[index] ? index + 1 : nil
  case UInt8(ascii: "]"):
    // Ends with BEL or with ESC \ on the same line.
    while index < bytes.count, bytes[index] >= 0x20 { index += 1 }
    guard index < bytes.count else { return nil }
    if bytes[index] == 0x07 { return index + 1 }
    let isEnd = bytes[index] == 0x1B && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\\")
    return isEnd ? index + 2 : nil
  case UInt8(ascii: "("), UInt8(ascii: ")"):
    return index < bytes.count && 0x30...0x7E ~= bytes[index] ? index + 1 : nil
  default:
    return nil
  }
}

/// Returns the beginning of a text, followed by `…`, if the text is longer than a limit.
public func clipped(_ text: String, toBytes limit: Int) -> String {
  guard text.utf8.count > limit else { return text }
  var end = text.utf8.index(text.utf8.startIndex, offsetBy: limit)
  while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
  return text[..<end] + "…"
}
