import Bluetooth
public import Basics

extension SesameClient {
  /// An open session, or one that a login or a registration is about to open.
  struct Session {
    /// A request without an answer yet.
    struct Pending {
      var request: Request
      var command: LockCommand
      /// Whether the user made the request and must know if it is refused.
      var isAsked: Bool
      /// The counter of its message.
      var counter: UInt64
      var since: Instant
      /// A meaningless request need not be answered.
      var undefinedRequest: UndefinedRequest?
    }

    /// The lock's reports since positions were sent. The order of its answer, its setting and its status is
    /// not specified.
    struct Configuring {
      /// Whether it answered or published the setting, so that the positions are set.
      var isTaken = false
      var hasSetting = false
      /// Whether it published a status after that.
      var hasStatus = false
      /// Whether it published a status before that, by the old positions or by the new ones.
      var hasEarlyStatus = false
      /// When the early status counts, if no other has come by then.
      var earlyStatusTime: Instant?
    }

    var seen: SeenAdvertisement
    var cipher: SessionCipher
    var setting: MechSetting?
    /// The latest status with a resting bolt.
    var status: MechStatus?
    var pending: [Pending] = []
    /// The lock's reports since positions were sent, until it reports its bolt by the new ones.
    var configuring: Configuring?
    var isConfiguring: Bool { configuring != nil }
    /// When an early status counts; see ``Configuring``.
    var earlyStatusTime: Instant? { configuring?.earlyStatusTime }
    /// Since when the lock has reported only that its motor runs; `nil` while it rests.
    private(set) var running: Instant?
    var isResetting = false
    /// The number of messages that the lock has certainly received: it answered the last of them.
    var confirmed: UInt64 = 0
    /// Whether a registration opened the session, so that the lock may still accept a login in clear.
    var isOfRegistration = false
    /// The last deleted history record, and the number of records read in a row.
    var lastRecord: UInt32?
    var isReadingHistory = false
    var recordCount = 0
    private var battery: Double?
    /// The autolock delay that the lock last reported; 0 before the first report.
    private var knownAutolock: UInt16 {
      if case .sesame5(let setting)? = setting { setting.autolock } else { 0 }
    }
    /// Whether another delay was requested since that report.
    fileprivate var hasSetAutolock = false
    /// Whether the lock reports that its motor was stopped.
    private var isStalled = false
    /// Whether the motor runs, according to the latest status.
    private var isMotorOn = false

    init(seen: SeenAdvertisement, cipher: SessionCipher) {
      self.seen = seen
      self.cipher = cipher
    }

    var generation: Generation { seen.generation }
    /// The oldest request that must be answered.
    var late: Pending? { pending.first { $0.undefinedRequest == nil } }
    var model: ProductModel { seen.advertisement.model }

    /// The client's status for a resting bolt; `nil` if it is unknown.
    var restingStatus: ClientStatus? {
      guard let setting, let status else { return nil }
      guard setting.isConfigured else { return .nosetting }
      if let configuring, !configuring.hasSetting || !configuring.hasStatus { return nil }
      switch status.boltState {
      case .locked: return .locked
      case .unlocked: return .unlocked
      case .moved: return .moved
      }
    }

