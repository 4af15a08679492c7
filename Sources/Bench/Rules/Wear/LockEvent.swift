public import Basics

/// An event of a lock, stored for later runs.
public struct LockEvent: Hashable, Sendable {
  /// The kind of event.
  public enum Kind: Hashable, Sendable {
    /// The motor was about to move; the cause in one word.
    case movement(String)
    /// A movement was counted in advance that the lock makes by itself at an unknown time.
    case ownMovement
    /// The autonomous movement took place, or is no longer expected.
    case settled
    /// A jam or a stall, with its cause.
    case jam(String)
    /// The battery level, in percent.
    case battery(Int)
    /// A person serviced the lock.
    case served
    /// Whether the lock locks by itself from then on.
    case autolock(Bool)
    /// The lock was about to move; from now on this park is pending.
    case away(String, autolock: Int?)
    /// The lock was in its park position.
    case parked
  }

  public var kind: Kind
  /// The time of the event.
  public var time: BenchTime

  /// Makes an event.
  public init(_ kind: Kind, at time: BenchTime) {
    self.kind = kind
    self.time = time
  }

  /// Whether it counts as a movement of the motor.
  public var isMovement: Bool {
    switch kind {
    case .movement, .ownMovement: true
    case .settled, .jam, .battery, .served, .autolock, .away, .parked: false
    }
  }
}

extension BenchTime {
  /// The event's moment, as time since the machine's start.
  ///
  /// An event of the current start is placed by the monotonic clock. The age of an earlier one follows from the
  /// calendar, but is at least the time since the start: a calendar that was set back makes the event younger, and so
  /// relaxes no limit. One that was set forward since the start is corrected by ``held(to:)``. (A change across a
  /// restart cannot be detected.)
  public func place(at now: BenchTime) -> Instant {
    if boot == now.boot { return min(uptime, now.uptime) }
    return min(now.uptime - max(.zero, now.wall - wall), .zero)
  }

  /// Whether the event is too old to count in any budget.
  public func isOver(at now: BenchTime) -> Bool { place(at: now) < now.uptime - ActuationBudget.shift }

  /// The same moment by the calendar of an earlier moment since the machine's start, if the calendar was set forward
  /// in between: older events have not aged by that.
  public func held(to moment: BenchTime) -> BenchTime {
    guard moment.boot == boot, moment.uptime <= uptime else { return self }
    var held = self
    held.wall = min(wall, moment.wall + (uptime - moment.uptime))
    return held
  }
}
