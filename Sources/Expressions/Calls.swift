import Basics

// The functions: which arguments each takes, and the step that it is. ``Function`` describes them.
extension Compiler {
  mutating func call(
    _ name: String, _ receiver: Syntax?, _ arguments: [Syntax], at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    guard Function.all.contains(where: { $0.name == name }) else { throw unknown(name, at: range) }
    if name == "duration" { return try durationLiteral(arguments, receiver, at: range) }
    // A function may be written before its first operand or behind it, as size in CEL.
    let operands = (receiver.map { [$0] } ?? []) + arguments
    guard let first = operands.first else { throw count(name, at: range) }
    switch name {
    case "min", "max": return try least(name, operands, at: range)
    case "int", "double", "string", "bytes", "seconds", "milliseconds", "getSeconds", "getMilliseconds",
      "crc8", "crc16", "crc32", "size", "first", "last", "littleEndian", "bigEndian":
      guard operands.count == 1 else { throw count(name, at: range) }
      return try unary(name, try compile(first), first, at: range)
    case "littleEndianBytes", "bigEndianBytes":
      guard operands.count == 2 else { throw count(name, at: range) }
      return try bytes(name, operands, at: range)
    default:
      guard let receiver else {
        throw ExpressionFault("`\(name)` follows what it is about", at: range, hint: signature(of: name))
      }
      return try method(name, try compile(receiver), receiver, arguments, at: range)
    }
  }

  private func unknown(_ name: String, at range: Range<Int>) -> ExpressionFault {
    if Function.macros.contains(name) {
      return ExpressionFault("there are no loops, so there is no `\(name)`", at: range)
    }
    let near = nearestName(to: name, in: Function.all.map(\.name))
    return ExpressionFault(
      "unknown function `\(name)`", at: range, hint: near.map { .name($0, insteadOf: name) })
  }

  private func signature(of name: String) -> ExpressionFault.Hint? {
    Function.all.first { $0.name == name }.map { .words("it is written \($0.signature)") }
  }

  private func count(_ name: String, at range: Range<Int>) -> ExpressionFault {
    ExpressionFault("`\(name)` has another number of arguments", at: range, hint: signature(of: name))
  }

  private func wrong(_ type: ValueType, _ name: String, at range: Range<Int>) -> ExpressionFault {
    ExpressionFault("`\(name)` is not possible with \(type)", at: range, hint: signature(of: name))
  }
}

// MARK: - Functions of one value

extension Compiler {
  private mutating func unary(
    _ name: String, _ operand: Operand, _ syntax: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    switch (name, operand.type) {
    case ("size", .list), ("size", .map):
      return Operand(type: .integer(0...Int64(operand.type.layout.capacity)), slot: operand.slot)
    case ("first", .list(let element, _)), ("last", .list(let element, _)):
      let index = try constant(.anyInteger, name == "first" ? 0 : -1, at: range)
      return try value(element, at: range) {
        .collection(.element, operand.slot, operand.type.layout, index.slot, index.slot, to: $0)
      }
    case ("int", .integer), ("double", .number), ("string", .text), ("bytes", .bytes): return operand
    case ("string", .word): return Operand(type: .text, slot: operand.slot)
    case ("bytes", .text), ("bytes", .word): return Operand(type: .bytes, slot: operand.slot)
    case ("littleEndian", .bytes), ("bigEndian", .bytes):
      let endian: Instruction.Endian = name == "littleEndian" ? .little : .big
      return try value(.anyInteger, at: range) { .integerOfBytes(operand.slot, endian, to: $0) }
    default: break
    }
    guard let (step, type) = Self.step(name, operand.type) else {
      throw wrong(operand.type, name, at: syntax.range)
    }
    return try value(type, at: range) { .unary(step, operand.slot, to: $0) }
  }

  private static func step(_ name: String, _ type: ValueType) -> (Instruction.Unary, ValueType)? {
    let count = ValueType.integer(0 ... .max)
    return switch (name, type) {
    case ("size", .text), ("size", .word): (.characterCount, count)
    case ("size", .bytes): (.byteCount, count)
    case ("int", .number): (.integerOfNumber, .anyInteger)
    case ("int", .text), ("int", .word): (.integerOfText, .anyInteger)
    case ("double", .integer): (.numberOfInteger, .number)
    case ("double", .text), ("double", .word): (.numberOfText, .number)
    case ("string", .flag): (.textOfFlag, .text)
    case ("string", .integer): (.textOfInteger, .text)
    case ("string", .number): (.textOfNumber, .text)
    case ("string", .bytes): (.textOfBytes, .text)
    case ("seconds", .integer): (.durationOfSeconds, .duration)
    case ("milliseconds", .integer): (.durationOfMilliseconds, .duration)
    case ("getSeconds", .duration): (.seconds, .anyInteger)
    case ("getMilliseconds", .duration): (.milliseconds, .anyInteger)
    case ("crc8", .bytes): (.crc8, .integer(0...0xFF))
    case ("crc16", .bytes): (.crc16, .integer(0...0xFFFF))
    case ("crc32", .bytes): (.crc32, .integer(0...0xFFFF_FFFF))
    default: nil
    }
  }

