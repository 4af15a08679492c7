public import Journal
import Basics

extension CommandSet {
  /// What the program has to say of itself.
  public var help: String {
    """
    lockstep COMMAND [OPTION…]

    \(purpose)

    \(columns(all.map { ($0.name, $0.summary) }))
    'lockstep help COMMAND' says more of each, 'lockstep help COMMAND --OPTION' of an option, 'lockstep man' everything.

    Examples:
    \(examples.map { "  " + $0 }.joined(separator: "\n"))

    Exit status:
    \(columns(statuses))
    """
  }
}

extension Command {
  /// How it is called, without options.
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

  /// Operands and options: in one table, or in one below each heading. What stands below none comes last.
  private var tables: String {
    let operands = operands.map { [($0.placeholder, $0.summary)] } ?? []
    func rows(_ options: [OptionForm]) -> [(String, String)] {
      options.map { ($0.synopsis, $0.summary + ($0.placeholder == nil ? "" : " Example: \($0.usage)")) }
    }
    guard !groups.isEmpty else { return columns(operands + rows(options)) }
    let named = groups.flatMap(\.names)
    let parts = groups.map { group in (group.heading, options.filter { group.names.contains($0.name) }) }
    let all = parts + [("Other options", options.filter { !named.contains($0.name) })]
    return columns(operands)
      + all.filter { !$0.1.isEmpty }.map { "\n\($0.0):\n" + columns(rows($0.1)) }.joined()
  }

  /// The lines of what is said beside the options; those that are set apart stay as they are.
  private var paragraphs: [[String]] {
    discussion.split(separator: "\n\n").map(String.init).map { part in
      part.hasPrefix("  ")
        ? part.split(separator: "\n").map { String($0) }
        : wrapped(part.replacing("\n", with: " "), to: 100)
    }
  }

  /// What there is to say of one option.
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

  /// A line that uses an option of it.
  public func usage(of option: OptionForm) -> String {
    if let example = examples.first(where: { $0.line.contains(option.usage) }) { return example.line }
    return (examples.first?.line ?? "lockstep \(name)") + " " + option.usage
  }
}

/// Two columns, the second of them broken at the width of a terminal.
public func columns(_ rows: [(String, String)]) -> String {
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
      text += head.leftAligned(in: width + 4) + line + "\n"
      head = ""
    }
  }
  return text
}
