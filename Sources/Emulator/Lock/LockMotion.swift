import Sesame
import Basics

// The bolt, the reports of its position, and its history records.

extension EmulatedLock {
  /// Starts or reverses the motor, and publishes the status of the movement, or that the bolt is at its goal
  /// already.
  mutating func drive(to goal: Bolt.Goal, at now: Instant) {
    let wasRunning = bolt.isRunning
    if defects.contains(.calibrationDrifts), bolt.aimError < BoltAngle(degrees: 45) {
      bolt.aimError = bolt.aimError + BoltAngle(degrees: 2)
    }
    if bolt.drive(to: goal, at: now) {
      motorStarts += 1
      battery.actuate()
      memory.staleReading = nil
      memory.isReversed = wasRunning
      autolockDue = nil
      publishStatus(at: now)
    } else if !wasRunning {
      publishStatus(at: now)
    }
  }

  /// Handles the bolt's events that are due.
  mutating func advanceBolt(at now: Instant) {
    switch bolt.advance(to: now) {
    case nil:
      break
    case .entered?:
      publishStatus(at: now)
    case .rested?:
      countAutolock(at: now)
      if memory.isReversed, defects.contains(.restUnpublishedAfterTurnabout) { return }
      publishStatus(at: now)
      if defects.contains(.movingAfterRest), case .open = state {
        var late = reading(at: now)
        late.target = late.position
        send(Publish.mechStatus(status(of: late)).encoded)
      }
    case .stalled?:
      record(.driveFailed, at: now)
      publishStatus(at: now)
    }
  }

  /// Locks after the autolock delay.
  mutating func autolock(at now: Instant) {
    autolockDue = nil
    record(.autolock, at: now)
    drive(to: .locked, at: now)
  }

  /// Starts, continues or stops the autolock timer, according to the bolt's position.
  mutating func countAutolock(at now: Instant) {
    guard storage.autolock > 0, state.hasPower, !bolt.isRunning, !bolt.isStalled,
      bolt.isInUnlockRange(at: now), !bolt.isInLockRange(at: now)
    else {
      autolockDue = nil
      return
    }
    if autolockDue == nil { autolockDue = endOfAutolock(from: now) }
  }

  /// When the timer expires if it starts now.
  private func endOfAutolock(from now: Instant) -> Instant {
    let delay = Interval.seconds(Int64(storage.autolock))
    if defects.contains(.autolockEarly) { return now + Interval(nanoseconds: delay.nanoseconds / 2) }
    if defects.contains(.autolockLate) { return now + delay + delay }
    if defects.contains(.autolockFromLogin), case .open(let session) = state {
      return max(now, session.opened + delay)
    }
    return now + delay
  }

  mutating func turnBolt(to position: BoltState, at now: Instant) {
    let angle = (bolt.positions ?? .quarterTurn).angle(of: position)
    if !bolt.isRunning, !bolt.isStalled, bolt.angle(at: now) == angle { return }
    if defects.contains(.staleStatusAfterHandTurn), !bolt.isRunning, memory.staleReading == nil {
      memory.staleReading = reading(at: now)
    }
    bolt.turn(to: angle, at: now)
    guard state.hasPower else { return }
    countAutolock(at: now)
    switch position {
    case .locked: record(.manualLocked, at: now)
    case .unlocked: record(.manualUnlocked, at: now)
    case .moved: record(.manualElse, at: now)
    }
    if memory.staleReading == nil { publishStatus(at: now) }
  }

  /// Adds a record to the history; the advertisement shows that there are records.
  mutating func record(
    _ type: HistoryType, _ tag: HistoryTag = .absent, at now: Instant
  ) {
    let isFirst = history.isEmpty
    var tag = tag
    if defects.contains(.longTagCut), case .text(let bytes, let origin) = tag {
      tag = .text([UInt8](bytes.prefix(16)), origin)
    }
    if type.hasTag, defects.contains(.tagOfCommandBefore) { swap(&tag, &memory.lastTag) }
    let milliseconds = memory.hasLostTime ? 0 : clock.milliseconds(at: now)
    for _ in 0..<(type.hasTag && defects.contains(.recordTwice) ? 2 : 1) {
      history.append(type, milliseconds: milliseconds, reading: reading(at: now), tag: tag)
    }
    if defects.contains(.recordsExchanged) { history.exchangeLast() }
    if isFirst, generation == .os3, case .advertising = state { actions.append(.advertisingChanged) }
  }
}

extension EmulatedLock {
  /// Publishes the status, if a session is open.
  mutating func publishStatus(at now: Instant) {
    guard case .open = state else { return }
    let current = status(at: now)
    memory.hasFailedRequest = false
    if defects.contains(.statusLagsOneBehind) {
      send(Publish.mechStatus(memory.lastStatus ?? current).encoded)
      memory.lastStatus = current
    } else {
      send(Publish.mechStatus(current).encoded)
    }
  }

