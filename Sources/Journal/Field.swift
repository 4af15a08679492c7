public import Basics

/// How to write and read a value of a line, and its JSON Schema.
public struct Notation<Value: SendableMetatype>: Sendable {
  /// The JSON Schema of the value.
  public let shape: JSON
  /// Writes a value.
  public let write: @Sendable (Value) -> JSON
  /// Reads a written value; `nil` if it has another shape.
  public let read: @Sendable (JSON) -> Value?
}

/// A key of a line, and the part of a record that it contains.
///
/// A table of fields determines how a record is written, how it is read, and what its schema is.
public struct Field<Whole: SendableMetatype>: Sendable {
  /// How reliably a key is present.
  public enum Presence: Sendable {
    /// Required: without it, there is no record.
    case needed
    /// Always written, but optional for a reader.
    case usual
    /// Written only if there is something to write.
    case extra
  }

  /// The key.
  public let name: String
  /// The JSON Schema of its value.
  public let shape: JSON
  /// How reliably the key is present.
  public let presence: Presence

  fileprivate let write: @Sendable (Whole) -> JSON?
  /// Sets the property from a value; returns false if the value has another shape.
  fileprivate let read: @Sendable (inout Whole, JSON) -> Bool

  private init<Value>(
    _ name: String, _ presence: Presence, _ notation: Notation<Value>, shape: JSON? = nil,
    write: @escaping @Sendable (Whole) -> Value?, set: @escaping @Sendable (inout Whole, Value) -> Void
  ) {
    self.name = name
    self.shape = shape ?? notation.shape
    self.presence = presence
    self.write = { write($0).map(notation.write) }
    read = { whole, json in
      guard let value = notation.read(json) else { return false }
      set(&whole, value)
      return true
    }
  }

  /// Returns the field of a required key.
  public static func needed<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .needed, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// Returns the field of a key that is always written, but optional for a reader.
  public static func usual<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .usual, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// Returns the same field for a property that is unknown if the key is missing.
  public static func usual<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value?> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .usual, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// Returns the field of a key that is written if there is a value.
  public static func extra<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value?> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .extra, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// Returns the field of a key that is written unless the property has its default value.
  public static func extra<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ notation: Notation<Value>,
    besides usual: Value
  ) -> Field {
    Field(
      name, .extra, notation, write: { $0[keyPath: path] == usual ? nil : $0[keyPath: path] },
      set: { $0[keyPath: path] = $1 })
  }

  /// Returns the field of a key that is only written: it repeats what other keys contain, for simpler readers.
  package static func derived<Value>(
    _ name: String, _ value: @escaping @Sendable (Whole) -> Value, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .usual, notation, write: value, set: { _, _ in })
  }

  /// Returns the same field for a value that may be unknown; the key is then left out.
  package static func known<Value>(
    _ name: String, _ value: @escaping @Sendable (Whole) -> Value?, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .extra, notation, write: value, set: { _, _ in })
  }

  /// Returns the field of a list, which is left out if it is empty.
  public static func list<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, [Value]> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(
      name, .extra, .list(notation), write: { $0[keyPath: path].isEmpty ? nil : $0[keyPath: path] },
      set: { $0[keyPath: path] = $1 })
  }

  /// Returns the field of a key with one constant value, which is written if the property is true.
  public static func mark(
    _ name: String, _ path: any WritableKeyPath<Whole, Bool> & Sendable, as value: JSON = true
  ) -> Field {
    let notation = Notation<Bool>(shape: Shape.constant(value), write: { _ in value }, read: { $0 == value })
    return Field(
      name, .extra, notation, write: { $0[keyPath: path] ? true : nil }, set: { $0[keyPath: path] = $1 })
  }
}

extension Array {
  /// Returns the members that the table of fields writes for a record.
  package func members<Whole>(of whole: Whole) -> [JSON.Member] where Element == Field<Whole> {
    compactMap { field in field.write(whole).map { JSON.Member(field.name, $0) } }
  }

