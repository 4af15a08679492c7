public import Automata

extension MachineDefinition {
  /// The socket state machine: a peripheral that opens a connection and hands each callback of its manager to
  /// its state.
  ///
  /// The documentation's diagram stands in it arrow by arrow. The tester plays the application (`open`,
  /// `send`, `close`), the operating system (`powerOn`, `serviceAdded`, …) and the centrals (`subscribe`,
  /// `write`, …); the effects are what the socket asks of the peripheral manager and tells its own delegate.
  /// Where the diagram is silent:
  ///
  /// - The region of a state says what the manager last told of its power: `on`, `off` or nothing yet.
  ///   Opening goes on or fails at once where that is known. `unauthorized` counts as power that is lost.
  /// - The three seconds count while one wait for a subscription lasts, and begin again with the next.
  /// - A subscription opens the socket in AddingService, StartingAdvertising and WaitingForSubscription; in
  ///   Opening, where no service can have been found, it is ignored.
  /// - Losing power while the connection is pending fails with `bluetoothOff`, while connected with
  ///   `lostConnection`; a service or an advertisement that the system refuses fails with its error.
  /// - What another central does, or a write to another characteristic, is ignored. A write before any
  ///   subscription is ignored too.
  /// - Sending fails unless connected. A full transmit queue (the condition `queueFull`) makes a send wait
  ///   until the manager is ready again; while one waits there cannot be a second.
  /// - Closing leads to Idle from everywhere.
  public static let socket: MachineDefinition = {
    var machine = MachineDefinition(
      name: "socket", summary: "A Bluetooth socket on the peripheral's side, from opening to closing.")
    machine.events = [
      "open", "close", "send", "powerOn", "powerOff", "unauthorized", "serviceAdded", "serviceFailed",
      "advertisingStarted", "advertisingFailed", "readyToUpdate", "subscribe", "otherSubscribe",
      "unsubscribe",
      "otherUnsubscribe", "write", "otherWrite", "writeElsewhere",
    ].map { Event($0) }
    machine.conditions = [Condition("queueFull", faults: ["queue-full"])]
    let clearing = ["stopAdvertising", "removeAllServices"]
    machine.states = [
      State("Idle (unknown)", entry: clearing), State("Idle (off)", entry: clearing),
      State("Idle (on)", entry: clearing), State("Opening (unknown)"), State("Opening (off)"),
      State("Opening (on)"), State("AddingService", entry: ["addService"]),
      State("StartingAdvertising", entry: ["startAdvertising"]), State("WaitingForSubscription"),
      State("Opened", entry: ["didOpen"]), State("Connected"), State("Connected (sending)"),
      State("Failed (off)"), State("Failed (on)"),
    ]
    machine.addSocketDiagram()
    machine.addSocketPower()
    machine.addSocketTraffic()
    machine.addSocketClosing()
    machine.declare(regions: ["unknown", "off", "on"])
    machine.starts = [
      Start("Idle (unknown)", when: [.init("reported", false)]),
      Start("Idle (off)", when: [.init("reported", true), .init("powered", false)]),
      Start("Idle (on)", when: [.init("reported", true), .init("powered", true)]),
    ]
    return machine
  }()

