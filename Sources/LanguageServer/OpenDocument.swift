import Automata
import Basics
import Documents
import Harness

/// The unit in which an editor counts columns.
enum PositionEncoding: String {
  case utf8 = "utf-8"
  case utf16 = "utf-16"
}

/// A position in the protocol, counted from zero.
struct EditorPosition: Equatable {
  var line: Int
  var character: Int

  init(line: Int, character: Int) {
    self.line = line
    self.character = character
  }

  init?(_ json: JSON?) {
    guard let line = json?["line"]?.int, let character = json?["character"]?.int, line >= 0, character >= 0
    else { return nil }
    self.init(line: line, character: character)
  }

  var json: JSON { ["line": .integer(line), "character": .integer(character)] }
}

/// A text with an index of its lines, which end in LF, CR LF or CR like those of a document.
struct EditorText: Equatable {
  private(set) var bytes: [UInt8]
  private var starts: [Int] = [0]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    starts = Self.lines(of: bytes)
  }

  private static func lines(of bytes: [UInt8]) -> [Int] {
    var starts = [0]
    let span = bytes.span
    for index in span.indices {
      switch span[index] {
      case UInt8(ascii: "\n"): starts.append(index + 1)
      case UInt8(ascii: "\r") where index + 1 >= span.count || span[index + 1] != UInt8(ascii: "\n"):
        starts.append(index + 1)
      default: break
      }
    }
    return starts
  }

  /// Returns the bytes of a line, without its line ending.
  func line(_ number: Int) -> Range<Int> {
    let start = starts[number]
    var end = number + 1 < starts.count ? starts[number + 1] : bytes.count
    while end > start, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") {
      end -= 1
    }
    return start..<end
  }

  /// Returns the line that contains an offset.
  func lineNumber(of offset: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  /// Returns the offset of a position: the end of the line if it is beyond, and the start of the character if it is
  /// within one.
  func offset(of position: EditorPosition, _ encoding: PositionEncoding) -> Int {
    guard position.line < starts.count else { return bytes.count }
    let line = line(position.line)
    var (offset, left) = (line.lowerBound, position.character)
    while offset < line.upperBound {
      let length = min(Self.length(bytes[offset]), line.upperBound - offset)
      left -= Self.units(length, encoding)
      if left < 0 { break }
      offset += length
    }
    return offset
  }

  func position(of offset: Int, _ encoding: PositionEncoding) -> EditorPosition {
    let number = lineNumber(of: min(offset, bytes.count))
    var (current, units) = (starts[number], 0)
    while current < min(offset, bytes.count) {
      let length = Self.length(bytes[current])
      units += Self.units(length, encoding)
      current += length
    }
    return EditorPosition(line: number, character: units)
  }

  /// Returns the length of a character in bytes, by its first byte.
  private static func length(_ first: UInt8) -> Int {
    switch first {
    case 0xF0...: 4
    case 0xE0...: 3
    case 0xC0...: 2
    default: 1
    }
  }

  private static func units(_ length: Int, _ encoding: PositionEncoding) -> Int {
    switch encoding {
    case .utf8: length
    case .utf16: length == 4 ? 2 : 1
    }
  }

  /// Returns the end of the character that starts at an offset.
  func next(after offset: Int) -> Int {
    offset < bytes.count ? offset + Self.length(bytes[offset]) : offset
  }

  mutating func replace(_ range: Range<Int>, with text: String) {
    bytes.replaceSubrange(range, with: text.utf8)
    starts = Self.lines(of: bytes)
  }
}

/// A document that is open in an editor, with its unsaved content.
struct OpenDocument {
  let uri: String
  /// The path in messages, which is also the base of relative paths in the document.
  let path: String
  var version: JSON?
  var text: EditorText
  /// The problems; `nil` until they are computed again.
  var problems: [Problem]?

  init(uri: String, version: JSON?, text: String) {
    self.uri = uri
    self.version = version
    path = FileURI.path(of: uri) ?? uri
    self.text = EditorText(Array(text.utf8))
  }

  /// The kind of the document; `nil` for a file that is not Lockstep's.
  var kind: DocumentKind? { DocumentKind(recognizing: text.bytes, name: path) }

  /// Whether the server supports requests about positions; for DOT and SCXML files it only reports problems.
  var isYAML: Bool { MachineNotation(ofFile: path) == .yaml }

  var source: Source { Source(name: path, bytes: text.bytes) }

  /// Applies changes in order.
  ///
  /// - Returns: whether all of them were valid.
  mutating func apply(_ changes: [JSON], _ encoding: PositionEncoding) -> Bool {
    problems = nil
    for change in changes {
      guard let new = change["text"]?.string else { return false }
      guard let range = change["range"] else {
        text = EditorText(Array(new.utf8))
        continue
      }
      guard let start = EditorPosition(range["start"]), let end = EditorPosition(range["end"]) else {
        return false
      }
      let from = text.offset(of: start, encoding)
      text.replace(from..<max(from, text.offset(of: end, encoding)), with: new)
    }
    return true
  }
}

/// The conversion between paths and the file URIs of editors.
enum FileURI {
  private static let open = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)

  static func path(of uri: String) -> String? {
    guard uri.hasPrefix("file://") else { return nil }
    let rest = Array(uri.utf8.dropFirst(7))
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    var (bytes, index) = ([UInt8](), slash)
    while index < rest.count {
      if rest[index] == UInt8(ascii: "%"), index + 2 < rest.count, let high = hexValue(rest[index + 1]),
        let low = hexValue(rest[index + 2])
      {
        bytes.append(UInt8(high) << 4 | UInt8(low))
        index += 3
      } else {
        bytes.append(rest[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func uri(of path: String) -> String {
    guard path.hasPrefix("/") else { return path }
    return path.utf8.reduce(into: "file://") { text, byte in
      text +=
        open.contains(byte) ? String(Unicode.Scalar(byte)) : "%" + UInt(byte).hex(digits: 2).uppercased()
    }
  }
}
