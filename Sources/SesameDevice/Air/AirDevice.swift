public import Sesame
public import Bluetooth
public import Links
public import Conformance
public import Basics

/// What of a lock on the air is the way to it, and not the lock's: time, secrets, and how long the client waits.
public struct AirDeviceSettings {
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
  /// Whether the end was asked for, so that nothing is waited for any more; never in virtual time, in which nobody waits.
  public var isStopped: (() -> Bool)?
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

/// A lock on the air, real, emulated by another program, or emulated here and used as if it were real, as a device under
/// test.
///
/// The way to the controller, the host and the link go on from test to test; the client is made afresh for each.
/// Trouble on the way is the lab's: after it ``restart()`` brings the controller back, and where that cannot be done
/// every call throws at once.
public final class AirDevice<Transport: HCITransport, Environment: LockEnvironment & AnyObject>:
  DeviceLayer, RecordedDevice
{
  /// The client at the end of the way.
  public var wrapped: ClientDevice<AirLink<Transport, Environment>>
  /// Who can do something to the lock.
  public internal(set) var environment: Environment
  private let settings: AirDeviceSettings
  private var tests = 0
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var diagnostics: [String] = []
  private var recorder: LinkRecorder?
  private let recovery: (any ControllerRecovery<Transport>)?

  /// Joins a client to a lock on the air.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - environment: who can do something to the lock; shared with the caller.
  ///   - target: which lock is meant.
  ///   - recovery: how the controller is brought back; by a reset unless given.
  ///   - diagnostics: what there is to say already.
  public init(
    _ transport: Transport, _ environment: Environment, target: LockTarget, _ settings: AirDeviceSettings,
    recovery: (any ControllerRecovery<Transport>)? = nil, diagnostics: [String] = []
  ) {
    self.environment = environment
    self.settings = settings
    self.recovery = recovery
    let link = AirLink(
      transport, host: settings.host, environment: environment, target: target,
      silenceLimit: settings.silenceLimit)
    wrapped = ClientDevice(link, conditions: settings.conditions, secrets: settings.secrets(0))
    self.diagnostics = (recovery?.takeDiagnostics() ?? []) + diagnostics
  }

  /// Makes the client afresh.
  private func renew(_ link: AirLink<Transport, Environment>) {
    var client = ClientSettings(epoch: settings.epoch())
    client.times = settings.times
    client.numbersRecordsFromOne = settings.numbersRecordsFromOne
    wrapped = ClientDevice(
      link, settings: client, quirks: settings.quirks, conditions: settings.conditions,
      secrets: settings.secrets(tests))
    wrapped.adopt(vocabulary)
    wrapped.record(to: recorder)
  }

  /// What the lock has told of its positions in the session that is open; `nil` where they are not set.
  public var positions: LockPositions? { wrapped.positions }

  public var abilities: Abilities {
    Self.abilities(
      of: settings.generation ?? environment.generation,
      stimuli: environment.stimuli, faults: environment.faults, settings: environment.settings,
      conditions: settings.conditions, slack: settings.slack)
  }

  /// What a lock on the air can serve whose environment can do so much.
  ///
  /// - Parameter generation: the lock's, where it is known.
  public static func abilities(
    of generation: Generation?, stimuli: [String], faults: [String], settings: [String], conditions: [String],
    slack: Interval
  ) -> Abilities {
    typealias Client = ClientDevice<AirLink<Transport, Environment>>
    let faults =
      faults + AirLink<Transport, Environment>.ownFaults + Client.misbehaviourNames
    var abilities = Abilities(
      stimuli: Client.requestNames(of: generation) + stimuli, faults: faults, settings: settings,
      conditions: conditions, reports: Client.reports,
      slack: slack + Client.slack(under: conditions),
      arguments: SesameDisturbances.arguments,
      disturbances: SesameDisturbances.offered(with: faults))
    abilities.particulars = Client.particulars
    return abilities
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
    try lab { () throws(LabFault) in try wrapped.reset(to: start) }
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    if LockFamily.sesame.request(named: vocabulary.stimuli[stimulus.number]) == .register {
      try environment.expectKey()
    }
    try lab { () throws(LabFault) in try wrapped.perform(stimulus) }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    try lab { () throws(LabFault) in try wrapped.bring(about: fault) }
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let isStopped = settings.isStopped else {
      return try lab { () throws(LabFault) in try wrapped.observe(until: limit) }
    }
    // What is waited for on the clock is waited for in pieces: a signal between looking and waiting would else be heard
    // when all of it is over.
    while true {
      if isStopped() { throw LabFault(.stopped, "the end was asked for") }
      let piece = min(limit, now + Self.hearing)
      let shown = try lab { () throws(LabFault) in try wrapped.observe(until: piece) }
      if shown != nil || now >= limit { return shown }
    }
  }

  /// How soon it is heard that the end is asked for.
  private static var hearing: Interval { .milliseconds(50) }

  public func restart() throws(LabFault) {
    guard let recovery else { return try wrapped.restart() }
    if let fault = recovery.fault { throw fault }
    var link = wrapped.link
    diagnostics += link.takeDiagnostics()
    diagnostics += link.recover(recovery.climb)
    renew(link)
    if let fault = recovery.fault { throw fault }
  }

  public func record(to recorder: LinkRecorder?) {
    self.recorder = recorder
    wrapped.record(to: recorder)
  }

  public func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + wrapped.takeDiagnostics()
  }

  /// A controller that does not answer says nothing about the lock behind it, however often it happens.
  private func lab<Result>(_ body: () throws(LabFault) -> Result) throws(LabFault) -> Result {
    if let fault = recovery?.fault { throw fault }
    do {
      return try body()
    } catch {
      switch error.symptom {
      case .noAnswer, .badAnswer, .ended: throw LabFault(.transportLost, error.detail)
      case .noDevice, .transportLost, .programFailed, .notPossible, .linkLost, .notReproduced, .noVerdict,
        .safetyLimit,
        .stopped:
        throw error
      }
    }
  }
}
