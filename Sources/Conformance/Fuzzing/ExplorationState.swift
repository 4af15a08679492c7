public import Basics

/// Where a test stands before a choice: what a generator may know of it.
public struct ExplorationState: Equatable, Sendable {
  /// A number for the possible states and the conditions: equal where they are, whatever led there.
  public var position: UInt64
  /// The node of the specification when only one is possible, else -1.
  public var node: Int
  /// The stimuli that every possible state allows, as bits.
  public var legal: UInt64
  /// The stimuli that no possible state allows, as bits.
  public var forbidden: UInt64
  /// Those of the legal ones that change nothing in any possible state, as bits: the machine says that it stays.
  public var idle: UInt64
  /// When time alone will change what the model allows, or never; see ``Tracker/deadline``.
  public var deadline: Instant
  /// How long something may take at the most that can happen by itself now, whatever the conditions; zero where
  /// nothing is promised within any time.
  public var window: Interval
  /// Whether the device has something to do next; see ``Tracker/isAwaiting``.
  public var isAwaiting: Bool
  /// Whether time alone will change what the model allows: there is a deadline.
  public var hasDeadline: Bool { deadline != .never }
}
