import Synchronization

extension Stately {
  /// A machine of named states and events, safe to use from many threads.
  ///
  ///     fireEvent ──▶ look up ──▶ change state ──▶ entry action ──┬─▶ nil: done
  ///                                    ▲                         │
  ///                                    └───── StateChange ───────┘
  ///
  /// The state is not public, on purpose: a machine acts on its surroundings through entry actions. A transition to
  /// the current state changes nothing and runs no action.
  ///
  /// The machine fires one event at a time, under a lock that it holds until the entry actions are done. The actions
  /// run on the caller's thread, in order.
  ///
  /// The lock is not recursive, so the machine must detect an event fired from within an action before it takes the
  /// lock. The identity of a thread is not available here and would not suffice: an action may continue in a child task
  /// on another thread. The machine therefore detects the *dynamic scope* of an action. A task-local value, which
  /// works in tasks and in plain threads, lists the firings in progress. Each firing is marked when it ends, so that
  /// a task that an action started may fire events after the action. An action that waits for another *thread* to
  /// fire an event waits forever.
  public final class StateMachine: Sendable {
    /// The name.
    public let name: String
    /// The table behind the events.
    public let machine: Machine
    /// The maximum number of changes of state that one event may cause.
    public static let changeLimit = 1000

    private let states: [State]
    private let stateNumbers: [ObjectIdentifier: Int]
    private let eventNumbers: [ObjectIdentifier: Int]
    private let automaton: Mutex<Automaton>

    /// Makes a machine and enters its default state, whose entry action runs without an object.
    ///
    /// - Throws: A ``DefinitionError`` with all faults of the definition, or the error of the entry action.
    public init(name: String, defaultState: State, states: [State], events: [Event]) throws {
      let plan = Plan(name: name, defaultState: defaultState, states: states, events: events)
      let faults = plan.faults + plan.definition.faults().filter { !plan.faults.contains($0) }
      guard faults.isEmpty else { throw DefinitionError(faults) }
      self.name = name
      self.states = states
      machine = try Machine(plan.definition)
      stateNumbers = plan.stateNumbers
      eventNumbers = plan.eventNumbers
      automaton = Mutex(Automaton(machine))
      try automaton.withLock { automaton in
        try enter(automaton.state, with: nil, &automaton)
      }
    }

    /// Fires an event, with an object for the entry action of its target state.
    ///
    /// - Throws: A ``StateMachineError``, or the error of an entry action; the machine then stays in the last state
    ///   that it entered.
    public func fireEvent(event: Event, object: AnyObject? = nil) throws {
      guard !Firing.isUnderWay(of: self) else { throw StateMachineError.firedFromAction(event: event.name) }
      guard let number = eventNumbers[ObjectIdentifier(event)] else {
        throw StateMachineError.undefinedEvent(name: event.name)
      }
      try automaton.withLock { automaton in
        guard let edge = automaton.edges(on: number).first else {
          throw StateMachineError.noTransitionFromCurrentState(event: event.name)
        }
        if edge.enters { try enter(edge.target, with: object, &automaton) }
      }
    }

    /// Enters a state, and then the states that entry actions request.
    private func enter(_ state: Int, with object: AnyObject?, _ automaton: inout Automaton) throws {
      var next = state
      var object = object
      for _ in 0..<Self.changeLimit {
        automaton.enter(next)
        guard let action = states[next].stateEnterAction,
          let change = try Firing.run(self, { try action(object) })
        else { return }
        guard let number = stateNumbers[ObjectIdentifier(change.state)] else {
          throw StateMachineError.undefinedState(name: change.state.name)
        }
        if number == next { return }
        next = number
        object = change.object
      }
      throw StateMachineError.endlessChanges(limit: Self.changeLimit)
    }
  }

  /// A running entry action of a machine, as seen from within it.
  private final class Firing: Sendable {
    @TaskLocal private static var innermost: Firing?

    private let machine: ObjectIdentifier
    private let outer: Firing?
    private let isOver = Atomic(false)

    private init(_ machine: StateMachine) {
      self.machine = ObjectIdentifier(machine)
      outer = Self.innermost
    }

    /// Runs an action of a machine; until it returns, nothing in its scope may fire the machine.
    static func run(_ machine: StateMachine, _ action: () throws -> StateChange?) rethrows -> StateChange? {
      let firing = Firing(machine)
      defer { firing.isOver.store(true, ordering: .releasing) }
      return try $innermost.withValue(firing, operation: action)
    }

    /// Returns whether the caller is within an action of the machine.
    static func isUnderWay(of machine: StateMachine) -> Bool {
      var firing = innermost
      while let current = firing {
        if current.machine == ObjectIdentifier(machine), !current.isOver.load(ordering: .acquiring) {
          return true
        }
        firing = current.outer
      }
      return false
    }
  }

  /// The definition that states and events describe, and the faults that concern their identities.
  private struct Plan {
    var definition: MachineDefinition
    var faults: [DefinitionFault] = []
    var stateNumbers: [ObjectIdentifier: Int] = [:]
    var eventNumbers: [ObjectIdentifier: Int] = [:]

    init(name: String, defaultState: State, states: [State], events: [Event]) {
      definition = MachineDefinition(name: name, starts: [Start(defaultState.name)])
      for state in states {
        if stateNumbers.updateValue(definition.states.count, forKey: ObjectIdentifier(state)) != nil {
          faults.append(.duplicateState(state.name))
        } else if definition.states.contains(where: { $0.name == state.name }) {
          faults.append(.duplicateStateName(state.name))
        } else {
          definition.states.append(Automata.State(state.name))
        }
      }
      if stateNumbers[ObjectIdentifier(defaultState)] == nil {
        faults.append(.startNotDefined(defaultState.name))
      }
      for event in events {
        if eventNumbers.updateValue(definition.events.count, forKey: ObjectIdentifier(event)) != nil {
          faults.append(.duplicateEvent(event.name))
        } else if definition.events.contains(where: { $0.name == event.name }) {
          faults.append(.duplicateEventName(event.name))
        } else {
          definition.events.append(Automata.Event(event.name))
          for transition in event.transitions { add(transition, of: event) }
          addInternalTransitions(of: event)
        }
      }
    }

    private mutating func add(_ transition: Transition, of event: Event) {
      let from = transition.fromState
      let to = transition.toState
      if let from, stateNumbers[ObjectIdentifier(from)] == nil {
        faults.append(.fromNotDefined(event: event.name, state: from.name))
      }
      if stateNumbers[ObjectIdentifier(to)] == nil {
        faults.append(.toNotDefined(event: event.name, state: to.name))
      }
      definition.transitions.append(
        Automata.Transition(
          .event(event.name), from: from.map { .states([$0.name]) } ?? .wildcard,
          to: from === to ? .stay : .states([to.name])))
    }

    /// Adds rows so that a wildcard that leads to the current state changes nothing and does not enter it again.
    private mutating func addInternalTransitions(of event: Event) {
      for target in event.transitions.filter({ $0.fromState == nil }).map(\.toState)
      where !event.transitions.contains(where: { $0.fromState === target }) {
        definition.transitions.append(
          Automata.Transition(.event(event.name), from: .states([target.name]), to: .stay))
      }
    }
  }
}
