public import Basics

extension Frame {
  /// Reads a value of a type.
  public func value(_ type: ValueType, at slot: Slot, _ strings: borrowing Strings) -> Value {
    if case .record(let fields) = type {
      var slot = slot
      return .record(
        fields.map { field in
          defer { slot += Slot(field.type.width) }
          return (field.name, value(field.type, at: slot, strings))
        })
    }
    switch knowledge(at: slot) {
    case .unknown: return .unknown
    case .absent: return .absent
    case .known: break
    }
    let word = words[Int(slot)]
    switch type {
    case .flag: return .flag(word != 0)
    case .integer: return .integer(Int(word))
    case .number: return .number(Double(bitPattern: UInt64(bitPattern: word)))
    case .duration: return .duration(Interval(nanoseconds: word))
    case .instant: return .instant(Interval(nanoseconds: word))
    case .text, .word: return .text(strings.text(word))
    case .bytes: return .bytes(strings.bytes(word))
    case .list(let element, _):
      return .list((0..<Int(word)).map { value(element, at: slot + 1 + Slot($0 * element.width), strings) })
    case .map(let key, let entry, _):
      let stride = key.width + entry.width
      return .map(
        (0..<Int(word)).map { index in
          let place = slot + 1 + Slot(index * stride)
          return (value(key, at: place, strings), value(entry, at: place + Slot(key.width), strings))
        })
    case .record: return .absent
    }
  }
}

extension Frame {
  /// Writes a value of a type.
  ///
  /// - Returns: whether the value is of the type, and within its limits and capacities; otherwise the words are as they were.
  public mutating func write(
    _ value: Value, as type: ValueType, at slot: Slot, _ strings: inout Strings
  ) -> Bool {
    // A scalar is written without a copy of the frame.
    switch (value, type) {
    case (.text(let value), .text): set(strings.number(of: value), at: slot)
    case (.flag(let value), .flag): set(value ? 1 : 0, at: slot)
    case (.integer(let value), .integer(let limits)) where limits.contains(Int64(value)):
      set(Int64(value), at: slot)
    case (.duration(let value), .duration), (.instant(let value), .instant): set(value.nanoseconds, at: slot)
    default: return writeParts(value, as: type, at: slot, &strings)
    }
    return true
  }

  private mutating func writeParts(
    _ value: Value, as type: ValueType, at slot: Slot, _ strings: inout Strings
  ) -> Bool {
    var copy = self
    guard copy.place(value, as: type, at: slot, &strings) else { return false }
    self = copy
    return true
  }

  private mutating func place(
    _ value: Value, as type: ValueType, at slot: Slot, _ strings: inout Strings
  ) -> Bool {
    mark(slot, width: type.width, value == .unknown ? .unknown : value == .absent ? .absent : .known)
    switch (value, type) {
    case (.unknown, _), (.absent, _): break
    case (.flag(let value), .flag): set(value ? 1 : 0, at: slot)
    case (.integer(let value), .integer(let limits)) where limits.contains(Int64(value)):
      set(Int64(value), at: slot)
    case (.number(let value), .number) where !value.isNaN: set(Self.word(of: value), at: slot)
    case (.integer(let value), .number): set(Self.word(of: Double(value)), at: slot)
    case (.duration(let value), .duration), (.instant(let value), .instant): set(value.nanoseconds, at: slot)
    case (.text(let value), .text): set(strings.number(of: value), at: slot)
    case (.text(let value), .word(let words)) where words.contains(value):
      set(strings.number(of: value), at: slot)
    case (.bytes(let value), .bytes): set(strings.number(of: value), at: slot)
    case (.text(let digits), .bytes):
      guard let bytes = Basics.bytes(ofHex: digits) else { return false }
      set(strings.number(of: bytes), at: slot)
    case (.list(let values), .list(let element, let capacity)) where values.count <= capacity:
      set(Int64(values.count), at: slot)
      for (index, value) in values.enumerated() {
        guard place(value, as: element, at: slot + 1 + Slot(index * element.width), &strings) else {
          return false
        }
      }
    case (.record(let values), .record(let fields)) where values.map(\.name) == fields.map(\.name):
      var slot = slot
      for (value, field) in zip(values, fields) {
        guard place(value.value, as: field.type, at: slot, &strings) else { return false }
        slot += Slot(field.type.width)
      }
    case (.map(let entries), .map(let key, let entry, let capacity)) where entries.count <= capacity:
      return place(entries, key, entry, at: slot, &strings)
    default: return false
    }
    return true
  }

  private mutating func place(
    _ entries: [(key: Value, value: Value)], _ key: ValueType, _ entry: ValueType, at slot: Slot,
    _ strings: inout Strings
  ) -> Bool {
    // Each entry is written into a frame of its own, and these in the order of their keys.
    var written: [Frame] = []
    for item in entries {
      var frame = Frame(width: key.width + entry.width)
      guard frame.place(item.key, as: key, at: 0, &strings), frame.state(of: 0, width: key.width) == .known,
        frame.place(item.value, as: entry, at: Slot(key.width), &strings)
      else { return false }
      written.append(frame)
    }
    func keyWords(_ frame: Frame) -> ArraySlice<Int64> { frame.words[..<key.width] }
    written.sort { keyWords($0).lexicographicallyPrecedes(keyWords($1)) }
    guard zip(written, written.dropFirst()).allSatisfy({ keyWords($0) != keyWords($1) }) else { return false }
    set(Int64(entries.count), at: slot)
    for (index, frame) in written.enumerated() {
      let first = Int(slot) + 1 + index * frame.words.count
      words.replaceSubrange(first..<first + frame.words.count, with: frame.words)
      states.replaceSubrange(first..<first + frame.words.count, with: frame.states)
    }
    return true
  }
}
