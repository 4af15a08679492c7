public import SesameDevice
public import Bluetooth
public import Controllers
public import Conformance
public import Links
public import Sesame
public import Basics

/// An emulated lock, the client's controller and another device on one emulated radio, in virtual time.
///
/// It is both the transport to the client's controller and the lock's fixture. As a fixture it makes a new world for
/// each test: one seed gives one trace, regardless of earlier tests. A lock that is used as if it were real has one
/// world for all tests, which ``prepare(_:)`` makes. Idle time costs nothing: time jumps from one event to the next.
///
/// Use it from one thread only.
public final class RadioWorld<Lock: EmulatedPeripheral> {
  /// The world before each test.
  private let untouched: RadioScene<Lock>
  private var scene: RadioScene<Lock>
  /// The conditions of the model that the air brings about.
  private let conditions: [String]
  /// The virtual time of all earlier worlds.
  private var past = Interval.zero

  /// Makes a world whose lock was not started.
  ///
  /// - Parameter conditions: those of the model that always hold on this air.
  public init(_ lock: Lock, _ settings: RadioSettings, conditions: [String], seed: UInt64) {
    untouched = RadioScene(lock, settings, seed: seed)
    scene = untouched
    self.conditions = conditions
  }

  /// The time since the first world was made.
  public var now: Instant { scene.now + past }

  /// How many connection events the client's links have had so far in this world.
  public var connectionEvents: Int { scene.connectionEvents }

  /// Where the lock advertises.
  public var address: PeerAddress { scene.lock.address }
}

extension RadioWorld: StandaloneTransport {
  public func send(_ packet: HCIPacket) { scene.send(packet) }

  /// As any transport, but that time stops once at each moment at which the lock shows something or fails: `nil` is returned
  /// then before the limit has come.
  public func receive(until limit: Instant) -> HCIPacket? {
    scene.receive(until: limit == .never ? limit : limit - past)
  }

  /// Nothing: what is in memory does not fail.
  public func reopen() {}

  /// Nothing.
  public func close() {}

  public func takeDiagnostics() -> [String] { scene.lock.takeDiagnostics() }
}

/// Faults are those of the lock and of ``LinkFault``. What concerns the air is done by means of the air, unknown to the lock:
/// `lose-link` loses the link at both ends with reason 0x08; `out-of-range`, `no-power` and `power-cycle` let the client notice
/// by its supervision time-out.
extension RadioWorld: Fixture {
  public var abilities: Abilities {
    var abilities = scene.lock.abilities
    abilities.conditions = conditions + abilities.conditions
    return abilities
  }
  public var readings: [String] { scene.lock.readings }
  public var fault: LabFault? { scene.lock.fault }

  /// Makes the world afresh, with the lock in a start condition.
  public func prepare(_ start: StartCondition) throws(LabFault) {
    past = past + (scene.now - .zero)
    scene = untouched
    try scene.begin(start)
  }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    try scene.perform(stimulus, arguments)
  }

  public func bring(about fault: Fault) throws(LabFault) { try scene.bring(about: fault) }
  public func require(everyAdvertisement isRequired: Bool) { scene.needsEveryAdvertisement = isRequired }
  public func takeTampering() -> Bool { scene.takeTampering() }
  public func takeObservations() -> [Observation] { scene.lock.takeObservations() }
  public func adopt(_ vocabulary: Vocabulary) { scene.lock.adopt(vocabulary) }
  public func restart() throws(LabFault) { try scene.lock.restart() }
}

// MARK: - With a lock of ours

extension RadioWorld: OwnerKeys where Lock == LockPeripheral {
  public var key: LockKey? { scene.lock.key }
}

extension RadioWorld where Lock == LockPeripheral {
  /// Makes a world whose lock was not started.
  public convenience init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    let channel = specification.channel
    // The radio loses packets; the lock's own link must not lose them too.
    var onTheAir = specification
    onTheAir.channel.loss = 0
    var lock = LockPeripheral(onTheAir, seed: seed)
    lock.losesLinksItself = false
    self.init(
      lock, RadioSettings(packetLoss: channel.loss, bursts: channel.bursts),
      conditions: channel.isFair ? [] : ["loss"], seed: seed)
  }

  /// A link over this radio, with a host whose address is the client's.
  public func link(target: LockTarget? = nil) -> AirLink<RadioWorld> {
    AirLink(
      self, host: Self.clientHost, fixture: self, keys: self, target: target ?? .deviceID(deviceID),
      generation: scene.lock.specification.model.generation)
  }

  /// The settings of the client's host.
  public static var clientHost: HostSettings { HostSettings(address: .staticRandom(0x0C11_E470_0001)) }

  /// What the lock is known by on the air.
  public var deviceID: UUID128 { scene.lock.ownerKey.deviceID }
}
