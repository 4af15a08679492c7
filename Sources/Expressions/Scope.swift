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

  /// Returns the value of a name; of several with one name, the one that was added last.
  public subscript(name: String) -> Entry? { entries.last { $0.name == name } }
}

extension Program {
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
