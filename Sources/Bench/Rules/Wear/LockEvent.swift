public import Basics

/// Something that happened to a lock, as it is kept for whoever comes later.
public struct LockEvent: Hashable, Sendable {
  /// What happened.
  public enum Kind: Hashable, Sendable {
    /// The motor was about to move: what moved it, in one word.
    case movement(String)
    /// One movement was paid for in advance that the lock makes by itself, nobody knows when.
    case ownMovement
    /// What it was to do by itself is done, or was not needed.
    case settled
    /// A jam or a stall: what it came of.
    case jam(String)
    /// What the battery was, in percent.
    case battery(Int)
    /// A person saw to the lock.
    case served
    /// Whether the lock locks by itself from then on.
    case autolock(Bool)
    /// The lock was about to be moved, and what it is owed since.
    case away(String, autolock: Int?)
    /// The lock was as it is to be left.
    case parked
  }

  public var kind: Kind
  /// When.
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
  /// Where it is on the scale of the time since the machine's start.
  ///
  /// A moment of this start is placed by the clock that nobody sets. One before it is as old as the calendar says and at
  /// least as old as the start: a calendar that was set back makes it younger, and so grants nothing. One that was set
  /// forward since the start is held to what it said before: ``held(to:)``. (That it was set forward across a start cannot
  /// be known.)
  public func place(at now: BenchTime) -> Instant {
    if boot == now.boot { return min(uptime, now.uptime) }
    return min(now.uptime - max(.zero, now.wall - wall), .zero)
  }

  /// Whether it is too long ago to count in any budget.
  public func isOver(at now: BenchTime) -> Bool { place(at: now) < now.uptime - ActuationBudget.shift }

  /// The same moment by the calendar as it was at an earlier one in this start of the machine, if it was set forward
  /// since: what older events tell has not become older by that.
  public func held(to moment: BenchTime) -> BenchTime {
    guard moment.boot == boot, moment.uptime <= uptime else { return self }
    var held = self
    held.wall = min(wall, moment.wall + (uptime - moment.uptime))
    return held
  }
}