    /// Decrypts and decodes a message, or reports a violation; also one that contains a key.
    ///
    /// - Parameters:
    ///   - secret: the owner's key, which no message may contain.
    ///   - former: the cipher of the previous session, to explain a message that is not authentic.
    mutating func open(
      _ message: SegmentedMessage, beforeLogin: Bool, secret: SecretKey?, former: SessionCipher?,
      _ actions: inout [ClientAction]
    ) -> LockMessage? {
      let bytes: [UInt8]
      if message.kind == .ciphertext {
        guard let plain = decrypt(message.bytes, former: former, &actions) else { return nil }
        bytes = plain
        if cipher.key.occurs(in: bytes) {
          actions.reportViolation(.keyExposed, of: "session key", "the session's key in a message")
        }
        if secret?.occurs(in: bytes) ?? false {
          actions.reportViolation(.keyExposed, of: "owner's key", "the secret key in a message")
        }
      } else {
        bytes = message.bytes
      }
      do {
        let decoded = try LockMessage(decoding: bytes, for: generation)
        // A lock may repeat its token; the only other message in clear is the refusal of a login.
        if message.kind == .plaintext, decoded.item != .initial, !(beforeLogin && decoded.item == .login) {
          actions.reportViolation(
            .clearText, of: "\(decoded.item)", "\(decoded.item) in clear", packet: bytes)
          return nil
        }
        return decoded
      } catch {
        actions.reportViolation(.undecodable, "a message that does not decode, \(error)", packet: bytes)
        return nil
      }
    }

    /// Decrypts a message, or reports a violation.
    ///
    /// - Parameter former: the cipher of the previous session.
    mutating func decrypt(
      _ message: [UInt8], former: SessionCipher?, _ actions: inout [ClientAction]
    ) -> [UInt8]? {
      if let plain = try? cipher.decrypt(message) { return plain }
      let (violation, detail) = diagnosis(of: message, former)
      actions.reportViolation(violation, detail, packet: message)
      return nil
    }

    /// How far after and before its counter a message's actual counter is searched.
    private static let (ahead, behind): (UInt64, UInt64) = (8, 256)

    /// The violation of a message that does not decrypt.
    private func diagnosis(
      of message: [UInt8], _ former: SessionCipher?
    ) -> (SesameViolation, String) {
      guard message.count >= SessionCipher.tagLength else {
        return (.notAuthentic, "a message shorter than its tag")
      }
      let due = cipher.receiveCounter
      let counters = due &+ 1...due &+ Self.ahead
      if let counter = cipher.counter(of: message, among: counters) {
        return (.counterJump, "a message sealed with counter \(counter), where \(due) is due")
      }
      if due > 0 {
        let used = (due > Self.behind ? due - Self.behind : 0)...due - 1
        if let counter = cipher.counter(of: message, among: used) {
          return (.replayed, "a message sealed with counter \(counter), which was used; \(due) is due")
        }
      }
      if let former {
        // A lock that fails to start a new session keeps its previous counter or its previous key.
        let last = former.receiveCounter...former.receiveCounter &+ Self.ahead
        if let counter = cipher.counter(of: message, among: last) {
          return (
            .counterJump,
            "a message sealed with counter \(counter), as if the session before went on; \(due) is due"
          )
        }
        for counters in [last, 0...Self.ahead] where former.counter(of: message, among: counters) != nil {
          return (.sessionKeyReused, "a message sealed with the key of the session before")
        }
      }
      return (.notAuthentic, "a message that does not authenticate")
    }

    /// Processes a publish of the lock.
    mutating func take(_ publish: Publish, _ actions: inout [ClientAction]) {
      do {
        switch publish.item {
        case .mechSetting:
          let setting = try MechSetting(decoding: publish.data, model: model)
          if case .sesame5(let new) = setting, new.autolock != knownAutolock {
            actions.append(.report(.autolock(Int(new.autolock))))
          }
          self.setting = setting
          if setting.isConfigured {
            configuring?.isTaken = true
            configuring?.hasSetting = true
          }
          if !isAwaitingAutolock(besides: setting) { hasSetAutolock = false }
        case .mechStatus:
          take(status: try MechStatus(decoding: publish.data, model: model), &actions)
        case .openSensorDelay where generation == .os3:
          break
        case .login where generation == .os2, .initial:
          actions.reportViolation(
            .outOfPlace, of: "\(publish.item)", "\(publish.item) published in a session",
            packet: publish.encoded)
        default:
          actions.reportViolation(
            .unknownPublish, of: "\(publish.item)", "a publish of \(publish.item)", packet: publish.encoded)
        }
      } catch {
        actions.reportViolation(
          .undecodable, of: "\(publish.item)", "a \(publish.item) that does not decode, \(error)",
          packet: publish.encoded)
      }
    }

