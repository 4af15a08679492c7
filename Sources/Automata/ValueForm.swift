public import Basics
public import Expressions

/// The form of a named value: an argument of a stimulus or a reading of a device. A scenario that gives or expects
/// any other form is rejected before it runs.
public struct ValueForm: Equatable, Sendable {
  /// The types of a value.
  public enum Kind: Equatable, Sendable {
    case text
    /// Bytes, two hexadecimal digits each.
    case hexadecimal
    case flag
    case wholeNumber(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// A duration with its unit.
    case duration(ClosedRange<Interval>)
    case choice([String])
    /// A moment, as the time since the beginning of the test. A value shown by a device may differ by this much.
    case instant(precision: Interval)
    /// At most this many values of one form.
    indirect case list(Kind, capacity: Int)
    /// Values by key, at most this many.
    indirect case map(Kind, Kind, capacity: Int)
    /// Named values.
    indirect case record([ValueForm])
  }

  /// The name.
  public var name: String
  /// The type of the value.
  public var kind: Kind

  /// Makes the form of a named value.
  public init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }
}

extension ValueForm.Kind {
  /// Any whole number.
  public static var anyWholeNumber: Self { .wholeNumber(.min ... .max) }
  public static var anyNumber: Self {
    .number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
  }
  public static var anyDuration: Self { .duration(.zero ... .forever) }

  /// A description of the expected value.
  public var expectation: String {
    switch self {
    case .text: "a text"
    case .hexadecimal: "bytes in hexadecimal, two digits each"
    case .flag: "yes or no"
    case .anyWholeNumber: "a whole number"
    case .wholeNumber(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .anyNumber: "a number"
    case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
    case .anyDuration: "a duration with its unit, such as 10 s"
    case .duration(let range): "a duration with its unit, from \(range.lowerBound) to \(range.upperBound)"
    case .choice(let words): words.count == 1 ? "`\(words[0])`" : "one of \(words.joined(separator: ", "))"
    case .instant: "a time in seconds"
    case .list(_, let capacity): "a list of at most \(capacity) values"
    case .map(_, _, let capacity): "a map with at most \(capacity) entries"
    case .record(let fields): "a record of \(fields.map(\.name).joined(separator: ", "))"
    }
  }

  /// The least value, or the simplest: zero, an empty text, the first word.
  public var least: Value {
    switch self {
    case .text: .text("")
    case .hexadecimal: .bytes([])
    case .flag: .flag(false)
    case .wholeNumber(let range): .integer(min(max(0, range.lowerBound), range.upperBound))
    case .number(let range): .number(min(max(0, range.lowerBound), range.upperBound))
    case .duration(let range): .duration(min(max(.zero, range.lowerBound), range.upperBound))
    case .instant: .instant(.zero)
    case .choice(let words): .text(words.first ?? "")
    case .list: .list([])
    case .map: .map([])
    case .record(let fields): .record(fields.map { ($0.name, $0.kind.least) })
    }
  }

  /// The type of its values in expressions.
  public var type: ValueType {
    switch self {
    case .text: .text
    case .hexadecimal: .bytes
    case .flag: .flag
    case .wholeNumber(let range): .integer(Int64(range.lowerBound)...Int64(range.upperBound))
    case .number: .number
    case .duration: .duration
    case .instant: .instant
    case .choice(let words): .word(words)
    case .list(let element, let capacity): .list(element.type, capacity: capacity)
    case .map(let key, let value, let capacity): .map(key.type, value.type, capacity: capacity)
    case .record(let fields): .record(fields.map { ValueType.Field($0.name, $0.kind.type) })
    }
  }
}

/// The arguments of a stimulus.
public struct ArgumentForms: Equatable, Sendable {
  /// The forms of the arguments, in the order in which they are shown.
  public var forms: [ValueForm]
  /// Whether at most one of them is given.
  public var isAlternative: Bool

  /// Makes the forms of arguments.
  public init(_ forms: [ValueForm], isAlternative: Bool = false) {
    (self.forms, self.isAlternative) = (forms, isAlternative)
  }

