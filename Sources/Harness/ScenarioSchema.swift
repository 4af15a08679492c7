public import Documents

extension Scenario {
  /// The JSON Schema (draft-07) of a scenario, as editors read it.
  ///
  /// It knows the grammar but no machine: that `lock` is a stimulus only the reader knows.
  public static let schema: JSON = {
    let keys = ScenarioGrammar.Key.allCases.map(\.field)
    guard case .mapping(let members) = schema(of: .mapping(keys, others: nil)) else { return .null }
    let head: [JSON.Member] = [
      .init("$schema", "http://json-schema.org/draft-07/schema#"),
      .init("title", "A scenario of Lockstep"),
      .init("description", "What is to be done with a lock, and what is expected of it."),
    ]
    let definitions: JSON = ["step": schema(of: ScenarioGrammar.step)]
    return .mapping(head + members + [.init("definitions", definitions)])
  }()

  private static func schema(of form: ScenarioGrammar.Form) -> JSON {
    switch form {
    case .text: ["type": "string", "minLength": 1]
    case .word(let word): ["const": .text(word)]
    case .flag: ["type": "boolean"]
    case .wholeNumber(let range): wholeNumber(range)
    case .duration: ["type": "string", "pattern": .text(#"^[0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s|min|h)$"#)]
    case .value: ["type": ["string", "number", "boolean"]]
    case .oneOrMore(let form):
      ["anyOf": [schema(of: form), ["type": "array", "items": schema(of: form), "minItems": 1]]]
    case .list(let form): ["type": "array", "items": schema(of: form)]
    case .either(let forms): ["anyOf": .list(forms.map(schema))]
    case .mapping(let fields, let others): mapping(fields, others, limits: [])
    case .single(let fields, let others):
      mapping(fields, others, limits: [.init("minProperties", 1), .init("maxProperties", 1)])
    case .reference(let name): ["$ref": .text("#/definitions/\(name)")]
    }
  }

  private static func wholeNumber(_ range: ClosedRange<Int>?) -> JSON {
    var members: [JSON.Member] = [.init("type", "integer")]
    if let range {
      members.append(.init("minimum", .integer(range.lowerBound)))
      if range.upperBound < .max { members.append(.init("maximum", .integer(range.upperBound))) }
    }
    return .mapping(members)
  }

  private static func mapping(
    _ fields: [ScenarioGrammar.Field], _ others: ScenarioGrammar.Form?, limits: [JSON.Member]
  ) -> JSON {
    var members: [JSON.Member] = [.init("type", "object")]
    if !fields.isEmpty {
      let properties = fields.map { field in JSON.Member(field.name, described(field)) }
      members.append(.init("properties", .mapping(properties)))
    }
    let required = fields.filter(\.isRequired).map { JSON.text($0.name) }
    if !required.isEmpty { members.append(.init("required", .list(required))) }
    members.append(.init("additionalProperties", others.map(schema) ?? false))
    return .mapping(members + limits)
  }

  private static func described(_ field: ScenarioGrammar.Field) -> JSON {
    guard case .mapping(let members) = schema(of: field.form) else { return .null }
    return .mapping([.init("description", .text(field.summary))] + members)
  }
}
