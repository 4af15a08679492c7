public import Journal
public import System
public import Automata
public import Documents
public import Harness
import Models
public import Basics

/// Everything that scenarios can name: machines and devices.
public struct World {
  public let machines: MachineLibrary
  public let devices: Devices
  public let reader: ScenarioReader

  /// - Parameter messages: receives warnings about a machine's file, for its author.
  public init(
    answerTimeout: Interval = .seconds(5), lab: LabSettings = LabSettings(), messages: StatusLine? = nil
  ) {
    devices = Devices(answerTimeout: answerTimeout, lab: lab)
    machines = MachineLibrary(MachineDefinition.catalog, read: World.readMachine) {
      messages?.say($0.map(\.description).joined(separator: "\n"))
    }
    reader = ScenarioReader(machines: machines, provider: devices)
  }

  /// The device given with `--device`.
  public func deviceSpec(_ text: String?) throws(DeviceProblem) -> DeviceSpec? {
    if let device = devices.bench.device { return device }
    return try text.map { text throws(DeviceProblem) in try DeviceSpec(text: text) }
  }

  /// Scenarios of files and folders, read and checked.
  ///
  /// Says what is wrong with them; `nil` when something is.
  ///
  /// - Parameter note: given what is wrong with them, if something is.
  public func scenarios(
    _ paths: [String], besides results: [String] = [], _ messages: StatusLine,
    note: ([Diagnostic]) -> Void = { _ in }
  ) -> ScenarioSet? {
    let set = ScenarioSet(paths, besides: results, reader: reader)
    for folder in set.empty { messages.say("lockstep: \(folder): there is no scenario in this folder") }
    guard set.problems.isEmpty else {
      note(set.problems)
      // What a program was not asked any more is no mistake of a scenario's.
      if !Interruption.isRequested {
        messages.say(set.problems.map(\.description).joined(separator: "\n"))
      }
      return nil
    }
    return set
  }

  /// A default seed; short, so that it is easily typed.
  public func drawSeed() -> UInt32 {
    UInt32(truncatingIfNeeded: SystemEntropy().next())
  }

  /// The machine that the command line names.
  public func machine(_ name: String) throws(UsageError) -> MachineLibrary.Entry {
    do {
      return try machines.machine(name)
    } catch {
      throw UsageError(error.description + (error.hint.map { ": \($0)" } ?? ""))
    }
  }

  /// Reads the file of a machine.
  public static func readMachine(_ path: String) throws(MachineLibrary.Missing) -> MachineFile {
    do {
      return try ScenarioFiles.read(path, limits: MachineLibrary.limits) { bytes throws(DocumentError) in
        try MachineFile(bytes, name: path)
      }
    } catch {
      throw MachineLibrary.Missing(error)
    }
  }
}
