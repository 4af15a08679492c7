/// Machines made of named states and events, in the manner of Stately.
///
///     let closed = try Stately.State(name: "Closed") { object in … ; return nil }
///     let opened = try Stately.State(name: "Opened") { object in … ; return StateChange(closed, nil) }
///     let open = try Stately.Event(name: "Open", transitions: [(fromState: closed, toState: opened)])
///
/// Each initializer reports all faults at once, as a ``DefinitionError``.
public enum Stately {
  /// A further change of state that an entry action requests, with an object for the next entry action.
  public typealias StateChange = (state: State, object: AnyObject?)

  /// The action of a state on entry, with the object of the event.
  ///
  /// It runs on the thread that fires the event, and the machine processes nothing else meanwhile.
  public typealias StateEnterAction = @Sendable (AnyObject?) throws -> StateChange?

  /// A transition from one state, or from every state that no other transition of the event names.
  public typealias Transition = (fromState: State?, toState: State)

  /// A state with a name; two states are the same only if they are the same object.
  public final class State: Sendable {
    /// The name.
    public let name: String
    let stateEnterAction: StateEnterAction?

    /// Makes a state.
    ///
    /// - Throws: An error if the name is empty.
    public init(name: String, stateEnterAction: StateEnterAction? = nil) throws(DefinitionError) {
      guard !name.isEmpty else { throw DefinitionError([.emptyStateName]) }
      self.name = name
      self.stateEnterAction = stateEnterAction
    }
  }

  /// An event with a name; two events are the same only if they are the same object.
  public final class Event: Sendable {
    /// The name.
    public let name: String
    let transitions: [Transition]

    /// Makes an event from its transitions. A transition without a `fromState` is a wildcard; an event has at most
    /// one.
    ///
    /// - Throws: All faults of the event itself: no name, no transitions, several transitions from one state, several
    ///   wildcards.
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

  /// Why an event, or an entry action that followed, failed.
  public enum StateMachineError: Error, Equatable, Sendable {
    /// The machine does not have the event.
    case undefinedEvent(name: String)
    /// An entry action returned a state that the machine does not have.
    case undefinedState(name: String)
    /// The event has no transition from the current state, which does not change.
    case noTransitionFromCurrentState(event: String)
    /// An entry action fired an event; it must return a change of state instead.
    case firedFromAction(event: String)
    /// Entry actions changed the state repeatedly and reached the limit.
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
