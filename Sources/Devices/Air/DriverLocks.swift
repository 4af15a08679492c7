import Basics
import Bench
import Bluetooth
import Conformance
import Harness
import Links
import LockFiles
import Sesame
import SesameDevice
import System
import Transports

/// What a driver says of its locks when it is greeted, before it has any air.
struct DriverIntroduction {
  /// The family of its locks, compared with the machine of the lock file.
  var family: LockFamily
  /// What it can be asked to do, without what an interlock takes away.
  var abilities: Abilities
  /// The values that it reports beside statuses.
  var readings: [String] = []
}

/// Locks of drivers on a bench: they are joined to it here, and nowhere else.
final class DriverLocks: BenchFamily {
  /// The programs, each started once.
  let programs: DriverPrograms
  /// The introductions of drivers, by their lock files.
  private var introductions: [String: Result<DriverIntroduction, LabFault>] = [:]

  init(programs: DriverPrograms) { self.programs = programs }

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
    let introduction: DriverIntroduction
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
    let (program, said) = try greeted(file)
    guard file.address != nil || said.advertises != nil else {
      throw LabFault(
        .notPossible,
        "\(file.path): which lock is it? It has no `address`, and its driver does not say what its lock `advertises`"
      )
    }
    let fixture = Self.fixture(controlled) ?? Self.noFixture
    return AirDevice(
      DriverClient(program, on: transport, fixture, Self.settings(of: said, file.address)), fixture,
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
  ) throws(LabFault) -> DriverIntroduction {
    if let known = introductions[file.path] { return try known.get() }
    // One that cannot be greeted is not started again for each scenario.
    let introduction: Result<DriverIntroduction, LabFault>
    do throws(LabFault) {
      introduction = .success(try greet(file, fixture ?? Self.noFixture))
    } catch {
      introduction = .failure(error)
    }
    introductions[file.path] = introduction
    return try introduction.get()
  }

  /// Starts a driver and greets it.
  private func greet(_ file: LockFile, _ fixture: any Fixture) throws(LabFault) -> DriverIntroduction {
    let (_, said) = try greeted(file)
    if let clash = DriverClient<Transport>.clash(of: said, fixture.abilities) {
      throw LabFault(.notPossible, clash)
    }
    return DriverIntroduction(
      family: try Self.family(of: said, machine: (file.lock as? DriverLock)?.machine ?? ""),
      abilities: DriverClient<Transport>.abilities(
        of: said, fixture.abilities, Self.settings(of: said, nil)),
      readings: said.readings + fixture.readings.filter { !said.readings.contains($0) })
  }

  /// The family of a driver whose lock a program emulates.
  func family(ofPlayed command: String) throws(LabFault) -> LockFamily {
    let program = programs.program(command, as: .driver)
    guard let said = program.introduction else {
      throw program.misunderstanding ?? program.greetingFault ?? program.missing
    }
    return try Self.family(of: said, machine: "")
  }

  private static var noFixture: any Fixture { NoFixture(conditions: RealAir.conditions) }

  private static func settings(of said: ProgramIntroduction, _ address: PeerAddress?) -> DriverSettings {
    // That a controller is silent and cannot be brought back is known after five seconds.
    var host = HostSettings(address: .staticRandom(SystemEntropy().next()))
    host.commandTimeout = .milliseconds(1200)
    let target =
      address.map { DriverTarget.address($0) }
      ?? .advertising(name: said.advertises?.name, services: said.advertises?.services ?? [])
    var settings = DriverSettings(target: target, host: host, silenceLimit: .seconds(1))
    settings.slack = realAirSlack
    settings.isInVirtualTime = false
    return settings
  }

  private func greeted(_ file: LockFile) throws(LabFault) -> (ProgramConversation, ProgramIntroduction) {
    guard let lock = file.lock as? DriverLock else { throw LabFault(.noDevice, "\(file.path): no driver") }
    let secrets = ProgramSecrets(lock.secrets)
    let program = programs.program(lock.command, as: .driver, in: lock.folder, secrets: secrets)
    if let fault = program.misunderstanding {
      throw fault.symptom == .stopped ? fault : LabFault(.notPossible, fault.detail)
    }
    guard let said = program.introduction else { throw program.greetingFault ?? program.missing }
    if let name = said.secrets.first(where: { !secrets.names.contains($0) }) {
      throw LabFault(.notPossible, "the driver needs the secret `\(name)`, which the lock file does not have")
    }
    return (program, said)
  }

  /// What of a lock has to be known to look after it, from what its driver says.
  static func family(
    of said: ProgramIntroduction, machine: String
  ) throws(LabFault) -> LockFamily {
    func cannot(_ why: String) -> LabFault {
      LabFault(.notPossible, "the driver's lock cannot be looked after: \(why)")
    }
    guard let requests = said.requests, let meanings = said.meanings else {
      throw cannot(
        "its greeting does not say what its stimuli ask for (`requests`) and its statuses mean (`meanings`)")
    }
    let stimuli = said.stimuli ?? requests.map(\.name)
    if let unknown = requests.first(where: { !stimuli.contains($0.name) }) {
      throw cannot("`requests` has `\(unknown.name)`, which is none of its stimuli")
    }
    var conditions: [(name: String, condition: LockFamily.Condition)] = []
    for meaning in meanings {
      conditions.append(
        (meaning.name, try word(meaning.word, of: LockFamily.Condition.self, "`meanings`", cannot)))
    }
    var asked: [(name: String, request: LockFamily.Request?)] = []
    for name in stimuli {
      if let word = requests.first(where: { $0.name == name })?.word {
        asked.append((name, try self.word(word, of: LockFamily.Request.self, "`requests`", cannot)))
      } else {
        // Another stimulus that moves the motor counts as a third party's request.
        asked.append((name, said.moving?.contains(name) == true ? .forge : nil))
      }
    }
    do {
      return try LockFamily(
        machine: machine, stimuli: asked, statuses: conditions,
        hostileFaults: said.faults.filter { $0.level == .messages }.map(\.fault))
    } catch {
      throw cannot(error.problems.joined(separator: "; "))
    }
  }

  private static func word<Word: RawRepresentable & CaseIterable>(
    _ text: String, of type: Word.Type, _ place: String, _ cannot: (String) -> LabFault
  ) throws(LabFault) -> Word where Word.RawValue == String {
    if let word = Word(rawValue: text) { return word }
    let known = Word.allCases.map(\.rawValue)
    let nearest = nearestName(to: text, in: known).map { "did you mean `\($0)`?" }
    throw cannot("\(place) has the unknown word `\(text)`; " + (nearest ?? known.joined(separator: ", ")))
  }
}

extension DriverClient: OwnedLock {
  /// Unknown: it is the driver's affair.
  var configuration: [Argument]? { nil }
  /// It is: what opens the lock is in its file.
  var isRegistered: Bool { true }
  func recallKey() -> Bool { false }
  func dropRecalledKey() {}
}
