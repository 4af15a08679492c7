import Documents

/// A token of the DOT language and its position.
struct DOTToken {
  /// How a text is written.
  enum Form {
    /// An unquoted name or number.
    case bare
    case quoted
    /// In angle brackets.
    case html
  }

  enum Kind: Equatable {
    /// A name or a text.
    case id(String, Form)
    /// `->` or `--`.
    case arrow(isDirected: Bool)
    /// One of `{ } [ ] ; , = : +`.
    case mark(UInt8)
    case end
  }

  var kind: Kind
  var start: Position
  var end: Position
}

/// Splits the bytes of a DOT file into tokens.
///
/// The lexer reads the language of GraphViz:
/// - comments: `//`, `/* */`, and `#` as the first character of a line that is not blank;
/// - quoted text, in which only `\"` and a backslash before a line break are special;
/// - HTML text in angle brackets;
/// - names of letters, digits, underscores and bytes beyond ASCII;
/// - numbers.
struct DOTLexer {
  private let bytes: [UInt8]
  private var position = Position.start

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position.offset = 3 }
  }

  /// Returns the next token.
  mutating func next() throws(DOTProblem) -> DOTToken {
    try skipBlanks()
    let start = position
    guard let byte = peek() else { return DOTToken(kind: .end, start: start, end: start) }
    let kind: DOTToken.Kind
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ";"),
      UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "+"):
      step()
      kind = .mark(byte)
    case UInt8(ascii: "\""):
      kind = .id(try quotedText(), .quoted)
    case UInt8(ascii: "<"):
      kind = .id(try htmlText(), .html)
    case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">") || peek(1) == UInt8(ascii: "-"):
      let isDirected = peek(1) == UInt8(ascii: ">")
      step()
      step()
      kind = .arrow(isDirected: isDirected)
    default:
      guard isNameByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else {
        throw DOTProblem(start, "this character cannot stand here")
      }
      kind = .id(try bareText(), .bare)
    }
    return DOTToken(kind: kind, start: start, end: position)
  }

  private func peek(_ ahead: Int = 0) -> UInt8? {
    position.offset + ahead < bytes.count ? bytes[position.offset + ahead] : nil
  }

  private mutating func step() {
    let byte = bytes[position.offset]
    position.offset += 1
    if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && peek() != UInt8(ascii: "\n")) {
      position.line += 1
      position.column = 1
    } else if peek().map({ $0 & 0xC0 != 0x80 }) ?? true, byte != UInt8(ascii: "\r") {
      position.column += 1
    }
  }

  private mutating func skipBlanks() throws(DOTProblem) {
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        step()
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
        skipLine()
      case UInt8(ascii: "#") where isFirstOfLine:
        skipLine()
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
        try skipComment()
      default:
        return
      }
    }
  }

  /// Whether only blanks precede the position in its line.
  private var isFirstOfLine: Bool {
    let before = bytes[..<position.offset].last { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return position.column == 1 || before == UInt8(ascii: "\n") || before == UInt8(ascii: "\r")
  }

  private mutating func skipLine() {
    while let byte = peek(), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { step() }
  }

  private mutating func skipComment() throws(DOTProblem) {
    let start = position
    step()
    step()
    while peek() != UInt8(ascii: "*") || peek(1) != UInt8(ascii: "/") {
      guard peek() != nil else { throw DOTProblem(start, "this comment does not end") }
      step()
    }
    step()
    step()
  }

  private mutating func quotedText() throws(DOTProblem) -> String {
    let start = position
    var text: [UInt8] = []
    step()
    while let byte = peek(), byte != UInt8(ascii: "\"") {
      step()
      guard byte == UInt8(ascii: "\\"), let next = peek() else {
        text.append(byte)
        continue
      }
      switch next {
      case UInt8(ascii: "\""):
        text.append(next)
        step()
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        step()
        if next == UInt8(ascii: "\r"), peek() == UInt8(ascii: "\n") { step() }
      default:
        text += [byte, next]
        step()
      }
    }
    guard peek() != nil else { throw DOTProblem(start, "this text does not end") }
    step()
    return try string(text[...], from: start)
  }

  private mutating func htmlText() throws(DOTProblem) -> String {
    let start = position
    var depth = 0
    repeat {
      guard let byte = peek() else { throw DOTProblem(start, "this text in angle brackets does not end") }
      if byte == UInt8(ascii: "<") { depth += 1 }
      if byte == UInt8(ascii: ">") { depth -= 1 }
      step()
    } while depth > 0
    let inner = bytes[(start.offset + 1)..<(position.offset - 1)]
    return plainText(ofHTML: try string(inner, from: start))
  }

  private mutating func bareText() throws(DOTProblem) -> String {
    let start = position
    if let byte = peek(), isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") {
      // A number: GraphViz allows `-` only before one.
      if byte == UInt8(ascii: "-") { step() }
      while let byte = peek(), isDigit(byte) || byte == UInt8(ascii: ".") { step() }
      // Tools write names that begin with a digit, such as `0a`, without quotes; the text can mean nothing else.
      if byte != UInt8(ascii: "-") { while let byte = peek(), isNameByte(byte) { step() } }
      if position.offset == start.offset + 1, !isDigit(byte) {
        throw DOTProblem(start, "a number was expected")
      }
    } else {
      while let byte = peek(), isNameByte(byte) { step() }
    }
    return try string(bytes[start.offset..<position.offset], from: start)
  }

  private func string(_ slice: ArraySlice<UInt8>, from start: Position) throws(DOTProblem) -> String {
    guard let text = String(validating: slice, as: UTF8.self) else {
      throw DOTProblem(start, "this text is no UTF-8", hint: "save the file as UTF-8")
    }
    return text
  }
}

