import Basics
public import Bluetooth

/// The value of a lock or unlock position that was never set.
public let unsetPosition: Int16 = .min

/// The mechanical setting of Sesame 3 and Sesame 4: twelve bytes, angles in 1024ths of a turn.
public struct Sesame3Setting: Hashable, Sendable, FieldCodable {
  /// How far a range reaches from its position when an app sets it.
  public static let reach: Int16 = 150

  /// Where the bolt is locked.
  public var lock: Int16
  /// Where the bolt is unlocked.
  public var unlock: Int16
  /// What counts as locked, least and greatest angle.
  public var lockRange: Range
  /// What counts as unlocked, least and greatest angle.
  public var unlockRange: Range

  /// The least and the greatest angle of a range, as sent: nothing says which is smaller.
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

  /// Makes a setting as the apps do, with ranges of ``reach`` around the positions.
  public init(lock: Int16, unlock: Int16) { self.init(lock: lock, unlock: unlock, reach: Self.reach) }

  private init(lock: Int16, unlock: Int16, reach: Int16) {
    self.init(
      lock: lock, unlock: unlock, lockRange: Range(min: lock &- reach, max: lock &+ reach),
      unlockRange: Range(min: unlock &- reach, max: unlock &+ reach))
  }

  /// Makes a setting as the apps do where a position is outside the other's range then. Nearer positions have ranges that do
  /// not overlap, so that it can be told where the bolt is; the same position twice cannot be told apart.
  public static func distinct(lock: Int16, unlock: Int16) -> Sesame3Setting {
    let distance = abs(Int(lock) - Int(unlock))
    guard distance <= Int(reach) else { return Sesame3Setting(lock: lock, unlock: unlock) }
    return Sesame3Setting(lock: lock, unlock: unlock, reach: Int16(max(distance - 1, 0) / 2))
  }

  /// A setting that every client takes for not configured.
  public static let unset = Sesame3Setting(
    lock: unsetPosition, unlock: unsetPosition, lockRange: Range(min: 0, max: 0),
    unlockRange: Range(min: 0, max: 0))

  /// The fields, twelve bytes.
  public static let fields = FieldList(Self.init, \.lock, \.unlock, \.lockRange, \.unlockRange)
}

/// The setting of Bot 1: twelve bytes, times in tenths of a second.
public struct Bot1Setting: Hashable, Sendable, BinaryCodable {
  /// Which way the arm turns: 0 as built, 1 reversed.
  public var direction: UInt8
  /// How long it turns to lock.
  public var lockTime: UInt8
  /// How long it turns to unlock.
  public var unlockTime: UInt8
  /// How long it turns forward in a click.
  public var clickLockTime: UInt8
  /// How long it holds in a click.
  public var clickHoldTime: UInt8
  /// How long it turns back in a click.
  public var clickUnlockTime: UInt8
  /// What its button does: 0 click, 1 toggle.
  public var buttonMode: UInt8
  /// Five bytes without a known meaning.
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
  /// Where the bolt is locked.
  public var lock: Int16
  /// Where the bolt is unlocked.
  public var unlock: Int16
  /// The seconds before the lock locks itself; 0 is never.
  public var autolock: UInt16

  /// Makes a setting.
  public init(lock: Int16, unlock: Int16, autolock: UInt16 = 0) {
    self.lock = lock
    self.unlock = unlock
    self.autolock = autolock
  }

  /// A setting that every client takes for not configured.
  public static let unset = Sesame5Setting(lock: unsetPosition, unlock: unsetPosition)

  /// The fields, six bytes.
  public static let fields = FieldList(Self.init, \.lock, \.unlock, \.autolock)

  /// The four bytes of the positions, which are all that an app sends to set them.
  public var positions: [UInt8] { [UInt8](encoded.prefix(4)) }
}

/// The mechanical setting of any product, in the layout that the product has.
public enum MechSetting: Hashable, Sendable {
  /// Sesame 3 and 4.
  case sesame3(Sesame3Setting)
  /// Bot 1; Bike 1 sends the same twelve bytes.
  case bot1(Bot1Setting)
  /// The Sesame 5 family.
  case sesame5(Sesame5Setting)
  /// A product whose layout is not known.
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

  /// Where the bolt is locked and unlocked, in degrees, or `nil` if the layout has no angles.
  public var positionDegrees: (lock: Double, unlock: Double)? {
    switch self {
    case .sesame3(let setting): (degrees(setting.lock), degrees(setting.unlock))
    case .sesame5(let setting): (Double(setting.lock), Double(setting.unlock))
    case .bot1, .other: nil
    }
  }

  /// Whether the positions were set: neither is ``unsetPosition``, by the rule of the vendor's iOS client. A product
  /// without positions needs none.
  public var isConfigured: Bool {
    switch self {
    case .sesame3(let setting): setting.lock != unsetPosition && setting.unlock != unsetPosition
    case .sesame5(let setting): setting.lock != unsetPosition && setting.unlock != unsetPosition
    case .bot1, .other: true
    }
  }
}

extension MechSetting: CustomStringConvertible {
  /// The positions in degrees, or the bytes where there are none.
  public var description: String {
    guard let positions = positionDegrees else { return encoded.hex }
    guard isConfigured else { return "not configured" }
    return "lock at \(positions.lock)°, unlock at \(positions.unlock)°"
  }
}
