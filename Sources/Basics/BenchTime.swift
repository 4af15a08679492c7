/// A moment as the clocks of one machine tell it: by the calendar, which people set, and since the machine was started,
/// which nobody can.
public struct BenchTime: Hashable, Sendable {
  /// The moment by the calendar.
  public var wall: WallTime
  /// Which start of the machine: a word that no other start has.
  public var boot: String
  /// The time since that start, sleep included.
  public var uptime: Instant

  /// Makes a moment.
  public init(wall: WallTime, boot: String, uptime: Instant) {
    self.wall = wall
    self.boot = boot
    self.uptime = uptime
  }

  /// The calendar's moment of another moment of this start of the machine, as far as it can be known now.
  public func wall(of moment: Instant) -> WallTime { wall + (moment - uptime) }
}
