/// An option of a command: how it is written, what it means, and where its value goes.
struct Option<Values> {
  /// The name without its dashes.
  let name: String
  /// What help shows in place of the value; `nil` for an option that takes none.
  let placeholder: String?
  /// What help says of it.
  let summary: String
  /// Stores the value; `nil` when it is none, and then the form that was expected.
  let store: (inout Values, String) -> String?

  /// An option that is there or not.
  static func flag(
    _ name: String, _ path: WritableKeyPath<Values, Bool>, _ summary: String
  ) -> Option {
    Option(name: name, placeholder: nil, summary: summary) { values, _ in
      values[keyPath: path] = true
      return nil
    }
  }

  /// An option with a value.
  static func value<Value: ArgumentValue>(
    _ name: String, _ path: WritableKeyPath<Values, Value>, _ placeholder: String,
    _ summary: String
  ) -> Option {
    Option(name: name, placeholder: placeholder, summary: summary) { values, text in
      guard let value = Value(argument: text) else { return Value.form }
      values[keyPath: path] = value
      return nil
    }
  }

  /// An option with a value that may be left out.
  static func value<Value: ArgumentValue>(
    _ name: String, _ path: WritableKeyPath<Values, Value?>, _ placeholder: String,
    _ summary: String
  ) -> Option {
    Option(name: name, placeholder: placeholder, summary: summary) { values, text in
      guard let value = Value(argument: text) else { return Value.form }
      values[keyPath: path] = value
      return nil
    }
  }
}

extension Option {
  /// The same option in a command whose values have these among them.
  func lifted<Whole>(to path: WritableKeyPath<Whole, Values>) -> Option<Whole> {
    Option<Whole>(name: name, placeholder: placeholder, summary: summary) { values, text in
      store(&values[keyPath: path], text)
    }
  }

  /// An option that may be given several times, with another value each time.
  static func list(
    _ name: String, _ path: WritableKeyPath<Values, [String]>, _ placeholder: String, _ summary: String
  ) -> Option {
    Option(name: name, placeholder: placeholder, summary: summary) { values, text in
      guard !text.isEmpty else { return String.form }
      values[keyPath: path].append(text)
      return nil
    }
  }
}

/// A type that an argument can be read as.
protocol ArgumentValue {
  /// Reads the argument; `nil` when it is none.
  init?(argument: String)
  /// What a message says was expected: `a whole number`.
  static var form: String { get }
}

extension String: ArgumentValue {
  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    self = argument
  }

  static var form: String { "some text" }
}

extension UInt64: ArgumentValue {
  init?(argument: String) { self.init(argument, radix: 10) }
  static var form: String { "a whole number from 0 to \(UInt64.max)" }
}

/// How often something is done.
struct Count: ArgumentValue, Equatable {
  var value: Int
  static let most = 1_000_000
  static let form = "a whole number from 1 to \(most)"

  init(_ value: Int) { self.value = value }

  init?(argument: String) {
    guard let value = Int(argument), (1...Self.most).contains(value) else { return nil }
    self.value = value
  }
}

/// One part of several: `2/4`.
struct Shard: ArgumentValue, Equatable {
  var part: Int
  var count: Int
  static let form = "a part of so many, such as 2/4"

  init?(argument: String) {
    let sides = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let part = Int(sides[0]), let count = Int(sides[1]) else { return nil }
    self.init(part: part, of: count)
  }

  init?(part: Int, of count: Int) {
    guard part >= 1, part <= count else { return nil }
    (self.part, self.count) = (part, count)
  }
}

/// One of a few words.
protocol Choice: ArgumentValue, CaseIterable, RawRepresentable where RawValue == String {}

extension Choice {
  init?(argument: String) { self.init(rawValue: argument) }
  static var form: String { "one of " + Self.allCases.map(\.rawValue).joined(separator: ", ") }
}
