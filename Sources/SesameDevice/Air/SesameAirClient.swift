public import Sesame
public import Bluetooth
public import Links
public import Conformance
public import Basics

/// The settings of the connection to a Sesame on the air, as opposed to those of the lock: times, secrets,
/// timeouts.
public struct SesameAirSettings {
  /// The timeouts of the client.
  public var times = ClientTimes()
  /// The conditions of the model that always hold.
  public var conditions: [String]
  /// The lock's generation, if known.
  public var generation: Generation?
  /// The lock's known violations of its protocol.
  public var quirks: [SesameViolation] = []
  /// The maximum delay of an observation, in addition to that of the link: on real air, this program and the
  /// transport take time. Zero in virtual time.
  public var slack: Interval
  /// The settings of the client's host.
  public var host: HostSettings
  /// The silence after which the controller is checked; `nil` for one that cannot fail silently.
  public var silenceLimit: Interval?
  /// See ``ClientSettings/numbersRecordsFromOne``.
  public var numbersRecordsFromOne = false
  /// Returns the Unix time at the start of a test.
  public var epoch: () -> UInt32
  /// Returns the factory of the client's keys and tokens for a test, by its number from 1: no two tests use the
  /// same.
  public var secrets: (_ test: Int) -> @Sendable () -> any SecretSource & Sendable

  /// Creates settings.
  public init(
    conditions: [String], slack: Interval, host: HostSettings, silenceLimit: Interval? = nil,
    epoch: @escaping () -> UInt32,
    secrets: @escaping (_ test: Int) -> @Sendable () -> any SecretSource & Sendable
  ) {
    self.conditions = conditions
    self.slack = slack
    self.host = host
    self.silenceLimit = silenceLimit
    self.epoch = epoch
    self.secrets = secrets
  }
}

/// The client of a Sesame on the air. The link persists from test to test; each test has a new client.
public final class SesameAirClient<Transport: HCITransport>: DeviceLayer, AirClient, RecordedDevice {
  /// The client on the link.
  public var wrapped: ClientDevice<AirLink<Transport>>
  private let keys: any OwnerKeys
  private let settings: SesameAirSettings
  private var tests = 0
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var recorder: LinkNotes?

  /// Connects a client to a lock on the air.
  ///
  /// - Parameters:
  ///   - transport: the transport to the client's controller.
  ///   - fixture: the fixture of the lock.
  ///   - keys: the store of the owner's key.
  ///   - target: identifies the lock.
  public init(
    _ transport: Transport, _ fixture: any Fixture, _ keys: any OwnerKeys, target: LockTarget,
    _ settings: SesameAirSettings
  ) {
    self.keys = keys
    self.settings = settings
    let link = AirLink(
      transport, host: settings.host, fixture: fixture, keys: keys, target: target,
      silenceLimit: settings.silenceLimit)
    wrapped = ClientDevice(link, conditions: settings.conditions, secrets: settings.secrets(0))
  }

  /// Creates a new client on the link.
  private func renew(_ link: AirLink<Transport>) {
    var client = ClientSettings(epoch: settings.epoch())
    client.times = settings.times
    client.numbersRecordsFromOne = settings.numbersRecordsFromOne
    wrapped = ClientDevice(
      link, settings: client, quirks: settings.quirks, conditions: settings.conditions,
      secrets: settings.secrets(tests))
    wrapped.adopt(vocabulary)
    wrapped.record(to: recorder)
  }

  public var abilities: Abilities {
    Self.abilities(
      of: settings.generation, around: wrapped.link.fixture.abilities, conditions: settings.conditions,
      slack: settings.slack)
  }

  /// Returns the abilities of a lock on the air with such a fixture.
  ///
  /// - Parameter generation: the lock's generation, if known.
  public static func abilities(
    of generation: Generation?, around fixture: Abilities, conditions: [String], slack: Interval
  ) -> Abilities {
    ClientDevice<AirLink<Transport>>.abilities(
      of: generation, around: AirLink<Transport>.abilities(around: fixture), conditions: conditions,
      slack: slack)
  }

  /// If the client itself has no explanation for a silence, other devices on the air may provide one.
  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    wrapped.explanation(ofSilence: isSilent) ?? (isSilent ? wrapped.link.explanationOfSilence : nil)
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    wrapped.adopt(vocabulary)
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    tests += 1
    renew(wrapped.link)
    try wrapped.reset(to: start)
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    if LockFamily.sesame.request(named: vocabulary.stimuli[stimulus.number]) == .register {
      try keys.verifyStorage()
    }
    try wrapped.perform(stimulus)
  }

  public func recover(
    _ body: (inout Central<Transport>) throws(LabFault) -> [String]
  ) throws(LabFault) -> [String] {
    var link = wrapped.link
    defer { renew(link) }
    return try link.recover(body)
  }

  public func record(to recorder: LinkNotes?) {
    self.recorder = recorder
    wrapped.record(to: recorder)
  }
}

extension SesameAirClient: OwnedLock {
  public var positions: LockPositions? { wrapped.positions }

  /// The lock's positions.
  public var configuration: [Argument]? {
    positions.map { [Argument("lock", .integer($0.lock)), Argument("unlock", .integer($0.unlock))] }
  }
  public var isRegistered: Bool { keys.key != nil }
  public func recallKey() throws(LabFault) -> Bool { try keys.recall() }
  public func dropRecalledKey() throws(LabFault) { try keys.dropRecalled() }
}
