import Bluetooth
import Conformance
public import Simulation

/// The client end of a lock: from out of sight to an open session and back, for both generations.
///
///     noSignal ──closeTo──▶ (listening) ──▶ receivedBle ──connect──▶ connecting ──▶ waitingGatt
///                                                                                     │ token
///                       registering ◀──register── readytoRegister ◀──unregistered─────┤
///                            │                                                        │ registered
///                            ▼                                                        ▼
///                 nosetting, locked, unlocked, moved ◀──────────────────────────── logining
///
/// Its status is the status of the vendor's documentation: it keeps its status while the motor runs, shows
/// `moved` when the bolt rests in neither range and `nosetting` when the lock's positions were never set. What
/// the documentation leaves open is settled by ``ClientTimes``: the vendor's client waits for ever.
///
/// The type does no I/O and reads no clock. A frame that does not decode, or does not authenticate, changes
/// nothing but is complained of; the decrypt counter stays where it was, as the vendor's iOS client keeps it.
public struct SesameClient {
  /// Where an advertisement came from.
  struct Sighting {
    var advertisement: Advertisement
    /// Its bytes.
    var data: [UInt8]
    var time: Instant
  }

  /// Before a session is open.
  enum State {
    /// Not looking.
    case away
    /// Listening.
    case seeking
    /// Heard.
    case heard(Sighting)
    case connecting(Sighting, since: Instant)
    /// Connected, waiting for the lock's token.
    case waiting(Sighting, since: Instant)
    case ready(Sighting, Token)
    case registering(Registration)
    case logining(Login)
    case open(Session)
    /// The lock forgot its owner; its link is about to end.
    case forgotten
  }

  /// The key in use, if the lock is registered with this client.
  public private(set) var key: LockKey?
  /// The status last shown.
  public private(set) var status = ClientStatus.noSignal
  /// What the client does wrong on purpose.
  public var pretences: [ClientPretence] = []

  let settings: ClientSettings
  var state = State.away
  var secrets: any SecretSource & Sendable
  var reassembler = Reassembler()
  var actions: [ClientAction] = []
  /// The key pair for OS2 logins: one per client, as the vendor's.
  private(set) var pair: PrivateKey?
  /// A pair that was made before, to be used again if the next one is the same.
  private let knownPair: PrivateKey?
  /// The last login command, for those who send it again.
  var lastLogin: [UInt8]?
  /// The app's token of that login, in OS2.
  var lastAppToken: Token?
  /// The frames of the last encrypted command.
  var lastCommand: [[UInt8]] = []
  /// What whoever listens in has of this session, and of the one before.
  var eavesdropper = Eavesdropper()
  /// What the next message is to suffer.
  var flaws = PendingFlaws()

  /// Makes a client that is not looking for its lock.
  ///
  /// - Parameters:
  ///   - key: the key of a registered lock; without one the client can register a lock that has no owner.
  ///   - secrets: where keys and tokens come from.
  public init(key: LockKey?, settings: ClientSettings, secrets: any SecretSource & Sendable) {
    self.init(key: key, settings: settings, secrets: secrets, after: nil)
  }

