import Bluetooth
public import Basics

/// The client end of a lock, from absence to an open session and back, for both generations.
///
///     noSignal ──closeTo──▶ (listening) ──▶ receivedBle ──connect──▶ connecting ──▶ waitingGatt
///                                                                                     │ token
///                       registering ◀──register── readytoRegister ◀──unregistered─────┤
///                            │                                                        │ registered
///                            ▼                                                        ▼
///                 nosetting, locked, unlocked, moved ◀──────────────────────────── logining
///
/// Its status is that of the vendor's documentation: it keeps its status while the motor runs, shows `moved`
/// when the bolt rests in neither range and `nosetting` when the lock's positions were never set.
/// ``ClientTimes`` defines the timeouts that the documentation leaves open: the vendor's client waits for
/// ever.
///
/// The type does no I/O and reads no clock. A frame that does not decode, or does not authenticate, is
/// reported as a violation and changes nothing else; the decrypt counter stays the same, as in the vendor's
/// iOS client.
public struct SesameClient {
  /// A received advertisement.
  struct SeenAdvertisement {
    var advertisement: Advertisement
    /// Its bytes.
    var data: [UInt8]
    var time: Instant
  }

  /// The state of the client.
  enum State {
    /// Not listening.
    case away
    /// Listening.
    case seeking
    /// Received an advertisement.
    case heard(SeenAdvertisement)
    case connecting(SeenAdvertisement, since: Instant)
    /// Connected, waiting for the lock's token.
    case waiting(SeenAdvertisement, since: Instant)
    case ready(SeenAdvertisement, Token)
    case registering(Registration)
    case logining(Login)
    case open(Session)
    /// The lock deleted its owner; its link is about to end.
    case forgotten
  }

  /// The key in use, if the lock is registered with this client.
  public private(set) var key: LockKey?
  /// The status that was last shown.
  public private(set) var status = ClientStatus.noSignal
  /// The deliberate misbehaviour.
  public var misbehaviour = ClientMisbehaviour()

  let isKeySure: Bool
  let settings: ClientSettings
  var state = State.away
  var secrets: any SecretSource & Sendable
  var reassembler = Reassembler(limit: 128)
  var actions: [ClientAction] = []
  /// The key pair for OS2 logins: one per client, as in the vendor's.
  private(set) var pair: PrivateKey?
  /// An earlier pair, to be used again if the next one is the same.
  private let knownPair: PrivateKey?
  /// Whether a former owner's key was used on this connection with a lock without an owner.
  var hasShownOldKey = false
  /// Whether the lock may have accepted one of its own messages as a request and answer it.
  var isReflected = false
  /// The number before that of the first record, if records are numbered from 1.
  var recordBase: UInt32?
  /// The keys that were valid before the last resets, the latest last.
  private(set) var formerKeys: [LockKey] = []
  /// The tokens of the connections of this test.
  private var tokens: [UInt32] = []
  /// The cipher of the last ended session.
  private(set) var formerCipher: SessionCipher?
  /// Whether the token arrived, but there is no key.
  private var lacksKey = false
  /// Whether a continuation frame without a beginning arrived on this connection, before its token.
  private var hasHeardLeftover = false
  /// Why the client has lost its lock.
  private(set) var departure: ClientExplanation?
  /// The product of the last advertisement.
  public private(set) var model: ProductModel?

  /// Makes a client that replaces another one, if any. Computing a key pair is costly: an equal one is
  /// reused.
  ///
  /// - Parameters:
  ///   - isKeySure: whether the key is certainly the lock's: a login with another key need not be answered.
  ///   - keepsState: whether the client continues with the same lock, so that former keys stay known.
  public init(
    key: LockKey?, settings: ClientSettings, secrets: any SecretSource & Sendable,
    after other: SesameClient? = nil,
    isKeySure: Bool = true, keepsState: Bool = false
  ) {
    self.key = key
    self.isKeySure = isKeySure
    self.settings = settings
    self.secrets = secrets
    knownPair = other.flatMap { $0.pair ?? $0.knownPair }
    if keepsState, let other { formerKeys = other.formerKeys }
  }

