@testable import Controllers
import Bluetooth
import Conformance
import Emulator
import Sesame
import Basics

/// An emulated lock on a controller, and hosts of clients on others, which say what they see.
struct AirPeripheralProbe {
  var radio = Radio(seed: 1)
  var peripheral: LockPeripheral
  var now = Instant.zero
  /// What each client saw, with its number from 1.
  var log: [String] = []
  private var clients: [BluetoothHost] = []
  /// The newest link of each client.
  private var links: [LinkID?] = []
  /// What came of the last procedure.
  private(set) var result: Result<GATTResult, GATTFailure>?

  init(
    _ model: ProductModel = .sesame5, _ settings: [String] = [], controller: ControllerSettings = .init(),
    channel: ChannelConditions = ChannelConditions(), clients count: Int = 1, registered: Bool = true
  ) throws {
    let specification = EmulatedLockSpecification(
      model, options: try LockOptions(settings), channel: channel)
    peripheral = LockPeripheral(specification, seed: 1)
    _ = radio.addController(controller)
    hand(peripheral.start(at: now))
    try prepare(StartCondition([Argument("registered", .flag(registered))]))
    for number in 1...count {
      _ = radio.addController()
      clients.append(BluetoothHost(HostSettings(address: .staticRandom(UInt64(number)))))
      links.append(nil)
      carryOut(clients[number - 1].start(at: now), number)
    }
    pass(.milliseconds(1))
  }
}

// MARK: - What the lock's fixture does

extension AirPeripheralProbe {
  mutating func prepare(_ start: StartCondition) throws(LabFault) {
    hand(try peripheral.prepare(start, at: now))
  }

  mutating func bring(_ name: String, _ value: Value = .flag(true)) throws(LabFault) {
    hand(try peripheral.bring(about: Fault(name, value), at: now))
  }

  mutating func perform(_ stimulus: String) throws(LabFault) {
    hand(try peripheral.perform(stimulus, [], at: now).packets)
  }

  mutating func restart() { hand(peripheral.start(at: now)) }

  /// What happened to the lock, in words.
  mutating func notices() -> [String] { peripheral.takeNotices().map(\.description) }
}

// MARK: - What clients do

extension AirPeripheralProbe {
  mutating func scan(_ number: Int = 1) {
    carryOut(clients[number - 1].startScanning(ScanParameters(), filterDuplicates: false, at: now), number)
  }

  mutating func connect(_ number: Int = 1, for time: Interval = .milliseconds(600)) {
    carryOut(
      clients[number - 1].connect(to: peripheral.address, ConnectionParameters(), timeout: time, at: now),
      number)
    pass(time)
  }

  mutating func disconnect(_ number: Int = 1) {
    guard let link = links[number - 1] else { return }
    carryOut(clients[number - 1].disconnect(link, reason: .remoteUserTerminated, at: now), number)
    pass(.milliseconds(50))
  }

  /// Runs a procedure to its end.
  mutating func run(_ procedure: GATTProcedure, _ number: Int = 1) -> Result<GATTResult, GATTFailure>? {
    guard let link = links[number - 1] else { return nil }
    result = nil
    carryOut(clients[number - 1].start(procedure, on: link, at: now).actions, number)
    pass(.milliseconds(100))
    return result
  }

  mutating func write(_ frame: [UInt8]) {
    guard let link = links[0], let actions = clients[0].writeCommand(Self.write, frame, on: link, at: now)
    else { return }
    carryOut(actions, 1)
  }

  /// Connects and turns notifications on.
  mutating func open() {
    connect()
    _ = run(.write(Self.configuration, [1, 0]))
  }

  /// Behind GAP and GATT: the service, then declaration and value of each characteristic, then the configuration.
  static let write = AttributeHandle(rawValue: 12)
  static let notify = AttributeHandle(rawValue: 14)
  static let configuration = AttributeHandle(rawValue: 15)
}

extension AirPeripheralProbe {
  /// What can be done with the characteristics of a lock with this option, as bits, and what reading one gives.
  static func properties(of gatt: LockOptions.GATTProperties) -> [String] {
    guard var probe = try? AirPeripheralProbe(.sesame5, ["gatt=\(gatt.rawValue)"]) else { return [] }
    probe.connect()
    let all = AttributeRange(AttributeHandle(rawValue: 10), AttributeHandle(rawValue: 15))
    guard
      case .success(.characteristics(let found))? = probe.run(.discoverCharacteristics(all, wanted: [])),
      let value = probe.run(.read(notify)), let written = probe.run(.write(write, [0]))
    else { return [] }
    return found.map { [$0.properties.rawValue].hex }
      + ["\(value)", "\(written)"].map { text in
        text.hasPrefix("success") ? "possible" : "refused"
      }
  }
}

// MARK: - Time

extension AirPeripheralProbe {
  /// What was seen in some time, each thing once.
  mutating func heardOnce(in interval: Interval) -> [String] {
    var once: [String] = []
    for entry in heard(in: interval) where !once.contains(entry) { once.append(entry) }
    return once
  }

  /// What was seen in some time.
  mutating func heard(in interval: Interval) -> [String] {
    log = []
    pass(interval)
    return log
  }

  mutating func pass(_ interval: Interval) {
    let end = now + interval
    while true {
      if let (controller, packet) = radio.nextPacket() {
        switch controller.rawValue {
        case 0: hand(peripheral.receive(packet, at: now))
        case let number: carryOut(clients[number - 1].receive(packet, at: now), number)
        }
        continue
      }
      var next = min(radio.deadline ?? .never, peripheral.deadline ?? .never)
      for index in clients.indices { next = min(next, clients[index].deadline ?? .never) }
      guard next <= end else { break }
      now = max(now, next)
      radio.advance(to: now)
      hand(peripheral.advance(to: now))
      for number in 1...clients.count { carryOut(clients[number - 1].advance(to: now), number) }
    }
    now = end
  }

  private mutating func hand(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: ControllerID(rawValue: 0), at: now) }
  }

  private mutating func carryOut(_ actions: [HostAction], _ number: Int) {
    for action in actions {
      switch action {
      case .transmit(let packet): radio.send(packet, to: ControllerID(rawValue: number), at: now)
      case .report(let event): note(event, number)
      }
    }
  }

  private mutating func note(_ event: HostEvent, _ number: Int) {
    switch event {
    case .connected(let link, _):
      links[number - 1] = link
      log.append("\(number) connected")
    case .connectionFailed: log.append("\(number) not connected")
    case .disconnected(_, let reason, _): log.append("\(number) disconnected 0x\([reason.rawValue].hex)")
    case .advertisement(let report): log.append("\(number) \(report.kind) \(report.data.hex)")
    case .gatt(_, .notification(Self.notify, let frame)): log.append("\(number) frame \(frame.hex)")
    case .gatt(_, .finished(_, let result)): self.result = result
    case .failed(let failure): log.append("\(number) failed \(failure)")
    case .protocolViolation(_, let rule): log.append("\(number) complains: \(rule)")
    default: break
    }
  }
}
