import Controllers
import Bluetooth
import Conformance
import Sesame
import Basics

/// What a ``RadioWorld`` consists of, from time zero on: the radio, the lock and somebody else.
struct RadioScene: Sendable {
  /// The controllers, in the order in which they are added to the radio.
  private enum Place {
    static let lock = ControllerID(rawValue: 0)
    static let client = ControllerID(rawValue: 1)
    static let thirdParty = ControllerID(rawValue: 2)
  }

  private(set) var now = Instant.zero
  private var radio: Radio
  private var peripheral: LockPeripheral
  private var thirdParty = ThirdPartyCentral()
  /// When the lock and the third-party central must be called next, or never.
  private var lockDue = Instant.never
  private var thirdPartyDue = Instant.never
  private var hasLockPower = true
  /// When the lock comes back into range by itself, or never.
  private var returnTime = Instant.never

  init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    let channel = specification.channel
    radio = Radio(RadioSettings(packetLoss: channel.loss, bursts: channel.bursts), seed: seed)
    for _ in 0..<3 { _ = radio.addController() }
    // What gets lost gets lost on the air.
    var onTheAir = specification
    onTheAir.channel.loss = 0
    peripheral = LockPeripheral(onTheAir, seed: seed)
    peripheral.losesLinksItself = false
  }

  var ownerKey: LockKey { peripheral.ownerKey }
  var address: PeerAddress { peripheral.address }
  var connectionEvents: Int { radio.eventCount(of: Place.client, at: now) }

  /// Starts the lock in a condition; its key, if it is registered.
  mutating func begin(_ start: StartCondition) throws(LabFault) -> LockKey? {
    toLock(peripheral.start(at: now))
    toLock(try peripheral.prepare(start, at: now))
    return peripheral.key
  }

  /// Hands a packet of the client's host to its controller.
  mutating func send(_ packet: HCIPacket) {
    radio.send(packet, to: Place.client, at: now)
  }

  /// Lets time pass up to the next packet for the client's host, or up to a limit.
  mutating func receive(until limit: Instant) -> HCIPacket? {
    while true {
      while let (controller, packet) = radio.nextPacket() {
        switch controller {
        case Place.lock: toLock(peripheral.receive(packet, at: now))
        case Place.thirdParty: toThirdParty(thirdParty.receive(packet, at: now))
        default: return packet
        }
      }
      let others = min(lockDue, thirdPartyDue, returnTime)
      radio.skipRepetitions(until: min(limit, others))
      let next = min(radio.deadline ?? .never, others)
      guard next <= limit, next != .never else {
        // For ever is as long as nothing happens.
        if limit != .never { now = max(now, limit) }
        return nil
      }
      now = max(now, next)
      radio.advance(to: now)
      if returnTime <= now { setReachable(true) }
      if lockDue <= now { toLock(peripheral.advance(to: now)) }
      if thirdPartyDue <= now { toThirdParty(thirdParty.advance(to: now)) }
    }
  }

  private mutating func toLock(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Place.lock, at: now) }
    if peripheral.takeLinkLoss() { radio.loseLinks(of: Place.lock, at: now) }
    lockDue = peripheral.deadline ?? .never
  }

  private mutating func toThirdParty(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Place.thirdParty, at: now) }
    thirdPartyDue = thirdParty.deadline ?? .never
  }
}

extension RadioScene {
  /// Does to the lock what its environment can do.
  mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    toLock(try peripheral.perform(stimulus, arguments, at: now))
  }

  /// Brings about a disturbance: what concerns the air, by means of the air.
  mutating func bring(about fault: Fault) throws(LabFault) {
    if fault.name == Intrusion.fault {
      if let intrusion = try Intrusion(fault), !peripheral.isConnected {
        toThirdParty(thirdParty.intrude(intrusion, on: peripheral, at: now))
      }
      return
    }
    switch try LockFault(fault) {
    case .loseLink:
      peripheral.disturbances.noteStrike()
      radio.loseLinks(of: Place.lock, at: now)
    case .outOfRange(let isAbsent):
      setReachable(!isAbsent)
    case .away(let interval):
      setReachable(false)
      returnTime = now + interval
    case .noPower(true):
      cutPower()
    case .noPower(false):
      restorePower()
    case .powerCycle:
      cutPower()
      restorePower()
    case .advertise(let data):
      guard data.count <= AdvertisingData.legacyCapacity else {
        throw LabFault(.notPossible, "an advertisement carries 31 bytes, not \(data.count)")
      }
      toThirdParty(thirdParty.advertise(data, at: now))
    default:
      toLock(try peripheral.bring(about: fault, at: now))
    }
  }

  /// Whether frames were tampered with, or the link cut, since this was last asked.
  mutating func takeTampering() -> Bool { peripheral.disturbances.takeStrike() }

  private mutating func setReachable(_ isReachable: Bool) {
    returnTime = .never
    radio.setReachable(Place.lock, isReachable, at: now)
  }

  private mutating func cutPower() {
    guard hasLockPower else { return }
    hasLockPower = false
    // Nobody is left to hand the packets to.
    _ = peripheral.losePower(at: now)
    lockDue = peripheral.deadline ?? .never
    radio.setPower(Place.lock, false, at: now)
  }

  private mutating func restorePower() {
    guard !hasLockPower else { return }
    hasLockPower = true
    radio.setPower(Place.lock, true, at: now)
    toLock(peripheral.gainPower(at: now))
  }
}
