import Synchronization

/// Machines for flows that guide a user through steps: each transition has a block before it and a block after it.
public enum Flow {
  /// One step of a flow.
  public struct Transition<State: Hashable & Sendable, Event: Hashable & Sendable> {
    let event: Event
    let from: State
    let to: State
    let preBlock: () -> Void
    let postBlock: () -> Void

    /// Makes a transition; the first block runs before the state changes, the second after it.
    public init(
      with event: Event, from: State, to: State, preBlock: @escaping () -> Void = {},
      postBlock: @escaping () -> Void = {}
    ) {
      self.event = event
      self.from = from
      self.to = to
      self.preBlock = preBlock
      self.postBlock = postBlock
    }
  }

  /// A machine of flow transitions.
  ///
  ///     process(event:) ──▶ look up ──▶ pre-block ──▶ change state ──▶ post-block
  ///
  /// The machine processes one event at a time. An event from within a block, or from another thread during a
  /// transition, waits until that transition is complete.
  public final class StateMachine<State: Hashable & Sendable, Event: Hashable & Sendable>: Sendable {
    /// The table behind the transitions.
    public let machine: Machine
    private let states: [State]
    private let events: [Event: Int]
    private let turns = Turns<Event>()
    private let work: Mutex<Work>
    private let current: Atomic<Int>

    private struct Work {
      var automaton: Automaton
      let transitions: [Transition<State, Event>]
      let onTransition: ((TransitionResult<State, Event>) -> Void)?
    }

    /// Makes a machine of transitions in its initial state.
    ///
    /// - Parameters:
    ///   - onTransition: Receives the result of each event, in order, after its post-block.
    /// - Throws: All faults of the transitions.
    public init(
      name: String, initialState: State, transitions: sending [Transition<State, Event>],
      onTransition: sending ((TransitionResult<State, Event>) -> Void)? = nil
    ) throws(DefinitionError) {
      var states = Roster<State>()
      var events = Roster<Event>()
      states.number(initialState)
      for transition in transitions {
        states.number(transition.from)
        states.number(transition.to)
        events.number(transition.event)
      }
      machine = try Machine(
        MachineDefinition(
          name: name, states: states.names.map { Automata.State($0) },
          events: events.names.map { Automata.Event($0) },
          transitions: transitions.map { transition in
            Automata.Transition(
              .event(String(describing: transition.event)),
              from: .states([String(describing: transition.from)]),
              to: .states([String(describing: transition.to)]))
          },
          starts: [Start(String(describing: initialState))]))
      self.states = states.values
      self.events = events.numbers
      current = Atomic(0)
      work = Mutex(
        Work(automaton: Automaton(machine), transitions: transitions, onTransition: onTransition))
    }

    /// The current state: the old one during a pre-block, the new one during a post-block.
    public var currentState: State { states[current.load(ordering: .acquiring)] }

    /// Processes an event.
    ///
    /// - Returns: The result, or `nil` if another event is in progress and this one waits for it; then only
    ///   `onTransition` receives the result.
    @discardableResult
    public func process(event: Event) -> TransitionResult<State, Event>? {
      var result: TransitionResult<State, Event>?
      _ = turns.take(event) { event in
        let taken = take(event)
        if result == nil { result = taken }
      }
      return result
    }

    private func take(_ event: Event) -> TransitionResult<State, Event> {
      work.withLock { work in
        let old = states[work.automaton.state]
        guard let number = events[event], let edge = work.automaton.edges(on: number).first else {
          let result = TransitionResult.failure(currentState: old, input: event)
          work.onTransition?(result)
          return result
        }
        work.transitions[edge.transition].preBlock()
        work.automaton.take(edge)
        current.store(edge.target, ordering: .releasing)
        work.transitions[edge.transition].postBlock()
        let result = TransitionResult.success(old: old, new: states[edge.target], input: event)
        work.onTransition?(result)
        return result
      }
    }
  }
}
