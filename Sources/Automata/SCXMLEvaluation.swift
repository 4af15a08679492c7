import Basics
import Documents

/// An event while it is processed.
struct SCXMLEvent {
  var name: String
  /// What it carries; `nil` if the tester chooses that.
  var data: [SCXMLChart.Parameter]?
}

extension SCXMLExpression {
  /// What the names in an expression stand for at one moment.
  struct Context {
    /// The values of variables that differ from those before the row.
    var values: [String: SCXMLExpression]
    /// The values of variables that nothing sets.
    var constants: [String: SCXMLExpression]
    var event: SCXMLEvent?
    var isActive: (String) -> Bool
  }

  /// The most parts of an expression that results when values are put in.
  private static let maximumSize = 500

  /// Returns the expression with the values of its names put in, and with constant parts computed.
  func resolved(in context: Context) throws(SCXMLProblem) -> SCXMLExpression {
    let result = try replaced(in: context)
    guard result.size(upTo: Self.maximumSize) < Self.maximumSize else {
      throw SCXMLProblem(
        .tooLarge, at: range, "the value is too long an expression of the values before the event",
        hint: "let fewer transitions follow one another without an event")
    }
    return result
  }

  private func replaced(in context: Context) throws(SCXMLProblem) -> SCXMLExpression {
    switch form {
    case .flag, .integer, .number, .text, .nothing, .argument: return self
    case .name(let name): return context.values[name] ?? context.constants[name] ?? self
    case .isIn(let state): return SCXMLExpression(.flag(context.isActive(state)), at: range)
    case .eventName:
      guard let event = context.event else { throw noEvent }
      return SCXMLExpression(.text(event.name), at: range)
    case .datum(let name):
      guard let event = context.event else { throw noEvent }
      guard let data = event.data else {
        return SCXMLExpression(.argument(event: event.name, name.isEmpty ? "data" : name), at: range)
      }
      return data.first { $0.name == (name.isEmpty ? "data" : name) }?.value
        ?? SCXMLExpression(.nothing, at: range)
    case .member(let operand, let name): return part(.member(try operand.replaced(in: context), name))
    case .element(let list, let index):
      return part(.element(try list.replaced(in: context), try index.replaced(in: context)))
    case .call(let name, let operands): return part(.call(name, try Self.all(operands, in: context)))
    case .list(let members): return part(.list(try Self.all(members, in: context)))
    case .record(let fields):
      var replaced: [(name: String, value: SCXMLExpression)] = []
      for field in fields { replaced.append((field.name, try field.value.replaced(in: context))) }
      return part(.record(replaced))
    case .not(let operand): return part(.not(try operand.replaced(in: context)))
    case .negation(let operand): return part(.negation(try operand.replaced(in: context)))
    case .binary(let sign, let left, let right):
      return part(.binary(sign, try left.replaced(in: context), try right.replaced(in: context)))
    case .conditional(let condition, let first, let second):
      return part(
        .conditional(
          try condition.replaced(in: context), try first.replaced(in: context),
          try second.replaced(in: context)))
    }
  }

  private var noEvent: SCXMLProblem {
    SCXMLProblem(
      .wrongExpression, at: range, "there is no event here: this is evaluated before the first one")
  }

  private static func all(
    _ operands: [SCXMLExpression], in context: Context
  ) throws(SCXMLProblem) -> [SCXMLExpression] {
    var all: [SCXMLExpression] = []
    for operand in operands { all.append(try operand.replaced(in: context)) }
    return all
  }

  private func part(_ form: Form) -> SCXMLExpression { SCXMLExpression(form, at: range).simplified }
}

extension SCXMLExpression {
  /// A text that is the same for equal expressions, wherever they are.
  var key: String {
    let operands = operands.map(\.key).joined(separator: ",")
    let head =
      switch form {
      case .flag(let value): "\(value)"
      case .integer(let value): "\(value)"
      case .number(let value): "\(value)"
      case .text(let value): "'\(value)'"
      case .nothing: "null"
      case .name(let name): name
      case .datum(let name): "data.\(name)"
      case .argument(let event, let name): "\(event).data.\(name)"
      case .eventName: "event"
      case .isIn(let state): "In \(state)"
      case .member(_, let name): ".\(name)"
      case .element: "element"
      case .call(let name, _): "call \(name)"
      case .list: "list"
      case .record(let fields): "record \(fields.map(\.name))"
      case .not: "!"
      case .negation: "minus"
      case .binary(let sign, _, _): sign.rawValue
      case .conditional: "?"
      }
    return operands.isEmpty ? head : "\(head)(\(operands))"
  }
}

