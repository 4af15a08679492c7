import Basics

extension Node {
  /// Returns the node as a YAML document, which reads back equal.
  ///
  /// The same node always has the same text. A list or a mapping in flow layout is written on one line if it fits; all
  /// others have one line per member. Text is quoted if its plain form would be read as something else.
  ///
  /// - Parameter comments: The lines at the top, each after `# `.
  public func yaml(comments: [String] = []) -> String {
    var emitter = Emitter()
    for comment in comments {
      emitter.text +=
        "# \(comment.unicodeScalars.map { mayStandInComment($0) ? String($0) : " " }.joined())\n"
    }
    emitter.write(self, at: 0, after: .nothing)
    return emitter.text
  }
}

extension Node {
  /// Returns a text as a YAML scalar that is valid in a block and within brackets.
  public static func scalarText(_ text: String) -> String { canStandPlain(text) ? text : doubleQuoted(text) }
}

/// Returns whether a character neither ends a comment line nor is forbidden in a file.
private func mayStandInComment(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: false
  default: scalar.isASCII || isPrintable(scalar.value)
  }
}

private struct Emitter {
  /// The text before a value on its line.
  enum Lead {
    case nothing
    case dash
    case key
  }

  /// The maximum length of a line in flow layout.
  static let width = 110

  /// The maximum length of a key without an explicit `?`; libyaml stops searching after 1024 characters.
  static let longestKey = 1000

  var text = ""
  private var column = 0

  mutating func write(_ node: Node, at indent: Int, after lead: Lead) {
    if let line = oneLine(node) {
      append((line.isEmpty || lead == .nothing ? "" : " ") + line + "\n")
      return
    }
    // A block after a dash starts on the same line; after a key it starts on the next line, indented by two columns.
    let inner = lead == .nothing ? indent : indent + 2
    append(lead == .dash ? " " : lead == .key ? "\n" : "")
    let members = node.members?.map { (nil as Node?, $0) } ?? node.entries?.map { ($0.key, $0.value) } ?? []
    for (index, (key, value)) in members.enumerated() {
      if index > 0 || lead != .dash { append(spaces(inner)) }
      writeMember(key, value, at: inner)
    }
  }

  /// Writes an entry of a mapping, or a member of a list if there is no key.
  private mutating func writeMember(_ key: Node?, _ value: Node, at indent: Int) {
    guard let key else {
      append("-")
      return write(value, at: indent, after: .dash)
    }
    let name = scalar(key)
    if name.utf8.count <= Self.longestKey {
      append(name + ":")
      write(value, at: indent, after: .key)
    } else {
      append("? \(name)\n\(spaces(indent)):")
      write(value, at: indent, after: .dash)
    }
  }

  private mutating func append(_ piece: String) {
    text += piece
    if let end = piece.lastIndex(of: "\n") {
      column = piece[piece.index(after: end)...].unicodeScalars.count
    } else {
      column += piece.unicodeScalars.count
    }
  }

  /// Returns the node on one line, if it must be or if its layout requests it and it fits; otherwise `nil`.
  private func oneLine(_ node: Node) -> String? {
    switch node.content {
    case .scalar("", .plain): return ""
    case .scalar: return scalar(node)
    case .sequence([]): return "[]"
    case .mapping([]): return "{}"
    case .sequence, .mapping:
      guard node.layout == .flow, let line = flow(node) else { return nil }
      return column + 1 + line.unicodeScalars.count <= Self.width ? line : nil
    }
  }

  /// Returns the node in brackets or braces, or `nil` if it contains something that is not valid there.
  private func flow(_ node: Node) -> String? {
    switch node.content {
    case .scalar:
      return scalar(node)
    case .sequence(let members):
      var pieces: [String] = []
      for member in members {
        guard let piece = flow(member), !piece.isEmpty else { return nil }
        pieces.append(piece)
      }
      return "[\(pieces.joined(separator: ", "))]"
    case .mapping(let entries):
      var pieces: [String] = []
      for entry in entries {
        let name = scalar(entry.key)
        guard let value = flow(entry.value), !value.isEmpty, name.utf8.count <= Self.longestKey else {
          return nil
        }
        pieces.append("\(name): \(value)")
      }
      return pieces.isEmpty ? "{}" : "{ \(pieces.joined(separator: ", ")) }"
    }
  }

  /// Returns the text of a scalar; it is empty only for a missing value.
  private func scalar(_ node: Node) -> String {
    guard case .scalar(let text, let style) = node.content else {
      preconditionFailure("a key of a mapping is a scalar")
    }
    return style == .plain && (text.isEmpty || canStandPlain(text)) ? text : doubleQuoted(text)
  }
}

/// Returns whether a text without quotes reads back unchanged, both in a block and within brackets.
func canStandPlain(_ text: String) -> Bool {
  // This works on bytes, except beyond ASCII, because it runs for each name of a machine whenever its text is
  // written.
  let bytes = text.utf8
  guard let first = bytes.first, let last = bytes.last, last != UInt8(ascii: " "), last != UInt8(ascii: ":")
  else { return false }
  if plainNeverBeginsWith.contains(first) { return false }
  if text == "-" || bytes.starts(with: "- ".utf8) || bytes.starts(with: "---".utf8)
    || bytes.starts(with: "...".utf8)
  {
    return false
  }
  var previous = UInt8(ascii: " ")
  var isASCII = true
  for byte in bytes {
    switch byte {
    case 0..<0x20, 0x7F: return false
    case UInt8(ascii: " ") where previous == UInt8(ascii: ":"): return false
    case UInt8(ascii: "#") where previous == UInt8(ascii: " "): return false
    case 0x80...: isASCII = false
    default: if plainNeverHolds.contains(byte) { return false }
    }
    previous = byte
  }
  return isASCII || text.unicodeScalars.allSatisfy { $0.isASCII || isShownPlain($0.value) }
}

/// The characters with a meaning at the beginning of a text, and those with a meaning anywhere within brackets.
private let plainNeverBeginsWith: [UInt8] = Array(" !\"#%&'*,:>?@[]`{|}=".utf8)
private let plainNeverHolds: [UInt8] = Array(",?[]{}".utf8)

/// Returns whether some reader of YAML takes the plain text for a number, a boolean, null, a date or a merge key.
func readsAsOther(_ text: String) -> Bool {
  let bytes = text.utf8
  if bytes.count <= 5 {
    switch text.lowercased() {
    case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", ".inf", "-.inf", "+.inf",
      ".nan":
      return true
    default: break
    }
  }
  // Numbers of any base, with underscores, in base 60 such as 12:30, and timestamps all consist of these characters.
  guard let first = bytes.first(where: { !"+-.".utf8.contains($0) }), "0123456789".utf8.contains(first) else {
    return false
  }
  return bytes.allSatisfy { "0123456789abcdefABCDEFxXoO+-._:TtZz ".utf8.contains($0) }
}

/// Returns whether a character beyond ASCII may occur in plain text: printable, and not a line break to any reader.
private func isShownPlain(_ value: UInt32) -> Bool {
  isPrintable(value) && value != 0x85 && value != 0x2028 && value != 0x2029
}

private func doubleQuoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case " "..."~": result.unicodeScalars.append(scalar)
    case _ where !scalar.isASCII && isShownPlain(scalar.value): result.unicodeScalars.append(scalar)
    case _ where scalar.value < 0x100: result += "\\x" + hexadecimal(scalar.value, 2)
    default: result += "\\u" + hexadecimal(scalar.value, 4)
    }
  }
  return result + "\""
}
