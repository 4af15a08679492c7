public import SesameDevice
public import Links
public import Bench
public import Transports
import System
import Bluetooth
public import Sesame
public import Basics

extension AirDevice where Client == SesameAirClient<Transport> {
  /// Joins a client to a lock on real air, or at the other end of a socket.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - fixture: what stands around the lock.
  ///   - keys: what keeps the key of its owner.
  ///   - target: which lock is meant.
  ///   - generation: the lock's.
  ///   - times: how long the client waits.
  ///   - quirks: what the lock is known to do though its protocol forbids it.
  ///   - conditions: what of the model's conditions always holds.
  ///   - numbersRecordsFromOne: see ``ClientSettings/numbersRecordsFromOne``.
  ///   - epoch: the Unix time at the start of each test; `nil` for the real one.
  ///   - recovery: how the controller is brought back; by all but its power unless given.
  ///   - diagnostics: what there is to say already.
  ///   - isStopped: whether the end was asked for, so that nothing is waited for any more.
  public convenience init(
    _ transport: Transport, _ fixture: any Fixture, _ keys: any OwnerKeys, target: LockTarget,
    of generation: Generation?, times: ClientTimes, quirks: [SesameViolation] = [], conditions: [String],
    numbersRecordsFromOne: Bool = false, epoch: UInt32? = nil, recovery: Recovery? = nil,
    diagnostics: [String] = [], isStopped: @escaping () -> Bool = { false }
  ) {
    // That a controller is silent and cannot be brought back is known after five seconds.
    var host = HostSettings(address: .staticRandom(SystemEntropy().next()))
    host.commandTimeout = .milliseconds(1200)
    // Keys, tokens and nonces come from the system, and never from a seed.
    var settings = SesameAirSettings(
      conditions: conditions, slack: realAirSlack, host: host, silenceLimit: .seconds(1),
      epoch: { epoch ?? WallClock.unixTime }, secrets: { _ in { SystemEntropy() } })
    settings.generation = generation
    settings.times = times
    settings.quirks = quirks
    settings.numbersRecordsFromOne = numbersRecordsFromOne
    self.init(
      SesameAirClient(transport, fixture, keys, target: target, settings), fixture,
      recovery: recovery ?? Recovery(of: transport.spec), diagnostics: diagnostics, isStopped: isStopped)
  }
}

/// How much later than it happened something may be observed that came over real air.
public let realAirSlack = Interval.milliseconds(300)

extension Recovery: ControllerRecovery {}

extension SystemEntropy: SecretSource {}

extension SesameLockFile: KeyStore {}
