/// Parts of JSON Schema, draft-07.
///
/// Our schemas are closed: an unknown key is an error in the schema or in the data, and the check reports it.
public enum Shape {
  public static let text: JSON = ["type": "string"]
  public static let whole: JSON = ["type": "integer"]
  public static let count: JSON = ["type": "integer", "minimum": 0]
  public static let number: JSON = ["type": "number"]
  public static let flag: JSON = ["type": "boolean"]
  /// Seconds since the start of a case, with at least three decimals.
  public static let time: JSON = ["type": "string", "pattern": "^[0-9]+\\.[0-9]{3,}$"]
  /// A date and time in UTC.
  public static let moment: JSON = ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,}Z$"]
  /// The value of an argument or a reading.
  public static let value: JSON = ["type": ["string", "number", "boolean", "array", "object"]]
  public static let texts: JSON = list(text)
  public static let counts: JSON = list(count)

  public static func list(_ items: JSON) -> JSON { ["type": "array", "items": items] }

  /// A list of exactly these items.
  public static func row(_ items: JSON...) -> JSON {
    [
      "type": "array", "items": .list(items), "minItems": .integer(items.count),
      "maxItems": .integer(items.count),
    ]
  }

  public static func words(_ words: String...) -> JSON { self.words(words) }

  public static func words(_ words: [String]) -> JSON { ["enum": .list(words.map(JSON.text))] }

  public static func constant(_ value: JSON) -> JSON { ["const": value] }

  public static func any(_ shapes: JSON...) -> JSON { ["oneOf": .list(shapes)] }

  public static func any(_ shapes: [JSON]) -> JSON { ["oneOf": .list(shapes)] }

  public static func object(
    _ required: KeyValuePairs<String, JSON>, optional: KeyValuePairs<String, JSON> = [:]
  ) -> JSON {
    object(Array(required), optional: Array(optional))
  }

  public static func object(
    _ required: [(key: String, value: JSON)], optional: [(key: String, value: JSON)]
  ) -> JSON {
    [
      "type": "object",
      "properties": .mapping((required + optional).map { JSON.Member($0.key, $0.value) }),
      "required": .list(required.map { .text($0.key) }), "additionalProperties": false,
    ]
  }
}
