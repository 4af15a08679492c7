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
  /// No more than the status.
  public struct Nothing: Hashable, Sendable, BinaryCodable {
    /// Makes nothing.
    public init() {}

    /// Reads nothing.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {}

    /// Appends nothing.
    public func encode(into bytes: inout [UInt8]) {}
  }

  /// Read Local Version Information (§7.4.1).
  public struct LocalVersion: Hashable, Sendable, FieldCodable {
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

    /// The fields in the specification's order.
    public static let fields = FieldList(
      Self.init, \.hciVersion, \.hciSubversion, \.lmpVersion, \.company, \.lmpSubversion)
  }

  /// Read Buffer Size (§7.4.5).
  public struct ReadBufferSize: Hashable, Sendable, FieldCodable {
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

    /// The fields in the specification's order.
    public static let fields = FieldList(
      Self.init, \.aclLength, \.synchronousLength, \.aclCount, \.synchronousCount)
  }

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
      handle = try reader.value()
      rssi = try reader.rssi()
    }

    /// Appends the fields in the specification's order.
    public func encode(into bytes: inout [UInt8]) {
      bytes.append(handle)
      bytes.append(rssi: rssi)
    }
  }

  /// LE Read Buffer Size, version 1 (§7.8.2).
  public struct LEReadBufferSize: Hashable, Sendable, FieldCodable {
    /// How long the data of an ACL packet may be; 0 says that LE shares the buffers of ``ReadBufferSize``.
    public var aclLength: UInt16
    /// How many ACL packets the controller takes before it has sent any.
    public var aclCount: UInt8

    /// Makes the contents.
    public init(aclLength: UInt16, aclCount: UInt8) {
      self.aclLength = aclLength
      self.aclCount = aclCount
    }

    /// The fields in the specification's order.
    public static let fields = FieldList(Self.init, \.aclLength, \.aclCount)
  }

  /// LE Read Suggested Default Data Length (§7.8.34).
  public struct SuggestedDataLength: Hashable, Sendable, FieldCodable {
    /// Bytes of payload, from 27 to 251.
    public var octets: UInt16
    /// Microseconds.
    public var time: UInt16

    /// Makes the contents.
    public init(octets: UInt16, time: UInt16) {
      self.octets = octets
      self.time = time
    }

    /// The fields in the specification's order.
    public static let fields = FieldList(Self.init, \.octets, \.time)
  }

  /// LE Read PHY (§7.8.47).
  public struct PHY: Hashable, Sendable, FieldCodable {
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

    /// The fields in the specification's order.
    public static let fields = FieldList(Self.init, \.handle, \.transmit, \.receive)
  }

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
      handle = try reader.value()
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
