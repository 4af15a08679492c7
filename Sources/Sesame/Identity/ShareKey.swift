import Basics
public import Bluetooth

/// A key as the vendor's apps share it in a QR code.
///
/// Its text form hides the secret; ``url`` and ``exposedBytes`` contain it.
public struct ShareKey: Hashable, Sendable {
  /// The permissions of the holder of a key.
  public enum Level: UInt8, CaseIterable, Hashable, Sendable {
    /// Everything.
    case owner
    /// Everything except transferring the ownership.
    case manager
    /// Locking and unlocking.
    case guest
  }

  /// The additional credential of a login, which depends on the generation.
  public enum Credential: Hashable, Sendable {
    /// The lock's public key.
    case os2(PublicKey)
    /// The token of the registration.
    case os3(Token)
  }

  /// The product, whose generation must be that of the credential.
  public var model: ProductModel
  /// The secret key.
  public var secret: SecretKey
  /// The additional credential of a login.
  public var credential: Credential
  /// The index of the key in the lock.
  public var keyIndex: UInt16
  /// The device's UUID.
  public var deviceID: UUID128
  /// The permissions of the holder.
  public var level: Level
  /// The name of the device.
  public var name: String

  /// Makes a key.
  public init(
    model: ProductModel, secret: SecretKey, credential: Credential, keyIndex: UInt16 = 0, deviceID: UUID128,
    level: Level = .owner, name: String = ""
  ) {
    precondition(model.generation == credential.generation, "the credential is of another generation")
    self.model = model
    self.secret = secret
    self.credential = credential
    self.keyIndex = keyIndex
    self.deviceID = deviceID
    self.level = level
    self.name = name
  }
}

extension ShareKey.Credential {
  /// The generation whose keys have this form.
  public var generation: Generation {
    switch self {
    case .os2: .os2
    case .os3: .os3
    }
  }
}

extension ShareKey {
  /// Reads the bytes of the `sk` field: 99 of OS2, 39 of OS3.
  public init(bytes: [UInt8], level: Level = .owner, name: String = "") throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    let number = try reader.u8()
    guard let model = ProductModel(rawValue: number), let generation = model.generation else {
      throw .value(Int(number), of: "product model", at: 0)
    }
    let secret = try SecretKey(decoding: &reader)
    let credential: Credential =
      switch generation {
      case .os2: .os2(try PublicKey(decoding: &reader))
      case .os3: .os3(try Token(decoding: &reader))
      }
    let keyIndex = try reader.u16()
    let deviceID = try UUID128(decoding: &reader)
    try reader.end()
    self.init(
      model: model, secret: secret, credential: credential, keyIndex: keyIndex, deviceID: deviceID,
      level: level, name: name)
  }

  /// The bytes of the `sk` field, including the secret.
  public var exposedBytes: [UInt8] {
    var bytes = [model.rawValue] + secret.exposedBytes
    switch credential {
    case .os2(let publicKey): bytes.append(publicKey)
    case .os3(let token): bytes.append(token)
    }
    bytes.append(littleEndian: keyIndex)
    bytes.append(deviceID)
    return bytes
  }

  /// Reads `ssm://UI?t=sk&sk=…&l=…&n=…`; the fields may come in any order, and unknown ones are ignored.
  ///
  /// An error's offset counts characters of the whole text; for errors in `sk`, bytes of its value.
  public init(url: String) throws(DecodeError) {
    let prefix = "ssm://UI?"
    guard url.hasPrefix(prefix) else { throw .malformed("a share key", at: 0) }
    var fields: (type: String?, key: String?, level: String?, name: String?)
    var offset = prefix.utf8.count
    for field in url.dropFirst(prefix.count).split(separator: "&", omittingEmptySubsequences: false) {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = try percentDecoded(parts.count == 2 ? parts[1] : "", at: offset + parts[0].utf8.count + 1)
      switch parts[0] {
      case "t": fields.type = value
      case "sk": fields.key = value
      case "l": fields.level = value
      case "n": fields.name = value
      default: break
      }
      offset += field.utf8.count + 1
    }
    guard fields.type == "sk" else { throw .missing("type of a share key", at: prefix.utf8.count) }
    guard let key = fields.key else { throw .missing("field sk", at: prefix.utf8.count) }
    guard let number = fields.level.flatMap(UInt8.init), let level = Level(rawValue: number) else {
      throw .missing("level of a share key", at: prefix.utf8.count)
    }
    // Some scanners turn the plus of base64 into a space.
    let base64 = String(key.map { $0 == " " ? "+" : $0 })
    try self.init(bytes: try [UInt8](base64: base64), level: level, name: fields.name ?? "")
  }

  /// The text of the QR code, including the secret.
  public var url: String {
    "ssm://UI?t=sk&sk=" + percentEncoded(exposedBytes.base64) + "&l=\(level.rawValue)&n="
      + percentEncoded(name)
  }
}

extension ShareKey: Concealed {
  /// The product and its UUID, without the secret.
  public var description: String { "<share key of \(model) \(deviceID)>" }
}

extension SecretKey {
  /// Whether it replaces a lock's secret in a guest's key. The vendor's app detects it by the first eight
  /// bytes, which are zeros, and has the vendor's server make the login.
  public var isOfGuest: Bool { words.first == 0 }
}

private func percentDecoded(_ text: Substring, at start: Int) throws(DecodeError) -> String {
  let bytes = [UInt8](text.utf8)
  var result: [UInt8] = []
  var index = 0
  while index < bytes.count {
    if bytes[index] == UInt8(ascii: "%") {
      guard index + 2 < bytes.count,
        let byte = try? [UInt8](hex: String(decoding: bytes[index + 1...index + 2], as: UTF8.self))
      else { throw .malformed("a percent-encoded text", at: start + index) }
      result += byte
      index += 3
    } else {
      result.append(bytes[index])
      index += 1
    }
  }
  return String(decoding: result, as: UTF8.self)
}
