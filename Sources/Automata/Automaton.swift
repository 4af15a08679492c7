public import Basics

/// A checked machine at work: in one state, since a moment, under some conditions.
///
/// The core under every way of writing a machine: it looks an event up in the dense table and moves. What an
/// effect does, and who chooses where the device may decide, is the caller's. It does no I/O and reads no
/// clock: time is an argument.
public struct Automaton: Sendable {
  /// The machine.
  public let machine: Machine
  /// The number of the state that it is in.
  public private(set) var state: Int
  /// When that state was entered: its timers count from here.
  public private(set) var entered: Instant
  /// The conditions that hold, as bits in the order of the definition.
  public var conditions: UInt64

  /// Sets a machine to work, in its usual start unless a state is given.
  public init(
    _ machine: Machine, in state: Int? = nil, under conditions: UInt64 = 0, at now: Instant = .zero
  ) {
    precondition(state.map { (0..<machine.stateCount).contains($0) } ?? true, "no state of this number")
    self.machine = machine
    self.state = state ?? machine.usualStart
    self.conditions = conditions
    entered = now
  }

  /// The edges that an event can take now: none is a refusal, several are the device's choice.
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

  /// Takes the first edge of an event and returns it; `nil` is a refusal, which changes nothing.
  public mutating func take(_ event: Int, at now: Instant = .zero) -> Machine.Edge? {
    guard let edge = edges(on: event, at: now).first else { return nil }
    take(edge, at: now)
    return edge
  }

  /// Takes one of the edges that ``edges(on:at:)`` returned.
  public mutating func take(_ edge: Machine.Edge, at now: Instant = .zero) {
    // A row that shifts changes the state and leaves its time running.
    if edge.enters { enter(edge.target, at: now) } else { state = edge.target }
  }

  /// Enters a state, whatever the table says: its timers start afresh.
  public mutating func enter(_ state: Int, at now: Instant = .zero) {
    precondition((0..<machine.stateCount).contains(state), "no state of this number")
    self.state = state
    entered = now
  }

  /// When the next timer of the state fires, or `nil` when none counts.
  public var deadline: Instant? {
    nextTimer.map { entered + $0.earliest }
  }

  /// Takes the next timer that fires by a moment, at its own time, or returns `nil` when none does.
  public mutating func takeTimer(by now: Instant) -> Machine.Edge? {
    guard let timer = nextTimer, entered + timer.earliest <= now else { return nil }
    take(timer, at: entered + timer.earliest)
    return timer
  }

  /// The first to fire; of several at one time, the one written first.
  private var nextTimer: Machine.Edge? {
    var first: Machine.Edge?
    for edge in machine.spontaneous[state]
    where edge.event == nil && edge.guard.holds(under: conditions) {
      if first.map({ edge.earliest < $0.earliest }) ?? true { first = edge }
    }
    return first
  }
}

/// What became of an input.
public enum TransitionResult<State: Hashable & Sendable, Input: Hashable & Sendable>: Hashable, Sendable {
  /// The machine went from one state to another, which may be the same.
  case success(old: State, new: State, input: Input)
  /// The table has nothing for the input in this state, and the machine stays in it.
  case failure(currentState: State, input: Input)
}
