/// Machines made of named states and events, in the manner of Stately.
///
///     let closed = try Stately.State(name: "Closed") { object in … ; return nil }
///     let opened = try Stately.State(name: "Opened") { object in … ; return StateChange(closed, nil) }
///     let open = try Stately.Event(name: "Open", transitions: [(fromState: closed, toState: opened)])
///
/// Every definition lists all that is wrong with it, as a ``DefinitionError``.
public enum Stately {
  /// A further change that an entry action asks for, with an object of its own for the next entry action.
  public typealias StateChange = (state: State, object: AnyObject?)

  /// What a state does on entry, with the object that came with the event.
  ///
  /// It runs on the thread that fires the event, while the machine takes nothing else.
  public typealias StateEnterAction = @Sendable (AnyObject?) throws -> StateChange?

  /// From one state, or from every state that no other transition of the event names, to another.
  public typealias Transition = (fromState: State?, toState: State)

  /// A state, known by its name and told apart by its identity.
  public final class State: Sendable {
    /// The name.
    public let name: String
    let stateEnterAction: StateEnterAction?

    /// Makes a state.
    ///
    /// - Throws: an error when the name is empty.
    public init(name: String, stateEnterAction: StateEnterAction? = nil) throws(DefinitionError) {
      guard !name.isEmpty else { throw DefinitionError([.emptyStateName]) }
      self.name = name
      self.stateEnterAction = stateEnterAction
    }
  }

  /// An event, known by its name and told apart by its identity.
  public final class Event: Sendable {
    /// The name.
    public let name: String
    let transitions: [Transition]

    /// Makes an event of its transitions; one without a `fromState` is a wildcard, of which there can be one.
    ///
    /// - Throws: everything that is wrong with the event alone: no name, no transitions, several from one
    ///   state, several wildcards.
    public init(name: String, transitions: [Transition]) throws(DefinitionError) {
      var faults: [DefinitionFault] = []
      if name.isEmpty { faults.append(.emptyEventName) }
      if transitions.isEmpty { faults.append(.noTransitions(event: name)) }
      var seen = Set<ObjectIdentifier>()
      for case let state? in transitions.map(\.fromState) where !seen.insert(ObjectIdentifier(state)).inserted
      {
        faults.append(.duplicateFrom(event: name, state: state.name))
      }
      if transitions.count(where: { $0.fromState == nil }) > 1 {
        faults.append(.severalWildcards(event: name))
      }
      guard faults.isEmpty else { throw DefinitionError(faults) }
      self.name = name
      self.transitions = transitions
    }
  }

  /// Why an event, or what followed from it, did not go through.
  public enum StateMachineError: Error, Equatable, Sendable {
    /// The machine does not have the event.
    case undefinedEvent(name: String)
    /// An entry action returned a state that the machine does not have.
    case undefinedState(name: String)
    /// The event has no transition from the state that the machine is in, which stays as it was.
    case noTransitionFromCurrentState(event: String)
    /// An entry action fired an event; it must return a change of state instead.
    case firedFromAction(event: String)
    /// Entry actions changed the state again and again without coming to rest.
    case endlessChanges(limit: Int)
  }
}

extension Stately.StateMachineError: CustomStringConvertible {
  /// What went wrong, in one sentence.
  public var description: String {
    switch self {
    case .undefinedEvent(let name): "event '\(name)' is not defined in this machine"
    case .undefinedState(let name): "an entry action returned state '\(name)', which is not defined"
    case .noTransitionFromCurrentState(let event): "'\(event)' has no transition from the current state"
    case .firedFromAction(let event):
      "'\(event)' was fired from within an entry action, which must return a change of state instead"
    case .endlessChanges(let limit): "entry actions changed the state \(limit) times without coming to rest"
    }
  }
}
