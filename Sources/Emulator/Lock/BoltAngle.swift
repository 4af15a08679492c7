/// An angle of the bolt.
///
/// OS2 counts 1024ths of a turn and OS3 counts degrees. A unit here is 1/46080 of a turn, of which a degree has
/// 128 and a 1024th of a turn 45, so that either is held exactly.
public struct BoltAngle: Hashable, Comparable, Sendable {
  /// The angle in 46080ths of a turn.
  public var units: Int32

  /// Makes an angle from 46080ths of a turn.
  public init(units: Int32) {
    self.units = units
  }

  /// Makes an angle from degrees.
  public init(degrees: Int16) {
    units = Int32(degrees) * 128
  }

  /// Makes an angle from 1024ths of a turn.
  public init(turn1024ths: Int16) {
    units = Int32(turn1024ths) * 45
  }

  /// The nearest number of degrees, as OS3 sends it. No angle is as far as the value that means *none*.
  public var degrees: Int16 { rounded(by: 128) }

  /// The nearest number of 1024ths of a turn, as OS2 sends it. No angle is as far as the value that means *none*.
  public var turn1024ths: Int16 { rounded(by: 45) }

  private func rounded(by size: Int32) -> Int16 {
    let half = units < 0 ? -size / 2 : size / 2
    return Int16(clamping: max((units + half) / size, Int32(Int16.min) + 1))
  }

  public static func < (left: BoltAngle, right: BoltAngle) -> Bool { left.units < right.units }

  /// The angle further on by another one.
  public static func + (left: BoltAngle, right: BoltAngle) -> BoltAngle {
    BoltAngle(units: left.units + right.units)
  }

  /// The angle further back by another one.
  public static func - (left: BoltAngle, right: BoltAngle) -> BoltAngle {
    BoltAngle(units: left.units - right.units)
  }

  /// How far two angles lie apart.
  func distance(to other: BoltAngle) -> BoltAngle { BoltAngle(units: abs(units - other.units)) }
}

extension BoltAngle: CustomStringConvertible {
  /// Whole degrees, rounded.
  public var description: String { "\(degrees)°" }
}

/// Where a bolt is locked and unlocked, and what counts as either.
public struct BoltPositions: Equatable, Sendable {
  /// Where the motor turns to lock.
  public let lock: BoltAngle
  /// Where the motor turns to unlock.
  public let unlock: BoltAngle
  /// What counts as locked.
  public let lockRange: ClosedRange<BoltAngle>
  /// What counts as unlocked. The two ranges may overlap: the apps' own often do.
  public let unlockRange: ClosedRange<BoltAngle>

  /// The furthest that a position or the end of a range may be, in the generation's own unit.
  ///
  /// Beyond it there would be no room for a place outside both ranges.
  public static let limit: Int16 = 32_000

  /// Converts the positions that an OS3 client sets, in degrees; `nil` if they are invalid.
  ///
  /// OS3 sends no ranges: a range extends from its position a third of the distance to the other one, but at most
  /// thirty degrees.
  public init?(lockDegrees: Int16, unlockDegrees: Int16) {
    guard abs(Int(lockDegrees)) <= Int(Self.limit), abs(Int(unlockDegrees)) <= Int(Self.limit),
      lockDegrees != unlockDegrees
    else { return nil }
    lock = BoltAngle(degrees: lockDegrees)
    unlock = BoltAngle(degrees: unlockDegrees)
    let reach = BoltAngle(units: min(30 * 128, lock.distance(to: unlock).units / 3))
    lockRange = lock - reach...lock + reach
    unlockRange = unlock - reach...unlock + reach
  }

  /// Takes what an OS2 client sets, in 1024ths of a turn; `nil` if the positions are equal or too far away, or
  /// outside their own ranges.
  public init?(
    lock: Int16, unlock: Int16, lockRange: (minimum: Int16, greatest: Int16),
    unlockRange: (minimum: Int16, greatest: Int16)
  ) {
    for angle in [lockRange.minimum, lockRange.greatest, unlockRange.minimum, unlockRange.greatest]
    where abs(Int(angle)) > Int(Self.limit) { return nil }
    guard lock != unlock, lockRange.minimum <= lock, lock <= lockRange.greatest,
      unlockRange.minimum <= unlock,
      unlock <= unlockRange.greatest
    else { return nil }
    self.lock = BoltAngle(turn1024ths: lock)
    self.unlock = BoltAngle(turn1024ths: unlock)
    self.lockRange =
      BoltAngle(turn1024ths: lockRange.minimum)...BoltAngle(turn1024ths: lockRange.greatest)
    self.unlockRange =
      BoltAngle(turn1024ths: unlockRange.minimum)...BoltAngle(turn1024ths: unlockRange.greatest)
  }

  private init(lock: Int16, unlock: Int16, reach: Int16) {
    self.lock = BoltAngle(turn1024ths: lock)
    self.unlock = BoltAngle(turn1024ths: unlock)
    let reach = BoltAngle(turn1024ths: reach)
    lockRange = self.lock - reach...self.lock + reach
    unlockRange = self.unlock - reach...self.unlock + reach
  }

  /// A quarter turn: locked at 0°, unlocked at 90°, ranges of just under thirty degrees to either side.
  public static let quarterTurn = BoltPositions(lock: 0, unlock: 256, reach: 85)

  /// The angle halfway between the positions, where an obstacle stops the bolt.
  var middle: BoltAngle { BoltAngle(units: (lock.units + unlock.units) / 2) }

  /// How far the positions lie apart.
  var travel: BoltAngle { lock.distance(to: unlock) }

  /// A place in neither range: halfway if that is one, else ten degrees beyond everything.
  var between: BoltAngle {
    if !lockRange.contains(middle), !unlockRange.contains(middle) { return middle }
    let beyond = max(lockRange.upperBound, unlockRange.upperBound) + BoltAngle(degrees: 10)
    return beyond
  }
}
