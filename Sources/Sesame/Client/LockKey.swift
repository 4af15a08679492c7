public import Bluetooth

/// The data that a client must store of its registered lock.
public struct LockKey: Hashable, Sendable {
  /// The lock's advertised device ID.
  public var deviceID: UUID128
  /// The secret: the owner key of OS2, the device secret of OS3.
  public var secret: SecretKey
  /// The lock's public key, which an OS2 login needs; `nil` for OS3.
  public var lockPublicKey: PublicKey?
  /// The index of the key in the lock; 0 for the owner's. OS2 sends it at login.
  public var index: UInt16

  /// Makes a key.
  public init(deviceID: UUID128, secret: SecretKey, lockPublicKey: PublicKey? = nil, index: UInt16 = 0) {
    self.deviceID = deviceID
    self.secret = secret
    self.lockPublicKey = lockPublicKey
    self.index = index
  }
}
