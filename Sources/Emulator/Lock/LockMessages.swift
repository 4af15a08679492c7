import Sesame
import Basics

// Frames, messages and requests.

extension EmulatedLock {
  mutating func receive(frame: [UInt8], at now: Instant) {
    switch state {
    case .waiting, .open: break
    case .off, .restarting, .advertising, .mute, .connected, .restartPending, .ending: return
    }
    switch reassembler.receive(frame) {
    case .incomplete:
      break
    case .message(let message):
      receive(message, at: now)
    case .ignored(.unexpected(advancesCounter: true)) where options.failedMessage == .advancesCounter:
      advanceCounter()
    case .ignored:
      break
    case .failed:
      crash()
    }
  }

  private mutating func receive(_ message: SegmentedMessage, at now: Instant) {
    switch (state, message.kind.reading(in: generation)) {
    case (.open, .ciphertext):
      guard let bytes = decrypt(message.bytes, at: now) else { return }
      receive(request: bytes, at: now)
    case (.waiting(let opening), .plaintext):
      receive(opening: message.bytes, in: opening, at: now)
    case (.open(let session), .plaintext):
      receive(clear: message.bytes, in: session, at: now)
    case (.open, _), (.waiting, _), (.off, _), (.restarting, _), (.advertising, _), (.mute, _),
      (.connected, _),
      (.restartPending, _), (.ending, _):
      break
    }
  }

  /// The decrypted message; `nil` if it is not authentic.
  private mutating func decrypt(_ message: [UInt8], at now: Instant) -> [UInt8]? {
    guard case .open(var session) = state else { return nil }
    defer { state = .open(session) }
    let idle = now - session.lastHeard
    session.lastHeard = now
    if defects.contains(.answersStopAfterIdling), idle >= .seconds(600) {
      // A defective lock that has stopped answering does not begin again.
      session.lastHeard = now - idle
      return nil
    }
    let isLong = message.count > 2 * (Segmenter.defaultFrameSize - 1)
    if isLong, defects.contains(.longMessageLost) { return nil }
    do {
      return try session.cipher.decrypt(message)
    } catch {
      return replayed(message, in: session.cipher)
    }
  }

  /// An earlier message that a defect accepts again.
  private func replayed(_ message: [UInt8], in cipher: SessionCipher) -> [UInt8]? {
    let next = cipher.receiveCounter
    if defects.contains(.replayedCommandObeyed), next > 0,
      let bytes = cipher.open(message, counter: next - 1, from: .app)
    {
      return bytes
    }
    if defects.contains(.olderMessageReplayed), next > 1,
      let bytes = cipher.open(message, countersBelow: next - 1)
    {
      return bytes
    }
    for cipher in memory.ciphers {
      if let bytes = cipher.open(message, countersBelow: cipher.receiveCounter) { return bytes }
    }
    return nil
  }

  private mutating func advanceCounter() {
    guard case .open(var session) = state else { return }
    session.cipher.advanceReceiveCounter()
    state = .open(session)
  }

  /// A request in a session.
  private mutating func receive(request bytes: [UInt8], at now: Instant) {
    guard let request = try? Request(decoding: bytes, for: generation) else { return }
    do {
      carryOut(try LockCommand(request), for: request, at: now)
    } catch {
      refuse(request)
    }
  }

  /// Handles a request in clear: only those that open a session are valid.
  private mutating func receive(
    opening bytes: [UInt8], in opening: Opening, at now: Instant
  ) {
    guard let request = try? Request(decoding: bytes, for: generation) else { return }
    switch try? LockCommand(request) {
    case .readIdentity? where generation == .os2:
      sendIdentity(to: request)
    case .register(let command)?:
      register(command, for: request, in: opening, at: now)
    case .login(let command)?:
      logIn(command, for: request, in: opening, at: now)
    case nil where request.item == .login:
      refuseMalformedLogin(request, in: opening, at: now)
    case nil where request.item == .registration:
      refuse(request)
    case .some, nil:
      receive(clear: bytes, at: now)
    }
  }

  /// Handles a message in clear in a session: a login, if a registration opened the session; others are
  /// invalid.
  private mutating func receive(clear bytes: [UInt8], in session: Session, at now: Instant) {
    guard let opening = session.opening, let request = try? Request(decoding: bytes, for: generation),
      request.item == .login
    else { return receive(clear: bytes, at: now) }
    guard case .login(let command)? = try? LockCommand(request) else {
      return refuseMalformedLogin(request, in: opening, at: now)
    }
    logIn(command, for: request, in: opening, at: now)
  }

