public import Basics
import Synchronization

extension Delegating {
  /// A machine made of such states.
  ///
  ///     call ──▶ the current state's handler ──▶ set the state ──▶ swap the delegate ──▶ transition()
  ///
  /// A timer counts only while its state lasts: setting the state, even to itself, starts its timers afresh
  /// and forgets the old one's. It reads no clock: time is an argument, and ``deadline`` says when
  /// ``advance(to:)`` must be called. What is asked from within a handler is done when the handler is through.
  public final class StateMachine<Argument: Sendable>: Sendable {
    /// The table behind the handlers.
    public let machine: Machine
    private let turns = Turns<Request>()
    private let work: Mutex<Work>
    private let current: Atomic<Int>
    /// In nanoseconds, so that handlers can read it too.
    private let nextTimer: Atomic<Int64>

    private enum Request: Sendable {
      case call(String, Argument, Instant)
      case set(Int, Instant)
      case advance(Instant)
    }

    private struct Work {
      var automaton: Automaton
      let states: [State<Argument>]
      /// By row of the definition.
      let handlers: [Handler<Argument>]
      let delegate: ((String) -> Void)?
    }

    /// Makes a machine in one of its states, whose `transition` is not run: nothing was set yet.
    ///
    /// - Parameters:
    ///   - setDelegate: is told the state that becomes the delegate, before its `transition` is run.
    /// - Throws: everything that is wrong with the states and their handlers.
    public init(
      name: String, initialState: String, states: sending [State<Argument>],
      setDelegate: sending ((String) -> Void)? = nil
    ) throws(DefinitionError) {
      var events = Roster<String>()
      var rows: [Transition] = []
      for state in states {
        for handler in state.handlers {
          rows.append(Self.row(handler, of: state.name))
          if case .callback(let name) = handler.trigger { events.number(name) }
        }
      }
      machine = try Machine(
        MachineDefinition(
          name: name, states: states.map { Automata.State($0.name) }, events: events.values.map { Event($0) },
          transitions: rows, starts: [Start(initialState)]))
      let automaton = Automaton(machine)
      current = Atomic(automaton.state)
      nextTimer = Atomic((automaton.deadline ?? .never).nanoseconds)
      work = Mutex(
        Work(
          automaton: automaton, states: states, handlers: states.flatMap(\.handlers), delegate: setDelegate))
    }

    private static func row(_ handler: Handler<Argument>, of state: String) -> Transition {
      let to: Transition.Target = handler.targets.isEmpty ? .stay : .states(handler.targets)
      switch handler.trigger {
      case .callback(let name): return Transition(.event(name), from: .states([state]), to: to)
      case .timer(let interval):
        return Transition(.timer, from: .states([state]), to: to, window: .after(interval))
      }
    }

    /// The name of the state that is the delegate.
    public var state: String { machine.definition.states[current.load(ordering: .acquiring)].name }

    /// When ``advance(to:)`` must next be called, or `nil` while no timer counts.
    public var deadline: Instant? {
      let time = Instant(nanoseconds: nextTimer.load(ordering: .acquiring))
      return time == .never ? nil : time
    }

    /// Tells the delegate something.
    ///
    /// - Returns: what became of it, or `nil` when something else is being dealt with and this comes after it.
    @discardableResult
    public func call(_ callback: String, _ argument: Argument, at now: Instant = .zero) -> Outcome? {
      request(.call(callback, argument, now))
    }

    /// Sets the state, whichever is the delegate now.
    ///
    /// - Throws: an error when there is no state of this name.
    public func set(state name: String, at now: Instant = .zero) throws(DefinitionError) {
      guard let state = machine.state(named: name) else { throw DefinitionError([.startNotDefined(name)]) }
      _ = request(.set(state, now))
    }

    /// Fires the timers that are due by a moment, in their order, each at its own time.
    public func advance(to now: Instant) {
      _ = request(.advance(now))
    }

    private func request(_ request: Request) -> Outcome? {
      var outcome: Outcome?
      _ = turns.take(request) { request in
        let done = work.withLock { work in carryOut(request, &work) }
        if outcome == nil { outcome = done }
      }
      return outcome
    }

    private func carryOut(_ request: Request, _ work: inout Work) -> Outcome {
      switch request {
      case .call(let callback, let argument, let now):
        guard let event = machine.event(named: callback),
          let edge = work.automaton.edges(on: event, at: now).first
        else { return .ignored }
        let handler = work.handlers[edge.transition]
        guard let next = handler.handle(argument) else { return .handled }
        guard handler.targets.contains(next), let state = machine.state(named: next) else {
          return .undeclared(next)
        }
        set(state, at: now, &work)
        return .set(next)

      case .set(let state, let now):
        set(state, at: now, &work)
        return .set(machine.definition.states[state].name)

      case .advance(let now):
        var outcome = Outcome.handled
        while let due = work.automaton.deadline, due <= now, let edge = work.automaton.takeTimer(by: now) {
          _ = work.handlers[edge.transition].handle(nil)
          set(edge.target, at: due, &work)
          outcome = .set(machine.definition.states[edge.target].name)
        }
        return outcome
      }
    }

    private func set(_ state: Int, at now: Instant, _ work: inout Work) {
      work.automaton.enter(state, at: now)
      current.store(state, ordering: .releasing)
      nextTimer.store((work.automaton.deadline ?? .never).nanoseconds, ordering: .releasing)
      work.delegate?(work.states[state].name)
      work.states[state].transition()
    }
  }
}
