/// The key of one session, for decoding its messages.
///
/// It has no text form: the key of a recorded session stays in memory.
public struct SessionSecret: Sendable {
  let token: SessionToken
  let key: SecretKey

  /// Makes a secret from a session's token and key.
  public init(_ token: SessionToken, _ key: SecretKey) {
    self.token = token
    self.key = key
  }

  /// Takes the secret from one end's cipher.
  init(_ cipher: SessionCipher) {
    self.init(cipher.token, cipher.key)
  }
}