  /// Handles a request in clear that is valid only in a session.
  private mutating func receive(clear bytes: [UInt8], at now: Instant) {
    if defects.contains(.plaintextCommandObeyed), let request = try? Request(decoding: bytes, for: generation)
    {
      switch try? LockCommand(request) {
      case .lock(let tag)?: return work(.locked, tag, for: request, inClear: true, at: now)
      case .unlock(let tag)?: return work(.unlocked, tag, for: request, inClear: true, at: now)
      default: break
      }
    }
    if options.plaintext == .disconnect { end() }
  }

  /// Responds to a request whose data do not decode.
  private mutating func refuse(_ request: Request) {
    switch options.badRequest {
    case .answered: respond(to: request, .invalidFormat)
    case .disconnect: end()
    }
  }
}

extension EmulatedLock {
  /// Responds to a request: encrypted in a session, else in clear.
  mutating func respond(
    to request: Request, _ result: ResultCode = .success, _ data: [UInt8] = [], inClear: Bool = false
  ) {
    var named = request
    if defects.contains(.answerNamesAnotherRequest), case .open = state {
      named = memory.lastRequest ?? request
      memory.lastRequest = request
    }
    if result != .success, defects.contains(.batteryOfFailedRequest) { memory.hasFailedRequest = true }
    send(Response(to: named, result, data).encoded, inClear: inClear)
  }

  /// Sends a message: encrypted in a session, else in clear.
  mutating func send(_ message: [UInt8], inClear: Bool = false) {
    if !inClear, case .open(var session) = state {
      let sealed = session.cipher.encrypt(message)
      state = .open(session)
      notify(sealed, .ciphertext)
    } else {
      notify(message, .plaintext)
    }
  }

  mutating func notify(_ bytes: [UInt8], _ kind: MessageKind) {
    let size = defects.contains(.framesOfMTU) ? capacity : Segmenter.defaultFrameSize
    for frame in Segmenter(frameSize: size).frames(of: bytes, kind) { actions.append(.notify(frame)) }
  }

  /// Asks the caller to end the link.
  mutating func end() {
    let cause: State.Cause
    switch state {
    case .restartPending: cause = .restart
    case .open:
      endSession()
      cause = .inSession
    case .off, .restarting, .advertising, .mute, .connected, .waiting, .ending: cause = .beforeLogin
    }
    state = .ending(cause)
    actions.append(.disconnect(reason: options.endReason.code))
  }

  /// Simulates a program that writes beyond its memory: the lock restarts.
  private mutating func crash() {
    endSession()
    state = .ending(.restart)
    actions.append(.disconnect(reason: options.endReason.code))
  }

  /// Keeps what defects need of the past session.
  mutating func endSession() {
    guard case .open(let session) = state else { return }
    memory.lastCipher = session.cipher
    if defects.contains(.earlierSessionReplayed) {
      memory.ciphers = memory.ciphers.suffix(7) + [session.cipher]
    }
  }

  /// How long after its opening a session may end before the client knows of it: the lock's messages take
  /// three frames in OS3 and two in OS2, and the end of the link one more.
  private var loginTime: Interval { .microseconds(generation == .os3 ? 30_000 : 22_500) }

  mutating func endConnection(reason: UInt8, at now: Instant) {
    endSession()
    if case .open(let session) = state, now - session.opened < loginTime {
      memory.abortedConnections = memory.abortedBeforeLogin + 1
    }
    switch state {
    case .off, .restarting, .advertising, .mute:
      return
    case .restartPending, .ending(.restart):
      bolt.cutPower(at: now)
      autolockDue = nil
      state = .restarting(until: now + options.restart)
      return
    case .connected, .waiting, .ending(.beforeLogin):
      memory.abortedConnections += 1
      state = .advertising
    case .open, .ending(.inSession):
      if defects.contains(.settingsLostOnReconnect) { bolt.positions = nil }
      if defects.contains(.recordNumbersRestart) { history.restartNumbers() }
      if defects.contains(.autolockForgottenOnDisconnect) { autolockDue = nil }
      let isLost = reason == 0x08 && defects.contains(.deadUntilPowerCycle)
      state = isLost ? .mute : .advertising
    }
    actions.append(.advertisingChanged)
  }
}

extension SessionCipher {
  /// Decrypts a message of the app with a counter below a limit, trying the greatest of the first hundred
  /// first.
  fileprivate func open(_ message: [UInt8], countersBelow limit: UInt64) -> [UInt8]? {
    for counter in (0..<min(limit, 100)).reversed() {
      if let bytes = open(message, counter: counter, from: .app) { return bytes }
    }
    return nil
  }
}
