import Basics
public import Bluetooth

/// The value of a lock or unlock position that was never set.
public let unsetPosition: Int16 = .min

/// The mechanical setting of Sesame 3 and Sesame 4: twelve bytes, angles in 1024ths of a turn.
public struct Sesame3Setting: Hashable, Sendable, FieldCodable {
  /// The distance from a position to the ends of its range, when an app sets it.
  public static let reach: Int16 = 150

  /// The lock position.
  public var lock: Int16
  /// The unlock position.
  public var unlock: Int16
  /// The lock range.
  public var lockRange: Range
  /// The unlock range.
  public var unlockRange: Range

  /// The ends of a range, as sent: their order is not guaranteed.
  public struct Range: Hashable, Sendable, FieldCodable {
    /// The least angle.
    public var min: Int16
    /// The greatest angle.
    public var max: Int16

    /// Makes a range.
    public init(min: Int16, max: Int16) {
      self.min = min
      self.max = max
    }

    /// The least angle, then the greatest.
    public static let fields = FieldList(Self.init, \.min, \.max)
  }

  /// Makes a setting.
  public init(lock: Int16, unlock: Int16, lockRange: Range, unlockRange: Range) {
    self.lock = lock
    self.unlock = unlock
    self.lockRange = lockRange
    self.unlockRange = unlockRange
  }

  /// Makes a setting like the apps, with ranges of ``reach`` around the positions.
  public init(lock: Int16, unlock: Int16) { self.init(lock: lock, unlock: unlock, reach: Self.reach) }

  private init(lock: Int16, unlock: Int16, reach: Int16) {
    self.init(
      lock: lock, unlock: unlock, lockRange: Range(min: lock &- reach, max: lock &+ reach),
      unlockRange: Range(min: unlock &- reach, max: unlock &+ reach))
  }

  /// Makes a setting like the apps if each position is then outside the other's range. Nearer positions have
  /// ranges that do not overlap, so that the state of the bolt is clear; equal positions cannot be
  /// distinguished.
  public static func distinct(lock: Int16, unlock: Int16) -> Sesame3Setting {
    let distance = abs(Int(lock) - Int(unlock))
    guard distance <= Int(reach) else { return Sesame3Setting(lock: lock, unlock: unlock) }
    return Sesame3Setting(lock: lock, unlock: unlock, reach: Int16(max(distance - 1, 0) / 2))
  }

  /// A setting that every client considers not configured.
  public static let unset = Sesame3Setting(
    lock: unsetPosition, unlock: unsetPosition, lockRange: Range(min: 0, max: 0),
    unlockRange: Range(min: 0, max: 0))

  /// The fields, twelve bytes.
  public static let fields = FieldList(Self.init, \.lock, \.unlock, \.lockRange, \.unlockRange)
}

/// The setting of Bot 1: twelve bytes, times in tenths of a second.
public struct Bot1Setting: Hashable, Sendable, BinaryCodable {
  /// The direction of the arm: 0 as built, 1 reversed.
  public var direction: UInt8
  /// The duration of a turn to lock.
  public var lockTime: UInt8
  /// The duration of a turn to unlock.
  public var unlockTime: UInt8
  /// The duration of the forward turn in a click.
  public var clickLockTime: UInt8
  /// The holding time in a click.
  public var clickHoldTime: UInt8
  /// The duration of the backward turn in a click.
  public var clickUnlockTime: UInt8
  /// The action of its button: 0 click, 1 toggle.
  public var buttonMode: UInt8
  /// Five bytes with unknown meaning.
  public var padding: [UInt8]

  /// Reads twelve bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    direction = try reader.u8()
    lockTime = try reader.u8()
    unlockTime = try reader.u8()
    clickLockTime = try reader.u8()
    clickHoldTime = try reader.u8()
    clickUnlockTime = try reader.u8()
    buttonMode = try reader.u8()
    padding = try reader.bytes(5)
  }

  /// Appends twelve bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes += [direction, lockTime, unlockTime, clickLockTime, clickHoldTime, clickUnlockTime, buttonMode]
    bytes += padding
  }
}

/// The mechanical setting of the Sesame 5 family: six bytes, angles in degrees.
public struct Sesame5Setting: Hashable, Sendable, FieldCodable {
  /// The lock position.
  public var lock: Int16
  /// The unlock position.
  public var unlock: Int16
  /// The autolock delay in seconds; 0 is off.
  public var autolock: UInt16

  /// Makes a setting.
  public init(lock: Int16, unlock: Int16, autolock: UInt16 = 0) {
    self.lock = lock
    self.unlock = unlock
    self.autolock = autolock
  }

  /// A setting that every client considers not configured.
  public static let unset = Sesame5Setting(lock: unsetPosition, unlock: unsetPosition)

  /// The fields, six bytes.
  public static let fields = FieldList(Self.init, \.lock, \.unlock, \.autolock)

  /// The four bytes of the positions, which are all that an app sends.
  public var positions: [UInt8] { [UInt8](encoded.prefix(4)) }
}

/// The mechanical setting of any product, in the product's layout.
public enum MechSetting: Hashable, Sendable {
  /// Sesame 3 and 4.
  case sesame3(Sesame3Setting)
  /// Bot 1; Bike 1 sends the same twelve bytes.
  case bot1(Bot1Setting)
  /// The Sesame 5 family.
  case sesame5(Sesame5Setting)
  /// A product with an unknown layout.
  case other([UInt8])

  /// Reads the setting of a product.
  public init(decoding bytes: [UInt8], model: ProductModel) throws(DecodeError) {
    switch (model.generation, model.kind) {
    case (.os2, .lock): self = .sesame3(try Sesame3Setting(decoding: bytes))
    case (.os2, _): self = .bot1(try Bot1Setting(decoding: bytes))
    case (.os3, .lock): self = .sesame5(try Sesame5Setting(decoding: bytes))
    default: self = .other(bytes)
    }
  }

  /// The setting's bytes.
  public var encoded: [UInt8] {
    switch self {
    case .sesame3(let setting): setting.encoded
    case .bot1(let setting): setting.encoded
    case .sesame5(let setting): setting.encoded
    case .other(let bytes): bytes
    }
  }

  /// The positions in degrees; `nil` if the layout has no angles.
  public var positionDegrees: (lock: Double, unlock: Double)? {
    switch self {
    case .sesame3(let setting): (degrees(setting.lock), degrees(setting.unlock))
    case .sesame5(let setting): (Double(setting.lock), Double(setting.unlock))
    case .bot1, .other: nil
    }
  }

  /// Whether the positions are set: neither is ``unsetPosition``, by the rule of the vendor's iOS client. A
  /// product without positions is always configured.
  public var isConfigured: Bool {
    switch self {
    case .sesame3(let setting): setting.lock != unsetPosition && setting.unlock != unsetPosition
    case .sesame5(let setting): setting.lock != unsetPosition && setting.unlock != unsetPosition
    case .bot1, .other: true
    }
  }
}

extension MechSetting: CustomStringConvertible {
  /// The positions in degrees, or the bytes if there are none.
  public var description: String {
    guard let positions = positionDegrees else { return encoded.hex }
    guard isConfigured else { return "not configured" }
    return "lock at \(positions.lock)°, unlock at \(positions.unlock)°"
  }
}
