/// The guard of a row: the conditions that it needs, and the conditions that exclude it.
///
/// One rule covers both what must hold and what may hold; where every condition is known, the two are the same.
public struct Guard: Hashable, Sendable {
  /// The conditions of which at least one must hold, as bits in the order of the machine; zero for no requirement.
  public let given: UInt64
  /// The conditions of which none may hold, as bits.
  public let unless: UInt64

  /// Makes a guard.
  @inlinable
  public init(given: UInt64 = 0, unless: UInt64 = 0) {
    self.given = given
    self.unless = unless
  }

  /// Whether it has no requirement.
  @inlinable public var isEmpty: Bool { given | unless == 0 }

  /// The conditions that it depends on, as bits.
  @inlinable public var conditions: UInt64 { given | unless }

  /// Returns whether it is met if `given` is checked against `enabling` and `unless` against `excluding`.
  @inlinable @inline(__always)
  func isMet(by enabling: UInt64, against excluding: UInt64) -> Bool {
    (given == 0 || given & enabling != 0) && unless & excluding == 0
  }

  /// Returns whether it holds under exactly these conditions.
  @inlinable @inline(__always)
  public func holds(under conditions: UInt64) -> Bool { isMet(by: conditions, against: conditions) }

  /// Returns whether it may hold under these conditions if those in `open` are unknown.
  @inlinable @inline(__always)
  public func mayHold(under conditions: UInt64, open: UInt64) -> Bool {
    isMet(by: conditions | open, against: conditions & ~open)
  }

  /// Returns whether it must hold under these conditions if those in `open` are unknown.
  @inlinable @inline(__always)
  public func mustHold(under conditions: UInt64, open: UInt64) -> Bool {
    isMet(by: conditions & ~open, against: conditions | open)
  }

  /// Returns whether the unknown conditions can be such that none of several guards holds.
  public static func mayAllFail(
    _ guards: some Collection<Guard>, under conditions: UInt64, open: UInt64
  ) -> Bool {
    let relevant = guards.reduce(0) { $0 | $1.conditions } & open
    // Every subset of the unknown conditions, from all of them down to none.
    var choice = relevant
    while true {
      let holding = conditions & ~relevant | choice
      if guards.allSatisfy({ !$0.holds(under: holding) }) { return true }
      if choice == 0 { return false }
      choice = (choice &- 1) & relevant
    }
  }
}
