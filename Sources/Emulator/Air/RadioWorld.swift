public import SesameDevice
public import Bluetooth
public import Controllers
public import Conformance
public import Links
public import Sesame
public import Basics

/// An emulated lock, the client's controller and another device on one emulated radio, in virtual time.
///
/// It is both the transport to the client's controller and the lock's fixture. As a fixture it makes a new
/// world for each test: one seed gives one trace, regardless of earlier tests. A lock that is used as if it
/// were real has one world for all tests, made by ``prepare(_:)``. Idle time costs nothing: time jumps from
/// one event to the next.
///
/// Use it from one thread only.
public final class RadioWorld<Lock: EmulatedPeripheral> {
  /// The world before each test.
  private let untouched: RadioScene<Lock>
  private var scene: RadioScene<Lock>
  /// The conditions of the model that always hold on this air.
  private let conditions: [String]
  /// The virtual time of all earlier worlds.
  private var timeBeforeScene = Interval.zero

  /// Makes a world whose lock was not started.
  ///
  /// - Parameter conditions: the conditions of the model that always hold on this air.
  public init(_ lock: Lock, _ settings: RadioSettings, conditions: [String], seed: UInt64) {
    untouched = RadioScene(lock, settings, seed: seed)
    scene = untouched
    self.conditions = conditions
  }

  /// The time since the first world began.
  public var now: Instant { scene.now + timeBeforeScene }

  /// The number of the client's connection events so far in this world.
  public var connectionEvents: Int { scene.connectionEvents }

  /// The address under which the lock advertises.
  public var address: PeerAddress { scene.lock.address }
}

extension RadioWorld: StandaloneTransport {
  public func send(_ packet: HCIPacket) { scene.send(packet) }

  /// Receives like any transport, except that it also returns `nil` before the limit, once at each moment
  /// when the lock shows something or fails.
  public func receive(until limit: Instant) -> HCIPacket? {
    scene.receive(until: limit == .never ? limit : limit - timeBeforeScene)
  }

  /// Does nothing: a transport in memory does not fail.
  public func reopen() {}

  /// Does nothing.
  public func close() {}

  public func takeDiagnostics() -> [String] { scene.lock.takeDiagnostics() }
}

/// Faults are those of the lock and of ``LinkFault``. Faults of the air happen on the radio, unknown to the
/// lock: `lose-link` loses the link at both ends with reason 0x08; after `out-of-range`, `no-power` and
/// `power-cycle` the client notices by its supervision timeout.
extension RadioWorld: Fixture {
  public var abilities: Abilities {
    var abilities = scene.lock.abilities
    abilities.conditions = conditions + abilities.conditions
    return abilities
  }
  public var readings: [String] { scene.lock.readings }
  public var fault: LabFault? { scene.lock.fault }

  /// Makes a new world, with the lock in a start condition.
  public func prepare(_ start: StartCondition) throws(LabFault) {
    timeBeforeScene = timeBeforeScene + (scene.now - .zero)
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
    // The radio loses packets; the lock's own link must not lose them as well.
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

  /// The lock's device ID on the air.
  public var deviceID: UUID128 { scene.lock.ownerKey.deviceID }
}