  /// The positions that the lock has reported in the open session; `nil` if they are not set.
  public var knownPositions: LockPositions? {
    guard case .open(let session) = state, let setting = session.setting, setting.isConfigured else {
      return nil
    }
    return setting.positionDegrees.map {
      LockPositions(lock: Int($0.lock.rounded()), unlock: Int($0.unlock.rounded()))
    }
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public private(set) var deadline: Instant?

  private var due: Instant? {
    switch state {
    case .away, .seeking, .ready, .forgotten: nil
    case .heard(let seen): seen.time + settings.times.silence
    case .connecting(_, let since): since + settings.times.connecting
    case .waiting(_, let since): since + settings.times.discovery
    case .registering(let registration): registration.since + settings.times.session
    case .logining(let login): login.end ?? login.since + settings.times.session
    case .open(let session): Self.earlier(answerDue(in: session), session.earlyStatusTime)
    }
  }

  /// The deadline of the answer to the oldest pending request, and of the bolt's rest after the lock reported
  /// a running motor.
  public var answerDue: Instant? {
    if case .open(let session) = state { answerDue(in: session) } else { nil }
  }

  private func answerDue(in session: Session) -> Instant? {
    let answer = session.late.map { $0.since + settings.times.answer }
    return Self.earlier(answer, session.running.map { $0 + settings.times.motion })
  }

  private static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }
}

extension SesameClient {
  /// Carries out a request of the user, or refuses it.
  public mutating func perform(_ request: ClientRequest, at now: Instant) -> [ClientAction] {
    switch (request, state) {
    case (.closeTo, .away):
      state = .seeking
      actions.append(.listen)
    case (.closeTo, .seeking):
      break
    case (.connect, .heard(let seen)):
      state = .connecting(seen, since: now)
      actions += [.stopListening, .connect]
      show(.connecting)
    case (.register(let logsIn), .ready(let seen, let token)):
      beginRegistration(of: seen, token, thenLogin: logsIn, at: now)
      show(.registering)
    case (.disconnect, .logining), (.disconnect, .open), (.disconnect, .forgotten):
      leave(disconnecting: true)
    // A registration in place of a proof is a login to the user.
    case (.disconnect, .registering) where status == .logining:
      leave(disconnecting: true)
    case (_, .open(let session)):
      perform(request, in: session, at: now)
    default:
      actions.append(.refuse("not possible in \(status.rawValue)"))
    }
    return take()
  }

