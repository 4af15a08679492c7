import Basics
import Documents
import Expressions

/// The types of the values in a chart, found from how they are used, and the expressions of machines with these types.
///
/// ECMAScript does not declare types; a machine does. A value has the type of what it is set to and compared with.
struct SCXMLTypes {
  enum Shape {
    case unknown, flag, integer, number, text
    case list(Int)
    case record([(name: String, type: Int)])
  }

  private struct Argument: Hashable {
    var event: String
    var name: String
  }

  private var shapes: [Shape] = []
  /// For each type the one with which it is the same; itself if there is none.
  private var same: [Int] = []
  private var variables: [String: Int] = [:]
  private var arguments: [Argument: Int] = [:]
  private var argumentOrder: [Argument] = []
  private var readingTypes: [String: Int] = [:]
  private var readingCapacities: [String: Int] = [:]
  /// The readings, in the order of their use.
  private(set) var readings: [String] = []
  /// The most elements of each variable that is a list.
  private var capacities: [String: Int] = [:]
  /// The names of variables in the machine.
  private(set) var names: [String: String] = [:]
  /// Whether what is still unknown is now given its usual type.
  private var isDeciding = false

  /// The number of elements of a list that comes from outside.
  private static let usualCapacity = 16
  private static let maximumCapacity = 1000

  init(variables names: [String]) {
    for name in names { variables[name] = new(.unknown) }
  }

  private mutating func new(_ shape: Shape) -> Int {
    shapes.append(shape)
    same.append(same.count)
    return same.count - 1
  }

  private func root(_ type: Int) -> Int {
    var type = type
    while same[type] != type { type = same[type] }
    return type
  }

  private func shape(_ type: Int) -> Shape { shapes[root(type)] }

  private func isNumeric(_ type: Int) -> Bool {
    switch shape(type) {
    case .integer, .number: true
    default: false
    }
  }

  private func describe(_ type: Int) -> String {
    switch shape(type) {
    case .unknown: "a value"
    case .flag: "true or false"
    case .integer: "an integer"
    case .number: "a number"
    case .text: "a text"
    case .list: "a list"
    case .record: "a record"
    }
  }

  // MARK: Equal types

  /// Makes two types the same.
  private mutating func unify(_ left: Int, _ right: Int, at range: Range<Int>) throws(SCXMLProblem) {
    let (first, second) = (root(left), root(right))
    guard first != second else { return }
    let shape: Shape
    switch (shapes[first], shapes[second]) {
    case (.unknown, let other), (let other, .unknown): shape = other
    case (.flag, .flag): shape = .flag
    case (.text, .text): shape = .text
    case (.integer, .integer): shape = .integer
    case (.integer, .number), (.number, .integer), (.number, .number): shape = .number
    case (.list(let left), .list(let right)):
      shape = .list(left)
      same[second] = first
      try unify(left, right, at: range)
    case (.record(let left), .record(let right)) where left.map(\.name).sorted() == right.map(\.name).sorted():
      shape = .record(left)
      same[second] = first
      for field in left {
        guard let other = right.first(where: { $0.name == field.name }) else { continue }
        try unify(field.type, other.type, at: range)
      }
    default:
      throw SCXMLProblem(
        .wrongExpression, at: range, "\(describe(first)) and \(describe(second)) have no type in common",
        hint: "a value of a machine keeps its type, and `==` compares values of one type")
    }
    same[second] = first
    shapes[root(first)] = shape
  }

  private mutating func require(
    _ type: Int, _ shape: Shape, at range: Range<Int>
  ) throws(SCXMLProblem) {
    if case .integer = shape, isNumeric(type) { return }
    try unify(type, new(shape), at: range)
  }

  // MARK: Types of expressions

  /// Notes that an expression is a condition.
  mutating func use(condition: SCXMLExpression) throws(SCXMLProblem) {
    let type = try type(of: condition)
    if isDeciding, case .unknown = shape(type) { try unify(type, new(.flag), at: condition.range) }
  }

  /// Notes that a variable is set to a value.
  mutating func use(_ value: SCXMLExpression, for variable: String) throws(SCXMLProblem) {
    guard let own = variables[variable] else { return }
    try unify(own, try type(of: value), at: value.range)
  }

