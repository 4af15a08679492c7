public import Bluetooth

/// The type of a history record.
public struct HistoryType: BinaryNumber, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a type from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Nothing.
  public static let none = HistoryType(rawValue: 0)
  /// A lock command over Bluetooth.
  public static let bleLock = HistoryType(rawValue: 1)
  /// An unlock command over Bluetooth.
  public static let bleUnlock = HistoryType(rawValue: 2)
  /// The clock was set.
  public static let timeChanged = HistoryType(rawValue: 3)
  /// The autolock delay was set.
  public static let autolockUpdated = HistoryType(rawValue: 4)
  /// The mechanical setting was set.
  public static let mechSettingUpdated = HistoryType(rawValue: 5)
  /// The lock locked itself.
  public static let autolock = HistoryType(rawValue: 6)
  /// The thumbturn was turned to the lock range by hand.
  public static let manualLocked = HistoryType(rawValue: 7)
  /// The thumbturn was turned to the unlock range by hand.
  public static let manualUnlocked = HistoryType(rawValue: 8)
  /// The thumbturn was turned into neither range by hand.
  public static let manualElse = HistoryType(rawValue: 9)
  /// The motor did not reach its target.
  public static let driveFailed = HistoryType(rawValue: 12)
  /// A lock command through WiFi Module 2.
  public static let wifiLock = HistoryType(rawValue: 14)
  /// An unlock command through WiFi Module 2.
  public static let wifiUnlock = HistoryType(rawValue: 15)
  /// A lock command from the web.
  public static let webLock = HistoryType(rawValue: 16)
  /// An unlock command from the web.
  public static let webUnlock = HistoryType(rawValue: 17)
  /// A click command over Bluetooth.
  public static let bleClick = HistoryType(rawValue: 18)
  /// A click command through WiFi Module 2.
  public static let wifiClick = HistoryType(rawValue: 19)
  /// A click command from the web.
  public static let webClick = HistoryType(rawValue: 20)

  /// Whether records of this type have a tag: they record a command.
  public var hasTag: Bool {
    switch self {
    case .bleLock, .bleUnlock, .bleClick, .wifiLock, .wifiUnlock, .wifiClick, .webLock, .webUnlock, .webClick:
      true
    default: false
    }
  }

  /// The type of the same command over another channel, which a record encodes in the length of its tag.
  public func through(_ origin: HistoryTag.Origin) -> HistoryType {
    switch (self, origin) {
    case (.bleLock, .wifiModule2): .wifiLock
    case (.bleLock, .web): .webLock
    case (.bleUnlock, .wifiModule2): .wifiUnlock
    case (.bleUnlock, .web): .webUnlock
    case (.bleClick, .wifiModule2): .wifiClick
    case (.bleClick, .web): .webClick
    default: self
    }
  }
}

extension HistoryType: CustomStringConvertible {
  /// The type as text, or its number.
  public var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "history type \(rawValue)"
  }

  private static let names = [
    "none", "lock", "unlock", "time changed", "autolock updated", "mech setting updated", "autolock",
    "locked by hand", "unlocked by hand", "moved by hand", "drive locked", "drive unlocked", "drive failed",
    "advertising updated", "lock through WiFi", "unlock through WiFi", "lock from the web",
    "unlock from the web", "click", "click through WiFi", "click from the web", "drive clicked",
    "clicked by hand",
  ]
}

/// A history record of an OS2 device.
public struct OS2HistoryRecord: Hashable, Sendable, BinaryCodable {
  /// The number of the record.
  public var id: Int32
  /// The type.
  public var type: HistoryType
  /// The time in Unix milliseconds.
  public var milliseconds: UInt64
  /// The contents, which depend on the type.
  public var content: Content

  /// The contents of a record besides type and time.
  public enum Content: Hashable, Sendable {
    /// A command: two bytes with unknown meaning, a part of the key that logged in, and the tag.
    case command(unknown: UInt16 = 0, deviceKey: [UInt8], HistoryTag)
    /// A failed movement: the angle where it stopped, the return code of the state machine, and flags (bit 0
    /// in lock range, bit 1 in unlock range).
    case driveFailed(position: Int16, code: Int8, flags: UInt8)
    /// Another type: bytes with unknown meaning.
    case other([UInt8])
  }

  /// Makes a record.
  public init(id: Int32, type: HistoryType, milliseconds: UInt64, content: Content = .other([])) {
    self.id = id
    self.type = type
    self.milliseconds = milliseconds
    self.content = content
  }

  /// The type with the channel of the command, if the tag reveals it.
  public var effectiveType: HistoryType {
    guard case .command(_, _, let tag) = content else { return type }
    return type.through(tag.origin)
  }

  /// Reads a record, to the end of the bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    id = try reader.i32()
    type = HistoryType(rawValue: try reader.u8())
    milliseconds = try reader.u64()
    if type.hasTag {
      content = .command(
        unknown: try reader.u16(), deviceKey: try reader.bytes(16),
        try HistoryTag(decoding: &reader, for: .os2))
    } else if type == .driveFailed {
      content = .driveFailed(position: try reader.i16(), code: try reader.i8(), flags: try reader.u8())
    } else {
      content = .other(reader.rest())
    }
  }

  /// Appends the record.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: id, type, milliseconds)
    switch content {
    case .command(let unknown, let deviceKey, let tag):
      precondition(deviceKey.count == 16, "the part of a device key has 16 bytes")
      bytes.append(fields: unknown, deviceKey)
      tag.encodeText(into: &bytes, capacity: HistoryTag.os2Capacity)
    case .driveFailed(let position, let code, let flags): bytes.append(fields: position, code, flags)
    case .other(let rest): bytes += rest
    }
  }
}

extension OS2HistoryRecord: CustomStringConvertible {
  /// Number, type and tag, as text.
  public var description: String {
    switch content {
    case .command(_, _, let tag): "#\(id) \(effectiveType) \(tag)"
    case .driveFailed(let position, let code, _): "#\(id) \(type) at \(position), code \(code)"
    case .other: "#\(id) \(type)"
    }
  }
}

/// A history record of an OS3 device, at most 48 bytes.
public struct OS3HistoryRecord: Hashable, Sendable, BinaryCodable {
  /// The number of the record.
  public var id: UInt32
  /// The type.
  public var type: HistoryType
  /// The time in Unix seconds.
  public var seconds: UInt32
  /// The mechanical status at that time.
  public var status: Sesame5Status
  /// The tag.
  public var tag: HistoryTag

  /// Makes a record.
  public init(
    id: UInt32, type: HistoryType, seconds: UInt32, status: Sesame5Status, tag: HistoryTag = .absent
  ) {
    self.id = id
    self.type = type
    self.seconds = seconds
    self.status = status
    self.tag = tag
  }

  /// The type with the channel of the command, if the tag reveals it.
  public var effectiveType: HistoryType { type.through(tag.origin) }

  /// Reads a record, to the end of the bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    id = try reader.u32()
    type = HistoryType(rawValue: try reader.u8())
    seconds = try reader.u32()
    status = try Sesame5Status(decoding: &reader)
    tag = try HistoryTag(decoding: &reader, for: .os3)
  }

  /// Appends the record.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: id, type, seconds, status)
    tag.encode(into: &bytes, for: .os3)
  }
}

extension OS3HistoryRecord: CustomStringConvertible {
  /// Number, type and tag, as text.
  public var description: String { "#\(id) \(effectiveType) \(tag)" }
}
