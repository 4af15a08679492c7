public import Bluetooth

/// The target angle of an idle motor.
public let noTarget: Int16 = .min

/// The mechanical status of Sesame 3 and Sesame 4: eight bytes, angles in 1024ths of a turn.
public struct Sesame3Status: Hashable, Sendable, FieldCodable {
  /// The flags of the last byte. Bits 3, 4, 6 and 7 have unknown meaning, and some of them occur.
  public struct Flags: OptionSet, BinaryNumber, Hashable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Makes flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The clutch failed.
    public static let clutchFailed = Flags(rawValue: 1 << 0)
    /// The thumbturn is in the lock range.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The thumbturn is in the unlock range.
    public static let inUnlockRange = Flags(rawValue: 1 << 2)
    /// The battery is nearly empty.
    public static let batteryCritical = Flags(rawValue: 1 << 5)
  }

  /// The battery as read by the analogue converter.
  public var battery: UInt16
  /// The target angle of the motor, or ``noTarget``.
  public var target: Int16
  /// The angle of the thumbturn.
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

/// The result of a movement of an OS2 lock.
public struct MoveResult: BinaryNumber, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a result from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// No movement has ended.
  public static let none = MoveResult(rawValue: 0)
  /// The target was reached.
  public static let success = MoveResult(rawValue: 1)
  /// The gear did not engage.
  public static let failedToEngage = MoveResult(rawValue: 2)
  /// The movement did not reach its target.
  public static let failedToMove = MoveResult(rawValue: 4)
  /// The movement was aborted.
  public static let aborted = MoveResult(rawValue: 8)

  /// Whether it is one of the defined results.
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
    /// The arm is in the lock range.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The arm is in the unlock range.
    public static let inUnlockRange = Flags(rawValue: 1 << 2)
  }

  /// The battery as read by the analogue converter.
  public var battery: UInt16
  /// Two bytes with unknown meaning.
  public var unused: Int16
  /// The motion: 0 idle, 1 locking or forward, 2 holding, 3 unlocking or backward.
  public var motor: UInt8
  /// A byte with unknown meaning.
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
    /// The thumbturn is in the lock range.
    public static let inLockRange = Flags(rawValue: 1 << 1)
    /// The thumbturn is in the unlock range.
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
  /// The target angle of the motor, or ``noTarget``.
  public var target: Int16
  /// The angle of the thumbturn.
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

    /// The arm is in the lock range.
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

/// The status of a reader: seven bytes with small counters, or nine with wide ones. Both forms are reported
/// by users of the devices; the length distinguishes them.
public struct TouchStatus: Hashable, Sendable {
  /// The battery in mV, of one of two cells.
  public var battery: UInt16
  /// The number of registered cards.
  public var cards: Int16
  /// The number of registered fingerprints.
  public var fingerprints: Int16
  /// The number of registered passcodes.
  public var passcodes: Int16
  /// The flags.
  public var flags: UInt8
  /// Whether the counts of fingerprints and passcodes have two bytes each.
  public var isWide: Bool

  /// Reads all bytes, of which there must be seven or nine.
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

  /// The status's bytes; counts that the narrow form cannot hold are truncated to their low byte.
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
  /// The number of registered cards.
  public var cards: Int16
  /// Four more counters, in the order sent. It was never published which of them counts fingerprints,
  /// passcodes, faces and palms.
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
