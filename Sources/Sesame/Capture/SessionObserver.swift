import Basics
import Bluetooth

/// Decodes the frames of one link from both ends.
///
/// It derives the keys of a session as far as the available secrets permit:
///
/// | generation | the session's key follows from |
/// |---|---|
/// | OS3 | the lock's secret, and the token that it publishes first |
/// | OS2 | a key pair of either end; the lock's follows from the identity that it sends before a registration |
///
/// An OS2 session can therefore be decrypted only with its own key, or if the capture contains the lock's
/// registration: the owner's key authenticates a session, but does not determine its key.
struct SessionObserver {
  /// The result of a frame.
  struct Reading {
    var layers: [CaptureEntry.Layer] = []
    /// The bytes that must not be shown.
    var secrets: [CapturedBytes] = []
  }

  /// The knowledge beside the frames of this link.
  struct Knowledge {
    /// The keys of locks.
    var keys: [LockKey] = []
    /// The keys of sessions.
    var sessions: [SessionSecret] = []
    /// The key pairs of locks whose identity was seen.
    var pairs: [PrivateKey] = []
  }

  /// One direction of the link.
  private struct Lane {
    var reassembler = Reassembler()
    /// The frames of the incomplete message.
    var frames: [CapturedValue] = []
    /// The item of that message, and its length so far.
    var beginning: [UInt8] = []
    var length = 0
    /// The counter of the next message.
    var counter: UInt64 = 0
    /// The number of messages that may be missing before it.
    var lost = 0

    mutating func restart() {
      counter = 0
      lost = 0
    }

    mutating func gather(_ value: CapturedValue, isFirst: Bool) {
      if isFirst || frames.isEmpty {
        frames = []
        beginning = []
        length = 0
      }
      frames.append(value)
      beginning += value.bytes.dropFirst().prefix(2 - beginning.count)
      length += value.bytes.count - 1
    }
  }

  /// The product, if the capture or the key reveals it.
  private let model: ProductModel?
  /// The lock's advertised device ID.
  private let deviceID: UUID128?
  private var generation: Generation?
  private var token: Token?
  private var app = Lane()
  private var lock = Lane()
  private var ciphers: [SessionCipher] = []
  private var isRestarted = false

  init(model: ProductModel?, deviceID: UUID128?) {
    self.model = model
    self.deviceID = deviceID
    generation = model?.generation
  }

  /// Whether a message is incomplete.
  var isGathering: Bool { !app.frames.isEmpty || !lock.frames.isEmpty }

  /// Records that the capture lost some packets.
  mutating func lose(_ count: Int) {
    app.lost = min(app.lost + count, 1 << 14)
    lock.lost = min(lock.lost + count, 1 << 14)
  }

  /// Decodes a frame.
  mutating func take(_ value: CapturedValue, _ knowledge: inout Knowledge) -> Reading {
    let sender: SessionEnd = value.isWritten ? .app : .lock
    var lane = sender == .app ? app : lock
    defer {
      if isRestarted { lane.restart() }
      isRestarted = false
      if sender == .app { app = lane } else { lock = lane }
    }
    guard let header = value.bytes.first.map(SegmentHeader.init) else {
      return Reading(layers: [.init("Sesame", malformed: "a frame without a header")])
    }
    let isUnexpected = !header.isFirst && lane.frames.isEmpty
    lane.gather(value, isFirst: header.isFirst)
    let number = lane.frames.count
    let unexpected = isUnexpected ? ", goes on with nothing" : ""
    switch lane.reassembler.receive(value.bytes) {
    case .incomplete:
      return Reading(
        layers: [.init("Sesame", "frame \(number), more follow\(unexpected)")],
        secrets: identitySecrets(of: value, lane, sender))
    case .message(let message):
      let frames = lane.frames
      lane.frames = []
      let text = "frame \(number) of \(number)\(unexpected), \(message.kind), \(message.bytes.count) bytes"
      var reading = Reading(layers: [.init("Sesame", text)])
      read(message, frames, from: sender, &lane, &knowledge, &reading)
      return reading
    case .ignored(let reason), .failed(let reason):
      lane.frames = []
      return Reading(layers: [.init("Sesame", malformed: "\(reason)")])
    }
  }
}

// MARK: - Messages

