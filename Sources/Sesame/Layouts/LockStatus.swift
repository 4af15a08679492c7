public import Bluetooth

/// The target angle of an idle motor, which has no target.
public let noTarget: Int16 = .min

/// The mechanical status of Sesame 3 and Sesame 4: eight bytes, angles in 1024ths of a turn.
public struct Sesame3Status: Hashable, Sendable, FieldCodable {
  /// The flags of the last byte; bits 3, 4, 6 and 7 have no known meaning, and some occur.
  public struct Flags: OptionSet, BinaryNumber, Hashable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Makes flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The clutch failed.
    public static let clutchFailed = Flags(rawValue: 1 << 0)
    /// The thumbturn is where it counts as locked.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The thumbturn is where it counts as unlocked.
    public static let inUnlockRange = Flags(rawValue: 1 << 2)
    /// The battery is nearly empty.
    public static let batteryCritical = Flags(rawValue: 1 << 5)
  }

  /// The battery as the analogue converter reads it.
  public var battery: UInt16
  /// Where the motor turns to, or ``noTarget``.
  public var target: Int16
  /// Where the thumbturn is.
  public var position: Int16
  /// How the last movement ended.
  public var returnCode: MoveResult
  /// The flags.
  public var flags: Flags

  /// Makes a status.
  public init(
    battery: UInt16, target: Int16 = noTarget, position: Int16, returnCode: MoveResult = .none, flags: Flags
  ) {
    self.battery = battery
    self.target = target
    self.position = position
    self.returnCode = returnCode
    self.flags = flags
  }

  /// The fields, eight bytes.
  public static let fields = FieldList(Self.init, \.battery, \.target, \.position, \.returnCode, \.flags)
}

/// How a movement of an OS2 lock ended.
public struct MoveResult: BinaryNumber, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a result from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Nothing has ended.
  public static let none = MoveResult(rawValue: 0)
  /// The target was reached.
  public static let success = MoveResult(rawValue: 1)
  /// The gear did not engage.
  public static let failedToEngage = MoveResult(rawValue: 2)
  /// The movement did not reach its target.
  public static let failedToMove = MoveResult(rawValue: 4)
  /// The movement was given up.
  public static let aborted = MoveResult(rawValue: 8)

  /// Whether it is one of these.
  public var isDefined: Bool { rawValue <= MoveResult.aborted.rawValue }
}

extension MoveResult: CustomStringConvertible {
  /// The result's name, or its number.
  public var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "move result \(rawValue)"
  }

  private static let names = [
    "none", "success", "failed to engage", "failed to start", "failed to move", "failed to check",
    "failed to detach", "failed to loosen", "aborted",
  ]
}

/// The mechanical status of Bot 1 and Bike 1: eight bytes.
public struct Bot1Status: Hashable, Sendable, FieldCodable {
  /// The flags of the last byte.
  public struct Flags: OptionSet, BinaryNumber, Hashable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Makes flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The motor moves.
    public static let isMoving = Flags(rawValue: 1 << 0)
    /// The arm is where it counts as locked.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The arm is where it counts as unlocked.
    public static let inUnlockRange = Flags(rawValue: 1 << 2)
  }

  /// The battery as the analogue converter reads it.
  public var battery: UInt16
  /// Two bytes without a known meaning.
  public var unused: Int16
  /// What the motor does: 0 idle, 1 locking or forward, 2 holding, 3 unlocking or backward.
  public var motor: UInt8
  /// A byte without a known meaning.
  public var padding: UInt8
  /// How the last movement ended.
  public var returnCode: MoveResult
  /// The flags.
  public var flags: Flags

  /// The fields, eight bytes.
  public static let fields = FieldList(
    Self.init, \.battery, \.unused, \.motor, \.padding, \.returnCode, \.flags)
}

