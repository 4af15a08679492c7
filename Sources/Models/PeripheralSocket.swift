public import Automata

extension MachineDefinition {
  /// The state machine of a socket: a peripheral that opens a connection and passes each callback of its manager to
  /// its current state.
  ///
  /// It contains the documentation's diagram arrow by arrow. The tester acts as the application (`open`, `send`,
  /// `close`), the operating system (`powerOn`, `serviceAdded`, …) and the centrals (`subscribe`, `write`, …). The
  /// effects are the socket's requests to the peripheral manager and the callbacks to its own delegate. Where the
  /// diagram does not cover a case:
  ///
  /// - The region of a state is the power that the manager last reported: `on`, `off`, or `unknown` before the first
  ///   report. Opening continues or fails at once if the power is known. `unauthorized` counts as a loss of power.
  /// - The three seconds apply to each wait for a subscription separately.
  /// - A subscription opens the socket in AddingService, StartingAdvertising and WaitingForSubscription. In Opening
  ///   it is ignored, because no central can have found a service.
  /// - A loss of power fails with `bluetoothOff` while the connection is pending, and with `lostConnection` while
  ///   connected. A service or an advertisement that the system refuses fails with its error.
  /// - Actions of another central are ignored, and so are writes to another characteristic and writes before any
  ///   subscription.
  /// - Sending fails unless connected. If the transmit queue is full (the condition `queueFull`), a send waits until
  ///   the manager is ready again; meanwhile a second send is refused.
  /// - Closing leads to Idle from every state.
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

  /// Adds the arrows of the documentation, in its order.
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

  /// Adds changes of power without a connection, which the diagram omits, and `unauthorized` as a loss of power.
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

  /// Adds the actions of centrals, and what the application sends.
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
