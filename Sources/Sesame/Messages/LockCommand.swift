import Basics
public import Bluetooth

/// A command of an app to a lock of either generation.
///
/// App and lock share this definition: ``request(for:)`` encodes it for a generation and ``init(_:)`` decodes
/// it. Every command has a form in both generations, so that a lock can be sent commands that it does not
/// support.
public enum LockCommand: Hashable, Sendable {
  /// Read the identity from which the keys are derived (OS2, in clear).
  case readIdentity
  /// Register as the owner (in clear).
  case register(RegisterCommand)
  /// Open a session (in clear).
  case login(LoginCommand)

  /// Lock.
  case lock(HistoryTag)
  /// Unlock.
  case unlock(HistoryTag)
  /// Lock or unlock; the vendor's apps decide themselves and never send it.
  case toggle(HistoryTag)
  /// Press the button (Bot); OS3 sends no tag.
  case click(HistoryTag)
  /// Run a script (Bot 2).
  case runScript(UInt8)

  /// Set the autolock delay in seconds, 0 for never; OS3 sends no tag.
  case setAutolock(seconds: Int16, HistoryTag = .absent)
  /// Read the autolock delay (OS2).
  case readAutolock
  /// Set the mechanical setting: all twelve bytes in OS2, whose layout depends on the product; in OS3 the
  /// four bytes of ``Sesame5Setting/positions``, without a tag.
  case setMechSetting([UInt8], HistoryTag = .absent)
  /// Read the mechanical status (OS2; Sesame 5 does not answer).
  case readMechStatus
  /// Read the firmware version.
  case readVersion
  /// Read the oldest history record. The meaning of the byte is disputed: in OS2 1 reads and deletes and 0
  /// only reads; for OS3 documents of different years say both.
  case readHistory(UInt8)
  /// Delete a history record (OS3).
  case deleteHistory(id: UInt32)
  /// Set the clock to a Unix time in seconds.
  case setTime(UInt32)
  /// Set the clock to a time signed by the server (OS2 with old firmware).
  case setSignedTime([UInt8])
  /// Use the present angle as the origin (OS3).
  case calibrateMagnet
  /// Set the seconds between a door sensor's report and autolock (OS3).
  case setOpenSensorDelay(seconds: UInt16)
  /// Set the product type that advertisements show (OS3).
  case setAdvertisedType([UInt8])
  /// Set the transmit power in dBm (OS3).
  case setTXPower(Int8)
  /// Enter firmware update mode.
  case enableDFU
  /// Delete owner, keys and settings.
  case reset

  /// Any other request.
  case other(Request)
}

/// The data of a registration.
public enum RegisterCommand: Hashable, Sendable {
  /// OS2: the server's signature, of which four bytes count, the app's public key, the server's token.
  case os2(signature: [UInt8], PublicKey, serverToken: Token)
  /// OS3: the app's public key, and the Unix time in seconds, which one SDK omits.
  case os3(PublicKey, time: UInt32?)
}

/// The data of a login.
public enum LoginCommand: Hashable, Sendable {
  /// OS2: the key's index, the app's public key and token, and the proof of the secret key.
  case os2(keyIndex: UInt16, PublicKey, appToken: Token, Proof)
  /// OS3: the first bytes of the session key.
  case os3(Proof)
}

extension LockCommand {
  /// Reads a request of a generation; see ``init(_:)``.
  public init(decoding bytes: [UInt8], for generation: Generation) throws(DecodeError) {
    try self.init(Request(decoding: bytes, for: generation))
  }

  /// The command's bytes for a generation.
  public func encoded(for generation: Generation) -> [UInt8] {
    request(for: generation).encoded
  }

  /// The request of the command in a generation.
  public func request(for generation: Generation) -> Request {
    if case .other(let request) = self { return request }
    let form = form(in: generation)
    return Request(generation == .os2 ? form.operation : nil, form.item, data(for: generation))
  }

