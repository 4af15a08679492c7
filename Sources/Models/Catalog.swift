public import Automata

extension MachineDefinition {
  /// Every machine that is known by name with what must never happen on its devices, in the order in which they are
  /// listed.
  private static let entries: [(machine: MachineDefinition, rules: [TraceRule])] = [
    (.sesame, sesameRules), (.sesameTable, []), (.socket, []), (.launcher, []), (.flow, []), (.door, []),
  ]

  /// Every machine that is known by name, in the order in which they are listed.
  public static let catalog: [MachineDefinition] = entries.map(\.machine)

  /// The machine of the catalog with a name, or `nil`.
  public static func named(_ name: String) -> MachineDefinition? {
    catalog.first { $0.name == name }
  }

  /// What must never happen on devices of a machine, beside what its states allow: the rules of the machine of its name in
  /// the catalog, where it knows all that is done to that one. Another machine that has come by the name has none.
  public static func rules(of machine: MachineDefinition) -> [TraceRule] {
    guard let entry = entries.first(where: { $0.machine.name == machine.name }) else { return [] }
    let events = Set(machine.events.map(\.name))
    return entry.machine.events.allSatisfy { events.contains($0.name) } ? entry.rules : []
  }
}
