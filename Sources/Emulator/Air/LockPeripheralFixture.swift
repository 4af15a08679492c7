public import Bluetooth
import Links
public import Conformance
import Sesame
public import Basics

// The fixture of the lock: faults and start conditions, as far as its own end of the air allows.

extension LockPeripheral: EmulatedPeripheral {
  /// Its abilities on any controller, without a third party.
  public static var ownAbilities: Abilities {
    var abilities = LockFault.abilities
    abilities.faults = LockFault.names
    return abilities
  }

  /// The start settings that it can establish.
  public static var startSettings: [String] { LockFactory.settings }

  /// Its abilities on our emulated radio.
  public var abilities: Abilities { LockFault.abilities }

  public static var needsThirdParty: Bool { true }

  // Only the client reports observations of it, and it cannot fail.
  public var readings: [String] { [] }
  public var fault: LabFault? { nil }
  public func takeNews() -> Bool { false }
  public func takeObservations() -> [Observation] { [] }
  public func takeDiagnostics() -> [String] { [] }
  public func adopt(_ vocabulary: Vocabulary) {}
  public func restart() {}

  public mutating func takeTampering() -> Bool { disturbances.takeTampering() }

  /// The faults of the air and of another device. On a real controller, ``bring(about:at:)`` approximates
  /// them.
  public func radioFault(_ fault: Fault) throws(LabFault) -> RadioFault? {
    if fault.name == Intrusion.fault {
      guard let intrusion = try Intrusion(fault), !isConnected else { return .nothing }
      return .visit(
        write: writeHandle, notify: notifyHandle,
        frames: intrusion.frames(for: lock.generation, overheard: overheard.frames))
    }
    switch try LockFault(fault) {
    case .link(let fault): return .link(fault)
    case .advertise(let data):
      try Self.checkAdvertisement(data)
      return .advertise(data)
    default: return nil
    }
  }

  private static func checkAdvertisement(_ data: [UInt8]) throws(LabFault) {
    guard data.count <= AdvertisingData.legacyCapacity else {
      throw LabFault(.notPossible, "an advertisement carries 31 bytes, not \(data.count)")
    }
  }

  /// Makes a new lock in a start condition, at its own time zero, and ends any link.
  ///
  /// `registered` and `configured` are `yes` by default; `bolt` is `locked`, `unlocked` or `moved`; `battery` is in
  /// volts; `jam` blocks the bolt. A registered lock has the ``ownerKey``.
  public mutating func prepare(_ start: StartCondition, at now: Instant) throws(LabFault) -> [HCIPacket] {
    lock = try factory.lock(in: start).lock
    origin = now
    disturbances.cancel()
    chance = SeededGenerator(seed: factory.seed, for: "link")
    outOfRange = nil
    overheard.forget()
    foreign.removeAll()
    foreignEnd = .never
    link?.isForgotten = true
    if let link, link.isOpen { end(link.id, .remoteUserTerminated, at: now) }
    advertise(at: now)
    handleEvents(at: now)
    return take()
  }

