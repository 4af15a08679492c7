import Basics

/// A node that is being read into a value, with the means to report problems with it.
///
/// Every reading method returns `nil` after it has reported a problem. A reader therefore continues, and one error
/// contains all problems of a document:
///
/// ```swift
/// let bench = try Document.read(bytes, name: path) { cursor in
///   guard let fields = cursor.fields(["name", "settle", "locks"]) else { return nil }
///   let name = fields.required("name")?.text()
///   let settle = fields.optional("settle")?.value("a duration such as 3 s") { Interval(text: $0) }
///   let locks = fields.required("locks")?.list()?.compactMap { $0.text() }
///   guard let name, let locks else { return nil }
///   return Bench(name: name, settle: settle ?? .seconds(1), locks: locks)
/// }
/// ```
public struct Cursor {
  /// The node.
  public let node: Node

  private let findings: Findings

  init(_ node: Node, _ findings: Findings) {
    self.node = node
    self.findings = findings
  }

  /// The start of the node.
  public var position: Position { node.position }

  /// Whether the value is missing, as after `key:` without a value.
  public var isMissing: Bool { node.content == .scalar("", .plain) }

  /// Whether it is a null value of YAML: nothing, `~` or `null`, without quotes.
  public var isNull: Bool {
    guard case .scalar(let text, .plain) = node.content else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// Reports a problem with the node.
  ///
  /// - Parameter related: The problems in other files that are the reason for this one.
  public func report(
    _ code: Problem.Code, _ message: @autoclosure () -> String,
    hint: @autoclosure () -> Advice? = nil, related: [Diagnostic] = []
  ) {
    findings.add(problem(code, message(), hint(), related))
  }

  /// Reports a wrong value.
  public func report(_ message: @autoclosure () -> String, hint: @autoclosure () -> Advice? = nil) {
    report(.wrongValue, message(), hint: hint())
  }

  /// Reports a problem with a part of the text of a scalar, given in bytes of UTF-8.
  ///
  /// If the scalar is not written as its text is, because of escapes or several lines, the problem is at its start.
  public func report(
    _ code: Problem.Code, _ message: String, hint: Advice?, part: Range<Int>
  ) {
    var problem = problem(code, message, hint, [])
    let bytes = Array((node.text ?? "").utf8)
    let marks = node.end.offset - node.position.offset - bytes.count
    if marks == 0 || marks == 2, node.position.line == node.end.line, part.upperBound <= bytes.count {
      func position(_ offset: Int) -> Position {
        var position = node.position
        position.offset += marks / 2 + offset
        position.column += marks / 2 + String(decoding: bytes[..<offset], as: UTF8.self).unicodeScalars.count
        return position
      }
      (problem.position, problem.end) = (position(part.lowerBound), position(part.upperBound))
      if case .name(let name, let wrong)? = hint {
        problem.replacement = Array(wrong.utf8) == Array(bytes[part]) ? name : nil
      }
    }
    findings.add(problem)
  }

  private func problem(
    _ code: Problem.Code, _ message: String, _ hint: Advice?, _ related: [Diagnostic]
  ) -> Problem {
    var problem = Problem(code, at: node.position, to: node.end, message, hint: hint)
    problem.replacement = node.text.flatMap { hint?.correcting($0) }.map(Node.scalarText)
    problem.related = related
    return problem
  }

  /// Returns the only scalar below with a text, or the node itself if there is none or several. A key counts only if no
  /// value has the text.
  public func narrowed(to text: String) -> Cursor {
    for hasKeys in [false, true] {
      var found: [Node] = []
      var rest = [node]
      while let next = rest.popLast(), found.count < 2 {
        if next.text == text { found.append(next) }
        rest += next.members ?? next.entries?.flatMap { hasKeys ? [$0.key, $0.value] : [$0.value] } ?? []
      }
      if !found.isEmpty { return found.count == 1 ? at(found[0]) : self }
    }
    return self
  }

  /// Reports that something else was expected: `expected a list, found nothing`.
  public func reportExpected(
    _ expected: String, code: Problem.Code = .wrongValue, hint: @autoclosure () -> Advice? = nil
  ) {
    report(code, "expected \(expected), found \(node.kind)", hint: hint())
  }

  private func at(_ node: Node) -> Cursor { Cursor(node, findings) }
}

// MARK: - Scalars

extension Cursor {
  /// Returns the text of a scalar, quoted or not; a missing value is not text.
  public func text(_ expected: String = "text", code: Problem.Code = .wrongValue) -> String? {
    guard let text = node.text, !isMissing else {
      reportExpected(expected, code: code)
      return nil
    }
    return text
  }

