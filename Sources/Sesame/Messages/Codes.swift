/// An operation on an item: the first byte of an OS2 request, and of every message from a lock.
public struct OpCode: RawRepresentable, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a code from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Create.
  public static let create = OpCode(rawValue: 1)
  /// Read.
  public static let read = OpCode(rawValue: 2)
  /// Update.
  public static let update = OpCode(rawValue: 3)
  /// Delete.
  public static let delete = OpCode(rawValue: 4)
  /// Perform, and answer when done.
  public static let sync = OpCode(rawValue: 5)
  /// Perform, and answer at once.
  public static let async = OpCode(rawValue: 6)
  /// A response of the lock.
  public static let response = OpCode(rawValue: 7)
  /// An unrequested message of the lock.
  public static let publish = OpCode(rawValue: 8)
  /// Not a code: the vendor's placeholder.
  public static let undefined = OpCode(rawValue: 16)
}

extension OpCode: CustomStringConvertible {
  /// The code's name, or its number.
  public var description: String {
    if self == .undefined { return "undefined" }
    return rawValue < Self.names.count ? Self.names[Int(rawValue)] : "op \(rawValue)"
  }

  private static let names = [
    "op 0", "create", "read", "update", "delete", "sync", "async", "response", "publish",
  ]
}

/// The result in a lock's response.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a code from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Done, or (OS3) accepted: a publish then reports the outcome.
  public static let success = ResultCode(rawValue: 0)
  /// The request's data do not decode.
  public static let invalidFormat = ResultCode(rawValue: 1)
  /// The device does not support the request.
  public static let notSupported = ResultCode(rawValue: 2)
  /// A signature or proof is wrong.
  public static let invalidSignature = ResultCode(rawValue: 4)
  /// Not found, as for an empty history.
  public static let notFound = ResultCode(rawValue: 5)
  /// Failed for an unspecified reason.
  public static let unknown = ResultCode(rawValue: 6)
  /// Another request is in progress.
  public static let busy = ResultCode(rawValue: 7)
  /// A value is out of range.
  public static let invalidParameter = ResultCode(rawValue: 8)
  /// Not possible now, such as registering a registered OS3 device.
  public static let invalidAction = ResultCode(rawValue: 9)

  /// Whether it is one of the defined results.
  public var isDefined: Bool { rawValue <= ResultCode.invalidAction.rawValue }
}

extension ResultCode: CustomStringConvertible {
  /// The code's name, or its number.
  public var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "result \(rawValue)"
  }

  private static let names = [
    "success", "invalid format", "not supported", "storage failure", "invalid signature", "not found",
    "unknown",
    "busy", "invalid parameter", "invalid action",
  ]
}

/// The item of a request, a response or a publish.
public struct ItemCode: RawRepresentable, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a code from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  // swift-format-ignore-start
  /// Registration.
  public static let registration = ItemCode(rawValue: 1)
  /// Login.
  public static let login = ItemCode(rawValue: 2)
  /// History records.
  public static let history = ItemCode(rawValue: 4)
  /// The firmware version.
  public static let version = ItemCode(rawValue: 5)
  /// Firmware update mode.
  public static let enableDFU = ItemCode(rawValue: 7)
  /// The clock; signed in OS2.
  public static let time = ItemCode(rawValue: 8)
  /// The autolock delay.
  public static let autolock = ItemCode(rawValue: 11)
  /// The token, which a lock publishes first.
  public static let initial = ItemCode(rawValue: 14)
  /// The identity, from which the keys of an OS2 device are derived.
  public static let identity = ItemCode(rawValue: 15)
  /// The clock of an OS2 device, without a signature.
  public static let timeWithoutSignature = ItemCode(rawValue: 16)
  /// The calibration of the angle.
  public static let magnet = ItemCode(rawValue: 17)
  /// Deletion of a history record.
  public static let historyDelete = ItemCode(rawValue: 18)
  /// The mechanical setting.
  public static let mechSetting = ItemCode(rawValue: 80)
  /// The mechanical status.
  public static let mechStatus = ItemCode(rawValue: 81)
  /// Lock.
  public static let lock = ItemCode(rawValue: 82)
  /// Unlock.
  public static let unlock = ItemCode(rawValue: 83)
  /// Lock if unlocked, or unlock if locked.
  public static let toggle = ItemCode(rawValue: 88)
  /// Press the button.
  public static let click = ItemCode(rawValue: 89)
  /// The autolock delay after a door sensor's report.
  public static let openSensorDelay = ItemCode(rawValue: 92)
  /// Reset to the state of a new device (OS3).
  public static let reset = ItemCode(rawValue: 104)
  /// The product type shown in advertisements.
  public static let advertisedType = ItemCode(rawValue: 205)
  /// The transmit power.
  public static let txPower = ItemCode(rawValue: 206)
  // swift-format-ignore-end
}

extension ItemCode: CustomStringConvertible {
  /// The item's name, or its number.
  public var description: String {
    switch rawValue {
    case 0...20: Self.general[Int(rawValue)]
    case 80...92: Self.mechanical[Int(rawValue) - 80]
    case 93...96: "script " + ["setting", "select", "current", "names"][Int(rawValue) - 93]
    case 101: "add Sesame"
    case 102: "Sesame keys"
    case 103: "remove Sesame"
    case 104: "reset"
    case 106: "notify lock down"
    case 107...114: "card " + Self.credential[Int(rawValue) - 107]
    case 115...122: "fingerprint " + Self.credential[Int(rawValue) - 115]
    case 123...130: "passcode " + Self.credential[Int(rawValue) - 123]
    case 131...137: "hub " + Self.hub[Int(rawValue) - 131]
    case 138...142: Self.credentialMore[Int(rawValue) - 138]
    case 143...151: "infrared \(rawValue - 143)"
    case 153: "Matter window"
    case 154...161: "face " + Self.credential[Int(rawValue) - 154]
    case 162...169: "palm " + Self.credential[Int(rawValue) - 162]
    case 170...179: "run script \(rawValue - 170)"
    case 180...185: Self.late[Int(rawValue) - 180]
    case 190: "remote delay set"
    case 191: "remote delay"
    case 192: "face delete notify"
    case 193: "palm delete notify"
    case 200: "radar set"
    case 201: "radar"
    case 202: "battery voltages"
    case 204...206: ["device not supported", "advertised type", "TX power"][Int(rawValue) - 204]
    case 208: "hub relay"
    case 209: "network type"
    default: "item \(rawValue)"
    }
  }

  private static let general = [
    "none", "registration", "login", "user", "history", "version", "disconnect", "enable DFU", "time",
    "connection parameters", "advertising parameters", "autolock", "server adv kick", "Sesame token",
    "initial", "identity", "time without signature", "magnet", "history delete", "sensor interval",
    "switch point",
  ]
  private static let mechanical = [
    "mech setting", "mech status", "lock", "unlock", "move to", "drive direction", "stop",
    "detect direction", "toggle", "click", "door open", "door closed", "open-sensor delay",
  ]
  private static let credential = [
    "change", "delete", "get", "notify", "last", "first", "mode get", "mode set",
  ]
  private static let credentialMore = [
    "passcode add", "card change value", "card add", "card move", "passcode move",
  ]
  private static let hub = ["SSID", "first", "notify", "last", "password", "update SSID", "Matter code"]
  private static let late = [
    "add hub", "edit script", "cards add", "device status", "passcodes add", "passcodes delete",
  ]
}
