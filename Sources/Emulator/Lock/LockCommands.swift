import Bluetooth
public import Sesame
import Basics

// The commands of a session.

extension EmulatedLock {
  mutating func carryOut(_ command: LockCommand, for request: Request, at now: Instant) {
    switch command {
    case .lock(let tag):
      work(.locked, tag, for: request, inClear: false, at: now)
    case .unlock(let tag):
      work(.unlocked, tag, for: request, inClear: false, at: now)
    case .setMechSetting(let bytes, _):
      configure(bytes, for: request, at: now)
    case .setAutolock(let seconds, _):
      setAutolock(seconds, for: request, at: now)
    case .readHistory(let byte):
      readHistory(byte, for: request)
    case .deleteHistory(let id) where generation == .os3:
      deleteHistory(id, for: request)
    case .setTime(let time):
      setTime(time, for: request, at: now)
    case .reset:
      reset(for: request, at: now)
    case .readMechStatus where generation == .os3 && options.statusRead == .silent:
      break
    case .register, .login, .readIdentity:
      respond(to: request, .invalidAction)
    default:
      answer(command, for: request, at: now)
    }
  }

  /// Responds to requests that change little or nothing.
  private mutating func answer(
    _ command: LockCommand, for request: Request, at now: Instant
  ) {
    var data: [UInt8] = []
    switch command {
    case .readAutolock where generation == .os2:
      data.append(littleEndian: storage.autolock)
      respond(to: request, .success, data)
    case .readMechStatus:
      respond(to: request, .success, status(at: now).encoded)
    case .readVersion:
      respond(to: request, .success, version)
    case .setSignedTime where generation == .os2 && options.firmware == .old:
      // The server signs with a key that no emulator has.
      respond(to: request, .invalidSignature)
    case .calibrateMagnet where generation == .os3:
      respond(to: request)
      publishStatus(at: now)
    case .setOpenSensorDelay(let seconds) where generation == .os3:
      respond(to: request)
      data.append(littleEndian: seconds)
      send(Publish(.openSensorDelay, data).encoded)
    default:
      respond(to: request, .notSupported)
    }
  }

  private var version: [UInt8] {
    FirmwareVersion.emulated(generation).encoded(for: options.versionText == .detailed ? .os2 : generation)
  }

  /// Whether a client's clock may plausibly show a time.
  func isPlausible(_ time: UInt32) -> Bool {
    options.appTime == .any || (1_420_070_400..<UInt32.max).contains(time)
  }
}

extension EmulatedLock {
  /// Locks or unlocks.
  mutating func work(
    _ goal: Bolt.Goal, _ tag: HistoryTag, for request: Request, inClear: Bool, at now: Instant
  ) {
    if generation == .os3, request.data.isEmpty, options.emptyTag == .refused { return end() }
    guard isConfigured else { return respond(to: request, .invalidAction, inClear: inClear) }
    guard !bolt.isRunning || options.whileMoving == .turn else {
      return respond(to: request, .busy, inClear: inClear)
    }
    let isLock = goal == .locked
    let isDeaf = !isLock && hearsNoUnlock
    let stopsHalfway = isLock && stopsBetween
    if options.answerOrder == .first { respond(to: request, inClear: inClear) }
    defer { if options.answerOrder == .last { respond(to: request, inClear: inClear) } }
    memory.accept(isLock ? .lock : .unlock)
    record(
      isLock ? .bleLock : .bleUnlock, defects.contains(.historyTagMissing) ? .absent : tag, at: now)
    if isDeaf { return }
    drive(to: stopsHalfway ? .between : goal, at: now)
  }

  /// Whether ``LockDefect/deafUnlock`` is due.
  private var hearsNoUnlock: Bool {
    defects.contains(.deafUnlock) && memory.wasReset && memory.recent.0 == .lock
      && (memory.recent.1 == .login || memory.recent.1 == .configure)
  }

  /// Whether ``LockDefect/jamAfterAbortedLogins`` is due.
  private var stopsBetween: Bool {
    guard defects.contains(.jamAfterAbortedLogins), memory.abortedBeforeLogin >= 4 else { return false }
    let (last, before, first) = memory.recent
    return first == .login && (before == .unlock && last == .lock || before == .lock && last == .unlock)
  }

  private mutating func configure(
    _ bytes: [UInt8], for request: Request, at now: Instant
  ) {
    guard let positions = positions(from: bytes) else {
      return respond(to: request, .invalidParameter)
    }
    bolt.positions = positions
    memory.accept(.configure)
    if options.answerOrder == .first { respond(to: request) }
    defer { if options.answerOrder == .last { respond(to: request) } }
    record(.mechSettingUpdated, at: now)
    countAutolock(at: now)
    send(Publish.mechSetting(setting).encoded)
    publishStatus(at: now)
  }

