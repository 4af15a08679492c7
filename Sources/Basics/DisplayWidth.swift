/// Returns the number of terminal columns of a text: two for East Asian wide characters and emoji, none for combining
/// marks.
///
/// The widths follow Unicode Standard Annex 11; a grapheme is as wide as its widest scalar.
public func displayWidth(_ text: String) -> Int {
  text.reduce(0) { $0 + width($1) }
}

/// Returns spaces as wide as a text; a tab stays a tab, so that the rest of a line is aligned on any terminal.
public func blank(_ text: String) -> String {
  text.reduce(into: "") { result, character in
    result += character == "\t" ? "\t" : spaces(width(character))
  }
}

private func width(_ character: Character) -> Int {
  character.unicodeScalars.reduce(0) { max($0, width($1)) }
}

private func width(_ scalar: Unicode.Scalar) -> Int {
  if scalar.isASCII { return 1 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format: return 0
  default: return isWide(scalar.value) || scalar.properties.isEmojiPresentation ? 2 : 1
  }
}

private func isWide(_ value: UInt32) -> Bool {
  switch value {
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x2FFFD, 0x30000...0x3FFFD:
    true
  default:
    false
  }
}
