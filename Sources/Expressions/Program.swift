/// An expression that was checked and compiled: a list of steps without jumps.
///
/// Running it costs the same whatever the values are. It reads no clock and has no effect but on the words above those
/// of the variables: time and arguments are words of the frame.
public struct Program: Equatable, Sendable {
  /// The type of the result.
  public let type: ValueType
  /// Where the result is after a run.
  public let result: Frame.Slot
  /// How many words a frame must have.
  public let width: Int
  let instructions: [Instruction]

  /// Evaluates the expression; the result is then at ``result``.
  @inline(__always)
  public func run(in frame: inout Frame, strings: inout Strings) {
    for instruction in instructions { frame.perform(instruction, &strings) }
  }
}

extension Frame {
  mutating func perform(_ instruction: Instruction, _ strings: inout Strings) {
    switch instruction {
    case .constant(let value, let target): set(value, at: target)
    case .copy(let source, let width, let target): copy(source, to: target, width: Int(width))
    case .widen(let source, let from, let width, let target):
      copy(source, to: target, width: Int(from))
      clear(target + from, width: Int(width - from))
    case .integers(let operation, let left, let right, let target):
      if areKnown(left, right, to: target) { compute(operation, left, right, to: target) }
    case .numbers(let operation, let left, let right, let target):
      if areKnown(left, right, to: target) { computeNumbers(operation, left, right, to: target) }
    case .unary(let operation, let operand, let target):
      if areKnown(operand, operand, to: target) { compute(operation, operand, to: target, &strings) }
    case .and(let left, let right, let target): decide(left, right, deciding: 0, to: target)
    case .or(let left, let right, let target): decide(left, right, deciding: 1, to: target)
    case .equal(let left, let right, let width, let isNegated, let target):
      compare(left, right, width: Int(width), isNegated: isNegated, to: target)
    case .less(let order, let left, let right, let orEqual, let target):
      guard areKnown(left, right, to: target) else { return }
      let isLess = orEqual ? !isLess(order, right, left, strings) : isLess(order, left, right, strings)
      set(isLess ? 1 : 0, at: target)
    case .least(let order, let left, let right, let isGreatest, let target):
      guard areKnown(left, right, to: target) else { return }
      copy(isLess(order, left, right, strings) != isGreatest ? left : right, to: target, width: 1)
    case .select(let condition, let first, let second, let width, let target):
      select(condition, first, second, width: Int(width), to: target)
    case .clamp(let source, let least, let greatest, let target):
      guard areKnown(source, source, to: target) else { return }
      set(min(max(words[Int(source)], least), greatest), at: target)
    case .strings(let operation, let left, let right, let target):
      if areKnown(left, right, to: target) { compute(operation, left, right, to: target, &strings) }
    case .part(let source, let isText, let from, let end, let target):
      guard areKnown(source, source, to: target), areKnown(from, end, to: target) else { return }
      part(of: source, isText: isText, from: from, to: end, into: target, &strings)
    case .byte(let source, let index, let target):
      guard areKnown(source, index, to: target) else { return }
      let (bytes, index) = (strings.bytes(words[Int(source)]), words[Int(index)])
      guard index >= 0, index < bytes.count else { return mark(target, width: 1, .absent) }
      set(Int64(bytes[Int(index)]), at: target)
    case .integerOfBytes(let source, let endian, let target):
      guard areKnown(source, source, to: target) else { return }
      let bytes = strings.bytes(words[Int(source)])
      guard bytes.count <= 8 else { return mark(target, width: 1, .absent) }
      let ordered = endian == .big ? bytes : bytes.reversed()
      set(Int64(truncatingIfNeeded: ordered.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }), at: target)
    case .bytesOfInteger(let source, let endian, let count, let target):
      guard areKnown(source, source, to: target) else { return }
      let value = words[Int(source)]
      let bytes = (0..<Int(count)).map { UInt8(truncatingIfNeeded: value >> Int64($0 * 8)) }
      set(strings.number(of: endian == .little ? bytes : bytes.reversed()), at: target)
    case .joined(let list, let layout, let separator, let target):
      join(list, layout, separator, to: target, &strings)
    case .collection(let operation, let source, let layout, let first, let second, let target):
      compute(operation, source, layout, first, second, to: target)
    case .concatenate(let left, let leftLayout, let right, let rightLayout, let target):
      concatenate(left, leftLayout, right, rightLayout, to: target)
    }
  }
}

