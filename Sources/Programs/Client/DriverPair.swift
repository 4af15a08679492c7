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
  /// Why two programs are not a pair.
  package enum Problem: Error {
    /// The introduction of one of them is unusable.
    case unusable(String)
    /// One of them needs a secret that it did not receive.
    case lacksSecret(String, of: ProgramConversation.Role)
  }

  private let driver: ProgramConversation
  private let peripheral: ProgramConversation
  /// The share of packets that the radio loses.
  package var loss = 0.0

  /// Pairs two programs that have been greeted.
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

  /// The introduction of the driver; empty if the driver did not answer its greeting.
  private var driverIntroduction: ProgramIntroduction { driver.introduction ?? ProgramIntroduction() }
  private var peripheralIntroduction: ProgramIntroduction { peripheral.introduction ?? ProgramIntroduction() }

  /// The conflict if both use the same name; `nil` if there is none.
  package var nameConflict: String? { driverIntroduction.nameConflict(with: radio(seed: 0).abilities) }

  /// The combined abilities of both.
  package var abilities: Abilities {
    let radio = radio(seed: 0)
    var abilities = driverIntroduction.abilities(around: radio.abilities, Self.settings(of: radio))
    abilities.areUnknown = driver.introduction == nil || peripheral.introduction == nil
    return abilities
  }

  /// The readings of both.
  package var readings: [String] { driverIntroduction.readings(beside: peripheralIntroduction.readings) }

  /// Returns the stimuli that move a part subject to wear, as far as one of the two names them.
  ///
  /// - Parameter usually: The stimuli for a driver that names none.
  package func moving(usually: [String]) -> [String]? {
    guard let more = peripheralIntroduction.moving else { return driverIntroduction.moving }
    return (driverIntroduction.moving ?? usually) + more
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

  /// Returns the radio with the peripheral and the driver's controller.
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
