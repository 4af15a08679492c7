public import Basics

/// A running machine: its current state, the time it entered that state, and the conditions that hold.
///
/// Every notation of a machine runs on this core, which looks an event up in the dense table and moves. The caller
/// carries out the effects, and chooses an edge where the device may decide. The type does no I/O and reads no clock:
/// time is an argument.
public struct Automaton: Sendable {
  /// The machine.
  public let machine: Machine
  /// The number of the current state.
  public private(set) var state: Int
  /// When the machine entered that state: its timers count from here.
  public private(set) var entered: Instant
  /// The conditions that hold, as bits in the order of the definition.
  public var conditions: UInt64

  /// Starts a machine, in its usual start state by default.
  public init(
    _ machine: Machine, in state: Int? = nil, under conditions: UInt64 = 0, at now: Instant = .zero
  ) {
    precondition(state.map { (0..<machine.stateCount).contains($0) } ?? true, "no state of this number")
    self.machine = machine
    self.state = state ?? machine.usualStart
    self.conditions = conditions
    entered = now
  }

  /// Returns the edges that an event can take now. No edge means a refusal; of several, the device chooses one.
  public func edges(on event: Int, at now: Instant = .zero) -> [Machine.Edge] {
    let caused = machine.edges(from: state, on: event)
    let spontaneous = machine.spontaneous[state]
    if spontaneous.isEmpty, caused.allSatisfy({ $0.guard.isEmpty }) { return caused }
    let since = now - entered
    return caused.filter { $0.guard.holds(under: conditions) }
      + spontaneous.filter {
        $0.event == event && $0.guard.holds(under: conditions) && $0.earliest <= since
          && ($0.plus != nil || since <= $0.latest)
      }
  }

  /// Takes the first edge of an event and returns it, or returns `nil` for a refusal, which changes nothing.
  public mutating func take(_ event: Int, at now: Instant = .zero) -> Machine.Edge? {
    guard let edge = edges(on: event, at: now).first else { return nil }
    take(edge, at: now)
    return edge
  }

  /// Takes one of the edges that ``edges(on:at:)`` returned.
  public mutating func take(_ edge: Machine.Edge, at now: Instant = .zero) {
    // A shift changes the state but does not restart its time.
    if edge.enters { enter(edge.target, at: now) } else { state = edge.target }
  }

  /// Enters a state, regardless of the table, and restarts its timers.
  public mutating func enter(_ state: Int, at now: Instant = .zero) {
    precondition((0..<machine.stateCount).contains(state), "no state of this number")
    self.state = state
    entered = now
  }

  /// When the next timer of the state fires, or `nil` if no timer is running.
  public var deadline: Instant? {
    nextTimer.map { entered + $0.earliest }
  }

  /// Takes the next timer that is due by `now`, at its own time, or returns `nil` if none is due.
  public mutating func takeTimer(by now: Instant) -> Machine.Edge? {
    guard let timer = nextTimer, entered + timer.earliest <= now else { return nil }
    take(timer, at: entered + timer.earliest)
    return timer
  }

  /// The timer that fires first; of several at the same time, the first in the definition.
  private var nextTimer: Machine.Edge? {
    var first: Machine.Edge?
    for edge in machine.spontaneous[state]
    where edge.event == nil && edge.guard.holds(under: conditions) {
      if first.map({ edge.earliest < $0.earliest }) ?? true { first = edge }
    }
    return first
  }
}

/// The result of an input.
public enum TransitionResult<State: Hashable & Sendable, Input: Hashable & Sendable>: Hashable, Sendable {
  /// The machine made a transition, possibly to the same state.
  case success(old: State, new: State, input: Input)
  /// The table has no transition for the input in this state, and the state does not change.
  case failure(currentState: State, input: Input)
}