// MARK: - Words

extension Frame {
  @inline(__always)
  private mutating func compute(
    _ operation: Instruction.Arithmetic, _ left: Slot, _ right: Slot, to target: Slot
  ) {
    let (left, right) = (words[Int(left)], words[Int(right)])
    let (value, isOverflow) =
      switch operation {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply: left.multipliedReportingOverflow(by: right)
      case .divide: left.dividedReportingOverflow(by: right)
      case .remainder: left.remainderReportingOverflow(dividingBy: right)
      }
    if isOverflow { mark(target, width: 1, .absent) } else { set(value, at: target) }
  }

  private mutating func computeNumbers(
    _ operation: Instruction.Arithmetic, _ left: Slot, _ right: Slot, to target: Slot
  ) {
    let (left, right) = (number(at: left), number(at: right))
    let value =
      switch operation {
      case .add: left + right
      case .subtract: left - right
      case .multiply: left * right
      case .divide: left / right
      case .remainder: left.truncatingRemainder(dividingBy: right)
      }
    setNumber(value, at: target)
  }

  private func number(at slot: Slot) -> Double { Double(bitPattern: UInt64(bitPattern: words[Int(slot)])) }

  /// Sets a number: one zero and no NaN, so that equal numbers are equal words.
  private mutating func setNumber(_ value: Double, at slot: Slot) {
    if value.isNaN { return mark(slot, width: 1, .absent) }
    set(Frame.word(of: value), at: slot)
  }

  /// The word of a number that is none of the kinds of NaN.
  static func word(of number: Double) -> Int64 {
    Int64(bitPattern: (number == 0 ? 0 : number).bitPattern)
  }

  private mutating func compute(
    _ operation: Instruction.Unary, _ operand: Slot, to target: Slot, _ strings: inout Strings
  ) {
    let value = words[Int(operand)]
    var result: Int64?
    switch operation {
    case .not: result = value ^ 1
    case .negate: result = value == .min ? nil : -value
    case .negateNumber: return setNumber(-number(at: operand), at: target)
    case .numberOfInteger: return setNumber(Double(value), at: target)
    case .integerOfNumber:
      // CEL leaves out the least integer, which a number that is rounded may stand for.
      let whole = Int64(exactly: number(at: operand).rounded(.towardZero))
      result = whole == .min ? nil : whole
    case .integerOfText: result = Int64(strings.text(value))
    case .numberOfText:
      guard let number = Double(strings.text(value)) else { return mark(target, width: 1, .absent) }
      return setNumber(number, at: target)
    case .textOfInteger: result = strings.number(of: String(value))
    case .textOfNumber: result = strings.number(of: Self.text(of: number(at: operand)))
    case .textOfFlag: result = strings.number(of: value == 0 ? "false" : "true")
    case .textOfBytes:
      result = String(validating: strings.bytes(value), as: UTF8.self) == nil ? nil : value
    case .characterCount: result = Int64(strings.text(value).unicodeScalars.count)
    case .byteCount: result = Int64(strings.bytes(value).count)
    case .crc8: result = Int64(Checksum.crc8(strings.bytes(value)))
    case .crc16: result = Int64(Checksum.crc16(strings.bytes(value)))
    case .crc32: result = Int64(Checksum.crc32(strings.bytes(value)))
    case .seconds: result = value / 1_000_000_000
    case .milliseconds: result = value / 1_000_000
    case .durationOfSeconds: result = Self.product(value, 1_000_000_000)
    case .durationOfMilliseconds: result = Self.product(value, 1_000_000)
    }
    if let result { set(result, at: target) } else { mark(target, width: 1, .absent) }
  }

  private static func product(_ value: Int64, _ factor: Int64) -> Int64? {
    let (product, isOverflow) = value.multipliedReportingOverflow(by: factor)
    return isOverflow ? nil : product
  }

