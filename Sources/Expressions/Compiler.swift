import Basics

/// Checks the types of an expression, and makes the steps that evaluate it.
///
/// Every part of the expression gets words of its own behind those of the scope. A literal takes the type that is expected
/// of it, since a list has a capacity and a record its fields in an order that the literal alone does not say.
struct Compiler {
  typealias Slot = Frame.Slot

  /// The most words that an expression may need.
  static let maximumWidth = 100_000

  /// A part of the expression: its type, and where its value is after its steps.
  struct Operand {
    var type: ValueType
    var slot: Slot
    /// The integer that it is, if it is a constant.
    var constant: Int64?
  }

  private(set) var instructions: [Instruction] = []
  private(set) var width: Slot
  private(set) var strings: Strings
  private let scope: Scope

  init(scope: Scope, strings: Strings) {
    self.scope = scope
    self.strings = strings
    width = Slot(scope.width)
  }

  /// Compiles a whole expression, with a result of the type that is wanted.
  mutating func result(of syntax: Syntax, as type: ValueType?) throws(ExpressionFault) -> Operand {
    let value = try compile(syntax, expecting: type)
    guard let type else { return value }
    let converted = try convert(value, to: type, at: syntax.range)
    guard case .integer(let limits) = type, limits != .min ... .max else { return converted }
    let target = try reserve(1, at: syntax.range)
    emit(.clamp(converted.slot, limits.lowerBound, limits.upperBound, to: target))
    return Operand(type: type, slot: target)
  }

  mutating func emit(_ instruction: Instruction) { instructions.append(instruction) }

  mutating func reserve(_ count: Int, at range: Range<Int>) throws(ExpressionFault) -> Slot {
    guard Int(width) + count <= Self.maximumWidth else {
      throw ExpressionFault("the expression needs more than \(Self.maximumWidth) words", at: range)
    }
    defer { width += Slot(count) }
    return width
  }

  /// Reserves words for a value, and lets a closure emit the steps that fill them.
  mutating func value(
    _ type: ValueType, at range: Range<Int>, _ step: (Slot) -> Instruction
  ) throws(ExpressionFault) -> Operand {
    let slot = try reserve(type.width, at: range)
    emit(step(slot))
    return Operand(type: type, slot: slot)
  }

  func mismatch(_ found: ValueType, _ expected: String, at range: Range<Int>) -> ExpressionFault {
    ExpressionFault("expected \(expected), found \(found)", at: range)
  }
}

// MARK: - Types

extension Compiler {
  /// Brings a value to a type that can hold it.
  mutating func convert(
    _ value: Operand, to type: ValueType, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    switch (value.type, type) {
    case (.integer, .integer), (.flag, .flag), (.number, .number), (.duration, .duration),
      (.instant, .instant),
      (.bytes, .bytes), (.text, .text), (.word, .text):
      return Operand(type: type, slot: value.slot, constant: value.constant)
    case (.word(let left), .word(let right)) where left.allSatisfy(right.contains):
      return Operand(type: type, slot: value.slot)
    case (.list(let element, let count), .list(let wanted, let capacity)):
      try requireSame(element, wanted, of: value.type, type, at: range, isEmpty: count == 0)
      try requireRoom(count, capacity, "list", "elements", at: range)
      return try widen(value, to: type, at: range)
    case (.map(let key, let entry, let count), .map(let wantedKey, let wantedEntry, let capacity)):
      try requireSame(key, wantedKey, of: value.type, type, at: range, isEmpty: count == 0)
      try requireSame(entry, wantedEntry, of: value.type, type, at: range, isEmpty: count == 0)
      try requireRoom(count, capacity, "map", "entries", at: range)
      return try widen(value, to: type, at: range)
    case (.record(let left), .record(let right)) where left.map(\.name) == right.map(\.name):
      return try convertFields(value, left, right, to: type, at: range)
    default: throw mismatch(value.type, type.description, at: range)
    }
  }

  private func requireSame(
    _ type: ValueType, _ wanted: ValueType, of whole: ValueType, _ expected: ValueType, at range: Range<Int>,
    isEmpty: Bool
  ) throws(ExpressionFault) {
    guard !isEmpty, type.union(wanted) == nil || type.width != wanted.width else { return }
    throw mismatch(whole, expected.description, at: range)
  }

  private func requireRoom(
    _ count: Int, _ capacity: Int, _ noun: String, _ members: String, at range: Range<Int>
  ) throws(ExpressionFault) {
    guard count > capacity else { return }
    throw ExpressionFault(
      "the \(noun) may have \(count) \(members), and at most \(capacity) are possible here", at: range,
      hint: noun == "list" ? .words(".take(\(capacity)) keeps the first \(capacity)") : nil)
  }