  /// The arrows of the documentation, in its order.
  private mutating func addSocketDiagram() {
    // swift-format-ignore
    add(diagram: """
      stateDiagram
        Idle (unknown)         --> Opening (unknown)      : open
        Idle (off)             --> Opening (off)          : open
        Idle (on)              --> Opening (on)           : open
        Opening (on)           --> AddingService          : after 0 s
        Opening (unknown)      --> AddingService          : powerOn
        AddingService          --> StartingAdvertising    : serviceAdded
        StartingAdvertising    --> WaitingForSubscription : advertisingStarted
        WaitingForSubscription --> AddingService          : after 3 s ! removeService, stopAdvertising

        WaitingForSubscription --> Opened                 : subscribe
        AddingService          --> Opened                 : subscribe
        StartingAdvertising    --> Opened                 : subscribe
        Opened                 --> Connected              : after 0 s
        Connected              --> Idle (on)              : close

        Opening (off)          --> Failed (off)           : after 0 s ; didFail(bluetoothOff)
        Opening (unknown)      --> Failed (off)           : powerOff ; didFail(bluetoothOff)
        AddingService          --> Failed (off)           : powerOff ; didFail(bluetoothOff)
        AddingService          --> Failed (on)            : serviceFailed ; didFail(serviceNotAdded)
        StartingAdvertising    --> Failed (off)           : powerOff ; didFail(bluetoothOff)
        StartingAdvertising    --> Failed (on)            : advertisingFailed ; didFail(notAdvertising)
        WaitingForSubscription --> Failed (off)           : powerOff ; didFail(bluetoothOff)
        Connected              --> Failed (off)           : powerOff ; didFail(lostConnection)
        Connected              --> Failed (on)            : unsubscribe ; didFail(lostConnection)
        Failed (off)           --> Idle (off)             : after 0 s
        Failed (on)            --> Idle (on)              : after 0 s
      """)
  }

  /// Power that comes and goes where the diagram has nothing to lose, and the other way to lose it.
  private mutating func addSocketPower() {
    // swift-format-ignore
    add(diagram: """
      Idle (unknown)/Idle (off)                                --> > Idle (on)  : powerOn
      Idle (unknown)/Idle (on)                                 --> > Idle (off) : powerOff
      Idle (unknown)/Idle (on)                                 --> > Idle (off) : unauthorized
      Opening (unknown)                                        --> Failed (off) : unauthorized ; didFail(bluetoothOff)
      AddingService/StartingAdvertising/WaitingForSubscription --> Failed (off) : unauthorized ; didFail(bluetoothOff)
      Connected/Connected (sending)                            --> Failed (off) : unauthorized ; didFail(lostConnection)
      Connected (sending)                                      --> Failed (off) : powerOff ; didFail(lostConnection)
      """, origin: .ours)
  }

  /// What centrals do, and what the application sends.
  private mutating func addSocketTraffic() {
    // swift-format-ignore
    add(diagram: """
      Opening (unknown)                                        --> =           : subscribe
      Connected/Connected (sending)                            --> =           : otherSubscribe
      Connected (sending)                                      --> Failed (on) : unsubscribe ; didFail(lostConnection)
      Connected/Connected (sending)                            --> =           : otherUnsubscribe
      AddingService/StartingAdvertising/WaitingForSubscription --> =           : write
      Connected/Connected (sending)                            --> =           : write ; didReceive
      Connected/Connected (sending)                            --> =           : otherWrite
      Connected/Connected (sending)                            --> =           : writeElsewhere

      Connected                                                --> =           : send unless queueFull ; updateValue, didSend
      Connected                                                --> Connected (sending) : send given queueFull ; updateValue
      Connected (sending)                                      --> Connected   : readyToUpdate unless queueFull ; updateValue, didSend
      Connected (sending)                                      --> =           : readyToUpdate given queueFull ; updateValue
      Idle (unknown)/Idle (off)/Idle (on)/Opening (unknown)    --> =           : send ; didFailToSend(notConnected)
      AddingService/StartingAdvertising/WaitingForSubscription --> =           : send ; didFailToSend(notConnected)
      """, origin: .ours)
  }

  private mutating func addSocketClosing() {
    // swift-format-ignore
    add(diagram: """
      Idle (unknown)/Opening (unknown)                         --> Idle (unknown) : close
      Idle (off)                                               --> Idle (off)     : close
      Idle (on)                                                --> Idle (on)      : close
      AddingService/StartingAdvertising/WaitingForSubscription --> Idle (on)      : close
      Connected (sending)                                      --> Idle (on)      : close
      """, origin: .ours)
  }
}
