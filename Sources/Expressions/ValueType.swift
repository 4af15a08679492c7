/// The type of a value in expressions.
///
/// A value is stored in a fixed number of 64-bit words, its ``width``, because lists and maps have a greatest size. So
/// all variables of a machine together are one array of words, and an expression needs no memory of its own.
public indirect enum ValueType: Hashable, Sendable {
  /// True or false.
  case flag
  /// A whole number within limits.
  case integer(ClosedRange<Int64>)
  /// A floating-point number.
  case number
  /// A length of time, in nanoseconds.
  case duration
  /// A moment, in nanoseconds since the beginning of the test.
  case instant
  /// Unicode text.
  case text
  /// Bytes.
  case bytes
  /// One of some words; in expressions, a text.
  case word([String])
  /// At most this many values of one type.
  case list(ValueType, capacity: Int)
  /// Values by key, at most this many.
  case map(ValueType, ValueType, capacity: Int)
  /// Named values of any types.
  case record([Field])

  /// A named value of a record.
  public struct Field: Hashable, Sendable {
    public var name: String
    public var type: ValueType

    public init(_ name: String, _ type: ValueType) { (self.name, self.type) = (name, type) }
  }

  /// Any whole number of 64 bits.
  public static let anyInteger = ValueType.integer(.min ... .max)

  /// Whether variables can have it: elements of lists and maps contain no lists and no maps.
  public var isPossible: Bool {
    switch self {
    case .list(let element, let capacity): element.isFlat && capacity > 0
    case .map(let key, let value, let capacity): key.isFlat && value.isFlat && capacity > 0
    case .record(let fields): !fields.isEmpty && fields.allSatisfy(\.type.isPossible)
    default: true
    }
  }

  /// The number of words that a value takes.
  ///
  /// A list has the number of its elements, and then its elements; a map has the number of its entries, and then each key
  /// with its value, in rising order of the keys' words. Words that hold no element are zero, so that equal values are
  /// equal words.
  public var width: Int {
    switch self {
    case .flag, .integer, .number, .duration, .instant, .text, .bytes, .word: 1
    case .list(let element, let capacity): 1 + capacity * element.width
    case .map(let key, let value, let capacity): 1 + capacity * (key.width + value.width)
    case .record(let fields): fields.reduce(0) { $0 + $1.type.width }
    }
  }
}

extension ValueType: CustomStringConvertible {
  /// The name of the type in messages, with its article.
  public var description: String {
    switch self {
    case .flag: "a flag"
    case .integer: "an integer"
    case .number: "a number"
    case .duration: "a duration"
    case .instant: "an instant"
    case .text: "a text"
    case .bytes: "bytes"
    case .word(let words): words.count == 1 ? "the word '\(words[0])'" : "a word"
    case .list(let element, _): "a list of \(element.plural)"
    case .map(let key, let value, _): "a map from \(key.plural) to \(value.plural)"
    case .record(let fields): "a record of \(fields.map(\.name).joined(separator: ", "))"
    }
  }

  private var plural: String {
    switch self {
    case .flag: "flags"
    case .integer: "integers"
    case .number: "numbers"
    case .duration: "durations"
    case .instant: "instants"
    case .text: "texts"
    case .bytes: "bytes"
    case .word: "words"
    case .list: "lists"
    case .map: "maps"
    case .record(let fields): "records of \(fields.map(\.name).joined(separator: ", "))"
    }
  }
}

extension ValueType {
  /// Whether its values are texts in expressions.
  var isTextual: Bool {
    switch self {
    case .text, .word: true
    default: false
    }
  }

  /// The type that holds the values of both, or `nil` if there is none.
  func union(_ other: ValueType) -> ValueType? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)):
      return .integer(min(left.lowerBound, right.lowerBound)...max(left.upperBound, right.upperBound))
    case (.word(let left), .word(let right)) where left == right: return self
    case _ where isTextual && other.isTextual: return .text
    case (.list(let left, let first), .list(let right, let second)):
      // An empty literal fits any list.
      if first == 0 { return other }
      if second == 0 { return self }
      return left.union(right).map { .list($0, capacity: max(first, second)) }
    case (.map(let leftKey, let leftValue, let first), .map(let rightKey, let rightValue, let second)):
      if first == 0 { return other }
      if second == 0 { return self }
      guard let key = leftKey.union(rightKey), let value = leftValue.union(rightValue) else { return nil }
      return .map(key, value, capacity: max(first, second))
    case (.record(let left), .record(let right)):
      guard left.map(\.name) == right.map(\.name) else { return nil }
      var fields: [Field] = []
      for (left, right) in zip(left, right) {
        guard let type = left.type.union(right.type) else { return nil }
        fields.append(Field(left.name, type))
      }
      return .record(fields)
    default: return self == other ? self : nil
    }
  }
}
