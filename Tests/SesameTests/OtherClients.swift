import Basics
import Bluetooth
@testable import Sesame

/// What the vendor's documents and other people's clients make of a lock's messages, and no client here needs: the
/// vectors say it beside the layouts, and so check those.
extension BatteryTable {
  /// pysesameos2 and pysesame3.
  static let old = BatteryTable([
    (6.0, 100), (5.8, 50), (5.7, 40), (5.6, 32), (5.4, 21), (5.2, 13), (5.1, 10), (5.0, 7), (4.8, 3),
    (4.6, 0),
  ])

  /// libsesame3bt, for the Open Sensor.
  static let openSensor = BatteryTable([
    (5.82, 100), (5.81, 95), (5.755, 90), (5.735, 85), (5.665, 80), (5.62, 70), (5.585, 60), (5.556, 50),
    (5.55, 40), (5.53, 32), (5.45, 21), (5.40, 13), (5.32, 10), (5.28, 7), (5.225, 3), (5.15, 0),
  ])
}

extension MechStatus {
  /// The battery's percentage.
  func batteryPercent(by table: BatteryTable = .current) -> Int? {
    batteryVolts.map(table.percent(volts:))
  }

  /// What the vendor's iOS client shows: it knows *moved* for the locks of OS2 alone, and takes everything
  /// else that is not in the lock range for unlocked.
  var stateShownByIOS: BoltState {
    switch self {
    case .sesame3, .bot1: boltState
    case .sesame5, .bike2, .touch, .face, .other: isInLockRange ? .locked : .unlocked
    }
  }
}

/// How a client decides that a lock's positions were set.
enum ConfiguredRule: CaseIterable {
  /// The vendor's iOS client: neither position is ``unsetPosition``.
  case ios
  /// The vendor's Android client: the positions differ by at least a degree.
  case android
  /// pysesame3 and pysesameos2: the positions differ.
  case pysesame
}

extension MechSetting {
  /// Whether the positions were set, by one client's rule; a product without positions needs none.
  func isConfigured(by rule: ConfiguredRule) -> Bool {
    let positions: (lock: Int16, unlock: Int16)
    switch self {
    case .sesame3(let setting): positions = (setting.lock, setting.unlock)
    case .sesame5(let setting): positions = (setting.lock, setting.unlock)
    case .bot1, .other: return true
    }
    switch rule {
    case .ios: return isConfigured
    case .pysesame: return positions.lock != positions.unlock
    case .android: return positionDegrees.map { Int($0.lock) != Int($0.unlock) } ?? true
    }
  }
}

extension HistoryTag {
  /// The text, with U+FFFD for what is not UTF-8, or `nil` for a tag that is no text.
  var text: String? {
    guard case .text(let bytes, _) = self else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The voltages in mV that some records carry after a typed tag.
  var voltages: [UInt16] {
    guard case .typed(_, _, let rest) = self else { return [] }
    return stride(from: 0, to: rest.count - 1, by: 2).map { UInt16(rest[$0]) | UInt16(rest[$0 + 1]) << 8 }
  }
}

extension LockCommand {
  /// Whether the generation's documents and programs have this command.
  func isDefined(in generation: Generation) -> Bool {
    switch self {
    case .register(.os2), .login(.os2), .readIdentity, .readAutolock, .setSignedTime, .readMechStatus:
      generation == .os2
    case .register(.os3), .login(.os3), .runScript, .deleteHistory, .calibrateMagnet, .setOpenSensorDelay,
      .setAdvertisedType, .setTXPower:
      generation == .os3
    case .lock, .unlock, .click, .setAutolock, .setMechSetting, .readVersion, .readHistory, .setTime,
      .enableDFU, .reset:
      true
    case .toggle: false
    case .other(let request): request.generation == generation
    }
  }

  /// Whether the command is sent in clear, before there is a session.
  var isSentInClear: Bool {
    switch self {
    case .readIdentity, .register, .login: true
    default: false
    }
  }
}

extension Response {
  /// Whether this refuses a registration because there is an owner already.
  ///
  /// The vendor's document has the result 9; its iOS client looks for four bytes of data that end in 9.
  var tellsAlreadyRegistered: Bool {
    item == .registration && (result == .invalidAction || (data.count == 4 && data.last == 9))
  }
}

extension SecretKey {
  /// Whose rule tells that a stored key is a guest's, whose logins the vendor's server signs.
  enum GuestRule {
    /// The vendor's iOS client: the first eight bytes are zero.
    case ios
    /// The vendor's Android client: six zero digits in a row, anywhere; a random key has them once in some
    /// 600 000.
    case android
  }

  /// Whether a stored key is a guest's.
  func isGuestKey(by rule: GuestRule) -> Bool {
    switch rule {
    case .ios: words.first == 0
    case .android: exposedBytes.hex.contains("000000")
    }
  }
}

/// The signature of a command to the vendor's cloud, which changes every 256 seconds: the first four bytes of
/// the CMAC over bytes 1 to 3 of the time in Unix seconds.
func cloudSignature(_ secret: SecretKey, time: UInt32) -> Proof {
  var bytes: [UInt8] = []
  bytes.append(littleEndian: time)
  return secret.cmac([UInt8](bytes.dropFirst())).proof
}
