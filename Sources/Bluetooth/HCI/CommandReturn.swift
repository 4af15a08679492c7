/// What controllers return in Command Complete behind the status (Core 5.4, Vol 4 Part E §7): one type per layout.
///
/// A command that failed may return its status alone, so the status is not part of the types: ask
/// ``status(of:)`` first, then ``decode(_:from:)``; a controller uses ``success(_:)``.
public enum CommandReturn {
  /// The status, which all return parameters begin with.
  public static func status(of returnParameters: [UInt8]) throws(DecodeError) -> HCIErrorCode {
    guard let first = returnParameters.first else { throw .truncated(at: 0) }
    return HCIErrorCode(rawValue: first)
  }

  /// Reads what follows the status of a command that succeeded.
  public static func decode<Value: BinaryCodable>(
    _: Value.Type = Value.self, from returnParameters: [UInt8]
  ) throws(DecodeError) -> Value {
    var reader = ByteReader(returnParameters.span)
    try reader.skip(1)
    let value = try Value(decoding: &reader)
    try reader.end()
    return value
  }

  /// The return parameters of a command that succeeded.
  public static func success(_ value: some BinaryCodable) -> [UInt8] {
    var bytes: [UInt8] = [HCIErrorCode.success.rawValue]
    bytes.append(value)
    return bytes
  }
}

extension CommandReturn {
  /// Read Local Version Information (§7.4.1).
  public struct LocalVersion: Hashable, Sendable, BinaryCodable {
    /// The version of HCI: 0x0C is 5.3, 0x0D is 5.4.
    public var hciVersion: UInt8
    /// The maker's own number.
    public var hciSubversion: UInt16
    /// The version of the link layer.
    public var lmpVersion: UInt8
    /// The company identifier of the maker.
    public var company: UInt16
    /// The maker's own number.
    public var lmpSubversion: UInt16

    /// Makes the contents.
    public init(
      hciVersion: UInt8, hciSubversion: UInt16, lmpVersion: UInt8, company: UInt16, lmpSubversion: UInt16
    ) {
      self.hciVersion = hciVersion
      self.hciSubversion = hciSubversion
      self.lmpVersion = lmpVersion
      self.company = company
      self.lmpSubversion = lmpSubversion
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      hciVersion = try reader.u8()
      hciSubversion = try reader.u16()
      lmpVersion = try reader.u8()
      company = try reader.u16()
      lmpSubversion = try reader.u16()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(hciVersion)
      bytes.append(littleEndian: hciSubversion)
      bytes.append(lmpVersion)
      bytes.append(littleEndian: company)
      bytes.append(littleEndian: lmpSubversion)
    }
  }
}

extension CommandReturn {
  /// Read Local Supported Features (§7.4.3).
  public struct LocalFeatures: Hashable, Sendable, BinaryCodable {
    /// The features of the link manager as bits; bit 38 says that it knows LE.
    public var features: UInt64

    /// Makes the contents.
    public init(_ features: UInt64) {
      self.features = features
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      features = try reader.u64()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: features)
    }
  }
}

extension CommandReturn {
  /// Read Buffer Size (§7.4.5).
  public struct ReadBufferSize: Hashable, Sendable, BinaryCodable {
    /// How long the data of an ACL packet may be.
    public var aclLength: UInt16
    /// How long the data of a synchronous packet may be.
    public var synchronousLength: UInt8
    /// How many ACL packets the controller takes before it has sent any.
    public var aclCount: UInt16
    /// How many synchronous packets it takes.
    public var synchronousCount: UInt16

    /// Makes the contents.
    public init(aclLength: UInt16, synchronousLength: UInt8, aclCount: UInt16, synchronousCount: UInt16) {
      self.aclLength = aclLength
      self.synchronousLength = synchronousLength
      self.aclCount = aclCount
      self.synchronousCount = synchronousCount
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      aclLength = try reader.u16()
      synchronousLength = try reader.u8()
      aclCount = try reader.u16()
      synchronousCount = try reader.u16()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: aclLength)
      bytes.append(synchronousLength)
      bytes.append(littleEndian: aclCount)
      bytes.append(littleEndian: synchronousCount)
    }
  }
}

