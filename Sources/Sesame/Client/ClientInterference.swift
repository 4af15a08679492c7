import Bluetooth
public import Basics

/// What is to become of the messages that the client sends next.
struct PendingFlaws {
  var mutation: MessageFlaw?
  var shadow: MessageFlaw?

  mutating func takeMutation() -> MessageFlaw? {
    defer { mutation = nil }
    return mutation
  }

  mutating func takeShadow() -> MessageFlaw? {
    defer { shadow = nil }
    return shadow
  }
}

/// What somebody who listens has heard, and can send again.
struct Eavesdropper {
  /// What the client said in a session.
  struct Conversation {
    /// The login that opened it; `nil` for one that proved nothing.
    var login: [UInt8]?
    /// The app's token of that login, in OS2.
    var appToken: Token?
    /// The frames of its first messages and of its last ones, by their counters.
    var messages: [(counter: UInt64, frames: [[UInt8]])] = []
  }

  private(set) var session = Conversation()
  /// The last sessions in which something was said, the oldest first.
  private(set) var earlier: [Conversation] = []
  /// The last message of the lock.
  var lastReceived: SegmentedMessage?

  private static let mostSessions = 4
  private static let mostMessages = 32

  mutating func beginSession(login: [UInt8]?, _ appToken: Token? = nil) {
    if !session.messages.isEmpty { earlier = earlier.suffix(Self.mostSessions - 1) + [session] }
    session = Conversation(login: login, appToken: appToken)
  }

  mutating func note(_ frames: [[UInt8]], counter: UInt64) {
    session.messages.append((counter, frames))
    // What is in the middle tells least.
    if session.messages.count > Self.mostMessages { session.messages.remove(at: Self.mostMessages / 2) }
  }

  /// An earlier session: -1 is the one before this.
  func earlier(_ number: Int) -> Conversation? {
    let place = earlier.count + number
    return number < 0 && place >= 0 ? earlier[place] : nil
  }
}

extension Eavesdropper.Conversation {
  /// The frames of the message at a place, from 1; below zero, from the end.
  ///
  /// - Parameter limit: the counter from which on messages do not count.
  func frames(at place: Int, below limit: UInt64 = .max) -> [[UInt8]] {
    let taken = messages.filter { $0.counter < limit }
    let index = place > 0 ? place - 1 : taken.count + place
    return taken.indices.contains(index) ? taken[index].frames : []
  }

  /// The frames of the login, as it was sent.
  var loginFrames: [[UInt8]] { login.map { Segmenter().frames(of: $0, .plaintext) } ?? [] }

  /// The frames of all messages.
  var allFrames: [[UInt8]] { messages.flatMap(\.frames) }
}

extension SesameClient {
  /// Does something to the messages between client and lock. Without a connection nothing happens.
  public mutating func bring(about interference: Interference, at now: Instant) -> [ClientAction] {
    switch interference {
    case .forge(let forgery): forge(forgery, at: now)
    case .replay(let replay): send(again: replay)
    case .request(let oddity): ask(oddity, at: now)
    case .shadow(let flaw): flaws.shadow = flaw
    case .mutate(let flaw): flaws.mutation = flaw
    case .reflect: reflect()
    case .spoof(let spoof): receive(spoof, at: now)
    case .nothing: flaws = PendingFlaws()
    }
    return take()
  }

  /// The cipher of the session, as far as there is one.
  public var cipher: SessionCipher? { connection?.cipher }

  /// The generation of the lock and the cipher of the session, as far as there are any.
  private var connection: (generation: Generation, cipher: SessionCipher?, isOpening: Bool)? {
    switch state {
    case .away, .seeking, .heard, .connecting, .forgotten: nil
    case .waiting(let sighting, _), .ready(let sighting, _): (sighting.generation, nil, false)
    case .registering(let registration):
      (registration.sighting.generation, registration.session?.cipher, false)
    // Who proves nothing has no session before it: the lock may wait for a login still.
    case .logining(let login): (login.sighting.generation, login.session.cipher, !login.isPretended)
    case .open(let session): (session.generation, session.cipher, true)
    }
  }

