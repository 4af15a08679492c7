import Automata
import Conformance
public import Basics
import Documents

extension Scenario {
  /// The JSON Schema (draft-07) of a scenario, as editors read it.
  ///
  /// It knows the grammar, and what goes with the stimuli, and what the readings are, of the machines that are built in.
  /// Which machine a scenario is of, and so that `lock` is no stimulus of a door, only the reader knows.
  public static let schema: JSON = schema(.any, title: "A scenario of Lockstep")

  /// The JSON Schema (draft-07) of scenarios of one machine, which knows its names and those of its devices.
  ///
  /// - Parameters:
  ///   - machine: the machine.
  ///   - device: the device that the scenarios are for; any that goes with the machine, where there is none.
  /// - Throws: what is wrong with the device, or why it does not go with the machine.
  public static func schema(
    of machine: MachineLibrary.Entry, on device: DeviceSpec?, provider: any DeviceProvider
  ) throws(DeviceProblem) -> JSON {
    var devices: [(spec: DeviceSpec, description: DeviceDescription)] = []
    if let device {
      let description = try provider.describe(device)
      try description.check(device, against: machine)
      devices = [(device, description)]
    } else {
      for name in provider.emulators {
        let spec = DeviceSpec(.emulator, name)
        let description = try provider.describe(spec)
        if description.machines?.contains(machine.machine.name) ?? true {
          devices.append((spec, description))
        }
      }
    }
    let names = ScenarioNames(machine, on: devices, isFixed: device != nil)
    return schema(
      ScenarioGrammar(names: names), title: "A scenario of Lockstep for the machine \(machine.machine.name)")
  }

  private static func schema(_ grammar: ScenarioGrammar, title: String) -> JSON {
    Form.mapping(grammar.scenario, others: nil).schema(
      title: title, summary: "What is to be done with a lock, and what is expected of it.",
      definitions: [("step", grammar.step)])
  }
}
