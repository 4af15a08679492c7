public import Basics

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
