/// Received fields and values that are reserved for future use and ignored.
///
/// A receiver treats reserved fields and bits as 0 and rejects nothing because of them. It may reject a
/// reserved value of a field, together with its container only (Core 5.4, Vol 1 Part E, *Reserved for Future
/// Use*).
public struct Reserved: OptionSet, Hashable, Sendable {
  /// One bit for each kind.
  public var rawValue: UInt8

  /// Makes a set of kinds from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The four bits above a connection handle (Vol 4 Part E §5.3.1).
  public static let handleBits = Reserved(rawValue: 1 << 0)
  /// The nine highest bits of an extended advertising event type (Vol 4 Part E §7.7.65.13).
  public static let eventTypeBits = Reserved(rawValue: 1 << 1)
  /// An undefined value of an unimportant field, which is replaced by the nearest defined one.
  public static let value = Reserved(rawValue: 1 << 2)
  /// An advertising report with an undefined event type or address type, which is dropped.
  public static let report = Reserved(rawValue: 1 << 3)
  /// Bytes after the last field of an event or of return parameters.
  public static let rest = Reserved(rawValue: 1 << 4)
  /// A command of the security manager with an undefined code (Vol 3 Part H §3.3).
  public static let securityCode = Reserved(rawValue: 1 << 5)
  /// A frame on an unsupported fixed channel (Vol 3 Part A §2.1).
  public static let channel = Reserved(rawValue: 1 << 6)

  /// Adds kinds; returns those that are new.
  public mutating func takeNew(from other: Reserved) -> Reserved {
    let new = other.subtracting(self)
    formUnion(other)
    return new
  }
}

extension Reserved: CustomStringConvertible {
  /// The ignored fields and values, as text.
  public var description: String {
    Self.names.filter { contains($0.kind) }.map(\.name).joined(separator: ", ")
  }

  private static let names: [(kind: Reserved, name: String)] = [
    (.handleBits, "reserved bits above a connection handle"),
    (.eventTypeBits, "reserved bits of an advertising event type"),
    (.value, "a reserved value of a field"),
    (.report, "an advertising report of a reserved type"),
    (.rest, "bytes behind the last known field"),
    (.securityCode, "a security command with a reserved code"),
    (.channel, "a frame on a channel that is not supported"),
  ]
}