/// A problem in a DOT file. Reading stops at the first one.
struct DOTProblem: Error {
  var problem: Problem

  init(_ start: Position, to end: Position? = nil, _ message: String, hint: Advice? = nil) {
    problem = Problem(.syntax, at: start, to: end, message, hint: hint)
  }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func isNameByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
    0x80...0xFF:
    true
  default: isDigit(byte)
  }
}

/// Returns the text of an HTML label, without tags, with its entities decoded and each run of blanks as one space. A
/// line break or a table row begins a new line.
///
/// The text is read by Unicode scalars, so that a bracket counts even before a combining accent.
private func plainText(ofHTML html: String) -> String {
  var text = ""
  var rest = html.unicodeScalars[...]
  while let scalar = rest.popFirst() {
    switch scalar {
    case "<":
      let end = rest.firstIndex(of: ">") ?? rest.endIndex
      text += separator(ofTag: Substring(rest[..<end]))
      rest = rest[end...].dropFirst()
    case "&":
      // The longest entities have eight characters, such as `#x10FFFF`.
      if let end = rest.prefix(9).firstIndex(of: ";"),
        let meaning = meaning(ofEntity: Substring(rest[..<end]))
      {
        text.unicodeScalars.append(meaning)
        rest = rest[end...].dropFirst()
      } else {
        text.unicodeScalars.append(scalar)
      }
    default:
      text.unicodeScalars.append(scalar.properties.isWhitespace ? " " : scalar)
    }
  }
  let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
  return lines.filter { !$0.isEmpty }.joined(separator: "\n")
}

/// Returns what stands in place of a tag, so that the words around it do not run together.
private func separator(ofTag tag: Substring) -> String {
  let name = tag.drop { $0 == "/" }.prefix { $0 != "/" && !$0.isWhitespace }.lowercased()
  return switch name {
  case "b", "font", "i", "o", "s", "sub", "sup", "u": ""
  case "br", "hr", "table", "tr": "\n"
  default: " "
  }
}

/// Returns the character of an entity without its `&` and `;`, such as `lt` or `#47`.
private func meaning(ofEntity name: Substring) -> Unicode.Scalar? {
  switch name {
  case "lt": return "<"
  case "gt": return ">"
  case "amp": return "&"
  case "quot": return "\""
  case "apos": return "'"
  case "nbsp": return " "
  default:
    let digits = name.dropFirst(name.hasPrefix("#x") || name.hasPrefix("#X") ? 2 : 1)
    let code = UInt32(digits, radix: name.dropFirst().first?.lowercased() == "x" ? 16 : 10)
    guard name.hasPrefix("#"), let scalar = code.flatMap(Unicode.Scalar.init) else { return nil }
    // A line break that is no tag, or a control character, is drawn as a blank.
    return scalar.properties.isWhitespace || scalar.value < 0x20 ? " " : scalar
  }
}
