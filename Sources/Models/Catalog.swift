public import Automata

extension MachineDefinition {
  /// Every machine with a known name, in the order in which they are listed.
  public static let catalog: [MachineDefinition] = [.sesame, .sesameTable, .socket, .launcher, .flow, .door]

  /// Returns the machine of the catalog with a name, or `nil`.
  public static func named(_ name: String) -> MachineDefinition? {
    catalog.first { $0.name == name }
  }
}
