/// Mixes the bits of a word so that each bit of the result depends on all of them (a multiply-xorshift, as in
/// SplitMix64).
@inline(__always)
func mix(_ word: UInt64) -> UInt64 {
  var word = (word ^ word >> 32) &* 0xD6E8_FEB8_6659_FD93
  word = (word ^ word >> 32) &* 0xD6E8_FEB8_6659_FD93
  return word ^ word >> 32
}

/// Returns the class of a count; most classes double in size, as in AFL.
@inline(__always)
func bucket(_ count: Int) -> Int { count < 4 ? count : count < 8 ? 4 : count < 16 ? 5 : 6 }

/// Returns the index of the cell for a choice in a context, in a hashed table of 2^`bits` cells.
@inline(__always)
private func cell(of choice: Int, in context: UInt64, _ bits: UInt64) -> Int {
  Int(mix(context ^ UInt64(truncatingIfNeeded: choice + 1) &* 0x2545_F491_4F6C_DD1D) >> (64 - bits))
}

/// The number of times that each choice was made in each context, hashed into a table of fixed size.
struct CountTable: Sendable {
  private static let bits: UInt64 = 18
  private var cells = [UInt32](repeating: 0, count: 1 << Int(bits))
  /// The number of cells in use.
  private(set) var used = 0

  subscript(context: UInt64, choice: Int) -> UInt32 { cells[Self.index(context, choice)] }

  mutating func add(_ context: UInt64, _ choice: Int) {
    let index = Self.index(context, choice)
    if cells[index] == 0 { used += 1 }
    cells[index] &+= 1
  }

  @inline(__always)
  private static func index(_ context: UInt64, _ choice: Int) -> Int { cell(of: choice, in: context, bits) }
}

/// The positions seen: how often, and which stimuli were refused there.
struct PositionTable: Sendable {
  private static let size = 1 << 12
  private var keys = [UInt64](repeating: 0, count: size)
  var visits = [UInt32](repeating: 0, count: size)
  /// The forbidden stimuli that were tried, as bits.
  var refused = [UInt64](repeating: 0, count: size)
  private(set) var count = 0

  /// Counts a visit.
  ///
  /// - Returns: the slot of the position. Once the table is nearly full, new positions share slots.
  mutating func visit(_ position: UInt64) -> Int {
    var slot = Int(mix(position) >> 52)
    for _ in 0..<16 {
      if visits[slot] == 0, count < Self.size * 7 / 8 {
        keys[slot] = position
        count += 1
        break
      }
      if keys[slot] == position { break }
      slot = (slot + 1) & (Self.size - 1)
    }
    visits[slot] &+= 1
    return slot
  }
}

/// Where each stimulus last led from each position, as the slot of the position that followed.
struct SuccessorTable: Sendable {
  private static let bits: UInt64 = 14
  private var cells = [UInt16](repeating: 0, count: 1 << Int(bits))

  /// Returns the slot of the position that followed; `nil` if the stimulus was not given there yet.
  func slot(after event: Int, at position: UInt64) -> Int? {
    let cell = cells[Self.index(position, event)]
    return cell == 0 ? nil : Int(cell) - 1
  }

  mutating func set(_ slot: Int, after event: Int, at position: UInt64) {
    cells[Self.index(position, event)] = UInt16(slot + 1)
  }

  @inline(__always)
  private static func index(_ position: UInt64, _ event: Int) -> Int { cell(of: event, in: position, bits) }
}

/// The features that tests had, and whether the current test has one that hardly any other had.
struct RarityTable: Sendable {
  private static let bits: UInt64 = 16
  /// A feature that this many tests had is no longer rare.
  private static let usual: UInt64 = 2
  /// The number of the last test that had a feature, above the number of tests that had it.
  private var cells = [UInt64](repeating: 0, count: 1 << Int(bits))
  private var test: UInt64 = 0
  private var rareLength = 0

  mutating func begin() {
    test += 1
    rareLength = 0
  }

  /// Records that the current test has a feature after this number of choices.
  mutating func see(_ feature: UInt64, at length: Int) {
    let index = Int(feature >> (64 - Self.bits))
    let cell = cells[index]
    guard cell >> 32 != test else { return }
    let tests = cell & 0xFFFF_FFFF
    if tests < Self.usual, rareLength == 0 { rareLength = length }
    cells[index] = test << 32 | (tests + 1)
  }

  /// Returns the number of choices up to the first rare feature of the test; `nil` if it had none.
  func end() -> Int? { rareLength > 0 ? rareLength : nil }
}

/// The last decisions of a test.
struct DecisionHistory: Sendable {
  private static let size = 16
  private var ring = [UInt64](repeating: 0, count: size)
  private var count = 0

  mutating func reset() { count = 0 }

  mutating func push(_ decision: UInt64) {
    ring[count & (Self.size - 1)] = decision &+ 1
    count += 1
  }

  /// Returns a hash of the last `depth` decisions, or of all if there are fewer.
  func hash(_ depth: Int) -> UInt64 {
    var hash: UInt64 = 0
    for back in 0..<min(depth, count, Self.size) {
      hash = mix(hash ^ ring[(count - 1 - back) & (Self.size - 1)] &* 0x9E37_79B9_7F4A_7C15)
    }
    return hash
  }
}
