import Bluetooth
public import Conformance
public import Sesame
public import Simulation

/// A lock on the air, real or emulated by another program, as a device under test.
///
/// The way to the controller, the host and the link go on from test to test; the client is made anew for each. What
/// comes over the air is observed up to ``slack`` late. Trouble on the way is the lab's: after it ``restart()`` climbs the
/// ladder of the controller (``Recovery``), and when no rung of that helps every call throws at once.
public final class AirDevice<Surroundings: LockSurroundings>: DeviceUnderTest, RecordedDevice {
  /// How much later than it happened something may be observed, beside what the link holds up: this program and the
  /// way to the controller take their time.
  public static var slack: Interval { .milliseconds(300) }

  private var device: SesameDevice<AirLink<Carrier, Surroundings>>
  private let surroundings: Surroundings
  private let times: ClientTimes
  private let quirks: [SesameViolation]
  private let circumstances: [String]
  /// The Unix time at the start of a test; the real one unless the lock's clock is emulated.
  private let epoch: UInt32?
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var remarks: [String] = []
  private var recorder: LinkRecorder?
  private let recovery: Recovery

  /// Joins a client to a lock on the air.
  ///
  /// - Parameters:
  ///   - carrier: the way to the client's controller.
  ///   - surroundings: who can do something to the lock, which must be a class: it is shared with the caller.
  ///   - target: which lock is meant.
  ///   - times: how long the client waits.
  ///   - quirks: what the lock is known to do though its protocol forbids it.
  ///   - circumstances: what of the model's circumstances always holds.
  ///   - epoch: the Unix time at the start of each test; `nil` for the real one.
  ///   - recovery: how the controller is brought back; by all but its power unless given.
  public init(
    _ carrier: Carrier, _ surroundings: Surroundings, target: LockTarget, times: ClientTimes,
    quirks: [SesameViolation] = [], circumstances: [String], epoch: UInt32? = nil, recovery: Recovery? = nil
  ) where Surroundings: AnyObject {
    self.surroundings = surroundings
    self.times = times
    self.quirks = quirks
    self.circumstances = circumstances
    self.epoch = epoch
    self.recovery = recovery ?? Recovery(of: carrier.spec)
    // That a controller is silent and cannot be brought back is known after five seconds.
    var host = HostSettings(address: .staticRandom(SystemEntropy().next()))
    host.commandTimeout = .milliseconds(1200)
    var link = AirLink(carrier, host: host, surroundings: surroundings, target: target)
    link.patience = .seconds(1)
    device = Self.device(link, ClientSettings(), circumstances)
    remarks = self.recovery.takeRemarks()
    if let lone = surroundings as? LoneLock {
      remarks += lone.file.leftovers.map { "\($0) was left by a run that was killed while it kept a key" }
    }
  }

  private static func device(
    _ link: AirLink<Carrier, Surroundings>, _ settings: ClientSettings, _ circumstances: [String]
  ) -> SesameDevice<AirLink<Carrier, Surroundings>> {
    SesameDevice(link, settings: settings, circumstances: circumstances, secrets: { SystemEntropy() })
  }

  public var now: Instant { device.now }

  public var abilities: Abilities {
    Self.abilities(
      stimuli: surroundings.stimuli, faults: surroundings.faults, settings: surroundings.settings,
      circumstances)
  }

  /// What a lock on the air can serve whose surroundings can do so much.
  public static func abilities(
    stimuli: [String], faults: [String], settings: [String], _ circumstances: [String]
  ) -> Abilities {
    typealias Client = SesameDevice<AirLink<Carrier, Surroundings>>
    let faults =
      faults + AirLink<Carrier, Surroundings>.ownFaults + Client.pretenceNames
    return Abilities(
      stimuli: Client.requestNames + stimuli, faults: faults, settings: settings,
      circumstances: circumstances, reports: Client.reports, slack: slack + Client.slack(under: circumstances),
      arguments: SesameDisturbances.arguments,
      disturbances: SesameDisturbances.offered(with: faults))
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    device.adopt(vocabulary)
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    var settings = ClientSettings(epoch: epoch ?? WallClock.unixTime)
    settings.times = times
    settings.quirks = quirks
    device = Self.device(device.link, settings, circumstances)
    device.adopt(vocabulary)
    device.record(to: recorder)
    try lab { () throws(LabFault) in try device.reset(to: start) }
  }

  public func reaches(_ stimulus: Stimulus) -> Bool { device.reaches(stimulus) }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    if vocabulary.stimuli[stimulus.number] == "register", let lone = surroundings as? LoneLock {
      try lone.file.rehearse()
    }
    try lab { () throws(LabFault) in try device.perform(stimulus) }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    try lab { () throws(LabFault) in try device.bring(about: fault) }
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    var observation: Observation?
    try lab { () throws(LabFault) in observation = try device.observe(until: limit) }
    if case .status(let number)? = observation { note(status: vocabulary.statuses[number]) }
    return observation
  }

  public func restart() throws(LabFault) {
    if let fault = recovery.fault { throw fault }
    var link = device.link
    remarks += link.takeRemarks()
    remarks += recovery.climb(&link)
    device = Self.device(link, ClientSettings(), circumstances)
    device.adopt(vocabulary)
    device.record(to: recorder)
    if let fault = recovery.fault { throw fault }
  }

  public func record(to recorder: LinkRecorder?) {
    self.recorder = recorder
    device.record(to: recorder)
  }

  public func takeRemarks() -> [String] {
    defer { remarks = [] }
    return remarks + device.takeRemarks()
  }

  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    device.explanation(ofSilence: isSilent)
  }

  /// A position is shown by a lock that has them.
  private func note(status: String) {
    guard let lone = surroundings as? LoneLock else { return }
    switch status {
    case "locked", "unlocked", "moved": lone.isConfigured = true
    case "nosetting": lone.isConfigured = false
    default: break
    }
  }

  /// A controller that does not answer says nothing about the lock behind it, however often it happens.
  private func lab(_ body: () throws(LabFault) -> Void) throws(LabFault) {
    if let fault = recovery.fault { throw fault }
    do {
      try body()
    } catch {
      switch error.symptom {
      case .noAnswer, .badAnswer, .ended: throw LabFault(.carrierLost, error.detail)
      case .noDevice, .carrierLost, .notPossible, .linkLost, .notReproduced, .noVerdict, .safetyLimit:
        throw error
      }
    }
  }
}

/// Keys, tokens and nonces for locks on the air come from the system, and never from a seed.
extension SystemEntropy: SecretSource {}
