/// The condition of a row: the conditions that it needs, and those that it does not bear.
///
/// It has one meaning, over what is sure to hold and what may hold; where everything is known, the two are the same.
public struct Guard: Hashable, Sendable {
  /// The conditions of which one must hold, as bits in the order of the machine; none when zero.
  public let given: UInt64
  /// The conditions of which none may hold, as bits.
  public let unless: UInt64

  /// Makes a condition.
  @inlinable
  public init(given: UInt64 = 0, unless: UInt64 = 0) {
    self.given = given
    self.unless = unless
  }

  /// Whether it asks for nothing.
  @inlinable public var isEmpty: Bool { given | unless == 0 }

  /// The conditions that it depends on, as bits.
  @inlinable public var conditions: UInt64 { given | unless }

  /// Whether it is met where some conditions are there to be used, and some are in the way.
  @inlinable @inline(__always)
  func isMet(by present: UInt64, against undeniable: UInt64) -> Bool {
    (given == 0 || given & present != 0) && unless & undeniable == 0
  }

  /// Whether it holds under exactly these conditions.
  @inlinable @inline(__always)
  public func holds(under conditions: UInt64) -> Bool { isMet(by: conditions, against: conditions) }

  /// Whether it may hold under these conditions, of which some, and others, are open.
  @inlinable @inline(__always)
  public func mayHold(under conditions: UInt64, open: UInt64) -> Bool {
    isMet(by: conditions | open, against: conditions & ~open)
  }

  /// Whether it is sure to hold under these conditions, of which some, and others, are open.
  @inlinable @inline(__always)
  public func mustHold(under conditions: UInt64, open: UInt64) -> Bool {
    isMet(by: conditions & ~open, against: conditions | open)
  }

  /// Whether what is open can be so that none of several conditions holds.
  public static func mayAllFail(
    _ guards: some Collection<Guard>, under conditions: UInt64, open: UInt64
  ) -> Bool {
    let relevant = guards.reduce(0) { $0 | $1.conditions } & open
    // Every choice of what is open, from all of it down to none.
    var choice = relevant
    while true {
      let holding = conditions & ~relevant | choice
      if guards.allSatisfy({ !$0.holds(under: holding) }) { return true }
      if choice == 0 { return false }
      choice = (choice &- 1) & relevant
    }
  }
}
