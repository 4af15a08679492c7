import Automata
import Basics
import TestSupport
import Testing

private enum DoorState: Sendable { case Closed, Opened }
private enum DoorEvent: Sendable { case Open, Close }

@Suite("Notations: every way of writing a machine makes the same one")
struct NotationTests {
  private let door = MachineDefinition(
    name: "Door", states: [State("Closed"), State("Opened")], events: [Event("Open"), Event("Close")],
    transitions: [
      Transition(.event("Open"), from: .states(["Closed"]), to: .states(["Opened"])),
      Transition(.event("Close"), from: .states(["Opened"]), to: .states(["Closed"])),
    ], starts: [Start("Closed")])

  @Test("a door by mappings, by named states, by blocks, by delegates, as a table, a diagram and a list")
  func sevenDoors() throws {
    let machine = try Machine(door)
    expect(machine.next, [1, -1, -1, 0])

    let mappings: [Stated.StateMappingWithEffect<DoorState, DoorEvent>] = [
      .Open | .Closed => .Opened | { send in },
      .Close | .Opened => .Closed | { send in },
    ]
    expect(
      try Stated.StateMachine<DoorState, DoorEvent>(name: "Door", initialState: .Closed, mappings: mappings)
        .machine, machine)

    let closed = try Stately.State(name: "Closed")
    let opened = try Stately.State(name: "Opened")
    let open = try Stately.Event(name: "Open", transitions: [(closed, opened)])
    let close = try Stately.Event(name: "Close", transitions: [(opened, closed)])
    expect(
      try Stately.StateMachine(
        name: "Door", defaultState: closed, states: [closed, opened], events: [open, close]
      ).machine, machine)

    expect(
      try Flow.StateMachine<DoorState, DoorEvent>(
        name: "Door", initialState: .Closed,
        transitions: [
          Flow.Transition(with: .Open, from: .Closed, to: .Opened),
          Flow.Transition(with: .Close, from: .Opened, to: .Closed),
        ]
      ).machine, machine)

    expect(
      try Delegating.StateMachine<Int>(
        name: "Door", initialState: "Closed",
        states: [
          Delegating.State("Closed", handlers: [.on("Open", leadingTo: "Opened")]),
          Delegating.State("Opened", handlers: [.on("Close", leadingTo: "Closed")]),
        ]
      ).machine, machine)

    var blank = door
    blank.states = []
    blank.transitions = []
    var table = blank
    table.add(
      table: """
        | action/status | Closed | Opened |
        |:-------------:|:------:|:------:|
        | Open          | Opened |        |
        | Close         |        | Closed |
        """)
    expect(table, door)
    var diagram = blank
    diagram.add(
      diagram: """
        stateDiagram
          %% The door.
          Closed --> Opened : Open
          Opened --> Closed : Close
        """)
    expect(diagram, door)
    var list = blank
    list.add(
      mappings: """
        /* Input | from     to    */
        Open     | Closed => Opened
        Close    | Opened => Closed
        """)
    expect(list, door)
  }

  @Test("a table says regions, groups, choices, rests, effects, times and conditions")
  func tableWords() throws {
    var lock = MachineDefinition(name: "lock")
    lock.add(
      table: """
        | action/status                       | logining         | locked/unlocked | moved     |
        |-------------------------------------|------------------|-----------------|-----------|
        | done within 10 s                    | locked/unlocked  |                 |           |
        | turn given loose or worn unless new |                  | ~               | =         |
        | lock                                |                  | locked ! beep ; log, save | |
        | within autolock - 1 s to autolock + 5 s |              |                 | locked    |
        | after 2 min                         |                  |                 | noSignal (unregistered) |
        """, region: "registered", origin: .ours)
    let names = ["logining", "locked", "unlocked", "moved"].map { "\($0) (registered)" }
    expect(lock.states, names.map { State($0) })
    expect(lock.states.map(\.status), ["logining", "locked", "unlocked", "moved"])
    func row(
      _ trigger: Transition.Trigger, _ from: [Int], _ to: Transition.Target, window: Window = .any,
      before: [String] = [], after: [String] = [], given: [String] = [], unless: [String] = []
    ) -> Transition {
      Transition(
        trigger, from: .states(from.map { names[$0] }), to: to, window: window, before: before, after: after,
        given: given, unless: unless, origin: .ours)
    }
    let turn = Transition.Trigger.event("turn")
    expect(
      lock.transitions,
      [
        row(.event("done"), [0], .states([names[1], names[2]]), window: .within(.seconds(10))),
        row(turn, [1], .states([names[1]]), given: ["loose", "worn"], unless: ["new"]),
        row(turn, [2], .states([names[2]]), given: ["loose", "worn"], unless: ["new"]),
        row(turn, [3], .stay, given: ["loose", "worn"], unless: ["new"]),
        row(.event("lock"), [1, 2], .states([names[1]]), before: ["beep"], after: ["log", "save"]),
        row(
          .timer, [3], .states([names[1]]),
          window: Window(earliest: .seconds(-1), latest: .seconds(5), plus: "autolock")),
        row(.timer, [3], .states(["noSignal (unregistered)"]), window: .after(.seconds(120))),
      ])
  }