extension SessionObserver {
  private mutating func read(
    _ message: SegmentedMessage, _ frames: [CapturedValue], from sender: SessionEnd, _ lane: inout Lane,
    _ knowledge: inout Knowledge, _ reading: inout Reading
  ) {
    var plain = message.bytes
    let isEncrypted = message.kind == .ciphertext
    if isEncrypted {
      switch open(message.bytes, from: sender, &lane, knowledge) {
      case .opened(let bytes, let diagnostic):
        plain = bytes
        let text = isSecret(bytes, from: sender, knowledge) ? "withheld" : bytes.hex
        reading.layers.append(.init("Plaintext", text + diagnostic))
      case .closed(let reason):
        reading.layers.append(.init("Plaintext", reason))
        return
      }
    } else {
      if generation == nil { generation = Self.generation(of: plain, from: sender) }
      learn(plain, from: sender, &knowledge)
      for range in secrets(in: plain, from: sender, knowledge) {
        reading.secrets += Self.places(of: range, in: frames)
      }
    }
    let isSecret = isSecret(plain, from: sender, knowledge)
    reading.layers.append(
      MessageText(generation: generation ?? .os3, model: model, isWithheld: isSecret)
        .layer(of: plain, from: sender))
  }

  /// The generation that bytes in clear reveal: an OS2 request begins with an operation.
  private static func generation(of bytes: [UInt8], from sender: SessionEnd) -> Generation? {
    guard sender == .app, let first = bytes.first else { return nil }
    switch (first, bytes.count) {
    case (2, 5), (1, 65), (1, 69): return .os3
    case (2, 2), (5, 80), (1, 74...): return .os2
    default: return nil
    }
  }

  /// Processes a message in clear that leads to a session.
  private mutating func learn(_ bytes: [UInt8], from sender: SessionEnd, _ knowledge: inout Knowledge) {
    if sender == .lock {
      guard let message = try? LockMessage(decoding: bytes, for: generation ?? .os3) else { return }
      switch message {
      case .publish(let publish) where publish.item == .initial:
        guard let token = try? publish.token() else { return }
        begin(with: token, knowledge)
      case .response(let response) where response.item == .identity && generation == .os2:
        // A capture from which the secret was removed contains zeros.
        guard let identity = try? Identity(decoding: response.data), identity.er.contains(where: { $0 != 0 }),
          let pair = OS2Keys.deviceKey(er: identity.er),
          !knowledge.pairs.contains(where: { $0.publicKey == pair.publicKey })
        else { return }
        knowledge.pairs.append(pair)
      case .response, .publish: break
      }
    } else if generation == .os2, let token, let command = try? LockCommand(decoding: bytes, for: .os2) {
      switch command {
      case .login(.os2(_, let publicKey, let appToken, _)):
        begin(.os2(app: appToken, lock: token), with: publicKey, knowledge) { shared, token in
          OS2Keys.loginSessionKey(shared, token)
        }
      case .register(.os2(_, let publicKey, let serverToken)):
        begin(.os2(app: serverToken, lock: token), with: publicKey, knowledge) { shared, token in
          let key = OS2Keys.registrationKey(shared, token)
          return OS2Keys.registrationSessionKey(registrationKey: key, token)
        }
      default: break
      }
    }
  }

  /// A connection begins with the lock's token.
  private mutating func begin(with token: Token, _ knowledge: Knowledge) {
    self.token = token
    ciphers = []
    guard generation != .os2 else { return }
    restart()
    let session = SessionToken.os3(token)
    let derived = knowledge.keys.filter { mayMatch($0) && $0.lockPublicKey == nil }.map {
      OS3Keys.sessionKey(deviceSecret: $0.secret, token)
    }
    let given = knowledge.sessions.filter { $0.token == session }.map(\.key)
    ciphers = unique(given + derived).map { SessionCipher(key: $0, token: session, end: .app) }
  }

  private mutating func begin(
    _ token: SessionToken, with publicKey: PublicKey, _ knowledge: Knowledge,
    _ derive: (SharedSecret, SessionToken) -> SecretKey
  ) {
    restart()
    let given = knowledge.sessions.filter { $0.token == token }.map(\.key)
    let derived = knowledge.pairs.compactMap { pair in
      (try? pair.sharedSecret(with: publicKey)).map { derive($0, token) }
    }
    ciphers = unique(given + derived).map { SessionCipher(key: $0, token: token, end: .app) }
  }

  private mutating func restart() {
    app.restart()
    lock.restart()
    // The direction that led to it is in use meanwhile.
    isRestarted = true
  }

  private func mayMatch(_ key: LockKey) -> Bool { deviceID == nil || deviceID == key.deviceID }
}

private func unique(_ keys: [SecretKey]) -> [SecretKey] {
  var known: [SecretKey] = []
  for key in keys where !known.contains(key) { known.append(key) }
  return known
}

// MARK: - Ciphertext

