import System
import Automata
import Documents
import Harness
import Models
import Basics

/// Everything that scenarios can name: machines and devices.
struct World {
  let machines: MachineLibrary
  let devices: Devices
  let reader: ScenarioReader

  init(answerTimeout: Interval = .seconds(5), lab: LabSettings = LabSettings()) {
    devices = Devices(answerTimeout: answerTimeout, lab: lab)
    machines = MachineLibrary(MachineDefinition.catalog, read: World.readMachine)
    reader = ScenarioReader(machines: machines, provider: devices)
  }

  /// The device that somebody named with `--device`.
  func deviceSpec(_ text: String?) throws(DeviceProblem) -> DeviceSpec? {
    if let device = devices.bench.device { return device }
    return try text.map { text throws(DeviceProblem) in try DeviceSpec(text: text) }
  }

  /// A seed for who gives none; short, so that it is easily typed.
  func drawSeed() -> UInt32 {
    UInt32(truncatingIfNeeded: SystemEntropy().next())
  }

  /// The machine that the command line names.
  func machine(_ name: String) throws(UsageError) -> MachineLibrary.Entry {
    do {
      return try machines.machine(name)
    } catch {
      throw UsageError(error.description + (error.hint.map { ": \($0)" } ?? ""))
    }
  }

  /// Reads a machine from YAML or, where the name says so, from DOT.
  private static func readMachine(_ path: String) throws(MachineLibrary.Missing) -> MachineDefinition {
    do {
      let isDot = path.hasSuffix(".dot") || path.hasSuffix(".gv")
      return try ScenarioFiles.read(path, limits: Limits(bytes: 16 << 20)) { bytes throws(DocumentError) in
        try isDot ? MachineDefinition(dot: bytes, name: path) : MachineDefinition(yaml: bytes, name: path)
      }
    } catch {
      throw MachineLibrary.Missing(error.description)
    }
  }
}
