public import Automata

extension MachineDefinition {
  /// Every machine with a known name and the rules for its devices, in the order in which they are listed.
  private static let entries: [(machine: MachineDefinition, rules: [TraceRule])] = [
    (.sesame, sesameRules), (.sesameTable, []), (.socket, []), (.launcher, []), (.flow, []), (.door, []),
  ]

  /// Every machine with a known name, in the order in which they are listed.
  public static let catalog: [MachineDefinition] = entries.map(\.machine)

  /// Returns the machine of the catalog with a name, or `nil`.
  public static func named(_ name: String) -> MachineDefinition? {
    catalog.first { $0.name == name }
  }

  /// Returns the rules for devices of a machine, in addition to what its states allow: those of the catalog's machine
  /// with the same name. A machine without all events of that machine is a different one, and has no rules.
  public static func rules(of machine: MachineDefinition) -> [TraceRule] {
    guard let entry = entries.first(where: { $0.machine.name == machine.name }) else { return [] }
    let events = Set(machine.events.map(\.name))
    return entry.machine.events.allSatisfy { events.contains($0.name) } ? entry.rules : []
  }
}
