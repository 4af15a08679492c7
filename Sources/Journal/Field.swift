public import Basics

/// How a value stands in a line: the way there, the way back, and the JSON Schema of it.
public struct Notation<Value: SendableMetatype>: Sendable {
  /// What it looks like, as JSON Schema.
  public let shape: JSON
  /// Writes a value.
  public let write: @Sendable (Value) -> JSON
  /// Reads what was written; `nil` where it is of another shape.
  public let read: @Sendable (JSON) -> Value?
}

/// A key of a line, and what of a record it holds.
///
/// One table of these is how a record is written, how it is read, and what its schema says.
public struct Field<Whole: SendableMetatype>: Sendable {
  /// How much a key is to be counted on.
  public enum Presence: Sendable {
    /// Without it there is no record.
    case needed
    /// It is always written; a reader does without.
    case usual
    /// It is written where there is something to say.
    case extra
  }

  /// The key.
  public let name: String
  /// What stands behind it, as JSON Schema.
  public let shape: JSON
  /// Whether it is always there.
  public let presence: Presence

  fileprivate let write: @Sendable (Whole) -> JSON?
  /// Puts a value where it belongs; false where it is of another shape.
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

  /// A key without which there is no record.
  public static func needed<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .needed, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key that is always written, and that a reader does without.
  public static func usual<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .usual, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// The same of what a reader does not know then.
  public static func usual<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value?> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .usual, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key that is written where there is a value.
  public static func extra<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value?> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .extra, notation, write: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key that is written unless the value is the one that goes without saying.
  public static func extra<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ notation: Notation<Value>,
    besides usual: Value
  ) -> Field {
    Field(
      name, .extra, notation, write: { $0[keyPath: path] == usual ? nil : $0[keyPath: path] },
      set: { $0[keyPath: path] = $1 })
  }

  /// A key that is only written: it says once more, for those who read less, what others say.
  package static func derived<Value>(
    _ name: String, _ value: @escaping @Sendable (Whole) -> Value, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .usual, notation, write: value, set: { _, _ in })
  }

  /// The same of what is not always known, and left out then.
  package static func known<Value>(
    _ name: String, _ value: @escaping @Sendable (Whole) -> Value?, _ notation: Notation<Value>
  ) -> Field {
    Field(name, .extra, notation, write: value, set: { _, _ in })
  }

  /// A list that is left out where it is empty.
  public static func list<Value>(
    _ name: String, _ path: any WritableKeyPath<Whole, [Value]> & Sendable, _ notation: Notation<Value>
  ) -> Field {
    Field(
      name, .extra, .list(notation), write: { $0[keyPath: path].isEmpty ? nil : $0[keyPath: path] },
      set: { $0[keyPath: path] = $1 })
  }

  /// A key with one value, which is written where something holds.
  public static func mark(
    _ name: String, _ path: any WritableKeyPath<Whole, Bool> & Sendable, as value: JSON = true
  ) -> Field {
    let notation = Notation<Bool>(shape: Shape.constant(value), write: { _ in value }, read: { $0 == value })
    return Field(
      name, .extra, notation, write: { $0[keyPath: path] ? true : nil }, set: { $0[keyPath: path] = $1 })
  }
}

extension Array {
  /// What a record says by a table of fields.
  package func members<Whole>(of whole: Whole) -> [JSON.Member] where Element == Field<Whole> {
    compactMap { field in field.write(whole).map { JSON.Member(field.name, $0) } }
  }

  /// Reads an object by a table of fields. Keys that are not known are passed over, so that a newer writer can say more;
  /// so is a value of another shape, unless there is no record without it.
  ///
  /// - Parameter noun: what an error calls the record.
  /// - Throws: which key is missing.
  func read<Whole>(
    _ json: JSON, into whole: inout Whole, _ noun: String
  ) throws(RecordError) where Element == Field<Whole> {
    for field in self {
      let isRead = json[field.name].map { field.read(&whole, $0) } ?? false
      if !isRead, field.presence == .needed { throw RecordError(reason: "\(noun) has no \(field.name)") }
    }
  }
}

/// What is written as the members of an object, by one table of fields.
public protocol Written: SendableMetatype {
  /// The keys, in the order in which they are written.
  static var fields: [Field<Self>] { get }
}

