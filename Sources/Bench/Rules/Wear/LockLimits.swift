public import Basics

/// What a lock may be asked of, whoever asks: what its motor, its battery and its door are owed.
public struct LockLimits: Equatable, Sendable {
  /// The least time from one movement of the motor to the next, where that is said; see ``gap``.
  public var ownGap: Interval?
  /// How many movements an hour may see, whichever hour it is; `nil` for any number.
  public var perHour: Int?
  /// How many movements twelve hours on end may see; `nil` for any number.
  public var perShift: Int?
  /// How long the motor rests after a jam or a stall.
  public var coolDown = Interval.seconds(300)
  /// The percentage of battery below which the lock is left alone; `nil` where that is never.
  public var batteryFloor: Int?
  /// How many percent an hour the battery may lose before the lock is left alone; `nil` for any number.
  public var batterySlope: Int?

  /// Takes limits; those not given are the usual ones.
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
  /// The least time from one movement of the motor to the next: two seconds unless the bench or the lock's file says
  /// otherwise.
  public var gap: Interval {
    get { ownGap ?? .seconds(2) }
    set { ownGap = newValue }
  }

  /// What every lock is owed.
  public static var usual: LockLimits { LockLimits() }
}
