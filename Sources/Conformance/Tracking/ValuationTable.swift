import Expressions

/// Valuations with numbers: equal ones have one number.
struct ValuationTable: Sendable {
  private let width: Int
  private var words: [Int64] = []
  private var states: [UInt8] = []
  /// The numbers by hash, plus one; zero for a free place. Its size is a power of two, and at least half is free.
  private var places: [Int32]
  private var hashes: [UInt64] = []

  init(width: Int) {
    self.width = width
    places = [Int32](repeating: 0, count: 64)
  }

  var count: Int { hashes.count }

  mutating func removeAll() {
    guard !hashes.isEmpty else { return }
    words.removeAll(keepingCapacity: true)
    states.removeAll(keepingCapacity: true)
    hashes.removeAll(keepingCapacity: true)
    for index in places.indices { places[index] = 0 }
  }

  /// Copies a valuation to the beginning of a frame.
  @inline(__always)
  func copy(_ number: Int32, to frame: inout Frame) {
    frame.replacePrefix(words, states, from: Int(number) * width, width: width)
  }

  /// Returns the number of the valuation at the beginning of a frame.
  mutating func number(of frame: Frame) -> Int32 { number(of: frame.words, frame.states) }

  /// Returns the number of a valuation with some content.
  mutating func number(of content: (words: [Int64], states: [UInt8])) -> Int32 {
    number(of: content.words, content.states)
  }

  /// A word of a valuation, if it is known.
  func word(_ number: Int32, _ slot: Frame.Slot) -> Int64? {
    let index = Int(number) * width + Int(slot)
    return states[index] == 0 ? words[index] : nil
  }

  func content(of number: Int32) -> (words: [Int64], states: [UInt8]) {
    let range = Int(number) * width..<(Int(number) + 1) * width
    return (Array(words[range]), Array(states[range]))
  }

  private mutating func number(of newWords: [Int64], _ newStates: [UInt8]) -> Int32 {
    var hash: UInt64 = 0x9e37_79b9_7f4a_7c15
    for index in 0..<width {
      hash =
        (hash ^ UInt64(bitPattern: newWords[index]) ^ UInt64(newStates[index]) << 56) &* 0xff51_afd7_ed55_8ccd
      hash ^= hash >> 32
    }
    let mask = places.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while places[place] != 0 {
      let number = Int(places[place]) - 1
      if hashes[number] == hash, isEqual(number, newWords, newStates) { return Int32(number) }
      place = (place + 1) & mask
    }
    let number = hashes.count
    words.append(contentsOf: newWords[..<width])
    states.append(contentsOf: newStates[..<width])
    hashes.append(hash)
    places[place] = Int32(number) + 1
    if hashes.count * 2 > places.count { grow() }
    return Int32(number)
  }

  private func isEqual(_ number: Int, _ newWords: [Int64], _ newStates: [UInt8]) -> Bool {
    let first = number * width
    for index in 0..<width
    where words[first + index] != newWords[index] || states[first + index] != newStates[index] {
      return false
    }
    return true
  }

  private mutating func grow() {
    places = [Int32](repeating: 0, count: places.count * 2)
    let mask = places.count - 1
    for (number, hash) in hashes.enumerated() {
      var place = Int(truncatingIfNeeded: hash) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = Int32(number) + 1
    }
  }
}
