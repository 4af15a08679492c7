import Bluetooth
import Basics

/// What the tests of ATT and GATT share: a server whose handles are known, and short spellings.
enum GATTFixture {
  static let longUUID = BluetoothUUID(UUID128(high: 0x1686_0002_A5AE_9856, low: 0xB6D3_DBB4_C676_993E))
  static let longUUIDBytes: [UInt8] = [
    0x3E, 0x99, 0x76, 0xC6, 0xB4, 0xDB, 0xD3, 0xB6, 0x56, 0x98, 0xAE, 0xA5, 0x02, 0x00, 0x86, 0x16,
  ]

  /// Handles 1 to 5 are GAP, 6 to 9 GATT; the rest as noted.
  static let services: [ServiceDefinition] = [
    .genericAccess(name: "Lock", appearance: 0x0708),
    .genericAttribute,
    ServiceDefinition(
      BluetoothUUID(0xFD81),  // 0x0A to 0x0F
      [
        .init(longUUID, [.write, .writeWithoutResponse]),  // 0x0B, value 0x0C
        .init(BluetoothUUID(0xFFF1), [.notify]),  // 0x0D, value 0x0E, configuration 0x0F
      ]),
    ServiceDefinition(
      longUUID,  // 0x10 to 0x19
      [
        .init(BluetoothUUID(0xFFF2), [.read, .write], value: Array(0..<40)),  // 0x11, value 0x12
        .init(BluetoothUUID(0xFFF3), [.read, .notify, .indicate], value: [1]),  // 0x13, 0x14, 0x15
        .init(BluetoothUUID(0xFFF3), [.read], value: [2]),  // 0x16, value 0x17
        .init(BluetoothUUID(0xFFF3), [.read], value: [3, 3]),  // 0x18, value 0x19
      ]),
  ]

  static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }

  static func range(_ first: UInt16, _ last: UInt16) -> AttributeRange {
    AttributeRange(handle(first), handle(last))
  }

  static func error(_ request: UInt8, _ number: UInt16, _ code: ATTErrorCode) -> ATTPacket {
    .errorResponse(request: request, handle(number), code)
  }

  /// A link whose MTU was agreed on, as its server.
  static func link(mtu: UInt16, _ database: inout GATTDatabase) -> GATTLink {
    var link = GATTLink(offering: mtu)
    _ = link.receive(.exchangeMTURequest(mtu), &database, at: .zero)
    return link
  }
}
