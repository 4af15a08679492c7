import Documents
import Basics

/// What is wrong with an SCXML file, and where.
struct SCXMLProblem: Error {
  var code: Problem.Code
  /// The part of the file, in bytes.
  var range: Range<Int>
  var message: String
  var hint: Advice?

  init(_ code: Problem.Code, at range: Range<Int>, _ message: String, hint: Advice? = nil) {
    (self.code, self.range, self.message, self.hint) = (code, range, message, hint)
  }
}

/// An expression of the ECMAScript data model, as far as machines have such expressions.
struct SCXMLExpression {
  indirect enum Form {
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    /// `null` or `undefined`.
    case nothing
    /// A variable.
    case name(String)
    /// `_event.data.name`; without a name, the data as a whole.
    case datum(String)
    /// An argument of an event: a ``datum(_:)`` of which it is known whose it is.
    case argument(event: String, String)
    /// `_event.name`.
    case eventName
    /// `In('state')`.
    case isIn(String)
    case member(SCXMLExpression, String)
    case element(SCXMLExpression, SCXMLExpression)
    /// A function, or a method of the first operand, whose name then begins with a dot.
    case call(String, [SCXMLExpression])
    case list([SCXMLExpression])
    case record([(name: String, value: SCXMLExpression)])
    case not(SCXMLExpression)
    case negation(SCXMLExpression)
    case binary(Operator, SCXMLExpression, SCXMLExpression)
    case conditional(SCXMLExpression, SCXMLExpression, SCXMLExpression)
  }

  enum Operator: String, CaseIterable {
    case or = "||"
    case and = "&&"
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case plus = "+"
    case minus = "-"
    case times = "*"
    case dividedBy = "/"
    case remainder = "%"

    /// How tightly it binds.
    var precedence: Int {
      switch self {
      case .or: 1
      case .and: 2
      case .equal, .notEqual: 3
      case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
      case .plus, .minus: 5
      case .times, .dividedBy, .remainder: 6
      }
    }
  }

  var form: Form
  /// Where it is in the file.
  var range: Range<Int>

  init(_ form: Form, at range: Range<Int>) { (self.form, self.range) = (form, range) }

  /// Reads an expression.
  init(_ text: XMLText) throws(SCXMLProblem) {
    var parser = SCXMLExpressionParser(text)
    self = try parser.whole()
  }

  /// The operands, from left to right.
  var operands: [SCXMLExpression] {
    switch form {
    case .flag, .integer, .number, .text, .nothing, .name, .datum, .argument, .eventName, .isIn: []
    case .member(let operand, _), .not(let operand), .negation(let operand): [operand]
    case .element(let left, let right), .binary(_, let left, let right): [left, right]
    case .call(_, let operands), .list(let operands): operands
    case .record(let fields): fields.map(\.value)
    case .conditional(let condition, let first, let second): [condition, first, second]
    }
  }

  /// The number of its parts, counted up to a limit.
  func size(upTo limit: Int) -> Int {
    var sum = 1
    for operand in operands where sum < limit { sum += operand.size(upTo: limit - sum) }
    return sum
  }

  /// Calls a closure with each part.
  func forEach(_ body: (SCXMLExpression) -> Void) {
    body(self)
    operands.forEach { $0.forEach(body) }
  }
}

/// An assignment in a script, or that of an `<assign>`.
struct SCXMLAssignment {
  var variable: String
  var range: Range<Int>
  var value: SCXMLExpression
}

/// Reads the subset of ECMAScript. Everything else is refused where it begins.
struct SCXMLExpressionParser {
  private enum Token: Equatable {
    case integer(Int64), number(Double), text(String), name(String), sign(String), end
  }

  private let source: XMLText
  private let bytes: [UInt8]
  private var offset = 0
  /// The next token, and where it is in the text.
  private var token = Token.end
  private var tokenRange = 0..<0
  /// Where the token before it ends, and whether a line ends between the two.
  private var lastEnd = 0
  private var isOnNewLine = false
  private var depth = 0
  /// The number of parts until now.
  private var count = 0

