public import Bluetooth
public import Conformance
public import Sesame
public import Simulation

/// An emulated lock, the client's controller and somebody else's on one emulated radio, in virtual time.
///
/// It has two ends: ``carrier``, the way to the client's controller, and ``surroundings``, which stand around the
/// lock. Each test has a world of its own, made anew: one seed gives one trace, whatever was tested before. Nothing
/// is computed while nothing happens: time jumps from one event to the next.
///
/// Not for more than one thread: both ends belong to one ``AirLink``.
public final class RadioWorld {
  /// The controllers, in the order in which they are added to a radio.
  enum Place {
    static let lock = ControllerID(rawValue: 0)
    static let client = ControllerID(rawValue: 1)
    static let stranger = ControllerID(rawValue: 2)
  }

  private let specification: EmulatedLockSpecification
  private let seed: UInt64
  /// The lock as it is before each test.
  private let untouched: LockPeripheral
  private(set) var radio: Radio
  private(set) var peripheral: LockPeripheral
  private var stranger: Stranger
  /// Time within this world, from zero, and what all worlds before took.
  private(set) var time = Instant.zero
  private var past = Interval.zero
  private var isLockInRange = true
  private var hasLockPower = true

  /// Makes a world whose lock was not started.
  public init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    self.specification = specification
    self.seed = seed
    radio = Self.radio(specification, seed: seed)
    // What gets lost gets lost on the air.
    var onTheAir = specification
    onTheAir.weather.loss = 0
    peripheral = LockPeripheral(onTheAir, seed: seed)
    peripheral.losesLinksItself = false
    untouched = peripheral
    stranger = Stranger()
  }

  private static func radio(_ specification: EmulatedLockSpecification, seed: UInt64) -> Radio {
    var settings = RadioSettings()
    settings.packetLoss = specification.weather.loss
    var radio = Radio(settings, seed: seed)
    for _ in 0..<3 { _ = radio.addController() }
    return radio
  }

  /// The way to the client's controller.
  public var carrier: RadioCarrier { RadioCarrier(world: self) }

  /// Who can do something to the lock and to the air around it.
  public var surroundings: RadioSurroundings { RadioSurroundings(world: self) }

  /// What of the model's circumstances always holds here.
  var circumstances: [String] { specification.weather.isFair ? [] : ["loss"] }

  /// The time since the first world was made.
  public var now: Instant { time + past }

  /// How many connection events the client's links have had so far in this world.
  public var connectionEvents: Int { radio.eventCount(of: Place.client, at: time) }

  /// A link over this radio, with a host whose address is the client's.
  public func link(target: LockTarget? = nil) -> AirLink<RadioCarrier, RadioSurroundings> {
    AirLink(
      carrier, host: HostSettings(address: .staticRandom(0x0C11_E470_0001)), surroundings: surroundings,
      target: target ?? .deviceID(peripheral.ownerKey.deviceID))
  }
}

extension RadioWorld {
  /// Makes the world anew, with the lock in a start condition.
  func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    past = past + (time - .zero)
    time = .zero
    radio = Self.radio(specification, seed: seed)
    peripheral = untouched
    stranger = Stranger()
    isLockInRange = true
    hasLockPower = true
    toLock(peripheral.start(at: time))
    toLock(try peripheral.prepare(start, at: time))
    return peripheral.key
  }

  /// Hands a packet of the client's host to its controller.
  func send(_ packet: HCIPacket) {
    radio.send(packet, to: Place.client, at: time)
  }

  /// Lets time pass up to the next packet for the client's host, or up to a limit.
  func receive(until limit: Instant) -> HCIPacket? {
    let limit = limit == .never ? limit : limit - past
    while true {
      if let packet = deliver() { return packet }
      let next = min(radio.deadline ?? .never, peripheral.deadline ?? .never, stranger.deadline ?? .never)
      guard next <= limit, next != .never else {
        // For ever is as long as nothing happens.
        if limit != .never { time = max(time, limit) }
        return nil
      }
      time = max(time, next)
      pass()
    }
  }

  /// Lets what is due happen.
  private func pass() {
    if let due = radio.deadline, due <= time { radio.advance(to: time) }
    if let due = peripheral.deadline, due <= time { toLock(peripheral.advance(to: time)) }
    if let due = stranger.deadline, due <= time { toStranger(stranger.advance(to: time)) }
  }

  /// Hands out what the controllers have for their hosts, up to a packet for the client's.
  private func deliver() -> HCIPacket? {
    while let (controller, packet) = radio.nextPacket() {
      switch controller {
      case Place.lock: toLock(peripheral.receive(packet, at: time))
      case Place.stranger: toStranger(stranger.receive(packet, at: time))
      default: return packet
      }
    }
    return nil
  }

  private func toLock(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Place.lock, at: time) }
    if peripheral.takeLinkLoss() { radio.loseLinks(of: Place.lock, at: time) }
  }

  private func toStranger(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Place.stranger, at: time) }
  }
}

