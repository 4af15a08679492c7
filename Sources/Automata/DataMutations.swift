import Expressions

/// A wrong expression of a row, or one that is missing.
struct DataMutation: Equatable, Sendable {
  /// Where in the data of a row it is.
  enum Place: Equatable, Sendable {
    case when
    case set(Int)
    case due(Int)
  }

  var row: Int
  var place: Place
  /// The wrong expression; `nil` if there is none: the row is always taken, or the variable keeps its value.
  var expression: String?
}

extension DataMutation {
  /// Changes the data of a row.
  func change(_ data: inout RowData) {
    switch place {
    case .when: data.when = expression
    case .set(let number):
      if let expression { data.set[number].value = expression } else { data.set.remove(at: number) }
    case .due(let number): data.due[number].value = expression ?? data.due[number].value
    }
  }

  /// The error in words.
  func summary(in rows: [Transition]) -> String {
    let row = rows[self.row]
    let label = "\(RowLabel(row))" + (row.data.when.map { " [\($0)]" } ?? "")
    switch place {
    case .when: return label + (expression.map { ": is taken if \($0)" } ?? ": is taken always")
    case .set(let number):
      let variable = row.data.set[number].variable
      return label + (expression.map { ": \(variable) becomes \($0)" } ?? ": \(variable) keeps its value")
    case .due(let number): return label + ": shows \(row.data.due[number].reading) = \(expression ?? "any")"
    }
  }

  /// Returns all wrong expressions of the rows of a machine that are well-formed.
  static func all(of definition: MachineDefinition) -> [DataMutation] {
    guard definition.hasData else { return [] }
    return candidates(of: definition).filter { mutation in
      var wrong = definition
      mutation.change(&wrong.transitions[mutation.row].data)
      return wrong.findings() == definition.findings()
    }
  }

  private static func candidates(of definition: MachineDefinition) -> [DataMutation] {
    definition.transitions.enumerated().flatMap { row, transition -> [DataMutation] in
      let data = transition.data
      var mutations: [DataMutation] = []
      if let when = data.when {
        mutations += (["!(\(when))"] + wrongExpressions(when)).map {
          .init(row: row, place: .when, expression: $0)
        }
        mutations.append(.init(row: row, place: .when, expression: nil))
      }
      for (number, assignment) in data.set.enumerated() {
        mutations.append(.init(row: row, place: .set(number), expression: nil))
        mutations += wrongExpressions(assignment.value).map {
          .init(row: row, place: .set(number), expression: $0)
        }
      }
      for (number, due) in data.due.enumerated() {
        mutations += wrongExpressions(due.value ?? "").map {
          .init(row: row, place: .due(number), expression: $0)
        }
      }
      return mutations
    }
  }

  /// Returns an expression with one error each: another operator, a number that is one more or less, an operand that is
  /// missing.
  private static func wrongExpressions(_ text: String) -> [String] {
    guard let syntax = try? Syntax(parsing: text) else { return [] }
    let bytes = Array(text.utf8)
    func replacing(_ range: Range<Int>, by other: String) -> String {
      String(
        decoding: bytes[..<range.lowerBound] + Array(other.utf8) + bytes[range.upperBound...], as: UTF8.self)
    }
    var wrong: [String] = []
    for part in syntax.parts {
      switch part.form {
      case .integer(let value):
        wrong += [value &+ 1, value &- 1].map { replacing(part.range, by: $0 < 0 ? "(\($0))" : String($0)) }
      case .flag(let value): wrong.append(replacing(part.range, by: String(!value)))
      case .binary(let sign, let left, let right):
        let gap = left.range.upperBound..<right.range.lowerBound
        guard let place = bytes.place(of: Array(sign.rawValue.utf8), in: gap) else { continue }
        wrong += sign.errors.map { replacing(place, by: $0) }
        if sign == .and || sign == .or {
          // The brackets around an operand remain, whatever they contain.
          wrong += [replacing(left.range, by: sign == .and ? "true" : "false")]
          wrong += [replacing(right.range, by: sign == .and ? "true" : "false")]
        }
      case .conditional(_, let first, let second):
        wrong.append(replacing(first.range, by: second.text(of: text)))
        wrong.append(replacing(second.range, by: first.text(of: text)))
      case .number, .text, .bytes, .name, .member, .element, .call, .list, .map, .not, .negation: break
      }
    }
    return wrong
  }
}

extension Syntax {
  /// The expression and all its parts.
  fileprivate var parts: [Syntax] {
    let inner: [Syntax] =
      switch form {
      case .flag, .integer, .number, .text, .bytes, .name: []
      case .member(let operand, _), .not(let operand), .negation(let operand): [operand]
      case .element(let operand, let index): [operand, index]
      case .call(_, let receiver, let arguments): (receiver.map { [$0] } ?? []) + arguments
      case .list(let members): members
      case .map(let entries): entries.map(\.value)
      case .binary(_, let left, let right): [left, right]
      case .conditional(let condition, let first, let second): [condition, first, second]
      }
    return [self] + inner.flatMap(\.parts)
  }
}

extension Syntax.Operator {
  /// The operators that are written in its place by mistake.
  fileprivate var errors: [String] {
    switch self {
    case .or: ["&&"]
    case .and: ["||"]
    case .less: ["<=", ">"]
    case .lessOrEqual: ["<", ">="]
    case .greater: [">=", "<"]
    case .greaterOrEqual: [">", "<="]
    case .equal: ["!="]
    case .notEqual: ["=="]
    case .plus: ["-"]
    case .minus: ["+"]
    case .times: ["+"]
    case .contained, .dividedBy, .remainder: []
    }
  }
}

extension [UInt8] {
  /// The first place of some bytes in a range.
  fileprivate func place(of part: [UInt8], in range: Range<Int>) -> Range<Int>? {
    guard range.count >= part.count else { return nil }
    let start = (range.lowerBound...range.upperBound - part.count).first {
      self[$0..<$0 + part.count].elementsEqual(part)
    }
    return start.map { $0..<$0 + part.count }
  }
}
