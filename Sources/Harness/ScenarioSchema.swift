import Automata
import Conformance
public import Basics
public import Documents

extension Scenario {
  /// The JSON Schema (draft-07) of a scenario, as editors read it.
  ///
  /// It contains the grammar, the arguments of the stimuli and the values of the readings of the built-in
  /// machines. It does not depend on the scenario's machine: only the reader knows that a door has no
  /// stimulus `lock`.
  public static let schema: JSON = schema(.any, title: "A scenario of Lockstep")

  /// The JSON Schema (draft-07) of one machine's scenarios, with its names and those of its devices.
  ///
  /// - Parameters:
  ///   - machine: the machine.
  ///   - device: the device of the scenarios; `nil` for any device of the machine.
  /// - Throws: what is wrong with the device, or why it does not fit the machine.
  public static func schema(
    of machine: MachineLibrary.Entry, on device: DeviceSpec?, provider: any DeviceProvider
  ) throws(DeviceProblem) -> JSON {
    var devices: [Known] = []
    if let device {
      let description = try provider.describe(device)
      try description.check(device, against: machine)
      devices = [(device, description)]
    } else {
      devices = emulators(of: machine, provider)
    }
    let names = ScenarioNames(machine, on: devices, isFixed: device != nil)
    return schema(
      ScenarioGrammar(names: names), title: "A scenario of Lockstep for the machine \(machine.machine.name)")
  }

  /// The forms for completion in a scenario that is being edited, and those that they refer to.
  ///
  /// - Parameters:
  ///   - machine: its machine, if known.
  ///   - device: its device. Programs and real locks are not asked, so that names that only they know may be
  ///     anything.
  public static func forms(
    of machine: MachineLibrary.Entry?, on device: DeviceSpec?, provider: any DeviceProvider
  ) -> (scenario: Form, definitions: [(name: String, form: Form)]) {
    let grammar: ScenarioGrammar
    if let machine {
      var devices: [Known] = []
      switch device?.kind {
      case nil: devices = emulators(of: machine, provider)
      case .emulator?:
        let spec = device.map { DeviceSpec($0.kind, $0.name) }
        devices = spec.flatMap { spec in (try? provider.describe(spec)).map { [(spec, $0)] } } ?? []
      case .exec?, .driver?, .lock?: break
      }
      grammar = ScenarioGrammar(names: ScenarioNames(machine, on: devices, isFixed: false))
    } else {
      grammar = .any
    }
    return (.mapping(grammar.scenario, others: nil), [("step", grammar.step)])
  }

  private typealias Known = (spec: DeviceSpec, description: DeviceDescription)

  /// The emulated devices that can be compared with a machine.
  private static func emulators(
    of machine: MachineLibrary.Entry, _ provider: any DeviceProvider
  ) -> [Known] {
    provider.emulators.compactMap { name in
      let spec = DeviceSpec(.emulator, name)
      guard let description = try? provider.describe(spec),
        description.machines?.contains(machine.machine.name) ?? true
      else { return nil }
      return (spec, description)
    }
  }

  private static func schema(_ grammar: ScenarioGrammar, title: String) -> JSON {
    Form.mapping(grammar.scenario, others: nil).schema(
      title: title, summary: "What is to be done with a lock, and what is expected of it.",
      definitions: [("step", grammar.step)])
  }
}
