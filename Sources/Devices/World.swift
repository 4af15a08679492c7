public import Journal
public import System
public import Automata
public import Documents
public import Harness
import Models
public import Basics

/// All machines and devices that scenarios can name.
public struct World {
  public let machines: MachineLibrary
  public let devices: Devices
  public let reader: ScenarioReader

  /// - Parameter messages: Receives warnings about a machine's file, for its author.
  public init(
    answerTimeout: Interval = .seconds(5), lab: LabSettings = LabSettings(), messages: StatusLine? = nil
  ) {
    devices = Devices(answerTimeout: answerTimeout, lab: lab)
    machines = MachineLibrary(MachineDefinition.catalog, read: World.readMachine) {
      messages?.say($0.map(\.description).joined(separator: "\n"))
    }
    reader = ScenarioReader(machines: machines, provider: devices)
  }

  /// Returns the device for `--device`.
  public func deviceSpec(_ text: String?) throws(DeviceProblem) -> DeviceSpec? {
    if let device = devices.bench.device { return device }
    return try text.map { text throws(DeviceProblem) in try DeviceSpec(text: text) }
  }

  /// Reads and checks the scenarios of files and folders.
  ///
  /// Prints their errors; returns `nil` if there are any.
  ///
  /// - Parameter note: Receives the errors, if there are any.
  public func scenarios(
    _ paths: [String], besides results: [String] = [], _ messages: StatusLine,
    note: ([Diagnostic]) -> Void = { _ in }
  ) -> ScenarioSet? {
    let set = ScenarioSet(paths, besides: results, reader: reader)
    for folder in set.empty { messages.say("lockstep: \(folder): there is no scenario in this folder") }
    guard set.problems.isEmpty else {
      note(set.problems)
      // After a stop request, programs are no longer asked, which is not an error of a scenario.
      if !Interruption.isRequested {
        messages.say(set.problems.map(\.description).joined(separator: "\n"))
      }
      return nil
    }
    return set
  }

  /// Returns a random default seed, which is short so that it is easy to type.
  public func drawSeed() -> UInt32 {
    UInt32(truncatingIfNeeded: SystemEntropy().next())
  }

  /// Returns the machine that the command line names.
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
