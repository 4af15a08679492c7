public import Basics
import Synchronization

/// Machines whose current state is the delegate of an object: each state handles the callbacks while it is the
/// delegate.
public enum Delegating {
  /// The reaction of a state to one callback, or to time.
  public struct Handler<Argument> {
    enum Trigger: Hashable {
      case callback(String)
      case timer(Interval)
    }

    let trigger: Trigger
    let targets: [String]
    let handle: (Argument?) -> String?

    /// Handles a callback and returns the name of the next state from its argument; `nil` stays in this state.
    public static func on(
      _ callback: String, leadingTo targets: [String] = [], handle: @escaping (Argument) -> String?
    ) -> Handler {
      Handler(trigger: .callback(callback), targets: targets, handle: { $0.flatMap(handle) })
    }

    /// Handles a callback that always leads to the same state.
    public static func on(
      _ callback: String, leadingTo target: String, handle: @escaping (Argument) -> Void = { _ in }
    ) -> Handler {
      Handler(
        trigger: .callback(callback), targets: [target],
        handle: { argument in
          if let argument { handle(argument) }
          return target
        })
    }

    /// Leads to another state after this one has lasted for an interval.
    public static func after(
      _ interval: Interval, leadingTo target: String, handle: @escaping () -> Void = {}
    ) -> Handler {
      Handler(
        trigger: .timer(interval), targets: [target],
        handle: { _ in
          handle()
          return target
        })
    }
  }

  /// A state: what it does when the machine sets it, and how it handles callbacks while it is the delegate.
  public struct State<Argument> {
    let name: String
    let handlers: [Handler<Argument>]
    let transition: () -> Void

    /// Makes a state; several states can share an array of handlers.
    public init(
      _ name: String, handlers: [Handler<Argument>] = [], transition: @escaping () -> Void = {}
    ) {
      self.name = name
      self.handlers = handlers
      self.transition = transition
    }
  }

  /// The result of a callback.
  public enum Outcome: Equatable, Sendable {
    /// The machine set the state, possibly to the same one again.
    case set(String)
    /// The state handled the callback and stays the delegate.
    case handled
    /// The state does not handle the callback.
    case ignored
    /// The handler returned a state that is not among its targets; the current state stays the delegate.
    case undeclared(String)
  }
}
