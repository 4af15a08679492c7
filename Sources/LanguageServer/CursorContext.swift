import Basics
import Documents

/// The position of the cursor in a document: the path of keys and lists, and the current word.
///
/// The text is usually incomplete while it is edited, so it need not be valid. It is only read up to the cursor:
/// line by line according to indentation, and token by token within brackets.
struct CursorContext: Equatable {
  /// The path from the root to the mapping, list or value that contains the word.
  var path: [Form.PathComponent] = []
  /// The keys that precede the word in the mapping.
  var keys: [String] = []
  /// Whether the word may be a key, and whether it may be a value.
  var isKey = false
  var isValue = false
  /// Whether the word is the first on its line, so that a list item needs its dash.
  var isFirstOnLine = false
  /// The word up to the cursor, and its start.
  var word = ""
  var start = 0
}

extension CursorContext {
  /// Determines the position at an offset.
  init(in text: EditorText, at offset: Int) {
    var reader = ContextReader()
    let last = text.lineNumber(of: offset)
    for number in 0...last {
      let line = text.line(number)
      let range = line.lowerBound..<min(line.upperBound, number == last ? offset : .max)
      reader.read(text.bytes[range.lowerBound..<max(range.lowerBound, range.upperBound)])
    }
    self = reader.context
  }

  /// Returns the range of the word that contains an offset or ends there.
  static func word(in text: EditorText, at offset: Int) -> Range<Int> {
    let line = text.line(text.lineNumber(of: offset))
    var end = min(max(offset, line.lowerBound), line.upperBound)
    while end < line.upperBound, !isEnd(text.bytes, end, line.upperBound) { end += 1 }
    while end > offset, text.bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
    let context = CursorContext(in: text, at: end)
    return min(context.start, end)..<end
  }

  private static func isEnd(_ bytes: [UInt8], _ index: Int, _ end: Int) -> Bool {
    switch bytes[index] {
    case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"),
      UInt8(ascii: "\""), UInt8(ascii: "'"):
      true
    case UInt8(ascii: ":"): index + 1 >= end || bytes[index + 1] == UInt8(ascii: " ")
    case UInt8(ascii: " "): index + 1 >= end || bytes[index + 1] == UInt8(ascii: "#")
    default: false
    }
  }
}

private struct ContextReader {
  /// An open list or mapping.
  struct Frame {
    /// The column of a block; `nil` within brackets.
    var column: Int?
    var isList: Bool
    var keys: [String] = []
    /// Whether the last key has no value yet.
    var awaitsValue = false

    var step: Form.PathComponent? { isList ? .item : keys.last.map { .key($0) } }
  }

  private var frames: [Frame] = []
  /// The indentation of a block scalar after `|` or `>`, which ends at the first line that is not indented further.
  private var literal: Int?
  /// The last word and its start.
  private var word = ""
  private var start = 0
  private var isFirstOnLine = false
  /// The column of the rest of the line, in a block.
  private var column = 0
  private var isInFlow: Bool { frames.last.map { $0.column == nil } ?? false }
  private var isDone = false

  /// Reads a line, or its part before the cursor.
  mutating func read(_ line: ArraySlice<UInt8>) {
    // The last word of a line is the value of its key.
    if !word.isEmpty, !isInFlow { completeValue() }
    (word, start, isFirstOnLine, isDone) = ("", line.endIndex, true, false)
    if isInFlow { return readFlow(line) }
    let indentation = line.prefix { $0 == UInt8(ascii: " ") }.count
    var rest = line.dropFirst(indentation)
    column = indentation
    if let literal {
      if rest.isEmpty || indentation > literal {
        isDone = true
        return
      }
      self.literal = nil
    }
    if rest.isEmpty { return leave(isDash: false, isBlank: true) }
    if rest.first == UInt8(ascii: "#") {
      isDone = true
      return
    }
    leave(isDash: isDash(rest), isBlank: false)
    while isDash(rest) {
      if frames.last?.column != column || frames.last?.isList != true {
        completeValue()
        frames.append(Frame(column: column, isList: true))
      }
      frames[frames.count - 1].awaitsValue = true
      let marks = 1 + rest.dropFirst().prefix { $0 == UInt8(ascii: " ") }.count
      rest = rest.dropFirst(marks)
      column += marks
      isFirstOnLine = false
    }
    readEntry(rest)
  }

  private func isDash(_ rest: ArraySlice<UInt8>) -> Bool {
    rest.first == UInt8(ascii: "-") && (rest.count == 1 || rest.dropFirst().first == UInt8(ascii: " "))
  }

  /// Closes the blocks that do not contain a line at this column.
  private mutating func leave(isDash: Bool, isBlank: Bool) {
    while let last = frames.last, let other = last.column {
      if other < column || (other == column && (last.isList == isDash || (isDash && last.awaitsValue))) {
        break
      }
      // On a blank line, the user may be about to type a dash.
      if isBlank, other == column { break }
      frames.removeLast()
    }
  }

  /// Reads a key or a single value in a block.
  private mutating func readEntry(_ rest: ArraySlice<UInt8>) {
    guard let (key, after) = key(rest) else { return readValue(rest) }
    if frames.last?.column != column || frames.last?.isList == true {
      completeValue()
      frames.append(Frame(column: column, isList: false))
    }
    frames[frames.count - 1].keys.append(key)
    frames[frames.count - 1].awaitsValue = true
    isFirstOnLine = false
    readValue(after.drop { $0 == UInt8(ascii: " ") })
  }

