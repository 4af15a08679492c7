/// Reads the text of an expression.
///
/// Recursive descent over the grammar of CEL. The depth is limited, so that no text exhausts the stack.
struct Parser {
  /// The deepest nesting of an expression.
  static let maximumDepth = 100

  private let tokens: [Lexeme]
  private var index = 0
  private var depth = 0

  /// Parses a whole text.
  static func parse(_ text: String) throws(ExpressionFault) -> Syntax {
    var parser = Parser(tokens: try Lexer.tokens(of: text))
    if parser.token.kind == .end { throw ExpressionFault("expected an expression", at: parser.token.range) }
    let syntax = try parser.expression()
    guard parser.token.kind == .end else { throw parser.unexpected("an operator or the end") }
    return syntax
  }

  private init(tokens: [Lexeme]) { self.tokens = tokens }

  private var token: Lexeme { tokens[index] }

  private func isNext(_ sign: String) -> Bool { token.kind == .sign(sign) }

  private mutating func take(_ sign: String) -> Bool {
    guard isNext(sign) else { return false }
    index += 1
    return true
  }

  private mutating func require(_ sign: String) throws(ExpressionFault) {
    guard take(sign) else { throw unexpected("`\(sign)`") }
  }

  private func unexpected(_ expectation: String) -> ExpressionFault {
    let found =
      switch token.kind {
      case .end: "the end"
      case .name(let name): "`\(name)`"
      case .sign(let sign): "`\(sign)`"
      case .integer, .number: "a number"
      case .text: "a text"
      case .bytes: "bytes"
      }
    return ExpressionFault("expected \(expectation), found \(found)", at: token.range)
  }

  private func range(from start: Int) -> Range<Int> {
    start..<max(start, tokens[max(0, index - 1)].range.upperBound)
  }

  /// Counts one level of nesting around the body.
  private mutating func nested(
    _ body: (inout Parser) throws(ExpressionFault) -> Syntax
  ) throws(ExpressionFault) -> Syntax {
    guard depth < Self.maximumDepth else {
      throw ExpressionFault("the expression is nested too deeply", at: token.range)
    }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }
}

extension Parser {
  private mutating func expression() throws(ExpressionFault) -> Syntax {
    try nested { parser throws(ExpressionFault) in
      let start = parser.token.range.lowerBound
      let condition = try parser.operation(above: 0)
      guard parser.take("?") else { return condition }
      let first = try parser.operation(above: 0)
      try parser.require(":")
      let second = try parser.expression()
      return Syntax(.conditional(condition, then: first, otherwise: second), at: parser.range(from: start))
    }
  }

  /// Parses operations that bind more tightly than a precedence; all are left-associative.
  private mutating func operation(above precedence: Int) throws(ExpressionFault) -> Syntax {
    let start = token.range.lowerBound
    var left = try unary()
    while let next = nextOperator, next.precedence > precedence {
      index += 1
      let right = try operation(above: next.precedence)
      left = Syntax(.binary(next, left, right), at: range(from: start))
    }
    return left
  }

  private var nextOperator: Syntax.Operator? {
    switch token.kind {
    case .sign(let sign): Syntax.Operator(rawValue: sign)
    case .name("in"): .contained
    default: nil
    }
  }

  private mutating func unary() throws(ExpressionFault) -> Syntax {
    let start = token.range.lowerBound
    if take("!") {
      let operand = try nested { parser throws(ExpressionFault) in try parser.unary() }
      return Syntax(.not(operand), at: range(from: start))
    }
    if isNext("-") {
      index += 1
      // A sign is part of the number, so that the least integer can be written.
      if case .integer(let value) = token.kind {
        index += 1
        return try member(of: Syntax(.integer(0 &- value), at: range(from: start)))
      }
      let operand = try nested { parser throws(ExpressionFault) in try parser.unary() }
      return Syntax(.negation(operand), at: range(from: start))
    }
    return try member(of: try primary())
  }