  /// Processes an event of the link.
  public mutating func receive(_ event: LinkEvent, at now: Instant) -> [ClientAction] {
    switch event {
    case .advertisement(let data): receive(advertisement: data, at: now)
    case .connected: connected(at: now)
    case .ready, .tampered, .provoked: break
    case .frame(let frame): receive(frame: frame, at: now)
    case .spoofed(let frame): receive(spoofed: frame, at: now)
    case .reflected: isReflected = true
    case .disconnected(let reason, let unacknowledged): lostLink(reason, unacknowledged)
    }
    return take()
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [ClientAction] {
    guard let deadline, deadline <= now else { return [] }
    switch state {
    case .heard:
      leave(
        disconnecting: false,
        because: ClientDepartureReason.unheard.explained("no advertisement within \(settings.times.silence)"))
    case .connecting:
      leave(
        disconnecting: true,
        because: ClientDepartureReason.notConnected.explained("no link within \(settings.times.connecting)"))
    case .open(let session): advance(session, to: now)
    case .logining(let login) where login.end != nil:
      skip(login, "no answer to login on the connection of the registration", at: now)
    case .waiting, .registering, .logining: giveUp()
    case .away, .seeking, .ready, .forgotten:
      break
    }
    return take()
  }

  /// Ends a connection on which the lock missed a deadline, and reports the violation.
  mutating func giveUp() {
    let (violation, subject, detail, request): (SesameViolation, String?, String, [UInt8]?)
    switch state {
    case .waiting where lacksKey:
      return leave(
        disconnecting: true,
        because: ClientDepartureReason.noKey.explained(
          "the lock has an owner, whose key the client does not have"))
    case .waiting:
      (violation, subject, request) = (.noToken, nil, nil)
      detail = "no token within \(settings.times.discovery)"
    case .registering(let registration) where key != nil && registration.mayBeIgnored:
      return leave(
        disconnecting: true,
        because: ClientExplanation(
          SesameViolation.noAnswer.rawValue, "no answer to the registration of a lock that has an owner"))
    case .registering(let registration):
      let hasAnswer = registration.session?.awaited != nil && registration.isDone
      (violation, subject) = hasAnswer ? (.noStatus, nil) : (.noAnswer, "registration")
      request = nil
      detail = "\(registration.awaited) did not come within \(settings.times.session) of a registration"
    case .logining(let login) where login.isPretended && !login.isAccepted:
      return leave(
        disconnecting: true,
        because: ClientExplanation(
          SesameViolation.noAnswer.rawValue, "no answer to the proof of somebody else"))
    case .logining(let login) where !login.isAccepted:
      (violation, subject, request) = (.noAnswer, "login", login.shown.message)
      detail = "no answer to login within \(settings.times.session)"
    case .logining(let login):
      (violation, subject, request) = (.noStatus, nil, nil)
      let awaited = login.session.awaited ?? "nothing"
      detail = "\(awaited) did not come within \(settings.times.session) of a login"
    case .open(let session):
      guard let late = session.late else { return leave(disconnecting: true) }
      (violation, subject, request) = (.noAnswer, "\(late.request.item)", late.request.encoded)
      detail = "no answer to \(late.request) within \(settings.times.answer)"
    case .away, .seeking, .heard, .connecting, .ready, .forgotten:
      return
    }
    actions.reportViolation(violation, of: subject, detail, packet: request, from: .app)
    leave(disconnecting: true, because: ClientExplanation(violation.rawValue, detail))
  }

  /// Ends an input: returns the actions, and updates the deadline.
  mutating func take() -> [ClientAction] {
    deadline = due
    guard !actions.isEmpty else { return [] }
    for index in actions.indices {
      // A message that contains a key is not recorded.
      if case .reportViolation(var violation) = actions[index], let packet = violation.packet,
        revealsKey(packet)
      {
        violation.packet = nil
        actions[index] = .reportViolation(violation)
      }
    }
    defer { actions = [] }
    return actions
  }

  mutating func show(_ status: ClientStatus) {
    guard status != self.status else { return }
    self.status = status
    actions.append(.show(status))
  }

  /// Ends the session and the search.
  ///
  /// - Parameter explanation: the reason, if it is not the user's request.
  mutating func leave(disconnecting: Bool, because explanation: ClientExplanation? = nil) {
    endSession()
    state = .away
    departure = explanation
    actions += disconnecting ? [.disconnect] : [.stopListening]
    show(.noSignal)
  }

  mutating func keep(_ key: LockKey) {
    self.key = key
    actions.append(.keep(key))
  }

  mutating func dropKey() {
    if let key {
      actions.append(.drop(key))
      formerKeys = formerKeys.suffix(3) + [key]
    }
    key = nil
  }

  /// The last key that was valid before a reset and is invalid now.
  var oldKey: LockKey? { formerKeys.last { $0.secret != key?.secret } }

  /// The client's own key pair, computed at its first use.
  mutating func ownPair() -> PrivateKey {
    if let pair { return pair }
    let newPair = PrivateKey.drawn(from: &secrets, or: knownPair)
    pair = newPair
    return newPair
  }

  /// Whether the client has a link, or is about to have one.
  public var hasLink: Bool {
    switch state {
    case .away, .seeking, .heard: false
    case .connecting, .waiting, .ready, .registering, .logining, .open, .forgotten: true
    }
  }

  func unixTime(at now: Instant) -> UInt32 {
    settings.epoch &+ UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
  }

  /// The moment at which the client's clock shows a time. A time that no clock shows is the latest one.
  func moment(ofUnixMilliseconds time: UInt64) -> Instant {
    let latest: UInt64 = 1 << 33 * 1000
    let milliseconds = Int64(min(time, latest)) - Int64(settings.epoch) * 1000
    return Instant(nanoseconds: milliseconds * 1_000_000)
  }
}

extension SesameClient {
  private mutating func receive(advertisement data: [UInt8], at now: Instant) {
    switch state {
    case .seeking: break
    case .heard(var seen):
      // A repeated advertisement need not be decoded again.
      guard data != seen.data else {
        seen.time = now
        return state = .heard(seen)
      }
    default: return
    }
    let advertisement: Advertisement
    do {
      advertisement = try Advertisement(AdvertisingData(decoding: data))
    } catch {
      actions.append(.report(.ignored("advertisement, \(error)")))
      return
    }
    guard advertisement.model.generation != nil, advertisement.model.kind == .lock,
      key == nil || key?.deviceID == advertisement.deviceID
    else {
      actions.append(.report(.ignored("advertisement of \(advertisement.model)")))
      return
    }
    model = advertisement.model
    state = .heard(SeenAdvertisement(advertisement: advertisement, data: data, time: now))
    show(.receivedBle)
  }