  private static let maximumDepth = 100
  private static let maximumCount = 500
  /// The name of the datum that is `_event.data` itself.
  private static let wholeDatum = ""
  private static let keywords: Set = [
    "function", "new", "typeof", "instanceof", "void", "delete", "in", "this", "class", "var", "let", "const",
    "return", "if", "else", "for", "while", "do", "switch", "throw", "try", "await", "yield",
  ]
  private static let signs = [
    "===", "!==", "...", ">>>", "**=", "<<=", ">>=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "++",
    "--", "+=", "-=", "*=",
    "/=", "%=", "**", "<<", ">>", "?.", "(", ")", "[", "]", "{", "}", "?", ":", ",", ".", ";", "!", "<", ">",
    "=",
    "+", "-", "*", "/", "%", "&", "|", "^", "~",
  ]

  init(_ text: XMLText) {
    source = text
    bytes = Array(text.text.utf8)
  }

  /// Reads one expression that takes the whole text.
  mutating func whole() throws(SCXMLProblem) -> SCXMLExpression {
    try advance()
    let expression = try conditional()
    if token == .sign("=") {
      throw problem("`=` assigns a value, which is not possible here", hint: "compare with `==`")
    }
    guard token == .end else { throw unexpected() }
    return expression
  }

  /// Reads statements: `name = value`, `name += value`, `name++` and `name.push(value)`.
  mutating func assignments() throws(SCXMLProblem) -> [SCXMLAssignment] {
    var assignments: [SCXMLAssignment] = []
    try advance()
    while true {
      while token == .sign(";") { try advance() }
      if token == .end { return assignments }
      assignments.append(try assignment())
      guard [.end, .sign(";")].contains(token) || isOnNewLine else { throw unexpected() }
    }
  }

  private mutating func assignment() throws(SCXMLProblem) -> SCXMLAssignment {
    guard case .name(let name) = token, !Self.keywords.contains(name) else {
      throw problem("\(described()) is not read in a script", hint: Self.scriptAdvice)
    }
    let place = source.range(of: tokenRange)
    let variable = SCXMLExpression(.name(name), at: place)
    try advance()
    let sign = token
    let value: SCXMLExpression
    switch sign {
    case .sign("="):
      try advance()
      value = try conditional()
    case .sign("+="), .sign("-="), .sign("*="), .sign("/="), .sign("%="):
      guard case .sign(let text) = sign, let sign = SCXMLExpression.Operator(rawValue: String(text.prefix(1)))
      else { throw unexpected() }
      try advance()
      let right = try conditional()
      value = SCXMLExpression(.binary(sign, variable, right), at: place.lowerBound..<right.range.upperBound)
    case .sign("++"), .sign("--"):
      try advance()
      let one = SCXMLExpression(.integer(1), at: place)
      value = SCXMLExpression(.binary(sign == .sign("++") ? .plus : .minus, variable, one), at: place)
    case .sign("."):
      try advance()
      guard token == .name("push") else {
        throw problem("\(described()) is not read in a script", hint: Self.scriptAdvice)
      }
      try advance()
      try expect("(")
      let element = try conditional()
      try expect(")")
      let list = SCXMLExpression(.list([element]), at: element.range)
      value = SCXMLExpression(
        .call(".concat", [variable, list]), at: place.lowerBound..<element.range.upperBound)
    default:
      throw problem("\(described()) is not read in a script", hint: Self.scriptAdvice)
    }
    return SCXMLAssignment(variable: name, range: place, value: value)
  }

  private static let scriptAdvice: Advice =
    "assignments are read: `count = 1`, `count += 1`, `count++` and `list.push(value)`"
}

// MARK: - Grammar

