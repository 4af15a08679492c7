import Bluetooth

/// The GATT server of the socket.
enum SocketGATT {
  /// The address of the socket.
  static let address = PeerAddress(.randomDevice, .staticRandom(0x50CC_E700_0000))

  /// The socket's service: centrals write to the one characteristic and are notified by the other.
  static let socket = ServiceDefinition(
    uuid,
    [
      .init(BluetoothUUID(0xFFE1), .writeWithoutResponse.union(.write)),
      .init(BluetoothUUID(0xFFE2), .notify),
    ])
  private static let uuid = BluetoothUUID(0xFFE0)

  /// Another application's service, which is always present.
  static let others = [
    ServiceDefinition(BluetoothUUID(0xFFD0), [.init(BluetoothUUID(0xFFD1), [.write, .notify])])
  ]

  /// Services that fill the server.
  static let fillers = [
    ServiceDefinition(
      BluetoothUUID(0xFFC0), (0..<UInt16(capacity / 2)).map { .init(BluetoothUUID(0xF000 + $0), .read) })
  ]

  /// The maximum number of attributes of the server.
  static let capacity = 64

  /// The number of attributes of services: a declaration each, two for each characteristic, one more if it
  /// notifies.
  static func attributes(of services: [ServiceDefinition]) -> Int {
    services.reduce(0) { sum, service in
      sum + 1
        + service.characteristics.reduce(0) { $0 + ($1.properties.contains(.notify) ? 3 : 2) }
    }
  }

  // GAP and GATT have the first nine handles.
  static let other = AttributeHandle(rawValue: 12)
  static let otherConfiguration = AttributeHandle(rawValue: 13)
  static let input = AttributeHandle(rawValue: 16)
  static let output = AttributeHandle(rawValue: 18)
  static let outputConfiguration = AttributeHandle(rawValue: 19)

  static let advertisement = AdvertisingData([
    .flags([.generalDiscoverable, .noClassic]), .completeUUIDs16([0xFFE0]),
  ]).encoded

  /// The settings of the socket's host, with a short transmit queue.
  static let settings = HostSettings(address: address.address, queueLimit: 2)
}