  /// Notes that a reading has a value.
  mutating func use(_ value: SCXMLExpression, forReading name: String) throws(SCXMLProblem) {
    let known = readingTypes[name]
    let type = known ?? new(.unknown)
    readingTypes[name] = type
    if known == nil { readings.append(name) }
    try unify(type, try self.type(of: value), at: value.range)
  }

  /// Notes that a value is used.
  mutating func use(_ value: SCXMLExpression) throws(SCXMLProblem) { _ = try type(of: value) }

  /// Notes the arguments in a value on which nothing depends.
  mutating func useArguments(of value: SCXMLExpression) {
    value.forEach { part in
      if case .argument(let event, let name) = part.form { _ = argument(Argument(event: event, name: name)) }
    }
  }

  /// Gives values whose type is still unknown a usual one.
  mutating func decide() { isDeciding = true }

  private mutating func type(of expression: SCXMLExpression) throws(SCXMLProblem) -> Int {
    let range = expression.range
    switch expression.form {
    case .flag, .isIn: return new(.flag)
    case .integer: return new(.integer)
    case .number: return new(.number)
    case .text, .eventName: return new(.text)
    case .nothing:
      throw SCXMLProblem(
        .unsupported, at: range, "a value of a machine is never `null` or `undefined`",
        hint: "use a value of its type, such as 0 or ''")
    case .name(let name): return variables[name] ?? new(.unknown)
    case .datum(let name): return argument(Argument(event: "", name: name))
    case .argument(let event, let name): return argument(Argument(event: event, name: name))
    case .member(let operand, let name): return try member(operand, name, at: range)
    case .element(let operand, let index):
      try require(try type(of: index), .integer, at: index.range)
      let type = try type(of: operand)
      switch shape(type) {
      case .list(let element): return element
      case .text: return type
      case .unknown where !isDeciding: return new(.unknown)
      default: throw mismatch(type, "a list", at: operand.range)
      }
    case .call(let name, let operands): return try call(name, operands, at: range)
    case .list(let members):
      let element = new(.unknown)
      for member in members { try unify(element, try type(of: member), at: member.range) }
      return new(.list(element))
    case .record(let fields):
      var types: [(name: String, type: Int)] = []
      for field in fields { types.append((field.name, try type(of: field.value))) }
      return new(.record(types))
    case .not(let operand):
      try use(condition: operand)
      return new(.flag)
    case .negation(let operand): return try numeric(operand)
    case .binary(let sign, let left, let right): return try operation(sign, left, right, at: range)
    case .conditional(let condition, let first, let second):
      try use(condition: condition)
      let type = try type(of: first)
      try unify(type, try self.type(of: second), at: range)
      return type
    }
  }

  private func mismatch(_ type: Int, _ expected: String, at range: Range<Int>) -> SCXMLProblem {
    SCXMLProblem(.wrongExpression, at: range, "expected \(expected), found \(describe(type))")
  }

  private mutating func argument(_ argument: Argument) -> Int {
    if let known = arguments[argument] { return known }
    let type = new(.unknown)
    arguments[argument] = type
    argumentOrder.append(argument)
    return type
  }

  private mutating func numeric(_ operand: SCXMLExpression) throws(SCXMLProblem) -> Int {
    let type = try type(of: operand)
    switch shape(type) {
    case .integer, .number: break
    case .unknown: if isDeciding { try unify(type, new(.integer), at: operand.range) }
    default: throw mismatch(type, "a number", at: operand.range)
    }
    return type
  }

  private mutating func member(
    _ operand: SCXMLExpression, _ name: String, at range: Range<Int>
  ) throws(SCXMLProblem) -> Int {
    let type = try type(of: operand)
    switch (shape(type), name) {
    case (.list, "length"), (.text, "length"): return new(.integer)
    case (.unknown, "length"):
      if isDeciding { try unify(type, new(.text), at: range) }
      return new(.integer)
    case (.record(let fields), _):
      if let field = fields.first(where: { $0.name == name }) { return field.type }
      throw SCXMLProblem(
        .wrongExpression, at: range, "the record has no field `\(name)`",
        hint: .nearest(to: name, of: fields.map(\.name)))
    case (.unknown, _) where !isDeciding: return new(.unknown)
    default:
      throw SCXMLProblem(.wrongExpression, at: range, "\(describe(type)) has no field `\(name)`")
    }
  }