    /// Processes a mechanical status; the bolt's position counts only at rest.
    mutating func take(status: MechStatus, _ actions: inout [ClientAction]) {
      if let volts = status.batteryVolts, volts != battery {
        battery = volts
        actions.append(.report(.battery(volts)))
      }
      if let violation = status.violation {
        actions.reportViolation(violation, of: "mech status", "a status of \(status)", packet: status.encoded)
      }
      if status.isCritical, !isStalled { actions.append(.report(.stalled)) }
      isStalled = status.isCritical
      isMotorOn = !status.isIdle
      guard status.isParked else { return }
      self.status = status
      guard let configuring else { return }
      if configuring.isTaken {
        self.configuring?.hasStatus = true
        self.configuring?.earlyStatusTime = nil
      } else {
        self.configuring?.hasEarlyStatus = true
      }
    }

    /// Whether a requested autolock delay is not answered yet and differs from that of a published setting.
    private func isAwaitingAutolock(besides setting: MechSetting) -> Bool {
      pending.contains { pending in
        guard case .setAutolock(let seconds, _) = pending.command else { return false }
        if case .sesame5(let setting) = setting { return setting.autolock != UInt16(bitPattern: seconds) }
        return true
      }
    }

    /// Updates since when the motor runs, and when an early status counts.
    mutating func updateTimes(after item: ItemCode, settlingIn time: Interval, at now: Instant) {
      if item == .mechStatus { running = isMotorOn ? now : nil }
      if let configuring, configuring.hasSetting, configuring.hasEarlyStatus, !configuring.hasStatus,
        configuring.earlyStatusTime == nil
      {
        self.configuring?.earlyStatusTime = now + time
      }
    }

    /// Stops waiting for a motor without further reports.
    mutating func forgetMotion() { (running, isMotorOn) = (nil, false) }
  }
}

extension SesameClient {
  /// Carries out a request in an open session.
  mutating func perform(_ request: ClientRequest, in session: consuming Session, at now: Instant) {
    var session = session
    defer { if case .open = state { state = .open(session) } }
    guard request.exists(in: session.generation) else {
      actions.append(.refuse("a lock of \(session.generation) cannot be asked for that"))
      return
    }
    if request == .readAutolock, session.generation == .os3, !session.isResetting {
      return reportAutolock(in: session)
    }
    guard !session.isResetting, let command = command(for: request, in: session, at: now) else {
      actions.append(.refuse("not possible in \(status.rawValue)"))
      return
    }
    switch request {
    case .configure: session.configuring = Session.Configuring()
    case .setAutolock: session.hasSetAutolock = true
    case .reset: session.isResetting = true
    case .readHistory:
      // One reading of the history serves all requests made meanwhile.
      guard !session.isReadingHistory else { return }
      session.isReadingHistory = true
      session.recordCount = 0
    default: break
    }
    send(command, in: &session, at: now)
  }

  /// Reports the delay that an OS3 lock has published: it cannot be queried. A delay set since then is
  /// published at the next login.
  private mutating func reportAutolock(in session: Session) {
    guard !session.hasSetAutolock, case .sesame5(let setting)? = session.setting else { return }
    actions.append(.report(.autolock(Int(setting.autolock))))
  }

