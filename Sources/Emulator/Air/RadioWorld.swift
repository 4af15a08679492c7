public import SesameDevice
public import Bluetooth
public import Conformance
public import Sesame
public import Basics

/// An emulated lock, the client's controller and somebody else's on one emulated radio, in virtual time.
///
/// It is both ends of an ``AirLink``: the way to the client's controller, and what stands around the lock. With those,
/// each test has a world of its own, made anew: one seed gives one trace, whatever was tested before. A lock that is used
/// as if it were real has one world for all tests, which ``prepare(_:)`` makes. Nothing is computed while nothing happens:
/// time jumps from one event to the next.
///
/// Not for more than one thread: both ends belong to one ``AirLink``.
public final class RadioWorld {
  private let specification: EmulatedLockSpecification
  /// The world before each test.
  private let untouched: RadioScene
  private var scene: RadioScene
  /// What all worlds before took.
  private var past = Interval.zero

  /// Makes a world whose lock was not started.
  public init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    self.specification = specification
    untouched = RadioScene(specification, seed: seed)
    scene = untouched
  }

  /// The time since the first world was made.
  public var now: Instant { scene.now + past }

  /// How many connection events the client's links have had so far in this world.
  public var connectionEvents: Int { scene.connectionEvents }

  /// Where the lock advertises.
  public var address: PeerAddress { untouched.address }

  /// A link over this radio, with a host whose address is the client's.
  public func link(target: LockTarget? = nil) -> AirLink<RadioWorld, RadioWorld> {
    AirLink(self, host: Self.clientHost, environment: self, target: target ?? .deviceID(deviceID))
  }

  /// The settings of the client's host.
  public static let clientHost = HostSettings(address: .staticRandom(0x0C11_E470_0001))

  /// What the lock is known by on the air.
  public var deviceID: UUID128 { untouched.ownerKey.deviceID }
}

extension RadioWorld: StandaloneTransport {
  public func send(_ packet: HCIPacket) { scene.send(packet) }

  public func receive(until limit: Instant) -> HCIPacket? {
    scene.receive(until: limit == .never ? limit : limit - past)
  }

  /// Nothing: what is in memory does not fail.
  public func reopen() {}

  /// Nothing.
  public func close() {}
}

/// Faults are those of ``LockPeripheral/bring(about:at:)``. What concerns the air is done by means of the air, with
/// the lock none the wiser: `lose-link` loses the link at both ends with reason 0x08; `out-of-range`, `no-power` and
/// `power-cycle` let the client notice by its supervision time-out; `advertise` is somebody else's, who can also
/// connect to the lock: `thirdParty`, as on a ``DirectLink``.
extension RadioWorld: LockEnvironment {
  public var faults: [String] { LockPeripheral.faults + [Intrusion.fault] }
  public var stimuli: [String] { LockPeripheral.stimuli }
  public var settings: [String] { LockPeripheral.settings }
  public var generation: Generation? { specification.model.generation }
  public var conditions: [String] { specification.channel.isFair ? [] : ["loss"] }

  /// Makes the world anew, with the lock in a start condition; gives its key if it is registered.
  public func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    past = past + (scene.now - .zero)
    scene = untouched
    return try scene.begin(start)
  }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    try scene.perform(stimulus, arguments)
  }

  public static func check(_ fault: Fault) throws(LabFault) { try LockFault.check(fault) }

  public func bring(about fault: Fault) throws(LabFault) { try scene.bring(about: fault) }

  public func takeTampering() -> Bool { scene.takeTampering() }

  /// Nothing: the lock's key is known here.
  public func keep(_ key: LockKey) {}

  /// Nothing.
  public func drop(_ key: LockKey) {}
}