  private mutating func connected(at now: Instant) {
    guard case .connecting(let seen, _) = state else { return }
    reassembler.reset()
    lacksKey = false
    hasHeardLeftover = false
    state = .waiting(seen, since: now)
    show(.waitingGatt)
  }

  private mutating func lostLink(_ reason: UInt8, _ unacknowledged: Int?) {
    guard hasLink else { return }
    endSession()
    state = .away
    departure = ClientDepartureReason.explanation(ofEnd: reason, unacknowledged: unacknowledged)
    show(.noSignal)
  }

  private mutating func endSession() {
    if let cipher { formerCipher = cipher }
  }

  /// Reports a violation if bytes contain a key.
  mutating func checkForKeys(in bytes: [UInt8]) {
    guard bytes.count >= 16 else { return }
    if let key, key.secret.occurs(in: bytes) {
      actions.reportViolation(.keyExposed, of: "owner's key", "the secret key in a message")
    }
    if let cipher, cipher.key.occurs(in: bytes) {
      actions.reportViolation(.keyExposed, of: "session key", "the session's key in a message")
    }
  }

  /// Whether a text contains one of the client's keys.
  public func revealsKey(_ text: String) -> Bool {
    guard text.utf8.count >= 32, let key else { return false }
    return text.lowercased().contains(key.secret.exposedBytes.hex)
  }

  /// Whether bytes contain a key that is in use or was until recently.
  private func revealsKey(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 16 else { return false }
    return [key?.secret, formerKeys.last?.secret, cipher?.key, formerCipher?.key].contains { secret in
      secret?.occurs(in: bytes) ?? false
    }
  }

  private mutating func receive(frame: [UInt8], at now: Instant) {
    switch state {
    case .away, .seeking, .heard, .connecting: return
    case .waiting, .ready, .registering, .logining, .open, .forgotten: break
    }
    if let message = gather(frame) { receive(message, at: now) }
  }

  /// Processes a frame that a third party sends in the lock's name. Its violations are expected and ignored;
  /// the lock's own frame is still to come, and is judged by the pending request.
  private mutating func receive(spoofed frame: [UInt8], at now: Instant) {
    let before = state
    receive(frame: frame, at: now)
    if case .open(let before) = before, case .open(var session) = state {
      session.restorePending(from: before)
      state = .open(session)
    }
    actions.removeAll { if case .reportViolation = $0 { true } else { false } }
  }

  /// Joins frames to messages, and reports those that no correct sender sends.
  private mutating func gather(_ frame: [UInt8]) -> SegmentedMessage? {
    guard let header = frame.first.map({ SegmentHeader(rawValue: $0) }) else {
      actions.reportViolation(.emptyFrame, "a notification of no bytes", packet: frame)
      return nil
    }
    let isFirst = header.isFirst
    // The rest of an overlong message was reported with its beginning.
    if !isFirst, reassembler.isSkipping { return nil }
    guard header.field <= MessageKind.ciphertext.rawValue else {
      actions.reportViolation(.unknownKind, "a frame of kind \(header.field)", packet: frame)
      return nil
    }
    if isFirst == reassembler.isGathering {
      if isFirst {
        actions.reportViolation(.unfinishedMessage, "a first frame in the middle of a message", packet: frame)
      } else {
        reportViolation(ofStray: frame)
        return nil
      }
    }
    if frame.count == 1 { actions.reportViolation(.emptyFrame, "a frame without data", packet: frame) }
    if frame.count > Segmenter.defaultFrameSize {
      actions.reportViolation(.frameTooLong, "a frame of \(frame.count) bytes", packet: frame)
    }
    switch reassembler.receive(frame) {
    case .incomplete: return nil
    // The frame of a message without a byte was reported already.
    case .message(let message): return message.bytes.isEmpty ? nil : message
    case .ignored, .failed:
      actions.reportViolation(
        .messageTooLong, "a message of more than \(reassembler.limit) bytes", packet: frame)
      return nil
    }
  }

  /// Reports a continuation frame without a beginning. One such frame before the token may be left over from
  /// the previous connection.
  private mutating func reportViolation(ofStray frame: [UInt8]) {
    var isLeftover = false
    if case .waiting = state, !lacksKey, !hasHeardLeftover { isLeftover = true }
    hasHeardLeftover = hasHeardLeftover || isLeftover
    actions.reportViolation(
      .unexpectedFrame, of: isLeftover ? ProtocolViolation.beforeTheToken : nil,
      "a frame that goes on with nothing" + (isLeftover ? ", before the token" : ""), packet: frame)
  }