  /// The text of a number as CEL writes it: without a point where it is whole.
  private static func text(of number: Double) -> String {
    if let whole = Int64(exactly: number), abs(number) < 1e15 { return String(whole) }
    return String(number)
  }

  /// Decides `&&` (deciding word 0) or `||` (deciding word 1): one operand is enough where it has the deciding word.
  @inline(__always)
  private mutating func decide(_ left: Slot, _ right: Slot, deciding: Int64, to target: Slot) {
    let (first, second) = (states[Int(left)], states[Int(right)])
    if first == 0 && words[Int(left)] == deciding || second == 0 && words[Int(right)] == deciding {
      set(deciding, at: target)
    } else if first | second == 0 {
      set(deciding ^ 1, at: target)
    } else {
      mark(target, width: 1, (first | second) & 1 != 0 ? .unknown : .absent)
    }
  }

  /// Compares two values. Known words that differ decide, whatever is not known of the others.
  @inline(__always)
  private mutating func compare(_ left: Slot, _ right: Slot, width: Int, isNegated: Bool, to target: Slot) {
    var state: UInt8 = 0
    for offset in 0..<width {
      let (left, right) = (Int(left) + offset, Int(right) + offset)
      if states[left] | states[right] == 0 {
        if words[left] != words[right] { return set(isNegated ? 1 : 0, at: target) }
      } else {
        state |= states[left] | states[right]
      }
    }
    if state == 0 { return set(isNegated ? 0 : 1, at: target) }
    mark(target, width: 1, state & 1 != 0 ? .unknown : .absent)
  }

  @inline(__always)
  private func isLess(
    _ order: Instruction.Order, _ left: Slot, _ right: Slot, _ strings: borrowing Strings
  ) -> Bool {
    switch order {
    case .integers: words[Int(left)] < words[Int(right)]
    case .numbers: number(at: left) < number(at: right)
    case .strings:
      strings.bytes(words[Int(left)]).lexicographicallyPrecedes(strings.bytes(words[Int(right)]))
    }
  }

  /// Copies one of two values. Where the condition is unknown, what is the same in both is known.
  private mutating func select(_ condition: Slot, _ first: Slot, _ second: Slot, width: Int, to target: Slot)
  {
    switch states[Int(condition)] {
    case 0: copy(words[Int(condition)] != 0 ? first : second, to: target, width: width)
    case Knowledge.absent.rawValue: mark(target, width: width, .absent)
    default:
      for offset in 0..<Frame.Slot(width) {
        let (left, right) = (Int(first + offset), Int(second + offset))
        if states[left] | states[right] == 0, words[left] == words[right] {
          set(words[left], at: target + offset)
        } else {
          mark(target + offset, width: 1, .unknown)
        }
      }
    }
  }
}

// MARK: - Texts and bytes

extension Frame {
  private mutating func compute(
    _ operation: Instruction.StringPair, _ left: Slot, _ right: Slot, to target: Slot,
    _ strings: inout Strings
  ) {
    let (left, right) = (strings.bytes(words[Int(left)]), strings.bytes(words[Int(right)]))
    switch operation {
    case .join: set(strings.number(of: left + right), at: target)
    case .startsWith: set(left.starts(with: right) ? 1 : 0, at: target)
    case .endsWith:
      set(left.count >= right.count && left.suffix(right.count).elementsEqual(right) ? 1 : 0, at: target)
    case .contains:
      let starts = 0..<max(0, left.count - right.count + 1)
      set(starts.contains { left[$0...].starts(with: right) } ? 1 : 0, at: target)
    }
  }

