public import Journal
import Basics

extension CommandSet {
  /// The help of the program.
  public var help: String {
    """
    lockstep COMMAND [OPTION…]

    \(purpose)

    \(columns(all.map { ($0.name, $0.summary) }))
    'lockstep help COMMAND' describes a command, 'lockstep help COMMAND --OPTION' an option. 'lockstep man' prints the manual.

    Examples:
    \(examples.map { "  " + $0 }.joined(separator: "\n"))

    Exit status:
    \(columns(statuses))
    """
  }
}

extension Command {
  /// The usage line without individual options.
  public var synopsis: String {
    (["lockstep", name] + (operands.map { [$0.synopsis] } ?? []) + ["[OPTION…]"]).joined(separator: " ")
  }

  /// The whole help of the command.
  public var help: String {
    let lines = examples.map { "  \($0.line)\n      \($0.meaning)\n" }.joined()
    return "\(synopsis)\n\n\(summary)\n\n" + tables
      + paragraphs.map { "\n" + $0.map { $0 + "\n" }.joined() }.joined()
      + (lines.isEmpty ? "" : "\nExamples:\n" + lines)
  }

  /// The operands and options: in one table, or in one table per group, where each option takes one line if
  /// possible. Options outside all groups come last.
  private var tables: String {
    let operands = operands.map { [($0.placeholder, $0.summary)] } ?? []
    func rows(_ options: [OptionForm]) -> [(String, String)] {
      options.map { ($0.synopsis, $0.summary + ($0.placeholder == nil ? "" : " Example: \($0.usage)")) }
    }
    guard !groups.isEmpty else { return columns(operands + rows(options)) }
    func short(_ options: [OptionForm]) -> [(String, String)] {
      let width = leftWidth(options.map(\.synopsis))
      return options.map { ($0.synopsis, beginning(of: $0.summary, in: lineWidth - width - 4)) }
    }
    let named = groups.flatMap(\.names)
    let parts = groups.map { group in (group.heading, options.filter { group.names.contains($0.name) }) }
    let all = parts + [("Other options", options.filter { !named.contains($0.name) })]
    return columns(operands)
      + all.filter { !$0.1.isEmpty }.map { "\n\($0.0):\n" + columns(short($0.1)) }.joined()
      + "\n'lockstep help \(name) --OPTION' describes an option in full, with an example.\n"
  }

  /// The lines of the discussion; indented lines keep their layout.
  private var paragraphs: [[String]] {
    discussion.split(separator: "\n\n").map(String.init).map { part in
      part.hasPrefix("  ")
        ? part.split(separator: "\n").map { String($0) }
        : wrapped(part.replacing("\n", with: " "), to: lineWidth)
    }
  }

  /// Returns the help on one option.
  public func help(on word: String) throws(UsageError) -> String {
    let name = word.drop { $0 == "-" }
    let isLetter = name.count == 1
    guard let option = options.first(where: { isLetter ? $0.short == name.first : $0.name == name }) else {
      let nearest = nearestName(to: String(name), in: options.map(\.name))
      throw UsageError(
        "unknown option '\(word)' of '\(self.name)'" + (nearest.map { ": did you mean '--\($0)'?" } ?? ""))
    }
    var text = "lockstep \(self.name) \(option.synopsis)\n\n\(option.summary)\n"
    if case .choice(let words) = option.kind { text += "One of \(words.joined(separator: ", ")).\n" }
    return text + "\nExample: \(usage(of: option))\n"
  }

  /// Returns a command line that uses the option.
  public func usage(of option: OptionForm) -> String {
    if let example = examples.first(where: { $0.line.contains(option.usage) }) { return example.line }
    return (examples.first?.line ?? "lockstep \(name)") + " " + option.usage
  }
}

/// The width of the help in columns.
private let lineWidth = 100

/// Returns the width of the first column; longer entries take a line of their own.
private func leftWidth(_ words: [String]) -> Int { min(words.map(\.count).max() ?? 0, 26) }

/// Returns the leading sentences of a text that fit a width, but at least one.
private func beginning(of text: String, in width: Int) -> String {
  var end = text.endIndex
  for sentence in text.ranges(of: ". ") {
    let next = text.index(after: sentence.lowerBound)
    if end == text.endIndex || text[..<next].count <= width { end = next }
  }
  return text.count <= width ? text : String(text[..<end])
}

/// Formats two columns; the second one is wrapped.
public func columns(_ rows: [(String, String)]) -> String {
  let width = leftWidth(rows.map(\.0))
  var text = ""
  for (left, right) in rows {
    let lines = wrapped(right, to: lineWidth - width - 4)
    var head = "  " + left
    if left.count > width {
      text += head + "\n"
      head = ""
    }
    for line in lines {
      text += head.leftAligned(in: width + 4) + line + "\n"
      head = ""
    }
  }
  return text
}
