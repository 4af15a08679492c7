import Automata
import Models
import Basics
import TestSupport
import Testing

private let notConnected = "send --> = ; didFailToSend(notConnected)"

private let bluetoothOff = [
  "powerOff --> Failed (off) ; didFail(bluetoothOff)",
  "unauthorized --> Failed (off) ; didFail(bluetoothOff)",
]
private let lostConnection = [
  "powerOff --> Failed (off) ; didFail(lostConnection)",
  "unauthorized --> Failed (off) ; didFail(lostConnection)",
]
/// What a connected socket hears from centrals.
private let heard = [
  "otherSubscribe --> =", "unsubscribe --> Failed (on) ; didFail(lostConnection)", "otherUnsubscribe --> =",
  "write --> = ; didReceive", "otherWrite --> =", "writeElsewhere --> =",
]

/// Every cell of the table: what is not here is refused.
private let table: [(state: String, cells: [String])] = [
  (
    "Idle (unknown)",
    [
      "open --> Opening (unknown)", "close --> Idle (unknown)", notConnected,
      "powerOn --> > Idle (on)", "powerOff --> > Idle (off)", "unauthorized --> > Idle (off)",
    ]
  ),
  (
    "Idle (off)",
    ["open --> Opening (off)", "close --> Idle (off)", notConnected, "powerOn --> > Idle (on)"]
  ),
  (
    "Idle (on)",
    [
      "open --> Opening (on)", "close --> Idle (on)", notConnected, "powerOff --> > Idle (off)",
      "unauthorized --> > Idle (off)",
    ]
  ),
  (
    "Opening (unknown)",
    ["close --> Idle (unknown)", notConnected, "powerOn --> AddingService"] + bluetoothOff
      + ["subscribe --> ="]
  ),
  ("Opening (off)", ["after 0 s --> Failed (off) ; didFail(bluetoothOff)"]),
  ("Opening (on)", ["after 0 s --> AddingService"]),
  (
    "AddingService",
    ["close --> Idle (on)", notConnected] + bluetoothOff
      + [
        "serviceAdded --> StartingAdvertising", "serviceFailed --> Failed (on) ; didFail(serviceNotAdded)",
        "subscribe --> Opened", "write --> =",
      ]
  ),
  (
    "StartingAdvertising",
    ["close --> Idle (on)", notConnected] + bluetoothOff
      + [
        "advertisingStarted --> WaitingForSubscription",
        "advertisingFailed --> Failed (on) ; didFail(notAdvertising)", "subscribe --> Opened", "write --> =",
      ]
  ),
  (
    "WaitingForSubscription",
    ["close --> Idle (on)", notConnected] + bluetoothOff
      + [
        "subscribe --> Opened", "write --> =", "after 3 s ! removeService, stopAdvertising --> AddingService",
      ]
  ),
  ("Opened", ["after 0 s --> Connected"]),
  (
    "Connected",
    [
      "close --> Idle (on)", "send unless queueFull --> = ; updateValue, didSend",
      "send given queueFull --> Connected (sending) ; updateValue",
    ] + lostConnection + heard
  ),
  (
    "Connected (sending)",
    ["close --> Idle (on)"] + lostConnection
      + [
        "readyToUpdate unless queueFull --> Connected ; updateValue, didSend",
        "readyToUpdate given queueFull --> = ; updateValue",
      ] + heard
  ),
  ("Failed (off)", ["after 0 s --> Idle (off)"]),
  ("Failed (on)", ["after 0 s --> Idle (on)"]),
]

@Suite("The cells of the socket machine")
struct SocketCellTests {
  @Test("each state does what the table says, and refuses everything else", arguments: table)
  func state(name: String, lines: [String]) throws {
    expect(try cells(of: name, in: .socket), lines)
  }

  @Test("the table has every state")
  func states() {
    expect(MachineDefinition.socket.states.map(\.name), table.map(\.state))
  }

  @Test("setting a state runs its entry: it clears, adds the service, advertises, or tells the delegate")
  func entry() {
    let entries = MachineDefinition.socket.states.filter { !$0.entry.isEmpty }
    let clearing = ["stopAdvertising", "removeAllServices"]
    expect(
      entries.map(\.name),
      ["Idle (unknown)", "Idle (off)", "Idle (on)", "AddingService", "StartingAdvertising", "Opened"])
    expect(
      entries.map(\.entry),
      [clearing, clearing, clearing, ["addService"], ["startAdvertising"], ["didOpen"]])
  }

  @Test("the three seconds belong to one wait: each counts its own, to the nanosecond")
  func timer() throws {
    let machine = try Machine(.socket)
    var socket = Automaton(machine)
    func take(_ names: String..., at now: Instant) {
      for name in names {
        _ = machine.event(named: name).flatMap { socket.take($0, at: now) }
        while let due = socket.deadline, due <= now { _ = socket.takeTimer(by: now) }
      }
    }
    take("open", "serviceAdded", "advertisingStarted", at: .zero)
    expect(socket.deadline, .zero + .seconds(3))
    take("close", "open", "serviceAdded", at: .zero + .seconds(1))
    expect(socket.deadline, nil)
    take("advertisingStarted", at: .zero + .seconds(2))
    take("send", at: .zero + .seconds(4))
    expect(socket.deadline, .zero + .seconds(5))
    expect(socket.takeTimer(by: .zero + .seconds(5) - .milliseconds(1)), nil)
    expect(
      socket.takeTimer(by: .zero + .seconds(5)).map { machine.definition.states[$0.target].name },
      "AddingService")
  }
}
