package import Basics
import Bluetooth
import Conformance
import System

/// The programs of a run: each command is started and greeted once, and keeps running between cases.
package final class ProgramPool {
  private struct Key: Hashable {
    var command: String
    var role: ProgramConversation.Role
    var folder: String?
  }

  private let answerTimeout: Interval
  private var devices: [(command: String, device: ExecDevice)] = []
  private var programs: [(key: Key, program: ProgramConversation)] = []
  /// Stores the programs' output other than answers, if requested.
  package var output: ProgramOutput? {
    didSet {
      for (_, device) in devices { device.output = output }
      for (_, program) in programs { program.output = output }
    }
  }

  package init(answerTimeout: Interval = .seconds(5)) { self.answerTimeout = answerTimeout }

  /// Returns the program of a command that is a device, after its start and greeting.
  package func device(_ command: String) -> ExecDevice {
    if let known = devices.first(where: { $0.command == command })?.device { return known }
    let device = ExecDevice(
      command: command, answerTimeout: answerTimeout, isStopped: { Interruption.isHeard })
    devices.append((command, device))
    device.output = output
    // A stop request during the greeting must leave no program behind.
    Interruption.listenUnlessDecided()
    device.greet()
    return device
  }

  /// Returns the program of a command at one end of a link, after its start and greeting.
  package func program(
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
    Interruption.listenUnlessDecided()
    program.greet()
    return program
  }

  /// Takes the diagnostics of the devices at the end of all tests, including output since the last one.
  package func takeFinalDiagnostics() -> [String] {
    devices.sorted { $0.command < $1.command }.flatMap { $0.device.takeFinalDiagnostics() }
  }

  /// Lets all programs end, and kills those that do not.
  package func shutDown() {
    for (_, device) in devices.sorted(by: { $0.command < $1.command }) { device.shutDown() }
    for (_, program) in programs { program.shutDown() }
    (devices, programs) = ([], [])
  }
}
