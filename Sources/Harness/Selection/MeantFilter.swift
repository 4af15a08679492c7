import Basics

extension ScenarioFilter {
  /// The expression that was probably meant by a text that is used literally: `text(jam) & text(door)` for
  /// `jam & door`; `nil` if it does not look like one.
  public static func expression(meantBy text: String) -> String? {
    guard !isExpression(text), text.utf8.count <= 200 else { return nil }
    var reader = MeantFilter(text)
    guard let expression = reader.read(), (try? ScenarioFilter(expression)) != nil else { return nil }
    return expression
  }
}

/// Parses a text that is no expression as if it were one.
private struct MeantFilter {
  private static let words = ["and": " & ", "or": " | ", "not": "!"]

  private var rest: Substring
  private var expression = ""
  /// The adjacent words read so far.
  private var operand: [Substring] = []
  /// Whether there is anything but words and parentheses.
  private var isMeant = false

  init(_ text: String) { rest = text[...] }

  mutating func read() -> String? {
    while let first = rest.first {
      let isLone = rest.dropFirst().first?.isWhitespace == true && !operand.isEmpty
      switch first {
      case "&", "|":
        rest = rest.drop { $0 == first }
        take(mark: " \(first) ")
      case "-" where isLone, "+" where isLone:
        rest.removeFirst()
        take(mark: " \(first) ")
      case "!":
        rest.removeFirst()
        take(mark: "!")
      case "(" where ScenarioFilter.subjects.contains(operand.last.map(String.init) ?? ""):
        guard call() else { return nil }
      case "(", ")":
        rest.removeFirst()
        endOperand()
        expression.append(first)
      case _ where first.isWhitespace: rest.removeFirst()
      default: word()
      }
    }
    endOperand()
    return isMeant ? expression : nil
  }

  private mutating func word() {
    let word = rest.prefix { !$0.isWhitespace && !"&|!()".contains($0) }
    rest = rest.dropFirst(word.count)
    if let mark = Self.words[String(word)] { take(mark: mark) } else { operand.append(word) }
  }

  private mutating func take(mark: String) {
    endOperand()
    expression += mark
    isMeant = true
  }

  /// A predicate with blanks before its parentheses.
  private mutating func call() -> Bool {
    guard operand.count == 1, let end = rest.firstIndex(of: ")") else { return false }
    expression += operand.removeLast() + rest[...end]
    rest = rest[rest.index(after: end)...]
    isMeant = true
    return true
  }

  private mutating func endOperand() {
    guard !operand.isEmpty else { return }
    expression += "text(\(operand.joined(separator: " ")))"
    operand = []
  }
}
