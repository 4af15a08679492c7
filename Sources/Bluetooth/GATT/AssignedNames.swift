extension BluetoothUUID {
  /// The name assigned by the Bluetooth SIG, for the services, characteristics and descriptors of most
  /// devices; `nil` for others and for those of a vendor (Assigned Numbers, §3.4, §3.6 to §3.8).
  public var assignedName: String? {
    guard let short, let index = Self.assigned.firstIndex(where: { $0.number == short }) else { return nil }
    return Self.assigned[index].name
  }

  /// The identifier that has a name; case, hyphens and spaces do not count.
  public init?(assignedName name: String) {
    let wanted = Self.folded(name)
    guard let number = Self.assigned.first(where: { Self.folded($0.name) == wanted })?.number else {
      return nil
    }
    self.init(number)
  }

  /// All assigned names.
  public static var assignedNames: [String] { assigned.map(\.name) }

  private static func folded(_ name: String) -> [UInt8] {
    name.lowercased().utf8.filter { !" -_".utf8.contains($0) }
  }

  // swift-format-ignore
  private static let assigned: [(number: UInt16, name: String)] = [
    // Services
    (0x1800, "Generic Access"), (0x1801, "Generic Attribute"), (0x1802, "Immediate Alert"), (0x1803, "Link Loss"),
    (0x1804, "Tx Power"), (0x1805, "Current Time"), (0x180A, "Device Information"), (0x180F, "Battery"),
    (0x1812, "Human Interface Device"), (0x1815, "Automation IO"), (0x181C, "User Data"),
    (0x1827, "Mesh Provisioning"), (0x1828, "Mesh Proxy"),
    (0xFE59, "Nordic Semiconductor ASA"), (0xFD81, "CANDY HOUSE, Inc."),
    // Declarations
    (0x2800, "Primary Service"), (0x2801, "Secondary Service"), (0x2802, "Include"), (0x2803, "Characteristic"),
    // Descriptors
    (0x2900, "Characteristic Extended Properties"), (0x2901, "Characteristic User Description"),
    (0x2902, "Client Characteristic Configuration"), (0x2903, "Server Characteristic Configuration"),
    (0x2904, "Characteristic Presentation Format"), (0x2905, "Characteristic Aggregate Format"),
    (0x2906, "Valid Range"), (0x2907, "External Report Reference"), (0x2908, "Report Reference"),
    // Characteristics: access and attributes
    (0x2A00, "Device Name"), (0x2A01, "Appearance"), (0x2A02, "Peripheral Privacy Flag"),
    (0x2A03, "Reconnection Address"), (0x2A04, "Peripheral Preferred Connection Parameters"),
    (0x2A05, "Service Changed"), (0x2AA6, "Central Address Resolution"),
    (0x2AC9, "Resolvable Private Address Only"), (0x2B29, "Client Supported Features"), (0x2B2A, "Database Hash"),
    (0x2B3A, "Server Supported Features"), (0x2B88, "Encrypted Data Key Material"), (0x2BF5, "LE GATT Security Levels"),
    // Characteristics: the device, its battery and its clock
    (0x2A06, "Alert Level"), (0x2A07, "Tx Power Level"), (0x2A0F, "Local Time Information"), (0x2A19, "Battery Level"),
    (0x2A23, "System ID"), (0x2A24, "Model Number String"), (0x2A25, "Serial Number String"),
    (0x2A26, "Firmware Revision String"), (0x2A27, "Hardware Revision String"), (0x2A28, "Software Revision String"),
    (0x2A29, "Manufacturer Name String"), (0x2A2A, "IEEE 11073-20601 Regulatory Certification Data List"),
    (0x2A2B, "Current Time"), (0x2A50, "PnP ID"), (0x2BED, "Battery Level Status"),
  ]
}

extension CharacteristicProperties: CustomStringConvertible {
  /// The names of the properties, in the words of the specification and in the order of the bits.
  public var names: [String] {
    let all: [(CharacteristicProperties, String)] = [
      (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write without response"),
      (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
      (.signedWrite, "authenticated signed writes"), (.extended, "extended properties"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }

  /// The names, separated by commas; `nothing` if there are none.
  public var description: String { isEmpty ? "nothing" : names.joined(separator: ", ") }
}