  private func rejects(_ flaw: MessageFlaw) -> Bool {
    switch state {
    case .logining(let login): login.session.rejects(flaw)
    case .open(let session): session.rejects(flaw)
    default: true
    }
  }

  private mutating func forge(_ forgery: Forgery, at now: Instant) {
    guard let (generation, cipher, isOpening) = connection else { return }
    var frames: [[UInt8]] = []
    switch forgery {
    case .request(_, let flaw) where !rejects(flaw): break
    case .request(let subject, let flaw):
      let old = cipher.map(oldCipher(inPlaceOf:)) ?? oldCipherBeforeSession
      frames = flaw.frames(of: subject.command(settings).encoded(for: generation), cipher, old: old)
    case .lastCommand: frames = lastCommand
    case .lastSession: frames = eavesdropper.earlier(-1)?.allFrames ?? []
    case .emptyFrame: frames = [[]]
    case .login where isOpening && !mayLogIn:
      // A login with a false proof was none, and is not sent again with the right one.
      frames = eavesdropper.session.loginFrames
    case .registration where isOpening:
      frames = Segmenter().frames(of: OddRequest.registration.request(for: generation), .plaintext)
    case .identity where isOpening:
      frames = Segmenter().frames(of: OddRequest.identity.request(for: generation), .plaintext)
    case .login, .registration, .identity:
      // Before there is a session these are what a lock must answer, or refuse by ending the link.
      break
    }
    provoke(frames)
  }

  /// A session's cipher as it would be with the key from before the last reset, ready for the next message.
  func oldCipher(inPlaceOf cipher: SessionCipher) -> SessionCipher? {
    guard case .os3(let token) = cipher.token, var old = oldCipher(token) else { return nil }
    old.sendCounter = cipher.sendCounter
    return old
  }

  private var oldCipherBeforeSession: SessionCipher? {
    guard case .ready(let sighting, let token) = state, sighting.generation == .os3 else { return nil }
    return oldCipher(token)
  }

  private func oldCipher(_ token: Token) -> SessionCipher? {
    guard let oldKey else { return nil }
    let key = OS3Keys.sessionKey(deviceSecret: oldKey.secret, token)
    return SessionCipher(key: key, token: .os3(token), end: .app)
  }

  /// Whether the lock may take a login in the session: then another's proof would end the link.
  private var mayLogIn: Bool {
    if case .open(let session) = state { session.isOfRegistration } else { false }
  }

  private mutating func send(again replay: Replay) {
    // Before there is a session a login is one, and a registration too.
    guard let (_, _, isOpening) = connection, isOpening else { return }
    var frames: [[UInt8]] = []
    if replay.session == 0 {
      guard case .open(let session) = state else { return }
      switch replay.part {
      case .message(let place): frames = eavesdropper.session.frames(at: place, below: session.confirmed)
      case .login: frames = mayLogIn ? [] : eavesdropper.session.loginFrames
      case .everything: break
      }
    } else if let overheard = eavesdropper.earlier(replay.session) {
      let login = mayLogIn ? [] : overheard.loginFrames
      switch replay.part {
      case .message(let place): frames = overheard.frames(at: place)
      case .login: frames = login
      case .everything: frames = login + overheard.allFrames
      }
    }
    provoke(frames)
  }

  private mutating func ask(_ oddity: OddRequest, at now: Instant) {
    guard case .open(var session) = state, !session.isResetting else { return }
    let message = oddity.request(for: session.generation)
    if let request = try? Request(decoding: message, for: session.generation) {
      session.pending.append(
        Session.Pending(
          request: request, command: .other(request), isAsked: false, counter: session.cipher.sendCounter,
          since: now, oddity: oddity))
    }
    actions.append(.provoke)
    send(sealing: message, in: &session)
    state = .open(session)
  }

