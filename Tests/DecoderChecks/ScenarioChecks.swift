import Sesame
import SesameDevice
import Automata
import Conformance
import Documents
import Emulator
import Harness
import Models
import Basics

/// Reads scenarios as `lockstep validate` does, but for machines in files: there are none here.
struct ScenarioChecks {
  private var reader = Self.makeReader()
  private var count = 0

  private static func makeReader() -> ScenarioReader {
    let machines = MachineLibrary(MachineDefinition.catalog) { path throws(MachineLibrary.Missing) in
      throw MachineLibrary.Missing("no file `\(path)`")
    }
    return ScenarioReader(machines: machines, provider: EmulatedDevices())
  }

  mutating func run(on bytes: [UInt8]) throws(DecoderDefect) {
    count += 1
    // A library remembers every name that it was asked for.
    if count % 4096 == 0 { reader = Self.makeReader() }
    let scenario: Scenario
    do throws(DocumentError) {
      scenario = try reader.read(bytes, path: "scenario.yaml")
    } catch {
      guard !error.description.isEmpty else { throw DecoderDefect("an error says nothing") }
      return
    }
    let text = scenario.yaml()
    let again: Scenario
    do throws(DocumentError) {
      again = try reader.read([UInt8](text.utf8), path: "again.yaml")
    } catch {
      throw DecoderDefect("\(scenario) is written as\n\(text)which is none: \(error)")
    }
    guard again == scenario else {
      throw DecoderDefect("\(scenario) is written as\n\(text)which is \(again)")
    }
  }
}

/// The emulated devices, to be described and never made.
private struct EmulatedDevices: DeviceProvider {
  var emulators: [String] {
    EmulatedLockSpecification.names.map(\.name) + ["reference", "socket", "launcher", "flow", "door"]
  }

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    guard spec.kind == .emulator else { throw DeviceProblem(.name, "only emulated devices are known here") }
    switch spec.name {
    case "reference": return description("sesame-table", ReferenceLock().abilities)
    case "socket": return description("socket", AppDevice<SocketApp>().abilities)
    case "launcher": return description("launcher", AppDevice<LauncherApp>().abilities)
    case "flow": return description("flow", AppDevice<FlowApp>().abilities)
    case "door": return description("door", AppDevice<DoorApp>().abilities)
    default: return try lock(spec)
    }
  }

  private func description(_ machine: String, _ abilities: Abilities) -> DeviceDescription {
    DeviceDescription(family: machine, machines: [machine], abilities: abilities, options: ["defect"])
  }

  private func lock(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    do {
      let specification = try EmulatedLockSpecification(
        parsing: spec.name, settings: spec.settings.map { ($0.name, $0.value) })
      let device = ClientDevice(
        DirectLink(specification, seed: 0), conditions: specification.channel.isFair ? [] : ["loss"],
        secrets: { SeededGenerator(seed: 0, for: "client") })
      return DeviceDescription(
        family: specification.model.generation == .os2 ? "sesame-os2" : "sesame-os3", machines: ["sesame"],
        abilities: device.abilities, options: EmulatedLockSpecification.settingNames,
        readings: ["battery", "history"])
    } catch {
      throw DeviceProblem(.name, error.description)
    }
  }

  func usualDevice(of machine: String) -> DeviceSpec? {
    let name = machine == "sesame" ? "sesame5" : machine == "sesame-table" ? "reference" : machine
    return emulators.contains(name) ? DeviceSpec(.emulator, name) : nil
  }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    throw LabFault(.noDevice, "nothing is run here")
  }
}
