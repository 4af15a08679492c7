import Basics
public import Bluetooth

/// Where a bolt is, as a person would say it.
public enum BoltState: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// In the lock range.
  case locked
  /// In the unlock range.
  case unlocked
  /// In neither.
  case moved

  /// The state's name.
  public var description: String { rawValue }
}

/// The mechanical status of any product, in the layout that the product has.
///
/// The properties read the same facts out of all layouts; the layouts themselves keep every bit.
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
  /// A product whose layout is not known.
  case other([UInt8])

  /// Reads the status of a product; where a product has several layouts, the length tells them apart.
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
  /// Whether the bolt is where it counts as locked.
  public var isInLockRange: Bool {
    switch self {
    case .sesame3(let status): status.flags.contains(.inLockRange)
    case .bot1(let status): status.flags.contains(.inLockRange)
    case .sesame5(let status): status.flags.contains(.inLockRange)
    case .bike2(let status): status.flags.contains(.inLockRange)
    case .touch, .face, .other: false
    }
  }

  /// Whether the bolt is where it counts as unlocked; a three-byte status is either locked or unlocked.
  public var isInUnlockRange: Bool {
    switch self {
    case .sesame3(let status): status.flags.contains(.inUnlockRange)
    case .bot1(let status): status.flags.contains(.inUnlockRange)
    case .sesame5(let status): status.flags.contains(.inUnlockRange)
    case .bike2(let status): !status.flags.contains(.inLockRange)
    case .touch, .face, .other: false
    }
  }

  /// Whether the motor has nothing to do: no target, or the motor's own word where there is no target.
  public var isIdle: Bool {
    switch self {
    case .sesame3(let status): status.target == noTarget
    case .bot1(let status): !status.flags.contains(.isMoving)
    case .sesame5(let status): status.target == noTarget
    case .bike2(let status): status.flags.contains(.stopped)
    case .touch, .face, .other: true
    }
  }

  /// Whether the lock says that its motor took too long and was stopped, or that a movement failed.
  public var isCritical: Bool {
    switch self {
    case .sesame3(let status): (MoveResult.failedToEngage.rawValue...).contains(status.returnCode.rawValue)
    case .bot1(let status): (MoveResult.failedToEngage.rawValue...).contains(status.returnCode.rawValue)
    case .sesame5(let status): status.flags.contains(.critical)
    case .bike2, .touch, .face, .other: false
    }
  }

  /// Whether the device says that its battery is nearly empty.
  public var isBatteryLow: Bool {
    switch self {
    case .sesame3(let status): status.flags.contains(.batteryCritical)
    case .sesame5(let status): status.flags.contains(.batteryLow)
    case .bot1, .bike2, .touch, .face, .other: false
    }
  }

  /// Where the bolt is, in degrees, or `nil` if the layout has no angles.
  public var positionDegrees: Double? {
    switch self {
    case .sesame3(let status): degrees(status.position)
    case .sesame5(let status): Double(status.position)
    case .bot1, .bike2, .touch, .face, .other: nil
    }
  }

  /// Where the bolt is by the range bits alone: the lock range counts first, and neither is *moved*.
  public var boltState: BoltState {
    isInLockRange ? .locked : isInUnlockRange ? .unlocked : .moved
  }
}

extension MechStatus: CustomStringConvertible {
  /// The bolt and its movement in words, and the bytes.
  public var description: String {
    let movement = isIdle ? "" : ", moving"
    let failure = isCritical ? ", failed" : ""
    let battery = isBatteryLow ? ", battery low" : ""
    return "\(boltState)\(movement)\(failure)\(battery) (\(encoded.hex))"
  }
}

/// The degrees of an angle in 1024ths of a turn.
func degrees(_ angle: Int16) -> Double { Double(angle) * 360 / 1024 }
