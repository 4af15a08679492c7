import Basics
import Expressions

/// Evaluates an expression by its definition: a walk over its syntax, with values and no words, types or steps.
///
/// It knows nothing of how expressions are compiled, so that each checks the other.
struct ReferenceEvaluator {
  var variables: [String: Value]

  func evaluate(_ syntax: Syntax) -> Value {
    switch syntax.form {
    case .flag(let value): .flag(value)
    case .integer(let value): .integer(Int(value))
    case .number(let value): .number(value)
    case .text(let value): .text(value)
    case .bytes(let value): .bytes(value)
    case .name(let name): variables[name] ?? .absent
    case .member(let operand, let name): field(name, of: evaluate(operand))
    case .element(let operand, let index): element(of: evaluate(operand), evaluate(index))
    case .call(let name, let receiver, let arguments):
      call(name, (receiver.map { [$0] } ?? []) + arguments)
    case .list(let members): .list(members.map(evaluate))
    case .map(let entries): record(entries)
    case .not(let operand): operand.mapFlag(evaluate) { !$0 }
    case .negation(let operand): strict([operand]) { $0.count == 1 ? negated($0[0]) : .absent }
    case .binary(let sign, let left, let right): operation(sign, left, right)
    case .conditional(let condition, let first, let second):
      switch evaluate(condition) {
      case .flag(true): evaluate(first)
      case .flag(false): evaluate(second)
      case .unknown: merged(evaluate(first), evaluate(second))
      default: absent(like: evaluate(first))
      }
    }
  }

  /// What two values have in common; the rest is unknown.
  private func merged(_ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.list(let first), .list(let second)):
      return first.count == second.count ? .list(zip(first, second).map(merged)) : .unknown
    case (.record(let first), .record(let second)):
      return .record(zip(first, second).map { ($0.name, merged($0.value, $1.value)) })
    case (.map(let first), .map(let second)):
      guard first.elementsEqual(second, by: { $0.key == $1.key }) else { return .unknown }
      return .map(zip(first, second).map { ($0.key, merged($0.value, $1.value)) })
    default: return left == right && left != .absent ? left : .unknown
    }
  }

  private func absent(like value: Value) -> Value {
    guard case .record(let fields) = value else { return .absent }
    return .record(fields.map { ($0.name, absent(like: $0.value)) })
  }

  private func record(_ entries: [Syntax.Entry]) -> Value {
    .record(
      entries.compactMap { entry in
        guard case .text(let name) = entry.key.form else { return nil }
        return (name, evaluate(entry.value))
      })
  }

  private func field(_ name: String, of value: Value) -> Value {
    guard case .record(let fields) = value else { return value }
    return fields.first { $0.name == name }?.value ?? .absent
  }

  /// An operation whose result is unknown or absent where an operand is.
  private func strict(_ operands: [Syntax], _ body: ([Value]) -> Value) -> Value {
    let values = operands.map(evaluate)
    if values.contains(.unknown) { return .unknown }
    if values.contains(.absent) { return .absent }
    return body(values)
  }

  private func negated(_ value: Value) -> Value {
    switch value {
    case .integer(let value): value == .min ? .absent : .integer(-value)
    case .number(let value): .number(-value)
    case .duration(let value): .duration(Interval(nanoseconds: -value.nanoseconds))
    default: .absent
    }
  }

  private func operation(_ sign: Syntax.Operator, _ left: Syntax, _ right: Syntax) -> Value {
    switch sign {
    case .and, .or:
      let values = [evaluate(left), evaluate(right)]
      let deciding = Value.flag(sign == .or)
      if values.contains(deciding) { return deciding }
      return values.contains(.unknown) ? .unknown : values.contains(.absent) ? .absent : .flag(sign == .and)
    case .equal, .notEqual:
      let result = Self.areEqual(evaluate(left), evaluate(right))
      guard case .flag(let isEqual) = result else { return result }
      return .flag(isEqual == (sign == .equal))
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return strict([left, right]) { values in
        let isLess = Self.precedes(values[0], values[1])
        let isGreater = Self.precedes(values[1], values[0])
        return switch sign {
        case .less: .flag(isLess)
        case .lessOrEqual: .flag(!isGreater)
        case .greater: .flag(isGreater)
        default: .flag(!isLess)
        }
      }
    case .contained: return call("contains", [right, left])
    case .plus, .minus, .times, .dividedBy, .remainder:
      return strict([left, right]) { Self.arithmetic(sign, $0[0], $0[1]) }
    }
  }

  private static func arithmetic(_ sign: Syntax.Operator, _ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.integer(let left), .integer(let right)):
      let (value, isOverflow) =
        switch sign {
        case .plus: left.addingReportingOverflow(right)
        case .minus: left.subtractingReportingOverflow(right)
        case .times: left.multipliedReportingOverflow(by: right)
        case .dividedBy: left.dividedReportingOverflow(by: right)
        default: left.remainderReportingOverflow(dividingBy: right)
        }
      return isOverflow ? .absent : .integer(value)
    case (.text(let left), .text(let right)): return .text(left + right)
    case (.list(let left), .list(let right)): return .list(left + right)
    default: return .absent
    }
  }

  static func precedes(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.flag(let left), .flag(let right)): !left && right
    case (.integer(let left), .integer(let right)): left < right
    case (.text(let left), .text(let right)): Array(left.utf8).lexicographicallyPrecedes(Array(right.utf8))
    default: false
    }
  }

  /// Equality of what is known: parts that differ decide, and otherwise a part that is not known leaves it open.
  static func areEqual(_ left: Value, _ right: Value) -> Value {
    func all(_ parts: [Value]) -> Value {
      if parts.contains(.flag(false)) { return .flag(false) }
      return parts.contains(.unknown) ? .unknown : parts.contains(.absent) ? .absent : .flag(true)
    }
    switch (left, right) {
    case (.unknown, _), (_, .unknown): return .unknown
    case (.absent, _), (_, .absent): return left.hasUnknown || right.hasUnknown ? .unknown : .absent
    case (.list(let first), .list(let second)):
      return first.count == second.count ? all(zip(first, second).map(areEqual)) : .flag(false)
    case (.record(let first), .record(let second)):
      return all(zip(first, second).map { areEqual($0.value, $1.value) })
    default: return .flag(left == right)
    }
  }
}

