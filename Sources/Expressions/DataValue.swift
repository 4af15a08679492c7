public import Basics

/// A value as it is shown and exchanged: outside of frames, with all its parts.
public indirect enum DataValue: Equatable, Sendable {
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case duration(Interval)
  case instant(Interval)
  case text(String)
  case bytes([UInt8])
  case list([DataValue])
  /// The entries in the order of their keys.
  case map([(key: DataValue, value: DataValue)])
  case record([(name: String, value: DataValue)])
  /// A value that was not observed.
  case unknown
  /// No value.
  case absent

  public static func == (left: DataValue, right: DataValue) -> Bool {
    switch (left, right) {
    case (.flag(let left), .flag(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.duration(let left), .duration(let right)): left == right
    case (.instant(let left), .instant(let right)): left == right
    case (.text(let left), .text(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.map(let left), .map(let right)):
      left.elementsEqual(right) { $0.key == $1.key && $0.value == $1.value }
    case (.record(let left), .record(let right)):
      left.elementsEqual(right) { $0.name == $1.name && $0.value == $1.value }
    case (.unknown, .unknown), (.absent, .absent): true
    default: false
    }
  }
}

extension DataValue: CustomStringConvertible {
  /// The value as it is shown to a person.
  public var description: String {
    switch self {
    case .flag(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .number(let value): String(value)
    case .duration(let value), .instant(let value): value.description
    case .text(let value): "'\(value)'"
    case .bytes(let value): value.hex
    case .list(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .map(let entries): "{\(entries.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
    case .record(let fields): "{\(fields.map { "\($0.name): \($0.value)" }.joined(separator: ", "))}"
    case .unknown: "unknown"
    case .absent: "absent"
    }
  }
}

extension Frame {
  /// Reads a value of a type.
  public func value(_ type: ValueType, at slot: Slot, _ strings: borrowing Strings) -> DataValue {
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
    case .integer: return .integer(word)
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
    _ value: DataValue, as type: ValueType, at slot: Slot, _ strings: inout Strings
  ) -> Bool {
    var copy = self
    guard copy.place(value, as: type, at: slot, &strings) else { return false }
    self = copy
    return true
  }

  private mutating func place(
    _ value: DataValue, as type: ValueType, at slot: Slot, _ strings: inout Strings
  ) -> Bool {
    mark(slot, width: type.width, value == .unknown ? .unknown : value == .absent ? .absent : .known)
    switch (value, type) {
    case (.unknown, _), (.absent, _): break
    case (.flag(let value), .flag): set(value ? 1 : 0, at: slot)
    case (.integer(let value), .integer(let limits)) where limits.contains(value): set(value, at: slot)
    case (.number(let value), .number) where !value.isNaN: set(Self.word(of: value), at: slot)
    case (.duration(let value), .duration), (.instant(let value), .instant): set(value.nanoseconds, at: slot)
    case (.text(let value), .text): set(strings.number(of: value), at: slot)
    case (.text(let value), .word(let words)) where words.contains(value):
      set(strings.number(of: value), at: slot)
    case (.bytes(let value), .bytes): set(strings.number(of: value), at: slot)
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
    _ entries: [(key: DataValue, value: DataValue)], _ key: ValueType, _ entry: ValueType, at slot: Slot,
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
