public import Basics

/// The names that an expression may use, with their types and positions in a frame.
public struct Scope: Equatable, Sendable {
  /// A named value.
  public struct Entry: Equatable, Sendable {
    public var name: String
    public var type: ValueType
    /// Its first word in a frame.
    public var slot: Frame.Slot
  }

  /// The named values, in the order in which they were added.
  public private(set) var entries: [Entry] = []
  /// How many words they take.
  public private(set) var width = 0

  public init() {}

  /// Adds a named value behind the others, and returns its position.
  @discardableResult
  public mutating func add(_ name: String, _ type: ValueType) -> Frame.Slot {
    let slot = Frame.Slot(width)
    entries.append(Entry(name: name, type: type, slot: slot))
    width += type.width
    return slot
  }

  /// Adds another name for a value that is in the frame already.
  public mutating func alias(_ name: String, _ type: ValueType, at slot: Frame.Slot) {
    entries.append(Entry(name: name, type: type, slot: slot))
  }

  /// Leaves the words before a position to others: intermediate results begin behind them.
  public mutating func reserve(upTo width: Int) { self.width = max(self.width, width) }

  /// Removes the names of some of the values; the values stay where they are.
  public mutating func hide(from first: Int, to end: Int) {
    for index in first..<end { entries[index].name = "" }
  }

  /// Returns whether a text can be a name in expressions.
  public static func isName(_ text: String) -> Bool {
    guard let syntax = try? Syntax(parsing: text), case .name(text) = syntax.form else { return false }
    return true
  }

  /// Returns the value of a name; of several with one name, the one that was added last.
  public subscript(name: String) -> Entry? { entries.last { $0.name == name } }
}

extension Program {
  /// Returns the program with a copy of its result in words of its own: the result of a variable alone is the variable.
  public func copyingResult() -> Program {
    Program(
      type: type, result: Frame.Slot(width), width: width + type.width,
      instructions: instructions + [.copy(result, width: Int32(type.width), to: Frame.Slot(width))])
  }

  /// Checks and compiles an expression.
  ///
  /// - Parameters:
  ///   - text: the expression.
  ///   - type: the type that the result must have; any type if `nil`. The result has the width of this type, and an integer
  ///     is kept within its limits.
  ///   - scope: the names that it may use. Words behind them are used for intermediate results.
  ///   - strings: numbers the texts that are in the expression.
  /// - Throws: the first fault, with its place in the text.
  public init(
    _ text: String, as type: ValueType? = nil, in scope: Scope, strings: inout Strings
  ) throws(ExpressionFault) {
    let syntax = try Parser.parse(text)
    var compiler = Compiler(scope: scope, strings: strings)
    let value = try compiler.result(of: syntax, as: type)
    strings = compiler.strings
    self.init(
      type: value.type, result: value.slot, width: Int(compiler.width), instructions: compiler.instructions)
  }
}

extension Syntax {
  /// A named value, or a field of one.
  public struct Path: Equatable, Sendable {
    /// The first word of the named value.
    public var root: Frame.Slot
    /// The first word of the part.
    public var slot: Frame.Slot
    /// The type of the part.
    public var type: ValueType
  }

  /// The named value, or the field of one, that the expression is; `nil` for any other expression.
  public func path(in scope: Scope) -> Path? {
    switch form {
    case .name(let name):
      return scope[name].map { Path(root: $0.slot, slot: $0.slot, type: $0.type) }
    case .member(let operand, let name):
      guard var path = operand.path(in: scope), case .record(let fields) = path.type else { return nil }
      for field in fields {
        if field.name == name {
          path.type = field.type
          return path
        }
        path.slot += Frame.Slot(field.type.width)
      }
      return nil
    default: return nil
    }
  }

  /// The same for the text of an expression.
  public static func path(_ text: String, in scope: Scope) -> Path? {
    (try? Syntax(parsing: text))?.path(in: scope)
  }

  /// The part of a whole text that the expression is.
  public func text(of whole: String) -> String {
    String(decoding: Array(whole.utf8)[range], as: UTF8.self)
  }
}

extension Syntax {
  /// The names in the expression, in the order in which they are written.
  public var names: [String] {
    switch form {
    case .name(let name): [name]
    case .flag, .integer, .number, .text, .bytes: []
    case .member(let operand, _), .not(let operand), .negation(let operand): operand.names
    case .element(let operand, let index): operand.names + index.names
    case .call(_, let receiver, let arguments): (receiver?.names ?? []) + arguments.flatMap(\.names)
    case .list(let members): members.flatMap(\.names)
    case .map(let entries): entries.flatMap { $0.key.names + $0.value.names }
    case .binary(_, let left, let right): left.names + right.names
    case .conditional(let condition, let first, let second): condition.names + first.names + second.names
    }
  }

  /// The constants in the expression, in the order in which they are written.
  public var constants: [Value] {
    switch form {
    case .flag, .name: []
    case .integer(let value): [.integer(Int(value))]
    case .number(let value): [.number(value)]
    case .text(let value): [.text(value)]
    case .bytes(let value): [.bytes(value)]
    case .member(let operand, _), .not(let operand), .negation(let operand): operand.constants
    case .element(let operand, let index): operand.constants + index.constants
    case .call("duration", _, let arguments): arguments.flatMap(\.constants).compactMap(\.asDuration)
    case .call(_, let receiver, let arguments): (receiver?.constants ?? []) + arguments.flatMap(\.constants)
    case .list(let members): members.flatMap(\.constants)
    // Keys are names of fields.
    case .map(let entries): entries.flatMap(\.value.constants)
    case .binary(_, let left, let right): left.constants + right.constants
    case .conditional(let condition, let first, let second):
      condition.constants + first.constants + second.constants
    }
  }
}

extension Value {
  fileprivate var asDuration: Value? {
    guard case .text(let text) = self else { return nil }
    return Interval(text: text).map { .duration($0) }
  }
}
