public import Journal
import Basics

/// The declaration of a command's operands, such as paths.
public struct OperandForm: Equatable {
  /// The name of an operand in the help.
  public var placeholder: String
  public var summary: String
  /// The permitted number of operands.
  public var count: ClosedRange<Int>
  /// The kinds of the operands, in order; the last one applies to all that follow.
  public var kinds: [ValueKind]

  /// The operands in a synopsis: `[PATH…]`.
  public var synopsis: String {
    let name = placeholder + (count.upperBound > 1 ? "…" : "")
    return count.lowerBound > 0 ? name : "[\(name)]"
  }
}

/// The options and operands of a command.
public struct ArgumentParser<Values> {
  /// The declaration of the operands, and where to store them.
  public struct Operands {
    public var form: OperandForm
    public var path: WritableKeyPath<Values, [String]>

    public init(
      placeholder: String, summary: String, count: ClosedRange<Int>, as kinds: ValueKind...,
      path: WritableKeyPath<Values, [String]>
    ) {
      form = OperandForm(placeholder: placeholder, summary: summary, count: count, kinds: kinds)
      self.path = path
    }
  }

  public let options: [Option<Values>]
  public let operands: Operands?

  /// Creates a parser for the options and operands of a command.
  public init(options: [Option<Values>], operands: Operands?) {
    self.options = options
    self.operands = operands
  }

  /// The request on a command line.
  public enum Request {
    case run(Values)
    case help
  }

  /// The result of parsing a command line.
  struct Reading {
    var values: Values
    /// The options with their values, in order.
    var options: [(form: OptionForm, value: String)] = []
    var operands: [String] = []

    /// Stores the settings of a file.
    fileprivate mutating func store(_ settings: [Setting], _ options: [Option<Values>]) {
      for setting in settings {
        guard let option = options.first(where: { $0.name == setting.name }) else { continue }
        for value in setting.values { _ = option.store(&values, value) }
      }
    }
  }

  /// Parses the words after the command's name.
  ///
  /// `--seed 42` and `--seed=42` are equivalent, and `-qo DIR` means `-q -o DIR`. If an option is repeated, the
  /// last value counts. After `--`, all words are operands. A value that begins with two dashes requires the equals
  /// sign.
  public func parse(_ words: some Collection<String>, into values: Values) throws(UsageError) -> Request {
    try read(words, into: values).map { .run($0.values) } ?? .help
  }

  /// Parses the words, on top of the settings of a file, and keeps all options and operands.
  ///
  /// - Returns: `nil` if help was requested.
  func read(
    _ words: some Collection<String>, into values: Values, after settings: [Setting] = []
  ) throws(UsageError) -> Reading? {
    var reading = Reading(values: values)
    reading.store(settings, options)
    var found: [String] = []
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      if word == "--" {
        found += rest
        break
      }
      if word == "--help" || word == "-h" { return nil }
      if word.hasPrefix("--") {
        try take(word, &rest, &reading)
      } else if word.hasPrefix("-"), word != "-" {
        try take(letters: word.dropFirst(), of: word, &rest, &reading)
      } else {
        found.append(word)
      }
    }
    try store(found, &reading.values)
    reading.operands = found
    return reading
  }

  private func take(
    _ word: String, _ rest: inout ArraySlice<String>, _ reading: inout Reading
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = options.first(where: { "--" + $0.name == parts[0] }) else {
      throw unknown(parts[0])
    }
    guard option.form.placeholder != nil || parts.count == 1 else {
      throw UsageError("'--\(option.name)' takes no value")
    }
    try store(option, parts.count > 1 ? parts[1] : nil, &rest, &reading)
  }

  /// Parses the letters after one dash. The rest after a letter that needs a value is that value.
  private func take(
    letters: Substring, of word: String, _ rest: inout ArraySlice<String>, _ reading: inout Reading
  ) throws(UsageError) {
    var letters = letters
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.form.short == letter }) else {
        throw unknown(word.count > 2 && letters.count == word.count - 2 ? word : "-\(letter)")
      }
      guard option.form.placeholder != nil else {
        take(option, &reading)
        continue
      }
      return try store(option, letters.isEmpty ? nil : String(letters), &rest, &reading)
    }
  }

  private func unknown(_ word: String) -> UsageError {
    let nearest = nearestName(to: String(word.drop { $0 == "-" }), in: options.map(\.name) + ["help"])
    return UsageError("unknown option '\(word)'" + (nearest.map { ": did you mean '--\($0)'?" } ?? ""))
  }

  private func store(
    _ option: Option<Values>, _ given: String?, _ rest: inout ArraySlice<String>, _ reading: inout Reading
  ) throws(UsageError) {
    guard let placeholder = option.form.placeholder else { return take(option, &reading) }
    let value: String
    if let given {
      value = given
    } else if let next = rest.first, !next.hasPrefix("--") {
      value = rest.removeFirst()
    } else {
      throw UsageError("'--\(option.name)' needs a value: --\(option.name) \(placeholder)")
    }
    if let form = option.store(&reading.values, value) {
      throw UsageError(
        "'--\(option.name)' expects \(form), not '\(value)'" + suggestion(for: value, option.form))
    }
    reading.options.append((option.form, value))
  }

  private func take(_ flag: Option<Values>, _ reading: inout Reading) {
    _ = flag.store(&reading.values, "")
    reading.options.append((flag.form, ""))
  }

  /// Returns a hint at the choice that was probably meant. The part of the value after `=` does not count.
  private func suggestion(for value: String, _ form: OptionForm) -> String {
    guard case .choice(let names) = form.kind else { return "" }
    let word = String(value.prefix { $0 != "=" })
    guard !names.contains(word), let name = nearestName(to: word, in: names) else { return "" }
    return ": did you mean '\(name)'?"
  }

  private func store(_ found: [String], _ values: inout Values) throws(UsageError) {
    guard let operands else {
      if let first = found.first { throw UsageError("unexpected argument '\(first)'") }
      return
    }
    let count = operands.form.count
    if found.count > count.upperBound { throw UsageError("unexpected argument '\(found[count.upperBound])'") }
    if found.count < count.lowerBound { throw UsageError("missing \(operands.form.placeholder)") }
    values[keyPath: operands.path] = found
  }
}
