import Basics
import Bluetooth
import Conformance
import Emulator
import Links

/// The lock on the air that a driver controls.
enum DriverTarget: Equatable {
  case address(PeerAddress)
  /// The lock that advertises all of these.
  case advertising(name: String?, services: [BluetoothUUID])
}

/// The settings of a driver device that concern the transport to its lock rather than the driver.
struct DriverSettings {
  var target: DriverTarget
  var host: HostSettings
  /// The silence after which the host checks the controller; `nil` if the controller cannot fail silently.
  var silenceLimit: Interval?
  /// The maximum delay of an observation, in addition to that of the link.
  var slack = Interval.zero
  /// Whether time passes only in simulation.
  var isInVirtualTime = true
}

extension ProgramIntroduction {
  /// The built-in fault that every lock has.
  static let att = "att"

  /// Returns the abilities of a driver whose lock has the given fixture.
  func abilities(around fixture: Abilities, _ settings: DriverSettings) -> Abilities {
    let own = [Disturbance(.att, Self.att, MalformedBluetooth.allCases.map { .text($0.rawValue) })]
    // Generated tests use link faults only if the driver states that its machine models them: otherwise their effects
    // would count as failures of the lock.
    let all = own + faults + fixture.disturbances
    let disturbances = all.filter { $0.level != .link || linkFaults.contains($0.fault) }
    let isLossy = fixture.conditions.contains("loss")
    var abilities = Abilities(
      stimuli: stimuli.map { $0 + (fixture.stimuli ?? []) }, faults: all.map(\.fault),
      settings: fixture.settings.flatMap { around in self.settings.map { around + $0 } },
      conditions: conditions + fixture.conditions, reports: reports + fixture.reports,
      showsEffects: showsEffects || fixture.showsEffects,
      slack: settings.slack + (isLossy ? ConnectionParameters().longestDelay * 2 : .zero),
      isInVirtualTime: settings.isInVirtualTime,
      arguments: arguments.map { ($0.stimulus, $0.values) } + fixture.arguments,
      disturbances: disturbances)
    let checked = faults + fixture.disturbances
    abilities.particulars.fault = { fault throws(LabFault) in try checked.check(fault) }
    abilities.isSimulated = settings.isInVirtualTime
    abilities.keepsRunning = settings.isInVirtualTime
    return abilities
  }

  /// Returns the conflict if a driver and the fixture of its lock use the same name, so that one of them would never
  /// receive it; `nil` if there is none.
  func nameConflict(with fixture: Abilities) -> String? {
    if let name = stimuli?.first(where: { fixture.stimuli?.contains($0) == true }) {
      return "both the driver and its lock's side have the stimulus `\(name)`, and only one can be given it"
    }
    let others = [Self.att] + LinkFault.names + fixture.disturbances.map(\.fault)
    if let name = faults.map(\.fault).first(where: others.contains) {
      return "the driver's fault `\(name)` has the name of one of its lock's side: give it another name"
    }
    return nil
  }

  /// Returns the readings of a driver and of its lock's fixture.
  func readings(beside others: [String]) -> [String] {
    readings + others.filter { !readings.contains($0) }
  }
}
