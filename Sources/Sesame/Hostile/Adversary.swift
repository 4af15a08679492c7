import Bluetooth
import Basics

/// An adversary between a client and its lock, who receives every frame, remembers it, and tampers on request.
///
///      client ──frame──▶ Adversary ──frames──▶ lock        as they are, or altered, or with a shadow
///      client ◀──event── Adversary ◀──event─── lock        unchanged, plus frames in the lock's name
///
/// It knows the state of the session, with the keys, and so can alter even messages that it could not decrypt; it
/// sends nothing that a correct lock or client would have to accept.
///
/// The type does no I/O and reads no clock: carry out the actions it returns, in order.
public struct Adversary: Sendable {
  /// What he does.
  public enum Action: Equatable, Sendable {
    /// He puts a frame on the air, to the lock.
    case send([UInt8])
    /// He has the client's end of the link hear something.
    case tell(LinkEvent)
    /// The frames that follow are not the client's.
    case inject(Injection)
  }

  /// What is open between client and lock: to be kept up to date wherever he is to meddle, or a frame is sent
  /// for which he ``needsView(for:)``.
  public var view = SessionView()
  private let settings: ClientSettings
  private var memory = Eavesdropper()
  /// What the next message of the client's is to suffer.
  private var mutation: MessageFlaw?
  /// What accompanies the next message of the client's: itself, with this flaw.
  private var shadow: MessageFlaw?
  /// The frames of the last encrypted message of the client's.
  private var lastCommand: [[UInt8]] = []
  /// The frames of the message that the client is sending.
  private var outgoing: [[UInt8]] = []
  /// The frames of the message that the lock is sending, until its last one.
  private var incoming: [[UInt8]] = []
  /// The longest message of the lock to remember, in bytes; a lock sends no longer ones.
  private static let maximumLength = 128
  /// Whether there is a link over which the lock can say something.
  private var isLinked = false

  /// Makes an adversary without any recorded message.
  ///
  /// - Parameter settings: the client's settings; forged commands have their tag.
  public init(_ settings: ClientSettings) { self.settings = settings }

  /// Begins a test. Recorded messages are kept if the lock is the same.
  public mutating func startOver(onSameLock keepsState: Bool) {
    let memory = keepsState ? memory : Eavesdropper()
    self = Adversary(settings)
    self.memory = memory
  }

  /// A login that he has heard: the last one, for 0; or that of an earlier session, from the last but one, -1.
  public func login(ofSession number: Int) -> ShownLogin? {
    number == 0 ? memory.lastLogin : memory.earlier(number)?.login
  }
}

// MARK: - What he hears

extension Adversary {
  /// Whether ``view`` influences the handling of a frame: not before the last frame of a message, nor while sealed
  /// messages pass unchanged.
  public func needsView(for frame: [UInt8]) -> Bool {
    let kind = Self.kind(endedBy: frame)
    return kind > 0 && (kind != MessageKind.ciphertext.rawValue || shadow != nil || mutation != nil)
  }

  /// The kind of the message that a frame ends; 0 where more are to come.
  private static func kind(endedBy frame: [UInt8]) -> UInt8 {
    frame.first.map { SegmentHeader(rawValue: $0).field } ?? 0
  }

  /// Processes a frame of the client. Its message is handled when it is complete.
  public mutating func send(_ frame: [UInt8]) -> [Action] {
    let frames = outgoing.isEmpty ? [frame] : outgoing + [frame]
    let field = Self.kind(endedBy: frame)
    outgoing = field > 0 ? [] : frames
    guard field > 0 else { return [] }
    return field == MessageKind.ciphertext.rawValue ? passOnSealed(frames) : passOnClear(frames)
  }

  /// Processes an event for the client.
  public mutating func hear(_ event: LinkEvent) {
    switch event {
    case .connected:
      incoming = []
      isLinked = true
    case .disconnected: isLinked = false
    case .frame(let frame):
      guard isLinked, let header = frame.first.map({ SegmentHeader(rawValue: $0) }),
        header.isFirst || !incoming.isEmpty, header.field <= MessageKind.ciphertext.rawValue
      else { return }
      hear(header.isFirst ? [frame] : incoming + [frame], isWhole: header.field > 0)
    case .advertisement, .ready, .tampered, .provoked, .spoofed, .reflected: break
    }
  }

  /// Records the frames of a message of the lock, as far as it has arrived. They are joined only when used.
  private mutating func hear(_ frames: [[UInt8]], isWhole: Bool) {
    let length = frames.reduce(0) { $0 + $1.count - 1 }
    incoming = isWhole || length > Self.maximumLength ? [] : frames
    if isWhole, 1...Self.maximumLength ~= length { memory.lastReceived = frames }
  }

