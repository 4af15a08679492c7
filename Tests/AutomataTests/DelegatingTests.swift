import Automata
import Basics
import Synchronization
import TestSupport
import Testing

/// What a peripheral was asked to do, and which state is its delegate.
private final class Peripheral: Sendable {
  private let entries = Mutex<[String]>([])
  var calls: [String] {
    entries.withLock { calls in
      defer { calls = [] }; return calls
    }
  }
  func call(_ name: String) { entries.withLock { $0.append(name) } }
}

@Suite("Delegating: states that own their handling of callbacks")
struct DelegatingTests {
  private typealias State = Delegating.State<String>
  private typealias Handler = Delegating.Handler<String>

  /// The socket's way to a subscription, with the handlers that pending states share in an array of their own.
  private func socket(_ peripheral: Peripheral) throws -> Delegating.StateMachine<String> {
    let pending: [Handler] = [
      .on("didUpdateState", leadingTo: ["Failed"]) { $0 == "poweredOff" ? "Failed" : nil },
      .on("didSubscribe", leadingTo: "Opened"),
    ]
    let states = [
      State(
        "AddingService",
        handlers: pending + [
          .on("didAdd", leadingTo: ["StartingAdvertising", "Failed"]) { error in
            error.isEmpty ? "StartingAdvertising" : "Failed"
          }
        ]
      ) { peripheral.call("addService") },
      State(
        "StartingAdvertising",
        handlers: pending + [
          .on("didStartAdvertising", leadingTo: "WaitingForSubscription")
        ]
      ) { peripheral.call("startAdvertising") },
      State(
        "WaitingForSubscription",
        handlers: pending + [
          .after(.seconds(3), leadingTo: "AddingService") {
            peripheral.call("removeService")
            peripheral.call("stopAdvertising")
          }
        ]),
      State("Opened", handlers: [.after(.zero, leadingTo: "Connected")]) { peripheral.call("didOpen") },
      State("Connected"),
      State("Failed"),
    ]
    return try Delegating.StateMachine(
      name: "socket", initialState: "AddingService", states: states,
      setDelegate: { peripheral.call("delegate = \($0)") })
  }

  @Test("setting the state swaps the delegate and then runs the state's transition")
  func delegate() throws {
    let peripheral = Peripheral()
    let socket = try socket(peripheral)
    expect(socket.call("didStartAdvertising", ""), .ignored)
    expect(socket.call("didUpdateState", "unauthorized"), .handled)
    expect(socket.call("didAdd", ""), .set("StartingAdvertising"))
    expect(peripheral.calls, ["delegate = StartingAdvertising", "startAdvertising"])
    expect(socket.call("didUpdateState", "poweredOff"), .set("Failed"))
    try socket.set(state: "AddingService")
    expect(peripheral.calls, ["delegate = Failed", "delegate = AddingService", "addService"])
    expect(socket.call("didAdd", "no space"), .set("Failed"))
    #expect(throws: DefinitionError([.startNotDefined("Nowhere")])) { try socket.set(state: "Nowhere") }
  }

  @Test("the three seconds count only while the same wait lasts, to the nanosecond")
  func timer() throws {
    let peripheral = Peripheral()
    let socket = try socket(peripheral)
    func wait(from second: Int64) throws {
      try socket.set(state: "StartingAdvertising", at: .zero + .seconds(second))
      socket.call("didStartAdvertising", "", at: .zero + .seconds(second))
      _ = peripheral.calls
    }
    expect(socket.deadline, nil)
    try wait(from: 1)
    expect(socket.deadline, .zero + .seconds(4))
    try wait(from: 2)
    socket.advance(to: .zero + .milliseconds(4_999))
    expect(peripheral.calls, [])
    socket.advance(to: .zero + .seconds(5))
    expect(peripheral.calls, ["removeService", "stopAdvertising", "delegate = AddingService", "addService"])
    expect(socket.deadline, nil)
    socket.call("didSubscribe", "", at: .zero + .seconds(6))
    socket.advance(to: .zero + .seconds(6))
    expect(peripheral.calls, ["delegate = Opened", "didOpen", "delegate = Connected"])
  }

  @Test("the handlers become a table in which a callback may have several outcomes")
  func table() throws {
    let machine = try socket(Peripheral()).machine
    let adding = machine.state(named: "AddingService")!
    let targets = machine.edges(from: adding, on: machine.event(named: "didAdd")!).map(\.target)
    expect(targets.map { machine.definition.states[$0].name }, ["StartingAdvertising", "Failed"])
    expect(machine.edges(from: adding, on: machine.event(named: "didStartAdvertising")!), [])
  }

  @Test("a next state that was not declared is reported, and the state stays")
  func undeclared() throws {
    let states = [State("A", handlers: [.on("go", leadingTo: ["B"]) { $0 }]), State("B")]
    let machine = try Delegating.StateMachine(name: "M", initialState: "A", states: states)
    expect(machine.call("go", "A"), .undeclared("A"))
    expect(machine.state, "A")
    expect(machine.call("go", "B"), .set("B"))
  }

  @Test("what a handler asks for is done when the handler is through")
  func nested() throws {
    let peripheral = Peripheral()
    let socket = Mutex<Delegating.StateMachine<String>?>(nil)
    let states = [
      State("Opened", handlers: [.on("close", leadingTo: "Idle")]),
      State("Idle", handlers: [.on("open", leadingTo: "Opened")]) {
        expect(socket.withLock { $0 }?.call("open", ""), nil)
        peripheral.call("idle")
      },
    ]
    let machine = try Delegating.StateMachine(
      name: "M", initialState: "Opened", states: states, setDelegate: { peripheral.call("delegate = \($0)") })
    socket.withLock { $0 = machine }
    machine.call("close", "")
    expect(peripheral.calls, ["delegate = Idle", "idle", "delegate = Opened"])
    socket.withLock { $0 = nil }
  }
}