  private mutating func least(
    _ name: String, _ operands: [Syntax], at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    guard operands.count == 2 else { throw count(name, at: range) }
    let (left, right, type) = try unify(try compile(operands[0]), try compile(operands[1]), at: range)
    guard let order = type.order else { throw wrong(type, name, at: range) }
    return try value(type, at: range) {
      .least(order, left.slot, right.slot, isGreatest: name == "max", to: $0)
    }
  }

  private mutating func bytes(
    _ name: String, _ operands: [Syntax], at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let number = try integer(operands[0])
    guard let count = try integer(operands[1]).constant, (1...8).contains(count) else {
      throw ExpressionFault("expected a constant from 1 to 8", at: operands[1].range)
    }
    let endian: Instruction.Endian = name == "littleEndianBytes" ? .little : .big
    return try value(.bytes, at: range) { .bytesOfInteger(number.slot, endian, count: Int32(count), to: $0) }
  }

  /// A length of time as CEL writes it: numbers with units, one after the other.
  private mutating func durationLiteral(
    _ arguments: [Syntax], _ receiver: Syntax?, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    guard receiver == nil, arguments.count == 1 else { throw count("duration", at: range) }
    guard case .text(let text) = arguments[0].form else {
      throw ExpressionFault(
        "expected a constant text", at: arguments[0].range,
        hint: .words("seconds(n) makes a duration of an integer"))
    }
    guard let nanoseconds = Self.nanoseconds(of: text) else {
      throw ExpressionFault(
        "`\(text)` is no length of time", at: arguments[0].range, hint: .words("as in 1m30s, 500ms"))
    }
    return try constant(.duration, nanoseconds, at: range)
  }

  static func nanoseconds(of text: String) -> Int64? {
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest.removeFirst() }
    if rest == "0" { return 0 }
    var sum = Interval.zero
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(number.count)
      let unit = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(unit.count)
      let known = ["h", "m", "s", "ms", "us", "µs", "ns"].contains(String(unit))
      guard known, let part = Interval(text: "\(number) \(unit == "m" ? "min" : String(unit))") else {
        return nil
      }
      sum += part
      guard sum != .forever else { return nil }
    }
    return isNegative ? -sum.nanoseconds : sum.nanoseconds
  }
}

// MARK: - Functions of lists, maps, texts and bytes

extension Compiler {
  private mutating func method(
    _ name: String, _ receiver: Operand, _ syntax: Syntax, _ arguments: [Syntax], at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    switch (name, receiver.type) {
    case ("contains", .list), ("contains", .map):
      guard arguments.count == 1 else { throw count(name, at: range) }
      return try contains(receiver, arguments[0], at: range)
    case ("at", .list), ("at", .bytes):
      guard arguments.count == 1 else { throw count(name, at: range) }
      return try element(of: receiver, at: try integer(arguments[0]), range)
    case ("put", .map(let key, let entry, _)):
      guard arguments.count == 2 else { throw count(name, at: range) }
      let (key, entry) = (try converted(arguments[0], to: key), try converted(arguments[1], to: entry))
      return try value(receiver.type, at: range) {
        .collection(.put, receiver.slot, receiver.type.layout, key.slot, entry.slot, to: $0)
      }
    case ("remove", .map(let key, _, _)):
      guard arguments.count == 1 else { throw count(name, at: range) }
      return try lookUp(.removeKey, receiver, try converted(arguments[0], to: key), at: range)
    case (_, .list(let element, let capacity)):
      return try listMethod(name, receiver, element, capacity, arguments, at: range)
    case (_, .text), (_, .word), (_, .bytes): return try stringMethod(name, receiver, arguments, at: range)
    default: throw wrong(receiver.type, name, at: syntax.range)
    }
  }

