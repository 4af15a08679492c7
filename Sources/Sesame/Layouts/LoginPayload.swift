public import Bluetooth

/// The data that an OS2 device sends at login: 28 bytes, or 30 with two bytes of autolock delay in the
/// middle.
public struct LoginPayload: Hashable, Sendable {
  /// The device's clock, in Unix seconds.
  public var time: UInt32
  /// The firmware generation; 0 is old firmware without unsigned time and history.
  public var firmwareVersion: UInt8
  /// The number of users; recorded logins have other values here.
  public var userCount: UInt8
  /// The number of history records; recorded logins have other values here.
  public var historyCount: UInt8
  /// A byte of flags with unknown meaning; 1 in recorded logins.
  public var flags: UInt8
  /// The autolock delay in seconds, only in the form of 30 bytes.
  public var autolock: UInt16?
  /// The mechanical setting.
  public var setting: MechSetting
  /// The mechanical status.
  public var status: MechStatus

  /// Makes a payload, of 30 bytes if there is an autolock delay.
  public init(
    time: UInt32, firmwareVersion: UInt8 = 1, userCount: UInt8 = 0, historyCount: UInt8 = 0x80,
    flags: UInt8 = 1, autolock: UInt16? = nil, setting: MechSetting, status: MechStatus
  ) {
    self.time = time
    self.firmwareVersion = firmwareVersion
    self.userCount = userCount
    self.historyCount = historyCount
    self.flags = flags
    self.autolock = autolock
    self.setting = setting
    self.status = status
  }

  /// Reads a payload like the vendor's iOS client: 30 bytes include the delay; of any other length, the first
  /// 28 count.
  public init(decoding bytes: [UInt8], model: ProductModel) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    try reader.require(28)
    time = try reader.u32()
    firmwareVersion = try reader.u8()
    userCount = try reader.u8()
    historyCount = try reader.u8()
    flags = try reader.u8()
    autolock = bytes.count == 30 ? try reader.u16() : nil
    setting = try MechSetting(decoding: try reader.bytes(12), model: model)
    status = try MechStatus(decoding: try reader.bytes(8), model: model)
  }

  /// The payload's bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(30)
    bytes.append(littleEndian: time)
    bytes += [firmwareVersion, userCount, historyCount, flags]
    if let autolock { bytes.append(littleEndian: autolock) }
    return bytes + setting.encoded + status.encoded
  }
}

extension LoginPayload: CustomStringConvertible {
  /// Clock, firmware, setting and status, as text.
  public var description: String {
    "clock \(time), firmware \(firmwareVersion), \(setting), \(status)"
  }
}

/// The identity of an OS2 device, whose second part determines its key pair.
public struct Identity: Hashable, Sendable, BinaryCodable {
  /// Sixteen bytes that the app does not use; probably the device's UUID.
  public var ir: [UInt8]
  /// The secret that determines the key pair: the remaining bytes, probably sixteen.
  public var er: [UInt8]

  /// Makes an identity; the first part has sixteen bytes.
  public init(ir: [UInt8], er: [UInt8]) {
    precondition(ir.count == 16, "the first part of an identity has sixteen bytes")
    self.ir = ir
    self.er = er
  }

  /// Reads sixteen bytes and the rest.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    ir = try reader.bytes(16)
    er = reader.rest()
  }

  /// Appends both parts.
  public func encode(into bytes: inout [UInt8]) {
    bytes += ir
    bytes += er
  }
}

/// The answer of an OS3 device to a registration: its public key, after data on the device.
public struct RegistrationReply: Hashable, Sendable {
  /// The status: seven bytes for a lock, three for a Bike or Bot with older firmware, none for others.
  public var status: MechStatus?
  /// The setting, only for locks.
  public var setting: Sesame5Setting?
  /// The device's public key.
  public var publicKey: PublicKey

  /// Makes a reply.
  public init(status: MechStatus? = nil, setting: Sesame5Setting? = nil, publicKey: PublicKey) {
    self.status = status
    self.setting = setting
    self.publicKey = publicKey
  }

  /// Reads 77, 67 or 64 bytes.
  public init(decoding bytes: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    switch bytes.count {
    case 77:
      status = .sesame5(try Sesame5Status(decoding: &reader))
      setting = try Sesame5Setting(decoding: &reader)
    case 67: status = .bike2(try Bike2Status(decoding: &reader))
    case 64: break
    default: throw .length(bytes.count, of: "registration reply")
    }
    publicKey = try PublicKey(decoding: &reader)
  }

  /// The reply's bytes.
  public var encoded: [UInt8] {
    (status?.encoded ?? []) + (setting?.encoded ?? []) + publicKey.bytes
  }
}

extension RegistrationReply: CustomStringConvertible {
  /// Status, setting and key.
  public var description: String {
    let parts = [
      status?.description, setting.map { MechSetting.sesame5($0).description }, "key \(publicKey)",
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }
}

/// The version of a firmware.
public struct FirmwareVersion: Hashable, Sendable {
  /// The build time in Unix seconds, only for OS2.
  public var buildTime: Int32?
  /// The revision, for OS2 at most 32 bytes.
  public var text: String

  /// Makes a version.
  public init(buildTime: Int32? = nil, text: String) {
    self.buildTime = buildTime
    self.text = text
  }

  /// Reads a build time and 32 bytes of text padded with zeros (OS2), or text only (OS3).
  public init(decoding bytes: [UInt8], for generation: Generation) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    switch generation {
    case .os2:
      buildTime = try reader.i32()
      let field = try reader.bytes(32)
      try reader.end()
      text = String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
    case .os3:
      text = String(decoding: reader.rest(), as: UTF8.self)
    }
  }

  /// The version's bytes for a generation.
  public func encoded(for generation: Generation) -> [UInt8] {
    let text = [UInt8](text.utf8)
    guard generation == .os2 else { return text }
    var bytes: [UInt8] = []
    bytes.append(littleEndian: buildTime ?? 0)
    bytes += text.prefix(32)
    bytes.append(contentsOf: repeatElement(0, count: 36 - bytes.count))
    return bytes
  }
}

extension FirmwareVersion: CustomStringConvertible {
  /// The revision, with the build time if known.
  public var description: String { text + (buildTime.map { " built at \($0)" } ?? "") }
}
