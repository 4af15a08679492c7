/// A JSON value (RFC 8259) that preserves its text: members stay in order, and numbers stay exact.
public enum JSON: Hashable, Sendable {
  case null
  case flag(Bool)
  /// The number as it is written.
  case number(String)
  case text(String)
  case list([JSON])
  case mapping([Member])

  /// A named value of a mapping.
  public struct Member: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var value: JSON

    /// Makes a member.
    public init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// Makes a whole number.
  public static func integer(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

  /// Makes a mapping without the members whose value is `nil`.
  public static func omittingNil(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .mapping(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// Makes a number with decimals; a value that is not finite becomes `null`, because JSON cannot represent it.
  public static func decimal(_ value: Double) -> JSON {
    guard value.isFinite else { return .null }
    let text = value.description
    return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(arrayLiteral elements: JSON...) { self = .list(elements) }
  /// Makes a mapping whose members keep the order in which they are written.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .mapping(elements.map { Member($0.0, $0.1) })
  }
  public init(booleanLiteral value: Bool) { self = .flag(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
}

extension JSON {
  /// Returns the value of a member, or `nil` if there is no such member or the value is not a mapping.
  public subscript(name: String) -> JSON? {
    guard case .mapping(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The text, if the value is a text.
  public var string: String? { if case .text(let text) = self { text } else { nil } }

  /// The number, if the value is a whole number that fits.
  public var int: Int? { if case .number(let text) = self { Int(text) } else { nil } }

  /// The number, if the value is a number.
  public var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }

  /// The number as seconds, up to about three centuries.
  public var seconds: Interval? {
    guard let double, abs(double) < 9e9 else { return nil }
    return Interval(nanoseconds: Int64((double * 1e9).rounded()))
  }

  /// The flag, if the value is one.
  public var bool: Bool? { if case .flag(let flag) = self { flag } else { nil } }

  /// The values of a list, if the value is one.
  public var elements: [JSON]? { if case .list(let values) = self { values } else { nil } }

  /// The texts of a list, if it contains nothing else.
  public var strings: [String]? {
    guard let elements else { return nil }
    let texts = elements.compactMap(\.string)
    return texts.count == elements.count ? texts : nil
  }

  /// The whole numbers of a list, if it contains nothing else.
  public var ints: [Int]? {
    guard let elements else { return nil }
    let numbers = elements.compactMap(\.int)
    return numbers.count == elements.count ? numbers : nil
  }

  /// The value for a person: a single text as it is, everything else on one line with spaces after `,` and `:`.
  public var words: String {
    switch self {
    case .text(let text): text
    case .null, .flag, .number: line
    case .list(let values): "[\(values.map(\.inner).joined(separator: ", "))]"
    case .mapping(let members):
      "{\(members.map { "\"\($0.name)\": \($0.value.inner)" }.joined(separator: ", "))}"
    }
  }

  private var inner: String { if case .text(let text) = self { "\"\(text)\"" } else { words } }

  /// The text on one line, without spaces.
  public var line: String {
    var text = ""
    write(into: &text)
    return text
  }

  /// Appends the text on one line.
  public func write(into text: inout String) {
    switch self {
    case .null: text += "null"
    case .flag(let value): text += value ? "true" : "false"
    case .number(let value): text += value
    case .text(let value): JSON.write(quoted: value, into: &text)
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(into: &text)
      }
      text += "]"
    case .mapping(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        JSON.write(quoted: member.name, into: &text)
        text += ":"
        member.value.write(into: &text)
      }
      text += "}"
    }
  }

  /// The text on several lines, indented by two spaces, for files that people read.
  public var indented: String {
    var text = ""
    writeIndented(into: &text, indentation: "")
    return text + "\n"
  }

  private func writeIndented(into text: inout String, indentation: String) {
    let inner = indentation + "  "
    switch self {
    case .list(let values) where !values.isEmpty:
      let isShort = values.allSatisfy(\.isScalar) && line.utf8.count + indentation.utf8.count <= 80
      if isShort {
        text += "[" + values.map(\.line).joined(separator: ", ") + "]"
        return
      }
      text += "[\n"
      for (index, value) in values.enumerated() {
        text += index > 0 ? ",\n" + inner : inner
        value.writeIndented(into: &text, indentation: inner)
      }
      text += "\n" + indentation + "]"
    case .mapping(let members) where !members.isEmpty:
      text += "{\n"
      for (index, member) in members.enumerated() {
        text += index > 0 ? ",\n" + inner : inner
        JSON.write(quoted: member.name, into: &text)
        text += ": "
        member.value.writeIndented(into: &text, indentation: inner)
      }
      text += "\n" + indentation + "}"
    default:
      write(into: &text)
    }
  }

  private var isScalar: Bool {
    switch self {
    case .null, .flag, .number, .text: true
    case .list, .mapping: false
    }
  }

  /// Appends a string with its quotes; it escapes DEL, and otherwise only what RFC 8259 requires.
  public static func write(quoted value: String, into text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}":
        text += "\\u" + scalar.value.hex(digits: 4)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
