import Bluetooth
import Emulator
import Sesame
import Basics

/// An app at the level of frames, with which tests look at an emulated lock from outside.
///
/// What the lock does is told in words, one entry for each whole message and for each end of a link.
struct LockProbe {
  var lock: EmulatedLock
  var now = Instant.zero
  var owner: SecretKey?
  var cipher: SessionCipher?
  var token: Token?
  /// The frames of the last message sent.
  var lastFrames: [[UInt8]] = []
  private var reassembler = Reassembler()
  private let pair: PrivateKey
  private var secrets = SeededGenerator(seed: 7, for: "probe")
  private var identity: Identity?
  /// The data of the last response.
  private var data: [UInt8] = []
  /// The most bytes of a frame since the last connection.
  private(set) var longestFrame = 0
  /// The battery in the last status.
  private(set) var volts: Double?

  var generation: Generation { lock.model.generation! }

  init(
    _ model: ProductModel = .sesame5, _ settings: [String] = [], defects: LockDefects = [],
    registered: Bool = true, configured: Bool = true, rest: BoltState = .locked
  ) {
    var source = SeededGenerator(seed: 1, for: "identity")
    let options = (try? LockOptions(settings))!
    let owner = SecretKey(UUID128(high: 0x0102_0304_0506_0708, low: 0x1112_1314_1516_1718))
    let identity = LockIdentity(
      for: model.generation!, erLength: options.erLength == .sixteen ? 16 : 32, drawingFrom: &source)
    lock = EmulatedLock(
      model: model, identity: identity, options: options, defects: defects, owner: registered ? owner : nil,
      positions: registered && configured ? .quarterTurn : nil, rest: rest,
      secrets: SeededGenerator(seed: 2, for: "tokens"))
    self.owner = registered ? owner : nil
    pair = probePair
  }

  /// A lock whose token and identity are given.
  init(_ lock: EmulatedLock, owner: SecretKey?, pair: PrivateKey) {
    self.lock = lock
    self.owner = owner
    self.pair = pair
  }
}

/// Made once: making one costs more than a test.
private let probePair: PrivateKey = {
  var source = SeededGenerator(seed: 3, for: "pair")
  return PrivateKey(from: &source)
}()

extension LockProbe {
  /// Connects and turns notifications on.
  mutating func connect() -> [String] {
    reassembler.reset()
    longestFrame = 0
    cipher = nil
    token = nil
    return note(lock.connected(at: now)) + note(lock.subscribed(at: now))
  }

  /// Ends the link.
  mutating func disconnect(reason: UInt8 = 0x13) -> [String] {
    note(lock.disconnected(reason: reason, at: now))
  }

  /// Logs in with the owner's key, or with what is told.
  mutating func login(secret: SecretKey? = nil, proof: Proof? = nil) -> [String] {
    guard let token, let owner else { return ["cannot log in"] }
    let key = secret ?? owner
    switch generation {
    case .os2:
      let appToken = secrets.token()
      let payload = OS2Keys.loginPayload(
        keyIndex: 0, publicKey: pair.publicKey, appToken: appToken, lockToken: token)
      let shared = (try? pair.sharedSecret(with: lock.identity.keyPair.publicKey))!
      let session = SessionToken.os2(app: appToken, lock: token)
      cipher = SessionCipher(key: OS2Keys.loginSessionKey(shared, session), token: session, end: .app)
      return send(
        .login(.os2(keyIndex: 0, pair.publicKey, appToken: appToken, proof ?? key.cmac(payload).proof)),
        inClear: true)
    case .os3:
      cipher = SessionCipher(
        key: OS3Keys.sessionKey(deviceSecret: owner, token), token: .os3(token), end: .app)
      return send(
        .login(.os3(proof ?? OS3Keys.sessionKey(deviceSecret: key, token).proof)), inClear: true)
    }
  }

  /// Logs in with the right proof, from whose end something is missing.
  mutating func login(cutBy missing: Int) -> [String] {
    // The message that is sent is looked at and not heard.
    var copy = self
    _ = copy.login()
    let message = copy.lastFrames.flatMap { $0.dropFirst() }
    secrets = copy.secrets
    cipher = copy.cipher
    cipher?.receiveCounter = 0
    return send(bytes: message.dropLast(missing), inClear: true)
  }

  /// Registers, and becomes the owner when the lock accepts.
  mutating func register(short: Bool = false, signature: [UInt8]? = nil) -> [String] {
    guard let token else { return ["cannot register"] }
    switch generation {
    case .os2:
      var heard = send(.readIdentity, inClear: true)
      let serverToken = secrets.token()
      let device = OS2Keys.deviceKey(er: identity?.er ?? [])!
      let right = OS2Keys.signature(
        serverSecret: OS2Keys.serverSecret(deviceKey: device), publicKey: pair.publicKey,
        serverToken: serverToken, lockToken: token)
      let session = SessionToken.os2(app: serverToken, lock: token)
      let shared = (try? pair.sharedSecret(with: device.publicKey))!
      let key = OS2Keys.registrationKey(shared, session)
      owner = OS2Keys.ownerKey(registrationKey: key)
      cipher = SessionCipher(
        key: OS2Keys.registrationSessionKey(registrationKey: key, session), token: session, end: .app)
      heard += send(
        .register(.os2(signature: signature ?? right.encoded, pair.publicKey, serverToken: serverToken)),
        inClear: true)
      return heard
    case .os3:
      let shared = (try? pair.sharedSecret(with: lock.identity.keyPair.publicKey))!
      owner = shared.key
      cipher = SessionCipher(
        key: OS3Keys.sessionKey(deviceSecret: shared.key, token), token: .os3(token), end: .app)
      return send(.register(.os3(pair.publicKey, time: short ? nil : 1_700_000_000)), inClear: true)
    }
  }

