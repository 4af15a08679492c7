import Conformance
import Sesame
import Journal
import Basics
import System

/// What is wrong with a command line, in one line.
struct UsageError: Error, Equatable {
  var message: String
  /// What the command ends with: nothing is wrong with a command line that this machine is not fit for.
  var status = CommandStatus.usage

  init(_ message: String, status: CommandStatus = .usage) {
    self.message = message
    self.status = status
  }
}

/// What comes of something that the command line asks for; where that fails, the command line is wrong.
///
/// - Parameter head: what the message begins with, such as `--key: `.
func checked<Value>(_ head: String = "", _ body: () throws -> Value) throws(UsageError) -> Value {
  do {
    return try body()
  } catch let fault as FileFault where fault.isMachines {
    throw UsageError("\(head)\(fault)", status: .labFault)
  } catch {
    throw UsageError("\(head)\(error)")
  }
}

/// What to say of a name that is none: the one that is nearest, or those that there are.
func hint(for name: String, of names: [String], saying all: String = "there are") -> String {
  nearestName(to: name, in: names).map { "did you mean '\($0)'?" }
    ?? "\(all) \(names.joined(separator: ", "))"
}

/// The bytes of a file that the command line names.
func namedFile(_ path: String) throws(UsageError) -> [UInt8] {
  try checked { try WholeFile.bytes(of: path) }
}

/// What is said of the operands of a command, such as paths.
struct OperandForm: Equatable {
  /// What help calls them.
  var placeholder: String
  var summary: String
  /// How many there may be.
  var count: ClosedRange<Int>
  /// What they are, one after the other; the last kind holds for all that follow.
  var kinds: [ValueKind]

  /// As they are called: `[PATH…]`.
  var synopsis: String {
    let name = placeholder + (count.upperBound > 1 ? "…" : "")
    return count.lowerBound > 0 ? name : "[\(name)]"
  }
}

/// The options and operands of a command.
struct ArgumentParser<Values> {
  /// The operands, and where they go.
  struct Operands {
    var form: OperandForm
    var path: WritableKeyPath<Values, [String]>

    init(
      placeholder: String, summary: String, count: ClosedRange<Int>, as kinds: ValueKind...,
      path: WritableKeyPath<Values, [String]>
    ) {
      form = OperandForm(placeholder: placeholder, summary: summary, count: count, kinds: kinds)
      self.path = path
    }
  }

  let options: [Option<Values>]
  let operands: Operands?

  /// What somebody wants to be done.
  enum Request {
    case run(Values)
    case help
  }

  /// Reads the words after the command's name.
  ///
  /// `--seed 42` and `--seed=42` mean the same, `-qo DIR` is `-q -o DIR`; the last of several holds; after `--` all
  /// words are operands. A value that begins with dashes needs the equals sign.
  func parse(_ words: some Collection<String>, into values: Values) throws(UsageError) -> Request {
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
      throw UsageError("'--\(option.name)' expects \(form), not '\(value)'")
    }
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
