/// The capture file that hosts write and Wireshark reads: a header, then a record for each packet.
///
/// It is the Snoop format of RFC 1761 with a datalink for HCI: all numbers are big-endian, records are not
/// padded, and with datalink 1002 each packet begins with its H4 octet.
public enum BTSnoop {
  /// The number of microseconds from the year 0 to 1970, as the format counts them.
  public static let unixEpoch: UInt64 = 0x00DC_DDB3_0F2F_8000

  /// The first 16 bytes of a file: its name, version 1, and the datalink for H4.
  public static let header: [UInt8] = magic + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]

  static let magic: [UInt8] = Array("btsnoop\0".utf8)
  static let version: UInt32 = 1

  /// The layout of the packets in a file.
  public enum Datalink: UInt32, Hashable, Sendable {
    /// Without the H4 octet: only the flags show the kind of a packet.
    case bare = 1001
    /// With the H4 octet; see ``BTSnoop/header``.
    case h4 = 1002
    /// From the Linux monitor channel, as `btmon -w` writes: of several controllers, with notes between.
    case monitor = 2001
  }
}

extension BTSnoop {
  /// A packet of a capture.
  public struct Record: Hashable, Sendable {
    /// The direction and the kind of a packet.
    public struct Flags: OptionSet, Hashable, Sendable {
      /// The bits as written.
      public var rawValue: UInt32

      /// Makes flags from their bits.
      public init(rawValue: UInt32) {
        self.rawValue = rawValue
      }

      /// Controller to host; without it, host to controller.
      public static let received = Flags(rawValue: 1 << 0)
      /// A command or an event; without it, data.
      public static let control = Flags(rawValue: 1 << 1)
    }

    /// The time of the packet, in microseconds since the year 0: those since 1970 plus ``BTSnoop/unixEpoch``.
    public var time: UInt64
    /// The direction and the kind of the packet.
    public var flags: Flags
    /// The number of packets that the capture has lost so far.
    public var drops: UInt32
    /// The packet with its H4 octet, or its beginning.
    public var packet: [UInt8]
    /// The length of the packet, which is greater than the recorded part if that was truncated.
    public var originalLength: UInt32
    /// The number of the controller, in a capture of several controllers.
    public var controller: UInt16?
    /// A note of the capture that replaces a packet.
    public var note: String?

    /// Makes a record of a whole packet, whose first byte is its H4 octet.
    public init(time: UInt64, isReceived: Bool, packet: [UInt8], drops: UInt32 = 0) {
      let isControl =
        packet.first == H4Indicator.command.rawValue || packet.first == H4Indicator.event.rawValue
      self.init(
        time: time, flags: Flags(isReceived ? [.received] : []).union(isControl ? [.control] : []),
        drops: drops, packet: packet, originalLength: UInt32(packet.count))
    }

    /// Makes a record from its fields.
    public init(time: UInt64, flags: Flags, drops: UInt32, packet: [UInt8], originalLength: UInt32) {
      self.time = time
      self.flags = flags
      self.drops = drops
      self.packet = packet
      self.originalLength = originalLength
    }
  }
}

extension BTSnoop.Record: BinaryCodable {
  /// The longest packet with its octet: isochronous and ACL packets have a length of two bytes.
  static let longestPacket = 5 + 0xFFFF

  /// Reads lengths, flags, drops, time and packet.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    originalLength = try reader.bigEndian()
    let start = reader.offset
    let length: UInt32 = try reader.bigEndian()
    guard length <= Self.longestPacket else {
      throw .value(Int(length), of: "length of a captured packet", at: start)
    }
    guard length <= originalLength else {
      throw .value(Int(length), of: "length of what is left of \(originalLength) bytes", at: start)
    }
    flags = Flags(rawValue: try reader.bigEndian())
    drops = try reader.bigEndian()
    time = try reader.bigEndian()
    packet = try reader.bytes(Int(length))
  }

  /// Appends lengths, flags, drops, time and packet.
  public func encode(into bytes: inout [UInt8]) {
    precondition(packet.count <= Self.longestPacket, "no packet of HCI is that long")
    precondition(packet.count <= originalLength, "no more is recorded of a packet than there was")
    bytes.append(bigEndian: originalLength)
    bytes.append(bigEndian: UInt32(packet.count))
    bytes.append(bigEndian: flags.rawValue)
    bytes.append(bigEndian: drops)
    bytes.append(bigEndian: time)
    bytes.append(contentsOf: packet)
  }
}

extension BTSnoop.Record {
  /// The kind of the packet, by the flags alone.
  fileprivate var indicator: H4Indicator {
    !flags.contains(.control) ? .acl : flags.contains(.received) ? .event : .command
  }

  /// Inserts the H4 octet in front of a packet.
  mutating func addIndicator(_ indicator: H4Indicator) {
    packet.insert(indicator.rawValue, at: 0)
    originalLength = originalLength == .max ? .max : originalLength + 1
  }
}

/// Reads the records of a capture file.
///
/// Every record has its H4 octet, even if the file omits it because the flags show the kind. The other
/// records of the Linux monitor become ``BTSnoop/Record/note``.
///
/// The writer of a capture may be killed in the middle of a record. That is no error: the records before it
/// are valid, ``next()`` ends there, and ``tear`` shows what is missing.
public struct BTSnoopReader: Sendable {
  /// The error of an incomplete last record, after ``next()`` has returned `nil`; `nil` if the last record is
  /// complete.
  public private(set) var tear: DecodeError?
  /// The layout of the packets in the file.
  public let datalink: BTSnoop.Datalink

  private let bytes: [UInt8]
  private var position: Int

  /// Reads the header of a file; only captures of HCI are known.
  public init(_ bytes: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    guard try reader.bytes(BTSnoop.magic.count) == BTSnoop.magic else {
      throw .malformed("a btsnoop file", at: 0)
    }
    let version: UInt32 = try reader.bigEndian()
    guard version == BTSnoop.version else { throw .value(Int(version), of: "btsnoop version", at: 8) }
    let datalink: UInt32 = try reader.bigEndian()
    guard let datalink = BTSnoop.Datalink(rawValue: datalink) else {
      throw .value(
        Int(datalink), of: "datalink (only HCI is read: 1001, 1002 with H4, 2001 of the Linux monitor)",
        at: 12)
    }
    self.datalink = datalink
    self.bytes = bytes
    position = reader.offset
  }

  /// The next record, or `nil` at the end of the file. Errors count their offset from the file's first byte, and
  /// nothing after one can be read.
  public mutating func next() throws(DecodeError) -> BTSnoop.Record? {
    guard position < bytes.count, tear == nil else { return nil }
    var reader = ByteReader(bytes.span.extracting(position...))
    do throws(DecodeError) {
      var record = try BTSnoop.Record(decoding: &reader)
      position += reader.offset
      switch datalink {
      case .h4: break
      case .bare: record.addIndicator(record.indicator)
      case .monitor: record = MonitorRecord.read(record)
      }
      return record
    } catch {
      guard case .truncated = error.reason else { throw error.shifted(by: position) }
      tear = error.shifted(by: position)
      return nil
    }
  }
}
