import Basics

/// Returns a problem at the first byte that is not valid in a YAML file, or `nil` if the whole text is valid.
///
/// YAML allows TAB, LF, CR and the printable characters of Unicode, as UTF-8.
func encodingProblem(_ bytes: [UInt8]) -> Problem? {
  if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
    return Problem(.encoding, at: .start, "the file is UTF-16", hint: "save it as UTF-8")
  }
  var position = Position(line: 1, column: 1, offset: byteOrderMarkLength(bytes))
  while position.offset < bytes.count {
    let byte = bytes[position.offset]
    var length = 1
    switch byte {
    case UInt8(ascii: "\n"):
      break
    case 0x20...0x7E, UInt8(ascii: "\t"), UInt8(ascii: "\r"):
      break
    case 0:
      return Problem(.encoding, at: position, "a NUL byte: this is no text file")
    case 0x01...0x1F, 0x7F:
      return Problem(
        .encoding, at: position, controlMessage(UInt32(byte)), hint: "write it as an escape in double quotes")
    default:
      guard let scalar = decodeScalar(bytes[position.offset...]) else {
        return Problem(
          .encoding, at: position, "the byte 0x\(hexadecimal(UInt32(byte), 2)) is no UTF-8",
          hint: "save the file as UTF-8")
      }
      if !isPrintable(scalar.value) {
        return Problem(
          .encoding, at: position, controlMessage(scalar.value),
          hint: "write it as an escape in double quotes")
      }
      length = scalar.length
    }
    let isFollowedByLF = position.offset + 1 < bytes.count && bytes[position.offset + 1] == UInt8(ascii: "\n")
    let breaksLine = byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && !isFollowedByLF)
    position.offset += length
    position.line += breaksLine ? 1 : 0
    position.column = breaksLine ? 1 : position.column + 1
  }
  return nil
}

/// Returns the length in bytes of a UTF-8 byte order mark at the start of a file, or 0 if there is none.
public func byteOrderMarkLength(_ bytes: [UInt8]) -> Int {
  bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
}

/// Returns whether a character beyond ASCII may occur in a YAML file unescaped.
func isPrintable(_ value: UInt32) -> Bool {
  switch value {
  case 0x85, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: true
  default: false
  }
}

/// Returns a value in hexadecimal, with at least `digits` digits.
func hexadecimal(_ value: UInt32, _ digits: Int) -> String {
  value.hex(digits: digits).uppercased()
}

private func controlMessage(_ value: UInt32) -> String {
  "the character U+\(hexadecimal(value, 4)) cannot stand in YAML"
}

/// Decodes a character of more than one byte; returns `nil` if the bytes are not well-formed UTF-8.
private func decodeScalar(_ bytes: ArraySlice<UInt8>) -> (value: UInt32, length: Int)? {
  let first = bytes[bytes.startIndex]
  let length: Int
  let minimum: UInt32
  switch first {
  case 0xC2...0xDF: (length, minimum) = (2, 0x80)
  case 0xE0...0xEF: (length, minimum) = (3, 0x800)
  case 0xF0...0xF4: (length, minimum) = (4, 0x10000)
  default: return nil
  }
  guard bytes.count >= length else { return nil }
  var value = UInt32(first) & (0x7F >> UInt32(length))
  for byte in bytes.dropFirst().prefix(length - 1) {
    guard byte & 0xC0 == 0x80 else { return nil }
    value = value << 6 | UInt32(byte & 0x3F)
  }
  guard value >= minimum, Unicode.Scalar(value) != nil else { return nil }
  return (value, length)
}
