/// A moment on the clocks of one machine: in calendar time, which can be set, and since the machine booted, which
/// cannot.
public struct BenchTime: Hashable, Sendable {
  /// The calendar time.
  public var wall: WallTime
  /// The boot of the machine: a word that no other boot has.
  public var boot: String
  /// The time since that boot, including sleep.
  public var uptime: Instant

  /// Makes a moment.
  public init(wall: WallTime, boot: String, uptime: Instant) {
    self.wall = wall
    self.boot = boot
    self.uptime = uptime
  }

  /// Returns the calendar time of another moment since the same boot, as far as it is known now.
  public func wall(of moment: Instant) -> WallTime { wall + (moment - uptime) }
}
