import Controllers
import Bluetooth
import Conformance
import Basics

/// The contents of a ``RadioWorld`` from time zero on: the radio, an emulated lock and another device.
struct RadioScene<Lock: EmulatedPeripheral> {
  /// The controllers, in the order in which they are added to the radio.
  private enum Port {
    static var lock: ControllerID { ControllerID(rawValue: 0) }
    static var client: ControllerID { ControllerID(rawValue: 1) }
    static var thirdParty: ControllerID { ControllerID(rawValue: 2) }
  }

  private(set) var now = Instant.zero
  /// The lock. Methods that return packets for its controller are called by the scene only.
  var lock: Lock
  /// Whether the client needs every advertisement, so that none may be skipped.
  var needsEveryAdvertisement = false
  private var radio: Radio
  private var thirdParty = ThirdPartyCentral()
  /// When the lock and the third-party central are due, or never.
  private var lockDue = Instant.never
  private var thirdPartyDue = Instant.never
  private var hasLockPower = true
  /// When the lock returns into range by itself, or never.
  private var returnTime = Instant.never
  /// The number of data packets after which the link is lost, and until when that applies.
  private var pendingLoss: (packets: Int, until: Instant)?
  /// Whether the link was cut since the last query.
  private var isCut = false

  init(_ lock: Lock, _ settings: RadioSettings, seed: UInt64) {
    self.lock = lock
    radio = Radio(settings, seed: seed)
    for _ in 0..<(Lock.needsThirdParty ? 3 : 2) { _ = radio.addController() }
  }

  /// How long a packet count may lose the link: it concerns the packets that are on their way.
  private static var countedLossTime: Interval { .milliseconds(500) }

  var connectionEvents: Int { radio.eventCount(of: Port.client, at: now) }

  /// Starts the lock in a condition.
  mutating func begin(_ start: StartCondition) throws(LabFault) {
    // Earlier observations belong to no test.
    _ = lock.takeNotices()
    toLock(lock.start(at: now))
    toLock(try lock.prepare(start, at: now))
  }

  /// Passes a packet from the client's host to its controller.
  mutating func send(_ packet: HCIPacket) {
    radio.send(packet, to: Port.client, at: now)
  }

  /// Lets time pass up to the next packet for the client's host, or up to a limit. Returns `nil` before the
  /// limit at a moment when the lock has shown something or failed.
  mutating func receive(until limit: Instant) -> HCIPacket? {
    while true {
      while let (controller, packet) = radio.nextPacket() {
        if pendingLoss != nil { count(packet) }
        switch controller {
        case Port.lock:
          toLock(lock.receive(packet, at: now))
          if lock.takeNews() { return nil }
        case Port.thirdParty: toThirdParty(thirdParty.receive(packet, at: now))
        default: return packet
        }
      }
      if lock.takeNews() { return nil }
      let others = min(lockDue, thirdPartyDue, returnTime)
      if !needsEveryAdvertisement { radio.skipRepetitions(until: min(limit, others)) }
      let next = min(radio.deadline ?? .never, others)
      guard next <= limit, next != .never else {
        // Without events, the limit is never reached.
        if limit != .never { now = max(now, limit) }
        return nil
      }
      now = max(now, next)
      radio.advance(to: now)
      if returnTime <= now { setReachable(true) }
      if lockDue <= now { toLock(lock.advance(to: now)) }
      if thirdPartyDue <= now { toThirdParty(thirdParty.advance(to: now)) }
    }
  }

  private mutating func toLock(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Port.lock, at: now) }
    if lock.takeLinkLoss() { radio.loseLinks(of: Port.lock, at: now) }
    lockDue = lock.deadline ?? .never
  }

  private mutating func toThirdParty(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Port.thirdParty, at: now) }
    thirdPartyDue = thirdParty.deadline ?? .never
  }
}

extension RadioScene {
  /// Performs one of the lock's stimuli.
  ///
  /// - Returns: why the lock refuses it, if it does.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    let (packets, refusal) = try lock.perform(stimulus, arguments, at: now)
    toLock(packets)
    return refusal
  }

  /// Injects a fault; a fault of the air happens on the radio, unknown to the lock.
  mutating func bring(about fault: Fault) throws(LabFault) {
    switch try lock.radioFault(fault) {
    case nil: toLock(try lock.bring(about: fault, at: now))
    case .link(let fault): bring(about: fault)
    case .advertise(let data): toThirdParty(thirdParty.advertise(data, at: now))
    case .visit(let write, let notify, let frames):
      toThirdParty(thirdParty.visit(lock.address, write: write, notify: notify, frames: frames, at: now))
    case .nothing: break
    }
  }

  private mutating func bring(about fault: LinkFault) {
    switch fault {
    case .lose(afterPackets: 0): loseLink()
    case .lose(let packets): pendingLoss = (packets, now + Self.countedLossTime)
    case .outOfRange(let isAbsent): setReachable(!isAbsent)
    case .away(let interval):
      setReachable(false)
      returnTime = now + interval
    case .noPower(let isMissing): setPower(!isMissing)
    case .powerCycle:
      setPower(false)
      setPower(true)
    case .nothing: break
    }
  }

  /// Removes and returns whether frames were tampered with, or the link was cut.
  mutating func takeTampering() -> Bool {
    defer { isCut = false }
    return lock.takeTampering() || isCut
  }

  /// Counts a packet that arrived at either end.
  private mutating func count(_ packet: HCIPacket) {
    guard case .acl = packet, let pending = pendingLoss else { return }
    pendingLoss = now > pending.until ? nil : (pending.packets - 1, pending.until)
    if pendingLoss?.packets == 0 { loseLink() }
  }

  private mutating func loseLink() {
    pendingLoss = nil
    isCut = true
    radio.loseLinks(of: Port.lock, at: now)
  }

  private mutating func setReachable(_ isReachable: Bool) {
    returnTime = .never
    radio.setReachable(Port.lock, isReachable, at: now)
  }

  private mutating func setPower(_ isOn: Bool) {
    guard isOn != hasLockPower else { return }
    hasLockPower = isOn
    if isOn {
      radio.setPower(Port.lock, true, at: now)
      toLock(lock.gainPower(at: now))
    } else {
      lock.losePower(at: now)
      lockDue = lock.deadline ?? .never
      radio.setPower(Port.lock, false, at: now)
    }
  }
}
