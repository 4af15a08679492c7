/// A set of small numbers as bits. Up to 64 of them need no storage beside the value itself.
struct NodeSet: Equatable, Sendable {
  /// The numbers below 64.
  var first: UInt64 = 0
  /// The others, 64 to a word; empty in small machines.
  var rest: [UInt64]

  /// Makes an empty set that can hold the numbers below a bound.
  init(capacity: Int) {
    rest = capacity > 64 ? [UInt64](repeating: 0, count: (capacity - 1) / 64) : []
  }

  var isEmpty: Bool {
    if first != 0 { return false }
    for word in rest where word != 0 { return false }
    return true
  }

  var count: Int {
    var count = first.nonzeroBitCount
    for word in rest { count += word.nonzeroBitCount }
    return count
  }

  /// The only member, or -1 when there is none or more than one.
  var single: Int {
    if rest.isEmpty {
      return first != 0 && first & (first &- 1) == 0 ? first.trailingZeroBitCount : -1
    }
    guard count == 1 else { return -1 }
    var found = -1
    forEach { found = $0 }
    return found
  }

  mutating func removeAll() {
    first = 0
    for index in rest.indices { rest[index] = 0 }
  }

  mutating func insert(_ number: Int) {
    if number < 64 {
      first |= 1 &<< UInt64(truncatingIfNeeded: number)
    } else {
      rest[number / 64 - 1] |= 1 &<< UInt64(truncatingIfNeeded: number & 63)
    }
  }

  mutating func remove(_ number: Int) {
    if number < 64 {
      first &= ~(1 &<< UInt64(truncatingIfNeeded: number))
    } else {
      rest[number / 64 - 1] &= ~(1 &<< UInt64(truncatingIfNeeded: number & 63))
    }
  }

  func contains(_ number: Int) -> Bool {
    let word = number < 64 ? first : rest[number / 64 - 1]
    return word & (1 &<< UInt64(truncatingIfNeeded: number & 63)) != 0
  }

  mutating func formIntersection(_ other: NodeSet) {
    first &= other.first
    for index in rest.indices { rest[index] &= other.rest[index] }
  }

  /// Calls the body with each member, in rising order.
  @inline(__always)
  func forEach(_ body: (Int) -> Void) {
    var word = first
    while word != 0 {
      body(word.trailingZeroBitCount)
      word &= word &- 1
    }
    for index in rest.indices {
      var word = rest[index]
      while word != 0 {
        body(64 * (index + 1) + word.trailingZeroBitCount)
        word &= word &- 1
      }
    }
  }
}
