public import Basics

/// What a lock is owed from before its first movement on, until whoever moves it has left it as it is to be left.
///
/// It is written down beside the movements: a run that is killed has said by then what is left to do.
public struct OwedPark: Equatable, Sendable {
  /// Where it is to be parked: `locked` or `unlocked`.
  public var goal: String
  /// After how many seconds it is to lock by itself, where that was changed.
  public var autolock: Int?
  /// Since when.
  public var since: WallTime

  /// Makes it.
  public init(_ goal: String, autolock: Int? = nil, since: WallTime) {
    self.goal = goal
    self.autolock = autolock
    self.since = since
  }
}

extension OwedPark: CustomStringConvertible {
  /// What is to be done, since when, and why: `owed its parking, locked, since 2026-11-21T03:40:00.123Z: whoever moved it
  /// then did not leave it so`.
  public var description: String {
    let also = autolock.map { ", and to lock by itself after \($0) s," } ?? ""
    return "owed its parking, \(goal),\(also) since \(since): whoever moved it then did not leave it so"
  }
}
