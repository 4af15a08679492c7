import Automata
import Synchronization
import TestSupport
import Testing

private typealias State = Stately.State
private typealias Event = Stately.Event
private typealias StateMachine = Stately.StateMachine
private typealias StateChange = Stately.StateChange
private typealias StateMachineError = Stately.StateMachineError

/// What entry actions wrote, in order.
private final class Log: Sendable {
  private let entries = Mutex<[String]>([])
  var lines: [String] { entries.withLock { $0 } }
  func write(_ line: String) { entries.withLock { $0.append(line) } }
}

/// An object that goes with an event.
private final class Visitor: Sendable {
  let name: String
  init(_ name: String) { self.name = name }
}

@Suite("Stately: named states and events")
struct StatelyTests {
  // swift-format-ignore
  @Test("the door of the documentation opens and closes, and each state writes its line")
  func door() {
    let log = Log()
    @Sendable func print(_ line: String) { log.write(line) }

    var stateClosed: State!
    var stateOpened: State!
    var eventOpen: Event!
    var eventClose: Event!
    var stateMachine: StateMachine!

    do {
        // Define the states that the state machine can be in.
        stateClosed = try State(name: "Closed") { (object: AnyObject?) -> StateChange? in
            // Log.
            print("Closed")

            // Return, leaving state unchanged.
            return nil
        }
        stateOpened = try State(name: "Opened") { (object: AnyObject?) -> StateChange? in
            // Log.
            print("Opened")

            // Return, leaving state unchanged.
            return nil
        }

        // Define the events that can be sent to the state machine.
        eventOpen  = try Event(name: "Open",   transitions: [(fromState: stateClosed, toState: stateOpened)])
        eventClose = try Event(name: "Close",  transitions: [(fromState: stateOpened, toState: stateClosed)])

        // Initialize the state machine.
        stateMachine = try StateMachine(name: "Door",
                                        defaultState: stateClosed,
                                        states: [stateClosed, stateOpened],
                                        events: [eventClose, eventOpen])

        // Fire events to the state machine.
        try stateMachine.fireEvent(event: eventOpen)
        try stateMachine.fireEvent(event: eventClose)
    } catch {
        // Handle errors.
        Issue.record(error)
    }
    expect(log.lines, ["Closed", "Opened", "Closed"])
    expect(stateMachine.machine.definition.transitions.map(\.from), [.states(["Opened"]), .states(["Closed"])])
  }

  @Test(
    "an entry action receives the event's object and may change the state at once, with an object of its own")
  func immediateChange() throws {
    let log = Log()
    let porch = try State(name: "Porch") { object in
      log.write("porch: \((object as? Visitor)?.name ?? "nobody")")
      return nil
    }
    let hall = try State(name: "Hall") { object in
      let name = (object as? Visitor)?.name ?? "nobody"
      log.write("hall: \(name)")
      return name == "thief" ? StateChange(porch, Visitor("thrown out")) : nil
    }
    let enter = try Event(name: "enter", transitions: [(fromState: porch, toState: hall)])
    let leave = try Event(name: "leave", transitions: [(fromState: hall, toState: porch)])
    let house = try StateMachine(
      name: "House", defaultState: porch, states: [porch, hall], events: [enter, leave])
    try house.fireEvent(event: enter, object: Visitor("ada"))
    try house.fireEvent(event: leave)
    try house.fireEvent(event: enter, object: Visitor("thief"))
    try house.fireEvent(event: enter)
    expect(
      log.lines,
      ["porch: nobody", "hall: ada", "porch: nobody", "hall: thief", "porch: thrown out", "hall: nobody"])
  }

