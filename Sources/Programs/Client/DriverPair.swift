import Basics
import Bluetooth
package import Conformance
import Controllers
package import Emulator
package import Links

/// A lock that a program emulates, and the controller of its driver, on one emulated radio in virtual time.
package typealias ProgramRadio = RadioWorld<ProgramPeripheral>

/// A driver, a lock that a program emulates, and the radio between them.
package struct DriverPair {
  /// Why two programs are no pair.
  package enum Problem: Error {
    /// One of them says nothing of itself that can be used.
    case unusable(String)
    /// One of them needs a secret that it was not given.
    case lacksSecret(String, of: ProgramConversation.Role)
  }

  private let driver: ProgramConversation
  private let peripheral: ProgramConversation
  /// The share of packets that the radio loses.
  package var loss = 0.0

  /// Pairs two programs that were greeted.
  package init(_ driver: ProgramConversation, _ peripheral: ProgramConversation) throws(Problem) {
    for program in [driver, peripheral] {
      if let fault = program.misunderstanding { throw .unusable(fault.detail) }
      guard let introduction = program.introduction else { continue }
      if introduction.requests != nil || introduction.meanings != nil {
        do throws(LabFault) { _ = try introduction.family(machine: "") } catch {
          throw .unusable(error.detail)
        }
      }
      for name in introduction.secrets where !program.secretNames.contains(name) {
        throw .lacksSecret(name, of: program.role)
      }
    }
    (self.driver, self.peripheral) = (driver, peripheral)
  }

  /// What a driver says of itself; nothing, where it did not answer its greeting.
  private var said: ProgramIntroduction { driver.introduction ?? ProgramIntroduction() }
  private var saidOfLock: ProgramIntroduction { peripheral.introduction ?? ProgramIntroduction() }

  /// What both have under one name; `nil` where there is nothing.
  package var clash: String? { said.clash(with: radio(seed: 0).abilities) }

  /// What the two can serve together.
  package var abilities: Abilities {
    let radio = radio(seed: 0)
    var abilities = said.abilities(around: radio.abilities, Self.settings(of: radio))
    abilities.areUnknown = driver.introduction == nil || peripheral.introduction == nil
    return abilities
  }

  /// The values that they report.
  package var readings: [String] { said.readings(beside: saidOfLock.readings) }

  /// What sets something in motion that wears, as far as one of the two says so.
  ///
  /// - Parameter usually: what it is with a driver that does not say.
  package func moving(usually: [String]) -> [String]? {
    guard let more = saidOfLock.moving else { return said.moving }
    return (said.moving ?? usually) + more
  }

  /// The lock of the pair as a device under test.
  package func device(seed: UInt64) throws(LabFault) -> AirDevice<DriverClient<ProgramRadio>> {
    for program in [driver, peripheral] where program.introduction == nil {
      throw program.greetingFault ?? program.missing
    }
    let radio = radio(seed: seed)
    let client = DriverClient(driver, on: radio, radio, Self.settings(of: radio))
    client.seed = seed
    return AirDevice(client, radio)
  }

  /// Both ends, and the air between them.
  private func radio(seed: UInt64) -> ProgramRadio {
    ProgramRadio(
      ProgramPeripheral(peripheral, seed: seed), RadioSettings(packetLoss: loss),
      conditions: loss > 0 ? ["loss"] : [], seed: seed)
  }

  private static func settings(of radio: ProgramRadio) -> DriverSettings {
    DriverSettings(
      target: .address(radio.address), host: HostSettings(address: .staticRandom(0x0C11_E470_0002)))
  }
}