/// What is written so, and read again.
public protocol Recorded: Written, Equatable, Sendable {
  /// Without anything known.
  static var blank: Self { get }
  /// What an error calls it: `a case`.
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
  /// - Throws: which key is missing without which there is none.
  public init(_ json: JSON) throws(RecordError) {
    self = .blank
    try Self.fields.read(json, into: &self, Self.noun)
  }
}

extension Shape {
  /// An object with just these keys.
  package static func object<Whole>(_ fields: [Field<Whole>]) -> JSON {
    object(
      fields.filter { $0.presence != .extra }.map { ($0.name, $0.shape) },
      optional: fields.filter { $0.presence == .extra }.map { ($0.name, $0.shape) })
  }
}

/// Why a line of JSON is no record.
public struct RecordError: Error, Hashable, Sendable {
  /// What is wrong, in a few words.
  public var reason: String

  /// Says what is wrong.
  public init(reason: String) { self.reason = reason }
}

// MARK: - Notations

extension Notation<String> {
  package static var text: Notation { text(Shape.text) }

  /// A text of a kind of its own.
  package static func text(_ shape: JSON) -> Notation {
    Notation(shape: shape, write: { .text($0) }, read: \.string)
  }

  /// A text that says something.
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
  /// A whole number from 0.
  package static var count: Notation { Notation(shape: Shape.count, write: { .integer($0) }, read: \.int) }

  /// A whole number from another one.
  static func count(from minimum: Int) -> Notation {
    Notation(
      shape: ["type": "integer", "minimum": .integer(minimum)], write: { .integer($0) },
      read: { json in json.int.flatMap { $0 < minimum ? nil : $0 } })
  }
}

extension Notation<UInt64> {
  /// A seed, of 64 bits.
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
  /// Seconds since the start of a case, as text, with at least three decimals.
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
  /// What a stimulus or a reading may have.
  static var value: Notation { json(Shape.value) }

  /// Anything as it is.
  package static func json(_ shape: JSON) -> Notation { Notation(shape: shape, write: { $0 }, read: { $0 }) }
}

extension Notation<[JSON.Member]> {
  /// Values by their names.
  static func members(of shape: JSON) -> Notation {
    Notation(
      shape: ["type": "object", "additionalProperties": shape], write: { .mapping($0) },
      read: { if case .mapping(let members) = $0 { members } else { nil } })
  }
}

extension Notation {
  /// A list; of what was written, elements of another shape are passed over.
  package static func list<Element>(_ element: Notation<Element>) -> Notation where Value == [Element] {
    Notation(
      shape: Shape.list(element.shape), write: { .list($0.map(element.write)) },
      read: { $0.elements?.compactMap(element.read) })
  }

  /// The same, or `null` for what is not known.
  package static func orNull<Known>(_ known: Notation<Known>, _ shape: JSON) -> Notation
  where Value == Known? {
    Notation(
      shape: shape, write: { $0.map(known.write) ?? .null },
      read: { $0 == .null ? .some(nil) : known.read($0).map(Value.some) })
  }

  /// One of a few words.
  package static func words() -> Notation
  where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    Notation(
      shape: Shape.words(Value.allCases.map(\.rawValue)), write: { .text($0.rawValue) },
      read: { $0.string.flatMap(Value.init(rawValue:)) })
  }

  /// An object by a table, for what is written and not read.
  package static func object(_ fields: [Field<Value>]) -> Notation {
    Notation(
      shape: Shape.object(fields), write: { .mapping(fields.members(of: $0)) }, read: { _ in nil })
  }

  /// An object by its own table, for what is written and not read.
  package static func object() -> Notation where Value: Written { object(Value.fields) }

  /// An object by its own table.
  package static func object() -> Notation where Value: Recorded {
    Notation(shape: Value.shape, write: \.json, read: { try? Value($0) })
  }
}

extension JSON {
  /// The text of a text or of a number.
  var scalar: String? {
    switch self {
    case .text(let text), .number(let text): text
    case .null, .flag, .list, .mapping: nil
    }
  }
}

extension Instant {
  /// Reads seconds as text, such as `10.1134`.
  ///
  /// Times before zero count as zero, decimals beyond nine do not, and what is too long counts as the end of time.
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