  /// Publishes the setting and status that an OS3 client awaits after its login.
  mutating func publishSettingAndStatus(at now: Instant) {
    if options.loginOrder == .statusFirst { publishStatus(at: now) }
    send(Publish.mechSetting(setting).encoded)
    if options.loginOrder == .settingFirst { publishStatus(at: now) }
  }

  /// The reported bolt position: the real one, unless a defect changes it.
  func reading(at now: Instant) -> BoltReading {
    if let stale = memory.staleReading { return stale }
    var reading = BoltReading(position: bolt.angle(at: now), target: bolt.target)
    reading.isClockwise = bolt.isClockwise
    let isInLockRange = bolt.isInLockRange(at: now)
    let isInUnlockRange = bolt.isInUnlockRange(at: now)
    if let goal = bolt.goal {
      // During a movement only the goal's range counts.
      reading.isInLockRange = isInLockRange && goal == .locked
      reading.isInUnlockRange = isInUnlockRange && goal == .unlocked
      if reading.isInLockRange || reading.isInUnlockRange { reading.result = .success }
    } else if bolt.isStalled {
      let isHidden = defects.contains(.jamReportedAsLocked)
      reading.isInLockRange = isHidden
      reading.isCritical = !isHidden
      reading.result = isHidden ? .success : .failedToMove
    } else {
      reading.isInLockRange = isInLockRange
      reading.isInUnlockRange = isInUnlockRange
      if isConfigured, !isInLockRange, !isInUnlockRange, defects.contains(.movedReportedAsUnlocked) {
        reading.isInUnlockRange = true
      }
    }
    return reading
  }

  /// The status as the lock sends it.
  func status(at now: Instant) -> MechStatus {
    status(of: reading(at: now))
  }

  private func status(of reading: BoltReading) -> MechStatus {
    generation == .os2 ? .sesame3(sesame3Status(reading)) : .sesame5(sesame5Status(reading))
  }

  /// The battery's value in a status.
  private func battery(for generation: Generation) -> UInt16 {
    memory.hasFailedRequest ? 0 : battery.raw(for: generation)
  }

  func sesame5Status(_ reading: BoltReading) -> Sesame5Status {
    var flags: Sesame5Status.Flags = reading.target == nil ? .stopped : []
    if reading.isInLockRange { flags.insert(.inLockRange) }
    if reading.isInUnlockRange { flags.insert(.inUnlockRange) }
    if reading.isCritical { flags.insert(.critical) }
    if reading.isClockwise { flags.insert(.clockwise) }
    if battery.isLow { flags.insert(.batteryLow) }
    return Sesame5Status(
      battery: battery(for: .os3), target: reading.target?.degrees ?? noTarget,
      position: reading.position.degrees, flags: flags)
  }

  private func sesame3Status(_ reading: BoltReading) -> Sesame3Status {
    var flags = Sesame3Status.Flags(rawValue: options.statusBits.bits)
    if reading.isInLockRange { flags.insert(.inLockRange) }
    if reading.isInUnlockRange { flags.insert(.inUnlockRange) }
    if battery.isLow { flags.insert(.batteryCritical) }
    return Sesame3Status(
      battery: battery(for: .os2), target: reading.target?.turn1024ths ?? noTarget,
      position: reading.position.turn1024ths, returnCode: reading.result, flags: flags)
  }

  /// The setting as the lock sends it.
  var setting: MechSetting {
    guard generation == .os2 else { return .sesame5(sesame5Setting) }
    guard let positions = bolt.positions else { return .sesame3(.unset) }
    return .sesame3(
      Sesame3Setting(
        lock: positions.lock.turn1024ths, unlock: positions.unlock.turn1024ths,
        lockRange: positions.lockRange.turn1024ths, unlockRange: positions.unlockRange.turn1024ths))
  }

  var sesame5Setting: Sesame5Setting {
    Sesame5Setting(
      lock: bolt.positions?.lock.degrees ?? unsetPosition,
      unlock: bolt.positions?.unlock.degrees ?? unsetPosition,
      autolock: UInt16(storage.autolock))
  }
}

extension BoltPositions {
  /// The angle to which a hand turns the bolt for a state.
  func angle(of state: BoltState) -> BoltAngle {
    switch state {
    case .locked: lock
    case .unlocked: unlock
    case .moved: between
    }
  }
}

extension ClosedRange<BoltAngle> {
  fileprivate var turn1024ths: Sesame3Setting.Range {
    .init(min: lowerBound.turn1024ths, max: upperBound.turn1024ths)
  }
}