  private mutating func operation(
    _ sign: SCXMLExpression.Operator, _ left: SCXMLExpression, _ right: SCXMLExpression, at range: Range<Int>
  ) throws(SCXMLProblem) -> Int {
    switch sign {
    case .and, .or:
      try use(condition: left)
      try use(condition: right)
      return new(.flag)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      let (first, second) = (try type(of: left), try type(of: right))
      // An integer may be compared with a number.
      if !(isNumeric(first) && isNumeric(second)) { try unify(first, second, at: range) }
      return new(.flag)
    case .plus:
      let (first, second) = (try type(of: left), try type(of: right))
      switch (shape(first), shape(second)) {
      case (.text, _), (_, .text): return new(.text)
      case (.unknown, .unknown) where !isDeciding: return new(.unknown)
      default: return try sum(left, first, right, second, at: range)
      }
    case .dividedBy:
      _ = try numeric(left)
      _ = try numeric(right)
      return new(.number)
    case .minus, .times, .remainder:
      return try sum(left, try numeric(left), right, try numeric(right), at: range)
    }
  }

  private mutating func sum(
    _ left: SCXMLExpression, _ first: Int, _ right: SCXMLExpression, _ second: Int, at range: Range<Int>
  ) throws(SCXMLProblem) -> Int {
    for (type, operand) in [(first, left), (second, right)] {
      switch shape(type) {
      case .integer, .number: break
      case .unknown: try unify(type, new(.integer), at: operand.range)
      default: throw mismatch(type, "a number", at: operand.range)
      }
    }
    if case (.integer, .integer) = (shape(first), shape(second)) { return new(.integer) }
    return new(.number)
  }

  /// The functions that are read, as they are written.
  private static let functions = [
    ".concat", ".slice", ".substring", ".includes", ".indexOf", ".startsWith", ".endsWith", ".join",
    ".charAt",
    ".toString", "Math.min", "Math.max", "Math.floor", "Math.trunc", "Math.abs", "Number", "String",
    "parseInt", "parseFloat",
  ]

  private mutating func call(
    _ name: String, _ operands: [SCXMLExpression], at range: Range<Int>
  ) throws(SCXMLProblem) -> Int {
    guard Self.functions.contains(name) || name == ".with" else {
      throw SCXMLProblem(
        .unsupported, at: range, "the function `\(name.drop { $0 == "." })` is not read",
        hint: .nearest(to: name, of: Self.functions) { _ in
          "these are: \(Self.functions.joined(separator: ", "))"
        })
    }
    let counts =
      switch name {
      case "parseInt": 1...2
      case ".slice", ".substring": 2...3
      case "Math.min", "Math.max", ".concat", ".includes", ".indexOf", ".startsWith", ".endsWith", ".join",
        ".charAt":
        2...2
      case ".with": 3...3
      default: 1...1
      }
    guard counts.contains(operands.count) else {
      throw SCXMLProblem(
        .wrongExpression, at: range, "`\(name.drop { $0 == "." })` has another number of arguments")
    }
    let first = try type(of: operands[0])
    switch name {
    case ".toString", "String": return new(.text)
    case "Math.floor", "Math.trunc", "parseInt":
      if name != "parseInt" { _ = try numeric(operands[0]) }
      return new(.integer)
    case "Number", "parseFloat":
      if case .integer = shape(first) { return first }
      return new(.number)
    case "Math.abs": return try numeric(operands[0])
    case "Math.min", "Math.max":
      return try sum(operands[0], first, operands[1], try numeric(operands[1]), at: range)
    case ".startsWith", ".endsWith":
      for operand in operands { try require(try type(of: operand), .text, at: operand.range) }
      return new(.flag)
    case ".charAt":
      try require(first, .text, at: operands[0].range)
      try require(try type(of: operands[1]), .integer, at: operands[1].range)
      return new(.text)
    case ".slice", ".substring":
      for operand in operands.dropFirst() {
        try require(try type(of: operand), .integer, at: operand.range)
      }
      if isDeciding, case .unknown = shape(first) { try unify(first, new(.text), at: range) }
      return first
    default: return try method(name, first, operands, at: range)
    }
  }

