public import Basics

/// The park that is pending from before the lock's first movement until a run has left it in its park position.
///
/// It is stored with the movements, so that it survives a killed run.
public struct PendingPark: Equatable, Sendable {
  /// The park position: `locked` or `unlocked`.
  public var goal: String
  /// The autolock delay to restore, in seconds, if it was changed.
  public var autolock: Int?
  /// When the park became pending.
  public var since: WallTime

  /// Makes a pending park.
  public init(_ goal: String, autolock: Int? = nil, since: WallTime) {
    self.goal = goal
    self.autolock = autolock
    self.since = since
  }
}

extension PendingPark: CustomStringConvertible {
  /// The position, since when, and why: `to be parked, locked, since 2026-11-21T03:40:00.123Z: the run that
  /// moved it then did not park it`.
  public var description: String {
    let also = autolock.map { ", and to lock by itself after \($0) s," } ?? ""
    return "to be parked, \(goal),\(also) since \(since): the run that moved it then did not park it"
  }
}
