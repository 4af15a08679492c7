/// The return parameters of commands after the status, if they have several named parts (Core 5.4, Vol 4 Part
/// E §7).
///
/// The response of a failed command may consist of the status alone, so the types do not contain it: read
/// ``status(of:)`` first, then ``HCICommand/Kind/returned(_:)``.
public enum CommandReturn {
  /// The status, which all return parameters begin with.
  public static func status(of returnParameters: [UInt8]) throws(DecodeError) -> HCIErrorCode {
    guard let first = returnParameters.first else { throw .truncated(at: 0) }
    return HCIErrorCode(rawValue: first)
  }
}

extension CommandReturn {
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
    /// The maximum data length of an ACL packet.
    public var aclLength: UInt16
    /// The maximum data length of a synchronous packet.
    public var synchronousLength: UInt8
    /// The number of ACL packets that the controller can buffer.
    public var aclCount: UInt16
    /// The number of synchronous packets that it can buffer.
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

  /// LE Read Buffer Size, version 1 (§7.8.2).
  public struct LEReadBufferSize: Hashable, Sendable, FieldCodable {
    /// The maximum data length of an ACL packet; 0 if LE shares the buffers of ``ReadBufferSize``.
    public var aclLength: UInt16
    /// The number of ACL packets that the controller can buffer.
    public var aclCount: UInt8

    /// Makes the contents.
    public init(aclLength: UInt16, aclCount: UInt8) {
      self.aclLength = aclLength
      self.aclCount = aclCount
    }

    /// The fields in the specification's order.
    public static let fields = FieldList(Self.init, \.aclLength, \.aclCount)
  }

  /// Read Local Supported Commands (§7.4.2).
  public struct SupportedCommands: Hashable, Sendable, BinaryCodable {
    /// 64 bytes of bits, numbered as in Vol 4 Part E §6.27.
    public private(set) var octets: [UInt8]

    /// Makes a set without any command.
    public init() {
      octets = [UInt8](repeating: 0, count: 64)
    }

    /// Whether a bit of an octet is set, that is, whether the controller supports a command.
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
}
