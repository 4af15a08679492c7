public import Basics
public import Documents
public import Journal
public import System

/// The syntax and description of an option: everything that help, completions and the manual need.
public struct OptionForm: Equatable, Sendable {
  /// The name without its dashes.
  public var name: String
  /// The letter of the short form.
  public var short: Character?
  /// The value's placeholder in the help; `nil` for an option without a value.
  public var placeholder: String?
  /// The description in the help.
  public var summary: String
  /// A sensible value; empty for an option without a value.
  public var example: String
  /// The kind of the value.
  public var kind: ValueKind
  /// The effect of repeating the option.
  public var repetition = Repetition.replaces
  /// Why files may not set the option, if they may not.
  public var reservation: Reservation?
  /// If not empty, a file's value of the option only applies if the command line contains one of these.
  public var needs: [Typed] = []
  /// What on a command line overrides a file's value of the option, in addition to the option itself.
  public var rivals: [Typed] = []

  /// The effect of repeating an option.
  public enum Repetition: Equatable, Sendable {
    /// The last value counts.
    case replaces
    /// The number of repetitions counts.
    case counts
    /// Each repetition adds a value.
    case adds
  }

  /// A restriction of an option to the command line.
  public struct Reservation: Equatable, Sendable {
    /// The reason, as the rest of a sentence.
    public var reason: String
    /// The prefix of the restricted values; all values if it is empty.
    public var beginning = ""
    /// Whether no settings file applies to a command line with this option.
    public var standsAlone = false
  }

  /// The option in a synopsis: `-o, --out DIR`.
  public var synopsis: String {
    (short.map { "-\($0), " } ?? "") + "--" + name + (placeholder.map { " " + $0 } ?? "")
  }

  /// The option as typed: `--out Reports/nightly`.
  public var usage: String {
    "--" + name + (placeholder == nil ? "" : (example.hasPrefix("-") ? "=" : " ") + shellWord(example))
  }
}

/// The kind of a value, for shell completion.
public enum ValueKind: Equatable, Sendable {
  /// A value that cannot be completed.
  case text
  case choice([String])
  case file
  case folder
  case command
  /// A value known to the program, with the name of its kind.
  case known(String)
  /// Words of another command line, which are not completed.
  case words
}

/// An option of a command: its form, and where to store its value.
public struct Option<Values> {
  public internal(set) var form: OptionForm
  /// Transforms the path in the value, if it contains one.
  var relocated: (String, (String) -> String) -> String = { text, _ in text }
  /// Returns the problem of a well-formed value.
  var problem: (String) -> ValueProblem? = { _ in nil }
  /// Returns the value from the environment, with the name of the variable, for a case without any other value.
  var environmentValue: (Values) throws(UsageError) -> (value: String, variable: String)? = { _ in nil }
  /// Stores the value. Returns `nil` on success, and otherwise the expected form.
  public let store: (inout Values, String) -> String?

  /// The name without its dashes.
  public var name: String { form.name }

  /// An option without a value.
  public static func flag(
    _ name: String, _ path: WritableKeyPath<Values, Bool>, _ summary: String, short: Character? = nil
  ) -> Option {
    flag(name, summary, short: short) { $0[keyPath: path] = true }
  }

  /// An option whose number of repetitions counts.
  public static func repeated(
    _ name: String, _ path: WritableKeyPath<Values, Int>, _ summary: String, short: Character? = nil
  ) -> Option {
    flag(name, summary, short: short) { $0[keyPath: path] += 1 }.repeating(.counts)
  }

  private static func flag(
    _ name: String, _ summary: String, short: Character?, _ set: @escaping (inout Values) -> Void
  ) -> Option {
    let form = OptionForm(name: name, short: short, summary: summary, example: "", kind: .text)
    return Option(
      form: form,
      store: { values, _ in
        set(&values)
        return nil
      })
  }

  /// An option with a value.
  public static func value<Value: ArgumentValue>(
    _ name: String, _ path: WritableKeyPath<Values, Value>, _ placeholder: String, _ summary: String,
    example: String, as kind: ValueKind? = nil, short: Character? = nil
  ) -> Option {
    value(name, placeholder, summary, example, kind, short) { values, value in
      values[keyPath: path] = value
    }
  }

  /// An option with an optional value.
  public static func value<Value: ArgumentValue>(
    _ name: String, _ path: WritableKeyPath<Values, Value?>, _ placeholder: String, _ summary: String,
    example: String, as kind: ValueKind? = nil, short: Character? = nil
  ) -> Option {
    value(name, placeholder, summary, example, kind, short) { values, value in
      values[keyPath: path] = value
    }
  }

  /// An option that may be repeated, with a different value each time.
  public static func list(
    _ name: String, _ path: WritableKeyPath<Values, [String]>, _ placeholder: String, _ summary: String,
    example: String, as kind: ValueKind? = nil, short: Character? = nil
  ) -> Option {
    value(name, placeholder, summary, example, kind, short) { (values: inout Values, value: String) in
      values[keyPath: path].append(value)
    }.repeating(.adds)
  }

  /// A repeatable option that adds an item to a list shared with other options; the list has the order of the
  /// command line.
  public static func adding<Value: ArgumentValue, Item>(
    _ name: String, _ path: WritableKeyPath<Values, [Item]>, _ placeholder: String, _ summary: String,
    example: String, item: @escaping (Value) -> Item
  ) -> Option {
    value(name, placeholder, summary, example, nil, nil) { (values: inout Values, value: Value) in
      values[keyPath: path].append(item(value))
    }.repeating(.adds)
  }