  private mutating func member(of operand: Syntax) throws(ExpressionFault) -> Syntax {
    var operand = operand
    let start = operand.range.lowerBound
    var count = 0
    while true {
      if take(".") {
        guard case .name(let name) = token.kind else { throw unexpected("a name") }
        index += 1
        if isNext("(") {
          operand = Syntax(.call(name, receiver: operand, try arguments()), at: range(from: start))
        } else {
          operand = Syntax(.member(operand, name), at: range(from: start))
        }
      } else if take("[") {
        let index = try expression()
        try require("]")
        operand = Syntax(.element(operand, index: index), at: range(from: start))
      } else {
        return operand
      }
      count += 1
      guard count < Self.maximumDepth else {
        throw ExpressionFault("the expression is nested too deeply", at: token.range)
      }
    }
  }

  private mutating func arguments() throws(ExpressionFault) -> [Syntax] {
    try require("(")
    return try list(until: ")")
  }

  /// Parses expressions with commas between them up to a closing sign, which it takes.
  private mutating func list(until close: String) throws(ExpressionFault) -> [Syntax] {
    var members: [Syntax] = []
    while !take(close) {
      if !members.isEmpty {
        guard take(",") else { throw unexpected("`,` or `\(close)`") }
        if close == "]", take(close) { return members }
      }
      members.append(try expression())
    }
    return members
  }

  private mutating func primary() throws(ExpressionFault) -> Syntax {
    let token = token
    let start = token.range.lowerBound
    switch token.kind {
    case .integer(let value):
      index += 1
      guard value != .min else {
        throw ExpressionFault("the number does not fit in 64 bits", at: token.range)
      }
      return Syntax(.integer(value), at: token.range)
    case .number(let value):
      index += 1
      return Syntax(.number(value), at: token.range)
    case .text(let value):
      index += 1
      return Syntax(.text(value), at: token.range)
    case .bytes(let value):
      index += 1
      return Syntax(.bytes(value), at: token.range)
    case .name(let name): return try named(name, at: token.range)
    case .sign("("):
      index += 1
      let inner = try expression()
      try require(")")
      return Syntax(inner.form, at: range(from: start))
    case .sign("["):
      index += 1
      return Syntax(.list(try list(until: "]")), at: range(from: start))
    case .sign("{"):
      index += 1
      return Syntax(.map(try entries()), at: range(from: start))
    case .sign, .end: throw unexpected("an expression")
    }
  }

  private mutating func named(_ name: String, at range: Range<Int>) throws(ExpressionFault) -> Syntax {
    index += 1
    switch name {
    case "true", "false": return Syntax(.flag(name == "true"), at: range)
    case "null":
      throw ExpressionFault("there is no null: a value that does not exist is absent by itself", at: range)
    case "in": throw ExpressionFault("expected an expression, found `in`", at: range)
    case _ where Self.reserved.contains(name):
      throw ExpressionFault("`\(name)` is a reserved word", at: range)
    default: break
    }
    if isNext("(") {
      return Syntax(.call(name, receiver: nil, try arguments()), at: self.range(from: range.lowerBound))
    }
    if isNext("{") {
      throw ExpressionFault("there are no messages", at: range, hint: .words("write {…} alone"))
    }
    return Syntax(.name(name), at: range)
  }

  private mutating func entries() throws(ExpressionFault) -> [Syntax.Entry] {
    var entries: [Syntax.Entry] = []
    while !take("}") {
      if !entries.isEmpty {
        guard take(",") else { throw unexpected("`,` or `}`") }
        if take("}") { return entries }
      }
      let key = try expression()
      try require(":")
      entries.append(Syntax.Entry(key: key, value: try expression()))
    }
    return entries
  }

  /// The words that CEL reserves.
  static let reserved: Set = [
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
    "namespace", "return", "var", "void", "while",
  ]
}

extension Syntax {
  /// Parses the text of an expression, and checks no types.
  ///
  /// - Throws: the first fault, with its place in the text.
  public init(parsing text: String) throws(ExpressionFault) { self = try Parser.parse(text) }
}
