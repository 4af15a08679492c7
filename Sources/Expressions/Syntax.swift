/// An expression as it was written, not yet checked.
///
/// The grammar is that of the Common Expression Language (CEL, `doc/langdef.md` of google/cel-spec). What CEL has and
/// expressions of machines do not have is refused by name: unsigned numbers, `null`, messages and macros.
public struct Syntax: Equatable, Sendable {
  /// The parts of the grammar.
  public indirect enum Form: Equatable, Sendable {
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case bytes([UInt8])
    /// A variable, an argument or another named value.
    case name(String)
    /// A field of a record, or the value of a key that is an identifier: `operand.name`.
    case member(Syntax, String)
    /// An element of a list, or the value of a key of a map: `operand[index]`.
    case element(Syntax, index: Syntax)
    /// A call; a receiver is written before the name: `receiver.name(arguments)`.
    case call(String, receiver: Syntax?, [Syntax])
    case list([Syntax])
    case map([Entry])
    case not(Syntax)
    case negation(Syntax)
    case binary(Operator, Syntax, Syntax)
    case conditional(Syntax, then: Syntax, otherwise: Syntax)
  }

  /// One entry of a map or record literal.
  public struct Entry: Equatable, Sendable {
    public var key: Syntax
    public var value: Syntax
  }

  /// The operators with two operands.
  public enum Operator: String, Equatable, Sendable, CaseIterable {
    case or = "||"
    case and = "&&"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case equal = "=="
    case notEqual = "!="
    case contained = "in"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case dividedBy = "/"
    case remainder = "%"

    /// How tightly it binds; a greater number binds more tightly.
    var precedence: Int {
      switch self {
      case .or: 1
      case .and: 2
      case .less, .lessOrEqual, .greater, .greaterOrEqual, .equal, .notEqual, .contained: 3
      case .plus, .minus: 4
      case .times, .dividedBy, .remainder: 5
      }
    }
  }

  /// What it is.
  public var form: Form
  /// Where it is in the text, in bytes of UTF-8.
  public var range: Range<Int>

  init(_ form: Form, at range: Range<Int>) {
    self.form = form
    self.range = range
  }
}

/// A fault of an expression: what was expected at which part of its text.
public struct ExpressionFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public var message: String
  /// The part of the text that it is about, in bytes of UTF-8; empty at the end of the text.
  public var range: Range<Int>
  /// How to correct it, if that is known.
  public var hint: Hint?

  /// A way to correct a fault.
  public enum Hint: Hashable, Sendable {
    /// Words for a person.
    case words(String)
    /// The name that was most likely meant.
    case name(String, insteadOf: String)
  }

  init(_ message: String, at range: Range<Int>, hint: Hint? = nil) {
    self.message = message
    self.range = range
    self.hint = hint
  }

  public var description: String {
    switch hint {
    case nil: message
    case .words(let words): "\(message); \(words)"
    case .name(let name, _): "\(message); did you mean `\(name)`?"
    }
  }
}
