package import Basics
package import Bluetooth
package import Conformance
package import Links
import System

/// A driver that has introduced itself, for a lock about which its program knows no more: a real one, or one of
/// another process.
package struct GreetedDriver {
  private let program: ProgramConversation
  private let introduction: ProgramIntroduction

  /// Creates a driver from a program that has been greeted.
  ///
  /// - Throws: If the program cannot be used as a driver.
  package init(_ program: ProgramConversation) throws(LabFault) {
    if let fault = program.misunderstanding {
      throw fault.symptom == .stopped ? fault : LabFault(.notPossible, fault.detail)
    }
    guard let introduction = program.introduction else { throw program.greetingFault ?? program.missing }
    if let name = introduction.secrets.first(where: { !program.secretNames.contains($0) }) {
      throw LabFault(.notPossible, "the driver needs the secret `\(name)`, which the lock file does not have")
    }
    (self.program, self.introduction) = (program, introduction)
  }

  /// Whether it states what its lock advertises, which identifies a lock with an unknown address.
  package var saysAdvertisement: Bool { introduction.advertises != nil }

  /// Returns the family of its lock, which defines how to manage the lock.
  package func family(machine: String) throws(LabFault) -> LockFamily {
    try introduction.family(machine: machine)
  }

  /// Returns the conflict if the driver and the fixture of its lock use the same name; `nil` if there is none.
  package func nameConflict(with fixture: any Fixture) -> String? {
    introduction.nameConflict(with: fixture.abilities)
  }

  /// Returns its abilities, before an interlock restricts them.
  ///
  /// - Parameter slack: The maximum delay of an observation.
  package func abilities(around fixture: any Fixture, slack: Interval) -> Abilities {
    introduction.abilities(around: fixture.abilities, settings(nil, slack: slack))
  }

  /// Returns the readings of the driver and of the fixture of its lock.
  package func readings(around fixture: any Fixture) -> [String] {
    introduction.readings(beside: fixture.readings)
  }

  /// Returns the client of a lock, over a transport.
  ///
  /// - Parameter address: The address of the lock; `nil` to find it by what it advertises.
  package func client<Transport: HCITransport>(
    on transport: Transport, _ fixture: any Fixture, address: PeerAddress?, slack: Interval
  ) -> DriverClient<Transport> {
    DriverClient(program, on: transport, fixture, settings(address, slack: slack))
  }

  private func settings(_ address: PeerAddress?, slack: Interval) -> DriverSettings {
    // With this timeout, a silent controller that cannot be recovered is detected within five seconds.
    var host = HostSettings(address: .staticRandom(SystemEntropy().next()))
    host.commandTimeout = .milliseconds(1200)
    let advertised = introduction.advertises
    let target =
      address.map { DriverTarget.address($0) }
      ?? .advertising(name: advertised?.name, services: advertised?.services ?? [])
    var settings = DriverSettings(target: target, host: host, silenceLimit: .seconds(1))
    settings.slack = slack
    settings.isInVirtualTime = false
    return settings
  }
}

extension ProgramConversation {
  /// Returns the family of a driver's lock, which defines how to manage the lock.
  ///
  /// - Throws: If the driver does not define the family, or has not answered its greeting.
  package func family(machine: String) throws(LabFault) -> LockFamily {
    guard let introduction else { throw misunderstanding ?? greetingFault ?? missing }
    return try introduction.family(machine: machine)
  }
}

extension ProgramIntroduction {
  /// Returns the family of a driver's lock, which defines how to manage the lock.
  func family(machine: String) throws(LabFault) -> LockFamily {
    func unmanageable(_ why: String) -> LabFault {
      LabFault(.notPossible, "the driver's lock cannot be managed: \(why)")
    }
    guard let requests, let meanings else {
      throw unmanageable(
        "its greeting does not say what its stimuli ask for (`requests`) and its statuses mean (`meanings`)")
    }
    let stimuli = stimuli ?? requests.map(\.name)
    if let unknown = requests.first(where: { !stimuli.contains($0.name) }) {
      throw unmanageable("`requests` has `\(unknown.name)`, which is not one of its stimuli")
    }
    var conditions: [(name: String, condition: LockFamily.Condition)] = []
    for meaning in meanings {
      conditions.append(
        (meaning.name, try Self.word(meaning.word, of: LockFamily.Condition.self, "`meanings`", unmanageable))
      )
    }
    var stimulusRequests: [(name: String, request: LockFamily.Request?)] = []
    for name in stimuli {
      if let word = requests.first(where: { $0.name == name })?.word {
        stimulusRequests.append(
          (name, try Self.word(word, of: LockFamily.Request.self, "`requests`", unmanageable)))
      } else {
        // Another stimulus that moves the motor counts as a third party's request.
        stimulusRequests.append((name, moving?.contains(name) == true ? .forge : nil))
      }
    }
    do {
      return try LockFamily(
        machine: machine, stimuli: stimulusRequests, statuses: conditions,
        hostileFaults: faults.filter { $0.level == .messages }.map(\.fault))
    } catch {
      throw unmanageable(error.problems.joined(separator: "; "))
    }
  }

  private static func word<Word: RawRepresentable & CaseIterable>(
    _ text: String, of type: Word.Type, _ place: String, _ unmanageable: (String) -> LabFault
  ) throws(LabFault) -> Word where Word.RawValue == String {
    if let word = Word(rawValue: text) { return word }
    let known = Word.allCases.map(\.rawValue)
    let nearest = nearestName(to: text, in: known).map { "did you mean `\($0)`?" }
    throw unmanageable(
      "\(place) has the unknown word `\(text)`; " + (nearest ?? known.joined(separator: ", ")))
  }
}