  /// The types of methods whose operands depend on whether they are about a list or a text.
  private mutating func method(
    _ name: String, _ first: Int, _ operands: [SCXMLExpression], at range: Range<Int>
  ) throws(SCXMLProblem) -> Int {
    let second = try type(of: operands[1])
    switch (name, shape(first)) {
    case (".concat", .list(let element)):
      if case .list = shape(second) {
        try unify(first, second, at: operands[1].range)
      } else {
        try unify(element, second, at: operands[1].range)
      }
      return first
    case (".concat", .unknown):
      try unify(first, second, at: range)
      return first
    case (".concat", .text):
      try require(second, .text, at: operands[1].range)
      return first
    case (".includes", .list(let element)), (".indexOf", .list(let element)):
      try unify(element, second, at: operands[1].range)
      return new(name == ".includes" ? .flag : .integer)
    case (".includes", .text):
      try require(second, .text, at: operands[1].range)
      return new(.flag)
    case (".includes", .unknown) where !isDeciding: return new(.flag)
    case (".join", .list(let element)):
      try require(element, .text, at: range)
      try require(second, .text, at: operands[1].range)
      return new(.text)
    case (".with", .list(let element)):
      try require(second, .integer, at: operands[1].range)
      try unify(element, try type(of: operands[2]), at: operands[2].range)
      return first
    case (_, .unknown) where !isDeciding: return new(.unknown)
    default: throw mismatch(first, name == ".concat" ? "a list or a text" : "a list", at: operands[0].range)
    }
  }
}

// MARK: - Forms

