/// Binds tighter than `|`, so that `.input | .from => .to | effect` reads from left to right.
precedencegroup StateTransitionPrecedence {
  higherThan: AdditionPrecedence
}

infix operator => : StateTransitionPrecedence

/// Machines written as a list of mappings, `.input | .from => .to | effect`, in the manner of Stated and
/// RxAutomaton.
public enum Stated {
  /// A value, or a condition instead.
  enum Pattern<Value> {
    case value(Value)
    case condition((Value) -> Bool)
  }

  /// A transition from one state, or from all states that meet a condition: `.from => .to`.
  public struct StateTransition<State> {
    let from: Pattern<State>
    let to: State
  }

  /// A transition and the input that triggers it: `.input | .from => .to`.
  public struct StateMapping<State, Input> {
    let input: Pattern<Input>
    let transition: StateTransition<State>
  }

  /// A mapping and the effect that follows the change of state: `.input | .from => .to | effect`.
  public struct StateMappingWithEffect<State, Input> {
    /// Sends the machine an input; the closure may be kept and called later, from any thread.
    public typealias Send = @Sendable (Input) -> Void
    /// The effect of a change of state, with the input that triggered it.
    public typealias Effect = (Input, @escaping Send) -> Void
    /// The effect of a change of state, regardless of the input that triggered it.
    public typealias EffectWithoutInput = (@escaping Send) -> Void

    let mapping: StateMapping<State, Input>
    let effect: Effect
  }

  /// The condition that every input or state meets.
  public static func any<Value>(_ value: Value) -> Bool { true }
}

/// A transition from one state to another.
public func => <State>(from: State, to: State) -> Stated.StateTransition<State> {
  Stated.StateTransition(from: .value(from), to: to)
}

/// A transition from every state that meets a condition.
public func => <State>(from: @escaping (State) -> Bool, to: State) -> Stated.StateTransition<State> {
  Stated.StateTransition(from: .condition(from), to: to)
}

/// A mapping of one input.
public func | <State, Input>(
  input: Input, transition: Stated.StateTransition<State>
) -> Stated.StateMapping<State, Input> {
  Stated.StateMapping(input: .value(input), transition: transition)
}

/// A mapping of every input that meets a condition.
public func | <State, Input>(
  input: @escaping (Input) -> Bool, transition: Stated.StateTransition<State>
) -> Stated.StateMapping<State, Input> {
  Stated.StateMapping(input: .condition(input), transition: transition)
}

/// A mapping with an effect that can send further inputs.
public func | <State, Input>(
  mapping: Stated.StateMapping<State, Input>,
  effect: @escaping Stated.StateMappingWithEffect<State, Input>.EffectWithoutInput
) -> Stated.StateMappingWithEffect<State, Input> {
  Stated.StateMappingWithEffect(mapping: mapping, effect: { _, send in effect(send) })
}

/// A mapping with an effect that sees the input and can send further ones.
public func | <State, Input>(
  mapping: Stated.StateMapping<State, Input>,
  effect: @escaping Stated.StateMappingWithEffect<State, Input>.Effect
) -> Stated.StateMappingWithEffect<State, Input> {
  Stated.StateMappingWithEffect(mapping: mapping, effect: effect)
}
