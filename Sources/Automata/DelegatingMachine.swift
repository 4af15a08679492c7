public import Basics
import Synchronization

extension Delegating {
  /// A machine of delegate states.
  ///
  ///     call ──▶ the current state's handler ──▶ set the state ──▶ swap the delegate ──▶ transition()
  ///
  /// A timer runs only while its state lasts: setting the state, even to itself, restarts its timers and discards
  /// those of the old one. The machine reads no clock: time is an argument, and ``deadline`` tells when to call
  /// ``advance(to:)``. The machine carries out a request from within a handler after the handler has returned.
  public final class StateMachine<Argument: Sendable>: Sendable {
    /// The table behind the handlers.
    public let machine: Machine
    private let turns = Turns<Request>()
    private let work: Mutex<Work>
    private let current: Atomic<Int>
    /// In nanoseconds; atomic, so that handlers can read it too.
    private let nextTimer: Atomic<Int64>

    private enum Request: Sendable {
      case call(String, Argument, Instant)
      case set(Int, Instant)
      case advance(Instant)
    }

    private struct Work {
      var automaton: Automaton
      let states: [State<Argument>]
      /// The handler of each row of the definition.
      let handlers: [Handler<Argument>]
      let delegate: ((String) -> Void)?
    }

    /// Makes a machine in its initial state, without running the `transition` of that state.
    ///
    /// - Parameters:
    ///   - setDelegate: Receives the name of each state that becomes the delegate, before its `transition` runs.
    /// - Throws: All faults of the states and their handlers.
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

    /// When ``advance(to:)`` must next be called, or `nil` if no timer is running.
    public var deadline: Instant? {
      let time = Instant(nanoseconds: nextTimer.load(ordering: .acquiring))
      return time == .never ? nil : time
    }

    /// Sends a callback to the delegate.
    ///
    /// - Returns: The outcome, or `nil` if another request is in progress and this one waits for it.
    @discardableResult
    public func call(_ callback: String, _ argument: Argument, at now: Instant = .zero) -> Outcome? {
      request(.call(callback, argument, now))
    }

    /// Sets the state, regardless of the current one.
    ///
    /// - Throws: An error if no state has this name.
    public func set(state name: String, at now: Instant = .zero) throws(DefinitionError) {
      guard let state = machine.state(named: name) else { throw DefinitionError([.startNotDefined(name)]) }
      _ = request(.set(state, now))
    }

    /// Fires the timers that are due by `now` in order, each at its own time.
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