  /// Makes a client in place of another one. To make a key pair is costly: one that is the same is taken over.
  init(
    key: LockKey?, settings: ClientSettings, secrets: any SecretSource & Sendable, after other: SesameClient?
  ) {
    self.key = key
    self.settings = settings
    self.secrets = secrets
    knownPair = other.flatMap { $0.pair ?? $0.knownPair }
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public private(set) var deadline: Instant?

  private var due: Instant? {
    switch state {
    case .away, .seeking, .ready, .forgotten: nil
    case .heard(let sighting): sighting.time + settings.times.silence
    case .connecting(_, let since): since + settings.times.connecting
    case .waiting(_, let since): since + settings.times.discovery
    case .registering(let registration): registration.since + settings.times.session
    case .logining(let login): login.since + settings.times.session
    case .open(let session): session.late.map { $0.since + settings.times.answer }
    }
  }
}

extension SesameClient {
  /// Carries out what its user asks for, or says why not.
  public mutating func perform(_ request: ClientRequest, at now: Instant) -> [ClientAction] {
    switch (request, state) {
    case (.closeTo, .away):
      state = .seeking
      actions.append(.listen)
    case (.closeTo, .seeking):
      break
    case (.connect, .heard(let sighting)):
      state = .connecting(sighting, since: now)
      actions += [.stopListening, .connect]
      show(.connecting)
    case (.register, .ready(let sighting, let token)):
      beginRegistration(of: sighting, token, at: now)
    case (.disconnect, .logining), (.disconnect, .open), (.disconnect, .forgotten):
      leave(disconnecting: true)
    case (_, .open(let session)):
      perform(request, in: session, at: now)
    case (.forgeLock, .logining(let login)):
      forge(.lock(settings.tag), login.sighting.generation)
    case (.forgeUnlock, .logining(let login)):
      forge(.unlock(settings.tag), login.sighting.generation)
    case (.replayCommand, .logining):
      actions += lastCommand.map { .send($0) }
    default:
      actions.append(.refuse("not possible in \(status.rawValue)"))
    }
    return take()
  }

  /// Takes in what the link reports.
  public mutating func receive(_ event: LinkEvent, at now: Instant) -> [ClientAction] {
    switch event {
    case .advertisement(let data): hear(data, at: now)
    case .connected: connected(at: now)
    case .ready, .tampered: break
    case .frame(let frame): receive(frame: frame, at: now)
    case .disconnected: lostLink()
    }
    return take()
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [ClientAction] {
    guard let deadline, deadline <= now else { return [] }
    switch state {
    case .heard:
      leave(disconnecting: false)
    case .connecting, .waiting, .registering, .logining:
      leave(disconnecting: true)
    case .open(let session):
      if let late = session.late {
        actions.append(.complain("no answer to \(late.request) within \(settings.times.answer)"))
      }
      leave(disconnecting: true)
    case .away, .seeking, .ready, .forgotten:
      break
    }
    return take()
  }

  /// Ends an input: what there is to do, and by when the next one is due.
  mutating func take() -> [ClientAction] {
    deadline = due
    guard !actions.isEmpty else { return [] }
    defer { actions = [] }
    return actions
  }

  mutating func show(_ status: ClientStatus) {
    guard status != self.status else { return }
    self.status = status
    actions.append(.show(status))
  }

  /// Ends whatever there is, and looks no longer.
  mutating func leave(disconnecting: Bool) {
    state = .away
    actions += disconnecting ? [.disconnect] : [.stopListening]
    show(.noSignal)
  }

  mutating func keep(_ key: LockKey) {
    self.key = key
    actions.append(.keep(key))
  }

  mutating func dropKey() {
    if let key { actions.append(.drop(key)) }
    key = nil
  }

  /// The client's own key pair, made when it is first needed.
  mutating func ownPair() -> PrivateKey {
    if let pair { return pair }
    let made = PrivateKey.drawn(from: &secrets, or: knownPair)
    pair = made
    return made
  }

  /// Whether the client has a link, or is about to have one.
  var hasLink: Bool {
    switch state {
    case .away, .seeking, .heard: false
    case .connecting, .waiting, .ready, .registering, .logining, .open, .forgotten: true
    }
  }

  func unixTime(at now: Instant) -> UInt32 {
    settings.epoch &+ UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
  }
}

extension SesameClient {
  private mutating func hear(_ data: [UInt8], at now: Instant) {
    switch state {
    case .seeking: break
    case .heard(var sighting):
      // What is heard again and again need not be read again.
      guard data != sighting.data else {
        sighting.time = now
        return state = .heard(sighting)
      }
    default: return
    }
    let advertisement: Advertisement
    do {
      advertisement = try Advertisement(AdvertisingData(decoding: data))
    } catch {
      actions.append(.report(Reading("passed over", .text("advertisement, \(error)"))))
      return
    }
    guard advertisement.model.generation != nil, advertisement.model.kind == .lock,
      key == nil || key?.deviceID == advertisement.deviceID
    else {
      actions.append(.report(Reading("passed over", .text("advertisement of \(advertisement.model)"))))
      return
    }
    state = .heard(Sighting(advertisement: advertisement, data: data, time: now))
    show(.receivedBle)
  }

