import Bench
import Conformance
import Harness
import Links
import LockFiles
import Programs
import Transports

/// Locks of drivers on a bench: they are joined to it here, and nowhere else.
final class DriverLocks: BenchFamily {
  /// What a driver says of its locks when it is greeted, before it has any air.
  private struct Introduction {
    /// The family of its locks, compared with the machine of the lock file.
    var family: LockFamily
    /// What it can be asked to do, without what an interlock takes away.
    var abilities: Abilities
    /// The values that it reports beside statuses.
    var readings: [String]
  }

  private let programs: ProgramPool
  /// The introductions of drivers, by their lock files.
  private var introductions: [String: Result<Introduction, LabFault>] = [:]

  init(programs: ProgramPool) { self.programs = programs }

  func includes(_ lock: any FamilyLock) -> Bool { lock is DriverLock }

  func family(of file: LockFile, fixture: (any Fixture)?) throws(LabFault) -> LockFamily {
    try introduction(of: file, fixture).family
  }

  /// None: what emulates it is a program's affair.
  func reference(of file: LockFile) -> String? { nil }

  /// None.
  func positions(of file: LockFile) -> [[Argument]] { [[]] }

  /// One whose driver does not start needs no controller to say so.
  func check(_ file: LockFile, fixture: (any Fixture)?) throws(LabFault) {
    _ = try introduction(of: file, fixture)
  }

  /// What a driver says of its lock; of one that cannot be greeted it is found out when it is used.
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

  /// The fixture of a lock that another program emulates, with its observations.
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
    // One that cannot be greeted is not started again for each scenario.
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
    if let clash = driver.clash(with: fixture) { throw LabFault(.notPossible, clash) }
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