  /// Turns the bolt by hand.
  public mutating func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?) {
    let bolt = try BoltState(ofStimulus: stimulus)
    carryOut(lock.turnByHand(to: bolt, at: lockTime(now)), at: now)
    return (take(), nil)
  }

  /// Injects a fault.
  ///
  /// | fault | value |
  /// |---|---|
  /// | `drop`, `corrupt`, `duplicate` | `next-notification`, `next-write`, or how many frames of either kind; `no` ends it |
  /// | `delay` | how much longer the next frame takes; those behind it wait |
  /// | `lose-link` | the lock ends the link, with reason 0x15: HCI lets no end pretend a time-out; `after 2 frames` when two more have come or gone |
  /// | `out-of-range` | `yes` or `no`, or for how long; nothing is advertised, frames are held both ways, and after two seconds of it the link ends, with reason 0x15 |
  /// | `no-power` | `yes` or `no`; the link ends, with reason 0x15, and nothing is advertised |
  /// | `power-cycle` | `yes`: the power goes and comes back at once |
  /// | `jam` | `yes` or `no` |
  /// | `battery` | the volts of a new battery |
  /// | `clock` | by how much the lock's clock is put forward, or back |
  /// | `inject` | a frame, in hexadecimal, that the client receives though the lock did not send it |
  /// | `write` | a frame, in hexadecimal, that the lock receives though the client did not send it |
  /// | `advertise` | AD structures, in hexadecimal and at most 31 bytes, advertised in the lock's place for 100 ms |
  public mutating func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket] {
    try bring(about: LockFault(fault), at: now)
    handleEvents(at: now)
    return take()
  }

  mutating func bring(about fault: LockFault, at now: Instant) throws(LabFault) {
    switch fault {
    case .tamper(let tampering): disturbances.add(tampering)
    case .cancel(let kind): disturbances.cancel(kind)
    case .link(.lose):
      disturbances.recordTampering()
      loseLink(at: now)
    case .link(.outOfRange(let isAbsent)): setAbsent(isAbsent, at: now)
    case .link(.away(let interval)): setAbsent(true, returnTime: now + interval, at: now)
    case .link(.noPower(true)): cutPower(at: now)
    case .link(.noPower(false)): restorePower(at: now)
    case .link(.powerCycle):
      cutPower(at: now)
      restorePower(at: now)
    case .jam(let isJammed): carryOut(lock.jam(isJammed, at: lockTime(now)), at: now)
    case .battery(let volts): lock.replaceBattery(volts: volts)
    case .clock(let shift): lock.shiftClock(by: shift, at: lockTime(now))
    case .inject(let frame):
      disturbances.recordTampering()
      try inject(frame, at: now)
    case .write(let frame):
      disturbances.recordTampering()
      if link?.isOpen == true { carryOut(lock.receive(frame, at: lockTime(now)), at: now) }
    case .advertise(let data): try advertise(foreign: data, at: now)
    case .link(.nothing), .nothing: break
    }
  }
}

extension LockPeripheral {
  /// Ends the link before any other packet.
  mutating func loseLink(at now: Instant) {
    guard let link, link.isOpen else { return }
    end(link.id, .remotePowerOff, at: now)
  }

  mutating func setAbsent(_ isAbsent: Bool, returnTime: Instant = .never, at now: Instant) {
    let wasAbsent = outOfRange != nil
    outOfRange =
      isAbsent
      ? OutOfRange(linkEnd: outOfRange?.linkEnd ?? now + Self.supervisionTimeout, returnTime: returnTime)
      : nil
    guard isAbsent != wasAbsent else { return }
    moveFrames(at: now)
    advertise(at: now)
  }

  /// Cuts the lock's power and ends the client's link. A controller reset would be more realistic, with the
  /// client's supervision timeout, but not every substitute for a controller implements that timeout.
  private mutating func cutPower(at now: Instant) {
    loseLink(at: now)
    link?.isForgotten = true
    carryOut(lock.cutPower(at: lockTime(now)), at: now)
  }

  private mutating func restorePower(at now: Instant) {
    carryOut(lock.restorePower(at: lockTime(now)), at: now)
  }

  /// Cuts the power of the lock; its controller has none either.
  public mutating func losePower(at now: Instant) {
    loseController(at: now)
    carryOut(lock.cutPower(at: lockTime(now)), at: now)
    // There is no controller to receive them.
    _ = take()
  }

  /// Restores the power of the lock and of its controller, whose state is lost.
  public mutating func gainPower(at now: Instant) -> [HCIPacket] {
    restorePower(at: now)
    restart(at: now)
    return take()
  }

  /// Delivers a frame to the client that the lock did not send.
  private mutating func inject(_ frame: [UInt8], at now: Instant) throws(LabFault) {
    guard let link, link.isOpen else { return }
    guard frame.count <= link.capacity else {
      throw LabFault(.notPossible, "a notification carries \(link.capacity) bytes here, not \(frame.count)")
    }
    self.link?.toClient.append(.frame(frame), at: now)
    moveFrames(at: now)
  }

  /// Sends a third party's advertisement briefly.
  private mutating func advertise(foreign data: [UInt8], at now: Instant) throws(LabFault) {
    try Self.checkAdvertisement(data)
    foreign.append(
      .init(
        AdvertisingParameters(minimumInterval: 0x0020, maximumInterval: 0x0020, kind: .nonconnectable),
        data: data))
    advertise(at: now)
  }
}