  private mutating func part(
    of source: Slot, isText: Bool, from: Slot, to end: Slot, into target: Slot, _ strings: inout Strings
  ) {
    let (from, end) = (words[Int(from)], words[Int(end)])
    let bytes = strings.bytes(words[Int(source)])
    let scalars = isText ? Array(String(decoding: bytes, as: UTF8.self).unicodeScalars) : []
    guard from >= 0, from <= end, end <= (isText ? scalars.count : bytes.count) else {
      return mark(target, width: 1, .absent)
    }
    guard isText else { return set(strings.number(of: Array(bytes[Int(from)..<Int(end)])), at: target) }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[Int(from)..<Int(end)])
    set(strings.number(of: String(text)), at: target)
  }

  private mutating func join(
    _ list: Slot, _ layout: Instruction.Layout, _ separator: Slot, to target: Slot, _ strings: inout Strings
  ) {
    guard areKnown(list, separator, to: target) else { return }
    let count = Int(words[Int(list)])
    let state = state(of: list + 1, width: count)
    guard state == .known else { return mark(target, width: 1, state) }
    let texts = (0..<count).map { strings.bytes(words[Int(list) + 1 + $0]) }
    set(strings.number(of: Array(texts.joined(separator: strings.bytes(words[Int(separator)])))), at: target)
  }
}

// MARK: - Lists and maps

extension Frame {
  private mutating func concatenate(
    _ left: Slot, _ leftLayout: Instruction.Layout, _ right: Slot, _ rightLayout: Instruction.Layout,
    to target: Slot
  ) {
    let capacity = leftLayout.capacity + rightLayout.capacity
    let total = 1 + Int(capacity) * leftLayout.stride
    guard areKnown(left, right, to: target) else { return mark(target, width: total, knowledge(at: target)) }
    let (first, second) = (Int(words[Int(left)]), Int(words[Int(right)]))
    clear(target, width: total)
    set(Int64(first + second), at: target)
    copy(left + 1, to: target + 1, width: first * leftLayout.stride)
    copy(right + 1, to: target + 1 + Slot(first * leftLayout.stride), width: second * leftLayout.stride)
  }

  private mutating func compute(
    _ operation: Instruction.Collection, _ source: Slot, _ layout: Instruction.Layout, _ first: Slot,
    _ second: Slot, to target: Slot
  ) {
    let width = Self.resultWidth(of: operation, layout)
    guard states[Int(source)] == 0 else { return mark(target, width: width, knowledge(at: source)) }
    let count = Int(words[Int(source)])
    let elements = source + 1
    let stride = Slot(layout.stride)
    switch operation {
    case .append, .prepend:
      clear(target, width: width)
      set(Int64(count + 1), at: target)
      let isFirst = operation == .prepend
      copy(elements, to: target + 1 + (isFirst ? stride : 0), width: count * layout.stride)
      copy(first, to: target + 1 + (isFirst ? 0 : Slot(count) * stride), width: layout.stride)
    case .element:
      guard let index = index(at: first, count: count, to: target, width: width) else { return }
      copy(elements + Slot(index) * stride, to: target, width: layout.stride)
    case .slice:
      guard areKnown(first, second, to: target) else {
        return mark(target, width: width, knowledge(at: target))
      }
      let start = min(max(0, words[Int(first)]), Int64(count))
      let end = min(max(start, words[Int(second)]), Int64(count))
      clear(target, width: width)
      set(end - start, at: target)
      copy(elements + Slot(start) * stride, to: target + 1, width: Int(end - start) * layout.stride)
    case .contains, .index: search(elements, count, layout, first, isIndex: operation == .index, to: target)
    case .remove, .replace:
      guard let index = index(at: first, count: count, to: target, width: width) else { return }
      copy(source, to: target, width: width)
      if operation == .replace {
        return copy(second, to: target + 1 + Slot(index) * stride, width: layout.stride)
      }
      close(target, layout, index, count)
    case .value, .hasKey, .put, .removeKey:
      search(operation, source, layout, key: first, value: second, to: target)
    }
  }

  /// The words that the result of an operation takes.
  private static func resultWidth(of operation: Instruction.Collection, _ layout: Instruction.Layout) -> Int {
    switch operation {
    case .append, .prepend: layout.total + layout.stride
    case .element: layout.stride
    case .slice, .remove, .replace, .put, .removeKey: layout.total
    case .contains, .index, .hasKey: 1
    case .value: Int(layout.valueWidth)
    }
  }

  /// Reads an index; one that is negative counts from the end. Marks the result where there is no such element.
  private mutating func index(at slot: Slot, count: Int, to target: Slot, width: Int) -> Int? {
    guard states[Int(slot)] == 0 else {
      mark(target, width: width, knowledge(at: slot))
      return nil
    }
    let index = words[Int(slot)] < 0 ? words[Int(slot)] + Int64(count) : words[Int(slot)]
    guard index >= 0, index < count else {
      mark(target, width: width, .absent)
      return nil
    }
    return Int(index)
  }

