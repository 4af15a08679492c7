/// One step of a program: it reads some words of a frame and writes others.
///
/// There are no jumps: both branches of a conditional are evaluated, and one is copied. Widths and capacities are
/// constants, since every value has a fixed number of words.
enum Instruction: Equatable, Sendable {
  typealias Slot = Frame.Slot

  /// An operation on two words. An overflow makes the result absent, as it is an error in CEL.
  enum Arithmetic: UInt8, Sendable {
    case add, subtract, multiply, divide, remainder
  }

  /// How words are compared.
  enum Order: UInt8, Sendable {
    case integers, numbers, strings
  }

  /// The order of bytes in an integer.
  enum Endian: UInt8, Sendable {
    case little, big
  }

  /// The operations on one word.
  enum Unary: UInt8, Sendable {
    case not, negate, negateNumber
    case numberOfInteger, integerOfNumber, integerOfText, numberOfText
    case textOfInteger, textOfNumber, textOfFlag, textOfBytes
    case characterCount, byteCount
    case crc8, crc16, crc32
    case seconds, milliseconds, durationOfSeconds, durationOfMilliseconds
  }

  /// The operations on two texts or bytes.
  enum StringPair: UInt8, Sendable {
    case join, startsWith, endsWith, contains
  }

  /// The operations on a list or a map.
  enum Collection: UInt8, Sendable {
    case append, prepend
    /// The element at an index, or from the end for a negative one.
    case element
    /// The elements from an index up to another.
    case slice
    case contains, index, remove, replace
    /// The value of a key; whether there is the key; with an entry; without one.
    case value, hasKey, put, removeKey
  }

  /// How a list or a map is laid out.
  struct Layout: Equatable, Sendable {
    /// The greatest number of elements or entries.
    var capacity: Int32
    /// The words of an element, or of a key.
    var width: Int32
    /// The words of a value; zero for a list.
    var valueWidth: Int32 = 0

    @inline(__always) var stride: Int { Int(width) + Int(valueWidth) }
    /// All words.
    var total: Int { 1 + Int(capacity) * stride }
  }

  case constant(Int64, to: Slot)
  case copy(Slot, width: Int32, to: Slot)
  /// Copies a list or a map to where there is room for more elements.
  case widen(Slot, from: Int32, width: Int32, to: Slot)
  case integers(Arithmetic, Slot, Slot, to: Slot)
  case numbers(Arithmetic, Slot, Slot, to: Slot)
  case unary(Unary, Slot, to: Slot)
  case and(Slot, Slot, to: Slot)
  case or(Slot, Slot, to: Slot)
  case equal(Slot, Slot, width: Int32, isNegated: Bool, to: Slot)
  case less(Order, Slot, Slot, orEqual: Bool, to: Slot)
  case least(Order, Slot, Slot, isGreatest: Bool, to: Slot)
  case select(Slot, Slot, Slot, width: Int32, to: Slot)
  /// Keeps an integer within limits.
  case clamp(Slot, Int64, Int64, to: Slot)
  case strings(StringPair, Slot, Slot, to: Slot)
  /// The part of a text, in characters, or of bytes, from one index up to another.
  case part(Slot, isText: Bool, Slot, Slot, to: Slot)
  /// One byte as an integer.
  case byte(Slot, Slot, to: Slot)
  /// An integer of up to eight bytes.
  case integerOfBytes(Slot, Endian, to: Slot)
  /// The least significant bytes of an integer.
  case bytesOfInteger(Slot, Endian, count: Int32, to: Slot)
  /// The texts of a list, with a text between them.
  case joined(Slot, Layout, Slot, to: Slot)
  /// The operands are the collection and what the operation takes, in the order in which it is written.
  case collection(Collection, Slot, Layout, Slot, Slot, to: Slot)
  /// The elements of two lists, one after the other.
  case concatenate(Slot, Layout, Slot, Layout, to: Slot)
}
