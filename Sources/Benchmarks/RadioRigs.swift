import Sesame
import Controllers
import Bluetooth
import Emulator
import Basics

/// Two hosts with a link between them, on an emulated radio: the central writes, the peripheral notifies the same.
struct AirPair {
  private static let service = BluetoothUUID(0xFD81)
  private static let input = BluetoothUUID(1)
  private static let output = BluetoothUUID(2)

  private var radio = Radio(seed: 1)
  private let here: ControllerID
  private let there: ControllerID
  private var central = BluetoothHost(HostSettings(address: .staticRandom(1)))
  private var peripheral = BluetoothHost(
    HostSettings(address: .staticRandom(2)),
    services: [ServiceDefinition(service, [.init(input, .writeWithoutResponse), .init(output, .notify)])])
  private var now = Instant.zero
  private var link = LinkID(rawValue: 0)
  private var peer = LinkID(rawValue: 0)
  private let inputHandle: AttributeHandle
  private let outputHandle: AttributeHandle
  private var isReady = (here: false, there: false)
  private var isSubscribed = false
  private var answers = 0
  private let value: [UInt8] = [5, 0, 0, 0, 0, 0, 0, 0, 0]

  /// Makes a link with these parameters; `nil` when that does not work.
  init?(_ parameters: ConnectionParameters) {
    here = radio.addController()
    there = radio.addController()
    guard let input = peripheral.handle(of: Self.input, in: Self.service),
      let output = peripheral.handle(of: Self.output, in: Self.service)
    else { return nil }
    (inputHandle, outputHandle) = (input, output)
    carryOut(central.start(at: now), here)
    carryOut(peripheral.start(at: now), there)
    guard run(until: { $0.isReady == (true, true) }) else { return nil }
    carryOut(
      peripheral.startAdvertising(AdvertisingParameters(), data: [], scanResponse: [], at: now), there)
    carryOut(
      central.connect(
        to: PeerAddress(.randomDevice, .staticRandom(2)), parameters, timeout: .seconds(10), at: now), here)
    guard run(until: { $0.link.rawValue != 0 && $0.peer.rawValue != 0 }) else { return nil }
    let configuration = AttributeHandle(rawValue: outputHandle.rawValue + 1)
    carryOut(central.start(.write(configuration, [1, 0]), on: link, at: now).actions, here)
    guard run(until: { $0.isSubscribed }) else { return nil }
  }

  /// Writes, and waits for the answer; false when none came.
  mutating func roundTrip() -> Bool {
    let expected = answers + 1
    guard let actions = central.writeCommand(inputHandle, value, on: link, at: now) else { return false }
    carryOut(actions, here)
    return run { $0.answers == expected }
  }

  /// Lets time pass.
  mutating func pass(_ interval: Interval) {
    let end = now + interval
    while step(until: end) {}
    now = end
    radio.advance(to: now)
  }

  /// Lets things happen until something is so; false when nothing more happens.
  private mutating func run(until isDone: (borrowing AirPair) -> Bool) -> Bool {
    while !isDone(self) {
      guard step(until: .never) else { return false }
    }
    return true
  }

  private mutating func step(until limit: Instant) -> Bool {
    if let (controller, packet) = radio.nextPacket() {
      if controller == here {
        carryOut(central.receive(packet, at: now), here)
      } else {
        carryOut(peripheral.receive(packet, at: now), there)
      }
      return true
    }
    guard let next = radio.deadline, next <= limit else { return false }
    now = max(now, next)
    radio.advance(to: now)
    return true
  }

  private mutating func carryOut(_ actions: [HostAction], _ controller: ControllerID) {
    for action in actions {
      switch action {
      case .transmit(let packet): radio.send(packet, to: controller, at: now)
      case .report(let event): handle(event, isHere: controller == here)
      }
    }
  }

  private mutating func handle(_ event: HostEvent, isHere: Bool) {
    switch event {
    case .ready where isHere: isReady.here = true
    case .ready: isReady.there = true
    case .connected(let id, _) where isHere: link = id
    case .connected(let id, _): peer = id
    case .gatt(_, .finished): isSubscribed = true
    case .gatt(_, .notification): answers += 1
    case .gatt(_, .written(inputHandle, let value)):
      if let actions = peripheral.notify(outputHandle, value, on: peer, at: now) { carryOut(actions, there) }
    default: break
    }
  }
}

/// Many locks that advertise, and a host that listens to all of them.
struct LockHall {
  private var radio = Radio(seed: 1)
  private var locks: [LockPeripheral] = []
  private let listener: ControllerID
  private var host = BluetoothHost(HostSettings(address: .staticRandom(1)))
  private var now = Instant.zero
  private var heard = 0

  init(_ count: Int) {
    for number in 0..<count {
      _ = radio.addController()
      locks.append(LockPeripheral(EmulatedLockSpecification(.sesame5), seed: UInt64(number)))
    }
    listener = radio.addController()
    for number in locks.indices { send(locks[number].start(at: now), ControllerID(rawValue: number)) }
    carryOut(host.start(at: now))
    pass(until: now + .seconds(1))
    carryOut(host.startScanning(ScanParameters(), filterDuplicates: false, at: now))
  }

  /// Lets time pass, and says how many reports came meanwhile.
  mutating func listen(_ interval: Interval) -> Int {
    heard = 0
    pass(until: now + interval)
    return heard
  }

  private mutating func pass(until limit: Instant) {
    while true {
      if let (controller, packet) = radio.nextPacket() {
        if controller == listener {
          carryOut(host.receive(packet, at: now))
        } else {
          send(locks[controller.rawValue].receive(packet, at: now), controller)
        }
      } else if let next = radio.deadline, next <= limit {
        now = max(now, next)
        radio.advance(to: now)
      } else {
        now = limit
        return
      }
    }
  }

  private mutating func send(_ packets: [HCIPacket], _ controller: ControllerID) {
    for packet in packets { radio.send(packet, to: controller, at: now) }
  }

  private mutating func carryOut(_ actions: [HostAction]) {
    for action in actions {
      switch action {
      case .transmit(let packet): radio.send(packet, to: listener, at: now)
      case .report(.advertisement): heard += 1
      case .report: break
      }
    }
  }
}