extension SCXMLExpressionParser {
  private mutating func conditional() throws(SCXMLProblem) -> SCXMLExpression {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.maximumDepth else {
      throw problem("the expression is nested too deeply", code: .tooLarge)
    }
    let condition = try binary(above: 0)
    guard token == .sign("?") else { return condition }
    try advance()
    let first = try conditional()
    try expect(":")
    let second = try conditional()
    return SCXMLExpression(
      .conditional(condition, first, second), at: condition.range.lowerBound..<second.range.upperBound)
  }

  private mutating func binary(above least: Int) throws(SCXMLProblem) -> SCXMLExpression {
    var left = try unary()
    while case .sign(let text) = token,
      let sign = SCXMLExpression.Operator(rawValue: text == "===" ? "==" : text == "!==" ? "!=" : text),
      sign.precedence > least
    {
      try countPart()
      try advance()
      let right = try binary(above: sign.precedence)
      left = SCXMLExpression(
        .binary(sign, left, right), at: left.range.lowerBound..<right.range.upperBound)
    }
    return left
  }

  private mutating func unary() throws(SCXMLProblem) -> SCXMLExpression {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.maximumDepth else {
      throw problem("the expression is nested too deeply", code: .tooLarge)
    }
    let start = source.range(of: tokenRange).lowerBound
    switch token {
    case .sign("!"):
      try advance()
      let operand = try unary()
      return SCXMLExpression(.not(operand), at: start..<operand.range.upperBound)
    case .sign("-"):
      try advance()
      let operand = try unary()
      let range = start..<operand.range.upperBound
      return switch operand.form {
      case .integer(let value): SCXMLExpression(.integer(-value), at: range)
      case .number(let value): SCXMLExpression(.number(-value), at: range)
      default: SCXMLExpression(.negation(operand), at: range)
      }
    case .sign("+"):
      try advance()
      let operand = try unary()
      return SCXMLExpression(.call("Number", [operand]), at: start..<operand.range.upperBound)
    default: return try postfix()
    }
  }

  private mutating func postfix() throws(SCXMLProblem) -> SCXMLExpression {
    let start = source.range(of: tokenRange).lowerBound
    var value = try primary()
    while true {
      try countPart()
      switch token {
      case .sign("."):
        try advance()
        guard case .name(let name) = token else { throw unexpected() }
        try advance()
        if token == .sign("(") {
          value = SCXMLExpression(.call("." + name, [value] + (try arguments())), at: start..<end)
        } else {
          value = SCXMLExpression(.member(value, name), at: start..<end)
        }
      case .sign("["):
        try advance()
        let index = try conditional()
        try expect("]")
        if case .text(let name) = index.form {
          value = SCXMLExpression(.member(value, name), at: start..<end)
        } else {
          value = SCXMLExpression(.element(value, index), at: start..<end)
        }
      default: return value
      }
      value = try ofEvent(value)
    }
  }

  private mutating func countPart() throws(SCXMLProblem) {
    count += 1
    guard count < Self.maximumCount else {
      throw problem("the expression has more than \(Self.maximumCount) parts", code: .tooLarge)
    }
  }

  /// Where the last token ends in the file.
  private var end: Int { source.range(of: 0..<lastEnd).upperBound }

  /// Recognizes the parts of `_event`, and functions of `Math`.
  private func ofEvent(_ value: SCXMLExpression) throws(SCXMLProblem) -> SCXMLExpression {
    switch value.form {
    case .call(let method, let operands):
      if case .name("Math")? = operands.first?.form {
        return SCXMLExpression(.call("Math" + method, Array(operands.dropFirst())), at: value.range)
      }
      return value
    case .member(let operand, let name):
      if case .name("_event") = operand.form {
        switch name {
        case "name": return SCXMLExpression(.eventName, at: value.range)
        case "data": return SCXMLExpression(.datum(Self.wholeDatum), at: value.range)
        default:
          throw SCXMLProblem(
            .unsupported, at: value.range, "`_event.\(name)` is not read",
            hint: "`_event.name` and `_event.data.…` are")
        }
      }
      if case .datum(Self.wholeDatum) = operand.form {
        return SCXMLExpression(.datum(name), at: value.range)
      }
      return value
    default: return value
    }
  }