  private mutating func connected(at now: Instant) {
    guard case .connecting(let sighting, _) = state else { return }
    reassembler.reset()
    state = .waiting(sighting, since: now)
    show(.waitingGatt)
  }

  private mutating func lostLink() {
    switch state {
    case .away, .seeking, .heard:
      break
    case .connecting, .waiting, .ready, .registering, .logining, .open, .forgotten:
      state = .away
      show(.noSignal)
    }
  }

  private mutating func receive(frame: [UInt8], at now: Instant) {
    switch state {
    case .away, .seeking, .heard, .connecting: return
    case .waiting, .ready, .registering, .logining, .open, .forgotten: break
    }
    switch reassembler.receive(frame) {
    case .incomplete: break
    case .message(let message): receive(message, at: now)
    case .ignored(let reason), .failed(let reason): actions.append(.complain("a frame: \(reason)"))
    }
  }

  mutating func receive(_ message: SegmentedMessage, at now: Instant) {
    checkForKeys(in: message.bytes)
    eavesdropper.lastReceived = message
    switch state {
    case .waiting(let sighting, _):
      receive(first: message, from: sighting, at: now)
    case .registering(let registration):
      receive(message, in: registration, at: now)
    case .logining(let login):
      receive(message, in: login, at: now)
    case .open(let session):
      receive(message, in: session, at: now)
    case .ready, .away, .seeking, .heard, .connecting, .forgotten:
      break
    }
  }

  /// The first thing a lock may say is its token.
  private mutating func receive(first message: SegmentedMessage, from sighting: Sighting, at now: Instant) {
    guard message.kind == .plaintext else {
      actions.append(.complain("\(message.kind) before its token"))
      return
    }
    guard let publish = publish(in: message.bytes, of: sighting.generation) else { return }
    guard publish.item == .initial, let token = try? Token(decoding: publish.data) else {
      actions.append(.complain("\(publish.item) before its token"))
      return
    }
    if !sighting.advertisement.isRegistered {
      dropKey()
      state = .ready(sighting, token)
      show(.readytoRegister)
    } else if let key {
      beginLogin(to: sighting, token, key, at: now)
    }
  }

  /// Decodes a publish, or complains.
  private mutating func publish(in bytes: [UInt8], of generation: Generation) -> Publish? {
    do {
      if case .publish(let publish) = try LockMessage(decoding: bytes, for: generation) { return publish }
      actions.append(.complain("an answer to nothing"))
    } catch {
      actions.append(.complain("a message that does not decode, \(error)"))
    }
    return nil
  }

  mutating func forge(_ command: Command, _ generation: Generation) {
    let request = command.encoded(for: generation)
    actions += Segmenter().frames(of: request, .plaintext).map { .send($0) }
  }

  /// Sends a message in clear, with what was to become of the next one.
  mutating func sendInClear(_ message: [UInt8]) {
    let frames = takeMutation { $0.frames(ofClear: message) } ?? Segmenter().frames(of: message, .plaintext)
    actions += frames.map { .send($0) }
    // Before there is a session a second login is no extra, but the login: it follows the first one.
    let copy = flaws.takeShadow()?.frames(ofClear: message) ?? []
    actions += copy.map { .send($0) }
  }
}

extension SesameClient.Sighting {
  /// The generation of the lock; only those of a known one are seen.
  var generation: Generation { advertisement.model.generation ?? .os3 }
}