extension CommandReturn {
  /// Read BD_ADDR (§7.4.6).
  public struct BDADDR: Hashable, Sendable, BinaryCodable {
    /// The public address.
    public var address: BluetoothAddress

    /// Makes the contents.
    public init(_ address: BluetoothAddress) {
      self.address = address
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      address = try reader.value()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(address)
    }
  }
}

extension CommandReturn {
  /// Read RSSI (§7.5.4).
  public struct RSSI: Hashable, Sendable, BinaryCodable {
    /// The link.
    public var handle: ConnectionHandle
    /// The signal's strength in dBm; `nil` when the controller does not know (127).
    public var rssi: Int8?

    /// Makes the contents.
    public init(handle: ConnectionHandle, rssi: Int8?) {
      self.handle = handle
      self.rssi = rssi
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      handle = try reader.connectionHandle()
      rssi = try reader.rssi()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(handle)
      bytes.append(rssi: rssi)
    }
  }
}

extension CommandReturn {
  /// LE Read Buffer Size, version 1 (§7.8.2).
  public struct LEReadBufferSize: Hashable, Sendable, BinaryCodable {
    /// How long the data of an ACL packet may be; 0 says that LE shares the buffers of ``ReadBufferSize``.
    public var aclLength: UInt16
    /// How many ACL packets the controller takes before it has sent any.
    public var aclCount: UInt8

    /// Makes the contents.
    public init(aclLength: UInt16, aclCount: UInt8) {
      self.aclLength = aclLength
      self.aclCount = aclCount
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      aclLength = try reader.u16()
      aclCount = try reader.u8()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: aclLength)
      bytes.append(aclCount)
    }
  }
}

extension CommandReturn {
  /// LE Read Local Supported Features (§7.8.3).
  public struct LEFeatures: Hashable, Sendable, BinaryCodable {
    /// The features of LE as bits (Vol 6 Part B §4.6).
    public var features: UInt64

    /// Makes the contents.
    public init(_ features: UInt64) {
      self.features = features
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      features = try reader.u64()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: features)
    }
  }
}

extension CommandReturn {
  /// LE Read Advertising Physical Channel Tx Power (§7.8.6).
  public struct AdvertisingTxPower: Hashable, Sendable, BinaryCodable {
    /// The power in dBm.
    public var level: Int8

    /// Makes the contents.
    public init(_ level: Int8) {
      self.level = level
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      level = try reader.i8()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(UInt8(bitPattern: level))
    }
  }
}

extension CommandReturn {
  /// LE Read Filter Accept List Size (§7.8.14).
  public struct FilterAcceptListSize: Hashable, Sendable, BinaryCodable {
    /// How many devices the list can hold.
    public var size: UInt8

    /// Makes the contents.
    public init(_ size: UInt8) {
      self.size = size
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      size = try reader.u8()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(size)
    }
  }
}

extension CommandReturn {
  /// LE Encrypt (§7.8.22).
  public struct Encrypt: Hashable, Sendable, BinaryCodable {
    /// The 16 bytes in the order in which they are sent.
    public var ciphertext: UUID128

    /// Makes the contents.
    public init(_ ciphertext: UUID128) {
      self.ciphertext = ciphertext
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      ciphertext = try reader.value()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(ciphertext)
    }
  }
}

extension CommandReturn {
  /// LE Rand (§7.8.23).
  public struct Rand: Hashable, Sendable, BinaryCodable {
    /// The random number.
    public var number: UInt64

    /// Makes the contents.
    public init(_ number: UInt64) {
      self.number = number
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      number = try reader.u64()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: number)
    }
  }
}

extension CommandReturn {
  /// LE Read Supported States (§7.8.27).
  public struct SupportedStates: Hashable, Sendable, BinaryCodable {
    /// The combinations of states and roles as bits.
    public var states: UInt64

