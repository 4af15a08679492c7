import Bluetooth
import Basics

/// An adversary between a client and its lock that receives every frame, records it, and tampers on request.
///
///      client ──frame──▶ Adversary ──frames──▶ lock        as they are, or altered, or with a shadow
///      client ◀──event── Adversary ◀──event─── lock        unchanged, plus frames in the lock's name
///
/// It knows the state of the session, with the keys, and so can alter even messages that it could not
/// decrypt; it sends nothing that a correct lock or client would have to accept.
///
/// The type does no I/O and reads no clock: carry out the actions it returns, in order.
public struct Adversary: Sendable {
  /// What the caller must do next, in order.
  public enum Action: Equatable, Sendable {
    /// Send a frame to the lock.
    case send([UInt8])
    /// Deliver an event to the client.
    case report(LinkEvent)
    /// The next frames are not the client's.
    case inject(Injection)
  }

  /// The state between client and lock. The caller must update it before any interference, and before sending
  /// a frame for which ``needsView(for:)`` is true.
  public var view = SessionView()
  private let settings: ClientSettings
  private var memory = Eavesdropper()
  /// The flaw of the client's next message.
  private var mutation: MessageFlaw?
  /// The flaw of the copy that accompanies the client's next message.
  private var shadow: MessageFlaw?
  /// The frames of the client's last encrypted message.
  private var lastCommand: [[UInt8]] = []
  /// The frames of the client's incomplete message.
  private var outgoing: [[UInt8]] = []
  /// The frames of the lock's incomplete message.
  private var incoming: [[UInt8]] = []
  /// The longest message of the lock to record, in bytes; locks send no longer ones.
  private static let maximumLength = 128
  /// Whether there is a link to the lock.
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

  /// A recorded login: the last one for 0, or that of an earlier session, where -1 is the last but one.
  public func login(ofSession number: Int) -> ShownLogin? {
    number == 0 ? memory.lastLogin : memory.earlier(number)?.login
  }
}

// MARK: - Recording

extension Adversary {
  /// Whether ``view`` influences the handling of a frame: not before the last frame of a message, nor while sealed
  /// messages pass unchanged.
  public func needsView(for frame: [UInt8]) -> Bool {
    let kind = Self.kind(endedBy: frame)
    return kind > 0 && (kind != MessageKind.ciphertext.rawValue || shadow != nil || mutation != nil)
  }