  @Test("a wildcard serves every state that has no transition of its own, and rests where it already is")
  func wildcard() throws {
    let log = Log()
    let states = try ["A", "B", "C"].map { name in
      try State(name: name) { _ in
        log.write(name)
        return nil
      }
    }
    let next = try Event(name: "next", transitions: [(states[0], states[1]), (states[1], states[2])])
    let home = try Event(name: "home", transitions: [(nil, states[0]), (states[2], states[1])])
    let machine = try StateMachine(name: "M", defaultState: states[0], states: states, events: [next, home])
    for event in [home, next, home, next, next, home, home] { try machine.fireEvent(event: event) }
    expect(log.lines, ["A", "B", "A", "B", "C", "B", "A"])
  }

  @Test("an event of another machine, one without a transition, a foreign next state and a ring are errors")
  func errors() throws {
    let log = Log()
    let lost = try State(name: "Lost")
    let a = try State(name: "A")
    let astray = try State(name: "Astray") { _ in StateChange(lost, nil) }
    let go = try Event(name: "go", transitions: [(fromState: a, toState: astray)])
    let back = try Event(name: "back", transitions: [(fromState: astray, toState: a)])
    let other = try Event(name: "go", transitions: [(fromState: a, toState: astray)])
    let machine = try StateMachine(name: "M", defaultState: a, states: [a, astray], events: [go, back])
    #expect(throws: StateMachineError.undefinedEvent(name: "go")) { try machine.fireEvent(event: other) }
    #expect(throws: StateMachineError.noTransitionFromCurrentState(event: "back")) {
      try machine.fireEvent(event: back)
    }
    #expect(throws: StateMachineError.undefinedState(name: "Lost")) { try machine.fireEvent(event: go) }
    try machine.fireEvent(event: back)

    struct Jam: Error {}
    let jammed = try State(name: "Jammed") { _ in throw Jam() }
    let jam = try Event(name: "jam", transitions: [(fromState: a, toState: jammed)])
    let stiff = try StateMachine(name: "M", defaultState: a, states: [a, jammed], events: [jam])
    #expect(throws: Jam.self) { try stiff.fireEvent(event: jam) }

    let hub = Mutex<State?>(nil)
    let rim = try State(name: "Rim") { _ in hub.withLock { $0 }.map { StateChange($0, nil) } }
    let ring = try State(name: "Ring") { _ in
      log.write("round")
      return StateChange(rim, nil)
    }
    hub.withLock { $0 = ring }
    let spin = try Event(name: "spin", transitions: [(fromState: a, toState: ring)])
    let wheel = try StateMachine(name: "M", defaultState: a, states: [a, rim, ring], events: [spin])
    #expect(throws: StateMachineError.endlessChanges(limit: 1000)) { try wheel.fireEvent(event: spin) }
    expect(log.lines.count, 500)
  }

  @Test("firing from within an action is an error and no deadlock, and afterwards the machine goes on")
  func reentrancy() async throws {
    let log = Log()
    let machine = Mutex<(StateMachine, Event)?>(nil)
    let tasks = Mutex<[Task<Void, any Error>]>([])
    let a = try State(name: "A")
    let b = try State(name: "B") { _ in
      guard let (machine, back) = machine.withLock({ $0 }) else { return nil }
      do { try machine.fireEvent(event: back) } catch { log.write("\(error)") }
      // A task inherits the scope of the action, and may fire once the action is over.
      tasks.withLock { $0.append(Task { try await fire(back, at: machine) }) }
      return nil
    }
    @Sendable func fire(_ event: Event, at machine: StateMachine) async throws {
      while true {
        do { return try machine.fireEvent(event: event) } catch StateMachineError.firedFromAction {}
        await Task.yield()
      }
    }
    let go = try Event(name: "go", transitions: [(fromState: a, toState: b)])
    let back = try Event(name: "back", transitions: [(fromState: b, toState: a)])
    let built = try StateMachine(name: "M", defaultState: a, states: [a, b], events: [go, back])
    machine.withLock { $0 = (built, back) }
    try built.fireEvent(event: go)
    for task in tasks.withLock({ $0 }) { try await task.value }
    try built.fireEvent(event: go)
    for task in tasks.withLock({ $0 }) { try await task.value }
    let notice =
      "'back' was fired from within an entry action, which must return a change of state instead"
    expect(log.lines, [notice, notice])
    machine.withLock { $0 = nil }
  }

  @Test("an action of one machine may fire another machine, but not its own by that way")
  func twoMachines() throws {
    let log = Log()
    let first = Mutex<(StateMachine, Event)?>(nil)
    let a = try State(name: "A")
    let b = try State(name: "B") { _ in
      guard let (machine, event) = first.withLock({ $0 }) else { return nil }
      do { try machine.fireEvent(event: event) } catch {
        log.write("\(error as? StateMachineError == .firedFromAction(event: "go"))")
      }
      return nil
    }
    let go = try Event(name: "go", transitions: [(fromState: a, toState: b), (fromState: b, toState: a)])
    let second = try StateMachine(name: "second", defaultState: a, states: [a, b], events: [go])
    let c = try State(name: "C") { _ in
      try second.fireEvent(event: go)
      return nil
    }
    let start = try Event(name: "go", transitions: [(fromState: a, toState: c)])
    let outer = try StateMachine(name: "first", defaultState: a, states: [a, c], events: [start])
    first.withLock { $0 = (outer, start) }
    try outer.fireEvent(event: start)
    expect(log.lines, ["true"])
  }

  @Test("a hundred tasks fire a hundred events each, and no entry action is lost or doubled")
  func threads() async throws {
    let entered = Mutex(0)
    let count: Stately.StateEnterAction = { _ in
      entered.withLock { $0 += 1 }
      return nil
    }
    let a = try State(name: "A", stateEnterAction: count)
    let b = try State(name: "B", stateEnterAction: count)
    let flip = try Event(name: "flip", transitions: [(fromState: a, toState: b), (fromState: b, toState: a)])
    let machine = try StateMachine(name: "M", defaultState: a, states: [a, b], events: [flip])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { for _ in 0..<100 { try machine.fireEvent(event: flip) } } }
      try await group.waitForAll()
    }
    expect(entered.withLock { $0 }, 10_001)
  }
}