    /// Makes the contents.
    public init(_ states: UInt64) {
      self.states = states
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      states = try reader.u64()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: states)
    }
  }
}

extension CommandReturn {
  /// LE Read Suggested Default Data Length (§7.8.34).
  public struct SuggestedDataLength: Hashable, Sendable, BinaryCodable {
    /// Bytes of payload, from 27 to 251.
    public var octets: UInt16
    /// Microseconds.
    public var time: UInt16

    /// Makes the contents.
    public init(octets: UInt16, time: UInt16) {
      self.octets = octets
      self.time = time
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      octets = try reader.u16()
      time = try reader.u16()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(littleEndian: octets)
      bytes.append(littleEndian: time)
    }
  }
}

extension CommandReturn {
  /// LE Read PHY (§7.8.47).
  public struct PHY: Hashable, Sendable, BinaryCodable {
    /// The link.
    public var handle: ConnectionHandle
    /// 1 for 1M, 2 for 2M, 3 for coded.
    public var transmit: UInt8
    /// 1 for 1M, 2 for 2M, 3 for coded.
    public var receive: UInt8

    /// Makes the contents.
    public init(handle: ConnectionHandle, transmit: UInt8, receive: UInt8) {
      self.handle = handle
      self.transmit = transmit
      self.receive = receive
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      handle = try reader.connectionHandle()
      transmit = try reader.u8()
      receive = try reader.u8()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(handle)
      bytes.append(transmit)
      bytes.append(receive)
    }
  }
}

extension CommandReturn {
  /// Of the commands that return nothing but the link that they were about: LE Long Term Key Request Negative Reply,
  /// LE Remote Connection Parameter Request Reply and Negative Reply, LE Set Data Length (§7.8.26, §7.8.31, §7.8.32, §7.8.33).
  public struct Link: Hashable, Sendable, BinaryCodable {
    /// The link.
    public var handle: ConnectionHandle

    /// Makes the contents.
    public init(_ handle: ConnectionHandle) {
      self.handle = handle
    }

    /// Reads the fields in the specification's order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      handle = try reader.connectionHandle()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(handle)
    }
  }
}

extension CommandReturn {
  /// LE Read Maximum Data Length (§7.8.46).
  public typealias MaximumDataLength = DataLength

  /// Read Local Supported Commands (§7.4.2).
  public struct SupportedCommands: Hashable, Sendable, BinaryCodable {
    /// 64 bytes of bits, numbered as in Vol 4 Part E §6.27.
    public private(set) var octets: [UInt8]

    /// Makes a set without any command.
    public init() {
      octets = [UInt8](repeating: 0, count: 64)
    }

    /// Whether a bit of an octet is set: whether the controller knows a command.
    public subscript(octet octet: Int, bit bit: Int) -> Bool {
      get { octets[octet] >> bit & 1 == 1 }
      set { octets[octet] = octets[octet] & ~(1 << bit) | (newValue ? 1 << bit : 0) }
    }

    /// Reads 64 bytes.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      octets = try reader.bytes(64)
    }

    /// Appends 64 bytes.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(contentsOf: octets)
    }
  }

  /// LE Read Channel Map (§7.8.20).
  public struct ChannelMap: Hashable, Sendable, BinaryCodable {
    /// The link.
    public var handle: ConnectionHandle
    /// The data channels that are in use, as bits 0 to 36.
    public var channels: UInt64

    /// Makes the contents.
    public init(handle: ConnectionHandle, channels: UInt64) {
      precondition(channels >> 40 == 0, "a channel map has 40 bits")
      self.handle = handle
      self.channels = channels
    }

    /// Reads the handle and five bytes of bits.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
      handle = try reader.connectionHandle()
      try reader.require(5)
      channels = UInt64(try reader.u32()) | UInt64(try reader.u8()) << 32
    }

    /// Appends the handle and five bytes of bits.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(handle)
      bytes.append(littleEndian: UInt32(truncatingIfNeeded: channels))
      bytes.append(UInt8(truncatingIfNeeded: channels >> 32))
    }
  }
}
