public import Sesame
public import Bluetooth
public import Links
public import Conformance
public import Basics

/// What of a Sesame on the air is the way to it, and not the lock's: time, secrets, and how long the client waits.
public struct SesameAirSettings {
  /// How long the client waits.
  public var times = ClientTimes()
  /// What of the model's conditions always holds.
  public var conditions: [String]
  /// Which generation the lock is of, where that is known.
  public var generation: Generation?
  /// What the lock is known to do though its protocol forbids it.
  public var quirks: [SesameViolation] = []
  /// How much later than it happened something may be observed, beside what the link holds up: on real air this program
  /// and the way to the controller take their time. Zero in virtual time.
  public var slack: Interval
  /// The client's Bluetooth.
  public var host: HostSettings
  /// After which silence the controller is asked for a sign of life; `nil` where it cannot fail in silence.
  public var silenceLimit: Interval?
  /// See ``ClientSettings/numbersRecordsFromOne``.
  public var numbersRecordsFromOne = false
  /// Tells the Unix time at the start of a test.
  public var epoch: () -> UInt32
  /// Makes the client's source of keys and tokens for a test, by its number from 1 on: no two tests have the same.
  public var secrets: (_ test: Int) -> @Sendable () -> any SecretSource & Sendable

  /// Makes settings.
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

/// The client of a Sesame on the air. The link goes on from test to test; the client on it is made afresh for each.
public final class SesameAirClient<Transport: HCITransport>: DeviceLayer, AirClient, RecordedDevice {
  /// The client at the end of the way.
  public var wrapped: ClientDevice<AirLink<Transport>>
  private let keys: any OwnerKeys
  private let settings: SesameAirSettings
  private var tests = 0
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var recorder: LinkNotes?

  /// Joins a client to a lock on the air.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - fixture: what stands around the lock.
  ///   - keys: what keeps the key of its owner.
  ///   - target: which lock is meant.
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

  /// Makes the client afresh.
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

  /// What a lock on the air can serve around which so much can be done.
  ///
  /// - Parameter generation: the lock's, where it is known.
  public static func abilities(
    of generation: Generation?, around fixture: Abilities, conditions: [String], slack: Interval
  ) -> Abilities {
    ClientDevice<AirLink<Transport>>.abilities(
      of: generation, around: AirLink<Transport>.abilities(around: fixture), conditions: conditions,
      slack: slack)
  }

  /// Where the client itself knows of no reason for a silence, what else is heard may be one.
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

  /// Its positions.
  public var configuration: [Argument]? {
    positions.map { [Argument("lock", .integer($0.lock)), Argument("unlock", .integer($0.unlock))] }
  }
  public var isRegistered: Bool { keys.key != nil }
  public func recallKey() throws(LabFault) -> Bool { try keys.recall() }
  public func dropRecalledKey() throws(LabFault) { try keys.dropRecalled() }
}
