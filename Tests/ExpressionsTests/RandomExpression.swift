import Basics
import Expressions

/// Writes random expressions of given types over a few variables, and random values of these variables.
struct RandomExpression {
  static let entry = ValueType.record([
    ValueType.Field("number", .anyInteger), ValueType.Field("user", .text),
  ])
  static let variables: [(name: String, type: ValueType)] = [
    ("flag", .flag), ("other", .flag), ("tries", .integer(0...3)), ("number", .anyInteger), ("code", .text),
    ("codes", .list(.text, capacity: 3)), ("log", .list(entry, capacity: 3)),
  ]

  var generator: SeededGenerator

  mutating func pick(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

  private mutating func pick(_ texts: [String]) -> String { texts[pick(texts.count)] }

  /// A value of a variable. Some are unknown, some absent, some in parts.
  mutating func value(_ type: ValueType) -> Value {
    switch pick(12) {
    case 0: return type.isRecord ? value(fieldsOf: type) : .unknown
    case 1: return type.isRecord ? value(fieldsOf: type) : .absent
    default: break
    }
    switch type {
    case .flag: return .flag(pick(2) == 0)
    case .integer(let limits):
      let edges: [Int] = [0, 1, 2, 3, -1, .max, .min, 1 << 40]
      return .integer(min(max(edges[pick(edges.count)], Int(limits.lowerBound)), Int(limits.upperBound)))
    case .text: return .text(["", "1234", "12", "é", "Bob"][pick(5)])
    case .list(let element, let capacity): return .list((0..<pick(capacity + 1)).map { _ in value(element) })
    case .record: return value(fieldsOf: type)
    default: return .absent
    }
  }

  private mutating func value(fieldsOf type: ValueType) -> Value {
    guard case .record(let fields) = type else { return .unknown }
    var values: [(String, Value)] = []
    for field in fields { values.append((field.name, value(field.type))) }
    return .record(values)
  }

  /// The text of an expression.
  mutating func text(_ kind: Kind, depth: Int) -> String {
    if depth > 0, pick(6) == 0 {
      return
        "(\(text(.flag, depth: depth - 1)) ? \(text(kind, depth: depth - 1)) : \(text(kind, depth: depth - 1)))"
    }
    return switch kind {
    case .flag: flag(depth)
    case .integer: integer(depth)
    case .text: text(depth)
    case .texts: texts(depth)
    case .log: log(depth)
    case .entry: entry(depth)
    }
  }

  enum Kind: CaseIterable { case flag, integer, text, texts, log, entry }

  private mutating func flag(_ depth: Int) -> String {
    guard depth > 0 else { return pick(["flag", "other", "true", "false"]) }
    let next = depth - 1
    switch pick(8) {
    case 0: return "!\(text(.flag, depth: next))"
    case 1: return "(\(text(.flag, depth: next)) && \(text(.flag, depth: next)))"
    case 2: return "(\(text(.flag, depth: next)) || \(text(.flag, depth: next)))"
    case 3:
      let sign = pick(["<", "<=", ">", ">=", "==", "!="])
      return "(\(text(.integer, depth: next)) \(sign) \(text(.integer, depth: next)))"
    case 4: return "(\(text(.text, depth: next)) \(pick(["<", "==", "!="])) \(text(.text, depth: next)))"
    case 5: return "(\(text(.text, depth: next)) in \(text(.texts, depth: next)))"
    case 6: return "(\(text(.log, depth: next)) == \(text(.log, depth: next)))"
    default: return "\(text(.text, depth: next)).startsWith(\(text(.text, depth: next)))"
    }
  }

  private mutating func integer(_ depth: Int) -> String {
    guard depth > 0 else { return pick(["tries", "number", "0", "1", "-1", "2", "9223372036854775807"]) }
    let next = depth - 1
    switch pick(8) {
    case 0...2:
      return
        "(\(text(.integer, depth: next)) \(pick(["+", "-", "*", "/", "%"])) \(text(.integer, depth: next)))"
    case 3: return "\(text(.texts, depth: next)).size()"
    case 4: return "\(text(.entry, depth: next)).number"
    case 5: return "\(text(.texts, depth: next)).indexOf(\(text(.text, depth: next)))"
    case 6: return "\(pick(["min", "max"]))(\(text(.integer, depth: next)), \(text(.integer, depth: next)))"
    default: return "(-\(text(.integer, depth: next)))"
    }
  }

  private mutating func text(_ depth: Int) -> String {
    guard depth > 0 else { return pick(["code", "'1234'", "''", "'Bob'"]) }
    let next = depth - 1
    switch pick(4) {
    case 0: return "(\(text(.text, depth: next)) + \(text(.text, depth: next)))"
    case 1: return "\(text(.texts, depth: next))[\(text(.integer, depth: next))]"
    case 2: return "\(text(.entry, depth: next)).user"
    default: return "string(\(text(.integer, depth: next)))"
    }
  }

  private mutating func texts(_ depth: Int) -> String {
    guard depth > 0 else { return pick(["codes", "['12', code]", "['Bob']"]) }
    let next = depth - 1
    switch pick(6) {
    case 0: return "\(text(.texts, depth: next)).append(\(text(.text, depth: next)))"
    case 1: return "\(text(.texts, depth: next)).prepend(\(text(.text, depth: next))).take(\(1 + pick(3)))"
    case 2: return "\(text(.texts, depth: next)).remove(\(text(.integer, depth: next)))"
    case 3: return "(\(text(.texts, depth: next)) + \(text(.texts, depth: next)))"
    case 4:
      return
        "\(text(.texts, depth: next)).replace(\(text(.integer, depth: next)), \(text(.text, depth: next)))"
    default: return "\(text(.texts, depth: next)).drop(\(text(.integer, depth: next)))"
    }
  }

  private mutating func log(_ depth: Int) -> String {
    guard depth > 0 else { return "log" }
    let next = depth - 1
    switch pick(3) {
    case 0: return "\(text(.log, depth: next)).append(\(text(.entry, depth: next))).take(3)"
    case 1:
      return "\(text(.log, depth: next)).prepend({'number': number, 'user': \(text(.text, depth: next))})"
    default: return "\(text(.log, depth: next)).drop(1)"
    }
  }

  private mutating func entry(_ depth: Int) -> String {
    guard depth > 0 else { return "log.first()" }
    let next = depth - 1
    return pick(2) == 0
      ? "\(text(.log, depth: next)).last()" : "\(text(.log, depth: next))[\(text(.integer, depth: next))]"
  }
}

extension ValueType {
  fileprivate var isRecord: Bool {
    if case .record = self { true } else { false }
  }
}

extension Value {
  /// The value with all fields of its records, each of which is unknown or absent where the record is.
  func inFull(_ type: ValueType) -> Value {
    switch (self, type) {
    case (.unknown, .record(let fields)), (.absent, .record(let fields)):
      .record(fields.map { ($0.name, inFull($0.type)) })
    case (.record(let values), .record(let fields)):
      .record(zip(values, fields).map { ($0.name, $0.value.inFull($1.type)) })
    case (.list(let values), .list(let element, _)): .list(values.map { $0.inFull(element) })
    default: self
    }
  }
}
