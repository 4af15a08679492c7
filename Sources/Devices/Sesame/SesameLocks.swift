import Basics
import Bench
import Bluetooth
import Conformance
import Emulator
import Harness
import Links
public import LockFiles
public import Sesame
public import SesameDevice
public import System
import Transports

/// The Sesame locks on a bench; only this type connects them to it.
struct SesameLocks: BuiltInFamily {
  var lock: any FamilyLock.Type { SesameLock.self }

  func family(of file: LockFile, fixture: (any Fixture)?) throws(LabFault) -> LockFamily { .sesame }

  func reference(of file: LockFile) -> String? {
    guard let lock = file.lock as? SesameLock else { return nil }
    let name = lock.model.description.filter { $0 != " " }.lowercased()
    return emulators.contains { $0.name == name } ? "emulator:\(name)" : nil
  }

  func positions(of file: LockFile) -> [[Argument]] {
    (file.lock as? SesameLock).map { SesameDisturbances.safePositions(of: $0.model) } ?? [[]]
  }

  func description(
    of file: LockFile, controlled: ControlledLock?, under settings: InterlockSettings
  ) throws(DeviceProblem) -> DeviceDescription {
    let lock = try Self.lock(of: file)
    var description = DeviceDescription.sesame(
      lock.model, slack: realAirSlack, isRegistered: lock.key != nil, isConfigured: nil, under: settings)
    guard let controlled else { return description }
    // An emulator that does not answer is treated as the built-in one; the run will report the fault.
    let offered =
      controlled.fixture?.offered
      ?? ControlAbilities(
        lock: lock.model.description, options: EmulatedLockSpecification.settingNames,
        LockPeripheral.ownAbilities)
    description.abilities = SesameAirClient<Transport>.abilities(
      of: lock.model.generation, around: offered.abilities(under: nil),
      conditions: controlled.conditions(offered.conditions), slack: realAirSlack)
    description.options = offered.options
    (description.given, description.withheld, description.usual) = ([], [], [])
    return description
  }

  func check(_ file: LockFile, fixture: (any Fixture)?) throws(LabFault) { _ = try Self.target(of: file) }

  func device(
    of file: LockFile, over transport: Transport, _ recovery: Recovery?, controlled: ControlledLock?,
    isStopped: @escaping () -> Bool
  ) throws(LabFault) -> any OwnedLock {
    let target = try Self.target(of: file)
    let known: SesameLockFile
    do { known = try file.sesame(or: "a Sesame was expected") } catch {
      throw LabFault(.noDevice, error.description)
    }
    let lock = known.lock
    // With this timeout, a silent controller that cannot be recovered is detected within five seconds.
    var host = HostSettings(address: .staticRandom(SystemEntropy().next()))
    host.commandTimeout = .milliseconds(1200)
    let emulator = controlled?.fixture
    let emulated = emulator.map { controlled?.conditions($0.offered.conditions) ?? $0.offered.conditions }
    // Keys, tokens and nonces come from the system, and never from a seed.
    var settings = SesameAirSettings(
      conditions: emulated ?? RealAir.conditions, slack: realAirSlack, host: host, silenceLimit: .seconds(1),
      epoch: { emulator == nil ? WallClock.unixTime : ClientSettings().epoch },
      secrets: { _ in { SystemEntropy() } })
    settings.generation = lock.model.generation
    settings.times = lock.times
    settings.quirks = lock.quirks
    settings.numbersRecordsFromOne = emulator == nil
    let recovery = recovery ?? Recovery(of: transport.spec)
    if let emulator {
      let key = ControlledKey()
      emulator.takeKey = { json throws(ControlError) in try key.take(json) }
      return AirDevice(
        SesameAirClient(transport, emulator, key, target: target, settings), emulator,
        recovery: recovery, isStopped: isStopped)
    }
    var keys = known
    keys.fallbackFolder = { try? StateFolder.ownFolder("keys") }
    let fixture = NoFixture(conditions: RealAir.conditions, settings: LockFamily.sesame.startSettings)
    return AirDevice(
      SesameAirClient(transport, fixture, StoredKey(keys), target: target, settings), fixture,
      recovery: recovery,
      diagnostics: keys.leftovers.map { "\($0) was left by a run that was killed while it kept a key" },
      isStopped: isStopped)
  }

  private static func lock(of file: LockFile) throws(DeviceProblem) -> SesameLock {
    guard let lock = file.lock as? SesameLock else { throw DeviceProblem(.name, "\(file.path): no Sesame") }
    return lock
  }

  /// Returns how to identify a lock among all advertisers.
  private static func target(of file: LockFile) throws(LabFault) -> LockTarget {
    if let deviceID = (file.lock as? SesameLock)?.deviceID { return .deviceID(deviceID) }
    if let address = file.address { return .address(address) }
    throw LabFault(.noDevice, "\(file.path): which lock is it?")
  }
}

extension SystemEntropy: SecretSource {}

extension SesameLockFile: KeyStore {}