extension Value {
  /// Whether it or a part of it is unknown.
  fileprivate var hasUnknown: Bool {
    switch self {
    case .unknown: true
    case .list(let values): values.contains(where: \.hasUnknown)
    case .record(let fields): fields.contains { $0.value.hasUnknown }
    default: false
    }
  }
}

extension Syntax {
  fileprivate func mapFlag(_ evaluate: (Syntax) -> Value, _ body: (Bool) -> Bool) -> Value {
    let value = evaluate(self)
    guard case .flag(let flag) = value else { return value }
    return .flag(body(flag))
  }
}

// MARK: - Functions

extension ReferenceEvaluator {
  private func call(_ name: String, _ operands: [Syntax]) -> Value {
    let values = operands.map(evaluate)
    let subject = values[0]
    // A collection that is not known decides whatever its operands are; two scalars are alike.
    let areScalars = ["startsWith", "min", "max"].contains(name)
    if areScalars, values.contains(.unknown) { return .unknown }
    if subject == .unknown || subject == .absent { return subject }
    switch (name, subject) {
    case ("append", .list(let list)): return .list(list + [values[1]])
    case ("prepend", .list(let list)): return .list([values[1]] + list)
    case ("contains", .list(let list)): return search(list, values[1], isIndex: false)
    case ("indexOf", .list(let list)): return search(list, values[1], isIndex: true)
    case ("replace", .list(let list)):
      guard case .integer(let index) = values[1] else { return values[1] }
      guard let place = Self.place(index, in: list) else { return .absent }
      var list = list
      list[place] = values[2]
      return .list(list)
    default: break
    }
    if values.contains(.unknown) { return .unknown }
    if values.contains(.absent) { return .absent }
    switch (name, subject, values.dropFirst().first) {
    case ("size", .list(let list), _): return .integer(list.count)
    case ("size", .text(let text), _): return .integer(text.unicodeScalars.count)
    case ("first", .list(let list), _): return list.first ?? .absent
    case ("last", .list(let list), _): return list.last ?? .absent
    case ("at", _, let index?): return element(of: subject, index)
    case ("take", .list(let list), .integer(let count)?): return .list(Array(list.prefix(Int(count))))
    case ("drop", .list(let list), .integer(let count)?):
      return .list(Array(list.dropFirst(max(0, Int(clamping: count)))))
    case ("remove", .list(var list), .integer(let index)?):
      guard let place = Self.place(index, in: list) else { return .absent }
      list.remove(at: place)
      return .list(list)
    case ("startsWith", .text(let text), .text(let prefix)?):
      return .flag(text.utf8.starts(with: prefix.utf8))
    case ("string", .integer(let value), _): return .text(String(value))
    case ("min", _, let other?): return Self.precedes(other, subject) ? other : subject
    case ("max", _, let other?): return Self.precedes(subject, other) ? other : subject
    default: return .absent
    }
  }

  private static func place(_ index: Int, in list: [Value]) -> Int? {
    let (place, isOverflow) = index < 0 ? index.addingReportingOverflow(list.count) : (index, false)
    return !isOverflow && place >= 0 && place < list.count ? Int(place) : nil
  }

  private func element(of value: Value, _ index: Value) -> Value {
    guard case .list(let list) = value else { return value }
    guard case .integer(let number) = index else { return index }
    return Self.place(number, in: list).map { list[$0] } ?? .absent
  }

  private func search(_ list: [Value], _ wanted: Value, isIndex: Bool) -> Value {
    var isSure = true
    for (index, element) in list.enumerated() {
      switch Self.areEqual(element, wanted) {
      case .flag(true): return isIndex && !isSure ? .unknown : isIndex ? .integer(index) : .flag(true)
      case .flag(false): continue
      default: isSure = false
      }
    }
    return isSure ? isIndex ? .integer(-1) : .flag(false) : .unknown
  }
}
