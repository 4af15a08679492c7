/// The key of one session, for decoding its messages.
///
/// It has no text form: the key of a recorded session stays in memory.
public struct SessionSecret: Sendable {
  let token: SessionToken
  let key: SecretKey

  /// Makes a secret of what both ends of a session agreed on.
  public init(_ token: SessionToken, _ key: SecretKey) {
    self.token = token
    self.key = key
  }

  /// Takes it from one end's cipher.
  init(_ cipher: SessionCipher) {
    self.init(cipher.token, cipher.key)
  }
}