  private func command(for request: ClientRequest, in session: Session, at now: Instant) -> LockCommand? {
    let generation = session.generation
    let works = status == .locked || status == .unlocked || status == .moved
    switch request {
    case .lock(let tag): return works ? .lock(tag) : nil
    case .unlock(let tag): return works ? .unlock(tag) : nil
    case .toggle(let tag):
      // The app decides, from the status it shows.
      return works ? (status == .locked ? .unlock(tag) : .lock(tag)) : nil
    case .configure(let lock, let unlock, let isFromBolt):
      guard status == .nosetting, !session.isConfiguring else { return nil }
      let origin = isFromBolt ? Int(session.status?.positionDegrees ?? 0) : 0
      return .setMechSetting(
        positions(lock: origin + lock, unlock: origin + unlock, for: generation), settings.tag)
    case .reset: return session.isConfiguring ? nil : .reset
    case .setAutolock(let seconds): return .setAutolock(seconds: Int16(clamping: seconds), settings.tag)
    case .readAutolock: return .readAutolock
    case .readHistory: return .readHistory(1)
    case .readVersion: return .readVersion
    case .readStatus: return .readMechStatus
    case .setTime: return .setTime(unixTime(at: now))
    case .closeTo, .connect, .register, .disconnect: return nil
    }
  }

  mutating func send(
    _ command: LockCommand, in session: inout Session, isAsked: Bool = true, at now: Instant
  ) {
    let request = command.request(for: session.generation)
    session.pending.append(
      Session.Pending(
        request: request, command: command, isAsked: isAsked, counter: session.cipher.sendCounter, since: now)
    )
    send(sealing: request.encoded, in: &session)
  }

  private mutating func send(sealing message: [UInt8], in session: inout Session) {
    actions += Segmenter().frames(of: session.cipher.encrypt(message), .ciphertext).map { .send($0) }
  }

  /// Sends a meaningless request, if a session is open.
  public mutating func ask(_ undefinedRequest: UndefinedRequest, at now: Instant) -> [ClientAction] {
    guard case .open(var session) = state, !session.isResetting else { return take() }
    let message = undefinedRequest.request(for: session.generation)
    if let request = try? Request(decoding: message, for: session.generation) {
      session.pending.append(
        Session.Pending(
          request: request, command: .other(request), isAsked: false, counter: session.cipher.sendCounter,
          since: now, undefinedRequest: undefinedRequest))
    }
    actions.append(.inject(.request(undefinedRequest)))
    send(sealing: message, in: &session)
    state = .open(session)
    return take()
  }

  /// Processes a message of an open session.
  mutating func receive(_ message: SegmentedMessage, in session: consuming Session, at now: Instant) {
    var session = session
    defer { if case .open = state { state = .open(session) } }
    guard
      let message = session.open(
        message, beforeLogin: false, secret: key?.secret, former: formerCipher, &actions)
    else { return }
    take(message, in: &session, at: now)
  }

  /// Processes an authentic message.
  private mutating func take(_ message: LockMessage, in session: inout Session, at now: Instant) {
    switch message {
    case .response(let response):
      answer(response, in: &session, at: now)
    case .publish(let publish) where publish.item == .initial:
      repeatToken(publish)
    case .publish(let publish):
      session.take(publish, &actions)
      session.updateTimes(after: publish.item, settlingIn: settings.times.settling, at: now)
      showRest(of: &session)
    }
  }

  /// Shows the bolt's resting status, if the lock has reported it.
  private mutating func showRest(of session: inout Session) {
    guard let status = session.restingStatus else { return }
    // A turn by hand is meanwhile still reported by the old positions.
    if status != .nosetting { session.configuring = nil }
    show(status)
  }

  /// Lets time pass in an open session.
  mutating func advance(_ session: Session, to now: Instant) {
    var session = session
    if let earlyStatusTime = session.earlyStatusTime, earlyStatusTime <= now {
      session.configuring?.hasStatus = true
      session.configuring?.earlyStatusTime = nil
      showRest(of: &session)
    }
    if let running = session.running, running + settings.times.motion <= now {
      session.forgetMotion()
      actions.reportViolation(
        .noRest,
        "the last status says that the motor runs, and within \(settings.times.motion) none says that it rests"
      )
    }
    state = .open(session)
    if let late = session.late, late.since + settings.times.answer <= now { giveUp() }
  }

