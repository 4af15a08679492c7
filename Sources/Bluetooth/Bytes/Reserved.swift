/// What was received, is reserved for future use, and is ignored.
///
/// Who receives a reserved field or bit reads on as if it were 0, and rejects nothing because of it; a value of a field
/// that is reserved may be rejected, with what contains it alone (Core 5.4, Vol 1 Part E, *Reserved for Future Use*).
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
  /// A value of a field that tells little: it is taken for the nearest that is defined.
  public static let value = Reserved(rawValue: 1 << 2)
  /// An advertising report whose event type or address type is not defined: it is left out.
  public static let report = Reserved(rawValue: 1 << 3)
  /// Bytes behind the last field of an event, or of what a command returns.
  public static let rest = Reserved(rawValue: 1 << 4)
  /// A command of the security manager with a code that is not defined (Vol 3 Part H §3.3).
  public static let securityCode = Reserved(rawValue: 1 << 5)
  /// A frame on a fixed channel that is not supported (Vol 3 Part A §2.1).
  public static let channel = Reserved(rawValue: 1 << 6)

  /// Takes those kinds out that are noted for the first time, and notes them.
  public mutating func takeNew(from other: Reserved) -> Reserved {
    let new = other.subtracting(self)
    formUnion(other)
    return new
  }
}

extension Reserved: CustomStringConvertible {
  /// What is ignored, in words.
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