  /// Reads an object by a table of fields.
  ///
  /// Ignores unknown keys, so that newer writers can add keys, and values of another shape unless the key is required.
  ///
  /// - Parameter noun: The name of the record in error messages.
  /// - Throws: Which required key is missing.
  func read<Whole>(
    _ json: JSON, into whole: inout Whole, _ noun: String
  ) throws(RecordError) where Element == Field<Whole> {
    for field in self {
      let isRead = json[field.name].map { field.read(&whole, $0) } ?? false
      if !isRead, field.presence == .needed { throw RecordError(reason: "\(noun) has no \(field.name)") }
    }
  }
}

/// A value that is written as the members of an object, by a table of fields.
public protocol Written: SendableMetatype {
  /// The keys, in the order in which they are written.
  static var fields: [Field<Self>] { get }
}

/// A value that is also read back.
public protocol Recorded: Written, Equatable, Sendable {
  /// The value before any key is read.
  static var blank: Self { get }
  /// The name of the value in error messages: `a case`.
  static var noun: String { get }
}

extension Written {
  /// The members of the object.
  public var members: [JSON.Member] { Self.fields.members(of: self) }

  /// The object.
  public var json: JSON { .mapping(members) }

  /// The JSON Schema of the object.
  public static var shape: JSON { Shape.object(fields) }
}

extension Recorded {
  /// Reads an object.
  ///
  /// - Throws: Which required key is missing.
  public init(_ json: JSON) throws(RecordError) {
    self = .blank
    try Self.fields.read(json, into: &self, Self.noun)
  }
}

extension Shape {
  /// Returns the schema of an object with exactly these keys.
  package static func object<Whole>(_ fields: [Field<Whole>]) -> JSON {
    object(
      fields.filter { $0.presence != .extra }.map { ($0.name, $0.shape) },
      optional: fields.filter { $0.presence == .extra }.map { ($0.name, $0.shape) })
  }
}

/// Why a line of JSON is not a record.
public struct RecordError: Error, Hashable, Sendable {
  /// What is wrong, in a few words.
  public var reason: String

  /// Creates an error.
  public init(reason: String) { self.reason = reason }
}

// MARK: - Notations

extension Notation<String> {
  package static var text: Notation { text(Shape.text) }

  /// Returns the notation of a text with its own schema.
  package static func text(_ shape: JSON) -> Notation {
    Notation(shape: shape, write: { .text($0) }, read: \.string)
  }

  /// A text that is not empty.
  static var name: Notation {
    Notation(
      shape: Shape.text, write: { .text($0) }, read: { json in json.string.flatMap { $0.isEmpty ? nil : $0 } }
    )
  }
}

extension Notation<String?> {
  /// A text, or `null`.
  package static var textOrNull: Notation { .orNull(.text, ["type": ["string", "null"]]) }
}

extension Notation<Int> {
  /// A whole number, at least 0.
  package static var count: Notation { Notation(shape: Shape.count, write: { .integer($0) }, read: \.int) }

  /// A number of cases that diverged.
  package static var divergences: Notation {
    count("The number of cases that diverged from the model, without those in unmet.")
  }

  /// A number of cases that failed without a divergence.
  package static var unmet: Notation {
    count(
      "The number of cases that agreed with the model, and did not meet the expectation of the scenario; they fail too."
    )
  }

  /// Returns the notation of a count with a description in its schema.
  private static func count(_ description: String) -> Notation {
    Notation(
      shape: ["description": .text(description), "type": "integer", "minimum": 0],
      write: { .integer($0) }, read: \.int)
  }

  /// Returns the notation of a whole number with a minimum.
  static func count(from minimum: Int) -> Notation {
    Notation(
      shape: ["type": "integer", "minimum": .integer(minimum)], write: { .integer($0) },
      read: { json in json.int.flatMap { $0 < minimum ? nil : $0 } })
  }
}

extension Notation<UInt64> {
  /// A seed of 64 bits.
  package static var seed: Notation {
    Notation(
      shape: Shape.count, write: { .integer($0) },
      read: { if case .number(let digits) = $0 { UInt64(digits) } else { nil } })
  }
}

extension Notation<Double> {
  package static var number: Notation {
    Notation(shape: Shape.number, write: { .decimal($0) }, read: \.double)
  }
}

