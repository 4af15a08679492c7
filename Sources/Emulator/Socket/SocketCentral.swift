import Basics
import Bluetooth
import Links

/// A central in range of the socket, with a host of its own.
struct SocketCentral: Sendable {
  let central: CentralID
  private var session: CentralSession
  /// Whether the last write succeeded; `nil` while that is not known.
  private(set) var isWritten: Bool?
  /// The number of notifications of the socket's values.
  private(set) var values = 0

  init(_ central: CentralID) {
    self.central = central
    session = CentralSession(HostSettings(address: .staticRandom(UInt64(central.number))))
  }

  /// The central with an address.
  static func central(at address: PeerAddress) -> CentralID? {
    [1, 2].first { address.address == .staticRandom(UInt64($0)) }.map { CentralID(number: $0) }
  }

  var isConnected: Bool { session.isConnected }
  var deadline: Instant? { mutating get { session.deadline } }

  mutating func start(at now: Instant) -> [HCIPacket] {
    session.start(at: now)
    return take()
  }

  mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    session.receive(packet, at: now)
    return take()
  }

  mutating func advance(to now: Instant) -> [HCIPacket] {
    session.advance(to: now)
    return take()
  }

  mutating func connect(to address: PeerAddress, at now: Instant) -> [HCIPacket] {
    session.perform(.connect(address, .nothing, within: .seconds(1)), at: now)
    return take()
  }

  /// Writes a value; ``isWritten`` shows the result.
  mutating func write(_ value: [UInt8], to handle: AttributeHandle, at now: Instant) -> [HCIPacket] {
    isWritten = nil
    session.perform(.write(.handle(handle), value, withResponse: true), at: now)
    return take()
  }

  private mutating func take() -> [HCIPacket] {
    while let event = session.takeEvent() {
      switch event {
      case .wrote: isWritten = true
      case .failed: isWritten = false
      case .notified(SocketGATT.output, _): values += 1
      default: break
      }
    }
    return session.takePackets()
  }
}
