/// The only source of randomness below the transports: xoshiro256** (Blackman and Vigna, 2018), seeded through
/// SplitMix64 as its authors recommend.
///
/// One seed gives one stream on every machine. The generator is not secure: keys of real locks never come from it.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  @usableFromInline var state: (UInt64, UInt64, UInt64, UInt64)

  /// Starts the stream of a seed.
  public init(seed: UInt64) {
    var mixer = seed
    state = (splitMix(&mixer), splitMix(&mixer), splitMix(&mixer), splitMix(&mixer))
  }

  /// Starts a separate stream for a named part, so that more draws in one part do not affect another.
  public init(seed: UInt64, for part: String) {
    self.init(seed: seed ^ Fingerprint(part).value)
  }

  /// Draws 64 bits.
  @inlinable
  public mutating func next() -> UInt64 {
    let result = rotate(state.1 &* 5, by: 7) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = rotate(state.3, by: 45)
    return result
  }

  /// Draws a number below a bound, which must be at least 1 and below 2³².
  ///
  /// One multiplication and no rejection (Lemire, 2019): the bias is below 2⁻³² times the bound.
  @inlinable
  public mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0 && bound <= UInt32.max, "a draw needs a bound from 1 to 4294967295")
    return Int(((next() >> 32) &* UInt64(bound)) >> 32)
  }

  /// Draws bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      var word = next()
      for _ in 0..<min(8, count - bytes.count) {
        bytes.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    return bytes
  }

  /// Draws the time until an event that is equally likely at any moment, given the average time.
  ///
  /// The time is exponentially distributed, exactly and without logarithms (von Neumann, 1951). A first draw counts
  /// if an even number of draws after it fall in a row; each failed attempt adds the average.
  public mutating func waiting(average: Interval) -> Interval {
    var attempts: Int64 = 0
    while true {
      let first = next()
      var last = first
      var falls = 0
      while true {
        let draw = next()
        guard draw < last else { break }
        last = draw
        falls += 1
      }
      if falls.isMultiple(of: 2) {
        let part = UInt64(max(0, average.nanoseconds)).multipliedFullWidth(by: first).high
        return average * attempts + Interval(nanoseconds: Int64(part))
      }
      attempts += 1
    }
  }

  @inlinable
  func rotate(_ word: UInt64, by count: UInt64) -> UInt64 { (word << count) | (word >> (64 - count)) }
}

private func splitMix(_ state: inout UInt64) -> UInt64 {
  state &+= 0x9E37_79B9_7F4A_7C15
  var word = state
  word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
  word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
  return word ^ (word >> 31)
}