  private static func value<Value: ArgumentValue>(
    _ name: String, _ placeholder: String, _ summary: String, _ example: String, _ kind: ValueKind?,
    _ short: Character?, _ set: @escaping (inout Values, Value) -> Void
  ) -> Option {
    let kind = kind ?? Value.kind
    let form = OptionForm(
      name: name, short: short, placeholder: placeholder, summary: summary, example: example, kind: kind)
    return Option(
      form: form, relocated: { text, move in Value.relocated(text, as: kind, by: move) },
      store: { values, text in
        guard let value = Value(argument: text) else { return Value.form }
        set(&values, value)
        return nil
      })
  }

  private func repeating(_ repetition: OptionForm.Repetition) -> Option {
    var option = self
    option.form.repetition = repetition
    return option
  }

  /// Returns the option with a restriction to the command line.
  ///
  /// - Parameters:
  ///   - reason: the reason, as the rest of a sentence.
  ///   - beginning: the prefix of the restricted values; by default all values.
  ///   - standsAlone: whether no settings file applies to a command line with this option.
  public func typedOnly(
    since reason: String, beginning: String = "", standsAlone: Bool = false
  ) -> Option {
    var option = self
    option.form.reservation = OptionForm.Reservation(
      reason: reason, beginning: beginning, standsAlone: standsAlone)
    return option
  }

  /// Returns the option so that a file's value only applies if one of these is on the command line.
  public func heldOnly(beside needs: [OptionForm.Typed]) -> Option {
    var option = self
    option.form.needs = needs
    return option
  }

  /// Returns the option so that any of these on the command line overrides a file's value: they exclude or replace
  /// each other.
  public func replaced(by rivals: OptionForm.Typed...) -> Option {
    var option = self
    option.form.rivals += rivals
    return option
  }

  /// Returns the option with a validation of its value: a file with an invalid value is rejected before anything
  /// runs.
  public func checked(by problem: @escaping (String) -> ValueProblem?) -> Option {
    var option = self
    option.problem = problem
    return option
  }

  /// Returns the option with a value from the environment, for use if neither a command line nor a file sets it.
  ///
  /// - Parameter environmentValue: returns the value and the name of the variable.
  public func fromEnvironment(
    by environmentValue: @escaping (Values) throws(UsageError) -> (value: String, variable: String)?
  ) -> Option {
    var option = self
    option.environmentValue = environmentValue
    return option
  }

  /// Returns the option for a command whose values contain these.
  public func lifted<Whole>(to path: WritableKeyPath<Whole, Values>) -> Option<Whole> {
    Option<Whole>(
      form: form, relocated: relocated, problem: problem,
      environmentValue: { values throws(UsageError) in try environmentValue(values[keyPath: path]) },
      store: { values, text in store(&values[keyPath: path], text) })
  }
}

/// The problem of a well-formed value.
public struct ValueProblem {
  let code: Problem.Code
  let message: String
  let hint: Advice?

  public init(_ message: String, code: Problem.Code = .wrongValue, hint: Advice? = nil) {
    (self.code, self.message, self.hint) = (code, message, hint)
  }
}

/// A type that can be parsed from an argument.
public protocol ArgumentValue {
  /// Parses the argument; `nil` if it is invalid.
  init?(argument: String)
  /// The expected form in error messages: `a whole number`.
  static var form: String { get }
  /// The kind of the values, for shell completion.
  static var kind: ValueKind { get }
  /// Transforms the path in the argument, if it contains one.
  static func relocated(_ argument: String, as kind: ValueKind, by move: (String) -> String) -> String
}

extension ArgumentValue {
  public static var kind: ValueKind { .text }

  public static func relocated(
    _ argument: String, as kind: ValueKind, by move: (String) -> String
  ) -> String {
    kind == .file || kind == .folder ? move(argument) : argument
  }
}

extension String: ArgumentValue {
  public init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    self = argument
  }

  public static var form: String { "some text" }
}

extension UInt64: ArgumentValue {
  public init?(argument: String) { self.init(argument, radix: 10) }
  public static var form: String { "a whole number from 0 to \(UInt64.max)" }
}

/// A number of repetitions.
public struct Count: ArgumentValue, Equatable {
  public var value: Int
  public static let maximum = 1_000_000
  public static let form = "a whole number from 1 to \(maximum)"

  public init(_ value: Int) { self.value = value }

  public init?(argument: String) {
    guard let value = Int(argument), (1...Self.maximum).contains(value) else { return nil }
    self.value = value
  }
}

/// A choice among a few words.
public protocol WordChoice: ArgumentValue, CaseIterable, RawRepresentable where RawValue == String {}

extension WordChoice {
  public init?(argument: String) { self.init(rawValue: argument) }
  public static var form: String { "one of " + Self.allCases.map(\.rawValue).joined(separator: ", ") }
  public static var kind: ValueKind { .choice(Self.allCases.map(\.rawValue)) }
}

extension Interval: ArgumentValue {
  /// Parses a duration with its unit, or a number of seconds.
  public init?(argument: String) {
    let isNumber = argument.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
    guard let interval = Interval(text: isNumber ? argument + " s" : argument), interval > .zero else {
      return nil
    }
    self = interval
  }

  public static var form: String { "a duration such as 5s" }
}

extension ColorChoice: WordChoice {}
extension OutputFormat: WordChoice {}
