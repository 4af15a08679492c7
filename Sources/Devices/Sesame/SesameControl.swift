import Basics
import Bluetooth
import LockFiles
import Sesame
import SesameDevice
import System

/// The key of a Sesame that another program emulates, as last reported by that program.
final class ControlledKey: OwnerKeys {
  private(set) var key: LockKey?

  /// Receives the key from the control socket; `nil` for a lock without an owner.
  func take(_ json: JSON?) throws(ControlError) {
    key = try json.map { json throws(ControlError) in try LockKey(exposed: json) }
    if let key { Secrecy.keep(key) }
  }
}

extension JSON {
  /// Creates the JSON form of an owner's key, for a client on the control socket.
  init(exposing key: LockKey) {
    self = .omittingNil([
      "uuid": .text(key.deviceID.description), "secret": .text(key.secret.exposedBytes.hex),
      "public-key": key.lockPublicKey.map { .text($0.bytes.hex) },
      "index": key.index == 0 ? nil : .integer(key.index),
    ])
  }
}

extension LockKey {
  /// Parses the key from an emulator's answer.
  fileprivate init(exposed key: JSON) throws(ControlError) {
    guard let uuid = key["uuid"]?.string, let secret = key["secret"]?.string else {
      throw ControlError("a registered lock without its key")
    }
    do {
      let publicKey = try key["public-key"]?.string.map { try PublicKey(bytes: [UInt8](hex: $0)) }
      var index: UInt16 = 0
      if case .number(let text)? = key["index"] { index = UInt16(text) ?? 0 }
      self.init(
        deviceID: try UUID128(text: uuid), secret: try SecretKey(bytes: [UInt8](hex: secret)),
        lockPublicKey: publicKey, index: index)
    } catch {
      throw ControlError("a key that does not decode")
    }
  }
}