  /// Removes an entry and moves those behind it.
  private mutating func close(_ target: Slot, _ layout: Instruction.Layout, _ index: Int, _ count: Int) {
    let stride = Slot(layout.stride)
    let gap = target + 1 + Slot(index) * stride
    let rest = (count - index - 1) * layout.stride
    for offset in 0..<Slot(rest) { copy(gap + stride + offset, to: gap + offset, width: 1) }
    clear(gap + Slot(rest), width: layout.stride)
    set(Int64(count - 1), at: target)
  }

  /// Whether two values are the same, or `nil` if that is not known.
  private func areEqual(_ left: Slot, _ right: Slot, width: Int) -> Bool? {
    var isSure = true
    for offset in 0..<width {
      let (left, right) = (Int(left) + offset, Int(right) + offset)
      if states[left] | states[right] != 0 {
        isSure = false
      } else if words[left] != words[right] {
        return false
      }
    }
    return isSure ? true : nil
  }

  private mutating func search(
    _ elements: Slot, _ count: Int, _ layout: Instruction.Layout, _ wanted: Slot, isIndex: Bool,
    to target: Slot
  ) {
    var isSure = true
    for index in 0..<count {
      switch areEqual(elements + Slot(index * layout.stride), wanted, width: Int(layout.width)) {
      case true?:
        if isIndex, !isSure { return mark(target, width: 1, .unknown) }
        return set(isIndex ? Int64(index) : 1, at: target)
      case false?: continue
      case nil: isSure = false
      }
    }
    if isSure { set(isIndex ? -1 : 0, at: target) } else { mark(target, width: 1, .unknown) }
  }

  private mutating func search(
    _ operation: Instruction.Collection, _ map: Slot, _ layout: Instruction.Layout, key: Slot, value: Slot,
    to target: Slot
  ) {
    let width = Self.resultWidth(of: operation, layout)
    let keyState = state(of: key, width: Int(layout.width))
    let count = Int(words[Int(map)])
    // A map with an unknown key, and a key that is unknown, leave everything open.
    let keys = (0..<count).map { map + 1 + Slot($0 * layout.stride) }
    guard keyState == .known, keys.allSatisfy({ state(of: $0, width: Int(layout.width)) == .known }) else {
      return mark(target, width: width, keyState == .absent ? .absent : .unknown)
    }
    var index = 0
    while index < count, precedes(keys[index], key, width: Int(layout.width)) { index += 1 }
    let isPresent = index < count && areEqual(keys[index], key, width: Int(layout.width)) == true
    let entry = Slot(1 + index * layout.stride)
    switch operation {
    case .hasKey: set(isPresent ? 1 : 0, at: target)
    case .value:
      if isPresent {
        copy(map + entry + layout.width, to: target, width: width)
      } else {
        mark(target, width: width, .absent)
      }
    case .put:
      guard isPresent || count < Int(layout.capacity) else { return mark(target, width: width, .absent) }
      copy(map, to: target, width: width)
      if !isPresent {
        let rest = (count - index) * layout.stride
        for offset in stride(from: rest - 1, through: 0, by: -1) {
          copy(target + entry + Slot(offset), to: target + entry + Slot(offset + layout.stride), width: 1)
        }
        set(Int64(count + 1), at: target)
      }
      copy(key, to: target + entry, width: Int(layout.width))
      copy(value, to: target + entry + layout.width, width: Int(layout.valueWidth))
    case .removeKey:
      copy(map, to: target, width: width)
      if isPresent { close(target, layout, index, count) }
    case .append, .prepend, .element, .slice, .contains, .index, .remove, .replace: break
    }
  }

  /// The order of the entries of a map: that of the words of their keys.
  private func precedes(_ left: Slot, _ right: Slot, width: Int) -> Bool {
    for offset in 0..<width where words[Int(left) + offset] != words[Int(right) + offset] {
      return words[Int(left) + offset] < words[Int(right) + offset]
    }
    return false
  }
}
