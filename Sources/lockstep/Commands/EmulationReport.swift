import Sesame
import Bluetooth
import Basics
import Devices
import Emulator
import System
import Transports

/// What is printed of an emulated lock.
final class EmulationReport: EmulationAudience {
  private let console: Console
  private let format: OutputFormat

  init(_ console: Console, _ format: OutputFormat) {
    self.console = console
    self.format = format
  }

  func announce(
    _ lock: LockPeripheral, as name: String, on places: [String], control: String?, keyFile: String?
  ) {
    let uuid = lock.ownerKey.deviceID.description
    let isRegistered = lock.key != nil
    let state = isRegistered ? "registered" : "not registered"
    console.print(
      in: format,
      "\(name) \(lock.specification.model), \(uuid), \(state), advertising as \(lock.address) on "
        + places.joined(separator: ", "),
      [
        "advertising": .known([
          "lock": .text(name), "model": .text(lock.specification.model.description), "uuid": .text(uuid),
          "address": .text(lock.address.description), "registered": .flag(isRegistered),
          "on": .list(places.map(JSON.text)), "control": control.map { .text("unix:" + $0) },
          "keyFile": keyFile.map(JSON.text),
        ])
      ])
  }

  /// Says who listens when there is no lock.
  func announce(controllers places: [String]) {
    console.print(
      in: format, "\(counted(places.count, "controller")) listening on \(places.joined(separator: ", "))",
      ["listening": .list(places.map(JSON.text))])
  }

  func tell(_ notice: LockNotice) { line("notice", "\(notice)") }

  func say(_ diagnostic: String) { line("diagnostic", diagnostic) }

  private func line(_ kind: String, _ text: String) {
    console.print(in: format, "  " + text, ["t": .text(Waiting.now.secondsText), kind: .text(text)])
  }
}
