import Basics
public import Bluetooth

/// The state of a bolt by its ranges.
public enum BoltState: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// In the lock range.
  case locked
  /// In the unlock range.
  case unlocked
  /// In neither range.
  case moved

  /// The state's name.
  public var description: String { rawValue }
}

/// The mechanical status of any product, in the product's layout.
///
/// The properties interpret all layouts in the same way; the layouts themselves preserve every bit.
public enum MechStatus: Hashable, Sendable {
  /// Sesame 3 and 4.
  case sesame3(Sesame3Status)
  /// Bot 1 and Bike 1.
  case bot1(Bot1Status)
  /// The Sesame 5 family, and Bike and Bot with newer firmware.
  case sesame5(Sesame5Status)
  /// Bike 2 and Bot 2 with older firmware.
  case bike2(Bike2Status)
  /// Readers.
  case touch(TouchStatus)
  /// Readers with a camera.
  case face(FaceStatus)
  /// A product with an unknown layout.
  case other([UInt8])

  /// Reads the status of a product; if a product has several layouts, the length determines which.
  public init(decoding bytes: [UInt8], model: ProductModel) throws(DecodeError) {
    switch (model.generation, model.kind) {
    case (.os2, .lock): self = .sesame3(try Sesame3Status(decoding: bytes))
    case (.os2, _): self = .bot1(try Bot1Status(decoding: bytes))
    case (.os3, .lock): self = .sesame5(try Sesame5Status(decoding: bytes))
    case (.os3, .bike) where bytes.count == 3, (.os3, .bot) where bytes.count == 3:
      self = .bike2(try Bike2Status(decoding: bytes))
    case (.os3, .bike), (.os3, .bot): self = .sesame5(try Sesame5Status(decoding: bytes))
    case (.os3, .reader) where model.hasCamera: self = .face(try FaceStatus(decoding: bytes))
    case (.os3, .reader): self = .touch(try TouchStatus(decoding: bytes))
    default: self = .other(bytes)
    }
  }

  /// The status's bytes.
  public var encoded: [UInt8] {
    switch self {
    case .sesame3(let status): status.encoded
    case .bot1(let status): status.encoded
    case .sesame5(let status): status.encoded
    case .bike2(let status): status.encoded
    case .touch(let status): status.encoded
    case .face(let status): status.encoded
    case .other(let bytes): bytes
    }
  }
}

extension ProductModel {
  var hasCamera: Bool {
    switch self {
    case .face, .facePro, .faceAI, .faceProAI, .face2, .face2Pro, .face2AI, .face2ProAI: true
    default: false
    }
  }
}

extension MechStatus {
  /// Whether the bolt is in the lock range.
  public var isInLockRange: Bool {
    switch self {
    case .sesame3(let status): status.flags.contains(.inLockRange)
    case .bot1(let status): status.flags.contains(.inLockRange)
    case .sesame5(let status): status.flags.contains(.inLockRange)
    case .bike2(let status): status.flags.contains(.inLockRange)
    case .touch, .face, .other: false
    }
  }

  /// Whether the bolt is in the unlock range; a three-byte status is always in one of the ranges.
  public var isInUnlockRange: Bool {
    switch self {
    case .sesame3(let status): status.flags.contains(.inUnlockRange)
    case .bot1(let status): status.flags.contains(.inUnlockRange)
    case .sesame5(let status): status.flags.contains(.inUnlockRange)
    case .bike2(let status): !status.flags.contains(.inLockRange)
    case .touch, .face, .other: false
    }
  }

  /// Whether the motor is idle: it has no target, or reports so itself in layouts without a target.
  public var isIdle: Bool {
    switch self {
    case .sesame3(let status): status.target == noTarget
    case .bot1(let status): !status.flags.contains(.isMoving)
    case .sesame5(let status): status.target == noTarget
    case .bike2(let status): status.flags.contains(.stopped)
    case .touch, .face, .other: true
    }
  }

  /// Whether the lock reports that its motor took too long and was stopped, or that a movement failed.
  public var isCritical: Bool {
    switch self {
    case .sesame3(let status): (MoveResult.failedToEngage.rawValue...).contains(status.returnCode.rawValue)
    case .bot1(let status): (MoveResult.failedToEngage.rawValue...).contains(status.returnCode.rawValue)
    case .sesame5(let status): status.flags.contains(.critical)
    case .bike2, .touch, .face, .other: false
    }
  }

  /// Whether the device reports a nearly empty battery.
  public var isBatteryLow: Bool {
    switch self {
    case .sesame3(let status): status.flags.contains(.batteryCritical)
    case .sesame5(let status): status.flags.contains(.batteryLow)
    case .bot1, .bike2, .touch, .face, .other: false
    }
  }

  /// The angle of the bolt in degrees; `nil` if the layout has no angles.
  public var positionDegrees: Double? {
    switch self {
    case .sesame3(let status): degrees(status.position)
    case .sesame5(let status): Double(status.position)
    case .bot1, .bike2, .touch, .face, .other: nil
    }
  }

  /// The state of the bolt by the range bits: the lock range has precedence, and neither is *moved*.
  public var boltState: BoltState {
    isInLockRange ? .locked : isInUnlockRange ? .unlocked : .moved
  }
}

extension MechStatus: CustomStringConvertible {
  /// The bolt and its movement as text, and the bytes.
  public var description: String {
    let movement = isIdle ? "" : ", moving"
    let failure = isCritical ? ", failed" : ""
    let battery = isBatteryLow ? ", battery low" : ""
    return "\(boltState)\(movement)\(failure)\(battery) (\(encoded.hex))"
  }
}

/// An angle in 1024ths of a turn, converted to degrees.
func degrees(_ angle: Int16) -> Double { Double(angle) * 360 / 1024 }