  /// Sends frames that no client would send, if there are any.
  mutating func provoke(_ frames: [[UInt8]]) {
    guard !frames.isEmpty else { return }
    actions.append(.provoke)
    actions += frames.map { .send($0) }
  }

  private mutating func reflect() {
    guard connection != nil, let message = eavesdropper.lastReceived else { return }
    switch state {
    case .logining(var login):
      login.session.isReflected = true
      state = .logining(login)
    case .open(var session):
      session.isReflected = true
      state = .open(session)
    default: break
    }
    actions.append(.tamper)
    actions += Segmenter().frames(of: message).map { .send($0) }
  }

  /// The frames of the next message as an alteration leaves them, where one was asked for.
  mutating func takeMutation(_ frames: (MessageFlaw) -> [[UInt8]]) -> [[UInt8]]? {
    guard let flaw = flaws.takeMutation() else { return nil }
    actions.append(.tamper)
    return frames(flaw)
  }
}

extension SesameClient.Session {
  /// The request that an answer is to. What makes no sense is not obeyed: success is rather another's.
  mutating func takePending(for response: Response) -> Pending? {
    let matches = pending.indices.filter {
      pending[$0].request.item == response.item && pending[$0].request.operation == response.operation
    }
    // That a history is empty is said to who asked for it as is proper.
    let asksForHistory = matches.contains { index in
      if case .readHistory = pending[index].command { pending[index].oddity == nil } else { false }
    }
    let makesSense = response.result == .success || (response.result == .notFound && asksForHistory)
    let best = matches.first { (pending[$0].oddity?.mayBeObeyed ?? true) == makesSense } ?? matches.first
    guard let best else { return nil }
    let answered = pending.remove(at: best)
    confirmed = max(confirmed, answered.counter + 1)
    return answered
  }

  /// Takes back what was taken for an answer since an earlier moment; what was sent since then stays sent.
  fileprivate mutating func restoreBook(of before: Self) {
    pending = before.pending + pending.filter { $0.counter >= before.cipher.sendCounter }
    confirmed = before.confirmed
    isConfiguring = before.isConfiguring
    isResetting = before.isResetting
    isReadingHistory = before.isReadingHistory
  }

  /// Whether the lock cannot take a message with a flaw for one that it still awaits: of those that were sent before,
  /// some may be lost, and a message of its own that comes back may be one that it awaits, and count.
  func rejects(_ flaw: MessageFlaw) -> Bool {
    switch flaw {
    case .previousCounter: cipher.sendCounter == 0 || confirmed >= cipher.sendCounter
    case .firstCounter: cipher.sendCounter == 0 || confirmed > 0
    case .nextCounter: !isReflected
    default: true
    }
  }
}

extension SesameClient {
  /// Lets the client receive what nobody should believe. What it complains of was to be expected.
  private mutating func receive(_ spoof: Spoof, at now: Instant) {
    guard let (generation, cipher, _) = connection else { return }
    // In the middle of a message an alien frame is a part of it, to whoever gathers.
    guard !reassembler.isGathering else { return }
    let said = actions.count
    if let bytes = spoof.authentic(for: generation, besides: asked) {
      receive(authentic: bytes, at: now)
    } else {
      for frame in frames(of: spoof, generation, cipher) { receive(spoofed: frame, at: now) }
    }
    let done = actions[said...].filter { action in
      if case .complain = action { false } else { true }
    }
    actions.replaceSubrange(said..., with: done)
  }

  /// What the client waits for an answer to.
  private var asked: [ItemCode] {
    if case .open(let session) = state { session.pending.map(\.request.item) } else { [] }
  }

  private mutating func receive(spoofed frame: [UInt8], at now: Instant) {
    guard let message = gather(frame) else { return }
    let last = eavesdropper.lastReceived
    receive(message, at: now)
    eavesdropper.lastReceived = last
  }

