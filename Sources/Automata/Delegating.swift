public import Basics
import Synchronization

/// Machines whose states are, one at a time, the delegate of something: each owns its handling of what the
/// delegate is told.
public enum Delegating {
  /// What a state does about one thing that the delegate can be told, or about time.
  public struct Handler<Argument> {
    enum Trigger: Hashable {
      case callback(String)
      case timer(Interval)
    }

    let trigger: Trigger
    let targets: [String]
    let handle: (Argument?) -> String?

    /// Handles a callback and decides, by its argument, on one of the next states; `nil` stays in this one.
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

    /// Leads to another state when this one has lasted for a time.
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

  /// A state: what it does when it is set, and what it does while it is the delegate.
  public struct State<Argument> {
    let name: String
    let handlers: [Handler<Argument>]
    let transition: () -> Void

    /// Makes a state; handlers that several states share can be put in an array of their own.
    public init(
      _ name: String, handlers: [Handler<Argument>] = [], transition: @escaping () -> Void = {}
    ) {
      self.name = name
      self.handlers = handlers
      self.transition = transition
    }
  }

  /// What became of a callback.
  public enum Outcome: Equatable, Sendable {
    /// The state was set, perhaps to the same one again.
    case set(String)
    /// The state handled the callback and stays the delegate.
    case handled
    /// The state does not handle the callback.
    case ignored
    /// The state decided on a next state that it had not declared, and stays the delegate.
    case undeclared(String)
  }
}