  /// The kind of the message that a frame ends; 0 if it continues.
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
      record(header.isFirst ? [frame] : incoming + [frame], isComplete: header.field > 0)
    case .advertisement, .ready, .tampered, .provoked, .spoofed, .reflected: break
    }
  }

  /// Records the frames of a lock's message, as far as it has arrived. They are joined only when needed.
  private mutating func record(_ frames: [[UInt8]], isComplete: Bool) {
    let length = frames.reduce(0) { $0 + $1.count - 1 }
    incoming = isComplete || length > Self.maximumLength ? [] : frames
    if isComplete, 1...Self.maximumLength ~= length { memory.lastReceived = frames }
  }

  /// Records that the client ends its link: later events do not concern it.
  public mutating func hearDisconnection() { isLinked = false }

  private mutating func passOnSealed(_ frames: [[UInt8]]) -> [Action] {
    let counter = memory.session.count
    lastCommand = frames
    memory.record(frames)
    guard shadow != nil || mutation != nil, var cipher = view.cipher,
      let message = cipher.open(frames.joinedData, counter: counter, from: .app)
    else { return frames.map { .send($0) } }
    defer { (shadow, mutation) = (nil, nil) }
    cipher.sendCounter = counter
    let old = view.oldCipher(at: counter)
    // An acceptable copy is no shadow: it would be answered like the message.
    let extra = shadow.map { rejects($0, at: counter) ? $0.frames(of: message, cipher, old: old) : [] } ?? []
    return inject(shadow, extra) + passOn(frames, mutation?.frames(of: message, cipher, old: old))
  }

  private mutating func passOnClear(_ frames: [[UInt8]]) -> [Action] {
    let message = frames.joinedData
    let right = view.login.map { Segmenter().frames(of: $0.message, .plaintext) }
    // A mutated false login must not be the right one.
    func harmless(_ flaw: MessageFlaw, else other: [[UInt8]]) -> [[UInt8]] {
      let altered = flaw.frames(ofClear: message)
      return altered == right && frames != right ? other : altered
    }
    // A false login to a lock without an owner, which may remember the proof, opens nothing.
    if view.phase != .ready { memory.beginSession(view.login) }
    defer { mutation = nil }
    let sent = passOn(frames, mutation.map { harmless($0, else: frames) })
    // A registration has several messages, and a correct lock answers each.
    guard view.phase != .registering else { return sent }
    defer { shadow = nil }
    // Before a session, a second login would be the login itself; it follows the first one.
    return sent + inject(shadow, shadow.map { harmless($0, else: []) } ?? [])
  }

  /// Forwards a message, unchanged or altered.
  private func passOn(_ frames: [[UInt8]], _ altered: [[UInt8]]?) -> [Action] {
    guard let altered, let mutation else { return frames.map { .send($0) } }
    return [.report(.tampered), .inject(.mutation(mutation))] + altered.map { .send($0) }
  }

  /// Sends the frames of an injection, if there are any.
  private func inject(_ injection: Injection, _ frames: [[UInt8]]) -> [Action] {
    frames.isEmpty ? [] : [.inject(injection)] + frames.map { .send($0) }
  }

  /// Sends the flawed copy of a message, if there is one.
  private func inject(_ shadow: MessageFlaw?, _ frames: [[UInt8]]) -> [Action] {
    shadow.map { inject(.shadow($0), frames) } ?? []
  }

  /// Whether the lock must reject a flawed message with a counter. Earlier messages may have been lost, and a
  /// reflected message of its own may count as one, so that it may still expect the flawed one.
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

// MARK: - Interference

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
    // Before a session, a login or a registration would be valid.
    case .replay(let replay) where view.isOpening: return inject(.replay(replay), frames(of: replay))
    case .reflect where view.isConnected: return reflect()
    // In the middle of a message the receiver would append a foreign frame to it.
    case .spoof(let spoof) where view.isConnected && incoming.isEmpty:
      return frames(of: spoof).map { .report(.spoofed($0)) }
    case .forge, .replay, .reflect, .spoof: break
    }
    return []
  }

  /// Whether the material for a forgery exists, against a lock that has received a proof.
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
    // A login with a false proof is not repeated with the right one.
    case .login where view.isOpening && !view.mayLogIn: return memory.session.loginFrames
    case .registration where view.isOpening: return inClear(.registration)
    case .identity where view.isOpening: return inClear(.identity)
    // Before a session, a lock must answer these, or refuse them by ending the link.
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
    let reported: [LinkEvent] = view.hasSession ? [.tampered, .reflected] : [.tampered]
    return reported.map { .report($0) } + [.inject(.reflection)]
      + Segmenter().frames(of: frames.joinedData, MessageKind(rawValue: kind)).map { .send($0) }
  }

  /// The frames of a spoof that a client must ignore; none if it would have to accept them.
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

  /// The frames of ciphertext, unless the client would have to accept it.
  private func alien(_ frames: [[UInt8]]) -> [[UInt8]] {
    var cipher = view.cipher
    return (try? cipher?.decrypt(frames.joinedData)) == nil ? frames : []
  }

  /// The frames of a message sealed like the lock's; none for the answer to a pending request: it would be
  /// accepted, and the lock's own answer would be a violation.
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
  /// The message of the frames.
  fileprivate var joinedData: [UInt8] { flatMap { $0.dropFirst() } }
}
