import Controllers
import Bluetooth
import Basics

/// What hosts and controllers hear, in a link that is up and in the middle of its work.
///
/// Each piece begins with a byte: its lowest bit says at which end of the link something is heard, the next
/// whether it is the controller that hears it, or the host. What follows is one packet with the octet of H4.
func checkStack(_ bytes: [UInt8]) throws(DecoderDefect) {
  guard var stack = Stack.connected else { throw DecoderDefect("no link comes up") }
  for piece in bytes.pieces {
    guard let choice = piece.first, let packet = try? HCIPacket(decoding: [UInt8](piece.dropFirst())) else {
      continue
    }
    try stack.hear(packet, at: Int(choice & 1), isController: choice & 2 != 0)
  }
  // Everything that waits for something gives up.
  try stack.run(for: .seconds(40))
}

/// Two hosts on two controllers on one air. A value: each input begins with a copy.
private struct Stack: Sendable {
  private var radio = Radio(seed: 1)
  private var hosts: [BluetoothHost]
  private var now = Instant.zero
  private var link: LinkID?

  /// A central that has begun to discover, and a peripheral that indicates.
  static let connected: Stack? = try? Stack()

  private static let address = PeerAddress(.randomDevice, .staticRandom(2))
  private static let service = ServiceDefinition(
    BluetoothUUID(0xFD81),
    [
      .init(BluetoothUUID(0x2A00), [.read, .write], value: [UInt8](repeating: 1, count: 60)),
      .init(BluetoothUUID(0x2A01), [.writeWithoutResponse, .notify, .indicate]),
    ])

  private init() throws(DecoderDefect) {
    hosts = [
      BluetoothHost(HostSettings(address: .staticRandom(1))),
      BluetoothHost(HostSettings(address: Self.address.address), services: [Self.service]),
    ]
    for index in hosts.indices {
      _ = radio.addController()
      carryOut(hosts[index].start(at: now), index)
    }
    try run(for: .seconds(1))
    let advertising = hosts[1].startAdvertising(
      AdvertisingParameters(minimumInterval: 0x20, maximumInterval: 0x20), data: [2, 1, 6], scanResponse: [],
      at: now)
    carryOut(advertising, 1)
    carryOut(hosts[0].connect(to: Self.address, ConnectionParameters(), timeout: .seconds(5), at: now), 0)
    try run(for: .milliseconds(200))
    guard let link else { throw DecoderDefect("no link came up") }
    let procedures: [GATTProcedure] = [
      .exchangeMTU, .discoverAllServices, .discoverServices(Self.service.uuid),
      .discoverCharacteristics(.all, wanted: []), .discoverDescriptors(.all, wanted: nil),
    ]
    for procedure in procedures { carryOut(hosts[0].start(procedure, on: link, at: now).actions, 0) }
    carryOut(hosts[0].startScanning(ScanParameters(), filterDuplicates: false, at: now), 0)
  }

  /// Lets a host or a controller hear a packet, and everybody go on for a while.
  mutating func hear(_ packet: HCIPacket, at index: Int, isController: Bool) throws(DecoderDefect) {
    if isController {
      radio.send(packet, to: ControllerID(rawValue: index), at: now)
    } else {
      carryOut(hosts[index].receive(packet, at: now), index)
    }
    try run(for: .milliseconds(10))
  }

  /// Lets time pass. Nobody may be busy for ever.
  mutating func run(for interval: Interval) throws(DecoderDefect) {
    let limit = now + interval
    for _ in 0..<100_000 {
      while let (controller, packet) = radio.nextPacket() {
        try requireDecodable(packet)
        carryOut(hosts[controller.rawValue].receive(packet, at: now), controller.rawValue)
      }
      var next = radio.deadline ?? .never
      for index in hosts.indices { next = min(next, hosts[index].deadline ?? .never) }
      guard next <= limit else {
        now = limit
        radio.advance(to: now)
        return
      }
      now = max(now, next)
      radio.advance(to: now)
      for index in hosts.indices { carryOut(hosts[index].advance(to: now), index) }
    }
    throw DecoderDefect("hosts and controllers do not come to rest")
  }

  private mutating func carryOut(_ actions: [HostAction], _ index: Int) {
    for action in actions {
      switch action {
      case .transmit(let packet): radio.send(packet, to: ControllerID(rawValue: index), at: now)
      case .report(.connected(let link, _)) where index == 0 && self.link == nil: self.link = link
      case .report: break
      }
    }
  }

  /// An emulated controller tells its host nothing that is not HCI.
  private func requireDecodable(_ packet: HCIPacket) throws(DecoderDefect) {
    guard case .event(let code, let parameters) = packet else { return }
    do throws(DecodeError) {
      _ = try HCIEvent(code: code, parameters: parameters)
    } catch {
      throw DecoderDefect("a controller sends \(packet.h4.hex): \(error)")
    }
  }
}
