import Sesame
import Controllers
import Bluetooth
import Emulator
import Links
import Basics

/// Two sessions with a link between them on an emulated radio: the central writes, and the peripheral notifies the
/// same value.
struct AirPair {
  private static let service = BluetoothUUID(0xFD81)
  private static let input = BluetoothUUID(1)
  private static let output = BluetoothUUID(2)

  private var radio = Radio(seed: 1)
  private let centralController: ControllerID
  private let peripheralController: ControllerID
  private var central: CentralSession
  private var peripheral = PeripheralSession(
    HostSettings(address: .staticRandom(2)),
    services: [ServiceDefinition(service, [.init(input, .writeWithoutResponse), .init(output, .notify)])])
  private var now = Instant.zero
  private let inputHandle: AttributeHandle
  private let outputHandle: AttributeHandle
  private var isReady = (central: false, peripheral: false)
  private var isSubscribed = false
  private var answers = 0
  private let value: [UInt8] = [5, 0, 0, 0, 0, 0, 0, 0, 0]

  /// Makes a link with these parameters, or returns `nil` if that fails.
  init?(_ parameters: ConnectionParameters) {
    central = CentralSession(HostSettings(address: .staticRandom(1)), parameters)
    centralController = radio.addController()
    peripheralController = radio.addController()
    guard let input = peripheral.handle(of: Self.input, in: Self.service),
      let output = peripheral.handle(of: Self.output, in: Self.service)
    else { return nil }
    (inputHandle, outputHandle) = (input, output)
    central.start(at: now)
    peripheral.start(at: now)
    guard run(until: { $0.isReady == (true, true) }) else { return nil }
    peripheral.advertise(.init(AdvertisingParameters(), data: []), at: now)
    let address = PeerAddress(.randomDevice, .staticRandom(2))
    central.perform(.connect(address, .nothing, within: .seconds(10)), at: now)
    guard run(until: { $0.central.isOpen }) else { return nil }
    let configuration = AttributeHandle(rawValue: outputHandle.rawValue + 1)
    central.perform(.write(.handle(configuration), [1, 0], withResponse: true), at: now)
    guard run(until: { $0.isSubscribed }) else { return nil }
  }

  /// Writes a value and waits for the answer; returns `false` if there is none.
  mutating func roundTrip() -> Bool {
    let expected = answers + 1
    central.perform(.write(.handle(inputHandle), value, withResponse: false), at: now)
    return run { $0.answers == expected }
  }

  /// Advances time by an interval.
  mutating func pass(_ interval: Interval) {
    let end = now + interval
    while step(until: end) {}
    now = end
    radio.advance(to: now)
  }

  /// Advances until a condition holds; returns `false` if nothing more happens.
  private mutating func run(until isDone: (borrowing AirPair) -> Bool) -> Bool {
    handleCentralEvents()
    handlePeripheralEvents()
    while !isDone(self) {
      guard step(until: .never) else { return false }
    }
    return true
  }

  private mutating func step(until limit: Instant) -> Bool {
    if let (controller, packet) = radio.nextPacket() {
      if controller == centralController {
        central.receive(packet, at: now)
        handleCentralEvents()
      } else {
        peripheral.receive(packet, at: now)
        handlePeripheralEvents()
      }
      return true
    }
    guard let next = radio.deadline, next <= limit else { return false }
    now = max(now, next)
    radio.advance(to: now)
    return true
  }

  private mutating func handleCentralEvents() {
    while let event = central.takeEvent() {
      switch event {
      case .ready: isReady.central = true
      case .wrote(_, withResponse: true): isSubscribed = true
      case .notified: answers += 1
      default: break
      }
    }
    while let packet = central.takePacket() { radio.send(packet, to: centralController, at: now) }
  }

  private mutating func handlePeripheralEvents() {
    while let event = peripheral.takeEvent() {
      switch event {
      case .ready: isReady.peripheral = true
      case .written(let link, inputHandle, let value):
        _ = peripheral.notify(outputHandle, value, on: link, at: now)
      default: break
      }
    }
    while let packet = peripheral.takePacket() { radio.send(packet, to: peripheralController, at: now) }
  }
}

/// Many locks that advertise, and a host that scans for all of them.
struct AdvertisingLocks {
  private var radio = Radio(seed: 1)
  private var locks: [LockPeripheral] = []
  private let listener: ControllerID
  private var central = CentralSession(HostSettings(address: .staticRandom(1)))
  private var now = Instant.zero
  private var reportCount = 0

  init(_ count: Int) {
    for number in 0..<count {
      _ = radio.addController()
      locks.append(LockPeripheral(EmulatedLockSpecification(.sesame5), seed: UInt64(number)))
    }
    listener = radio.addController()
    for number in locks.indices { send(locks[number].start(at: now), ControllerID(rawValue: number)) }
    central.start(at: now)
    pass(until: now + .seconds(1))
    central.perform(.scan(true), at: now)
  }

  /// Advances time by an interval and returns the number of reports received meanwhile.
  mutating func listen(_ interval: Interval) -> Int {
    reportCount = 0
    pass(until: now + interval)
    return reportCount
  }

  private mutating func pass(until limit: Instant) {
    handleCentralEvents()
    while true {
      if let (controller, packet) = radio.nextPacket() {
        if controller == listener {
          central.receive(packet, at: now)
          handleCentralEvents()
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

  private mutating func handleCentralEvents() {
    while let packet = central.takePacket() { radio.send(packet, to: listener, at: now) }
    while let event = central.takeEvent() {
      if case .advertisement = event { reportCount += 1 }
    }
  }
}
