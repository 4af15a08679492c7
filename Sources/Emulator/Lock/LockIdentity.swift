public import Bluetooth
public import Sesame

/// The permanent identity of a lock: its UUID and its key pair.
public struct LockIdentity: Sendable {
  /// The UUID that it advertises.
  public let deviceID: UUID128
  /// The secret from which an OS2 lock derives its key pair; empty for OS3.
  public let er: [UInt8]
  /// The key pair, computed once.
  public let keyPair: PrivateKey
  /// The address under which it advertises.
  public let address: BluetoothAddress

  /// Makes the identity of an OS3 lock, whose address is derived from its UUID.
  public init(deviceID: UUID128, keyPair: PrivateKey) {
    self.deviceID = deviceID
    self.keyPair = keyPair
    er = []
    address = .sesame(deviceID)
  }

  /// Makes the identity of an OS2 lock; `nil` for the one secret in 2³² that gives no key pair.
  public init?(deviceID: UUID128, er: [UInt8]) {
    guard let keyPair = OS2Keys.deviceKey(er: er) else { return nil }
    self.deviceID = deviceID
    self.er = er
    self.keyPair = keyPair
    address = .staticRandom(deviceID.low)
  }

  /// Draws an identity.
  ///
  /// - Parameter erLength: the length of the secret of an OS2 lock, in bytes.
  public init(for generation: Generation, erLength: Int = 16, drawingFrom source: inout some SecretSource) {
    while true {
      let bytes = source.bytes(16)
      let deviceID = UUID128(
        high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
        low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
      if generation == .os3 {
        self.init(deviceID: deviceID, keyPair: PrivateKey(from: &source))
        return
      }
      if let identity = LockIdentity(deviceID: deviceID, er: source.bytes(erLength)) {
        self = identity
        return
      }
    }
  }
}