// MARK: - Constants

extension SCXMLExpression {
  /// Whether a constant is true where a condition is expected; `nil` for what is not a constant.
  var truth: Bool? {
    switch form {
    case .flag(let value): value
    case .integer(let value): value != 0
    case .number(let value): value != 0
    case .text(let value): !value.isEmpty
    case .nothing: false
    case .list, .record: true
    default: nil
    }
  }

  /// The expression, computed if its operands are constants.
  fileprivate var simplified: SCXMLExpression {
    func value(_ form: Form) -> SCXMLExpression { SCXMLExpression(form, at: range) }
    switch form {
    case .not(let operand): return operand.truth.map { value(.flag(!$0)) } ?? self
    case .negation(let operand):
      guard case .integer(let number) = operand.form, number != .min else { return self }
      return value(.integer(-number))
    case .conditional(let condition, let first, let second):
      return condition.truth.map { $0 ? first : second } ?? self
    case .binary(.and, let left, let right):
      if let truth = left.truth { return truth ? right : value(.flag(false)) }
      return right.truth == true ? left : self
    case .binary(.or, let left, let right):
      if let truth = left.truth { return truth ? value(.flag(true)) : right }
      return right.truth == false ? left : self
    case .binary(let sign, let left, let right):
      return Self.constant(sign, left.form, right.form).map(value) ?? self
    case .member(let operand, "length"):
      switch operand.form {
      case .list(let members): return value(.integer(Int64(members.count)))
      case .text(let text): return value(.integer(Int64(text.count)))
      default: return self
      }
    case .member(let operand, let name):
      guard case .record(let fields) = operand.form else { return self }
      return fields.last { $0.name == name }?.value ?? self
    case .element(let operand, let index):
      guard case .list(let members) = operand.form, case .integer(let index) = index.form,
        (0..<Int64(members.count)).contains(index)
      else { return self }
      return members[Int(index)]
    default: return self
    }
  }

  private static func constant(_ sign: Operator, _ left: Form, _ right: Form) -> Form? {
    switch (left, right) {
    case (.integer(let left), .integer(let right)):
      return compare(sign, left, right).map(Form.flag) ?? compute(sign, left, right).map(Form.integer)
    case (.text(let left), .text(let right)):
      return sign == .plus ? .text(left + right) : compare(sign, left, right).map(Form.flag)
    case (.text(let left), .integer(let right)) where sign == .plus: return .text(left + String(right))
    case (.integer(let left), .text(let right)) where sign == .plus: return .text(String(left) + right)
    case (.flag(let left), .flag(let right)):
      return sign == .equal ? .flag(left == right) : sign == .notEqual ? .flag(left != right) : nil
    case (.nothing, .nothing): return sign == .equal ? .flag(true) : sign == .notEqual ? .flag(false) : nil
    case (.nothing, .flag), (.nothing, .integer), (.nothing, .number), (.nothing, .text), (.flag, .nothing),
      (.integer, .nothing), (.number, .nothing), (.text, .nothing):
      return sign == .equal ? .flag(false) : sign == .notEqual ? .flag(true) : nil
    default: return nil
    }
  }

  private static func compare<Value: Comparable>(_ sign: Operator, _ left: Value, _ right: Value) -> Bool? {
    switch sign {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    default: nil
    }
  }

  private static func compute(_ sign: Operator, _ left: Int64, _ right: Int64) -> Int64? {
    let (result, isOverflow): (Int64, Bool)
    switch sign {
    case .plus: (result, isOverflow) = left.addingReportingOverflow(right)
    case .minus: (result, isOverflow) = left.subtractingReportingOverflow(right)
    case .times: (result, isOverflow) = left.multipliedReportingOverflow(by: right)
    case .remainder where right != 0:
      (result, isOverflow) = left.remainderReportingOverflow(dividingBy: right)
    default: return nil
    }
    return isOverflow ? nil : result
  }
}
