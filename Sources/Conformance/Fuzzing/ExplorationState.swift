public import Basics

/// The situation of a test before a choice, as far as a generator may know it.
public struct ExplorationState: Equatable, Sendable {
  /// A hash of the possible states and the conditions: equal ones have equal hashes, whatever led there.
  public var position: UInt64
  /// The node of the specification if only one is possible; otherwise -1.
  public var node: Int
  /// The stimuli that every possible state allows, as bits.
  public var legal: UInt64
  /// The stimuli that no possible state allows, as bits.
  public var forbidden: UInt64
  /// The legal stimuli that change nothing in any possible state, timers included, as bits.
  public var idle: UInt64
  /// When time alone will change what the model allows; `.never` if it will not. See ``Tracker/deadline``.
  public var deadline: Instant
  /// The longest time by which an event that can happen by itself now must have happened, whatever the conditions. It
  /// is zero if the machine sets no such limit.
  public var window: Interval
  /// Whether the device must act next; see ``Tracker/isAwaiting``.
  public var isAwaiting: Bool
  /// The variables that the last stimulus changed, as bits.
  public var changed: UInt64 = 0
  /// Whether time alone will change what the model allows.
  public var hasDeadline: Bool { deadline != .never }
}
