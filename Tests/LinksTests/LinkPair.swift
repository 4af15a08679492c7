import Basics
import Bluetooth
import Controllers
import Links

/// A central and a peripheral on one emulated radio, in virtual time.
struct LinkPair {
  /// A door: what is written either way, what is notified, two of one kind, and what is indicated.
  static let service = BluetoothUUID(0xFFF0)
  static let services = [
    ServiceDefinition(
      service,
      [
        .init(BluetoothUUID(0xFFF1), [.write, .writeWithoutResponse]), .init(BluetoothUUID(0xFFF2), .notify),
        .init(BluetoothUUID(0xFFF3), .read, value: [65]), .init(BluetoothUUID(0xFFF3), .read),
        .init(BluetoothUUID(0xFFF4), .indicate), .init(BluetoothUUID(0xFFF5), .write),
      ])
  ]
  static let address = PeerAddress(.randomDevice, .staticRandom(2))
  static let advertisement = PeripheralSession.Advertisement(
    AdvertisingParameters(minimumInterval: 32, maximumInterval: 32), data: [2, 1, 6],
    scanResponse: [3, 9, 65, 66])

  /// Why a test cannot go on.
  enum Failure: Error { case notSubscribed }

  var radio = Radio(seed: 1)
  var central = CentralSession(HostSettings(address: .staticRandom(1)))
  var peripheral: PeripheralSession
  var now = Instant.zero
  /// What happened at both ends since it was last taken.
  var events: [CentralEvent] = []
  var served: [PeripheralSession.Event] = []
  static let (here, there) = (ControllerID(rawValue: 0), ControllerID(rawValue: 1))

  /// Makes a pair of which the peripheral advertises.
  init(maximumLinks: Int = 1) {
    peripheral = PeripheralSession(
      HostSettings(address: .staticRandom(2)), services: Self.services, maximumLinks: maximumLinks)
    _ = (radio.addController(), radio.addController())
    central.start(at: now)
    peripheral.start(at: now)
    pass(.milliseconds(100))
    peripheral.advertise(Self.advertisement, at: now)
    pass(.milliseconds(100))
    (events, served) = ([], [])
  }

  /// Makes a pair with a link that is open.
  static func open(_ query: ProfileQuery = ProfileQuery(descriptors: false)) -> LinkPair {
    var pair = LinkPair()
    pair.central.perform(.connect(address, query), at: pair.now)
    pair.pass(.seconds(1))
    (pair.events, pair.served) = ([], [])
    return pair
  }

  /// Makes a pair with a link on which the central looks for what there is.
  static func discovering() -> LinkPair {
    var pair = LinkPair()
    pair.central.perform(.connect(address, ProfileQuery(descriptors: false)), at: pair.now)
    while pair.radio.eventCount(of: here, at: pair.now) < 3 { pair.pass(.milliseconds(1)) }
    (pair.events, pair.served) = ([], [])
    return pair
  }

  /// The handle of a characteristic's value, from the declaration of the service on: 10.
  static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }

  mutating func take() -> [CentralEvent] {
    defer { events = [] }
    return events
  }

  /// Has an operation done, and gives what came of it in some time.
  mutating func perform(
    _ operation: CentralOperation, for time: Interval = .milliseconds(200)
  ) -> [CentralEvent] {
    central.perform(operation, at: now)
    pass(time)
    return take()
  }

  /// Lets time pass.
  mutating func pass(_ interval: Interval) {
    let end = now + interval
    while true {
      goOn()
      if let (controller, packet) = radio.nextPacket() {
        if controller == Self.here {
          central.receive(packet, at: now)
        } else {
          peripheral.receive(packet, at: now)
        }
        continue
      }
      let next = min(radio.deadline ?? .never, central.deadline ?? .never, peripheral.deadline ?? .never)
      now = min(max(now, next), end)
      radio.advance(to: now)
      guard next <= end else { return }
      central.advance(to: now)
      peripheral.advance(to: now)
    }
  }

  private mutating func goOn() {
    while let event = central.takeEvent() { events.append(event) }
    while let event = peripheral.takeEvent() { served.append(event) }
    while let packet = central.takePacket() { radio.send(packet, to: Self.here, at: now) }
    while let packet = peripheral.takePacket() { radio.send(packet, to: Self.there, at: now) }
  }
}
