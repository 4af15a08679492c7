import Synchronization

extension Stated {
  /// A machine made of mappings.
  ///
  ///     send(input:) ──▶ look up ──▶ change state ──▶ report ──▶ effect ──▶ send(input:) …
  ///
  /// If several mappings match an input and the state, the first one applies. The machine processes one input at a
  /// time. An input that is sent meanwhile, from an effect or from another thread, waits. So an effect can send
  /// inputs without a deadlock, and effects keep the order of their transitions.
  ///
  /// The mappings become a checked, dense ``machine``. Every state that can be reached occurs in a mapping, so a
  /// condition on states is resolved when the machine is made. A condition on inputs is an event of its own.
  public final class StateMachine<State: Hashable & Sendable, Input: Hashable & Sendable>: Sendable {
    /// The table behind the mappings.
    public let machine: Machine
    private let states: [State]
    private let events: [Input: Int]
    private let turns = Turns<Input>()
    private let work: Mutex<Work>
    private let current: Atomic<Int>

    /// Makes a machine of mappings in its initial state.
    ///
    /// - Parameters:
    ///   - onTransition: Receives the result of each input, in order, before its effect.
    /// - Throws: All faults of the mappings.
    public convenience init(
      name: String, initialState: State, mappings: sending [StateMappingWithEffect<State, Input>],
      onTransition: sending ((TransitionResult<State, Input>) -> Void)? = nil
    ) throws(DefinitionError) {
      let plan = Plan(name: name, initialState: initialState, mappings: mappings)
      let machine = try Machine(plan.definition)
      self.init(
        machine, states: plan.states.values, events: plan.inputs.numbers,
        Work(
          automaton: Automaton(machine), conditions: plan.conditions, effects: plan.effects,
          onTransition: onTransition))
    }

    /// Initializes the properties apart from the throwing initializer: the optimizer of Swift 6.3.1 fails on an
    /// initializer that does both.
    private init(_ machine: Machine, states: [State], events: [Input: Int], _ work: sending Work) {
      self.machine = machine
      self.states = states
      self.events = events
      current = Atomic(0)
      self.work = Mutex(work)
    }

    /// Makes a machine of mappings in the program itself; faulty mappings trap.
    public convenience init(
      initialState: State, mappings: sending [StateMappingWithEffect<State, Input>],
      onTransition: sending ((TransitionResult<State, Input>) -> Void)? = nil
    ) {
      do {
        try self.init(
          name: String(describing: State.self), initialState: initialState, mappings: mappings,
          onTransition: onTransition)
      } catch {
        preconditionFailure(error.description)
      }
    }

    /// The current state; during an effect, the state to which its transition led.
    public var currentState: State { states[current.load(ordering: .acquiring)] }

    /// Processes an input, and then the inputs that its effect sends.
    ///
    /// - Returns: The result, or `nil` if another input is in progress and this one waits for it; then only
    ///   `onTransition` receives the result.
    @discardableResult
    public func send(input: Input) -> TransitionResult<State, Input>? {
      var result: TransitionResult<State, Input>?
      _ = turns.take(input) { input in
        let taken = take(input)
        if result == nil { result = taken }
      }
      return result
    }

    private func take(_ input: Input) -> TransitionResult<State, Input> {
      work.withLock { work in
        let old = states[work.automaton.state]
        guard let edge = work.edge(for: events[input], or: input) else {
          let result = TransitionResult.failure(currentState: old, input: input)
          work.onTransition?(result)
          return result
        }
        work.automaton.take(edge)
        current.store(edge.target, ordering: .releasing)
        let result = TransitionResult.success(old: old, new: states[edge.target], input: input)
        work.onTransition?(result)
        work.effects[edge.transition](input) { self.send(input: $0) }
        return result
      }
    }

    /// The data that only the current turn accesses.
    private struct Work {
      var automaton: Automaton
      let conditions: [(event: Int, isMet: (Input) -> Bool)]
      /// The effect of each row of the definition.
      let effects: [StateMappingWithEffect<State, Input>.Effect]
      let onTransition: ((TransitionResult<State, Input>) -> Void)?

      /// Returns the edge of the first mapping that matches: it names the input, or the input meets its condition.
      func edge(for event: Int?, or input: Input) -> Machine.Edge? {
        var best = event.flatMap { automaton.edges(on: $0).first }
        for condition in conditions {
          guard let edge = automaton.edges(on: condition.event).first,
            edge.transition < best?.transition ?? .max, condition.isMet(input)
          else { continue }
          best = edge
        }
        return best
      }
    }

    /// The definition that mappings describe.
    private struct Plan {
      var states = Roster<State>()
      var inputs = Roster<Input>()
      var conditions: [(event: Int, isMet: (Input) -> Bool)] = []
      /// The effect of each row of the definition.
      var effects: [StateMappingWithEffect<State, Input>.Effect] = []
      var definition: MachineDefinition

      init(name: String, initialState: State, mappings: [StateMappingWithEffect<State, Input>]) {
        definition = MachineDefinition(name: name)
        states.number(initialState)
        for mapping in mappings.map(\.mapping) {
          if case .value(let from) = mapping.transition.from { states.number(from) }
          states.number(mapping.transition.to)
          if case .value(let input) = mapping.input { inputs.number(input) }
        }
        definition.states = states.names.map { Automata.State($0) }
        definition.events = inputs.names.map { Event($0) }
        definition.starts = [Start(definition.states[0].name)]
        for mapping in mappings { add(mapping.mapping, mapping.effect) }
      }

      private mutating func add(
        _ mapping: StateMapping<State, Input>, _ effect: @escaping StateMappingWithEffect<State, Input>.Effect
      ) {
        let event: String
        switch mapping.input {
        case .value(let input):
          event = String(describing: input)
        case .condition(let isMet):
          event = "condition \(conditions.count + 1)"
          conditions.append((definition.events.count, isMet))
          definition.events.append(Event(event))
        }
        let from = sources(of: mapping.transition.from, on: event)
        // A condition whose states are all covered by earlier mappings adds no row.
        if from.isEmpty, case .condition = mapping.transition.from { return }
        effects.append(effect)
        definition.transitions.append(
          Transition(
            .event(event), from: .states(from),
            to: .states([String(describing: mapping.transition.to)])))
      }

      /// Returns the source states of a mapping; for a condition, those that no earlier mapping of the event covers.
      private func sources(of pattern: Pattern<State>, on event: String) -> [String] {
        switch pattern {
        case .value(let state):
          return [String(describing: state)]
        case .condition(let isMet):
          var taken = Set<String>()
          for row in definition.transitions where row.trigger == .event(event) {
            if case .states(let names) = row.from { taken.formUnion(names) }
          }
          return states.values.filter(isMet).map { String(describing: $0) }.filter { !taken.contains($0) }
        }
      }
    }
  }
}