  private mutating func listMethod(
    _ name: String, _ list: Operand, _ element: ValueType, _ capacity: Int, _ arguments: [Syntax],
    at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let layout = list.type.layout
    switch (name, arguments.count) {
    case ("append", 1), ("prepend", 1):
      let added = capacity == 0 ? try compile(arguments[0]) : try converted(arguments[0], to: element)
      let type = ValueType.list(added.type, capacity: capacity + 1)
      let layout = Instruction.Layout(capacity: Int32(capacity), width: Int32(added.type.width))
      return try value(type, at: range) {
        .collection(name == "append" ? .append : .prepend, list.slot, layout, added.slot, added.slot, to: $0)
      }
    case ("take", 1):
      guard let count = try integer(arguments[0]).constant, count >= 0 else {
        throw ExpressionFault("expected a constant that is not negative", at: arguments[0].range)
      }
      let from = try constant(.anyInteger, 0, at: range)
      let end = try constant(.anyInteger, count, at: range)
      let part = try value(list.type, at: range) {
        .collection(.slice, list.slot, layout, from.slot, end.slot, to: $0)
      }
      // What was taken fits where there is less room.
      let type = ValueType.list(element, capacity: min(capacity, Int(clamping: count)))
      return try value(type, at: range) { .copy(part.slot, width: Int32(type.width), to: $0) }
    case ("drop", 1):
      let from = try integer(arguments[0])
      let end = try constant(.anyInteger, .max, at: range)
      return try value(list.type, at: range) {
        .collection(.slice, list.slot, layout, from.slot, end.slot, to: $0)
      }
    case ("slice", 2):
      let (from, end) = (try integer(arguments[0]), try integer(arguments[1]))
      return try value(list.type, at: range) {
        .collection(.slice, list.slot, layout, from.slot, end.slot, to: $0)
      }
    case ("indexOf", 1):
      let wanted = try converted(arguments[0], to: element)
      return try value(.integer(-1...Int64(capacity)), at: range) {
        .collection(.index, list.slot, layout, wanted.slot, wanted.slot, to: $0)
      }
    case ("remove", 1):
      let index = try integer(arguments[0])
      return try value(list.type, at: range) {
        .collection(.remove, list.slot, layout, index.slot, index.slot, to: $0)
      }
    case ("replace", 2):
      let index = try integer(arguments[0])
      let new = try converted(arguments[1], to: element)
      return try value(list.type, at: range) {
        .collection(.replace, list.slot, layout, index.slot, new.slot, to: $0)
      }
    case ("join", 1) where element.isTextual:
      let separator = try converted(arguments[0], to: .text)
      return try value(.text, at: range) { .joined(list.slot, layout, separator.slot, to: $0) }
    case ("append", _), ("prepend", _), ("take", _), ("drop", _), ("slice", _), ("indexOf", _), ("remove", _),
      ("replace", _):
      throw count(name, at: range)
    default: throw wrong(list.type, name, at: range)
    }
  }

  private mutating func stringMethod(
    _ name: String, _ string: Operand, _ arguments: [Syntax], at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    let isBytes = string.type == .bytes
    switch (name, arguments.count) {
    case ("startsWith", 1), ("endsWith", 1), ("contains", 1):
      let other = try converted(arguments[0], to: isBytes ? .bytes : .text)
      let step: Instruction.StringPair =
        name == "startsWith" ? .startsWith : name == "endsWith" ? .endsWith : .contains
      return try value(.flag, at: range) { .strings(step, string.slot, other.slot, to: $0) }
    case ("substring", 1...2) where !isBytes, ("slice", 1...2) where isBytes:
      let from = try integer(arguments[0])
      let end: Operand
      if arguments.count == 2 {
        end = try integer(arguments[1])
      } else {
        end = try value(.anyInteger, at: range) {
          .unary(isBytes ? .byteCount : .characterCount, string.slot, to: $0)
        }
      }
      return try value(isBytes ? .bytes : .text, at: range) {
        .part(string.slot, isText: !isBytes, from.slot, end.slot, to: $0)
      }
    case ("startsWith", _), ("endsWith", _), ("contains", _), ("substring", _), ("slice", _):
      throw count(name, at: range)
    default: throw wrong(string.type, name, at: range)
    }
  }

  /// Whether a list has an element, or a map a key.
  mutating func contains(
    _ collection: Operand, _ wanted: Syntax, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    switch collection.type {
    case .list(let element, let capacity):
      // No element is in an empty literal, whatever its type.
      if capacity == 0 {
        _ = try compile(wanted)
        return try constant(.flag, 0, at: range)
      }
      let wanted = try converted(wanted, to: element)
      return try value(.flag, at: range) {
        .collection(.contains, collection.slot, collection.type.layout, wanted.slot, wanted.slot, to: $0)
      }
    case .map(let key, _, _):
      return try lookUp(.hasKey, collection, try converted(wanted, to: key), at: range)
    default: throw mismatch(collection.type, "a list or a map", at: range)
    }
  }

  /// An operation of a map with one key.
  mutating func lookUp(
    _ operation: Instruction.Collection, _ map: Operand, _ key: Operand, at range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    guard case .map(_, let entry, _) = map.type else { throw mismatch(map.type, "a map", at: range) }
    let type: ValueType = operation == .hasKey ? .flag : operation == .value ? entry : map.type
    return try value(type, at: range) {
      .collection(operation, map.slot, map.type.layout, key.slot, key.slot, to: $0)
    }
  }

  /// The element of a list, or a byte, at an index.
  mutating func element(
    of operand: Operand, at index: Operand, _ range: Range<Int>
  ) throws(ExpressionFault) -> Operand {
    guard case .list(let element, _) = operand.type else {
      return try value(.integer(0...255), at: range) { .byte(operand.slot, index.slot, to: $0) }
    }
    return try value(element, at: range) {
      .collection(.element, operand.slot, operand.type.layout, index.slot, index.slot, to: $0)
    }
  }
}