  private mutating func widen(
    _ value: Operand, to type: ValueType, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    if value.type.width == type.width { return Operand(type: type, slot: value.slot) }
    return try self.value(type, at: range) {
      .widen(value.slot, from: Int32(value.type.width), width: Int32(type.width), to: $0)
    }
  }

  private mutating func convertFields(
    _ value: Operand, _ left: [ValueType.Field], _ right: [ValueType.Field], to type: ValueType,
    at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let target = try reserve(type.width, at: range)
    var (from, to) = (value.slot, target)
    for (left, right) in zip(left, right) {
      let field = try convert(Operand(type: left.type, slot: from), to: right.type, at: range)
      emit(.copy(field.slot, width: Int32(right.type.width), to: to))
      from += Slot(left.type.width)
      to += Slot(right.type.width)
    }
    return Operand(type: type, slot: target)
  }

  /// Brings two values to one type.
  mutating func unify(
    _ left: Operand, _ right: Operand, at range: Range<Int>
  ) throws(ExpressionFault) -> (left: Operand, right: Operand, type: ValueType) {
    guard let type = left.type.union(right.type) else {
      throw ExpressionFault("\(left.type) and \(right.type) have no type in common", at: range)
    }
    return (try convert(left, to: type, at: range), try convert(right, to: type, at: range), type)
  }
}

// MARK: - Forms

extension Compiler {
  /// Compiles a part of the expression.
  ///
  /// - Parameter type: the type that a literal takes, where its own is open; the result may have another type.
  mutating func compile(_ syntax: Syntax, expecting type: ValueType? = nil) throws(ExpressionFault) -> Operand
  {
    let range = syntax.range
    switch syntax.form {
    case .flag(let value): return try constant(.flag, value ? 1 : 0, at: range)
    case .integer(let value):
      var operand = try constant(.integer(value...value), value, at: range)
      operand.constant = value
      return operand
    case .number(let value): return try constant(.number, Frame.word(of: value), at: range)
    case .text(let value): return try text(value, expecting: type, at: range)
    case .bytes(let value): return try constant(.bytes, strings.number(of: value), at: range)
    case .name(let name): return try variable(name, at: range)
    case .member(let operand, let name): return try member(of: operand, name, at: range)
    case .element(let operand, let index): return try element(of: operand, index, at: range)
    case .call(let name, let receiver, let arguments): return try call(name, receiver, arguments, at: range)
    case .list(let members): return try list(members, expecting: type, at: range)
    case .map(let entries): return try map(entries, expecting: type, at: range)
    case .not(let operand):
      let value = try flag(operand)
      return try self.value(.flag, at: range) { .unary(.not, value.slot, to: $0) }
    case .negation(let operand): return try negation(of: operand, at: range)
    case .binary(let sign, let left, let right): return try operation(sign, left, right, at: range)
    case .conditional(let condition, let first, let second):
      return try conditional(condition, first, second, expecting: type, at: range)
    }
  }

  mutating func constant(
    _ type: ValueType, _ word: Int64, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    try value(type, at: range) { .constant(word, to: $0) }
  }

  mutating func flag(_ syntax: Syntax) throws(ExpressionFault) -> Operand {
    let value = try compile(syntax, expecting: .flag)
    guard value.type == .flag else { throw mismatch(value.type, "a flag", at: syntax.range) }
    return value
  }

  private mutating func text(
    _ value: String, expecting type: ValueType?, at range: Range<Int>
  ) throws(ExpressionFault)
    -> Operand
  {
    var found = ValueType.text
    if case .word(let words)? = type {
      guard words.contains(value) else {
        let near = nearestName(to: value, in: words)
        throw ExpressionFault(
          "`\(value)` is none of the words \(words.joined(separator: ", "))", at: range,
          hint: near.map { .name($0, insteadOf: value) })
      }
      found = .word(words)
    }
    return try constant(found, strings.number(of: value), at: range)
  }

  private func variable(_ name: String, at range: Range<Int>) throws(ExpressionFault) -> Operand {
    if let entry = scope[name] { return Operand(type: entry.type, slot: entry.slot) }
    let names = scope.entries.map(\.name).filter { !$0.isEmpty && !$0.contains(" ") }
    let near = nearestName(to: name, in: names)
    let hint: ExpressionFault.Hint? =
      near.map { .name($0, insteadOf: name) }
      ?? (names.isEmpty ? nil : .words("expected \(names.prefix(12).joined(separator: ", "))"))
    throw ExpressionFault("unknown name `\(name)`", at: range, hint: hint)
  }

