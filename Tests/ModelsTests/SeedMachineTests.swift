import Automata
import Models
import Basics
import TestSupport
import Testing

/// Which status follows which, as a drawing would show it.
private struct Arrow: Hashable, CustomStringConvertible {
  var from: String
  var to: String
  var description: String { "\(from) --> \(to)" }
}

private func arrows(_ definition: MachineDefinition, _ origin: Transition.Origin) throws -> [Arrow] {
  let machine = try Machine(definition)
  var arrows: [Arrow] = []
  for state in 0..<machine.stateCount {
    let edges =
      (0..<machine.eventCount).flatMap { machine.edges(from: state, on: $0) } + machine.spontaneous[state]
    for edge in edges where definition.transitions[edge.transition].origin == origin {
      let arrow = Arrow(from: definition.states[state].status, to: definition.states[edge.target].status)
      if !arrows.contains(arrow) { arrows.append(arrow) }
    }
  }
  return arrows
}

@Suite("The machines of the catalog")
struct CatalogTests {
  @Test("every machine is checked, known by its name, and every state and event of it can be reached")
  func catalog() throws {
    expect(
      MachineDefinition.catalog.map(\.name), ["sesame", "sesame-table", "socket", "launcher", "flow", "door"])
    for definition in MachineDefinition.catalog {
      let machine = try Machine(definition)
      expect(MachineDefinition.named(definition.name), definition)
      expect(machine.warnings(), [])
      var reached = definition.starts.compactMap { machine.state(named: $0.state) }
      var events = Set<Int>()
      var next = 0
      while next < reached.count {
        let state = reached[next]
        next += 1
        let caused = (0..<machine.eventCount).flatMap { machine.edges(from: state, on: $0) }
        for edge in caused + machine.spontaneous[state] {
          if let event = edge.event { events.insert(event) }
          if !reached.contains(edge.target) { reached.append(edge.target) }
        }
      }
      expect(reached.count, machine.stateCount)
      // What only tells of a condition leads nowhere.
      for name in machine.definition.conditions.flatMap({ $0.events + $0.moments }) {
        if let event = machine.event(named: name) { events.insert(event) }
      }
      expect(events.count, machine.eventCount)
    }
    expect(MachineDefinition.named("garage"), nil)
  }

  @Test(
    "every machine comes back from YAML and from DOT as it was",
    arguments: MachineDefinition.catalog.map(\.name))
  func formats(name: String) throws {
    let machine = try #require(MachineDefinition.named(name))
    expect(try MachineDefinition(yaml: Array(machine.yaml().utf8), name: "m.yaml"), machine)
    // What goes with stimuli, and rules, stand in YAML alone.
    var drawn = machine
    for number in drawn.events.indices { drawn.events[number].arguments = nil }
    drawn.readings = []
    drawn.rules = []
    expect(try MachineDefinition(dot: Array(machine.dot().utf8), name: "m.dot"), drawn)
  }
}

@Suite("The socket machine")
struct SocketMachineTests {
  /// The diagram of the documentation.
  private let diagram = """
    Idle --> Opening
    Opening --> AddingService
    AddingService --> StartingAdvertising
    StartingAdvertising --> WaitingForSubscription
    WaitingForSubscription --> AddingService

    WaitingForSubscription --> Opened
    AddingService --> Opened
    StartingAdvertising --> Opened
    Opened --> Connected
    Connected --> Idle

    Opening --> Failed
    AddingService --> Failed
    StartingAdvertising --> Failed
    WaitingForSubscription --> Failed
    Connected --> Failed
    Failed --> Idle
    """

  @Test("its diagram is the documentation's arrow by arrow, and what is ours adds only the ways to close")
  func edges() throws {
    let drawn = diagram.split(separator: "\n").map(String.init)
    expect(Set(try arrows(.socket, .seed).map(\.description)), Set(drawn))
    let more = try arrows(.socket, .ours).map(\.description).filter { !drawn.contains($0) }
    let closing = ["Opening", "AddingService", "StartingAdvertising", "WaitingForSubscription"]
    let rest = [
      "Idle --> Idle", "Opening --> Opening", "AddingService --> AddingService",
      "StartingAdvertising --> StartingAdvertising", "WaitingForSubscription --> WaitingForSubscription",
      "Connected --> Connected",
    ]
    expect(Set(more), Set(closing.map { "\($0) --> Idle" } + rest))
  }

  @Test(
    "after three seconds in one wait it removes the service, stops advertising and adds the service, in order"
  )
  func retry() throws {
    let socket = MachineDefinition.socket
    let retry = try #require(
      socket.transitions.first { $0.trigger == .timer && $0.from == .states(["WaitingForSubscription"]) })
    expect(retry.window, .after(.seconds(3)))
    expect(retry.before, ["removeService", "stopAdvertising"])
    expect(retry.to, .states(["AddingService"]))
    expect(socket.states.first { $0.name == "AddingService" }?.entry, ["addService"])
  }
}

@Suite("The app machines and the door")
struct AppMachineTests {
  @Test("the launcher has the documentation's eight mappings, and no more")
  func launcher() {
    let rows = MachineDefinition.launcher.transitions.map { row -> String in
      guard case .event(let input) = row.trigger, case .states(let from) = row.from,
        case .states(let to) = row.to
      else { return "" }
      return ".\(input) | .\(from[0]) => .\(to[0])"
    }
    expect(
      rows,
      [
        ".initialize | .uninitialized => .initialized", ".upgrade | .initialized => .upgrading",
        ".indexDatabase | .initialized => .indexing", ".indexDatabase | .upgrading => .indexing",
        ".logIn | .indexing => .loggedIn", ".logIn | .loggedOut => .loggedIn",
        ".logOut | .indexing => .loggedOut", ".logOut | .loggedIn => .loggedOut",
      ])
  }

  @Test(
    "the flow has 23 events and 15 states, nine rows of the documentation and one row of ours for each other event"
  )
  func flow() throws {
    let flow = MachineDefinition.flow
    expect(flow.events.count, 23)
    expect(flow.states.count, 15)
    expect(flow.transitions.count, 23)
    expect(
      try arrows(.flow, .seed).map(\.description),
      [
        "idle --> login", "idle --> verifyTokenValidation", "login --> verifyCreateNewPassword",
        "verifyCreateNewPassword --> verifyTokenValidation", "verifyTokenValidation --> verifyTFA",
        "verifyTFA --> verifyAppMigration", "verifyAppMigration --> verifyAppTour",
        "verifyAppTour --> verifyInitialSync", "verifyInitialSync --> launchSync",
      ])
    expect(flow.transitions.count { $0.origin == .ours }, 14)
    expect(flow.transitions[0].before, ["preBlock(noSession)"])
    expect(flow.transitions[0].after, ["postBlock(noSession)"])
  }

  @Test("the door opens and closes, writes a line on each entry, and refuses the rest")
  func door() throws {
    let machine = try Machine(.door)
    expect(machine.next, [1, -1, -1, 0])
    expect(machine.definition.states.map(\.entry), [["print(Closed)"], ["print(Opened)"]])
  }
}
