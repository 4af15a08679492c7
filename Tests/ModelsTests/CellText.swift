import Automata
import Testing

/// Everything that a machine allows in a state, a line each, in the order of the definition: what the tester
/// does, then what happens by itself.
///
///     powerOff --> Failed (off) ; didFail(bluetoothOff)
///     after 3 s ! removeService, stopAdvertising --> AddingService
func cells(of state: String, in definition: MachineDefinition) throws -> [String] {
  let machine = try Machine(definition)
  let number = try #require(machine.state(named: state))
  let caused = (0..<machine.eventCount).flatMap { machine.edges(from: number, on: $0) }
  return (caused + machine.spontaneous[number]).map { edge in
    let row = definition.transitions[edge.transition]
    var words: [String] = []
    if case .event(let name) = row.trigger { words.append(name) }
    if row.window != .any { words.append("\(row.window)") }
    if !row.given.isEmpty { words.append("given " + row.given.joined(separator: " or ")) }
    if !row.unless.isEmpty { words.append("unless " + row.unless.joined(separator: " or ")) }
    if !row.before.isEmpty { words.append("! " + row.before.joined(separator: ", ")) }
    words.append("-->")
    switch row.to {
    case .states: words.append(definition.states[edge.target].name)
    case .shift: words.append("> " + definition.states[edge.target].name)
    case .stay: words.append("=")
    }
    if !row.after.isEmpty { words.append("; " + row.after.joined(separator: ", ")) }
    return words.joined(separator: " ")
  }
}
