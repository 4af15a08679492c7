public import Basics
public import Bluetooth

/// A battery whose level can be read over the air, and which tells a central that subscribes when it changes.
public struct Battery {
  public var host = BluetoothHost(
    HostSettings(address: .staticRandom(0xBA77), name: "Battery"),
    services: [.init(service, [.init(level, [.read, .notify], value: [80])])])
  private var link: LinkID?
  private static let (service, level) = (BluetoothUUID(0x180F), BluetoothUUID(0x2A19))

  public init() {}

  /// Does what the host wants done; gives what is for the controller.
  public mutating func carryOut(_ actions: [HostAction], at now: Instant) -> [HCIPacket] {
    var packets: [HCIPacket] = []
    for action in actions {
      switch action {
      case .transmit(let packet): packets.append(packet)
      case .report(.connected(let new, _)): link = new
      case .report(.ready), .report(.disconnected):
        let data = AdvertisingData([.flags([.generalDiscoverable, .noClassic]), .completeUUIDs16([0x180F])])
        let parameters = AdvertisingParameters()
        packets += carryOut(
          host.startAdvertising(parameters, data: data.encoded, scanResponse: [], at: now), at: now)
      case .report: break
      }
    }
    return packets
  }

  public mutating func setLevel(_ percent: UInt8, at now: Instant) -> [HCIPacket] {
    guard let handle = host.handle(of: Self.level, in: Self.service), let link else { return [] }
    host.setValue([percent], of: handle)
    return carryOut(host.notify(handle, [percent], on: link, at: now) ?? [], at: now)
  }
}
