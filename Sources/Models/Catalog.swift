public import Automata

extension MachineDefinition {
  /// Every machine that is known by name, in the order in which they are listed.
  public static let catalog: [MachineDefinition] = [.sesame, .sesameTable, .socket, .launcher, .flow, .door]

  /// The machine of the catalog with a name, or `nil`.
  public static func named(_ name: String) -> MachineDefinition? {
    catalog.first { $0.name == name }
  }
}