  private mutating func member(
    of syntax: Syntax, _ name: String, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let operand = try compile(syntax)
    switch operand.type {
    case .record(let fields):
      var slot = operand.slot
      for field in fields {
        if field.name == name { return Operand(type: field.type, slot: slot) }
        slot += Slot(field.type.width)
      }
      let near = nearestName(to: name, in: fields.map(\.name))
      throw ExpressionFault(
        "the record has no field `\(name)`", at: range,
        hint: near.map { .name($0, insteadOf: name) }
          ?? .words("expected \(fields.map(\.name).joined(separator: ", "))"))
    case .map(let key, _, _) where key.isTextual:
      let key = try text(name, expecting: key, at: range)
      return try lookUp(.value, operand, key, at: range)
    default:
      let isFunction = Function.all.contains { $0.name == name }
      throw ExpressionFault(
        "\(operand.type) has no fields", at: range,
        hint: isFunction ? .words("a function is called with brackets: `.\(name)()`") : nil)
    }
  }

  private mutating func element(
    of syntax: Syntax, _ index: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let operand = try compile(syntax)
    switch operand.type {
    case .list, .bytes: return try element(of: operand, at: try integer(index), range)
    case .map(let key, _, _):
      let wanted = try converted(index, to: key)
      return try lookUp(.value, operand, wanted, at: range)
    case .record:
      guard case .text(let name) = index.form else {
        throw ExpressionFault("a field of a record is named by a constant text", at: index.range)
      }
      return try member(of: syntax, name, at: range)
    default: throw mismatch(operand.type, "a list, a map or bytes", at: syntax.range)
    }
  }

  /// Compiles an expression as a value of a type.
  mutating func converted(_ syntax: Syntax, to type: ValueType) throws(ExpressionFault) -> Operand {
    try convert(try compile(syntax, expecting: type), to: type, at: syntax.range)
  }

  mutating func integer(_ syntax: Syntax) throws(ExpressionFault) -> Operand {
    let value = try compile(syntax)
    guard case .integer = value.type else { throw mismatch(value.type, "an integer", at: syntax.range) }
    return value
  }

  private mutating func list(
    _ members: [Syntax], expecting type: ValueType?, at range: Range<Int>
  ) throws(ExpressionFault)
    -> Operand
  {
    var wanted: ValueType?
    if case .list(let element, _)? = type { wanted = element }
    var values: [Operand] = []
    for member in members { values.append(try compile(member, expecting: wanted)) }
    var element = wanted ?? values.first?.type ?? .flag
    if wanted == nil {
      for (value, member) in zip(values, members) {
        guard let union = element.union(value.type) else {
          throw mismatch(value.type, "\(element), as the elements before", at: member.range)
        }
        element = union
      }
    }
    let whole = ValueType.list(element, capacity: members.count)
    try requireFlat(element, at: range)
    let target = try reserve(whole.width, at: range)
    emit(.constant(Int64(members.count), to: target))
    for (index, (value, member)) in zip(values, members).enumerated() {
      let converted = try convert(value, to: element, at: member.range)
      emit(.copy(converted.slot, width: Int32(element.width), to: target + 1 + Slot(index * element.width)))
    }
    return Operand(type: whole, slot: target)
  }

  private func requireFlat(_ type: ValueType, at range: Range<Int>) throws(ExpressionFault) {
    guard !type.isFlat else { return }
    throw ExpressionFault("\(type) cannot be an element: an element contains no lists and no maps", at: range)
  }

  private mutating func map(
    _ entries: [Syntax.Entry], expecting type: ValueType?, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    switch type {
    case .record(let fields)?: return try record(entries, fields, at: range)
    case .map(let key, let value, let capacity)?:
      return try map(entries, key, value, capacity: max(capacity, entries.count), at: range)
    default:
      throw ExpressionFault("it is not known here of which type this map or record is", at: range)
    }
  }