  mutating func answer(_ response: Response, in session: inout Session, at now: Instant) {
    if !response.result.isDefined {
      actions.reportViolation(
        .undefinedResult, of: "\(response.item)", "an answer to \(response.item) with \(response.result)",
        packet: response.encoded)
    }
    guard let pending = session.takePending(for: response) else {
      actions.reportViolation(
        session.late == nil ? .answerToNothing : .answerToAnother, of: "\(response.item)",
        session.late.map { "an answer to \(response.item), where \($0.request.item) was asked for" }
          ?? "an answer to nothing: \(response.item)", packet: response.encoded)
      return
    }
    if let undefinedRequest = pending.undefinedRequest {
      if response.result == .success, !undefinedRequest.mayBeObeyed {
        actions.reportViolation(
          .malformedObeyed, of: undefinedRequest.rawValue, "\(undefinedRequest.rawValue) was obeyed",
          packet: response.encoded)
      }
      return
    }
    if case .readHistory = pending.command, response.result == .notFound {
      session.isReadingHistory = false
      actions.append(.report(.history(nil)))
      return
    }
    if case .deleteHistory(let id) = pending.command, response.result == .notFound {
      // A full history dropped the record meanwhile.
      session.lastRecord = id
      return send(.readHistory(1), in: &session, at: now)
    }
    guard response.result == .success else {
      if case .setMechSetting = pending.command { session.configuring = nil }
      if case .reset = pending.command { session.isResetting = false }
      let text = "\(response.item): \(response.result)"
      let isMeant = pending.isAsked && !isReflected
      actions.append(isMeant ? .refuse(text) : .report(.refused(text)))
      return
    }
    do {
      try handleSuccess(pending.command, response, in: &session, at: now)
    } catch {
      actions.reportViolation(
        .undecodable, of: "\(response.item)", "an answer to \(response.item) that does not decode, \(error)",
        packet: response.encoded)
    }
  }

  /// Handles a successful answer.
  private mutating func handleSuccess(
    _ command: LockCommand, _ response: Response, in session: inout Session, at now: Instant
  ) throws(DecodeError) {
    switch command {
    case .setMechSetting:
      // Earlier statuses used the old ranges, unless the new setting preceded the answer: setting and status
      // are published again.
      session.configuring?.isTaken = true
      if let configuring = session.configuring, !configuring.hasSetting { session.setting = nil }
    case .reset:
      dropKey()
      state = .forgotten
      show(.reset)
    case .readAutolock:
      var reader = ByteReader(response.data.span)
      actions.append(.report(.autolock(Int(try reader.i16()))))
    case .readVersion:
      let version = try FirmwareVersion(decoding: response.data, for: session.generation)
      actions.append(.report(.version(version.text)))
    case .readMechStatus:
      session.take(status: try MechStatus(decoding: response.data, model: session.model), &actions)
      session.updateTimes(after: .mechStatus, settlingIn: settings.times.settling, at: now)
    case .readHistory:
      try take(record: response.data, in: &session, at: now)
    case .deleteHistory(let id):
      session.lastRecord = id
      send(.readHistory(1), in: &session, at: now)
    default:
      break
    }
  }

