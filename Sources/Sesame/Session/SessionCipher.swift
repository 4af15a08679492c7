import Bluetooth

/// The two ends of a session.
public enum SessionEnd: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The phone or client.
  case app
  /// The device.
  case lock

  /// The end's name.
  public var description: String { rawValue }

  /// The other end.
  public var peer: SessionEnd { self == .app ? .lock : .app }
}

/// The token that makes the nonces of a session unique.
public enum SessionToken: Hashable, Sendable {
  /// Eight bytes: the app's token (at registration the server's), then the lock's.
  case os2(app: Token, lock: Token)
  /// Four bytes, the lock's.
  case os3(Token)

  /// The generation of the token's form.
  public var generation: Generation {
    switch self {
    case .os2: .os2
    case .os3: .os3
    }
  }

  /// The bytes that the session key is derived from.
  public var bytes: [UInt8] {
    switch self {
    case .os2(let app, let lock): app.encoded + lock.encoded
    case .os3(let lock): lock.encoded
    }
  }

  /// The nonce of a message, 13 bytes.
  ///
  /// OS2: a counter of 39 bits whose 40th gives the direction, and the token. OS3: a counter of 64 bits, a
  /// zero, and the token; it does not contain the direction, so that both ends use the same nonces.
  func block(counter: UInt64, from sender: SessionEnd) -> NonceBlock {
    switch self {
    case .os2(let app, let lock):
      let token = UInt64(app.word) | UInt64(lock.word) << 32
      let direction: UInt64 = sender == .app ? 1 << 39 : 0
      return NonceBlock(low: counter & counterMask | direction | token << 40, high: token >> 24)
    case .os3(let lock):
      return NonceBlock(low: counter, high: UInt64(lock.word) << 8)
    }
  }

  /// The bits of a counter.
  var counterMask: UInt64 {
    switch self {
    case .os2: 1 << 39 - 1
    case .os3: .max
    }
  }
}

/// One end's cipher of a session: AES-128-CCM with a counter for each direction.
///
/// A copy shares the key setup with the original and has its own counters.
public struct SessionCipher: Sendable {
  /// How a message that does not authenticate affects the counter.
  public enum FailureRule: String, CaseIterable, Hashable, Sendable {
    /// The counter stays, so that a bad message has no effect: the vendor's iOS client, libsesame3bt,
    /// gomalock.
    case keepsCounter
    /// The counter advances, so that a bad message breaks the session: the vendor's Android client,
    /// pysesameos2.
    case advancesCounter
  }

  /// Why a message does not decrypt.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is shorter than the tag.
    case tooShort
    /// The tag is wrong, because of the key, the counter, the direction or a bit of the message.
    case notAuthentic

    /// The failure as text.
    public var description: String {
      switch self {
      case .tooShort: "shorter than its tag"
      case .notAuthentic: "does not authenticate"
      }
    }
  }

  /// The length of the tag after each message.
  public static let tagLength = 4

  /// The end that this cipher serves.
  public let end: SessionEnd
  /// The session's token.
  public let token: SessionToken
  /// How a message that does not authenticate affects ``receiveCounter``.
  public var failureRule: FailureRule
  /// The counter of the next message sent; settable, so that a fault can skip or repeat one.
  public var sendCounter: UInt64 = 0
  /// The counter of the next message received.
  public var receiveCounter: UInt64 = 0

  /// The key, which must never appear in a message.
  let key: SecretKey
  private let cipher: AESCCM

  /// Starts a session with a key; both counters are 0.
  public init(
    key: SecretKey, token: SessionToken, end: SessionEnd, onFailure failureRule: FailureRule = .keepsCounter
  ) {
    self.end = end
    self.token = token
    self.failureRule = failureRule
    self.key = key
    cipher = AESCCM(key: key, tagLength: Self.tagLength)
  }

  /// Encrypts the next message to the peer.
  public mutating func encrypt(_ message: [UInt8]) -> [UInt8] {
    let nonce = token.block(counter: sendCounter, from: end)
    sendCounter = (sendCounter &+ 1) & token.counterMask
    return cipher.seal(message, nonce: nonce, additionalData: additionalData)
  }

  /// Decrypts the next message from the peer.
  public mutating func decrypt(_ message: [UInt8]) throws(Failure) -> [UInt8] {
    let plaintext = cipher.open(
      message, nonce: token.block(counter: receiveCounter, from: end.peer), additionalData: additionalData)
    if plaintext != nil || failureRule == .advancesCounter { advanceReceiveCounter() }
    guard let plaintext else { throw message.count < Self.tagLength ? .tooShort : .notAuthentic }
    return plaintext
  }

  /// Advances the counter of the next received message, without a message.
  public mutating func advanceReceiveCounter() {
    receiveCounter = (receiveCounter &+ 1) & token.counterMask
  }

  /// Decrypts a message of either sender at a given counter, without changing a counter.
  ///
  /// For captures. Returns `nil` if the message does not authenticate.
  public func open(_ message: [UInt8], counter: UInt64, from sender: SessionEnd) -> [UInt8]? {
    cipher.open(message, nonce: token.block(counter: counter, from: sender), additionalData: additionalData)
  }

  /// The counter with which the peer sealed a message, if it is among some.
  func counter(of message: [UInt8], among counters: ClosedRange<UInt64>) -> UInt64? {
    counters.first { open(message, counter: $0, from: end.peer) != nil }
  }
}

/// The additional data that every message authenticates.
private let additionalData: [UInt8] = [0]
