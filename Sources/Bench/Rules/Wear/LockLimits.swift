public import Basics

/// The limits that protect a lock's motor, battery and door, common to all its users.
public struct LockLimits: Equatable, Sendable {
  /// The minimum time between two movements, if the bench or the lock's file sets it; see ``gap``.
  public var ownGap: Interval?
  /// The maximum number of movements within any hour; `nil` for no limit.
  public var perHour: Int?
  /// The maximum number of movements within any twelve hours; `nil` for no limit.
  public var perShift: Int?
  /// How long the motor rests after a jam or a stall.
  public var coolDown = Interval.seconds(300)
  /// The battery percentage below which the lock is not used; `nil` for no limit.
  public var batteryFloor: Int?
  /// The discharge rate, in percent per hour, above which the lock is not used; `nil` for no limit.
  public var batterySlope: Int?

  /// Makes limits; omitted ones have their defaults.
  public init(
    gap: Interval? = nil, perHour: Int? = nil, perShift: Int? = nil,
    coolDown: Interval = Interval.seconds(300), batteryFloor: Int? = nil, batterySlope: Int? = nil
  ) {
    ownGap = gap
    self.perHour = perHour
    self.perShift = perShift
    self.coolDown = coolDown
    self.batteryFloor = batteryFloor
    self.batterySlope = batterySlope
  }
}

extension LockLimits {
  /// The minimum time between two movements: two seconds unless the bench or the lock's file sets another.
  public var gap: Interval {
    get { ownGap ?? .seconds(2) }
    set { ownGap = newValue }
  }

  /// The default limits.
  public static var usual: LockLimits { LockLimits() }
}