  private func positions(from bytes: [UInt8]) -> BoltPositions? {
    var reader = ByteReader(bytes.span)
    switch generation {
    case .os2:
      guard let setting = try? Sesame3Setting(decoding: &reader) else { return nil }
      return BoltPositions(
        lock: setting.lock, unlock: setting.unlock,
        lockRange: (setting.lockRange.min, setting.lockRange.max),
        unlockRange: (setting.unlockRange.min, setting.unlockRange.max))
    case .os3:
      guard let lock = try? reader.i16(), let unlock = try? reader.i16() else { return nil }
      return BoltPositions(lockDegrees: lock, unlockDegrees: unlock)
    }
  }

  private mutating func setAutolock(
    _ seconds: Int16, for request: Request, at now: Instant
  ) {
    guard seconds >= 0 else { return respond(to: request, .invalidParameter) }
    respond(to: request)
    record(.autolockUpdated, at: now)
    if defects.contains(.autolockChangeIgnored) { return }
    storage.autolock = seconds
    if seconds == 0, defects.contains(.autolockOutlivesOff) { return }
    let isVaried = defects.contains(.autolockStartVaries) && seconds > 10
    if seconds > 0, options.autolockStart == .nextUnlocking || isVaried { return }
    autolockDue = nil
    countAutolock(at: now)
  }

  private mutating func setTime(
    _ time: UInt32, for request: Request, at now: Instant
  ) {
    if generation == .os2, options.firmware == .old { return respond(to: request, .notSupported) }
    guard isPlausible(time) else { return respond(to: request, .invalidParameter) }
    setClock(unix: time, at: now)
    respond(to: request)
    record(.timeChanged, at: now)
  }

  /// Sets the clock to a client's time.
  mutating func setClock(unix time: UInt32, at now: Instant) {
    let isBack = time < clock.seconds(at: now)
    if isBack, defects.contains(.recordTimeLost) { memory.hasLostTime = true }
    if isBack, defects.contains(.clockNeverSetBack) { return }
    clock.set(unix: time, at: now)
  }

  /// Deletes the owner with all related data, and restarts.
  private mutating func reset(for request: Request, at now: Instant) {
    respond(to: request)
    memory.wasReset = true
    memory.accept(.other)
    endSession()
    if defects.contains(.oldKeyAcceptedAfterReset), let owner = storage.owner {
      memory.formerOwners.append(owner)
    }
    let autolock = storage.autolock
    storage = Storage(owner: defects.contains(.resetKeepsKey) ? storage.owner : nil)
    if defects.contains(.autolockOutlivesReset) { storage.autolock = autolock }
    bolt.cutPower(at: now)
    if options.positions == .forgotten { bolt.positions = nil }
    autolockDue = nil
    if !defects.contains(.historyOutlivesReset) { history.removeAll() }
    state = .restartPending(until: now + Self.resetDelay)
  }
}

extension EmulatedLock {
  /// Sends the oldest record, and deletes it if the byte requests that.
  private mutating func readHistory(_ byte: UInt8, for request: Request) {
    if generation == .os2, options.firmware == .old { return respond(to: request, .notSupported) }
    guard let oldest = history.oldest else { return respond(to: request, .notFound) }
    respond(to: request, .success, encoded(oldest))
    let isOne = byte != 0
    let deletesOnOne = (generation == .os2) != (options.historyByte == .inverted)
    if isOne == deletesOnOne, !defects.contains(.historyNeverEmpties) { history.removeOldest() }
  }

  private mutating func deleteHistory(_ id: UInt32, for request: Request) {
    let exists =
      defects.contains(.historyNeverEmpties) ? history.oldest?.id == id : history.remove(id: id)
    respond(to: request, exists ? .success : .notFound)
  }

  private func encoded(_ record: LockHistory.Record) -> [UInt8] {
    switch generation {
    case .os2:
      OS2HistoryRecord(
        id: Int32(bitPattern: record.id), type: record.type, milliseconds: record.milliseconds,
        content: content(of: record)
      ).encoded
    case .os3:
      OS3HistoryRecord(
        id: record.id, type: record.type, seconds: UInt32(truncatingIfNeeded: record.milliseconds / 1000),
        status: sesame5Status(record.reading), tag: record.tag
      ).encoded
    }
  }

  private func content(of record: LockHistory.Record) -> OS2HistoryRecord.Content {
    if record.type.hasTag { return .command(deviceKey: Self.noDeviceKey, record.tag) }
    guard record.type == .driveFailed else { return .other([]) }
    let flags: UInt8 = (record.reading.isInLockRange ? 1 : 0) | (record.reading.isInUnlockRange ? 2 : 0)
    return .driveFailed(
      position: record.reading.position.turn1024ths, code: Int8(bitPattern: record.reading.result.rawValue),
      flags: flags)
  }

  /// A record's field for the key that logged in; it is unknown which part of the key it contains.
  private static let noDeviceKey = [UInt8](repeating: 0, count: 16)
}

extension FirmwareVersion {
  /// The firmware version that an emulated lock reports.
  public static func emulated(_ generation: Generation) -> FirmwareVersion {
    FirmwareVersion(
      buildTime: 1_600_000_000, text: generation == .os2 ? "0a1b2c3d4e5f" : "3.0-5-a1b2c3")
  }
}