extension SessionObserver {
  private enum Opening {
    /// The plain text, and a remark on its counter.
    case opened([UInt8], String)
    /// It could not be decrypted, for this reason.
    case closed(String)
  }

  private func open(
    _ bytes: [UInt8], from sender: SessionEnd, _ lane: inout Lane, _ knowledge: Knowledge
  ) -> Opening {
    guard bytes.count >= SessionCipher.tagLength else { return .closed("shorter than its tag") }
    guard !ciphers.isEmpty else { return .closed(reasonForNoCipher(knowledge)) }
    let expected = lane.counter
    for cipher in ciphers {
      if let plain = cipher.open(bytes, counter: expected, from: sender) {
        (lane.counter, lane.lost) = (expected + 1, 0)
        return .opened(plain, "")
      }
    }
    // Messages may be missing, or repeated.
    let ahead = expected + 1...expected + 64 + UInt64(lane.lost)
    let behind = (expected < 4096 ? 0 : expected - 4096)..<expected
    for cipher in ciphers {
      for counter in ahead {
        guard let plain = cipher.open(bytes, counter: counter, from: sender) else { continue }
        (lane.counter, lane.lost) = (counter + 1, 0)
        return .opened(plain, "; counter \(counter) where \(expected) is next")
      }
      for counter in behind.reversed() {
        guard let plain = cipher.open(bytes, counter: counter, from: sender) else { continue }
        return .opened(plain, "; counter \(counter) again where \(expected) is next")
      }
      if let plain = cipher.open(bytes, counter: expected, from: sender.peer) {
        return .opened(plain, "; made by the other end")
      }
    }
    // After a failure the wide search for a counter is not repeated.
    lane.lost /= 2
    return .closed("not authentic: no key at hand opens it at counter \(expected), nor near it")
  }

  private func reasonForNoCipher(_ knowledge: Knowledge) -> String {
    if token == nil { return "not readable: the capture has no token of this connection's lock" }
    if generation == .os2 {
      return "not readable: an OS2 session's key follows from key pairs, "
        + "and the capture does not tell the lock's"
    }
    if knowledge.keys.isEmpty, knowledge.sessions.isEmpty { return "not readable without the lock's key" }
    return "not readable: the key is another lock's"
  }
}

// MARK: - Bytes that must not be shown

extension SessionObserver {
  /// The offset of the secret part of an OS2 identity in the response that contains it.
  private static let identitySecret = 20

  private func isIdentity(_ bytes: [UInt8], from sender: SessionEnd) -> Bool {
    sender == .lock && bytes.count >= 2 && bytes[0] == OpCode.response.rawValue
      && bytes[1] == ItemCode.identity.rawValue
  }

  /// The secret bytes of an incomplete identity in the newest frame.
  private func identitySecrets(
    of frame: CapturedValue, _ lane: Lane, _ sender: SessionEnd
  ) -> [CapturedBytes] {
    guard isIdentity(lane.beginning, from: sender), lane.length > Self.identitySecret else { return [] }
    let start = lane.length - (frame.bytes.count - 1)
    return frame.places(of: max(Self.identitySecret - start, 0) + 1..<frame.bytes.count)
  }

  /// The keys in a message in clear.
  private func secrets(in bytes: [UInt8], from sender: SessionEnd, _ knowledge: Knowledge) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    if isIdentity(bytes, from: sender), bytes.count > Self.identitySecret {
      ranges.append(Self.identitySecret..<bytes.count)
    }
    for key in keys(knowledge) { ranges += key.places(in: bytes) }
    return ranges
  }

  /// Whether nothing of a message may be shown except its item.
  private func isSecret(_ bytes: [UInt8], from sender: SessionEnd, _ knowledge: Knowledge) -> Bool {
    isIdentity(bytes, from: sender) || keys(knowledge).contains { $0.occurs(in: bytes) }
      || MessageText.isWithheld(bytes, from: sender, generation ?? .os3)
  }

  private func keys(_ knowledge: Knowledge) -> [SecretKey] {
    knowledge.keys.map(\.secret) + ciphers.map(\.key)
  }

  /// The positions of a message's bytes in a capture: each frame has one byte of its own in front.
  private static func places(of range: Range<Int>, in frames: [CapturedValue]) -> [CapturedBytes] {
    var places: [CapturedBytes] = []
    var offset = 0
    for frame in frames {
      let count = frame.bytes.count - 1
      let part = range.clamped(to: offset..<offset + count)
      if !part.isEmpty {
        places += frame.places(of: part.lowerBound - offset + 1..<part.upperBound - offset + 1)
      }
      offset += count
    }
    return places
  }
}
