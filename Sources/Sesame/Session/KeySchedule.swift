import Bluetooth
import Basics

/// The key derivation of an OS2 device.
public enum OS2Keys {
  /// The key from which a registration's keys are derived: CMAC(shared secret, token), where the token is the
  /// server's and the lock's.
  public static func registrationKey(_ shared: SharedSecret, _ token: SessionToken) -> SecretKey {
    shared.key.cmac(token.bytes)
  }

  /// The secret key that the app stores for later logins.
  public static func ownerKey(registrationKey: SecretKey) -> SecretKey {
    registrationKey.cmac([UInt8]("owner_key".utf8))
  }

  /// The key of the session in which the registration happened.
  public static func registrationSessionKey(registrationKey: SecretKey, _ token: SessionToken) -> SecretKey {
    registrationKey.cmac(token.bytes)
  }

  /// The key of a session that began with a login.
  ///
  /// It depends only on the key pairs of app and lock: the secret key only authenticates the login.
  public static func loginSessionKey(_ shared: SharedSecret, _ token: SessionToken) -> SecretKey {
    shared.key.cmac(token.bytes)
  }

  /// The input of a login proof, which is its CMAC with the secret key: key index, app's public key, both
  /// tokens.
  ///
  /// A guest, who does not have the key, sends these 74 bytes to the vendor's server and receives the proof.
  public static func loginPayload(
    keyIndex: UInt16, publicKey: PublicKey, appToken: Token, lockToken: Token
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(74)
    bytes.append(littleEndian: keyIndex)
    bytes.append(publicKey)
    bytes.append(appToken)
    bytes.append(lockToken)
    return bytes
  }

  /// The key pair of a lock, derived from the secret part of its identity (``Identity/er``).
  public static func deviceKey(er: [UInt8]) -> PrivateKey? {
    let first = deviceLabel.cmac(er)
    let second = first.cmac(er)
    return try? PrivateKey(scalar: first.exposedBytes + second.exposedBytes)
  }

  /// The public key of the vendor's server.
  public static let serverPublicKey: PublicKey = vendorKey()

  /// The secret shared by lock and server, which signs registrations.
  public static func serverSecret(deviceKey: PrivateKey) -> SecretKey {
    guard let shared = try? deviceKey.sharedSecret(with: serverPublicKey) else {
      preconditionFailure("the vendor's public key is a point of the curve")
    }
    return shared.key
  }

  /// The server's signature of a registration: it covers the app's public key and both tokens.
  public static func signature(
    serverSecret: SecretKey, publicKey: PublicKey, serverToken: Token, lockToken: Token
  ) -> Proof {
    serverSecret.cmac(publicKey.bytes + serverToken.encoded + lockToken.encoded).proof
  }

  private static let deviceLabel = SecretKey(
    UUID128(high: 0x5365_7361_6D65_325F, low: 0x6B65_795F_7061_6972))

  private static func vendorKey() -> PublicKey {
    let text =
      "a040fcc7386b2a08304a3a2f0834df575c936794209729f0d42bd84218b35803"
      + "932bea522200b2ebcbf17ab57c4509b4a3f1e268b2489eb3b75f7a765adbe181"
    guard let bytes = try? [UInt8](hex: text), let key = try? PublicKey(bytes: bytes) else {
      preconditionFailure("the vendor's public key has 64 bytes")
    }
    return key
  }
}

/// The key derivation of an OS3 device.
public enum OS3Keys {
  /// The key of a session; a login sends its first four bytes (``SecretKey/proof``).
  public static func sessionKey(deviceSecret: SecretKey, _ lockToken: Token) -> SecretKey {
    deviceSecret.cmac(lockToken.encoded)
  }
}

/// The registration of OS2 devices by the vendor's server, without the server: it needs only the data that
/// the app reads from the lock in clear.
public enum OS2RegistrationServer {
  /// The answer of the server.
  public struct Reply: Hashable, Sendable {
    /// The signature, in base64 as `sig1`; the first four bytes count.
    public var signature: [UInt8]
    /// The server's token, in base64 as `st`.
    public var serverToken: Token
    /// The lock's public key, in base64 as `pubkey`.
    public var devicePublicKey: PublicKey
  }

  /// Registers an app with a lock by the secret part of the lock's identity; `nil` for the one identity in
  /// 2³² that gives no key.
  public static func register(
    _ publicKey: PublicKey, lockToken: Token, er: [UInt8], drawingFrom source: inout some SecretSource
  ) -> Reply? {
    guard let deviceKey = OS2Keys.deviceKey(er: er) else { return nil }
    let serverToken = source.token()
    let signature = OS2Keys.signature(
      serverSecret: OS2Keys.serverSecret(deviceKey: deviceKey), publicKey: publicKey,
      serverToken: serverToken, lockToken: lockToken)
    return Reply(
      signature: signature.encoded, serverToken: serverToken, devicePublicKey: deviceKey.publicKey)
  }
}
