public import Journal
import Basics

/// What is said of the operands of a command, such as paths.
public struct OperandForm: Equatable {
  /// What help calls them.
  public var placeholder: String
  public var summary: String
  /// How many there may be.
  public var count: ClosedRange<Int>
  /// What they are, one after the other; the last kind holds for all that follow.
  public var kinds: [ValueKind]

  /// As they are called: `[PATH…]`.
  public var synopsis: String {
    let name = placeholder + (count.upperBound > 1 ? "…" : "")
    return count.lowerBound > 0 ? name : "[\(name)]"
  }
}

/// The options and operands of a command.
public struct ArgumentParser<Values> {
  /// The operands, and where they go.
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

  /// Gathers what a command takes.
  public init(options: [Option<Values>], operands: Operands?) {
    self.options = options
    self.operands = operands
  }

  /// What somebody wants to be done.
  public enum Request {
    case run(Values)
    case help
  }

  /// Reads the words after the command's name.
  ///
  /// `--seed 42` and `--seed=42` mean the same, `-qo DIR` is `-q -o DIR`; the last of several holds; after `--` all
  /// words are operands. A value that begins with dashes needs the equals sign.
  public func parse(_ words: some Collection<String>, into values: Values) throws(UsageError) -> Request {
    var values = values
    var found: [String] = []
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      if word == "--" {
        found += rest
        break
      }
      if word == "--help" || word == "-h" { return .help }
      if word.hasPrefix("--") {
        try take(word, &rest, &values)
      } else if word.hasPrefix("-"), word != "-" {
        try take(letters: word.dropFirst(), of: word, &rest, &values)
      } else {
        found.append(word)
      }
    }
    try store(found, &values)
    return .run(values)
  }

  private func take(
    _ word: String, _ rest: inout ArraySlice<String>, _ values: inout Values
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = options.first(where: { "--" + $0.name == parts[0] }) else {
      throw unknown(parts[0])
    }
    guard option.form.placeholder != nil || parts.count == 1 else {
      throw UsageError("'--\(option.name)' takes no value")
    }
    try store(option, parts.count > 1 ? parts[1] : nil, &rest, &values)
  }

  /// Takes in letters after one dash. What follows one that needs a value is that value.
  private func take(
    letters: Substring, of word: String, _ rest: inout ArraySlice<String>, _ values: inout Values
  ) throws(UsageError) {
    var letters = letters
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.form.short == letter }) else {
        throw unknown(word.count > 2 && letters.count == word.count - 2 ? word : "-\(letter)")
      }
      guard option.form.placeholder != nil else {
        _ = option.store(&values, "")
        continue
      }
      return try store(option, letters.isEmpty ? nil : String(letters), &rest, &values)
    }
  }

  private func unknown(_ word: String) -> UsageError {
    let nearest = nearestName(to: String(word.drop { $0 == "-" }), in: options.map(\.name) + ["help"])
    return UsageError("unknown option '\(word)'" + (nearest.map { ": did you mean '--\($0)'?" } ?? ""))
  }

  private func store(
    _ option: Option<Values>, _ given: String?, _ rest: inout ArraySlice<String>, _ values: inout Values
  ) throws(UsageError) {
    guard let placeholder = option.form.placeholder else {
      _ = option.store(&values, "")
      return
    }
    let value: String
    if let given {
      value = given
    } else if let next = rest.first, !next.hasPrefix("--") {
      value = rest.removeFirst()
    } else {
      throw UsageError("'--\(option.name)' needs a value: --\(option.name) \(placeholder)")
    }
    if let form = option.store(&values, value) {
      throw UsageError(
        "'--\(option.name)' expects \(form), not '\(value)'" + suggestion(for: value, option.form))
    }
  }

  /// Which of the words that there are may have been meant; what stands behind a `=` is no part of the word.
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