  /// Connects and logs in, and forgets what was said.
  mutating func open() {
    _ = connect()
    _ = login()
  }

  /// Sends a command, encrypted unless told otherwise.
  mutating func send(_ command: LockCommand, inClear: Bool = false) -> [String] {
    send(bytes: command.encoded(for: generation), inClear: inClear)
  }

  /// Reads the history to its end: number, event, tag, and the time in seconds of the test.
  mutating func records() -> [String] {
    var records: [String] = []
    while records.count < 10 {
      let heard = send(.readHistory(1))
      guard heard.count == 1, heard[0].hasPrefix("history: success") else { break }
      if generation == .os2, let record = try? OS2HistoryRecord(decoding: data) {
        records.append("\(record) at \(Int64(record.milliseconds / 1000) - 1_700_000_000)")
      } else if let record = try? OS3HistoryRecord(decoding: data) {
        records.append("\(record) at \(Int64(record.seconds) - 1_700_000_000)")
        _ = send(.deleteHistory(id: record.id))
      }
    }
    return records
  }

  /// Sends the bytes of a message.
  mutating func send(bytes: [UInt8], inClear: Bool = false) -> [String] {
    let sealed = inClear ? bytes : cipher!.encrypt(bytes)
    return send(frames: Segmenter().frames(of: sealed, inClear ? .plaintext : .ciphertext))
  }

  /// Sends frames as they are.
  mutating func send(frames: [[UInt8]]) -> [String] {
    lastFrames = frames
    var heard: [String] = []
    for frame in frames { heard += note(lock.receive(frame, at: now)) }
    return heard
  }

  /// Lets time pass.
  mutating func pass(_ interval: Interval) -> [String] {
    let end = now + interval
    var heard: [String] = []
    while let due = lock.deadline, due <= end {
      now = due
      heard += note(lock.advance(to: now))
    }
    now = end
    return heard
  }

  /// Turns the bolt by hand.
  mutating func turn(to place: BoltState) -> [String] { note(lock.turnByHand(to: place, at: now)) }

  mutating func jam(_ isJammed: Bool) -> [String] { note(lock.jam(isJammed, at: now)) }

  mutating func cyclePower() -> [String] {
    note(lock.cutPower(at: now)) + note(lock.restorePower(at: now))
  }
}

extension LockProbe {
  /// Puts what the lock does into words.
  mutating func note(_ actions: [EmulatedLock.Action]) -> [String] {
    var heard: [String] = []
    for action in actions {
      switch action {
      case .notify(let frame):
        longestFrame = max(longestFrame, frame.count)
        if case .message(let message) = reassembler.receive(frame) { heard.append(text(of: message)) }
      case .disconnect(let reason):
        heard.append("disconnect 0x" + [reason].hex)
        heard += note(lock.disconnected(reason: 0x16, at: now))
      case .advertisingChanged:
        break
      }
    }
    return heard
  }

  private mutating func text(of message: SegmentedMessage) -> String {
    if message.kind == .plaintext { return "clear " + text(of: message.bytes) }
    guard let bytes = try? cipher?.decrypt(message.bytes) else { return "undecipherable" }
    return text(of: bytes)
  }

  private mutating func text(of bytes: [UInt8]) -> String {
    guard let message = try? LockMessage(decoding: bytes, for: generation) else {
      return "nonsense \(bytes.hex)"
    }
    switch message {
    case .publish(let publish) where publish.item == .initial:
      token = try? publish.token()
      return "token"
    case .publish(let publish) where publish.item == .mechStatus:
      let status = try? MechStatus(decoding: publish.data, model: lock.model)
      volts = status?.batteryVolts
      return "status " + (status.map(Self.text) ?? "of \(publish.data.count) bytes")
    case .publish(let publish) where publish.item == .mechSetting:
      return "setting " + ((try? MechSetting(decoding: publish.data, model: lock.model))?.description ?? "?")
    case .publish(let publish) where publish.item == .login: return "login publish"
    case .publish(let publish): return publish.description
    case .response(let response):
      data = response.data
      if response.item == .identity { identity = try? Identity(decoding: response.data) }
      return Self.text(of: response)
    }
  }

  private static func text(of response: Response) -> String {
    let data = response.data.isEmpty || response.item == .login ? "" : " +\(response.data.count)"
    return "\(response.item): \(response.result)\(data)"
  }

  private static func text(_ status: MechStatus) -> String {
    status.boltState.rawValue + (status.isIdle ? "" : " moving") + (status.isCritical ? " failed" : "")
      + (status.isBatteryLow ? " low" : "")
  }
}
