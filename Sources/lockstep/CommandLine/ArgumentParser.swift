import Documents

/// What is wrong with a command line, in one line.
struct UsageError: Error, Equatable {
  var message: String

  init(_ message: String) {
    self.message = message
  }
}

/// The options and operands of a command.
struct ArgumentParser<Values> {
  /// The operands, such as paths: what help calls them, how many there may be, and where they go.
  struct Operands {
    var placeholder: String
    var summary: String
    var count: ClosedRange<Int>
    var path: WritableKeyPath<Values, [String]>
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
  /// `--seed 42` and `--seed=42` mean the same; the last of several holds; after `--` all words are operands. A value
  /// that begins with dashes needs the equals sign.
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
      guard word.hasPrefix("-"), word != "-" else {
        found.append(word)
        continue
      }
      try take(word, &rest, &values)
    }
    try store(found, &values)
    return .run(values)
  }

  private func take(
    _ word: String, _ rest: inout ArraySlice<String>, _ values: inout Values
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = options.first(where: { "--" + $0.name == parts[0] }) else {
      let nearest = nearestName(to: String(parts[0].drop { $0 == "-" }), in: options.map(\.name) + ["help"])
      throw UsageError("unknown option '\(parts[0])'" + (nearest.map { ": did you mean '--\($0)'?" } ?? ""))
    }
    guard let placeholder = option.placeholder else {
      if parts.count > 1 { throw UsageError("'--\(option.name)' takes no value") }
      _ = option.store(&values, "")
      return
    }
    let value: String
    if parts.count > 1 {
      value = parts[1]
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
    if found.count > operands.count.upperBound {
      throw UsageError("unexpected argument '\(found[operands.count.upperBound])'")
    }
    if found.count < operands.count.lowerBound { throw UsageError("missing \(operands.placeholder)") }
    values[keyPath: operands.path] = found
  }

  /// How the command is called, without its name.
  var synopsis: String {
    var words: [String] = []
    if let operands {
      let name = operands.placeholder + (operands.count.upperBound > 1 ? "…" : "")
      words.append(operands.count.lowerBound > 0 ? name : "[\(name)]")
    }
    if !options.isEmpty { words.append("[OPTION…]") }
    return words.joined(separator: " ")
  }

  /// What help says of operands and options.
  var help: String {
    var rows: [(String, String)] = []
    if let operands { rows.append((operands.placeholder, operands.summary)) }
    for option in options {
      rows.append(("--" + option.name + (option.placeholder.map { " " + $0 } ?? ""), option.summary))
    }
    rows.append(("--help", "Show this text."))
    return columns(rows)
  }
}

/// Two columns, the second of them broken at the width of a terminal.
func columns(_ rows: [(String, String)]) -> String {
  let width = min(rows.map(\.0.count).max() ?? 0, 26)
  var text = ""
  for (left, right) in rows {
    let lines = wrapped(right, to: 100 - width - 4)
    var head = "  " + left
    if left.count > width {
      text += head + "\n"
      head = ""
    }
    for line in lines {
      text += head + String(repeating: " ", count: width + 4 - head.count) + line + "\n"
      head = ""
    }
  }
  return text
}

private func wrapped(_ text: String, to width: Int) -> [String] {
  var lines = [""]
  for word in text.split(separator: " ") {
    if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + word.count + 1 > width {
      lines.append("")
    }
    lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
  }
  return lines
}