extension Notation<Bool> {
  package static var flag: Notation { Notation(shape: Shape.flag, write: { .flag($0) }, read: \.bool) }
}

extension Notation<Instant> {
  /// The time since the start of a case in seconds, as text with at least three decimals.
  static var time: Notation {
    Notation(
      shape: Shape.time, write: { .text($0.secondsText) }, read: { $0.scalar.flatMap(Instant.init(seconds:)) }
    )
  }
}

extension Notation<Interval> {
  /// Seconds, as a number.
  package static var seconds: Notation {
    Notation(shape: Shape.number, write: { .decimal($0.seconds) }, read: \.seconds)
  }
}

extension Notation<JSON> {
  /// A value that a stimulus or a reading may have.
  static var value: Notation { json(Shape.value) }

  /// Returns the notation of unchanged JSON.
  package static func json(_ shape: JSON) -> Notation { Notation(shape: shape, write: { $0 }, read: { $0 }) }
}

extension Notation<[JSON.Member]> {
  /// Returns the notation of values by their names.
  static func members(of shape: JSON) -> Notation {
    Notation(
      shape: ["type": "object", "additionalProperties": shape], write: { .mapping($0) },
      read: { if case .mapping(let members) = $0 { members } else { nil } })
  }
}

extension Notation {
  /// Returns the notation of a list; reading skips elements of another shape.
  package static func list<Element>(_ element: Notation<Element>) -> Notation where Value == [Element] {
    Notation(
      shape: Shape.list(element.shape), write: { .list($0.map(element.write)) },
      read: { $0.elements?.compactMap(element.read) })
  }

  /// Returns the same notation with `null` for an unknown value.
  package static func orNull<Known>(_ known: Notation<Known>, _ shape: JSON) -> Notation
  where Value == Known? {
    Notation(
      shape: shape, write: { $0.map(known.write) ?? .null },
      read: { $0 == .null ? .some(nil) : known.read($0).map(Value.some) })
  }

  /// Returns the notation of one of a few words.
  package static func words() -> Notation
  where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    Notation(
      shape: Shape.words(Value.allCases.map(\.rawValue)), write: { .text($0.rawValue) },
      read: { $0.string.flatMap(Value.init(rawValue:)) })
  }

  /// Returns the notation of an object by a table, for a value that is written but not read.
  package static func object(_ fields: [Field<Value>]) -> Notation {
    Notation(
      shape: Shape.object(fields), write: { .mapping(fields.members(of: $0)) }, read: { _ in nil })
  }

  /// Returns the notation of an object by its own table, for a value that is written but not read.
  package static func object() -> Notation where Value: Written { object(Value.fields) }

  /// Returns the notation of an object by its own table.
  package static func object() -> Notation where Value: Recorded {
    Notation(shape: Value.shape, write: \.json, read: { try? Value($0) })
  }
}

extension JSON {
  /// The content of a text or a number.
  var scalar: String? {
    switch self {
    case .text(let text), .number(let text): text
    case .null, .flag, .list, .mapping: nil
    }
  }
}

extension Instant {
  /// Parses seconds as text, such as `10.1134`.
  ///
  /// A negative time becomes zero, decimals after the ninth are ignored, and a time out of range becomes ``never``.
  package init?(seconds text: String) {
    let isNegative = text.hasPrefix("-")
    let parts = text.utf8.dropFirst(isNegative ? 1 : 0).split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) else {
      return nil
    }
    if isNegative {
      self = .zero
      return
    }
    var nanoseconds: Int64 = 0
    let decimals = parts.count > 1 ? Array(parts[1].prefix(9)) : []
    for digit in Array(parts[0]) + decimals + [UInt8](repeating: 0x30, count: 9 - decimals.count) {
      let (tens, isFar) = nanoseconds.multipliedReportingOverflow(by: 10)
      let (sum, isFarther) = tens.addingReportingOverflow(Int64(digit - 0x30))
      if isFar || isFarther {
        self = .never
        return
      }
      nanoseconds = sum
    }
    self = .zero + Interval(nanoseconds: nanoseconds)
  }
}