  private mutating func record(
    _ entries: [Syntax.Entry], _ fields: [ValueType.Field], at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    var values: [String: Syntax] = [:]
    for entry in entries {
      guard case .text(let name) = entry.key.form else {
        throw ExpressionFault("a field of a record is named by a constant text", at: entry.key.range)
      }
      guard fields.contains(where: { $0.name == name }) else {
        let near = nearestName(to: name, in: fields.map(\.name))
        throw ExpressionFault(
          "the record has no field `\(name)`", at: entry.key.range,
          hint: near.map { .name($0, insteadOf: name) })
      }
      guard values.updateValue(entry.value, forKey: name) == nil else {
        throw ExpressionFault("the field `\(name)` is given twice", at: entry.key.range)
      }
    }
    let type = ValueType.record(fields)
    let target = try reserve(type.width, at: range)
    var slot = target
    for field in fields {
      guard let value = values[field.name] else {
        throw ExpressionFault("the field `\(field.name)` is missing", at: range)
      }
      let operand = try converted(value, to: field.type)
      emit(.copy(operand.slot, width: Int32(field.type.width), to: slot))
      slot += Slot(field.type.width)
    }
    return Operand(type: type, slot: target)
  }

  private mutating func map(
    _ entries: [Syntax.Entry], _ key: ValueType, _ value: ValueType, capacity: Int, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let type = ValueType.map(key, value, capacity: capacity)
    var map = Operand(type: type, slot: try reserve(type.width, at: range))
    emit(.constant(0, to: map.slot))
    for entry in entries {
      let key = try converted(entry.key, to: key)
      let value = try converted(entry.value, to: value)
      map = try self.value(type, at: range) {
        .collection(.put, map.slot, type.layout, key.slot, value.slot, to: $0)
      }
    }
    return map
  }

  private mutating func negation(of syntax: Syntax, at range: Range<Int>) throws(ExpressionFault) -> Operand {
    let value = try compile(syntax)
    switch value.type {
    case .integer: return try self.value(.anyInteger, at: range) { .unary(.negate, value.slot, to: $0) }
    case .duration: return try self.value(.duration, at: range) { .unary(.negate, value.slot, to: $0) }
    case .number: return try self.value(.number, at: range) { .unary(.negateNumber, value.slot, to: $0) }
    default: throw mismatch(value.type, "an integer, a number or a duration", at: syntax.range)
    }
  }

  private mutating func conditional(
    _ condition: Syntax, _ first: Syntax, _ second: Syntax, expecting type: ValueType?, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let condition = try flag(condition)
    let (first, second) = (try compile(first, expecting: type), try compile(second, expecting: type))
    let (left, right, type) = try unify(first, second, at: range)
    return try value(type, at: range) {
      .select(condition.slot, left.slot, right.slot, width: Int32(type.width), to: $0)
    }
  }
}

// MARK: - Operators

extension Compiler {
  private mutating func operation(
    _ sign: Syntax.Operator, _ left: Syntax, _ right: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    switch sign {
    case .and, .or:
      let (left, right) = (try flag(left), try flag(right))
      return try value(.flag, at: range) {
        sign == .and ? .and(left.slot, right.slot, to: $0) : .or(left.slot, right.slot, to: $0)
      }
    case .equal, .notEqual: return try equality(sign, left, right, at: range)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return try comparison(sign, left, right, at: range)
    case .contained:
      let collection = try compile(right)
      return try contains(collection, left, at: range)
    case .plus, .minus, .times, .dividedBy, .remainder: return try arithmetic(sign, left, right, at: range)
    }
  }

