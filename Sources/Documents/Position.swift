/// A position in the text of a document.
public struct Position: Hashable, Sendable {
  /// The line, from 1; lines end with LF, CR LF or CR.
  public var line: Int

  /// The column, from 1, counted in Unicode scalars as editors count them.
  public var column: Int

  /// The offset in bytes from the start of the file.
  public var offset: Int

  /// The start of a file.
  public static var start: Position { Position(line: 1, column: 1, offset: 0) }
}

extension Position: Comparable {
  /// Returns whether the first position comes before the second in the same text.
  public static func < (left: Position, right: Position) -> Bool { left.offset < right.offset }
}

extension Position: CustomStringConvertible {
  /// The line and the column, as compilers write them: `9:7`.
  public var description: String { "\(line):\(column)" }
}

/// Converts libyaml's marks, which count characters, into positions with offsets.
///
/// Marks are almost in order, so each conversion starts from the position of the previous one.
struct PositionFinder {
  private let bytes: [UInt8]
  private var index = 0
  private var current: Position

  /// Makes a finder that starts at the first byte that libyaml receives.
  init(_ bytes: [UInt8], from offset: Int) {
    self.bytes = bytes
    current = Position(line: 1, column: 1, offset: offset)
  }

  /// Returns the position of the character with an index, or the end of the text if the index is past it.
  mutating func position(ofCharacter target: Int) -> Position {
    while index < target, current.offset < bytes.count { stepForward() }
    while index > target { stepBack() }
    return current
  }

  private mutating func stepForward() {
    let breaksLine = isLineBreak(at: current.offset)
    current.offset += 1
    while current.offset < bytes.count, bytes[current.offset] & 0xC0 == 0x80 { current.offset += 1 }
    index += 1
    if breaksLine {
      current.line += 1
      current.column = 1
    } else {
      current.column += 1
    }
  }

  private mutating func stepBack() {
    current.offset -= 1
    while bytes[current.offset] & 0xC0 == 0x80 { current.offset -= 1 }
    index -= 1
    if isLineBreak(at: current.offset) {
      current.line -= 1
      current.column = 1 + charactersSinceLineBreak(before: current.offset)
    } else {
      current.column -= 1
    }
  }

  /// Returns whether a line ends with this byte. CR LF ends one line, at its LF.
  private func isLineBreak(at offset: Int) -> Bool {
    switch bytes[offset] {
    case UInt8(ascii: "\n"): true
    case UInt8(ascii: "\r"): offset + 1 >= bytes.count || bytes[offset + 1] != UInt8(ascii: "\n")
    default: false
    }
  }

  private func charactersSinceLineBreak(before offset: Int) -> Int {
    var count = 0
    var offset = offset - 1
    while offset >= 0, !isLineBreak(at: offset) {
      if bytes[offset] & 0xC0 != 0x80 { count += 1 }
      offset -= 1
    }
    return count
  }
}
