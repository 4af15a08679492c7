public import Basics

/// The form of a value in a document, described once: a reader takes its keys from here, and so does the JSON Schema
/// that editors use for completion.
public indirect enum Form: Sendable {
  case text
  /// Text that matches a pattern, a regular expression with the same meaning in every engine.
  case pattern(String)
  /// This word.
  case word(String)
  /// One of these words.
  case words([String])
  case flag
  case wholeNumber(ClosedRange<Int>?)
  /// A number, integer or not.
  case number
  /// A duration with its unit.
  case duration
  /// A negative duration with its unit.
  case negativeDuration
  /// A flag, a number, a duration or text, as written.
  case value
  case oneOrMore(Form)
  /// A list with a number of members in a range.
  case list(Form, count: ClosedRange<Int> = 0...Int.max)
  case either([Form])
  /// A mapping with these keys, and possibly others.
  case mapping([Field], others: Form?)
  /// A mapping with these keys, some of which require or exclude each other.
  case record([Field], [Rule])
  /// A mapping with one key: one of these, or possibly another.
  case single([Field], others: Form?)
  /// A form that is defined elsewhere: `step`.
  case reference(String)

  /// A key of a mapping.
  public struct Field: Sendable {
    /// The key.
    public var name: String
    /// The form of its value.
    public var form: Form
    /// A description in a sentence or two.
    public var summary: String
    /// Whether the key is required.
    public var isRequired: Bool

    /// Makes a required key.
    public static func required(_ name: String, _ form: Form, _ summary: String) -> Field {
      Field(name: name, form: form, summary: summary, isRequired: true)
    }

    /// Makes an optional key.
    public static func optional(_ name: String, _ form: Form, _ summary: String) -> Field {
      Field(name: name, form: form, summary: summary, isRequired: false)
    }
  }

  /// A rule on the keys of a mapping.
  public enum Rule: Sendable {
    /// Exactly one of them is present.
    case one([String])
    /// At least one of them is present.
    case some([String])
    /// The first requires the second.
    case needs(String, String)
    /// The first excludes the second.
    case excludes(String, String)
  }
}

extension Form {
  /// Returns the JSON Schema (draft-07) of a document, for editors.
  ///
  /// - Parameters:
  ///   - title: What the document is.
  ///   - summary: The purpose of the document, in one sentence.
  ///   - definitions: The forms to which ``reference(_:)`` refers.
  public func schema(
    title: String, summary: String, definitions: [(name: String, form: Form)] = []
  ) -> JSON {
    guard case .mapping(let members) = schema else { return .null }
    let head: [JSON.Member] = [
      .init("$schema", "http://json-schema.org/draft-07/schema#"), .init("title", .text(title)),
      .init("description", .text(summary)),
    ]
    guard !definitions.isEmpty else { return .mapping(head + members) }
    let forms = definitions.map { JSON.Member($0.name, $0.form.schema) }
    return .mapping(head + members + [.init("definitions", .mapping(forms))])
  }

  private var schema: JSON {
    switch self {
    case .text: ["type": "string", "minLength": 1]
    case .pattern(let pattern): ["type": "string", "pattern": .text(pattern)]
    case .word(let word): ["const": .text(word)]
    case .words(let words): ["enum": .list(words.map(JSON.text))]
    case .flag: ["type": "boolean"]
    case .wholeNumber(let range): Self.wholeNumber(range)
    case .number: ["type": "number"]
    case .duration: Self.duration("")
    case .negativeDuration: Self.duration("-")
    case .value: ["type": ["string", "number", "boolean"]]
    case .oneOrMore(let form): ["anyOf": [form.schema, Form.list(form, count: 1...Int.max).schema]]
    case .list(let form, let count): Self.list(form, count)
    case .either(let forms): ["anyOf": .list(forms.map(\.schema))]
    case .mapping(let fields, let others): Self.mapping(fields, others, limits: [])
    case .record(let fields, let rules): Self.mapping(fields, nil, limits: Self.limits(rules))
    case .single(let fields, let others):
      Self.mapping(fields, others, limits: [.init("minProperties", 1), .init("maxProperties", 1)])
    case .reference(let name): ["$ref": .text("#/definitions/\(name)")]
    }
  }

