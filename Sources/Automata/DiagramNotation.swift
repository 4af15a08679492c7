extension MachineDefinition {
  /// Adds the transitions of a diagram in the syntax of Mermaid's `stateDiagram`, one arrow per line.
  ///
  ///     stateDiagram
  ///       Idle --> Opening : open
  ///       Opening --> AddingService : powerOn
  ///       WaitingForSubscription --> AddingService : after 3 s ! removeService, stopAdvertising
  ///       Connected --> = : write ; didReceive
  ///
  /// A label begins like the row of a table, with the event's name or `after 3 s`. It may end with `! a, b` for
  /// effects before the change of state and `; a, b` for effects after it.
  ///
  /// Either side may name several states, separated by `/`. On the right, `=` stays in the state without restarting
  /// its time, and `> B` shifts to a state of the same status, in which the time continues. States that are not
  /// defined yet are added in order of appearance.
  ///
  /// A malformed diagram is a programming error and traps.
  public mutating func add(diagram: String, origin: Transition.Origin = .seed) {
    for line in diagram.split(separator: "\n").map(trim)
    where !line.isEmpty && !line.hasPrefix("stateDiagram") && !line.hasPrefix("%%") {
      guard let arrow = line.firstRange(of: " --> "), let colon = line.firstRange(of: " : ") else {
        preconditionFailure("no arrow with a label in '\(line)'")
      }
      let outcome = RowOutcome(line[colon.upperBound...])
      add(
        RowLabel(outcome.targets.joined(separator: "/")), from: line[..<arrow.lowerBound],
        to: line[arrow.upperBound..<colon.lowerBound], outcome, origin: origin)
    }
  }

  /// Adds the transitions of a list of mappings, one per line: an input, the states from and to, and the effects.
  ///
  ///     /* Input                      |       from      to       |  effect  */
  ///     initialize                    | uninitialized => initialized
  ///     upgrade given upgradePending  | initialized   => upgrading | showUpgrade
  ///
  /// The first column is written like the row of a table. Effects follow the change of state; those after a `!`
  /// precede it. States that are not defined yet are added in order of appearance.
  ///
  /// A malformed list is a programming error and traps.
  public mutating func add(mappings: String, origin: Transition.Origin = .seed) {
    for line in mappings.split(separator: "\n").map(trim) where !line.isEmpty && !line.hasPrefix("/*") {
      let columns = line.split(separator: "|").map(trim)
      guard (2...3).contains(columns.count), let arrow = columns[1].firstRange(of: "=>") else {
        preconditionFailure("no mapping in '\(line)'")
      }
      let effects = columns.count == 3 ? columns[2] : ""
      let outcome = RowOutcome(effects.hasPrefix("!") ? effects : "; " + effects)
      add(
        RowLabel(columns[0]), from: columns[1][..<arrow.lowerBound], to: columns[1][arrow.upperBound...],
        outcome, origin: origin)
    }
  }

  private mutating func add(
    _ label: RowLabel, from: Substring, to: Substring, _ outcome: RowOutcome, origin: Transition.Origin
  ) {
    let sources = from.split(separator: "/").map(trim)
    let leads = RowOutcome(to)
    for name in sources + leads.targets where name != "=" && !states.contains(where: { $0.name == name }) {
      states.append(State(name))
    }
    transitions.append(
      Transition(
        label.trigger, from: .states(sources), to: leads.target(leads.targets),
        window: label.window, before: outcome.before, after: outcome.after, given: label.given,
        unless: label.unless, options: label.options, origin: origin))
  }
}
