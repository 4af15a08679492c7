import Bench
import Basics
import Conformance
import Harness
import Links
import LockFiles
import Programs
import Transports

/// The locks of drivers on a bench; only this type connects them to it.
final class DriverLocks: BenchFamily {
  /// The introduction of a driver, before it has a transport.
  private struct Introduction {
    /// The family of its locks, merged with the machine of the lock file.
    var family: LockFamily
    /// Its abilities, before an interlock restricts them.
    var abilities: Abilities
    /// The values that it reports in addition to statuses.
    var readings: [String]
  }

  private let programs: ProgramPool
  /// The introductions of the drivers, by the paths of their lock files.
  private var introductions: [String: Result<Introduction, LabFault>] = [:]

  init(programs: ProgramPool) { self.programs = programs }

  func includes(_ lock: any FamilyLock) -> Bool { lock is DriverLock }

  func family(of file: LockFile, fixture: (any Fixture)?) throws(LabFault) -> LockFamily {
    try introduction(of: file, fixture).family
  }

  /// None: the driver's lock has no built-in emulation.
  func reference(of file: LockFile) -> String? { nil }

  /// None.
  func positions(of file: LockFile) -> [[Argument]] { [[]] }

  /// A driver that does not start fails this check before a controller is needed.
  func check(_ file: LockFile, fixture: (any Fixture)?) throws(LabFault) {
    _ = try introduction(of: file, fixture)
  }

  /// Returns what a driver reports about its lock; if it does not start, the abilities are unknown until the lock is
  /// used.
  func description(
    of file: LockFile, controlled: ControlledLock?, under settings: InterlockSettings
  ) throws(DeviceProblem) -> DeviceDescription {
    let machine = (file.lock as? DriverLock)?.machine ?? ""
    let introduction: Introduction
    do {
      introduction = try self.introduction(of: file, Self.fixture(controlled))
    } catch {
      if error.symptom == .notPossible { throw DeviceProblem(.name, error.detail) }
      var unknown = Abilities(stimuli: nil, settings: nil)
      unknown.areUnknown = true
      return DeviceDescription(family: nil, machines: [machine], abilities: unknown)
    }
    let guarded = introduction.family.guarded
    if let name = settings.allowed.first(where: { !guarded.contains($0) }) {
      throw .unknown(.name, "stimulus to be allowed", name, of: guarded)
    }
    if controlled != nil {
      return DeviceDescription(
        family: nil, machines: [machine], abilities: introduction.abilities,
        readings: introduction.readings)
    }
    return .realLock(
      nil, machine: machine, introduction.abilities, readings: introduction.readings, isRegistered: true,
      isConfigured: nil, under: settings.of(introduction.family))
  }

  func device(
    of file: LockFile, over transport: Transport, _ recovery: Recovery?, controlled: ControlledLock?,
    isStopped: @escaping () -> Bool
  ) throws(LabFault) -> any OwnedLock {
    let driver = try greeted(file)
    guard file.address != nil || driver.saysAdvertisement else {
      throw LabFault(
        .notPossible,
        "\(file.path): which lock is it? It has no `address`, and its driver does not say what its lock `advertises`"
      )
    }
    let fixture = Self.fixture(controlled) ?? Self.noFixture
    return AirDevice(
      driver.client(on: transport, fixture, address: file.address, slack: realAirSlack), fixture,
      recovery: recovery ?? Recovery(of: transport.spec), isStopped: isStopped)
  }

  /// Returns the fixture of a lock that another program emulates, including its observations.
  private static func fixture(_ controlled: ControlledLock?) -> (any Fixture)? {
    guard let controlled, let fixture = controlled.fixture else { return nil }
    fixture.conditions = controlled.conditions(fixture.offered.conditions)
    fixture.watchesProgram = true
    return fixture
  }

  private func introduction(
    of file: LockFile, _ fixture: (any Fixture)?
  ) throws(LabFault) -> Introduction {
    if let known = introductions[file.path] { return try known.get() }
    // A driver that does not start is not started again for each scenario.
    let introduction: Result<Introduction, LabFault>
    do throws(LabFault) {
      introduction = .success(try greet(file, fixture ?? Self.noFixture))
    } catch {
      introduction = .failure(error)
    }
    introductions[file.path] = introduction
    return try introduction.get()
  }

  /// Starts a driver and greets it.
  private func greet(_ file: LockFile, _ fixture: any Fixture) throws(LabFault) -> Introduction {
    let driver = try greeted(file)
    if let conflict = driver.nameConflict(with: fixture) { throw LabFault(.notPossible, conflict) }
    return Introduction(
      family: try driver.family(machine: (file.lock as? DriverLock)?.machine ?? ""),
      abilities: driver.abilities(around: fixture, slack: realAirSlack),
      readings: driver.readings(around: fixture))
  }

  private func greeted(_ file: LockFile) throws(LabFault) -> GreetedDriver {
    guard let lock = file.lock as? DriverLock else { throw LabFault(.noDevice, "\(file.path): no driver") }
    return try GreetedDriver(
      programs.program(
        lock.command, as: .driver, in: lock.folder, secrets: ProgramSecrets(lock.secrets)))
  }

  private static var noFixture: any Fixture { NoFixture(conditions: RealAir.conditions) }
}
