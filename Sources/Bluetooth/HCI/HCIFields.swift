/// Fields that commands and events share (Core 5.4, Vol 4 Part E §5.2, §5.3).
extension ByteReader {
  /// Reads a byte that is 0 or 1.
  @_lifetime(self: copy self)
  mutating func flag(_ name: String) throws(DecodeError) -> Bool {
    let start = offset
    let value = try u8()
    guard value <= 1 else { throw .value(Int(value), of: name, at: start) }
    return value == 1
  }

  /// Reads a Boolean byte: 0 is false, other values are true; those above a maximum are reserved.
  @_lifetime(self: copy self)
  mutating func isSet(upTo maximum: UInt8) throws(DecodeError) -> Bool {
    let value = try u8()
    if value > maximum { reserved.insert(.value) }
    return value != 0
  }

  /// Reads a byte that is one of an enumeration's values.
  @_lifetime(self: copy self)
  mutating func choice<Value: RawRepresentable<UInt8>>(
    _ name: String, as _: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    let start = offset
    let number = try u8()
    guard let value = Value(rawValue: number) else { throw .value(Int(number), of: name, at: start) }
    return value
  }

  /// Reads a signal strength in dBm; 127 means unknown.
  @_lifetime(self: copy self)
  mutating func rssi() throws(DecodeError) -> Int8? {
    let value = try i8()
    return value == 127 ? nil : value
  }

  /// Reads a value with its own layout.
  @_lifetime(self: copy self)
  mutating func value<Value: BinaryCodable>(_: Value.Type = Value.self) throws(DecodeError) -> Value {
    try Value(decoding: &self)
  }
}

extension Array<UInt8> {
  /// Appends a byte that is 0 or 1.
  mutating func append(_ flag: Bool) { append(flag ? 1 as UInt8 : 0) }

  /// Appends a signal strength in dBm.
  mutating func append(rssi: Int8?) { append(UInt8(bitPattern: rssi ?? 127)) }
}

extension ConnectionHandle: BinaryCodable {
  /// Reads the twelve bits of a connection handle; the four above them are reserved.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    let word = try reader.u16()
    if word > Self.mask { reader.reserved.insert(.handleBits) }
    rawValue = word & Self.mask
  }

  /// Appends two bytes.
  public func encode(into bytes: inout [UInt8]) {
    precondition(rawValue <= Self.mask, "a connection handle has twelve bits")
    bytes.append(littleEndian: rawValue)
  }
}

extension PeerAddress: BinaryCodable {
  /// Reads the kind and six bytes of address.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    kind = try reader.choice("address type")
    address = try BluetoothAddress(decoding: &reader)
  }

  /// Appends the kind and six bytes of address.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: kind.rawValue, address)
  }
}

extension AdvertisingParameters: BinaryCodable {
  /// Reads the parameters of LE Set Advertising Parameters (Core 5.4, Vol 4 Part E §7.8.5).
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    minimumInterval = try reader.u16()
    maximumInterval = try reader.u16()
    kind = try reader.choice("advertising type")
    ownAddressType = try reader.u8()
    peer = try reader.value()
    channels = try reader.u8()
    filterPolicy = try reader.u8()
  }

  /// Appends the parameters, 15 bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: minimumInterval, maximumInterval, kind.rawValue, ownAddressType, peer)
    bytes.append(fields: channels, filterPolicy)
  }
}

extension ScanParameters: BinaryCodable {
  /// Reads the parameters of LE Set Scan Parameters (Core 5.4, Vol 4 Part E §7.8.10).
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    isActive = try reader.flag("scan type")
    interval = try reader.u16()
    window = try reader.u16()
    ownAddressType = try reader.u8()
    filterPolicy = try reader.u8()
  }

  /// Appends the parameters, 7 bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(isActive)
    bytes.append(fields: interval, window, ownAddressType, filterPolicy)
  }
}

extension ConnectionParameters: BinaryCodable {
  /// Reads the last six parameters of LE Connection Update (Core 5.4, Vol 4 Part E §7.8.18), which other
  /// commands have in the same order.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    try self.init(withoutEventLengths: &reader)
    minimumEventLength = try reader.u16()
    maximumEventLength = try reader.u16()
  }

  /// Appends the six parameters, 12 bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: withoutEventLengths, minimumEventLength, maximumEventLength)
  }

  /// Reads a request of the other end of a link, which does not contain the lengths of connection events.
  init(withoutEventLengths reader: inout ByteReader) throws(DecodeError) {
    self.init(
      minimumInterval: try reader.u16(), maximumInterval: try reader.u16(), latency: try reader.u16(),
      supervisionTimeout: try reader.u16())
  }

  /// All but the lengths of connection events, 8 bytes.
  var withoutEventLengths: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(fields: minimumInterval, maximumInterval, latency, supervisionTimeout)
    return bytes
  }
}

extension ConnectionRequest: BinaryCodable {
  /// Reads the parameters of LE Create Connection (Core 5.4, Vol 4 Part E §7.8.12).
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    scanInterval = try reader.u16()
    scanWindow = try reader.u16()
    usesFilterAcceptList = try reader.flag("initiator filter policy")
    peer = try reader.value()
    ownAddressType = try reader.u8()
    parameters = try reader.value()
  }

  /// Appends the parameters, 25 bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: scanInterval, scanWindow)
    bytes.append(usesFilterAcceptList)
    bytes.append(fields: peer, ownAddressType, parameters)
  }
}

extension ConnectionTiming: FieldCodable {
  /// The interval, latency and time-out, as the events about a link have them
  /// (Core 5.4, Vol 4 Part E §7.7.65.1, §7.7.65.3).
  public static let fields = FieldList(Self.init, \.interval, \.latency, \.supervisionTimeout)
}

extension DataLength: FieldCodable {
  /// The octets and time to transmit, then to receive (Core 5.4, Vol 4 Part E §7.7.65.7, §7.8.46).
  public static let fields = FieldList(
    Self.init, \.transmitOctets, \.transmitTime, \.receiveOctets, \.receiveTime)
}

extension VersionInformation: FieldCodable {
  /// The version, company and subversion (Core 5.4, Vol 4 Part E §7.7.12).
  public static let fields = FieldList(Self.init, \.version, \.company, \.subversion)
}