  private mutating func primary() throws(SCXMLProblem) -> SCXMLExpression {
    let range = source.range(of: tokenRange)
    switch token {
    case .integer(let value):
      try advance()
      return SCXMLExpression(.integer(value), at: range)
    case .number(let value):
      try advance()
      return SCXMLExpression(.number(value), at: range)
    case .text(let value):
      try advance()
      return SCXMLExpression(.text(value), at: range)
    case .name(let name): return try named(name, at: range)
    case .sign("("):
      try advance()
      let value = try conditional()
      try expect(")")
      return value
    case .sign("["):
      let members = try list(from: "[", to: "]")
      return SCXMLExpression(.list(members), at: range.lowerBound..<end)
    case .sign("{"): return try record()
    default: throw unexpected()
    }
  }

  private mutating func named(_ name: String, at range: Range<Int>) throws(SCXMLProblem) -> SCXMLExpression {
    guard !Self.keywords.contains(name) else { throw problem("`\(name)` is not read in expressions") }
    try advance()
    switch name {
    case "true": return SCXMLExpression(.flag(true), at: range)
    case "false": return SCXMLExpression(.flag(false), at: range)
    case "null", "undefined": return SCXMLExpression(.nothing, at: range)
    default: break
    }
    guard token == .sign("(") else { return SCXMLExpression(.name(name), at: range) }
    let operands = try arguments()
    guard name == "In" else { return SCXMLExpression(.call(name, operands), at: range.lowerBound..<end) }
    guard operands.count == 1, case .text(let state) = operands[0].form else {
      throw SCXMLProblem(
        .wrongExpression, at: range.lowerBound..<end, "`In` takes the name of one state as a constant text",
        hint: "as in `In('closed')`")
    }
    return SCXMLExpression(.isIn(state), at: operands[0].range)
  }

  private mutating func record() throws(SCXMLProblem) -> SCXMLExpression {
    let start = source.range(of: tokenRange).lowerBound
    var fields: [(name: String, value: SCXMLExpression)] = []
    try advance()
    while token != .sign("}") {
      let name: String
      switch token {
      case .name(let word), .text(let word): name = word
      default: throw unexpected()
      }
      try advance()
      try expect(":")
      fields.append((name, try conditional()))
      if token != .sign("}") { try expect(",") }
    }
    try advance()
    return SCXMLExpression(.record(fields), at: start..<end)
  }

  private mutating func arguments() throws(SCXMLProblem) -> [SCXMLExpression] { try list(from: "(", to: ")") }

  private mutating func list(from start: String, to end: String) throws(SCXMLProblem) -> [SCXMLExpression] {
    try expect(start)
    var members: [SCXMLExpression] = []
    while token != .sign(end) {
      members.append(try conditional())
      if token != .sign(end) { try expect(",") }
    }
    try advance()
    return members
  }

  private mutating func expect(_ sign: String) throws(SCXMLProblem) {
    guard token == .sign(sign) else { throw unexpected("expected `\(sign)`, ") }
    try advance()
  }
}

// MARK: - Tokens

extension SCXMLExpressionParser {
  private func problem(
    _ message: String, code: Problem.Code = .unsupported, hint: Advice? = nil
  ) -> SCXMLProblem {
    SCXMLProblem(code, at: source.range(of: tokenRange), message, hint: hint)
  }

  private func unexpected(_ expectation: String = "") -> SCXMLProblem {
    if case .name(let name) = token, Self.keywords.contains(name) {
      return problem("`\(name)` is not read in expressions")
    }
    let found = expectation.isEmpty ? "unexpected \(described())" : "\(expectation)found \(described())"
    return problem(found, code: .wrongExpression)
  }

  private func described() -> String {
    token == .end ? "the end" : "`\(String(decoding: bytes[tokenRange], as: UTF8.self))`"
  }

