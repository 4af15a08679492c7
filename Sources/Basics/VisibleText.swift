/// A text as a person may see it on a page: what no page can hold, and what would make it say something else than it
/// does, stands there as `\u{1B}`; colours and movements of a terminal are taken away.
///
/// Shown are the characters that XML 1.0 excludes, and those that turn the direction of writing, since a name can lie
/// with them.
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
  var place = 0
  while place < bytes.count {
    if isHarmless(bytes[place]) {
      shown.append(bytes[place])
      place += 1
    } else if let end = controlSequence(bytes, at: place) {
      place = end
    } else if let (scalar, length) = hidden(bytes, at: place) {
      shown += escaped(scalar).utf8
      place += length
    } else {
      shown.append(bytes[place])
      place += 1
    }
  }
  return String(decoding: shown, as: UTF8.self)
}

/// A character by its number, as `\u{1B}`.
public func escaped(_ scalar: UInt32) -> String { "\\u{\(scalar.hex(digits: 1).uppercased())}" }

/// Whether a byte needs no look: printable ASCII, TAB, LF, CR, and what does not begin a character that may be shown.
private func isHarmless(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x20...0x7F, 0x09, 0x0A, 0x0D: true
  case 0xD8, 0xE2, 0xEF: false
  default: byte >= 0x80
  }
}

/// A character that must be shown, and how many bytes it has.
private func hidden(_ bytes: Span<UInt8>, at place: Int) -> (scalar: UInt32, length: Int)? {
  func byte(_ offset: Int) -> UInt8 { place + offset < bytes.count ? bytes[place + offset] : 0 }
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

/// Where a sequence ends that speaks to a terminal: a control sequence (ECMA-48 §5.4), or the setting of a title or a
/// link; `nil` where there is none.
private func controlSequence(_ bytes: Span<UInt8>, at start: Int) -> Int? {
  guard bytes[start] == 0x1B, start + 1 < bytes.count else { return nil }
  var place = start + 2
  switch bytes[start + 1] {
  case UInt8(ascii: "["):
    while place < bytes.count, 0x20...0x3F ~= bytes[place] { place += 1 }
    return place < bytes.count && 0x40...0x7E ~= bytes[place] ? place + 1 : nil
  case UInt8(ascii: "]"):
    // Ends with BEL or with ESC \, on its line.
    while place < bytes.count, bytes[place] >= 0x20 { place += 1 }
    guard place < bytes.count else { return nil }
    if bytes[place] == 0x07 { return place + 1 }
    let isEnd = bytes[place] == 0x1B && place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "\\")
    return isEnd ? place + 2 : nil
  case UInt8(ascii: "("), UInt8(ascii: ")"):
    return place < bytes.count && 0x30...0x7E ~= bytes[place] ? place + 1 : nil
  default:
    return nil
  }
}

/// The beginning of a text, for where a whole one would be too long.
public func clipped(_ text: String, toBytes limit: Int) -> String {
  guard text.utf8.count > limit else { return text }
  var end = text.utf8.index(text.utf8.startIndex, offsetBy: limit)
  while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
  return text[..<end] + "…"
}