  /// The operation and item of the command; OS3 sends the item only.
  private func form(in generation: Generation) -> (operation: OpCode, item: ItemCode) {
    switch self {
    case .readIdentity: (.read, .identity)
    case .register: (.create, .registration)
    case .login: (.sync, .login)
    case .lock: (.async, .lock)
    case .unlock: (.async, .unlock)
    case .toggle: (.async, .toggle)
    case .click, .runScript: (.async, .click)
    case .setAutolock: (.update, .autolock)
    case .readAutolock: (.read, .autolock)
    case .setMechSetting: (.update, .mechSetting)
    case .readMechStatus: (.read, .mechStatus)
    case .readVersion: (.read, .version)
    case .readHistory: (.read, .history)
    case .deleteHistory: (.delete, .historyDelete)
    case .setTime: (.update, generation == .os2 ? .timeWithoutSignature : .time)
    case .setSignedTime: (.update, .time)
    case .calibrateMagnet: (.update, .magnet)
    case .setOpenSensorDelay: (.update, .openSensorDelay)
    case .setAdvertisedType: (.update, .advertisedType)
    case .setTXPower: (.update, .txPower)
    case .enableDFU: (.update, .enableDFU)
    case .reset: generation == .os2 ? (.delete, .registration) : (.delete, .reset)
    case .other(let request): (request.operation ?? .undefined, request.item)
    }
  }

  private func data(for generation: Generation) -> [UInt8] {
    var data: [UInt8] = []
    switch self {
    case .register(let command): command.encode(into: &data)
    case .login(let command): command.encode(into: &data)
    case .lock(let tag), .unlock(let tag), .toggle(let tag): tag.encode(into: &data, for: generation)
    case .click(let tag):
      if generation == .os2 { tag.encode(into: &data, for: .os2) }
    case .runScript(let script): data.append(script)
    case .setAutolock(let seconds, let tag):
      data.append(littleEndian: seconds)
      if generation == .os2 { tag.encode(into: &data, for: .os2) }
    case .setMechSetting(let bytes, let tag):
      data += bytes
      if generation == .os2 { tag.encode(into: &data, for: .os2) }
    case .readHistory(let argument): data.append(argument)
    case .deleteHistory(let id): data.append(littleEndian: id)
    case .setTime(let time): data.append(littleEndian: time)
    case .setSignedTime(let bytes), .setAdvertisedType(let bytes): data += bytes
    case .setOpenSensorDelay(let seconds): data.append(littleEndian: seconds)
    case .setTXPower(let power): data.append(littleEndian: power)
    case .enableDFU: data.append(1)
    case .readIdentity, .readAutolock, .readMechStatus, .readVersion, .calibrateMagnet, .reset, .other: break
    }
    return data
  }
}

extension RegisterCommand {
  fileprivate func encode(into bytes: inout [UInt8]) {
    switch self {
    case .os2(let signature, let publicKey, let serverToken):
      bytes.append(fields: signature, publicKey, serverToken)
    case .os3(let publicKey, let time):
      bytes.append(publicKey)
      if let time { bytes.append(littleEndian: time) }
    }
  }
}

extension LoginCommand {
  fileprivate func encode(into bytes: inout [UInt8]) {
    switch self {
    case .os2(let keyIndex, let publicKey, let appToken, let proof):
      bytes.append(fields: keyIndex, publicKey, appToken, proof)
    case .os3(let proof): bytes.append(proof)
    }
  }
}

extension LockCommand: CustomStringConvertible {
  /// The command with its data, as text.
  public var description: String {
    switch self {
    case .readIdentity: "read identity"
    case .register(.os2(let signature, _, let token)): "register, signature \(signature.hex), token \(token)"
    case .register(.os3(_, let time)): "register" + (time.map { " at \($0)" } ?? "")
    case .login(.os2(let index, _, let token, let proof)):
      "login with key \(index), token \(token), proof \(proof)"
    case .login(.os3(let proof)): "login, proof \(proof)"
    case .lock(let tag): "lock, \(tag)"
    case .unlock(let tag): "unlock, \(tag)"
    case .toggle(let tag): "toggle, \(tag)"
    case .click(let tag): "click, \(tag)"
    case .runScript(let script): "run script \(script)"
    case .setAutolock(let seconds, _): "set autolock to \(seconds) s"
    case .readAutolock: "read autolock"
    case .setMechSetting(let bytes, _): "set mech setting \(bytes.hex)"
    case .readMechStatus: "read mech status"
    case .readVersion: "read version"
    case .readHistory(let argument): "read history \(argument)"
    case .deleteHistory(let id): "delete history \(id)"
    case .setTime(let time): "set time \(time)"
    case .setSignedTime(let bytes): "set signed time \(bytes.hex)"
    case .calibrateMagnet: "calibrate magnet"
    case .setOpenSensorDelay(let seconds): "set open-sensor delay to \(seconds) s"
    case .setAdvertisedType(let bytes): "set advertised type \(bytes.hex)"
    case .setTXPower(let power): "set TX power to \(power) dBm"
    case .enableDFU: "enable DFU"
    case .reset: "reset"
    case .other(let request): request.description
    }
  }
}