  private mutating func advance() throws(SCXMLProblem) {
    lastEnd = tokenRange.upperBound
    isOnNewLine = false
    try skipBlanks()
    let start = offset
    token = try next()
    tokenRange = start..<offset
  }

  private func byte(_ distance: Int = 0) -> UInt8? {
    offset + distance < bytes.count ? bytes[offset + distance] : nil
  }

  private mutating func skipBlanks() throws(SCXMLProblem) {
    while let byte = byte() {
      switch (byte, self.byte(1)) {
      case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _):
        if byte == 0x0A { isOnNewLine = true }
        offset += 1
      case (UInt8(ascii: "/"), UInt8(ascii: "/")):
        while let byte = self.byte(), byte != 0x0A { offset += 1 }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")):
        while self.byte() != nil, !bytes[offset...].starts(with: "*/".utf8) { offset += 1 }
        offset = min(offset + 2, bytes.count)
      default: return
      }
    }
  }

  private mutating func next() throws(SCXMLProblem) -> Token {
    guard let first = byte() else { return .end }
    if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return try text(until: first) }
    if isDigit(first) || first == UInt8(ascii: "."), byte(isDigit(first) ? 0 : 1).map(isDigit) == true {
      return try number()
    }
    if isNameByte(first) {
      let start = offset
      while let byte = byte(), isNameByte(byte) { offset += 1 }
      return .name(String(decoding: bytes[start..<offset], as: UTF8.self))
    }
    for sign in Self.signs where bytes[offset...].starts(with: sign.utf8) {
      offset += sign.utf8.count
      return .sign(sign)
    }
    let range = source.range(of: offset..<offset + 1)
    throw SCXMLProblem(
      .wrongExpression, at: range, "unexpected `\(Character(Unicode.Scalar(first)))`",
      hint: first == UInt8(ascii: "`") ? "a text is written in quotes" : nil)
  }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private func isNameByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
  }

  private mutating func number() throws(SCXMLProblem) -> Token {
    let start = offset
    while let byte = byte(),
      isNameByte(byte) || byte == UInt8(ascii: ".")
        || [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(byte)
          && bytes[offset - 1] | 0x20 == UInt8(ascii: "e")
          && !bytes[start..<offset].starts(with: "0x".utf8)
    {
      offset += 1
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if text.hasPrefix("0x"), let value = Int64(text.dropFirst(2), radix: 16) { return .integer(value) }
    if let value = Int64(text), text.count == 1 || !text.hasPrefix("0") { return .integer(value) }
    guard let value = Double(text.hasPrefix(".") ? "0" + text : text.hasSuffix(".") ? text + "0" : text),
      value.isFinite, text.contains(".") || text.lowercased().contains("e")
    else {
      throw SCXMLProblem(
        .wrongExpression, at: source.range(of: start..<offset), "`\(text)` is not a number")
    }
    return .number(value)
  }

  private mutating func text(until quote: UInt8) throws(SCXMLProblem) -> Token {
    let start = offset
    var value: [UInt8] = []
    offset += 1
    while let byte = byte(), byte != quote {
      offset += 1
      guard byte == UInt8(ascii: "\\"), let escaped = self.byte() else {
        value.append(byte)
        continue
      }
      offset += 1
      switch escaped {
      case UInt8(ascii: "n"): value.append(0x0A)
      case UInt8(ascii: "t"): value.append(0x09)
      case UInt8(ascii: "r"): value.append(0x0D)
      case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "/"): value.append(escaped)
      default:
        throw SCXMLProblem(
          .wrongExpression, at: source.range(of: offset - 2..<offset), "this escape is not read",
          hint: "a backslash is written \\\\")
      }
    }
    guard byte() == quote else {
      throw SCXMLProblem(
        .wrongExpression, at: source.range(of: start..<bytes.count), "the text does not end")
    }
    offset += 1
    return .text(String(decoding: value, as: UTF8.self))
  }
}
