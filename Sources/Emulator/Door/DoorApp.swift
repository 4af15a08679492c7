public import Basics
import Automata
public import Conformance
import Synchronization

/// A door, built with named states and events as Stately's documentation builds it.
public typealias DoorDevice = AppDevice<DoorApp>

/// The door behind a ``DoorDevice``.
public final class DoorApp: EmulatedApp {
  /// The defects that a door can have.
  public enum Defect: String, CaseIterable, Sendable {
    /// Every third time the door is opened, it bounces and closes at once.
    case bouncing
    /// From the fifth closing on, the closed door prints no line.
    case silent
  }

  /// The two events.
  public static let stimuli = ["Open", "Close"]

  private let eventOpen: Stately.Event
  private let eventClose: Stately.Event
  private let stateMachine: Stately.StateMachine

  /// Makes a closed door.
  public init(_ start: StartCondition, defect: Defect?, display: Display) {
    let openings = Atomic(0)
    let closings = Atomic(-1)
    do {
      let stateClosed = try Stately.State(name: "Closed") { _ in
        display.show(status: "Closed")
        // The first entry is the start.
        let count = closings.add(1, ordering: .relaxed).newValue
        if defect != .silent || count < 5 { display.show(effect: "print(Closed)") }
        return nil
      }
      let stateOpened = try Stately.State(name: "Opened") { _ in
        display.show(status: "Opened")
        display.show(effect: "print(Opened)")
        let count = openings.add(1, ordering: .relaxed).newValue
        return defect == .bouncing && count % 3 == 0 ? (stateClosed, nil) : nil
      }
      eventOpen = try Stately.Event(
        name: "Open", transitions: [(fromState: stateClosed, toState: stateOpened)])
      eventClose = try Stately.Event(
        name: "Close", transitions: [(fromState: stateOpened, toState: stateClosed)])
      stateMachine = try Stately.StateMachine(
        name: "Door", defaultState: stateClosed, states: [stateClosed, stateOpened],
        events: [eventClose, eventOpen])
    } catch {
      preconditionFailure("the door is well defined: \(error)")
    }
  }

  /// Fires the event.
  public func perform(_ stimulus: String, at now: Instant) -> String? {
    do {
      try stateMachine.fireEvent(event: stimulus == "Open" ? eventOpen : eventClose)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