  private mutating func receive(_ message: SegmentedMessage, at now: Instant) {
    checkForKeys(in: message.bytes)
    switch state {
    case .waiting(let seen, _):
      receive(first: message, from: seen, at: now)
    case .registering(let registration):
      receive(message, in: registration, at: now)
    case .logining(let login):
      receive(message, in: login, at: now)
    case .open(let session):
      receive(message, in: session, at: now)
    case .ready(let seen, _):
      receive(unasked: message, of: seen.generation)
    case .away, .seeking, .heard, .connecting, .forgotten:
      break
    }
  }

  /// Processes a message of a lock without an owner, which may only send its token and refuse requests until
  /// a client registers.
  private mutating func receive(unasked message: SegmentedMessage, of generation: Generation) {
    guard message.kind == .plaintext else {
      actions.reportViolation(
        .notAuthentic, of: ProtocolViolation.withoutOwner, "an encrypted message of a lock without an owner",
        packet: message.bytes)
      return
    }
    do {
      let decoded = try LockMessage(decoding: message.bytes, for: generation)
      if case .publish(let publish) = decoded, publish.item == .initial { return repeatToken(publish) }
      if case .response(let response) = decoded, response.result != .success { return }
      actions.reportViolation(
        .beforeLogin, of: "\(decoded.item)", "\(decoded.item) of a lock without an owner",
        packet: message.bytes)
    } catch {
      actions.reportViolation(.undecodable, "a message that does not decode, \(error)", packet: message.bytes)
    }
  }

  /// Processes the first message of a connection, which must be the token.
  private mutating func receive(
    first message: SegmentedMessage, from seen: SeenAdvertisement, at now: Instant
  ) {
    guard message.kind == .plaintext else {
      actions.reportViolation(
        .beforeToken, of: ProtocolViolation.encrypted, "an encrypted message before the token",
        packet: message.bytes
      )
      return
    }
    guard let token = token(in: message.bytes, of: seen.generation) else { return }
    // A client without a key for the lock keeps waiting after its token.
    if lacksKey { return repeatToken(.initial(token)) }
    if tokens.contains(token.word) {
      actions.reportViolation(
        .tokenRepeated, "the token of an earlier connection once more", packet: Publish.initial(token).encoded
      )
    } else if tokens.count < Self.maximumTokens {
      tokens.append(token.word)
    }
    if !seen.advertisement.isRegistered {
      dropKey()
      state = .ready(seen, token)
      show(.readytoRegister)
      hasShownOldKey = misbehaviour.falseProof == .oldKey && oldKey != nil
      if hasShownOldKey, let oldKey { send(loginOf: oldKey, to: seen, token) }
    } else if let key {
      if misbehaviour.falseProof == .registration {
        beginRegistration(of: seen, token, at: now)
      } else {
        beginLogin(to: seen, token, key, at: now)
      }
      if case .waiting = state { return }
      show(.logining)
    } else {
      lacksKey = true
    }
  }

  /// The most tokens of a test that are remembered: only tests that run for days have more connections.
  private static let maximumTokens = 1024

  /// Decodes the token, or reports what arrived instead.
  private mutating func token(in bytes: [UInt8], of generation: Generation) -> Token? {
    do {
      let message = try LockMessage(decoding: bytes, for: generation)
      if case .publish(let publish) = message, publish.item == .initial { return try publish.token() }
      actions.reportViolation(
        .beforeToken, of: "\(message.item)", "\(message.item) before the token", packet: bytes)
    } catch {
      actions.reportViolation(.undecodable, "a message that does not decode, \(error)", packet: bytes)
    }
    return nil
  }

  /// Reports a token in the middle of a connection, which changes nothing.
  mutating func repeatToken(_ publish: Publish) {
    actions.reportViolation(.tokenAgain, "a token in the middle of a connection", packet: publish.encoded)
  }

  mutating func sendInClear(_ message: [UInt8]) {
    actions += Segmenter().frames(of: message, .plaintext).map { .send($0) }
  }
}

extension SesameClient.SeenAdvertisement {
  /// The generation of the lock; locks of an unknown one are ignored.
  var generation: Generation { advertisement.model.generation ?? .os3 }
}
