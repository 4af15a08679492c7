public import Basics

/// What may stand under one name, be it an argument of a stimulus or a reading of a device: a scenario that gives or expects
/// anything else is wrong before it is run.
public struct ValueForm: Equatable, Sendable {
  /// What a value may be.
  public enum Kind: Equatable, Sendable {
    case text
    /// Bytes, two digits each.
    case hexadecimal
    case flag
    case wholeNumber(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// A length of time with its unit.
    case duration(ClosedRange<Interval>)
    case choice([String])
  }

  /// The name.
  public var name: String
  /// What stands under it.
  public var kind: Kind

  /// Says what stands under a name.
  public init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }
}

extension ValueForm.Kind {
  /// Any whole number, number or length of time.
  public static var anyWholeNumber: Self { .wholeNumber(.min ... .max) }
  public static var anyNumber: Self {
    .number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
  }
  public static var anyDuration: Self { .duration(.zero ... .forever) }

  /// What is expected, in words.
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
  /// What may be given, in the order in which it is shown.
  public var forms: [ValueForm]
  /// Whether one at the most is given.
  public var isAlternative: Bool

  /// Says what may be given.
  public init(_ forms: [ValueForm], isAlternative: Bool = false) {
    (self.forms, self.isAlternative) = (forms, isAlternative)
  }

  /// Nothing.
  public static let none = ArgumentForms([])
}