  private static func duration(_ sign: String) -> JSON {
    ["type": "string", "pattern": .text("^" + sign + #"[0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s|min|h)$"#)]
  }

  private static func list(_ form: Form, _ count: ClosedRange<Int>) -> JSON {
    var members: [JSON.Member] = [.init("type", "array"), .init("items", form.schema)]
    if count.lowerBound > 0 { members.append(.init("minItems", .integer(count.lowerBound))) }
    if count.upperBound < .max { members.append(.init("maxItems", .integer(count.upperBound))) }
    return .mapping(members)
  }

  private static func wholeNumber(_ range: ClosedRange<Int>?) -> JSON {
    var members: [JSON.Member] = [.init("type", "integer")]
    if let range {
      members.append(.init("minimum", .integer(range.lowerBound)))
      if range.upperBound < .max { members.append(.init("maximum", .integer(range.upperBound))) }
    }
    return .mapping(members)
  }

  private static func mapping(_ fields: [Field], _ others: Form?, limits: [JSON.Member]) -> JSON {
    var members: [JSON.Member] = [.init("type", "object")]
    if !fields.isEmpty {
      let properties = fields.map { field in JSON.Member(field.name, described(field)) }
      members.append(.init("properties", .mapping(properties)))
    }
    let required = fields.filter(\.isRequired).map { JSON.text($0.name) }
    if !required.isEmpty { members.append(.init("required", .list(required))) }
    members.append(.init("additionalProperties", others?.schema ?? false))
    return .mapping(members + limits)
  }

  private static func limits(_ rules: [Rule]) -> [JSON.Member] {
    guard !rules.isEmpty else { return [] }
    let all = rules.map { rule -> JSON in
      switch rule {
      case .one(let names): ["oneOf": .list(names.map(presence))]
      case .some(let names): ["anyOf": .list(names.map(presence))]
      case .needs(let name, let other): ["dependencies": .mapping([.init(name, .list([.text(other)]))])]
      case .excludes(let name, let other):
        ["not": .mapping([.init("required", .list([.text(name), .text(other)]))])]
      }
    }
    return [.init("allOf", .list(all))]
  }

  private static func presence(of name: String) -> JSON { ["required": .list([.text(name)])] }

  private static func described(_ field: Field) -> JSON {
    guard case .mapping(let members) = field.form.schema else { return .null }
    return .mapping([.init("description", .text(field.summary))] + members)
  }
}

extension Fields {
  /// Reports keys that break a rule.
  ///
  /// - Returns: Whether all keys obey the rules.
  public func obey(_ rules: [Form.Rule]) -> Bool {
    rules.reduce(true) { obey($1) && $0 }
  }

  private func obey(_ rule: Form.Rule) -> Bool {
    switch rule {
    case .one(let names):
      let given = names.filter { optional($0) != nil }
      if given.count > 1 { return refuse(given[1], beside: given[0]) }
      return require(names)
    case .some(let names):
      return require(names)
    case .needs(let name, let other):
      guard let key = key(name), optional(other) == nil else { return true }
      key.report(.conflict, "`\(name)` goes with `\(other)`")
      return false
    case .excludes(let name, let other):
      return optional(name) == nil || optional(other) == nil || refuse(name, beside: other)
    }
  }

  private func refuse(_ name: String, beside other: String) -> Bool {
    key(name)?.report(.conflict, "`\(name)` stands beside `\(other)`", hint: "give one of them")
    return false
  }

  private func require(_ names: [String]) -> Bool {
    guard !names.contains(where: { optional($0) != nil }) else { return true }
    mapping.report(.missingKey, "missing key \(names.map { "`\($0)`" }.joined(separator: " or "))")
    return false
  }
}
