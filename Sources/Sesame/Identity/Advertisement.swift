public import Bluetooth

/// The GATT service of all devices and its two characteristics.
///
/// Real locks accept both kinds of write; pairing and bonding are not used.
public enum SesameService {
  /// The assigned number of the service.
  public static let number: UInt16 = 0xFD81
  /// The service.
  public static let service = BluetoothUUID(number)
  /// The characteristic to which the app writes its frames.
  public static let write = BluetoothUUID(UUID128(high: 0x1686_0002_A5AE_9856, low: 0xB6D3_DBB4_C676_993E))
  /// The characteristic that notifies the lock's frames.
  public static let notify = BluetoothUUID(UUID128(high: 0x1686_0003_A5AE_9856, low: 0xB6D3_DBB4_C676_993E))
}

/// The identity that a device advertises.
public struct Advertisement: Hashable, Sendable {
  /// The company identifier in the manufacturer data.
  public static let company: UInt16 = 0x055A

  /// The product.
  public var model: ProductModel
  /// Whether the device has an owner.
  public var isRegistered: Bool
  /// Whether there are history records to read (OS3).
  public var hasHistory: Bool
  /// The device's UUID, which never changes.
  public var deviceID: UUID128
  /// The number of connections of WiFi Module 2; `nil` for other devices.
  public var connectionCount: UInt8?

  /// Makes an advertisement.
  public init(
    model: ProductModel, isRegistered: Bool, hasHistory: Bool = false, deviceID: UUID128,
    connectionCount: UInt8? = nil
  ) {
    self.model = model
    self.isRegistered = isRegistered
    self.hasHistory = hasHistory
    self.deviceID = deviceID
    self.connectionCount = connectionCount
  }

  /// The name in which OS2 devices encode their UUID: its base64 without padding, 22 characters.
  public static func localName(of deviceID: UUID128) -> String { deviceID.bytes.base64(padded: false) }
}

extension Advertisement {
  /// Reads an advertisement, with the scan response if there is one; the name may be in either.
  public init(_ data: AdvertisingData, scanResponse: AdvertisingData = AdvertisingData()) throws(DecodeError)
  {
    guard let manufacturerData = data.manufacturerData ?? scanResponse.manufacturerData else {
      throw .missing("manufacturer data")
    }
    try self.init(
      manufacturerData: manufacturerData, localName: data.localName ?? scanResponse.localName)
  }

  /// Reads manufacturer data that begin with the company, and the name that OS2 devices need.
  ///
  /// Error offsets count from the start of the manufacturer data. Bytes beyond the layout are ignored.
  public init(manufacturerData bytes: [UInt8], localName: String?) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    let company = try reader.u16()
    guard company == Self.company else { throw .value(Int(company), of: "company identifier", at: 0) }
    let number = try reader.u8()
    guard let model = ProductModel(rawValue: number) else {
      throw .value(Int(number), of: "product model", at: 2)
    }
    switch model {
    case .hub3: try self.init(hub3: &reader)
    case .wifiModule2: try self.init(wifiModule2: &reader)
    default: try self.init(model, &reader, localName: localName)
    }
  }

  private init(_ model: ProductModel, _ reader: inout ByteReader, localName: String?) throws(DecodeError) {
    try Self.readHighByte(&reader)
    let status = try reader.u8()
    let deviceID: UUID128
    if model.generation == .os2 {
      guard let localName else { throw .missing("local name", at: reader.offset) }
      deviceID = try UUID128(bytes: try [UInt8](base64: localName))
    } else {
      deviceID = try UUID128(decoding: &reader)
    }
    self.init(
      model: model, isRegistered: status & 1 != 0, hasHistory: model.generation == .os3 && status & 2 != 0,
      deviceID: deviceID)
  }

  /// WiFi Module 2: status, MAC address, number of connections.
  private init(wifiModule2 reader: inout ByteReader) throws(DecodeError) {
    try Self.readHighByte(&reader)
    let status = try reader.u8()
    let address = try Self.readMAC(&reader)
    self.init(
      model: .wifiModule2, isRegistered: status & 1 != 0, deviceID: Self.wifiModule2ID | address,
      connectionCount: try reader.u8())
  }

  /// Hub 3: the status is in the place of the high byte of the model, and the MAC address follows.
  private init(hub3 reader: inout ByteReader) throws(DecodeError) {
    let status = try reader.u8()
    self.init(
      model: .hub3, isRegistered: status & 1 != 0, deviceID: Self.hub3ID | (try Self.readMAC(&reader)))
  }

  private static func readHighByte(_ reader: inout ByteReader) throws(DecodeError) {
    let offset = reader.offset
    let high = try reader.u8()
    guard high == 0 else { throw .value(Int(high), of: "high byte of a product model", at: offset) }
  }

  private static func readMAC(_ reader: inout ByteReader) throws(DecodeError) -> UInt64 {
    try reader.require(6)
    let high = try reader.bigEndian(UInt16.self)
    return UInt64(high) << 32 | UInt64(try reader.bigEndian(UInt32.self))
  }

  // Devices that advertise a MAC address have a UUID made from it.
  private static let wifiModule2ID = UUID128(high: 0x0000_0000_055A_FD81, low: 0x0001_0000_0000_0000)
  private static let hub3ID = UUID128(high: 0x0000_0000_055A_FD81, low: 0x0D00_0000_0000_0000)
}

extension Advertisement {
  /// The manufacturer data, beginning with the company.
  public var manufacturerData: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: Self.company)
    bytes.append(model.rawValue)
    let status: UInt8 = (isRegistered ? 1 : 0) | (hasHistory ? 2 : 0)
    switch (model, model.generation) {
    case (.hub3, _): bytes += [status] + deviceID.bytes.suffix(6)
    case (.wifiModule2, _): bytes += [0, status] + deviceID.bytes.suffix(6) + [connectionCount ?? 0]
    case (_, .os2): bytes += [0, status & 1]
    default: bytes += [0, status] + deviceID.bytes
    }
    return bytes
  }

  /// The advertisement: flags, manufacturer data, service.
  public var advertisingData: AdvertisingData {
    AdvertisingData([
      .flags([.generalDiscoverable, .noClassic]), .init(.manufacturerData, manufacturerData),
      .completeUUIDs16([SesameService.number]),
    ])
  }

  /// The scan response: the name of an OS2 device; empty for others.
  public var scanResponse: AdvertisingData {
    AdvertisingData(model.generation == .os2 ? [.completeName(Self.localName(of: deviceID))] : [])
  }
}

extension Advertisement: CustomStringConvertible {
  /// The product, its UUID and its state, as text.
  public var description: String {
    "\(model) \(deviceID), " + (isRegistered ? "registered" : "not registered")
      + (hasHistory ? ", history waiting" : "")
  }
}

extension BluetoothAddress {
  /// The static random address of an OS3 device, derived from its UUID, by which accessories find the lock.
  public static func sesame(_ deviceID: UUID128) -> BluetoothAddress {
    let code = SecretKey(deviceID).cmac([UInt8]("candy".utf8))
    return .staticRandom(code.words.first)
  }
}

private func | (base: UUID128, address: UInt64) -> UUID128 {
  UUID128(high: base.high, low: base.low | address)
}