@Suite("Stately: every definition error")
struct StatelyDefinitionTests {
  @Test("a state and an event say all that is wrong with them alone")
  func parts() throws {
    let a = try State(name: "A")
    let b = try State(name: "B")
    #expect(throws: DefinitionError([.emptyStateName])) { try State(name: "") }
    #expect(throws: DefinitionError([.emptyEventName, .noTransitions(event: "")])) {
      try Event(name: "", transitions: [])
    }
    #expect(
      throws: DefinitionError([.duplicateFrom(event: "go", state: "A"), .severalWildcards(event: "go")])
    ) {
      try Event(name: "go", transitions: [(a, b), (a, a), (nil, a), (nil, b)])
    }
  }

  @Test("a machine says everything that is wrong with it at once")
  func machine() throws {
    let a = try State(name: "A")
    let b = try State(name: "B")
    let otherA = try State(name: "A")
    let go = try Event(name: "go", transitions: [(fromState: a, toState: b)])
    let otherGo = try Event(name: "go", transitions: [(fromState: a, toState: a)])
    let stray = try Event(name: "stray", transitions: [(fromState: otherA, toState: b)])
    #expect(throws: DefinitionError([.startNotDefined("A"), .emptyMachineName, .noStates, .noEvents])) {
      try StateMachine(name: "", defaultState: a, states: [], events: [])
    }
    let faults: [DefinitionFault] = [
      .duplicateState("A"), .duplicateStateName("A"), .startNotDefined("B"),
      .toNotDefined(event: "go", state: "B"), .duplicateEvent("go"), .duplicateEventName("go"),
    ]
    #expect(throws: DefinitionError(faults)) {
      try StateMachine(name: "M", defaultState: b, states: [a, a, otherA], events: [go, go, otherGo])
    }
    #expect(throws: DefinitionError([.fromNotDefined(event: "stray", state: "A")])) {
      try StateMachine(name: "M", defaultState: b, states: [a, b], events: [stray])
    }
  }
}
