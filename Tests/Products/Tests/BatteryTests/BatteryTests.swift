import Automata
import Basics
import Battery
import Bluetooth
import Conformance
import Controllers
import Sesame
import Testing

@Suite("A package that depends on the libraries")
struct BatteryTests {
  @Test("a peripheral is found, read and subscribed to over the emulated radio")
  func peripheral() throws {
    var air = Air()
    try air.pass()
    let address = PeerAddress(.randomDevice, .staticRandom(0xBA77))
    air.transmit(air.central.connect(to: address, ConnectionParameters(), timeout: .seconds(5), at: air.now))
    try air.pass()
    let link = try #require(air.link)
    guard case .services(let services) = try air.ask(.discoverServices(BluetoothUUID(0x180F)), on: link),
      let service = services.first,
      case .characteristics(let found) = try air.ask(
        .discoverCharacteristics(service.range, wanted: []), on: link), let level = found.first
    else {
      Issue.record("the battery service is not found")
      return
    }
    #expect(try air.ask(.read(level.value), on: link) == .value([80]))
    #expect(
      try air.ask(.write(AttributeHandle(rawValue: level.value.rawValue + 1), [1, 0]), on: link) == .written)
    air.transmitFromBattery(air.battery.setLevel(79, at: air.now))
    try air.pass()
    #expect(air.values == [[79]])
    #expect(try air.ask(.read(level.value), on: link) == .value([79]))
    #expect(air.radio.protocolViolations.isEmpty)
  }

  @Test("machines and the two ends of a protocol are there without a harness")
  func others() throws {
    let lamp = try MachineDefinition(
      yaml: Array(
        """
        machine: lamp
        states: [Off, On]
        events: [press]
        starts: [{ state: Off }]
        transitions: [{ event: press, from: Off, to: On }]
        """.utf8), name: "lamp.yaml")
    #expect(lamp.states.count == 2)
    #expect(Vocabulary(stimuli: ["press"], statuses: ["lit"]).stimulus("press") == 0)
    #expect(ProductModel.allCases.contains(.sesame5))
  }
}

/// The battery and a central, each with a controller on one radio.
private struct Air {
  var radio = Radio(seed: 1)
  var battery = Battery()
  var central = BluetoothHost(HostSettings(address: .staticRandom(0xCE)))
  var now = Instant.zero
  var link: LinkID?
  var values: [[UInt8]] = []
  private var results: [GATTProcedureID: Result<GATTResult, GATTFailure>] = [:]
  private let ids: (battery: ControllerID, central: ControllerID)

  init() {
    ids = (radio.addController(), radio.addController())
    transmitFromBattery(battery.carryOut(battery.host.start(at: now), at: now))
    transmit(central.start(at: now))
  }

  mutating func ask(_ procedure: GATTProcedure, on link: LinkID) throws -> GATTResult {
    let (id, actions) = central.start(procedure, on: link, at: now)
    transmit(actions)
    try pass()
    return try #require(results[id]).get()
  }

  /// Lets a second pass.
  mutating func pass() throws {
    let limit = now + .seconds(1)
    while true {
      while let (controller, packet) = radio.nextPacket() {
        if controller == ids.battery {
          transmitFromBattery(battery.carryOut(battery.host.receive(packet, at: now), at: now))
        } else {
          transmit(central.receive(packet, at: now))
        }
      }
      guard let due = radio.deadline, due <= limit else { break }
      now = due
      radio.advance(to: now)
    }
    now = limit
    radio.advance(to: now)
  }

  mutating func transmitFromBattery(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: ids.battery, at: now) }
  }

  mutating func transmit(_ actions: [HostAction]) {
    for action in actions {
      switch action {
      case .transmit(let packet): radio.send(packet, to: ids.central, at: now)
      case .report(.connected(let link, _)): self.link = link
      case .report(.gatt(_, .finished(let id, let result))): results[id] = result
      case .report(.gatt(_, .notification(_, let value))): values.append(value)
      case .report: break
      }
    }
  }
}