  @Test("a diagram says the same with arrows, and a list of mappings with columns")
  func diagramWords() {
    var socket = MachineDefinition(name: "socket")
    socket.add(
      diagram: """
        A/B --> C : go given power ! stop ; tell, note
        C --> = : write ; hear
        C --> A/B : after 3 s ! stop
        A --> > B : tick
        """)
    expect(socket.states.map(\.name), ["A", "B", "C"])
    expect(
      socket.transitions,
      [
        Transition(
          .event("go"), from: .states(["A", "B"]), to: .states(["C"]), before: ["stop"],
          after: ["tell", "note"], given: ["power"]),
        Transition(.event("write"), from: .states(["C"]), to: .stay, after: ["hear"]),
        Transition(
          .timer, from: .states(["C"]), to: .states(["A", "B"]), window: .after(.seconds(3)), before: ["stop"]
        ),
        Transition(.event("tick"), from: .states(["A"]), to: .shift(["B"])),
      ])
    var list = MachineDefinition(name: "socket")
    list.add(
      mappings: """
        go given power | A/B => C   | ! stop ; tell, note
        write          | C   => =   | hear
        after 3 s      | C   => A/B | ! stop
        tick           | A   => > B
        """)
    expect(list.states.map(\.name), ["A", "B", "C"])
    expect(list.transitions, socket.transitions)
  }

  @Test("a table, a diagram or a list that cannot be read stops the program that holds it")
  func unreadable() async {
    await #expect(processExitsWith: .failure) {
      var machine = MachineDefinition(name: "M")
      machine.add(table: "| a | b |\n|---|---|\n| go |")
    }
    await #expect(processExitsWith: .failure) {
      var machine = MachineDefinition(name: "M")
      machine.add(diagram: "A --> B")
    }
    await #expect(processExitsWith: .failure) {
      var machine = MachineDefinition(name: "M")
      machine.add(mappings: "go within soon | A => B")
    }
  }
}

@Suite("Several outcomes: what one event may lead to")
struct OutcomeTests {
  @Test("a login leads to any of four statuses, and a refusal is no edge at all")
  func login() throws {
    var lock = MachineDefinition(
      name: "lock", events: [Event("loginDone"), Event("toggle"), Event("disconnect")],
      starts: [Start("logining")])
    lock.add(
      table: """
        | action/status | logining                        | locked   | unlocked | moved           | nosetting | noSignal |
        |:-------------:|:-------------------------------:|:--------:|:--------:|:---------------:|:---------:|:--------:|
        | loginDone     | locked/unlocked/moved/nosetting |          |          |                 |           |          |
        | toggle        |                                 | unlocked | locked   | locked/unlocked |           |          |
        | disconnect    | noSignal                        | noSignal | noSignal | noSignal        | noSignal  |          |
        """)
    let machine = try Machine(lock)
    var automaton = Automaton(machine)
    let login = automaton.edges(on: 0)
    expect(
      login.map { machine.definition.states[$0.target].name }, ["locked", "unlocked", "moved", "nosetting"])
    expect(automaton.take(1), nil)
    expect(automaton.state, 0)
    automaton.take(login[2])
    expect(automaton.edges(on: 1).map(\.target), [1, 2])
    expect(machine.step(3, 1), nil)
    expect(machine.step(3, 2), 5)
    expect(machine.step(5, 2), nil)
    // Every pair is decided: 6 x 3 cells, of which 9 have an edge.
    expect(machine.caused.count, 18)
    expect(machine.caused.count { !$0.isEmpty }, 9)
  }

  @Test("time and conditions decide which edges are open")
  func windows() throws {
    var lock = MachineDefinition(
      name: "lock", events: [Event("turn"), Event("linkUp", .spontaneous)],
      conditions: [Condition("jam"), Condition("stiff")], starts: [Start("A")])
    lock.add(
      table: """
        | action/status              | A | B |
        |----------------------------|---|---|
        | turn unless jam or stiff   | B |   |
        | turn given jam or stiff    | = |   |
        | linkUp within 1 s to 5 s   | B |   |
        | after 6 s unless stiff     | B |   |
        | after 7 s                  | B |   |
        """)
    let machine = try Machine(lock)
    expect(machine.next, [-1, -1, -1, -1])
    var automaton = Automaton(machine, at: .zero + .seconds(10))
    expect(automaton.edges(on: 0).map(\.transition), [0])
    automaton.conditions = 0b10
    expect(automaton.edges(on: 0).map(\.transition), [1])
    expect(automaton.deadline, .zero + .seconds(17))
    automaton.conditions = 0
    expect(automaton.deadline, .zero + .seconds(16))
    expect(automaton.edges(on: 1, at: .zero + .milliseconds(10_999)).count, 0)
    expect(automaton.edges(on: 1, at: .zero + .milliseconds(11_000)).count, 1)
    expect(automaton.edges(on: 1, at: .zero + .milliseconds(15_001)).count, 0)
    expect(automaton.takeTimer(by: .zero + .milliseconds(15_999)), nil)
    expect(automaton.takeTimer(by: .zero + .seconds(20))?.transition, 3)
    expect(automaton.entered, .zero + .seconds(16))
    expect(automaton.deadline, nil)
  }
}