  /// Records that the client ends its link: later events do not concern it.
  public mutating func hearDisconnection() { isLinked = false }

  private mutating func passOnSealed(_ frames: [[UInt8]]) -> [Action] {
    let counter = memory.session.count
    lastCommand = frames
    memory.note(frames)
    guard shadow != nil || mutation != nil, var cipher = view.cipher,
      let message = cipher.open(frames.joinedData, counter: counter, from: .app)
    else { return frames.map { .send($0) } }
    defer { (shadow, mutation) = (nil, nil) }
    cipher.sendCounter = counter
    let old = view.oldCipher(at: counter)
    // What the lock may take is no shadow: it would be answered as the message is.
    let extra = shadow.map { rejects($0, at: counter) ? $0.frames(of: message, cipher, old: old) : [] } ?? []
    return inject(shadow, extra) + passOn(frames, mutation?.frames(of: message, cipher, old: old))
  }

  private mutating func passOnClear(_ frames: [[UInt8]]) -> [Action] {
    let message = frames.joinedData
    let right = view.login.map { Segmenter().frames(of: $0.message, .plaintext) }
    // What becomes of a false login must not be the right one.
    func harmless(_ flaw: MessageFlaw, else other: [[UInt8]]) -> [[UInt8]] {
      let altered = flaw.frames(ofClear: message)
      return altered == right && frames != right ? other : altered
    }
    // What is shown to a lock without an owner, in the hope that it remembers, opens nothing.
    if view.phase != .ready { memory.beginSession(view.login) }
    defer { mutation = nil }
    let sent = passOn(frames, mutation.map { harmless($0, else: frames) })
    // There are several messages in a registration, and a correct lock answers each that comes.
    guard view.phase != .registering else { return sent }
    defer { shadow = nil }
    // Before there is a session a second login is no extra, but the login: it follows the first one.
    return sent + inject(shadow, shadow.map { harmless($0, else: []) } ?? [])
  }

  /// Sends a message on as it is, or as it was altered.
  private func passOn(_ frames: [[UInt8]], _ altered: [[UInt8]]?) -> [Action] {
    guard let altered, let mutation else { return frames.map { .send($0) } }
    return [.tell(.tampered), .inject(.mutation(mutation))] + altered.map { .send($0) }
  }

  /// Sends frames that no client would send, if there are any.
  private func inject(_ injection: Injection, _ frames: [[UInt8]]) -> [Action] {
    frames.isEmpty ? [] : [.inject(injection)] + frames.map { .send($0) }
  }

  /// Sends what accompanies a message, if anything does.
  private func inject(_ shadow: MessageFlaw?, _ frames: [[UInt8]]) -> [Action] {
    shadow.map { inject(.shadow($0), frames) } ?? []
  }

  /// Whether the lock cannot take the message of a counter with a flaw for one that it still awaits: of those that were
  /// sent before, some may be lost, and a message of its own that comes back may be one that it awaits, and count.
  private func rejects(_ flaw: MessageFlaw, at counter: UInt64) -> Bool {
    guard view.hasSession else { return true }
    return switch flaw {
    case .previousCounter: counter == 0 || view.confirmed >= counter
    case .firstCounter: counter == 0 || view.confirmed > 0
    case .nextCounter: !memory.session.isReflected
    default: true
    }
  }
}

// MARK: - What he does of himself

extension Adversary {
  /// Tampers with the messages between client and lock. Without a connection it has no effect.
  ///
  /// It cannot send a valid request: that needs the session's counter.
  public mutating func bring(about interference: Interference) -> [Action] {
    switch interference {
    case .shadow(let flaw): shadow = flaw
    case .mutate(let flaw): mutation = flaw
    case .nothing: (shadow, mutation) = (nil, nil)
    case .request: break
    case .forge(let forgery) where view.isConnected: return inject(.forgery(forgery), frames(of: forgery))
    // Before there is a session a login is one, and a registration too.
    case .replay(let replay) where view.isOpening: return inject(.replay(replay), frames(of: replay))
    case .reflect where view.isConnected: return reflect()
    // In the middle of a message the receiver would take a foreign frame as a part of it.
    case .spoof(let spoof) where view.isConnected && incoming.isEmpty:
      return frames(of: spoof).map { .tell(.spoofed($0)) }
    case .forge, .replay, .reflect, .spoof: break
    }
    return []
  }

  /// Whether he has what he would forge, against a lock that has been shown a proof.
  public func reaches(_ forgery: Forgery) -> Bool { view.hasShownProof && !frames(of: forgery).isEmpty }

