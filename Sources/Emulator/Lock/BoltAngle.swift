/// An angle of the bolt.
///
/// OS2 counts 1024ths of a turn and OS3 counts degrees. A unit here is 1/46080 of a turn; a degree has 128
/// units and a 1024th of a turn 45, so that both are exact.
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

  /// The nearest number of degrees, as OS3 sends it. It never equals the value that means *none*.
  public var degrees: Int16 { rounded(by: 128) }

  /// The nearest number of 1024ths of a turn, as OS2 sends it. It never equals the value that means *none*.
  public var turn1024ths: Int16 { rounded(by: 45) }

  private func rounded(by size: Int32) -> Int16 {
    let half = units < 0 ? -size / 2 : size / 2
    return Int16(clamping: max((units + half) / size, Int32(Int16.min) + 1))
  }

  public static func < (left: BoltAngle, right: BoltAngle) -> Bool { left.units < right.units }

  /// The sum of two angles.
  public static func + (left: BoltAngle, right: BoltAngle) -> BoltAngle {
    BoltAngle(units: left.units + right.units)
  }

  /// The difference of two angles.
  public static func - (left: BoltAngle, right: BoltAngle) -> BoltAngle {
    BoltAngle(units: left.units - right.units)
  }

  /// The absolute difference of two angles.
  func distance(to other: BoltAngle) -> BoltAngle { BoltAngle(units: abs(units - other.units)) }
}

extension BoltAngle: CustomStringConvertible {
  /// Whole degrees, rounded.
  public var description: String { "\(degrees)°" }
}

/// The positions of a bolt, and the ranges that count as locked and unlocked.
public struct BoltPositions: Equatable, Sendable {
  /// The angle to which the motor turns to lock.
  public let lock: BoltAngle
  /// The angle to which the motor turns to unlock.
  public let unlock: BoltAngle
  /// The angles that count as locked.
  public let lockRange: ClosedRange<BoltAngle>
  /// The angles that count as unlocked. The two ranges may overlap: those of the apps often do.
  public let unlockRange: ClosedRange<BoltAngle>

  /// The greatest absolute value of a position or of the end of a range, in the generation's own unit.
  ///
  /// A greater one would leave no angle outside both ranges.
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

  /// Makes the positions that an OS2 client sets, in 1024ths of a turn; `nil` if they are equal, too far away
  /// or outside their own ranges.
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

  /// The distance between the positions.
  var travel: BoltAngle { lock.distance(to: unlock) }

  /// An angle in neither range: halfway if possible, else ten degrees beyond both.
  var between: BoltAngle {
    if !lockRange.contains(middle), !unlockRange.contains(middle) { return middle }
    let beyond = max(lockRange.upperBound, unlockRange.upperBound) + BoltAngle(degrees: 10)
    return beyond
  }
}
