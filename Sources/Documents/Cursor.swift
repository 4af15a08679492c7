import Basics

/// A node that is being read into a value, and where to report what is wrong with it.
///
/// Every reading method gives `nil` after it reported a problem, so a reader goes on with the rest and all problems
/// of a document come out together:
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

  /// Where the node starts.
  public var position: Position { node.position }

  /// Whether nothing was written: `key:` and no value.
  public var isNothing: Bool { node.content == .scalar("", .plain) }

  /// Whether it is what YAML writes for a value that is not there: nothing, `~` or `null`, without quotes.
  public var isNull: Bool {
    guard case .scalar(let text, .plain) = node.content else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// Reports a problem with the node.
  ///
  /// - Parameter related: what is wrong with other files, and the reason for this.
  public func report(
    _ code: Problem.Code, _ message: @autoclosure () -> String,
    hint: @autoclosure () -> Advice? = nil, related: [Diagnostic] = []
  ) {
    findings.add(problem(code, message(), hint(), related))
  }

  /// Reports a value that is wrong.
  public func report(_ message: @autoclosure () -> String, hint: @autoclosure () -> Advice? = nil) {
    report(.wrongValue, message(), hint: hint())
  }

  private func problem(
    _ code: Problem.Code, _ message: String, _ hint: Advice?, _ related: [Diagnostic]
  ) -> Problem {
    var problem = Problem(code, at: node.position, to: node.end, message, hint: hint)
    problem.replacement = node.text.flatMap { hint?.correcting($0) }.map(Node.scalarText)
    problem.related = related
    return problem
  }

  /// The one scalar below that has a text, or the node itself where there is none or several.
  public func narrowed(to text: String) -> Cursor {
    var found: [Node] = []
    var rest = [node]
    while let next = rest.popLast(), found.count < 2 {
      if next.text == text { found.append(next) }
      rest += next.members ?? next.entries?.map(\.value) ?? []
    }
    return found.count == 1 ? at(found[0]) : self
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
  /// The text of a scalar, quoted or not; nothing at all is no text.
  public func text(_ expected: String = "text", code: Problem.Code = .wrongValue) -> String? {
    guard let text = node.text, !isNothing else {
      reportExpected(expected, code: code)
      return nil
    }
    return text
  }

  /// A value that its text stands for, such as a duration.
  ///
  /// - Parameters:
  ///   - expected: What a message says was expected: `a duration such as 3 s`.
  ///   - parse: Makes the value; `nil` when the text is none.
  public func value<Value>(_ expected: String, _ parse: (String) -> Value?) -> Value? {
    guard let text = text(expected) else { return nil }
    guard let value = parse(text) else {
      reportExpected(expected)
      return nil
    }
    return value
  }

  /// A whole number, in decimal or as `0x…`, written without quotes.
  public func integer(in range: ClosedRange<Int>? = nil) -> Int? {
    integer(as: Int.self, in: range)
  }

  /// A whole number of a type, in decimal or as `0x…`, written without quotes.
  public func integer<Value: FixedWidthInteger>(
    as type: Value.Type, in range: ClosedRange<Value>? = nil
  ) -> Value? {
    let bounds = range ?? type.min...type.max
    let limits = range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
    return plainValue("a whole number" + limits) { text in
      wholeNumber(text, as: type).flatMap { bounds.contains($0) ? $0 : nil }
    }
  }

  /// A number such as `0.5`, `3` or `1e-3`, written without quotes.
  public func number(in range: ClosedRange<Double>? = nil) -> Double? {
    let limits = range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
    return plainValue("a number" + limits) { text in
      guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text),
        value.isFinite, range?.contains(value) ?? true
      else { return nil }
      return value
    }
  }

  /// `true` or `false`, written without quotes.
  public func flag() -> Bool? {
    let meant: String? =
      switch node.text?.lowercased() {
      case "true", "yes", "on", "y": "true"
      case "false", "no", "off", "n": "false"
      default: nil
      }
    let hint = meant.map { Advice.name($0, insteadOf: node.text ?? "") }
    return plainValue("true or false", hint: hint) { $0 == "true" ? true : $0 == "false" ? false : nil }
  }

  /// One of several names.
  ///
  /// - Parameters:
  ///   - kind: What the names are: `status` gives `unknown status`.
  ///   - names: The names there are.
  public func name(_ kind: String, of names: [String]) -> String? {
    guard let text = text("a \(kind)") else { return nil }
    guard names.contains(text) else {
      reportUnknown(kind, text, of: names)
      return nil
    }
    return text
  }

  /// One of the cases of an enumeration, by its raw value.
  public func choice<Value: RawRepresentable & CaseIterable>(
    _ kind: String, as type: Value.Type = Value.self
  ) -> Value?
  where Value.RawValue == String {
    name(kind, of: type.allCases.map(\.rawValue)).flatMap { type.init(rawValue: $0) }
  }

  /// A value that is no text to the reader, so that quotes around it are a mistake.
  private func plainValue<Value>(
    _ expected: String, hint: Advice? = nil, _ parse: (String) -> Value?
  ) -> Value? {
    if case .scalar(let text, let style) = node.content, !isNothing {
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

/// A whole number in one of the forms that every reader of YAML takes alike; so no leading zeros.
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
  /// The members of a list.
  public func list() -> [Cursor]? {
    guard let members = node.members else {
      reportExpected("a list")
      return nil
    }
    return members.map(at)
  }

  /// The members of a list, or a lone value as a list of one.
  public func listOrOne() -> [Cursor] {
    node.members?.map(at) ?? [self]
  }

  /// The entries of a mapping whose keys are free, such as names of states.
  public func entries() -> [(key: Cursor, value: Cursor)]? {
    guard let entries = node.entries else {
      reportExpected("a mapping")
      return nil
    }
    return entries.map { (at($0.key), at($0.value)) }
  }

  /// The entries of a mapping whose keys are known; every other key is reported, with the nearest known one.
  public func fields(_ keys: [String]) -> Fields? {
    guard let entries = entries() else { return nil }
    for (key, _) in entries {
      let text = key.node.text ?? ""
      if !keys.contains(text) { key.reportUnknown("key", text, of: keys) }
    }
    return Fields(self, entries)
  }

  /// The same, of a table of keys.
  public func fields(_ table: [Form.Field]) -> Fields? { fields(table.map(\.name)) }

  /// A name that may have something to say: `closeTo`, or a mapping of one key such as `fault: { drop: reply }`.
  ///
  /// - Parameters:
  ///   - kind: What the names are: `step` gives `unknown step`.
  ///   - names: The names there are.
  /// - Returns: The name, where it stands, and the value after it.
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
        .conflict, "a \(kind) has one key, and this is another",
        hint: "is the line indented too little, or `- ` missing?")
      return nil
    }
    return at(first.key).name(kind, of: names).map { ($0, at(first.key), at(first.value)) }
  }
}