  /// Compiles two operands, of which a literal takes the type of the other.
  private mutating func pair(
    _ left: Syntax, _ right: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> (left: Operand, right: Operand, type: ValueType) {
    if left.isLiteral, !right.isLiteral {
      let second = try compile(right)
      return try unify(try compile(left, expecting: second.type), second, at: range)
    }
    let first = try compile(left)
    return try unify(first, try compile(right, expecting: first.type), at: range)
  }

  private mutating func equality(
    _ sign: Syntax.Operator, _ left: Syntax, _ right: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let (left, right, type) = try pair(left, right, at: range)
    return try value(.flag, at: range) {
      .equal(left.slot, right.slot, width: Int32(type.width), isNegated: sign == .notEqual, to: $0)
    }
  }

  private mutating func comparison(
    _ sign: Syntax.Operator, _ left: Syntax, _ right: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let (left, right, type) = try pair(left, right, at: range)
    guard let order = type.order else { throw mismatch(type, "values with an order", at: range) }
    let isSwapped = sign == .greater || sign == .greaterOrEqual
    let orEqual = sign == .lessOrEqual || sign == .greaterOrEqual
    return try value(.flag, at: range) {
      isSwapped
        ? .less(order, right.slot, left.slot, orEqual: orEqual, to: $0)
        : .less(order, left.slot, right.slot, orEqual: orEqual, to: $0)
    }
  }

  private mutating func arithmetic(
    _ sign: Syntax.Operator, _ left: Syntax, _ right: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let first = try compile(left)
    let second = try compile(right, expecting: first.type)
    let operation = sign.arithmetic
    switch (first.type, second.type, sign) {
    case (.integer(let left), .integer(let right), _):
      return try value(.integer(operation.range(of: left, right)), at: range) {
        .integers(operation, first.slot, second.slot, to: $0)
      }
    case (.number, .number, _) where sign != .remainder:
      return try value(.number, at: range) { .numbers(operation, first.slot, second.slot, to: $0) }
    case (.duration, .duration, .plus), (.duration, .duration, .minus), (.instant, .instant, .minus):
      return try value(.duration, at: range) { .integers(operation, first.slot, second.slot, to: $0) }
    case (.instant, .duration, .plus), (.instant, .duration, .minus), (.duration, .instant, .plus):
      return try value(.instant, at: range) { .integers(operation, first.slot, second.slot, to: $0) }
    case (.duration, .integer, .times), (.duration, .integer, .dividedBy), (.integer, .duration, .times):
      return try value(.duration, at: range) { .integers(operation, first.slot, second.slot, to: $0) }
    case (let left, let right, .plus) where left.isTextual && right.isTextual:
      return try value(.text, at: range) { .strings(.join, first.slot, second.slot, to: $0) }
    case (.bytes, .bytes, .plus):
      return try value(.bytes, at: range) { .strings(.join, first.slot, second.slot, to: $0) }
    case (.list(let left, let leftCount), .list(let right, let rightCount), .plus):
      guard let element = leftCount == 0 ? right : rightCount == 0 ? left : left.union(right) else {
        throw mismatch(second.type, first.type.description, at: range)
      }
      return try value(.list(element, capacity: leftCount + rightCount), at: range) {
        .concatenate(
          first.slot, Instruction.Layout(capacity: Int32(leftCount), width: Int32(element.width)),
          second.slot,
          Instruction.Layout(capacity: Int32(rightCount), width: Int32(element.width)), to: $0)
      }
    default:
      throw ExpressionFault(
        "`\(sign.rawValue)` is not possible with \(first.type) and \(second.type)", at: range)
    }
  }
}

extension Syntax {
  /// Whether its type may be taken from where it stands.
  fileprivate var isLiteral: Bool {
    switch form {
    case .text, .list, .map: true
    default: false
    }
  }
}

extension Syntax.Operator {
  fileprivate var arithmetic: Instruction.Arithmetic {
    switch self {
    case .minus: .subtract
    case .times: .multiply
    case .dividedBy: .divide
    case .remainder: .remainder
    default: .add
    }
  }
}

extension Instruction.Arithmetic {
  /// The limits of results, where they follow from those of the operands.
  fileprivate func range(of left: ClosedRange<Int64>, _ right: ClosedRange<Int64>) -> ClosedRange<Int64> {
    let whole = Int64.min ... .max
    func sum(_ left: Int64, _ right: Int64) -> Int64 {
      let (sum, isOverflow) = left.addingReportingOverflow(right)
      return isOverflow ? (left < 0 ? .min : .max) : sum
    }
    switch self {
    case .add: return sum(left.lowerBound, right.lowerBound)...sum(left.upperBound, right.upperBound)
    case .subtract where right.lowerBound != .min:
      return sum(left.lowerBound, -right.upperBound)...sum(left.upperBound, -right.lowerBound)
    case .subtract, .multiply, .divide, .remainder: return whole
    }
  }
}

extension ValueType {
  /// How values are compared, or `nil` if they have no order.
  var order: Instruction.Order? {
    switch self {
    case .flag, .integer, .duration, .instant: .integers
    case .number: .numbers
    case .text, .word, .bytes: .strings
    case .list, .map, .record: nil
    }
  }

  /// Whether it contains no list and no map.
  var isFlat: Bool {
    switch self {
    case .list, .map: false
    case .record(let fields): fields.allSatisfy(\.type.isFlat)
    default: true
    }
  }

  /// How a list or a map is laid out.
  var layout: Instruction.Layout {
    switch self {
    case .list(let element, let capacity):
      Instruction.Layout(capacity: Int32(capacity), width: Int32(element.width))
    case .map(let key, let value, let capacity):
      Instruction.Layout(capacity: Int32(capacity), width: Int32(key.width), valueWidth: Int32(value.width))
    default: Instruction.Layout(capacity: 0, width: 0)
    }
  }
}
