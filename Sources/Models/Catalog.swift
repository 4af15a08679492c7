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

  /// What must never happen on devices of a machine, beside what its states allow; nothing for one that is not in the
  /// catalog.
  public static func rules(of name: String) -> [TraceRule] {
    entries.first { $0.machine.name == name }?.rules ?? []
  }
}
