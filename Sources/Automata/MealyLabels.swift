import Documents

/// One row in the label of an edge: an input, and the output behind the slash if there is one.
struct MealyRow {
  var input: String
  var output: String?
}

extension DOTGraph.Value {
  /// Reads the label of an edge.
  ///
  /// A row is `in/out`, or `in` alone. A label has several rows on lines of their own, or with ` | ` between them. In
  /// `in | in / out`, the inputs share the output. An HTML label may have inputs in its first line, and their output
  /// below.
  ///
  /// - Throws: A problem if the label can be read in several ways.
  func mealyRows() throws(DOTProblem) -> [MealyRow] {
    let lines = self.lines
    var rows: [MealyRow] = []
    if isHTML, lines.count > 1, !lines[0].contains("/") {
      rows = try inputsAboveOutput(lines)
    } else {
      for line in lines { rows += try mealyRows(in: line) }
    }
    let haveOutputs = rows.contains { $0.output != nil }
    for row in rows {
      if let condition = row.condition(isAlone: rows.count == 1) { throw conditional(condition) }
      guard row.output != nil || !haveOutputs else {
        throw DOTProblem(
          start, to: end, "the row `\(row.input)` of this label has no output, but another row has one",
          hint: "write each row as `in/out`, or the inputs as `in | in / out`")
      }
    }
    return rows
  }

  /// Reads inputs in the first line, with `|` between them, and their output in the lines below.
  private func inputsAboveOutput(_ lines: [String]) throws(DOTProblem) -> [MealyRow] {
    // A list of inputs may continue in the next line.
    let last = lines.indices.first { line in
      !lines[line].hasSuffix("|") && !lines[(line + 1)...].prefix(1).contains { $0.hasPrefix("|") }
    }
    let below = lines[((last ?? lines.count - 1) + 1)...]
    let inputs = lines.dropLast(below.count).joined(separator: " ").split(
      separator: "|", omittingEmptySubsequences: false
    ).map { trim($0) }
    guard !inputs.contains("") else { throw emptyRow }
    guard !below.isEmpty else { return inputs.map { MealyRow(input: $0) } }
    if let condition = below.first(where: isBracketed) { throw conditional(condition) }
    let text = below.joined(separator: " ")
    // In UML, an action begins with a slash.
    let output = trim(text.hasPrefix("/") ? text.dropFirst() : text[...])
    return inputs.map { MealyRow(input: $0, output: output) }
  }

  private func mealyRows(in line: String) throws(DOTProblem) -> [MealyRow] {
    let slash = line.contains(" / ") ? " / " : "/"
    let parts = partsOfRows(line)
    guard !parts.contains("") else { throw emptyRow }
    guard parts.count > 1 else {
      let row = MealyRow(line, slash: slash)
      if row.output.map({ hasRow($0, slash: slash) }) == true { throw severalRows }
      return [row]
    }
    // `a/b | c / d`: either slash may be the one before an output.
    if parts.contains(where: { $0.contains("/") && !$0.contains(slash) }) { throw severalRows }
    let rows = parts.map { MealyRow($0, slash: slash) }
    guard let output = rows.last?.output, rows.dropLast().allSatisfy({ $0.output == nil }) else {
      return rows
    }
    return rows.map { MealyRow(input: $0.input, output: output) }
  }

  private func conditional(_ condition: String) -> DOTProblem {
    DOTProblem(
      start, to: end, "`\(condition)` is a condition, and conditions of edges are not read from DOT",
      hint: "write the machine in YAML")
  }

  private var emptyRow: DOTProblem {
    DOTProblem(start, to: end, "a row of this label is empty", hint: "write `in/out` on each side of `|`")
  }

  private var severalRows: DOTProblem {
    DOTProblem(
      start, to: end, "this label may have one row or several",
      hint: "write ` | ` between rows or give each row its own line, and write ` / ` before each output")
  }
}

extension DOTGraph.Value {
  /// The lines of the text, trimmed, without empty ones. In quoted text, `\n`, `\l` and `\r` end a line.
  var lines: [String] {
    var lines = [""]
    var rest = text[...]
    while let character = rest.popFirst() {
      if character.isNewline {
        lines.append("")
        continue
      }
      guard character == "\\", !isHTML, let next = rest.popFirst() else {
        lines[lines.count - 1].append(character)
        continue
      }
      if ["n", "l", "r"].contains(next) {
        lines.append("")
      } else {
        lines[lines.count - 1].append(next)
      }
    }
    return lines.map { trim($0) }.filter { !$0.isEmpty }
  }
}

extension MealyRow {
  fileprivate init(_ text: String, slash: String) {
    let range = text.firstRange(of: slash)
    input = trim(range.map { text[..<$0.lowerBound] } ?? text[...])
    output = range.map { trim(text[$0.upperBound...]) }
  }

  /// The condition in a row such as `unlock [isClosed]`, or in the only text of one of several rows.
  fileprivate func condition(isAlone: Bool) -> String? {
    guard input.hasSuffix("]"), let range = input.firstRange(of: "[") else { return nil }
    if range.lowerBound == input.startIndex { return isAlone ? nil : input }
    return input[..<range.lowerBound].last?.isWhitespace == true ? String(input[range.lowerBound...]) : nil
  }
}

private func isBracketed(_ text: String) -> Bool { text.hasPrefix("[") && text.hasSuffix("]") }

/// Splits a line at each `|` with a blank on both sides; without blanks, `|` is part of a name.
private func partsOfRows(_ line: String) -> [String] {
  var parts: [String] = []
  var rest = line[...]
  while let mark = rest.firstRange(of: " | ") {
    parts.append(trim(rest[..<mark.lowerBound]))
    // The blank may be the one before the next mark.
    rest = rest[rest.index(before: mark.upperBound)...]
  }
  return parts + [trim(rest)]
}

/// Returns whether an output has a separator of lists and, behind it, a slash, both outside of brackets.
private func hasRow(_ output: String, slash: String) -> Bool {
  var depth = 0
  var isBehindMark = false
  var rest = output[...]
  while let character = rest.first {
    if depth == 0, isBehindMark, rest.hasPrefix(slash) { return true }
    switch character {
    case "(", "[", "{": depth += 1
    case ")", "]", "}": depth -= 1
    case "|", ",", ";": isBehindMark = isBehindMark || depth == 0
    default: break
    }
    rest.removeFirst()
  }
  return false
}
