package import Basics
package import Bluetooth
package import Conformance
package import Links
import System

/// A driver that has introduced itself, for a lock of which its program knows no more: a real one, or one of another process.
package struct GreetedDriver {
  private let program: ProgramConversation
  private let introduction: ProgramIntroduction

  /// Takes a driver that was greeted.
  ///
  /// - Throws: that it cannot be used, and why.
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

  /// Whether it says what its lock advertises, by which a lock is found whose address is not known.
  package var saysAdvertisement: Bool { introduction.advertises != nil }

  /// What of its lock has to be known to look after it.
  package func family(machine: String) throws(LabFault) -> LockFamily {
    try introduction.family(machine: machine)
  }

  /// What both the driver and the fixture of its lock have under one name; `nil` where there is nothing.
  package func clash(with fixture: any Fixture) -> String? { introduction.clash(with: fixture.abilities) }

  /// What it can be asked to do, without what an interlock takes away.
  ///
  /// - Parameter slack: how much later than it happened something may be observed.
  package func abilities(around fixture: any Fixture, slack: Interval) -> Abilities {
    introduction.abilities(around: fixture.abilities, settings(nil, slack: slack))
  }

  /// The values that it and the fixture of its lock report.
  package func readings(around fixture: any Fixture) -> [String] {
    introduction.readings(beside: fixture.readings)
  }

  /// The client of a lock, over a transport.
  ///
  /// - Parameter address: that of the lock; `nil` to find it by what it advertises.
  package func client<Transport: HCITransport>(
    on transport: Transport, _ fixture: any Fixture, address: PeerAddress?, slack: Interval
  ) -> DriverClient<Transport> {
    DriverClient(program, on: transport, fixture, settings(address, slack: slack))
  }

  private func settings(_ address: PeerAddress?, slack: Interval) -> DriverSettings {
    // That a controller is silent and cannot be brought back is known after five seconds.
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
  /// What of a driver's lock has to be known to look after it.
  ///
  /// - Throws: that the driver does not say, or has not answered its greeting.
  package func family(machine: String) throws(LabFault) -> LockFamily {
    guard let introduction else { throw misunderstanding ?? greetingFault ?? missing }
    return try introduction.family(machine: machine)
  }
}

extension ProgramIntroduction {
  /// What of a driver's lock has to be known to look after it.
  func family(machine: String) throws(LabFault) -> LockFamily {
    func cannot(_ why: String) -> LabFault {
      LabFault(.notPossible, "the driver's lock cannot be looked after: \(why)")
    }
    guard let requests, let meanings else {
      throw cannot(
        "its greeting does not say what its stimuli ask for (`requests`) and its statuses mean (`meanings`)")
    }
    let stimuli = stimuli ?? requests.map(\.name)
    if let unknown = requests.first(where: { !stimuli.contains($0.name) }) {
      throw cannot("`requests` has `\(unknown.name)`, which is none of its stimuli")
    }
    var conditions: [(name: String, condition: LockFamily.Condition)] = []
    for meaning in meanings {
      conditions.append(
        (meaning.name, try Self.word(meaning.word, of: LockFamily.Condition.self, "`meanings`", cannot)))
    }
    var asked: [(name: String, request: LockFamily.Request?)] = []
    for name in stimuli {
      if let word = requests.first(where: { $0.name == name })?.word {
        asked.append((name, try Self.word(word, of: LockFamily.Request.self, "`requests`", cannot)))
      } else {
        // Another stimulus that moves the motor counts as a third party's request.
        asked.append((name, moving?.contains(name) == true ? .forge : nil))
      }
    }
    do {
      return try LockFamily(
        machine: machine, stimuli: asked, statuses: conditions,
        hostileFaults: faults.filter { $0.level == .messages }.map(\.fault))
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