/// The mechanical status of the Sesame 5 family: seven bytes, angles in degrees.
public struct Sesame5Status: Hashable, Sendable, FieldCodable {
  /// The flags of the last byte.
  public struct Flags: OptionSet, BinaryNumber, Hashable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Makes flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The clutch failed; no known firmware sets it.
    public static let clutchFailed = Flags(rawValue: 1 << 0)
    /// The thumbturn is where it counts as locked.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The thumbturn is where it counts as unlocked.
    public static let inUnlockRange = Flags(rawValue: 1 << 2)
    /// The movement took too long and the motor was stopped.
    public static let critical = Flags(rawValue: 1 << 3)
    /// The angle does not change.
    public static let stopped = Flags(rawValue: 1 << 4)
    /// The battery is below 5 V.
    public static let batteryLow = Flags(rawValue: 1 << 5)
    /// The last movement was clockwise.
    public static let clockwise = Flags(rawValue: 1 << 6)
  }

  /// The battery in mV, of one of two cells.
  public var battery: UInt16
  /// Where the motor turns to, or ``noTarget``.
  public var target: Int16
  /// Where the thumbturn is.
  public var position: Int16
  /// The flags.
  public var flags: Flags

  /// Makes a status.
  public init(battery: UInt16, target: Int16 = noTarget, position: Int16, flags: Flags) {
    self.battery = battery
    self.target = target
    self.position = position
    self.flags = flags
  }

  /// The fields, seven bytes.
  public static let fields = FieldList(Self.init, \.battery, \.target, \.position, \.flags)
}

/// The mechanical status of Bike 2 and Bot 2 with older firmware: three bytes.
public struct Bike2Status: Hashable, Sendable, FieldCodable {
  /// The flags of the last byte.
  public struct Flags: OptionSet, BinaryNumber, Hashable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Makes flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The arm is where it counts as locked.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The motor is idle.
    public static let stopped = Flags(rawValue: 1 << 2)
  }

  /// The battery in mV.
  public var battery: UInt16
  /// The flags.
  public var flags: Flags

  /// The fields, three bytes.
  public static let fields = FieldList(Self.init, \.battery, \.flags)
}

/// The status of a reader, seven bytes with small counters or nine with wide ones; both forms are reported
/// by those who know the devices, and the length tells them apart.
public struct TouchStatus: Hashable, Sendable {
  /// The battery in mV, of one of two cells.
  public var battery: UInt16
  /// How many cards are known.
  public var cards: Int16
  /// How many fingerprints are known.
  public var fingerprints: Int16
  /// How many passcodes are known.
  public var passcodes: Int16
  /// The flags.
  public var flags: UInt8
  /// Whether fingerprints and passcodes are counted in two bytes each.
  public var isWide: Bool

  /// Reads seven or nine bytes, all that there are.
  public init(decoding bytes: [UInt8]) throws(DecodeError) {
    guard bytes.count == 7 || bytes.count == 9 else { throw .length(bytes.count, of: "Touch status") }
    isWide = bytes.count == 9
    var reader = ByteReader(bytes.span)
    battery = try reader.u16()
    cards = try reader.i16()
    fingerprints = isWide ? try reader.i16() : Int16(try reader.u8())
    passcodes = isWide ? try reader.i16() : Int16(try reader.u8())
    flags = try reader.u8()
  }

  /// The status's bytes; counts that the narrow form cannot hold are cut to their low byte.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(fields: battery, cards)
    for count in [fingerprints, passcodes] {
      if isWide {
        bytes.append(littleEndian: count)
      } else {
        bytes.append(UInt8(truncatingIfNeeded: count))
      }
    }
    bytes.append(flags)
    return bytes
  }
}

/// The status of a reader with a camera: nine bytes.
public struct FaceStatus: Hashable, Sendable, BinaryCodable {
  /// The battery in mV, of one of two cells.
  public var battery: UInt16
  /// How many cards are known.
  public var cards: Int16
  /// Four more counters, in the order sent: which of fingerprints, passcodes, faces and palms each is was
  /// never published.
  public var counters: [UInt8]
  /// The flags.
  public var flags: UInt8

  /// Reads nine bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    battery = try reader.u16()
    cards = try reader.i16()
    counters = try reader.bytes(4)
    flags = try reader.u8()
  }

  /// Appends nine bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(fields: battery, cards, counters, flags)
  }
}
