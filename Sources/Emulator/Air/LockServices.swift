import Bluetooth
import Sesame

/// The services of an emulated lock.
enum LockServices {
  /// The lock's service and another one after it, so that the range of its handles has an end, as in
  /// libsesame3bt-server.
  static func definitions(_ properties: LockOptions.GATTProperties) -> [ServiceDefinition] {
    let write: CharacteristicProperties =
      properties == .commandOnly ? .writeWithoutResponse : [.write, .writeWithoutResponse]
    return [
      ServiceDefinition(
        SesameService.service,
        [
          .init(SesameService.write, write),
          .init(SesameService.notify, properties == .readable ? [.notify, .read] : .notify),
        ]),
      ServiceDefinition(last, []),
    ]
  }

  /// An empty service with a random UUID that belongs to no vendor.
  static let last = BluetoothUUID(UUID128(high: 0x57F1_5D3E_7B2C_4C0A, low: 0x9E3D_6A1F_0C84_B2D7))
}
