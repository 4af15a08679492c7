/// A value of JSON, as far as a journal needs it.
///
/// Numbers stay text, so that a seed of 64 bits and a time are what was written. Objects keep their order.
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number, as it is written.
  case number(String)
  /// A string. What no string can hold is shown instead: half of a surrogate pair as `\u{D83D}`, a byte that is
  /// no UTF-8 as `\x{FF}`.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, its members in their order.
  case object([Member])

  /// One key and its value.
  public struct Member: Hashable, Sendable {
    /// The key.
    public var key: String
    /// The value.
    public var value: JSONValue

    /// Pairs a key and a value.
    public init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  /// The first value of a key, or `nil` when there is none or this is no object.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The text of a string or a number, or `nil` for anything else.
  public var text: String? {
    switch self {
    case .string(let text), .number(let text): text
    default: nil
    }
  }

  /// The value of a whole number that fits, or `nil` for anything else.
  public var integer: Int? {
    if case .number(let text) = self { Int(text) } else { nil }
  }

  /// The elements of an array, or `nil` for anything else.
  public var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value for a person: a lone string as it is, all else as compact JSON with spaces after `,` and `:`.
  public var description: String {
    if case .string(let text) = self { text } else { inner }
  }

  private var inner: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let text): text
    case .string(let text): "\"\(text)\""
    case .array(let elements): "[\(elements.map(\.inner).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.map { "\"\($0.key)\": \($0.value.inner)" }.joined(separator: ", "))}"
    }
  }
}