extension RadioWorld {
  /// Does to the lock what its surroundings can do.
  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    toLock(try peripheral.perform(stimulus, arguments, at: time))
  }

  /// Brings about a disturbance: what concerns the air, by means of the air.
  func bring(about fault: Fault) throws(LabFault) {
    switch try LockFault(fault) {
    case .loseLink:
      radio.loseLinks(of: Place.lock, at: time)
    case .outOfRange(let isAbsent):
      isLockInRange = !isAbsent
      radio.setReachable(Place.lock, isLockInRange, at: time)
    case .noPower(let isWithout):
      isWithout ? cutPower() : restorePower()
    case .powerCycle:
      cutPower()
      restorePower()
    case .advertise(let data):
      guard data.count <= AdvertisingData.legacyCapacity else {
        throw LabFault(.notPossible, "an advertisement carries 31 bytes, not \(data.count)")
      }
      toStranger(stranger.advertise(data, at: time))
    default:
      toLock(try peripheral.bring(about: fault, at: time))
    }
  }

  private func cutPower() {
    guard hasLockPower else { return }
    hasLockPower = false
    peripheral.losePower(at: time)
    _ = peripheral.take()
    radio.setPower(Place.lock, false, at: time)
  }

  private func restorePower() {
    guard !hasLockPower else { return }
    hasLockPower = true
    radio.setPower(Place.lock, true, at: time)
    peripheral.gainPower(at: time)
    toLock(peripheral.take())
  }
}

/// The way to the client's controller on an emulated radio.
public struct RadioCarrier: HCICarrier {
  let world: RadioWorld

  public var now: Instant { world.now }

  public mutating func send(_ packet: HCIPacket) { world.send(packet) }

  public mutating func receive(until limit: Instant) -> HCIPacket? { world.receive(until: limit) }

  /// Nothing: what is in memory does not fail.
  public mutating func reopen() {}

  /// Nothing.
  public mutating func close() {}
}

/// What stands around a lock on an emulated radio.
///
/// Faults are those of ``LockPeripheral/bring(about:at:)``. What concerns the air is done by means of the air, with
/// the lock none the wiser: `lose-link` loses the link at both ends with reason 0x08; `out-of-range`, `no-power` and
/// `power-cycle` let the client notice by its supervision time-out; `advertise` is somebody else's.
public struct RadioSurroundings: LockSurroundings {
  let world: RadioWorld

  public var faults: [String] { LockPeripheral.faults }
  public var stimuli: [String] { LockPeripheral.stimuli }
  public var settings: [String] { LockPeripheral.settings }
  public var circumstances: [String] { world.circumstances }

  /// Makes the world anew, with the lock in a start condition.
  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    try world.prepare(start)
  }

  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    try world.perform(stimulus, arguments)
  }

  public mutating func bring(about fault: Fault) throws(LabFault) { try world.bring(about: fault) }

  /// Nothing: the lock's key is known here.
  public mutating func keep(_ key: LockKey) {}

  /// Nothing.
  public mutating func drop(_ key: LockKey) {}
}
