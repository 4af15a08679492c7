import LockFiles
import Basics
import Bench
import Conformance
import Bluetooth
import Controllers
import Documents
import Emulator
import Harness
import Links
import Secrets
import System

/// A lock that a program emulates, and the controller of its driver, on one emulated radio in virtual time.
typealias ProgramRadio = RadioWorld<ProgramPeripheral>

/// The driver programs, and the programs that emulate their locks: each is started once, and keeps running between
/// cases.
final class DriverPrograms {
  private struct Key: Hashable {
    var command: String
    var role: ProgramConversation.Role
    var folder: String?
  }

  private let answerTimeout: Interval
  private var programs: [(key: Key, program: ProgramConversation)] = []
  /// Keeps what programs say beside their answers, where that is wanted.
  var output: ProgramOutput? {
    didSet { for (_, program) in programs { program.output = output } }
  }

  init(answerTimeout: Interval = .seconds(5)) { self.answerTimeout = answerTimeout }

  /// Lets every program end, and ends those that do not.
  func shutDown() {
    for (_, program) in programs { program.shutDown() }
    programs = []
  }

  /// The program of a command, started and greeted.
  func program(
    _ command: String, as role: ProgramConversation.Role, in folder: String? = nil,
    secrets: ProgramSecrets = ProgramSecrets()
  ) -> ProgramConversation {
    let key = Key(command: command, role: role, folder: folder)
    if let known = programs.first(where: { $0.key == key })?.program { return known }
    let program = ProgramConversation(
      command: command, as: role, in: folder, secrets: secrets, answerTimeout: answerTimeout,
      isStopped: { Interruption.isHeard })
    programs.append((key, program))
    program.output = output
    // A stop request during the greeting must leave no program behind.
    Interruption.listenUnlessDecided()
    program.greet()
    return program
  }
}

// MARK: - On our radio

extension DriverPrograms {
  /// A driver, a lock that a program emulates, and the radio between them.
  private struct Pair {
    var driver: ProgramConversation
    var peripheral: ProgramConversation
    var channel: RadioSettings

    /// Both ends, and the air between them.
    func radio(seed: UInt64) -> ProgramRadio {
      let isLossy = channel.packetLoss > 0 || channel.bursts != nil
      return ProgramRadio(
        ProgramPeripheral(peripheral, seed: seed), channel, conditions: isLossy ? ["loss"] : [], seed: seed)
    }
  }

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    var description: DeviceDescription
    if spec.settings.contains(where: { $0.name == "peripheral" }) {
      let pair = try pair(spec)
      let radio = pair.radio(seed: 0)
      let driver = pair.driver.introduction ?? ProgramIntroduction()
      let lock = pair.peripheral.introduction ?? ProgramIntroduction()
      if let clash = DriverClient<ProgramRadio>.clash(of: driver, radio.abilities) {
        throw DeviceProblem(.name, clash)
      }
      description = DeviceDescription(
        family: nil, machines: nil,
        abilities: DriverClient<ProgramRadio>.abilities(
          of: driver, radio.abilities, Self.settings(of: radio)),
        readings: driver.readings + lock.readings.filter { !driver.readings.contains($0) })
      let isKnown = pair.driver.introduction != nil && pair.peripheral.introduction != nil
      description.abilities.areUnknown = !isKnown
      description.moving = Self.moving(of: driver, lock)
    } else {
      description = DeviceDescription(
        family: nil, machines: nil, abilities: Abilities(stimuli: nil, settings: nil))
    }
    description.options = DeviceSpec.driverOptions
    return description
  }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> AirDevice<DriverClient<ProgramRadio>> {
    let pair: Pair
    do {
      pair = try self.pair(spec)
    } catch {
      throw LabFault(.noDevice, error.description)
    }
    for program in [pair.driver, pair.peripheral] where program.introduction == nil {
      throw program.greetingFault ?? program.missing
    }
    let radio = pair.radio(seed: seed)
    let client = DriverClient(pair.driver, on: radio, radio, Self.settings(of: radio))
    client.seed = seed
    return AirDevice(client, radio)
  }

  /// What sets something in motion that wears, as far as one of the two says so.
  private static func moving(of driver: ProgramIntroduction, _ lock: ProgramIntroduction) -> [String]? {
    guard let more = lock.moving else { return driver.moving }
    return (driver.moving ?? DeviceDescription.usuallyMoving) + more
  }

  private static func settings(of radio: ProgramRadio) -> DriverSettings {
    DriverSettings(
      target: .address(radio.address), host: HostSettings(address: .staticRandom(0x0C11_E470_0002)))
  }

  /// The most packets that are lost: with more, connections take longer than machines promise, and a correct lock is accused.
  private static let mostLoss = 0.5

  private func pair(_ spec: DeviceSpec) throws(DeviceProblem) -> Pair {
    func setting(_ name: String) -> String? { spec.settings.last { $0.name == name }?.value }
    try spec.check()
    let secrets = try setting("secrets").map(Self.secrets) ?? ProgramSecrets()
    let driver = program(spec.name, as: .driver, secrets: secrets)
    let peripheral = program(setting("peripheral") ?? "", as: .peripheral, secrets: secrets)
    for program in [driver, peripheral] {
      if let fault = program.misunderstanding { throw DeviceProblem(.name, fault.detail) }
      if let said = program.introduction, said.requests != nil || said.meanings != nil {
        do throws(LabFault) { _ = try DriverLocks.family(of: said, machine: "") } catch {
          throw DeviceProblem(.name, error.detail)
        }
      }
      for name in program.introduction?.secrets ?? [] where !secrets.names.contains(name) {
        throw DeviceProblem(
          .setting("secrets"), "the \(program.role) needs the secret `\(name)`",
          hint: "`secrets=FILE` names a lock file with `driver` and `secrets`")
      }
    }
    var channel = RadioSettings()
    if let text = setting("loss") {
      guard let loss = Double(text), (0...Self.mostLoss).contains(loss) else {
        throw DeviceProblem(
          .value(of: "loss"), "`\(text)` is not a value of `loss`",
          hint:
            "expected a number from 0 to \(Self.mostLoss): where more than half of the packets is lost, no link is kept for sure, and no lock can be judged"
        )
      }
      channel.packetLoss = loss
    }
    return Pair(driver: driver, peripheral: peripheral, channel: channel)
  }

  /// Reads names and values; nothing of them is ever shown.
  private static func secrets(in path: String) throws(DeviceProblem) -> ProgramSecrets {
    do throws(LockFileError) {
      if let lock = try LockFile(reading: path).lock as? DriverLock { return ProgramSecrets(lock.secrets) }
    } catch {
      throw DeviceProblem(.value(of: "secrets"), error.description)
    }
    throw DeviceProblem(
      .value(of: "secrets"), "\(path): no lock file of a driver, with `driver` and `secrets`")
  }
}
