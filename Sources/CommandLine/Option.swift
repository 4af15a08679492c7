public import Basics
public import Documents
public import Journal
public import System

/// How an option is written, and what is said of it: all that help, completions and the manual need.
public struct OptionForm: Equatable, Sendable {
  /// The name without its dashes.
  public var name: String
  /// The letter that stands for it after one dash.
  public var short: Character?
  /// What help shows in place of the value; `nil` for an option that takes none.
  public var placeholder: String?
  /// What help says of it.
  public var summary: String
  /// A value that makes sense; empty for an option that takes none.
  public var example: String
  /// What its value is.
  public var kind: ValueKind
  /// What it means to give it more than once.
  public var repetition = Repetition.replaces
  /// Why no file may give it, where none may.
  public var reservation: Reservation?
  /// What a command line must have, any of it, for what a file says of the option to hold; nothing where it holds anyway.
  public var needs: [Typed] = []
  /// What puts aside what a file says of the option, as the option itself does.
  public var rivals: [Typed] = []

  /// What it means to give an option more than once.
  public enum Repetition: Equatable, Sendable {
    /// The last one holds.
    case replaces
    /// It means more the more often it is there.
    case counts
    /// Each adds a value.
    case adds
  }

  /// What only whoever types a command line may say.
  public struct Reservation: Equatable, Sendable {
    /// Why, as the rest of a sentence.
    public var reason: String
    /// The beginning of the values that are meant; all of them where it is empty.
    public var beginning = ""
    /// Whether a command line that has it takes nothing from a file.
    public var standsAlone = false
  }

  /// As it is called: `-o, --out DIR`.
  public var synopsis: String {
    (short.map { "-\($0), " } ?? "") + "--" + name + (placeholder.map { " " + $0 } ?? "")
  }

  /// As somebody may type it: `--out Reports/nightly`.
  public var usage: String {
    "--" + name + (placeholder == nil ? "" : (example.hasPrefix("-") ? "=" : " ") + shellWord(example))
  }
}

/// What a value is, for a shell that completes it.
public enum ValueKind: Equatable, Sendable {
  /// Something that nobody can guess.
  case text
  case choice([String])
  case file
  case folder
  case command
  /// Something that the program knows, by what it calls that.
  case known(String)
  /// Words of another command line, of which nothing is completed.
  case words
}

/// An option of a command: how it is written, what it means, and where its value goes.
public struct Option<Values> {
  public internal(set) var form: OptionForm
  /// The value with the path in it led elsewhere, where one is in it.
  var moved: (String, (String) -> String) -> String = { text, _ in text }
  /// What is wrong with a value that has the form of one.
  var problem: (String) -> ValueProblem? = { _ in nil }
  /// What the environment says where nobody else does, and which variable of it.
  var told: (Values) throws(UsageError) -> (value: String, variable: String)? = { _ in nil }
  /// Stores the value; `nil` when it is none, and then the form that was expected.
  public let store: (inout Values, String) -> String?

  /// The name without its dashes.
  public var name: String { form.name }

  /// An option that is there or not.
  public static func flag(
    _ name: String, _ path: WritableKeyPath<Values, Bool>, _ summary: String, short: Character? = nil
  ) -> Option {
    flag(name, summary, short: short) { $0[keyPath: path] = true }
  }

  /// An option that means more the more often it is there.
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

  /// An option with a value that may be left out.
  public static func value<Value: ArgumentValue>(
    _ name: String, _ path: WritableKeyPath<Values, Value?>, _ placeholder: String, _ summary: String,
    example: String, as kind: ValueKind? = nil, short: Character? = nil
  ) -> Option {
    value(name, placeholder, summary, example, kind, short) { values, value in
      values[keyPath: path] = value
    }
  }

  /// An option that may be given several times, with another value each time.
  public static func list(
    _ name: String, _ path: WritableKeyPath<Values, [String]>, _ placeholder: String, _ summary: String,
    example: String, as kind: ValueKind? = nil, short: Character? = nil
  ) -> Option {
    value(name, placeholder, summary, example, kind, short) { (values: inout Values, value: String) in
      values[keyPath: path].append(value)
    }.repeating(.adds)
  }

  /// An option that may be given several times, and adds an item each time to a list that other options add to as well: the
  /// list has the order of the command line.
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
      form: form, moved: { text, move in Value.moved(text, as: kind, by: move) },
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

  /// The same option, which no file of settings may give.
  ///
  /// - Parameters:
  ///   - reason: why, as the rest of a sentence.
  ///   - beginning: the beginning of the values that are meant; all of them unless given.
  ///   - standsAlone: whether a command line that has it takes nothing from a file.
  public func typedOnly(
    since reason: String, beginning: String = "", standsAlone: Bool = false
  ) -> Option {
    var option = self
    option.form.reservation = OptionForm.Reservation(
      reason: reason, beginning: beginning, standsAlone: standsAlone)
    return option
  }

  /// The same option, of which what a file says holds only where any of this is typed.
  public func heldOnly(beside needs: [OptionForm.Typed]) -> Option {
    var option = self
    option.form.needs = needs
    return option
  }

  /// The same option, of which what a file says is put aside where any of this is typed: they exclude or replace one another.
  public func replaced(by rivals: OptionForm.Typed...) -> Option {
    var option = self
    option.form.rivals += rivals
    return option
  }

  /// The same option with a closer look at its value: a file is refused for what is wrong with it, before anything is run.
  public func checked(by problem: @escaping (String) -> ValueProblem?) -> Option {
    var option = self
    option.problem = problem
    return option
  }

  /// The same option, which the environment may give where neither a command line nor a file does.
  ///
  /// - Parameter told: the value, and the variable that says it.
  public func told(
    by told: @escaping (Values) throws(UsageError) -> (value: String, variable: String)?
  ) -> Option {
    var option = self
    option.told = told
    return option
  }

  /// The same option in a command whose values have these among them.
  public func lifted<Whole>(to path: WritableKeyPath<Whole, Values>) -> Option<Whole> {
    Option<Whole>(
      form: form, moved: moved, problem: problem,
      told: { values throws(UsageError) in try told(values[keyPath: path]) },
      store: { values, text in store(&values[keyPath: path], text) })
  }
}

/// What is wrong with a value that has the form of one.
public struct ValueProblem {
  let code: Problem.Code
  let message: String
  let hint: Advice?

  public init(_ message: String, code: Problem.Code = .wrongValue, hint: Advice? = nil) {
    (self.code, self.message, self.hint) = (code, message, hint)
  }
}

/// A type that an argument can be read as.
public protocol ArgumentValue {
  /// Reads the argument; `nil` when it is none.
  init?(argument: String)
  /// What a message says was expected: `a whole number`.
  static var form: String { get }
  /// What such a value is, for a shell that completes it.
  static var kind: ValueKind { get }
  /// The argument with the path in it led elsewhere; as it is where there is none.
  static func moved(_ argument: String, as kind: ValueKind, by move: (String) -> String) -> String
}

extension ArgumentValue {
  public static var kind: ValueKind { .text }

  public static func moved(
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

/// How often something is done.
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

/// One of a few words.
public protocol WordChoice: ArgumentValue, CaseIterable, RawRepresentable where RawValue == String {}

extension WordChoice {
  public init?(argument: String) { self.init(rawValue: argument) }
  public static var form: String { "one of " + Self.allCases.map(\.rawValue).joined(separator: ", ") }
  public static var kind: ValueKind { .choice(Self.allCases.map(\.rawValue)) }
}

extension Interval: ArgumentValue {
  /// Reads a duration with its unit, or a number of seconds.
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