  /// Returns a value that the text of a scalar represents, such as a duration.
  ///
  /// - Parameters:
  ///   - expected: What a message describes as expected: `a duration such as 3 s`.
  ///   - parse: Returns the value, or `nil` if the text does not represent one.
  public func value<Value>(_ expected: String, _ parse: (String) -> Value?) -> Value? {
    guard let text = text(expected) else { return nil }
    guard let value = parse(text) else {
      reportExpected(expected)
      return nil
    }
    return value
  }

  /// Returns an integer, in decimal or as `0x…`, written without quotes.
  public func integer(in range: ClosedRange<Int>? = nil) -> Int? {
    integer(as: Int.self, in: range)
  }

  /// Returns an integer of a type, in decimal or as `0x…`, written without quotes.
  public func integer<Value: FixedWidthInteger>(
    as type: Value.Type, in range: ClosedRange<Value>? = nil
  ) -> Value? {
    let bounds = range ?? type.min...type.max
    let limits = range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
    return plainValue("a whole number" + limits) { text in
      wholeNumber(text, as: type).flatMap { bounds.contains($0) ? $0 : nil }
    }
  }

  /// Returns a number such as `0.5`, `3` or `1e-3`, written without quotes.
  public func number(in range: ClosedRange<Double>? = nil) -> Double? {
    let limits = range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
    return plainValue("a number" + limits) { text in
      guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text),
        value.isFinite, range?.contains(value) ?? true
      else { return nil }
      return value
    }
  }

  /// Returns a flag, `true` or `false`, written without quotes.
  public func flag() -> Bool? {
    let intended: String? =
      switch node.text?.lowercased() {
      case "true", "yes", "on", "y": "true"
      case "false", "no", "off", "n": "false"
      default: nil
      }
    let hint = intended.map { Advice.name($0, insteadOf: node.text ?? "") }
    return plainValue("true or false", hint: hint) { $0 == "true" ? true : $0 == "false" ? false : nil }
  }

  /// Returns one of several names.
  ///
  /// - Parameters:
  ///   - kind: What the names denote: `status` results in `unknown status`.
  ///   - names: The valid names.
  public func name(_ kind: String, of names: [String]) -> String? {
    guard let text = text("a \(kind)") else { return nil }
    guard names.contains(text) else {
      reportUnknown(kind, text, of: names)
      return nil
    }
    return text
  }

  /// Returns one of the cases of an enumeration, by its raw value.
  public func choice<Value: RawRepresentable & CaseIterable>(
    _ kind: String, as type: Value.Type = Value.self
  ) -> Value?
  where Value.RawValue == String {
    name(kind, of: type.allCases.map(\.rawValue)).flatMap { type.init(rawValue: $0) }
  }

  /// Returns a value that is not text to the reader, so that quotes around it are a mistake.
  private func plainValue<Value>(
    _ expected: String, hint: Advice? = nil, _ parse: (String) -> Value?
  ) -> Value? {
    if case .scalar(let text, let style) = node.content, !isMissing {
      if style == .plain, let value = parse(text) { return value }
      let isQuotedValue = style == .quoted && parse(text) != nil
      reportExpected(expected, hint: isQuotedValue ? "write it without quotes" : hint)
    } else {
      reportExpected(expected)
    }
    return nil
  }

  fileprivate func reportUnknown(_ kind: String, _ text: String, of names: [String]) {
    report(
      Problem.Code(unknown: kind), "unknown \(kind) \(quoted(text))", hint: .nearest(to: text, of: names))
  }
}

/// Returns an integer in a form that all readers of YAML interpret alike; for example, without leading zeros.
private func wholeNumber<Value: FixedWidthInteger>(_ text: String, as type: Value.Type) -> Value? {
  let digits = text.drop { $0 == "-" || $0 == "+" }
  guard text.count - digits.count <= 1 else { return nil }
  if digits.hasPrefix("0x") {
    let sign = text.first == "-" ? "-" : ""
    let rest = digits.dropFirst(2)
    return rest.first.map(\.isHexDigit) == true ? Value(sign + rest, radix: 16) : nil
  }
  return digits.first == "0" && digits.count > 1 ? nil : Value(text)
}

// MARK: - Lists and mappings

