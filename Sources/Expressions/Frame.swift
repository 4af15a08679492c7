/// Whether a word of a frame has a value.
///
/// The meaning is that of *unknown* and *error* in CEL: an operation with an unknown operand has an unknown result; without
/// one, an absent operand makes the result absent. `&&` and `||` need only one operand where it decides.
public enum Knowledge: UInt8, Sendable {
  /// The word has a value.
  case known
  /// There is a value, but it has not been observed.
  case unknown
  /// There is no value: the first element of an empty list, a quotient by zero.
  case absent
}

/// The words of all variables, arguments and intermediate results, with what is known of each.
///
/// A word that is not known is zero, so that equal frames describe the same knowledge.
public struct Frame: Hashable, Sendable {
  /// A position in a frame, in words.
  public typealias Slot = Int32

  /// The words.
  public internal(set) var words: [Int64]
  /// The raw value of a ``Knowledge`` for each word.
  public internal(set) var states: [UInt8]

  /// Makes a frame of zeros, which are known.
  public init(width: Int) {
    words = [Int64](repeating: 0, count: width)
    states = [UInt8](repeating: 0, count: width)
  }

  /// What is known of a word.
  public func knowledge(at slot: Slot) -> Knowledge { Knowledge(rawValue: states[Int(slot)]) ?? .unknown }

  /// Sets a word.
  @inline(__always)
  public mutating func set(_ word: Int64, at slot: Slot) {
    words[Int(slot)] = word
    states[Int(slot)] = 0
  }

  /// Makes a value unknown or absent.
  public mutating func forget(_ slot: Slot, width: Int, _ knowledge: Knowledge) {
    mark(slot, width: width, knowledge)
  }

  /// Sets words to zero, with what is known of them.
  mutating func mark(_ slot: Slot, width: Int, _ knowledge: Knowledge) {
    for index in Int(slot)..<Int(slot) + width {
      words[index] = 0
      states[index] = knowledge.rawValue
    }
  }

  /// Copies words from elsewhere to the beginning.
  @inline(__always)
  public mutating func replacePrefix(_ other: [Int64], _ otherStates: [UInt8], from first: Int, width: Int) {
    for offset in 0..<width {
      words[offset] = other[first + offset]
      states[offset] = otherStates[first + offset]
    }
  }

  /// Returns whether two values are certainly equal: the same words, none of which is unknown. A position below zero
  /// equals none.
  public func isEqual(_ left: Slot, _ right: Slot, width: Int) -> Bool {
    guard left >= 0 else { return false }
    return (0..<width).allSatisfy {
      words[Int(left) + $0] == words[Int(right) + $0] && states[Int(left) + $0] == states[Int(right) + $0]
        && states[Int(left) + $0] != Knowledge.unknown.rawValue
    }
  }

  /// Copies a value of another frame to the same position.
  public mutating func copy(_ slot: Slot, of other: Frame, width: Int) {
    for index in Int(slot)..<Int(slot) + width {
      words[index] = other.words[index]
      states[index] = other.states[index]
    }
  }

  /// Copies a value to another position.
  @inline(__always)
  public mutating func copy(_ source: Slot, to target: Slot, width: Int) {
    for offset in 0..<width {
      words[Int(target) + offset] = words[Int(source) + offset]
      states[Int(target) + offset] = states[Int(source) + offset]
    }
  }

  /// Sets words to zero, which is known.
  mutating func clear(_ slot: Slot, width: Int) { mark(slot, width: width, .known) }

  /// Marks a result as its operands are: unknown if one is, or else absent if one is.
  ///
  /// - Returns: whether both operands are known.
  @inline(__always)
  mutating func areKnown(_ left: Slot, _ right: Slot, to target: Slot) -> Bool {
    let both = states[Int(left)] | states[Int(right)]
    if both == 0 { return true }
    mark(target, width: 1, both & 1 != 0 ? .unknown : .absent)
    return false
  }

  /// The state of a value of several words: unknown if any word is, or else absent if any is.
  public func state(of slot: Slot, width: Int) -> Knowledge {
    var all: UInt8 = 0
    for index in Int(slot)..<Int(slot) + width { all |= states[index] }
    return all & 1 != 0 ? .unknown : all == 0 ? .known : .absent
  }
}

/// The texts and bytes of frames, by number.
///
/// A text is a word of a frame: its number here. Equal texts have one number; the empty text has the number zero. Numbers
/// are given in the order of first use, so that the same test gives the same numbers.
public struct Strings: Equatable, Sendable {
  private var values: [[UInt8]] = [[]]
  private var numbers: [[UInt8]: Int64] = [[]: 0]

  public init() {}

  /// How many texts and bytes have a number.
  public var count: Int { values.count }

  /// Returns the number of bytes.
  public mutating func number(of bytes: [UInt8]) -> Int64 {
    if let number = numbers[bytes] { return number }
    let number = Int64(values.count)
    values.append(bytes)
    numbers[bytes] = number
    return number
  }

  /// Returns the number of a text.
  public mutating func number(of text: String) -> Int64 {
    let utf8 = text.utf8
    let place =
      (utf8.count &* 31 &+ Int(utf8.last ?? 0) &* 7 &+ Int(utf8.first ?? 0)) & (Self.recentCount - 1)
    if recent.isEmpty { recent = [Recent](repeating: Recent(), count: Self.recentCount) }
    if recent[place].text.utf8.elementsEqual(utf8) { return recent[place].number }
    let number = number(of: Array(utf8))
    recent[place] = Recent(text: text, number: number)
    return number
  }

  /// A text that was looked up not long ago, by a few of its bytes: most texts come again and again.
  private struct Recent: Equatable, Sendable {
    var text = ""
    var number: Int64 = 0
  }

  private static let recentCount = 32
  private var recent: [Recent] = []

  public static func == (left: Strings, right: Strings) -> Bool { left.values == right.values }

  /// The bytes with a number.
  public func bytes(_ number: Int64) -> [UInt8] {
    values.indices.contains(Int(number)) ? values[Int(number)] : []
  }

  /// The text with a number.
  public func text(_ number: Int64) -> String { String(decoding: bytes(number), as: UTF8.self) }
}
