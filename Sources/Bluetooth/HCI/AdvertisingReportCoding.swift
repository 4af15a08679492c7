// The specification lists the fields of several reports as arrays one after the other, but controllers and
// hosts have always used one report after the other.

extension AdvertisingReport {
  /// Reads one report of LE Advertising Report (Core 5.4, Vol 4 Part E §7.7.65.2); `nil` for one of a reserved type.
  static func legacy(_ reader: inout ByteReader) throws(DecodeError) -> AdvertisingReport? {
    let kind = Kind(legacy: try reader.u8())
    let addressKind = PeerAddress.Kind(rawValue: try reader.u8())
    let address: BluetoothAddress = try reader.value()
    let data = try reader.bytes(Int(try reader.u8()))
    let rssi = try reader.rssi()
    guard let kind, let addressKind else {
      reader.reserved.insert(.report)
      return nil
    }
    return AdvertisingReport(kind, from: PeerAddress(addressKind, address), data, rssi: rssi)
  }

  /// Appends the report as LE Advertising Report has it.
  func encodeLegacy(into bytes: inout [UInt8]) {
    guard let number = kind.legacy else {
      preconditionFailure("LE Advertising Report has no extended advertisements")
    }
    bytes.append(number)
    bytes.append(address)
    bytes.append(UInt8(data.count))
    bytes.append(contentsOf: data)
    bytes.append(rssi: rssi)
  }
}

extension AdvertisingReport.Kind {
  fileprivate init?(legacy number: UInt8) {
    switch number {
    case 0x00: self = .connectable
    case 0x01: self = .directed
    case 0x02: self = .scannable
    case 0x03: self = .nonconnectable
    case 0x04: self = .scanResponse
    default: return nil
    }
  }

  fileprivate var legacy: UInt8? {
    switch self {
    case .connectable: 0x00
    case .directed: 0x01
    case .scannable: 0x02
    case .nonconnectable: 0x03
    case .scanResponse: 0x04
    case .extended: nil
    }
  }
}

extension AdvertisingReport {
  /// An address type: the advertisement names no sender.
  private static let anonymous: UInt8 = 0xFF

  /// Reads one report of LE Extended Advertising Report (Core 5.4, Vol 4 Part E §7.7.65.13); `nil` for an
  /// anonymous one, that accepts no connection, and for one of a reserved type.
  static func extended(_ reader: inout ByteReader) throws(DecodeError) -> AdvertisingReport? {
    let bits = try reader.u16()
    if bits & ~Kind.eventTypeMask != 0 { reader.reserved.insert(.eventTypeBits) }
    let kind = Kind(eventType: bits & Kind.eventTypeMask)
    let addressType = try reader.u8()
    let address: BluetoothAddress = try reader.value()
    // Primary and secondary PHY, advertising set, transmit power
    try reader.skip(4)
    let rssi = try reader.rssi()
    // Interval of periodic advertising, type and address of the addressee
    try reader.skip(9)
    let data = try reader.bytes(Int(try reader.u8()))
    guard addressType != anonymous else { return nil }
    guard let kind, let addressKind = PeerAddress.Kind(rawValue: addressType) else {
      reader.reserved.insert(.report)
      return nil
    }
    return AdvertisingReport(kind, from: PeerAddress(addressKind, address), data, rssi: rssi)
  }

  /// Appends the report in the form of LE Extended Advertising Report; unknown fields have their values for
  /// that.
  func encodeExtended(into bytes: inout [UInt8]) {
    precondition(data.count <= 229, "an extended report holds at most 229 bytes")
    bytes.append(littleEndian: kind.eventType)
    bytes.append(address)
    // Primary PHY 1M, no secondary one, no advertising set, transmit power not known
    bytes.append(contentsOf: [0x01, 0x00, 0xFF, 0x7F])
    bytes.append(rssi: rssi)
    bytes.append(contentsOf: repeatElement(0, count: 9))
    bytes.append(UInt8(data.count))
    bytes.append(contentsOf: data)
  }
}

extension AdvertisingReport.Kind {
  /// The bits of an event type that have a meaning.
  fileprivate static let eventTypeMask: UInt16 = 0x007F
  /// Bit 4 of an event type: the advertisement is one of the legacy kind.
  private static let isLegacy: UInt16 = 0x0010

  fileprivate init?(eventType bits: UInt16) {
    guard bits & Self.isLegacy != 0 else {
      self = .extended(bits)
      return
    }
    // Connectable 1, scannable 2, directed 4, scan response 8.
    switch bits & 0x000F {
    case 0x3: self = .connectable
    case 0x5: self = .directed
    case 0x2: self = .scannable
    case 0x0: self = .nonconnectable
    case 0xA, 0xB: self = .scanResponse
    default: return nil
    }
  }

  fileprivate var eventType: UInt16 {
    switch self {
    case .connectable: 0x0013
    case .directed: 0x0015
    case .scannable: 0x0012
    case .nonconnectable: 0x0010
    case .scanResponse: 0x001B
    case .extended(let bits): bits
    }
  }
}