extension SCXMLTypes {
  /// Finds out how many elements lists may have, from the values to which variables are set.
  mutating func measure(
    _ values: [(variable: String, value: SCXMLExpression)],
    _ readings: [(name: String, value: SCXMLExpression)]
  ) throws(SCXMLProblem) {
    let lists = values.filter { value in
      if let type = variables[value.variable], case .list = shape(type) { true } else { false }
    }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (variable, value) in lists {
        let capacity = capacity(of: value)
        guard capacity > capacities[variable] ?? 0 else { continue }
        guard capacity <= Self.maximumCapacity else {
          throw SCXMLProblem(
            .unsupported, at: value.range, "the list can become longer without a limit",
            hint: "limit it, as in `.slice(0, 10)` or `.slice(-10)`")
        }
        capacities[variable] = capacity
        isChanging = true
      }
    }
    for (name, value) in readings {
      readingCapacities[name] = max(readingCapacities[name] ?? 1, capacity(of: value))
    }
  }

  private func capacity(of expression: SCXMLExpression) -> Int {
    switch expression.form {
    case .list(let members): return members.count
    case .name(let name): return capacities[name] ?? 0
    case .conditional(_, let first, let second): return max(capacity(of: first), capacity(of: second))
    case .call(".concat", let operands):
      return capacity(of: operands[0]) + (isList(operands[1]) ? capacity(of: operands[1]) : 1)
    case .call(".with", let operands): return capacity(of: operands[0])
    case .call(".slice", let operands):
      let whole = capacity(of: operands[0])
      guard case .integer(let start) = operands[1].form else { return whole }
      if start < 0 { return min(whole, Int(-start)) }
      guard operands.count > 2, case .integer(let end) = operands[2].form, end >= start else { return whole }
      return min(whole, Int(end - start))
    default: return Self.usualCapacity
    }
  }

  private func isList(_ expression: SCXMLExpression) -> Bool {
    var copy = self
    guard let type = try? copy.type(of: expression), case .list = copy.shape(type) else { return false }
    return true
  }

  /// Gives each variable the name that it has in the machine: one that no argument has, and that expressions can use.
  mutating func nameVariables(_ order: [String], besides others: [String]) {
    var taken = Set(argumentOrder.map(\.name) + others).union(["now", "elapsed", Assignment.unknown])
    for name in order {
      var new = String(name.map { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
      while taken.contains(new) || !Scope.isName(new) { new += "_" }
      taken.insert(new)
      names[name] = new
    }
  }

  /// The form of a variable.
  func form(of variable: String) -> ValueForm.Kind {
    guard let type = variables[variable] else { return .anyWholeNumber }
    return kind(type, capacity: max(1, capacities[variable] ?? 0))
  }

  /// The form of a reading.
  func form(ofReading name: String) -> ValueForm.Kind {
    guard let type = readingTypes[name] else { return .text }
    return kind(type, capacity: readingCapacities[name] ?? 1)
  }

  /// The arguments of an event, in the order of their use.
  func arguments(of event: String) -> [ValueForm] {
    argumentOrder.filter { $0.event == event }.compactMap { argument in
      arguments[argument].map {
        ValueForm(argument.name, kind($0, capacity: Self.usualCapacity))
      }
    }
  }

  private func kind(_ type: Int, capacity: Int) -> ValueForm.Kind {
    switch shape(type) {
    case .unknown: .text
    case .flag: .flag
    case .integer: .anyWholeNumber
    case .number: .anyNumber
    case .text: .text
    case .list(let element):
      .list(kind(element, capacity: Self.usualCapacity), capacity: capacity)
    case .record(let fields):
      .record(
        fields.map { ValueForm($0.name, kind($0.type, capacity: Self.usualCapacity)) })
    }
  }
}

// MARK: - Expressions of machines

extension SCXMLTypes {
  /// How tightly the parts of an expression bind; see ``SCXMLExpression/Operator/precedence``.
  private enum Binding: Int, Comparable {
    case conditional, or, and, comparison, sum, product, prefix, postfix

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// Returns the expression that is true if each condition has its outcome.
  func text(of conditions: [(condition: SCXMLExpression, isTrue: Bool)]) throws(SCXMLProblem) -> String? {
    var copy = self
    var parts: [String] = []
    for (condition, isTrue) in conditions {
      let whole = isTrue ? condition : SCXMLExpression(.not(condition), at: condition.range)
      parts.append(try copy.truth(whole, conditions.count == 1 ? .conditional : .and))
    }
    return parts.isEmpty ? nil : parts.joined(separator: " && ")
  }

  /// Returns the expression of a value for a variable.
  func text(of value: SCXMLExpression, for variable: String) throws(SCXMLProblem) -> String {
    var copy = self
    guard let type = variables[variable] else { return "" }
    return try copy.write(value, .conditional, isNumber: isNumber(type))
  }

  /// Returns the expression of the value of a reading.
  func text(of value: SCXMLExpression, forReading name: String) throws(SCXMLProblem) -> String {
    var copy = self
    let isNumber = readingTypes[name].map { copy.isNumber($0) } ?? false
    return try copy.write(value, .conditional, isNumber: isNumber)
  }

  /// Returns the expression of a length of time.
  func text(ofDelay value: SCXMLExpression, _ unit: SCXMLDelay.Unit) throws(SCXMLProblem) -> String {
    var copy = self
    let isNumber = try copy.isNumber(value)
    switch (unit, isNumber) {
    case (.seconds, false): return "seconds(\(try copy.write(value, .conditional)))"
    case (.milliseconds, false): return "milliseconds(\(try copy.write(value, .conditional)))"
    case (.seconds, true): return "milliseconds(int(\(try copy.write(value, .product)) * 1000.0))"
    case (.milliseconds, true): return "milliseconds(int(\(try copy.write(value, .conditional))))"
    }
  }

  private func isNumber(_ type: Int) -> Bool { if case .number = shape(type) { true } else { false } }

  private mutating func isNumber(_ expression: SCXMLExpression) throws(SCXMLProblem) -> Bool {
    // The type comes first: looking it up may add types.
    let type = try type(of: expression)
    return isNumber(type)
  }

  /// Writes an expression so that it can stand within one of some binding; an integer as a number, if that is expected.
  private mutating func write(
    _ expression: SCXMLExpression, _ outer: Binding, isNumber: Bool = false
  ) throws(SCXMLProblem) -> String {
    if isNumber, try !self.isNumber(expression) {
      if case .integer(let value) = expression.form { return "\(value).0" }
      return "double(\(try write(expression, .conditional)))"
    }
    let (text, binding) = try form(of: expression)
    return binding < outer ? "(\(text))" : text
  }

  private mutating func truth(_ condition: SCXMLExpression, _ outer: Binding) throws(SCXMLProblem) -> String {
    let type = try type(of: condition)
    let zero: String
    switch shape(type) {
    case .flag, .unknown: return try write(condition, outer)
    case .integer: zero = "0"
    case .number: zero = "0.0"
    case .text: zero = "''"
    case .list, .record: return "true"
    }
    let text = "\(try write(condition, .sum)) != \(zero)"
    return outer > .comparison ? "(\(text))" : text
  }

  private mutating func form(of expression: SCXMLExpression) throws(SCXMLProblem) -> (String, Binding) {
    switch expression.form {
    case .flag(let value): return (value ? "true" : "false", .postfix)
    case .integer(let value): return ("\(value)", value < 0 ? .prefix : .postfix)
    case .number(let value): return ("\(value)", value < 0 ? .prefix : .postfix)
    case .text(let value): return (quoted(value), .postfix)
    case .name(let name): return (names[name] ?? name, .postfix)
    case .argument(let event, let name):
      guard Scope.isName(name) else {
        throw SCXMLProblem(
          .unsupported, at: expression.range, "`\(name)` of '\(event)' cannot be the name of an argument",
          hint: "use letters, digits and `_`")
      }
      return (name, .postfix)
    case .datum(let name): return (name, .postfix)
    case .eventName, .isIn, .nothing: return ("''", .postfix)
    case .member(let operand, "length"):
      let type = try type(of: operand)
      if case .record = shape(type) { return ("\(try write(operand, .postfix)).length", .postfix) }
      return ("\(try write(operand, .postfix)).size()", .postfix)
    case .member(let operand, let name): return ("\(try write(operand, .postfix)).\(name)", .postfix)
    case .element(let operand, let index):
      let index = try write(index, .conditional)
      let type = try type(of: operand)
      guard case .text = shape(type) else {
        return ("\(try write(operand, .postfix))[\(index)]", .postfix)
      }
      return ("\(try write(operand, .postfix)).substring(\(index), \(index) + 1)", .postfix)
    case .call(let name, let operands): return try callText(name, operands, at: expression.range)
    case .list(let members):
      let type = try type(of: expression)
      guard case .list(let element) = shape(type) else { return ("[]", .postfix) }
      let isNumber = isNumber(element)
      return ("[\(try join(members, isNumber: isNumber))]", .postfix)
    case .record(let fields):
      var parts: [String] = []
      for field in fields { parts.append("\(quoted(field.name)): \(try write(field.value, .conditional))") }
      return ("{\(parts.joined(separator: ", "))}", .postfix)
    case .not(let operand):
      if case .not(let inner) = operand.form { return (try truth(inner, .prefix), .prefix) }
      if case .binary(let sign, let left, let right) = operand.form, let opposite = sign.opposite {
        return try operationText(opposite, left, right)
      }
      return ("!\(try truth(operand, .prefix))", .prefix)
    case .negation(let operand): return ("-\(try write(operand, .postfix))", .prefix)
    case .binary(let sign, let left, let right): return try operationText(sign, left, right)
    case .conditional(let condition, let first, let second):
      let isNumber = try isNumber(expression)
      return (
        "\(try truth(condition, .or)) ? \(try write(first, .or, isNumber: isNumber))"
          + " : \(try write(second, .or, isNumber: isNumber))", .conditional
      )
    }
  }

  private mutating func join(
    _ operands: [SCXMLExpression], isNumber: Bool = false
  ) throws(SCXMLProblem) -> String {
    var parts: [String] = []
    for operand in operands { parts.append(try write(operand, .conditional, isNumber: isNumber)) }
    return parts.joined(separator: ", ")
  }

  private func quoted(_ text: String) -> String {
    var result = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'": result += "\\'"
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "'"
  }

  private mutating func operationText(
    _ sign: SCXMLExpression.Operator, _ left: SCXMLExpression, _ right: SCXMLExpression
  ) throws(SCXMLProblem) -> (String, Binding) {
    let (first, second) = (try type(of: left), try type(of: right))
    let isNumber = isNumber(first) || isNumber(second) || sign == .dividedBy
    switch sign {
    case .and: return ("\(try truth(left, .and)) && \(try truth(right, .comparison))", .and)
    case .or: return ("\(try truth(left, .or)) || \(try truth(right, .and))", .or)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      let isNumber = isNumber && isNumeric(first) && isNumeric(second)
      return (
        "\(try write(left, .sum, isNumber: isNumber)) \(sign.rawValue) "
          + "\(try write(right, .sum, isNumber: isNumber))", .comparison
      )
    case .plus:
      if case .text = shape(first) { return try concatenation(left, first, right, second) }
      if case .text = shape(second) { return try concatenation(left, first, right, second) }
      return (
        "\(try write(left, .sum, isNumber: isNumber)) + \(try write(right, .product, isNumber: isNumber))",
        .sum
      )
    case .minus:
      return (
        "\(try write(left, .sum, isNumber: isNumber)) - \(try write(right, .product, isNumber: isNumber))",
        .sum
      )
    case .times, .dividedBy, .remainder:
      if sign == .remainder, isNumber {
        throw SCXMLProblem(.unsupported, at: left.range, "`%` is read only of integers")
      }
      return (
        "\(try write(left, .product, isNumber: isNumber)) \(sign.rawValue) "
          + "\(try write(right, .prefix, isNumber: isNumber))", .product
      )
    }
  }

  private mutating func concatenation(
    _ left: SCXMLExpression, _ first: Int, _ right: SCXMLExpression, _ second: Int
  ) throws(SCXMLProblem) -> (String, Binding) {
    var parts: [String] = []
    for (operand, type, binding) in [(left, first, Binding.sum), (right, second, .product)] {
      switch shape(type) {
      case .text: parts.append(try write(operand, binding))
      case .flag, .integer, .number, .unknown: parts.append("string(\(try write(operand, .conditional)))")
      case .list, .record: throw mismatch(type, "a text", at: operand.range)
      }
    }
    return (parts.joined(separator: " + "), .sum)
  }

  private mutating func callText(
    _ name: String, _ operands: [SCXMLExpression], at range: Range<Int>
  ) throws(SCXMLProblem) -> (String, Binding) {
    let first = try type(of: operands[0])
    func postfix(_ text: String) -> (String, Binding) { (text, .postfix) }
    let operand = try write(operands[0], .postfix)
    switch name {
    case ".toString", "String":
      if case .text = shape(first) { return postfix(operand) }
      return postfix("string(\(try write(operands[0], .conditional)))")
    case "parseInt": return postfix("int(\(try write(operands[0], .conditional)))")
    case "Number", "parseFloat":
      if isNumeric(first) { return postfix(operand) }
      return postfix("double(\(try write(operands[0], .conditional)))")
    case "Math.floor": return try floor(operands[0])
    case "Math.trunc": return try floor(operands[0], isTruncated: true)
    case "Math.abs": return ("\(operand) < 0 ? -\(operand) : \(operand)", .conditional)
    case "Math.min", "Math.max":
      let second = try type(of: operands[1])
      let isNumber = isNumber(first) || isNumber(second)
      return postfix("\(name.dropFirst(5))(\(try join(operands, isNumber: isNumber)))")
    case ".charAt":
      let index = try write(operands[1], .sum)
      return postfix("\(operand).substring(\(index), \(index) + 1)")
    case ".concat":
      guard case .list(let element) = shape(first) else {
        return ("\(try write(operands[0], .sum)) + \(try write(operands[1], .product))", .sum)
      }
      return try concatenation(of: operands, isNumber: isNumber(element))
    case ".includes": return postfix("\(operand).contains(\(try join([operands[1]])))")
    case ".with": return postfix("\(operand).replace(\(try join(Array(operands.dropFirst()))))")
    case ".slice", ".substring": return try slice(name, operand, first, operands, at: range)
    default: return postfix("\(operand)\(name)(\(try join(Array(operands.dropFirst()))))")
    }
  }

  /// Lists one after the other. The elements of literals are added one by one, since only then their type is known.
  private mutating func concatenation(
    of operands: [SCXMLExpression], isNumber: Bool
  ) throws(SCXMLProblem) -> (String, Binding) {
    if case .list(let members) = operands[0].form, !members.isEmpty, isList(operands[1]) {
      var text = try write(operands[1], .postfix)
      for member in members.reversed() {
        text += ".prepend(\(try write(member, .conditional, isNumber: isNumber)))"
      }
      return (text, .postfix)
    }
    var added = [operands[1]]
    if case .list(let members) = operands[1].form {
      added = members
    } else if isList(operands[1]) {
      return ("\(try write(operands[0], .sum)) + \(try write(operands[1], .product))", .sum)
    }
    var text = try write(operands[0], .postfix)
    for member in added { text += ".append(\(try write(member, .conditional, isNumber: isNumber)))" }
    return (text, .postfix)
  }

  /// A quotient of integers without its fraction. ECMAScript divides numbers, and machines divide integers.
  private mutating func floor(
    _ operand: SCXMLExpression, isTruncated: Bool = false
  ) throws(SCXMLProblem) -> (String, Binding) {
    let type = try type(of: operand)
    if case .integer = shape(type) { return (try write(operand, .postfix), .postfix) }
    if case .binary(.dividedBy, let left, let right) = operand.form, try !isNumber(left),
      try !isNumber(right)
    {
      let (dividend, divisor) = (try write(left, .product), try write(right, .prefix))
      if isTruncated { return ("\(dividend) / \(divisor)", .product) }
      return ("(\(dividend) - (\(dividend) % \(divisor) + \(divisor)) % \(divisor)) / \(divisor)", .product)
    }
    guard isTruncated else {
      throw SCXMLProblem(
        .unsupported, at: operand.range, "`Math.floor` is read only of a quotient of integers",
        hint: "`Math.trunc` removes the fraction of any number")
    }
    return ("int(\(try write(operand, .conditional)))", .postfix)
  }

  private mutating func slice(
    _ name: String, _ receiver: String, _ type: Int, _ operands: [SCXMLExpression], at range: Range<Int>
  ) throws(SCXMLProblem) -> (String, Binding) {
    var bounds: [Int64] = []
    for operand in operands.dropFirst() {
      // A negative bound counts from the end.
      guard case .integer(let bound) = operand.form, bound >= 0 || operands.count == 2 && name == ".slice"
      else { break }
      bounds.append(bound)
    }
    guard bounds.count == operands.count - 1 else {
      throw SCXMLProblem(
        .unsupported, at: range, "`\(name.dropFirst())` is read only with constants",
        hint: "as in `.slice(0, 10)` or `.slice(-10)`")
    }
    let isText: Bool
    if case .text = shape(type) { isText = true } else { isText = false }
    switch (bounds.count, isText) {
    case (2, true): return ("\(receiver).substring(\(bounds[0]), \(bounds[1]))", .postfix)
    case (2, false) where bounds[0] == 0: return ("\(receiver).take(\(bounds[1]))", .postfix)
    case (2, false):
      return ("\(receiver).drop(\(bounds[0])).take(\(max(0, bounds[1] - bounds[0])))", .postfix)
    case (_, true) where bounds[0] >= 0: return ("\(receiver).substring(\(bounds[0]))", .postfix)
    case (_, true):
      return ("\(receiver).substring(max(0, \(receiver).size() - \(-bounds[0])))", .postfix)
    case (_, false) where bounds[0] >= 0: return ("\(receiver).drop(\(bounds[0]))", .postfix)
    default:
      return (
        "\(receiver).drop(max(0, \(receiver).size() - \(-bounds[0]))).take(\(-bounds[0]))", .postfix
      )
    }
  }
}

extension SCXMLExpression.Operator {
  /// The comparison that is true when this one is false; `nil` for other operators.
  fileprivate var opposite: Self? {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    case .or, .and, .plus, .minus, .times, .dividedBy, .remainder: nil
    }
  }
}