  private func frames(of forgery: Forgery) -> [[UInt8]] {
    switch forgery {
    case .request(let subject, let flaw):
      let counter = view.cipher?.sendCounter ?? 0
      guard rejects(flaw, at: counter) else { return [] }
      let request = subject.command(settings).encoded(for: view.generation)
      return flaw.frames(of: request, view.cipher, old: view.oldCipher(at: counter))
    case .lastCommand: return lastCommand
    case .lastSession: return memory.earlier(-1)?.allFrames ?? []
    case .emptyFrame: return [[]]
    // A login with a false proof was none, and is not sent again with the right one.
    case .login where view.isOpening && !view.mayLogIn: return memory.session.loginFrames
    case .registration where view.isOpening: return inClear(.registration)
    case .identity where view.isOpening: return inClear(.identity)
    // Before there is a session these are what a lock must answer, or refuse by ending the link.
    case .login, .registration, .identity: return []
    }
  }

  private func inClear(_ request: UndefinedRequest) -> [[UInt8]] {
    Segmenter().frames(of: request.request(for: view.generation), .plaintext)
  }

  private func frames(of replay: Replay) -> [[UInt8]] {
    let isOfThis = replay.session == 0
    guard let overheard = isOfThis ? memory.session : memory.earlier(replay.session),
      !isOfThis || view.phase == .open
    else { return [] }
    let login = view.mayLogIn ? [] : overheard.loginFrames
    return switch replay.part {
    case .message(let place): overheard.frames(at: place, below: isOfThis ? view.confirmed : .max)
    case .login: login
    case .everything: isOfThis ? [] : login + overheard.allFrames
    }
  }

  private mutating func reflect() -> [Action] {
    let frames = memory.lastReceived
    let kind = Self.kind(endedBy: frames.last ?? [])
    guard kind > 0 else { return [] }
    memory.session.isReflected = view.hasSession
    let told: [LinkEvent] = view.hasSession ? [.tampered, .reflected] : [.tampered]
    return told.map { .tell($0) } + [.inject(.reflection)]
      + Segmenter().frames(of: frames.joinedData, MessageKind(rawValue: kind)).map { .send($0) }
  }

  /// The frames of what the client should not believe; none where it would have to.
  private func frames(of spoof: Spoof) -> [[UInt8]] {
    if let message = spoof.authentic(for: view.generation, besides: view.asked ?? []) {
      return authentic(message)
    }
    let segmenter = Segmenter()
    let last = memory.lastReceived.joinedData
    switch spoof {
    case .statusInClear:
      let status: [UInt8] =
        view.generation == .os2 ? [0, 3, 0, 0x80, 0, 1, 1, 4] : [0, 3, 0, 0x80, 90, 0, 0x14]
      return segmenter.frames(of: Publish(.mechStatus, status).encoded, .plaintext)
    case .answerInClear:
      let request = LockCommand.unlock(settings.tag).request(for: view.generation)
      return segmenter.frames(of: Response(to: request).encoded, .plaintext)
    case .tokenAgain:
      guard view.phase != .waiting else { return [] }
      return segmenter.frames(of: Publish.initial(Token(word: 0x0403_0201)).encoded, .plaintext)
    case .messageAgain: return alien(segmenter.frames(of: last, .ciphertext))
    case .wrongTag: return alien(segmenter.frames(of: last.withOneBitFlipped, .ciphertext))
    case .cut: return alien(segmenter.frames(of: last.dropLast(), .ciphertext))
    case .reflected: return alien(lastCommand)
    case .kind3: return segmenter.frames(of: [8, 81, 0], MessageKind(rawValue: 3))
    case .emptyFrame: return [[]]
    case .emptyMessage: return segmenter.frames(of: [], .ciphertext)
    case .answerToNothing, .answerToAnother, .unknownResult, .unknownItem, .unknownOperation, .shortStatus,
      .loginPublish, .nothing:
      return []
    }
  }

  /// The frames of ciphertext, unless the client would have to believe it.
  private func alien(_ frames: [[UInt8]]) -> [[UInt8]] {
    var cipher = view.cipher
    return (try? cipher?.decrypt(frames.joinedData)) == nil ? frames : []
  }

  /// The frames of a message as the lock would seal it. Where it answers a request there are none: it would be believed,
  /// and the lock's own answer be one too many.
  private func authentic(_ message: [UInt8]) -> [[UInt8]] {
    guard let asked = view.asked, let cipher = view.cipher else { return [] }
    if case .response(let response)? = try? LockMessage(decoding: message, for: view.generation),
      asked.contains(response.item)
    {
      return []
    }
    var lock = SessionCipher(key: cipher.key, token: cipher.token, end: .lock)
    lock.sendCounter = cipher.receiveCounter
    return Segmenter().frames(of: lock.encrypt(message), .ciphertext)
  }
}

extension [[UInt8]] {
  /// The message of which these are the frames.
  fileprivate var joinedData: [UInt8] { flatMap { $0.dropFirst() } }
}