  /// Reads the history to its end: each record is read and deleted.
  private mutating func take(
    record bytes: [UInt8], in session: inout Session, at now: Instant
  ) throws(DecodeError) {
    let id: UInt32
    let text: String
    var parts: ReadRecord
    switch session.generation {
    case .os2:
      var record = try OS2HistoryRecord(decoding: bytes)
      id = UInt32(bitPattern: record.id)
      record.id = Int32(bitPattern: shownNumber(of: id))
      text = record.description
      let tag: HistoryTag = if case .command(_, _, let tag) = record.content { tag } else { .absent }
      parts = ReadRecord(
        number: Int(record.id), event: record.effectiveType.description, tag: tag.plainText,
        time: moment(ofUnixMilliseconds: record.milliseconds))
    case .os3:
      var record = try OS3HistoryRecord(decoding: bytes)
      id = record.id
      record.id = shownNumber(of: id)
      text = record.description
      parts = ReadRecord(
        number: Int(record.id), event: record.effectiveType.description, tag: record.tag.plainText,
        time: moment(ofUnixMilliseconds: UInt64(record.seconds) * 1000))
    }
    if settings.numbersRecordsFromOne { parts.number = Int(Int32(truncatingIfNeeded: parts.number)) }
    actions.append(.report(.history(text)))
    actions.append(.report(.record(parts)))
    if session.lastRecord == id {
      session.isReadingHistory = false
      actions.reportViolation(
        .historyRepeated, "history record \(id) came again after it was deleted", packet: bytes)
      return
    }
    session.recordCount += 1
    guard session.recordCount < SesameClient.maximumRecords else {
      session.isReadingHistory = false
      actions.reportViolation(
        .historyEndless, "a history of more than \(SesameClient.maximumRecords) records", packet: bytes)
      return
    }
    switch session.generation {
    case .os2:
      // Reading with this flag deletes the record.
      session.lastRecord = id
      send(.readHistory(1), in: &session, at: now)
    case .os3:
      send(.deleteHistory(id: id), in: &session, at: now)
    }
  }

  /// The number under which a record is shown.
  private mutating func shownNumber(of id: UInt32) -> UInt32 {
    guard settings.numbersRecordsFromOne else { return id }
    let base = recordBase ?? id &- 1
    recordBase = base
    return id &- base
  }

  /// The most records in a row; no lock has more.
  static let maximumRecords = 300
}

extension SesameClient.Session {
  /// Removes and returns the request that an answer belongs to. Success does not belong to a meaningless
  /// request.
  fileprivate mutating func takePending(for response: Response) -> Pending? {
    let matches = pending.indices.filter {
      pending[$0].request.item == response.item && pending[$0].request.operation == response.operation
    }
    // An empty history is reported only to a valid request.
    let asksForHistory = matches.contains { index in
      if case .readHistory = pending[index].command { pending[index].undefinedRequest == nil } else { false }
    }
    let isMeaningful = response.result == .success || (response.result == .notFound && asksForHistory)
    let best =
      matches.first { (pending[$0].undefinedRequest?.mayBeObeyed ?? true) == isMeaningful } ?? matches.first
    guard let best else { return nil }
    let answered = pending.remove(at: best)
    confirmed = max(confirmed, answered.counter + 1)
    return answered
  }

  /// Reverts the matching of answers since an earlier moment; requests sent since then stay pending.
  mutating func restorePending(from earlier: Self) {
    pending = earlier.pending + pending.filter { $0.counter >= earlier.cipher.sendCounter }
    cipher.receiveCounter = earlier.cipher.receiveCounter
    confirmed = earlier.confirmed
    configuring = earlier.configuring
    isResetting = earlier.isResetting
    isReadingHistory = earlier.isReadingHistory
  }
}

extension MechStatus {
  /// The violation in a status with impossible values.
  fileprivate var violation: SesameViolation? {
    switch self {
    case .sesame3(let status): status.returnCode.isDefined ? nil : .undefinedResult
    case .sesame5(let status): status.flags.rawValue & 0x80 == 0 ? nil : .undefinedFlag
    case .bot1, .bike2, .touch, .face, .other: nil
    }
  }

  /// Whether the bolt stands still and the motor is idle.
  fileprivate var isParked: Bool {
    guard case .sesame5(let status) = self else { return isIdle }
    return isIdle && status.flags.contains(.stopped)
  }
}

/// The bytes that set a lock's positions, given in degrees.
private func positions(lock: Int, unlock: Int, for generation: Generation) -> [UInt8] {
  switch generation {
  case .os2:
    Sesame3Setting.distinct(
      lock: Int16(clamping: lock * 1024 / 360), unlock: Int16(clamping: unlock * 1024 / 360)
    ).encoded
  case .os3:
    Sesame5Setting(lock: Int16(clamping: lock), unlock: Int16(clamping: unlock)).positions
  }
}
