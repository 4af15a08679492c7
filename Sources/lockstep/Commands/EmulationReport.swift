import Bluetooth
import Basics
import Devices
import Emulator
import System
import Transports

/// Prints the events of an emulated lock.
final class EmulationReport: EmulationAudience {
  private let console: Console
  private let format: OutputFormat

  init(_ console: Console, _ format: OutputFormat) {
    self.console = console
    self.format = format
  }

  func announce(_ lock: EmulationAnnouncement) {
    let state = lock.isRegistered.map { $0 ? "registered" : "not registered" }
    let what = [lock.model.map { "\(lock.name) \($0)" } ?? lock.name, lock.uuid, state].compactMap(\.self)
    console.print(
      in: format,
      "\(what.joined(separator: ", ")), advertising as \(lock.address) on "
        + lock.endpoints.joined(separator: ", "),
      [
        "advertising": .omittingNil([
          "lock": .text(lock.name), "model": lock.model.map(JSON.text), "uuid": lock.uuid.map(JSON.text),
          "address": .text(lock.address), "registered": lock.isRegistered.map(JSON.flag),
          "on": .list(lock.endpoints.map(JSON.text)), "control": lock.control.map { .text("unix:" + $0) },
          "keyFile": lock.keyFile.map(JSON.text),
        ])
      ])
  }

  /// Prints the addresses of the controllers when there is no lock.
  func announce(controllers endpoints: [String]) {
    console.print(
      in: format,
      "\(counted(endpoints.count, "controller")) listening on \(endpoints.joined(separator: ", "))",
      ["listening": .list(endpoints.map(JSON.text))])
  }

  func tell(_ notice: LockNotice) { line("notice", "\(notice)") }

  func say(_ diagnostic: String) { line("diagnostic", diagnostic) }

  private func line(_ kind: String, _ text: String) {
    console.print(in: format, "  " + text, ["t": .text(Waiting.now.secondsText), kind: .text(text)])
  }
}