  /// No arguments.
  public static let none = ArgumentForms([])
}

extension Value {
  /// Converts a value that a device offers to the form that the machine declares: a number becomes a duration in
  /// seconds if the machine expects a duration.
  ///
  /// - Returns: `nil` if the form does not admit the value.
  public func read(as kind: ValueForm.Kind) -> Value? {
    switch (kind, self) {
    case (.duration(let range), .duration(let length)): range.contains(length) ? self : nil
    case (.duration(let range), .integer(let seconds)):
      Self.duration(of: Double(seconds), in: range)
    case (.duration(let range), .number(let seconds)): Self.duration(of: seconds, in: range)
    case (.duration(let range), .text(let text)):
      Interval(text: text).flatMap { range.contains($0) ? .duration($0) : nil }
    case (.wholeNumber(let range), .integer(let number)): range.contains(Int(number)) ? self : nil
    case (.number(let range), .integer(let number)):
      range.contains(Double(number)) ? self : nil
    case (.number(let range), .number(let number)): range.contains(number) ? self : nil
    case (.flag, .flag), (.text, .text), (.hexadecimal, .text), (.hexadecimal, .bytes): self
    case (_, .unknown), (_, .absent): self
    case (.instant, .instant): self
    case (.instant, .duration(let length)): .instant(length)
    case (.instant, .integer(let seconds)): .instant(.seconds(Int64(seconds)))
    case (.instant, .number(let seconds)): Self.length(Double(seconds)).map { .instant($0) }
    case (.list(let kind, let capacity), .list(let values)):
      values.count <= capacity ? Self.all(values, as: kind).map { .list($0) } : nil
    case (.record(let forms), .record(let fields)): Self.record(fields, forms)
    case (.map(let key, let kind, let capacity), .record(let fields)):
      fields.count <= capacity ? Self.map(fields.map { (Self.key($0.name, key), $0.value) }, key, kind) : nil
    case (.map(let key, let kind, let capacity), .map(let entries)):
      entries.count <= capacity ? Self.map(entries, key, kind) : nil
    case (.choice(let words), .text(let word)): words.contains(word) ? self : nil
    default: nil
    }
  }

  private static func duration(of seconds: Double, in range: ClosedRange<Interval>) -> Value? {
    length(seconds).flatMap { range.contains($0) ? .duration($0) : nil }
  }

  private static func length(_ seconds: Double) -> Interval? {
    let nanoseconds = (seconds * 1e9).rounded()
    return abs(nanoseconds) < 9e18 ? Interval(nanoseconds: Int64(nanoseconds)) : nil
  }

  private static func all(_ values: [Value], as kind: ValueForm.Kind) -> [Value]? {
    let read = values.compactMap { $0.read(as: kind) }
    return read.count == values.count ? read : nil
  }

  /// Brings the fields of a record into the order of the form; a field that is not given is absent.
  private static func record(_ fields: [(name: String, value: Value)], _ forms: [ValueForm]) -> Value? {
    guard fields.allSatisfy({ field in forms.contains { $0.name == field.name } }) else { return nil }
    var read: [(name: String, value: Value)] = []
    for form in forms {
      let field = fields.first { $0.name == form.name }
      guard let value = (field?.value ?? .absent).read(as: form.kind) else { return nil }
      read.append((form.name, value))
    }
    return .record(read)
  }

  /// The key of an entry, which JSON writes as text.
  private static func key(_ name: String, _ kind: ValueForm.Kind) -> Value {
    switch kind {
    case .wholeNumber: Int(name).map { .integer($0) } ?? .text(name)
    case .flag: truth(ofWord: name).map { .flag($0) } ?? .text(name)
    default: .text(name)
    }
  }

  private static func map(
    _ entries: [(key: Value, value: Value)], _ key: ValueForm.Kind, _ kind: ValueForm.Kind
  ) -> Value? {
    var read: [(key: Value, value: Value)] = []
    for entry in entries {
      guard let key = entry.key.read(as: key), let value = entry.value.read(as: kind) else { return nil }
      read.append((key, value))
    }
    return .map(read)
  }
}
