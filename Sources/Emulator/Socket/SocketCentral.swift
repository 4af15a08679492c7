import Bluetooth
import Basics

/// A central in range of the socket, with a host of its own.
struct SocketCentral: Sendable {
  let central: Central
  private var host: BluetoothHost
  private(set) var link: LinkID?
  /// What came of the last thing that it wrote.
  private(set) var result: Result<GATTResult, GATTFailure>?
  /// How many of the socket's values it was notified of.
  private(set) var values = 0

  init(_ central: Central) {
    self.central = central
    host = BluetoothHost(HostSettings(address: .staticRandom(UInt64(central.number))))
  }

  /// Which central has an address.
  static func central(at address: PeerAddress) -> Central? {
    [1, 2].first { address.address == .staticRandom(UInt64($0)) }.map { Central(number: $0) }
  }

  var deadline: Instant? { mutating get { host.deadline } }

  mutating func start(at now: Instant) -> [HostAction] { host.start(at: now) }

  mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HostAction] {
    host.receive(packet, at: now)
  }

  mutating func advance(to now: Instant) -> [HostAction] { host.advance(to: now) }

  mutating func connect(to address: PeerAddress, at now: Instant) -> [HostAction] {
    host.connect(to: address, ConnectionParameters(), timeout: .seconds(1), at: now)
  }

  /// Writes a value; ``result`` tells what came of it.
  mutating func write(_ value: [UInt8], to handle: AttributeHandle, at now: Instant) -> [HostAction] {
    result = nil
    guard let link else { return [] }
    return host.start(.write(handle, value), on: link, at: now).actions
  }

  mutating func handle(_ event: HostEvent) {
    switch event {
    case .connected(let link, _): self.link = link
    case .disconnected: link = nil
    case .gatt(_, .finished(_, let result)): self.result = result
    case .gatt(_, .notification(SocketGATT.output, _)): values += 1
    default: break
    }
  }
}
