import Automata
import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

@Suite("The socket device")
struct SocketDeviceTests {
  private let walk = AppWalk<SocketApp>(
    machine: .socket, favoured: ["open", "powerOn", "serviceAdded", "advertisingStarted", "close"])

  @Test("the way to a connection, a value received and one sent, and closing")
  func happyPath() throws {
    var device = SocketDevice()
    expect(
      try shown(
        by: &device, of: .socket,
        on: [
          "open", "serviceAdded", "advertisingStarted", "subscribe", "write", "otherWrite", "writeElsewhere",
          "send",
          "otherUnsubscribe", "close",
        ]),
      [
        "Opening", "AddingService", "addService", "StartingAdvertising", "startAdvertising",
        "WaitingForSubscription", "Opened", "didOpen", "Connected", "didReceive", "updateValue", "didSend",
        "Idle",
        "stopAdvertising", "removeAllServices",
      ])
  }

  @Test("after exactly three seconds of one wait it starts anew, and not a millisecond before")
  func retry() throws {
    var device = SocketDevice()
    _ = try shown(by: &device, of: .socket, on: ["open", "serviceAdded", "advertisingStarted"])
    expect(device.observe(until: .zero + .milliseconds(2_999)), nil)
    expect(device.observe(until: .zero + .milliseconds(10_000)), .effect(try effect("removeService")))
    expect(device.now, .zero + .seconds(3))
    expect(
      try shown(by: &device, of: .socket, on: ["serviceFailed"]),
      [
        "stopAdvertising", "AddingService", "addService", "Failed", "didFail(serviceNotAdded)", "Idle",
        "stopAdvertising", "removeAllServices",
      ])
  }

  @Test(
    "each failure tells its error and ends in Idle",
    arguments: [
      (["reported": false], ["open", "powerOff"], "didFail(bluetoothOff)"),
      (["powered": false], ["open"], "didFail(bluetoothOff)"),
      ([:], ["open", "serviceFailed"], "didFail(serviceNotAdded)"),
      ([:], ["open", "serviceAdded", "advertisingFailed"], "didFail(notAdvertising)"),
      ([:], ["open", "serviceAdded", "unauthorized"], "didFail(bluetoothOff)"),
      ([:], ["open", "subscribe", "unsubscribe"], "didFail(lostConnection)"),
      ([:], ["open", "subscribe", "powerOff"], "didFail(lostConnection)"),
    ] as [([String: Bool], [String], String)])
  func failures(settings: [String: Bool], stimuli: [String], error: String) throws {
    var device = SocketDevice()
    try device.reset(to: StartCondition(settings.map { Argument($0.key, .flag($0.value)) }))
    expect(
      Array(try shown(by: &device, of: .socket, on: stimuli).suffix(5)),
      ["Failed", error, "Idle", "stopAdvertising", "removeAllServices"])
  }

  @Test("a value waits for the transmit queue, and one that is sent without a connection fails")
  func queue() throws {
    var device = SocketDevice()
    expect(try shown(by: &device, of: .socket, on: ["send"]), ["didFailToSend(notConnected)"])
    _ = try shown(by: &device, of: .socket, on: ["open", "subscribe"])
    try device.bring(about: Fault("queue-full"))
    expect(
      try shown(by: &device, of: .socket, on: ["send", "readyToUpdate", "send"]),
      ["updateValue", "updateValue", "refused: another value waits to be sent"])
    try device.bring(about: Fault("queue-full", .flag(false)))
    expect(try shown(by: &device, of: .socket, on: ["readyToUpdate"]), ["updateValue", "didSend"])
  }

  @Test("what the application cannot do is refused, and what it does not know is not possible")
  func refusals() throws {
    var device = SocketDevice()
    expect(
      try shown(by: &device, of: .socket, on: ["otherWrite", "unsubscribe", "open", "open"]).filter {
        $0.hasPrefix("ref")
      },
      [
        "refused: no central is connected that another could be told from",
        "refused: the central has not subscribed", "refused: the socket is not idle",
      ])
    #expect(throws: LabFault.self) { try device.bring(about: Fault("jam")) }
    #expect(throws: LabFault.self) {
      try device.reset(to: StartCondition([Argument("registered", .flag(true))]))
    }
  }

  @Test("it agrees with its model on random walks, from every start", arguments: [1, 2, 3] as [UInt64])
  func agrees(seed: UInt64) throws {
    let found = try walk.run(nil, seed: seed, tests: 60)
    #expect(found == nil, "\(found.map { "\($0.0.summary) after \($0.1)" } ?? "")")
  }

  @Test("each defect is found by random walks", arguments: SocketApp.Defect.allCases)
  func defects(defect: SocketApp.Defect) throws {
    #expect(try walk.run(defect, seed: 1, tests: 400) != nil)
  }

  @Test("a stale timer ends a later wait too soon, and only a later one")
  func staleTimer() throws {
    for (defect, wait) in [(nil, 3000), (.staleTimer, 2000)] as [(SocketApp.Defect?, Int64)] {
      var device = SocketDevice(defect: defect)
      _ = try shown(by: &device, of: .socket, on: ["open", "serviceAdded", "advertisingStarted"])
      _ = device.observe(until: .zero + .seconds(1))
      _ = try shown(by: &device, of: .socket, on: ["close", "open", "serviceAdded", "advertisingStarted"])
      expect(device.observe(until: .zero + .seconds(60)), .effect(try effect("removeService")))
      expect(device.now, .zero + .seconds(1) + .milliseconds(wait))
    }
  }

  private func effect(_ name: String) throws -> Int {
    try #require(Specification(try Machine(.socket)).vocabulary.effect(name))
  }

  @Test("a socket that is done with leaves nothing behind, though its three seconds still count")
  func released() {
    weak var display: Display?
    do {
      let shown = Display()
      let app = SocketApp(StartCondition(), defect: nil, display: shown)
      for stimulus in ["open", "serviceAdded", "advertisingStarted"] {
        expect(app.perform(stimulus, at: .zero), nil)
      }
      display = shown
    }
    #expect(display == nil)
  }
}
