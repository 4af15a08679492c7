import Basics
import Bench
import Bluetooth
import Conformance
import Links
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

/// The place at which locks of drivers are joined to the bench: all else knows them by their file and their family alone.
struct DriverLocks {
  /// The programs, each started once.
  let programs: DriverPrograms

  /// Starts a driver and greets it.
  ///
  /// - Parameter fixture: that of its lock; none unless given.
  func introduction(
    of lock: DriverLock, in fixture: (any Fixture)?
  ) throws(LabFault) -> DriverIntroduction {
    let (_, said) = try greeted(lock)
    let fixture = fixture ?? Self.noFixture
    if let clash = DriverClient<Transport>.clash(of: said, fixture.abilities) {
      throw LabFault(.notPossible, clash)
    }
    return DriverIntroduction(
      family: try Self.family(of: said, machine: lock.machine),
      abilities: DriverClient<Transport>.abilities(
        of: said, fixture.abilities, Self.settings(of: said, nil)),
      readings: said.readings + fixture.readings.filter { !said.readings.contains($0) })
  }

  /// The family of the locks of a driver that drives what a program plays.
  func family(ofPlayed command: String) throws(LabFault) -> LockFamily {
    let program = programs.program(command, as: .driver)
    guard let said = program.introduction else {
      throw program.misunderstanding ?? program.greetingFault ?? program.missing
    }
    return try Self.family(of: said, machine: "")
  }

  /// The device that speaks to the lock of a file over a transport.
  ///
  /// - Parameters:
  ///   - lock: the lock, and what its driver is given.
  ///   - file: the file that names it, with the address where one is known.
  ///   - transport: the way to the controller.
  ///   - recovery: how the controller is brought back.
  ///   - fixture: that of the lock; none unless given.
  ///   - isStopped: whether the end was asked for, so that nothing is waited for any more.
  func device(
    of lock: DriverLock, in file: LockFile, over transport: Transport, _ recovery: Recovery?,
    inside fixture: (any Fixture)? = nil, isStopped: @escaping () -> Bool
  ) throws(LabFault) -> any OwnedLock {
    let (program, said) = try greeted(lock)
    guard file.address != nil || said.advertises != nil else {
      throw LabFault(
        .notPossible,
        "\(file.path): which lock is it? It has no `address`, and its driver does not say what its lock `advertises`"
      )
    }
    let fixture = fixture ?? Self.noFixture
    return AirDevice(
      DriverClient(program, on: transport, fixture, Self.settings(of: said, file.address)), fixture,
      recovery: recovery ?? Recovery(of: transport.spec), isStopped: isStopped)
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

  private func greeted(_ lock: DriverLock) throws(LabFault) -> (ProgramConversation, ProgramIntroduction) {
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
        // What moves the motor in another way is counted as what somebody else asks for.
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
  /// Unknown: they are the driver's affair.
  var positions: LockPositions? { nil }
  /// It is: what opens the lock is in its file.
  var isRegistered: Bool { true }
  func recallKey() -> Bool { false }
  func dropRecalledKey() {}
}
