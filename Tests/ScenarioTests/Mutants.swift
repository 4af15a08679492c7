import Automata

/// Machines with one wrong transition each, where a scenario passes by.
///
/// For every stimulus that was given, the newest first, and every state of the status that was shown then: the row is
/// missing, the row leads to another status, or, where there is none, a row too many.
struct Mutants: Sequence, IteratorProtocol {
  /// A wrong machine and what is wrong with it.
  struct Mutant {
    var name: String
    var definition: MachineDefinition
  }

  private let original: MachineDefinition
  /// What is still to be tried, the next one last.
  private var cells: [(state: String, event: String)] = []
  private var ready: [Mutant] = []

  init(of definition: MachineDefinition, tried: [(status: String?, stimulus: String)]) {
    original = definition
    var seen = Set<String>()
    for (status, event) in tried {
      for state in definition.states where status == nil || state.status == status {
        if seen.insert("\(state.name)|\(event)").inserted { cells.append((state.name, event)) }
      }
    }
  }

  mutating func next() -> Mutant? {
    while ready.isEmpty {
      guard let cell = cells.popLast() else { return nil }
      ready = mutants(cell.state, cell.event)
    }
    return ready.removeLast()
  }

  private func mutants(_ state: String, _ event: String) -> [Mutant] {
    let rows = original.transitions.indices.filter { original.transitions[$0].starts(from: state, on: event) }
    guard let row = rows.first else {
      guard let target = elsewhere(from: state) else { return [] }
      var wrong = original
      wrong.transitions.append(Transition(.event(event), from: .states([state]), to: .states([target])))
      return [Mutant(name: "\(event) is allowed in \(state)", definition: wrong)]
    }
    var missing = original
    missing.remove(state, fromRow: row)
    var mutants = [Mutant(name: "\(event) is missing in \(state)", definition: missing)]
    if let target = elsewhere(from: state, besides: original.transitions[row]) {
      var wrong = missing
      var changed = original.transitions[row]
      changed.from = .states([state])
      changed.to = .states([target])
      wrong.transitions.append(changed)
      mutants.append(Mutant(name: "\(event) leads from \(state) to \(target)", definition: wrong))
    }
    return mutants
  }

  /// A state of another status than those that a row leads to or, where there is no row, than a state's own.
  private func elsewhere(from state: String, besides row: Transition? = nil) -> String? {
    var right = [status(of: state)]
    if case .states(let names)? = row?.to { right = names.map(status) }
    return original.states.first { !right.contains($0.status) }?.name
  }

  private func status(of state: String) -> String {
    original.states.first { $0.name == state }?.status ?? state
  }
}

extension Transition {
  fileprivate func starts(from state: String, on event: String) -> Bool {
    guard trigger == .event(event), case .states(let names) = from else { return false }
    return names.contains(state)
  }
}

extension MachineDefinition {
  /// Takes a state from those that a row starts from, and the row with it when it is the last one.
  fileprivate mutating func remove(_ state: String, fromRow row: Int) {
    guard case .states(let names) = transitions[row].from else { return }
    let rest = names.filter { $0 != state }
    if rest.isEmpty {
      transitions.remove(at: row)
    } else {
      transitions[row].from = .states(rest)
    }
  }
}
