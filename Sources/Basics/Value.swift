/// A value of any type: an argument, a fault's value, a reading, a value of a variable.
public enum Value: Equatable, Sendable {
  case flag(Bool)
  case integer(Int)
  case number(Double)
  case duration(Interval)
  /// A moment, as the time since the beginning of the test.
  case instant(Interval)
  case text(String)
  case bytes([UInt8])
  case list([Value])
  /// The entries in the order of their keys.
  case map([(key: Value, value: Value)])
  case record([(name: String, value: Value)])
  /// A value that was not observed.
  case unknown
  /// No value.
  case absent

  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.flag(let left), .flag(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.duration(let left), .duration(let right)): left == right
    case (.instant(let left), .instant(let right)): left == right
    case (.text(let left), .text(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.map(let left), .map(let right)):
      left.elementsEqual(right) { $0.key == $1.key && $0.value == $1.value }
    case (.record(let left), .record(let right)):
      left.elementsEqual(right) { $0.name == $1.name && $0.value == $1.value }
    case (.unknown, .unknown), (.absent, .absent): true
    default: false
    }
  }
}

extension Value: CustomStringConvertible {
  /// The value as it is shown to a person: a text alone without quotes, and in quotes where it is a part.
  public var description: String {
    switch self {
    case .flag(let value): value ? "yes" : "no"
    case .integer(let value): String(value)
    case .number(let value): String(value)
    case .duration(let value), .instant(let value): value.description
    case .text(let value): value
    case .bytes(let value): value.hex
    case .list(let values): "[\(values.map(\.asPart).joined(separator: ", "))]"
    case .map(let entries):
      "{\(entries.map { "\($0.key.asPart): \($0.value.asPart)" }.joined(separator: ", "))}"
    case .record(let fields): "{\(fields.map { "\($0.name): \($0.value.asPart)" }.joined(separator: ", "))}"
    case .unknown: "unknown"
    case .absent: "absent"
    }
  }

  private var asPart: String {
    if case .text(let text) = self { "'\(text)'" } else { description }
  }
}

extension JSON {
  /// Makes the JSON form of a value. A moment is a number of seconds, bytes are hexadecimal digits, and what has no value
  /// is `null`.
  ///
  /// - Parameters:
  ///   - duration: encodes a duration, for which there are several forms.
  ///   - unknown: the form of a value that was not observed, or of a part of one.
  public init(
    _ value: Basics.Value, duration: (Interval) -> JSON = { JSON.text($0.description) },
    unknown: JSON = .null
  ) {
    switch value {
    case .flag(let value): self = .flag(value)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .decimal(value)
    case .duration(let value): self = duration(value)
    case .instant(let value): self = .decimal(Double(value.nanoseconds) / 1e9)
    case .text(let value): self = .text(value)
    case .bytes(let value): self = .text(value.hex)
    case .list(let values):
      self = .list(values.map { JSON($0, duration: duration, unknown: unknown) })
    case .map(let entries):
      self = .mapping(
        entries.map {
          Member($0.key.description, JSON($0.value, duration: duration, unknown: unknown))
        })
    case .record(let fields):
      self = .mapping(
        fields.map { Member($0.name, JSON($0.value, duration: duration, unknown: unknown)) })
    case .unknown: self = unknown
    case .absent: self = .null
    }
  }
}