  /// Returns a key that is followed by a colon, and the rest of the line.
  private func key(_ rest: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
    guard let first = rest.first, ![UInt8(ascii: "["), UInt8(ascii: "{")].contains(first) else { return nil }
    if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
      guard let end = rest.dropFirst().firstIndex(of: first) else { return nil }
      let after = rest[(end + 1)...]
      guard after.first == UInt8(ascii: ":") else { return nil }
      return (String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self), after.dropFirst())
    }
    var index = rest.startIndex
    while index < rest.endIndex {
      if rest[index] == UInt8(ascii: "#"), index > rest.startIndex, rest[index - 1] == UInt8(ascii: " ") {
        return nil
      }
      if rest[index] == UInt8(ascii: ":"), index + 1 == rest.endIndex || rest[index + 1] == UInt8(ascii: " ")
      {
        return (String(decoding: rest[rest.startIndex..<index], as: UTF8.self), rest[(index + 1)...])
      }
      index += 1
    }
    return nil
  }

  private mutating func readValue(_ all: ArraySlice<UInt8>) {
    var rest = all
    while let first = rest.first, first == UInt8(ascii: "&") || first == UInt8(ascii: "!") {
      rest = rest.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
    }
    start = rest.startIndex
    guard let first = rest.first else { return }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return readFlow(rest)
    case UInt8(ascii: "|"), UInt8(ascii: ">"):
      literal = frames.last?.column ?? 0
      isDone = true
    case UInt8(ascii: "#"): isDone = true
    default:
      if let comment = rest.firstRange(of: Array(" #".utf8)) {
        rest = rest[..<comment.lowerBound]
        isDone = true
      }
      take(rest)
    }
  }

  /// Records the word; the end of a line completes the value of its key.
  private mutating func take(_ bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    if bytes.first == UInt8(ascii: "\"") || bytes.first == UInt8(ascii: "'") { bytes = bytes.dropFirst() }
    word = String(decoding: bytes, as: UTF8.self)
    start = bytes.startIndex
  }

  private mutating func completeValue() {
    if !frames.isEmpty { frames[frames.count - 1].awaitsValue = false }
  }

  private mutating func readFlow(_ line: ArraySlice<UInt8>) {
    isFirstOnLine = false
    var index = line.startIndex
    var token: Int?
    func text(_ end: Int) -> String {
      guard let token else { return "" }
      let bytes = line[token..<end].drop { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
      let count = bytes.reversed().prefix {
        [UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "'")].contains($0)
      }
      .count
      return String(decoding: bytes.dropLast(count), as: UTF8.self)
    }
    while index < line.endIndex {
      let byte = line[index]
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        completeValue()
        frames.append(Frame(column: nil, isList: byte == UInt8(ascii: "[")))
        token = nil
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard isInFlow else { break }
        frames.removeLast()
        token = nil
        if !isInFlow {
          completeValue()
          isDone = true
          return
        }
      case UInt8(ascii: ","):
        completeValue()
        token = nil
      case UInt8(ascii: ":") where index + 1 == line.endIndex || line[index + 1] == UInt8(ascii: " "):
        if frames.last?.isList == false {
          frames[frames.count - 1].keys.append(text(index))
          frames[frames.count - 1].awaitsValue = true
        }
        token = nil
      case UInt8(ascii: "#") where index > line.startIndex && line[index - 1] == UInt8(ascii: " "):
        isDone = true
        return
      case UInt8(ascii: " "): break
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        if token == nil { token = index }
        // Skip quoted text; an open quote is still being typed.
        index = line[(index + 1)...].firstIndex(of: byte) ?? line.endIndex - 1
      default: if token == nil { token = index }
      }
      index += 1
    }
    if let token { take(line[token...]) } else { (word, start) = ("", line.endIndex) }
  }

  /// The position at the end of the last line read.
  var context: CursorContext {
    var context = CursorContext(word: word, start: start)
    context.isFirstOnLine = isFirstOnLine
    if isDone { return context }
    guard let last = frames.last else {
      context.isKey = true
      return context
    }
    let above = frames.dropLast().compactMap(\.step)
    if last.column == nil {
      context.path = above + (last.isList ? [.item] : last.awaitsValue ? [last.step].compactMap { $0 } : [])
      context.isKey = !last.isList && !last.awaitsValue
      context.isValue = !context.isKey
      context.keys = context.isKey ? last.keys : []
      return context
    }
    if !last.isList, isFirstOnLine, last.column == column {
      // Another key of the mapping.
      (context.path, context.keys, context.isKey) = (above, last.keys, true)
      return context
    }
    guard last.awaitsValue || last.isList else { return context }
    context.path = above + [last.step].compactMap { $0 }
    context.isValue = true
    // A value follows a key on the same line; on a line below it, or after a dash, a mapping may begin.
    context.isKey = last.isList || isFirstOnLine
    if last.isList, isFirstOnLine {
      context.path = Array(above)
      context.isKey = false
    }
    return context
  }
}