extension Cursor {
  /// Returns the members of a list.
  public func list() -> [Cursor]? {
    guard let members = node.members else {
      reportExpected("a list")
      return nil
    }
    return members.map(at)
  }

  /// Returns the members of a list, or a single value as a list of one.
  public func listOrOne() -> [Cursor] {
    node.members?.map(at) ?? [self]
  }

  /// Returns the entries of a mapping with arbitrary keys, such as names of states.
  public func entries() -> [(key: Cursor, value: Cursor)]? {
    guard let entries = node.entries else {
      reportExpected("a mapping")
      return nil
    }
    return entries.map { (at($0.key), at($0.value)) }
  }

  /// Returns the entries of a mapping with known keys. It reports every other key, with the nearest known one.
  public func fields(_ keys: [String]) -> Fields? {
    guard let entries = entries() else { return nil }
    for (key, _) in entries {
      let text = key.node.text ?? ""
      if !keys.contains(text) { key.reportUnknown("key", text, of: keys) }
    }
    return Fields(self, entries)
  }

  /// Returns the entries of a mapping with the keys of a table; see ``fields(_:)-([String])``.
  public func fields(_ table: [Form.Field]) -> Fields? { fields(table.map(\.name)) }

  /// Returns a name with an optional value: `closeTo`, or a mapping of one key such as `fault: { drop: reply }`.
  ///
  /// - Parameters:
  ///   - kind: What the names denote: `step` results in `unknown step`.
  ///   - names: The valid names.
  /// - Returns: The name, its position, and the value after it.
  public func variant(_ kind: String, of names: [String]) -> (name: String, key: Cursor, value: Cursor?)? {
    guard let entries = node.entries else {
      return name(kind, of: names).map { ($0, self, nil) }
    }
    guard let first = entries.first else {
      reportExpected("a \(kind)")
      return nil
    }
    guard entries.count == 1 else {
      at(entries[1].key).report(
        .conflict, "a \(kind) has only one key",
        hint: "is the line indented too little, or `- ` missing?")
      return nil
    }
    return at(first.key).name(kind, of: names).map { ($0, at(first.key), at(first.value)) }
  }
}

/// The entries of a mapping with known keys.
public struct Fields {
  let mapping: Cursor
  private let entries: [(key: Cursor, value: Cursor)]

  init(_ mapping: Cursor, _ entries: [(key: Cursor, value: Cursor)]) {
    self.mapping = mapping
    self.entries = entries
  }

  /// Returns the value of a required key.
  public func required(_ key: String) -> Cursor? {
    guard let value = optional(key) else {
      mapping.report(.missingKey, "missing key `\(key)`")
      return nil
    }
    return value
  }

  /// Returns the value of a key, or `nil` if the key is missing.
  public func optional(_ key: String) -> Cursor? {
    entries.first { $0.key.node.text == key }?.value
  }

  /// Returns the key itself as it occurs in the document, or `nil` if it is missing.
  public func key(_ key: String) -> Cursor? {
    entries.first { $0.key.node.text == key }?.key
  }
}

/// Reads the optional keys of a mapping, and records whether all of them were correct.
public struct OptionalFields {
  private let fields: Fields
  /// Whether all keys that were read so far and are present were correct.
  public private(set) var isValid = true

  /// Makes a reader of optional keys.
  public init(_ fields: Fields) { self.fields = fields }

  /// Returns the value of a key, or `nil` if the key is missing or its value is wrong.
  public mutating func read<Value>(_ key: String, _ value: (Cursor) -> Value?) -> Value? {
    guard let cursor = fields.optional(key) else { return nil }
    let value = value(cursor)
    if value == nil { isValid = false }
    return value
  }
}

extension [Cursor] {
  /// Returns the values of all cursors, or `nil` if one is wrong. It reads all of them, to report all problems.
  public func all<Value>(_ read: (Cursor) -> Value?) -> [Value]? {
    let values = compactMap(read)
    return values.count == count ? values : nil
  }
}

extension Cursor {
  /// Returns a name that is valid on a command line and in a file name.
  ///
  /// - Parameter kind: What the name denotes, with its article.
  package func plainName(_ kind: String) -> String? {
    value("\(kind) of letters, digits and _.-") { text in
      let letters = text.utf8.allSatisfy { $0.isLetterOrDigit || "_.-".utf8.contains($0) }
      return letters && (1...64).contains(text.utf8.count) && !"_.-".contains(text.first ?? "-") ? text : nil
    }
  }
}
