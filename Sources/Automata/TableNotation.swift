import Basics

extension MachineDefinition {
  /// Adds the transitions of a table in the form of the lock's documentation: one column per status, one row per
  /// event.
  ///
  ///     | action/status | noSignal    | receivedBle | connecting  |
  ///     |:-------------:|:-----------:|:-----------:|:-----------:|
  ///     | closeTo       | receivedBle |             |             |
  ///     | connect       |             | connecting  |             |
  ///     | linkUp within 30 s |        |             | waitingGatt |
  ///
  /// - A column head names a state, or several, separated by `/`, that share their cells.
  /// - A cell names the next state, or several, separated by `/`, of which the device chooses one. `=` stays in the
  ///   state, and an empty cell refuses the event. `~` stands for the column's own status.
  /// - A row begins with the event's name, or with `after 3 s` for a timer. `given A or B`, `unless A or B`,
  ///   `option A or B`, `within 5 s`, `within 1 s to 5 s` and `within A - 1 s to A + 5 s` limit when it can happen.
  /// - `> state` leads to another state of the same status, in which the time of the previous state continues.
  /// - `! a, b` in a cell names effects before the change of state, `; a, b` effects after it.
  ///
  /// Names of states without parentheses are completed with the region: `noSignal` in the region `registered` is the
  /// state `noSignal (registered)`. States are added in the order of the columns in which they first appear.
  ///
  /// A malformed table is a programming error and traps.
  public mutating func add(
    table: String, region: String? = nil, origin: Transition.Origin = .seed
  ) {
    let lines = table.split(separator: "\n").map(Self.cells(of:)).filter { !$0.isEmpty }
    precondition(lines.count >= 2, "a table needs a head and a rule")
    let columns = lines[0].dropFirst().map { head in
      head.split(separator: "/").map { Self.state(trim($0), in: region) }
    }
    for name in columns.joined() where !states.contains(where: { $0.name == name }) {
      states.append(State(name))
    }
    for cells in lines.dropFirst(2) {
      precondition(cells.count == columns.count + 1, "a row has \(cells.count) cells: \(cells)")
      let label = RowLabel(cells[0])
      for (sources, cell) in zip(columns, cells.dropFirst()) where !cell.isEmpty {
        add(cell: cell, label: label, sources: sources, region: region, origin: origin)
      }
    }
  }

  /// Declares regions: the states of a region have its name as the last word of a final parenthesis.
  public mutating func declare(regions: [String]) {
    for number in states.indices {
      let name = states[number].name
      guard let region = regions.first(where: { name.hasSuffix("(\($0))") || name.hasSuffix(" \($0))") })
      else { continue }
      states[number].region = region
    }
  }

  private mutating func add(
    cell: String, label: RowLabel, sources: [String], region: String?, origin: Transition.Origin
  ) {
    let parts = RowOutcome(cell)
    // A cell with `~` means another state in each column of a group.
    let groups = parts.targets.contains { $0.hasPrefix("~") } ? sources.map { [$0] } : [sources]
    for group in groups {
      let targets = parts.targets.map { target in
        Self.state(
          target.hasPrefix("~") ? State.status(of: group[0]) + target.dropFirst() : target, in: region)
      }
      transitions.append(
        Transition(
          label.trigger, from: .states(group), to: parts.target(targets),
          window: label.window, before: parts.before, after: parts.after, given: label.given,
          unless: label.unless, options: label.options, origin: origin))
    }
  }

  private static func cells(of line: Substring) -> [String] {
    let line = trim(line)
    guard line.hasPrefix("|"), line.hasSuffix("|"), line.count > 1 else { return [] }
    return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map(trim)
  }

  private static func state(_ name: String, in region: String?) -> String {
    guard let region, !name.hasSuffix(")") else { return name }
    return "\(name) (\(region))"
  }
}
