import Basics

/// The data of an advertisement or of a scan response: structures of a type and some bytes
/// (Core 5.4, Vol 3 Part C §11; the types are in the Core Specification Supplement, Part A).
///
/// It preserves the structures in their order, including unknown and repeated types; the properties below
/// interpret the common ones.
public struct AdvertisingData: Hashable, Sendable {
  /// The maximum length of a legacy advertisement, in bytes.
  public static let legacyCapacity = 31

  /// One length-type-data structure.
  public struct Structure: Hashable, Sendable {
    /// The type, which determines the meaning of the data.
    public var type: DataType
    /// The bytes after the type, at most 254.
    public var data: [UInt8]

    /// Makes a structure.
    public init(_ type: DataType, _ data: [UInt8]) {
      precondition(data.count <= 254, "an advertising structure holds at most 254 bytes")
      self.type = type
      self.data = data
    }
  }

  /// The assigned number of a structure's type.
  public struct DataType: RawRepresentable, Hashable, Sendable {
    /// The assigned number.
    public var rawValue: UInt8

    /// Makes a type from its assigned number.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Flags.
    public static let flags = DataType(rawValue: 0x01)
    /// All 16-bit service UUIDs.
    public static let completeUUIDs16 = DataType(rawValue: 0x03)
    /// Some of the services' 16-bit UUIDs.
    public static let incompleteUUIDs16 = DataType(rawValue: 0x02)
    /// All of the services' 32-bit UUIDs, and some of them.
    public static let completeUUIDs32 = DataType(rawValue: 0x05)
    public static let incompleteUUIDs32 = DataType(rawValue: 0x04)
    /// All of the services' 128-bit UUIDs, and some of them.
    public static let completeUUIDs128 = DataType(rawValue: 0x07)
    public static let incompleteUUIDs128 = DataType(rawValue: 0x06)
    /// The beginning of the local name.
    public static let shortenedName = DataType(rawValue: 0x08)
    /// The local name.
    public static let completeName = DataType(rawValue: 0x09)
    /// Data of a company, after its identifier.
    public static let manufacturerData = DataType(rawValue: 0xFF)
  }

  /// The capabilities of a device, from the flags structure.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Makes flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Discoverable at any time.
    public static let generalDiscoverable = Flags(rawValue: 1 << 1)
    /// No classic Bluetooth.
    public static let noClassic = Flags(rawValue: 1 << 2)
  }

  /// The structures in the order they are sent.
  public var structures: [Structure]

  /// Makes data from structures.
  public init(_ structures: [Structure] = []) {
    self.structures = structures
  }
}

extension AdvertisingData.Structure {
  /// The device's capabilities.
  public static func flags(_ flags: AdvertisingData.Flags) -> Self { Self(.flags, [flags.rawValue]) }

  /// All service UUIDs that have a 16-bit form.
  public static func completeUUIDs16(_ uuids: [UInt16]) -> Self {
    var data: [UInt8] = []
    for uuid in uuids { data.append(littleEndian: uuid) }
    return Self(.completeUUIDs16, data)
  }

  /// The whole local name.
  public static func completeName(_ name: String) -> Self { Self(.completeName, [UInt8](name.utf8)) }
}

extension AdvertisingData: BinaryCodable {
  /// Decodes structures up to the end, or up to a length of zero: bytes after that have no meaning.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    structures = []
    while !reader.isAtEnd {
      let length = Int(try reader.u8())
      if length == 0 {
        try reader.skip(reader.remaining)
        return
      }
      try reader.require(length)
      let type = DataType(rawValue: try reader.u8())
      structures.append(Structure(type, try reader.bytes(length - 1)))
    }
  }

  /// Appends the structures, without any padding.
  public func encode(into bytes: inout [UInt8]) {
    for structure in structures {
      bytes.append(UInt8(structure.data.count + 1))
      bytes.append(structure.type.rawValue)
      bytes.append(contentsOf: structure.data)
    }
  }
}

extension AdvertisingData {
  /// The bytes of the first structure of a type.
  public func first(_ type: DataType) -> [UInt8]? {
    structures.first { $0.type == type }?.data
  }

  /// The complete local name, else the shortened one; bytes that are not UTF-8 show as U+FFFD.
  public var localName: String? {
    (first(.completeName) ?? first(.shortenedName)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The listed services, in order.
  public var services: [BluetoothUUID] {
    structures.flatMap { structure -> [BluetoothUUID] in
      let size: Int
      switch structure.type {
      case .completeUUIDs16, .incompleteUUIDs16: size = 2
      case .completeUUIDs32, .incompleteUUIDs32: size = 4
      case .completeUUIDs128, .incompleteUUIDs128: size = 16
      default: return []
      }
      return stride(from: 0, to: structure.data.count - size + 1, by: size).compactMap { start in
        let bytes = structure.data[start..<start + size]
        if size == 4 { return BluetoothUUID(number: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }) }
        return try? BluetoothUUID(littleEndian: Array(bytes))
      }
    }
  }

  /// The first manufacturer data, with the two bytes of the company in front.
  public var manufacturerData: [UInt8]? { first(.manufacturerData) }
}

extension AdvertisingData: CustomStringConvertible {
  /// Each structure as its type and its bytes in hexadecimal.
  public var description: String {
    structures.map { [$0.type.rawValue].hex + ":" + $0.data.hex }.joined(separator: " ")
  }
}