/// The entries of a mapping whose keys are known.
public struct Fields {
  let mapping: Cursor
  private let entries: [(key: Cursor, value: Cursor)]

  init(_ mapping: Cursor, _ entries: [(key: Cursor, value: Cursor)]) {
    self.mapping = mapping
    self.entries = entries
  }

  /// The value of a key that must be given.
  public func required(_ key: String) -> Cursor? {
    guard let value = optional(key) else {
      mapping.report(.missingKey, "missing key `\(key)`")
      return nil
    }
    return value
  }

  /// The value of a key, or `nil` where it is not given.
  public func optional(_ key: String) -> Cursor? {
    entries.first { $0.key.node.text == key }?.value
  }

  /// The key itself as it stands in the document, or `nil` where it is not given.
  public func key(_ key: String) -> Cursor? {
    entries.first { $0.key.node.text == key }?.key
  }
}

/// What is read of the keys of a mapping that may be left out, and whether all of it was right.
public struct OptionalFields {
  private let fields: Fields
  /// Whether nothing was wrong so far with what was given.
  public private(set) var isWhole = true

  /// Begins to read.
  public init(_ fields: Fields) { self.fields = fields }

  /// The value of a key, or `nil` where it is not given or wrong.
  public mutating func read<Value>(_ key: String, _ value: (Cursor) -> Value?) -> Value? {
    guard let cursor = fields.optional(key) else { return nil }
    let value = value(cursor)
    if value == nil { isWhole = false }
    return value
  }
}

extension [Cursor] {
  /// What every one of them is read as, or `nil` where one is wrong; all are read, so that all is reported.
  public func all<Value>(_ read: (Cursor) -> Value?) -> [Value]? {
    let values = compactMap(read)
    return values.count == count ? values : nil
  }
}

extension Cursor {
  /// A name that can stand on a command line and in the name of a file.
  ///
  /// - Parameter kind: what it is, with its article.
  package func plainName(_ kind: String) -> String? {
    value("\(kind) of letters, digits and _.-") { text in
      let letters = text.utf8.allSatisfy { $0.isLetterOrDigit || "_.-".utf8.contains($0) }
      return letters && (1...64).contains(text.utf8.count) && !"_.-".contains(text.first ?? "-") ? text : nil
    }
  }
}