  /// The frames of what the cipher does not vouch for; none where it would have to be believed.
  private func frames(
    of spoof: Spoof, _ generation: Generation, _ cipher: SessionCipher?
  ) -> [[UInt8]] {
    let segmenter = Segmenter()
    let last = eavesdropper.lastReceived?.bytes ?? []
    switch spoof {
    case .statusInClear:
      let status: [UInt8] = generation == .os2 ? [0, 3, 0, 0x80, 0, 1, 1, 4] : [0, 3, 0, 0x80, 90, 0, 0x14]
      return segmenter.frames(of: Publish(.mechStatus, status).encoded, .plaintext)
    case .answerInClear:
      let request = LockCommand.unlock(settings.tag).request(for: generation)
      return segmenter.frames(of: Response(to: request).encoded, .plaintext)
    case .tokenAgain:
      if case .waiting = state { return [] }
      return segmenter.frames(of: Publish.initial(Token(word: 0x0403_0201)).encoded, .plaintext)
    case .messageAgain: return sealed(last, cipher)
    case .wrongTag: return sealed(last.withOneBitFlipped, cipher)
    case .cut: return sealed(last.dropLast(), cipher)
    case .reflected: return isAuthentic(lastCommand, cipher) ? [] : lastCommand
    case .kind3: return segmenter.frames(of: [8, 81, 0], MessageKind(rawValue: 3))
    case .emptyFrame: return [[]]
    case .emptyMessage: return segmenter.frames(of: [], .ciphertext)
    case .answerToNothing, .answerToAnother, .unknownResult, .unknownItem, .unknownOperation, .shortStatus,
      .loginPublish,
      .nothing:
      return []
    }
  }

  /// The frames of ciphertext, unless the client would have to believe it.
  private func sealed(_ bytes: some Sequence<UInt8>, _ cipher: SessionCipher?) -> [[UInt8]] {
    let bytes = Array(bytes)
    var cipher = cipher
    guard (try? cipher?.decrypt(bytes)) == nil else { return [] }
    return Segmenter().frames(of: bytes, .ciphertext)
  }

  /// Whether a message would be believed.
  private func isAuthentic(_ frames: [[UInt8]], _ cipher: SessionCipher?) -> Bool {
    var cipher = cipher
    return (try? cipher?.decrypt(frames.flatMap { $0.dropFirst() })) != nil
  }

  /// A message that the cipher vouched for, though the lock did not say it: what the lock does say is still to come, and
  /// is judged by what was asked of the lock.
  private mutating func receive(authentic bytes: [UInt8], at now: Instant) {
    guard case .open(let before) = state, !before.isResetting else { return }
    var session = before
    guard let message = try? LockMessage(decoding: bytes, for: session.generation) else { return }
    // What answers a request is believed, and the lock's own answer would be one too many.
    if case .response(let response) = message, asked.contains(response.item) { return }
    take(message, in: &session, at: now)
    session.restoreBook(of: before)
    if case .open = state { state = .open(session) }
  }
}

extension SesameClient {
  /// Complains of a key that somebody sent.
  mutating func checkForKeys(in bytes: [UInt8]) {
    guard bytes.count >= 16 else { return }
    if let key, key.secret.occurs(in: bytes) {
      actions.complain(.keyExposed, of: "owner's key", "the secret key in a message")
    }
    let session =
      switch state {
      case .logining(let login): login.session.cipher.key
      case .open(let session): session.cipher.key
      case .registering(let registration): registration.session?.cipher.key
      default: SecretKey?.none
      }
    if let session, session.occurs(in: bytes) {
      actions.complain(.keyExposed, of: "session key", "the session's key in a message")
    }
  }

  /// Whether a text has a key of the client's in it.
  public func tellsKey(_ text: String) -> Bool {
    guard text.utf8.count >= 32, let key else { return false }
    return text.lowercased().contains(key.secret.exposedBytes.hex)
  }
}
