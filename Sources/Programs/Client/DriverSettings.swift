import Basics
import Bluetooth
import Conformance
import Emulator
import Links

/// Which lock on the air a driver is for.
enum DriverTarget: Equatable {
  case address(PeerAddress)
  /// The one that advertises all of that.
  case advertising(name: String?, services: [BluetoothUUID])
}

/// The settings of a driver device that concern the transport to its lock rather than the driver.
struct DriverSettings {
  var target: DriverTarget
  var host: HostSettings
  /// After which silence the controller is asked for a sign of life; `nil` where it cannot fail in silence.
  var silenceLimit: Interval?
  /// How much later than it happened something may be observed, beside what the link holds up.
  var slack = Interval.zero
  /// Whether time passes only as it is let pass.
  var isInVirtualTime = true
}

extension ProgramIntroduction {
  /// The fault that is ours for every lock.
  static let att = "att"

  /// What a driver can serve whose lock has such a fixture.
  func abilities(around fixture: Abilities, _ settings: DriverSettings) -> Abilities {
    let own = [Disturbance(.att, Self.att, MalformedBluetooth.allCases.map { .text($0.rawValue) })]
    // Tests are generated with what takes a link away where the driver says that its machine knows of that: one that hears
    // nothing of it would call it a fault of the lock.
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

  /// What both a driver and the fixture of its lock have under one name: one of the two would never be given it. `nil` where
  /// there is nothing.
  func clash(with fixture: Abilities) -> String? {
    if let name = stimuli?.first(where: { fixture.stimuli?.contains($0) == true }) {
      return "both the driver and its lock's side have the stimulus `\(name)`, and only one can be given it"
    }
    let others = [Self.att] + LinkFault.names + fixture.disturbances.map(\.fault)
    if let name = faults.map(\.fault).first(where: others.contains) {
      return "the driver's fault `\(name)` has the name of one of its lock's side: give it another name"
    }
    return nil
  }

  /// The readings of a driver and of its lock's side.
  func readings(beside others: [String]) -> [String] {
    readings + others.filter { !readings.contains($0) }
  }
}
