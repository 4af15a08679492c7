public import Automata

extension MachineDefinition {
  /// The door of Stately's documentation: two states that print their names on entry.
  public static let door = MachineDefinition(
    name: "door", summary: "A door that opens and closes, and writes a line each time.",
    states: [
      State("Closed", entry: ["print(Closed)"]),
      State("Opened", entry: ["print(Opened)"]),
    ],
    events: [Event("Open"), Event("Close")],
    transitions: [
      Transition(.event("Open"), from: .states(["Closed"]), to: .states(["Opened"])),
      Transition(.event("Close"), from: .states(["Opened"]), to: .states(["Closed"])),
    ],
    starts: [Start("Closed")])
}
