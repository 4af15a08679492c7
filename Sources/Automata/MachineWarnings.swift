import Basics
public import Documents

/// A part of a machine that is well-formed but probably unintended.
public struct DefinitionWarning: Equatable, Sendable, CustomStringConvertible {
  /// The kinds of warning.
  public enum Kind: Equatable, Sendable {
    /// A state that no path from any start reaches.
    case unreachable(state: String)
    /// A row whose `given` lists only conditions that its `unless` excludes.
    case contradiction(row: String, given: [String])
    /// A wildcard row of an event for which every state has a row of its own.
    case noStateLeft(event: String)
    /// A row that the device can never take, because it must take another one before.
    case preempted(row: String, states: [String], by: String)
    /// A row whose time never comes.
    case never(row: String)
    /// A timer that repeats an earlier one.
    case repeated(row: String, states: [String])
    /// A choice whose options no row uses.
    case idleChoice(String)
    /// A row of a region that is never taken in any states that the regions reach together.
    case neverTogether(row: String)
  }

  /// The kind of the warning.
  public var kind: Kind
  /// The part of the definition that the warning concerns.
  public var place: DefinitionFinding.Place

  /// Makes a warning.
  public init(_ kind: Kind, at place: DefinitionFinding.Place) {
    self.kind = kind
    self.place = place
  }

  /// The warning in one sentence, without a full stop.
  public var description: String {
    switch kind {
    case .unreachable(let state): "state '\(state)' cannot be reached from any start"
    case .contradiction(let row, _):
      "'\(row)' is never taken, since `given` and `unless` contradict each other"
    case .noStateLeft(let event):
      "'\(event)' from any state is never taken, since every state has a row of its own for it"
    case .preempted(let row, let states, let other):
      "'\(row)' is never taken from \(Self.list(states)), since '\(other)' is always taken first"
    case .never(let row): "'\(row)' is never taken, since its time never comes"
    case .neverTogether(let row):
      "'\(row)' is never taken, since the regions are never in such states together"
    case .idleChoice(let choice): "no row has an option of choice '\(choice)'"
    case .repeated(let row, let states): "'\(row)' from \(Self.list(states)) repeats an earlier row"
    }
  }

  /// How to correct it, in words.
  public var fix: String {
    switch kind {
    case .unreachable: "lead a row to it, start in it, or remove it"
    case .contradiction(_, let given): "take \(Self.list(given)) out of `given` or of `unless`"
    case .noStateLeft: "remove the row, or one of the others"
    case .preempted: "give it an earlier time, or give the other a condition"
    case .never: "give it a time, or remove it"
    case .repeated: "remove one of the two"
    case .neverTogether: "change its `in`, or remove it"
    case .idleChoice: "give a row an `option` of it, or remove the choice"
    }
  }

  private static func list(_ names: [String]) -> String {
    let maximum = 3
    let shown = names.prefix(maximum).map { "'\($0)'" }.joined(separator: ", ")
    return names.count > maximum ? "\(shown) and \(names.count - maximum) more" : shown
  }
}

extension DefinitionWarning.Kind {
  /// The code of the problem.
  public var code: Problem.Code {
    switch self {
    case .unreachable: .unreachableState
    case .contradiction, .noStateLeft, .preempted, .never, .neverTogether: .idleRow
    case .repeated: .repeatedRow
    case .idleChoice: .idleChoice
    }
  }
}

extension Machine {
  /// Returns the parts of the machine that are probably unintended: states that are never reached, choices that are
  /// never used, and rows that are never taken or repeat another.
  ///
  /// Several rows may be possible at once, and then the device chooses. No row therefore hides another: a row is
  /// never taken only if its conditions or its time cannot occur.
  public func warnings() -> [DefinitionWarning] {
    let idle = IdleRows(self)
    let starts = definition.starts.compactMap { state(named: $0.state) }
    let reached = StateSpace<Int, Void>.reached(from: starts) { state in
      edges(from: state).filter { !idle.isIdle($0, from: state) }.map(\.target)
    }
    let isReached = reached.reduce(into: [Bool](repeating: false, count: stateCount)) { $0[$1] = true }
    let states = definition.states.indices.filter { !isReached[$0] }.map {
      DefinitionWarning(.unreachable(state: definition.states[$0].name), at: .state($0))
    }
    return states + idleChoices() + idle.warnings + repetitions()
  }

  /// Returns the choices that no row uses.
  private func idleChoices() -> [DefinitionWarning] {
    let usedOptions = Set(definition.transitions.flatMap(\.options))
    return definition.choices.indices.filter { usedOptions.isDisjoint(with: definition.choices[$0].options) }
      .map {
        DefinitionWarning(.idleChoice(definition.choices[$0].name), at: .choice($0))
      }
  }

  /// Returns the timers that repeat another one. For rows of one event, a repetition is a fault.
  private func repetitions() -> [DefinitionWarning] {
    /// What a timer does in one state.
    struct Behaviour: Hashable {
      var window: Window
      var `guard`: Guard
      var options: UInt64
      var targets: Set<Int>
      var enters: Bool
      var effects: [[String]]
      var shows: String?
    }
    var states: [Int: [String]] = [:]
    for source in definition.states.indices {
      let edges = spontaneous[source].filter {
        $0.event == nil && definition.transitions[$0.transition].data.isEmpty
      }
      let rows = Dictionary(grouping: edges, by: \.transition)
      var seen = Set<Behaviour>()
      for (row, edges) in rows.sorted(by: { $0.key < $1.key }) {
        let transition = definition.transitions[row]
        let behaviour = Behaviour(
          window: transition.window, guard: edges[0].guard, options: edges[0].options,
          targets: Set(edges.map(\.target)), enters: edges[0].enters,
          effects: [transition.before, transition.after], shows: transition.shows)
        if !seen.insert(behaviour).inserted {
          states[row, default: []].append(definition.states[source].name)
        }
      }
    }
    return definition.transitions.indices.compactMap { row in
      states[row].map {
        DefinitionWarning(
          .repeated(row: RowLabel(definition.transitions[row]).description, states: $0), at: .row(row))
      }
    }
  }
}

/// The rows of a machine that are never taken, and why.
private struct IdleRows {
  private let machine: Machine
  /// The rows that are never taken from any state.
  private var rows: [Int: DefinitionWarning.Kind] = [:]
  /// The time by which the device must have left each state, and the row by which it leaves.
  private let ends: [(time: Interval, row: Int)?]

  init(_ machine: Machine) {
    self.machine = machine
    ends = machine.definition.states.indices.map { machine.end(of: $0) }
    var sources = [Bool](repeating: false, count: machine.definition.transitions.count)
    for state in machine.definition.states.indices {
      for edge in machine.edges(from: state) { sources[edge.transition] = true }
    }
    for (row, transition) in machine.definition.transitions.enumerated() {
      let label = RowLabel(transition).description
      if !transition.given.isEmpty, transition.given.allSatisfy(transition.unless.contains) {
        rows[row] = .contradiction(row: label, given: transition.given)
      } else if transition.window.earliest == .forever {
        rows[row] = .never(row: label)
      } else if case .event(let event) = transition.trigger, !sources[row] {
        rows[row] = .noStateLeft(event: event)
      }
    }
  }

  /// Returns whether an edge is never taken from a state.
  func isIdle(_ edge: Machine.Edge, from state: Int) -> Bool {
    rows[edge.transition] != nil || preemptingRow(of: edge, from: state) != nil
  }

  /// Returns the row that the device must take before an edge that it takes by itself.
  private func preemptingRow(of edge: Machine.Edge, from state: Int) -> Int? {
    ends[state].flatMap { edge.earliest > $0.time ? $0.row : nil }
  }

  /// All warnings, in the order of the rows.
  var warnings: [DefinitionWarning] {
    let definition = machine.definition
    var preempted: [Int: (states: [String], by: Int)] = [:]
    for state in definition.states.indices {
      var last: Int?
      for edge in machine.spontaneous[state] where edge.transition != last && rows[edge.transition] == nil {
        guard let other = preemptingRow(of: edge, from: state) else { continue }
        last = edge.transition
        preempted[edge.transition, default: ([], other)].states.append(definition.states[state].name)
      }
    }
    return definition.transitions.indices.compactMap { row in
      let found = preempted[row].map {
        DefinitionWarning.Kind.preempted(
          row: RowLabel(definition.transitions[row]).description, states: $0.states,
          by: RowLabel(definition.transitions[$0.by]).description)
      }
      return (rows[row] ?? found).map { DefinitionWarning($0, at: .row(row)) }
    }
  }
}

extension Machine {
  /// Returns the time by which the device must have left a state, and the row by which it leaves.
  ///
  /// Only an unconditional row is certain. A row that stays or shifts within the same state does not leave it, and a
  /// row whose time depends on a condition has no certain time.
  fileprivate func end(of state: Int) -> (time: Interval, row: Int)? {
    let edges = spontaneous[state]
    let lasting = Set(edges.filter { !$0.enters && $0.target == state }.map(\.transition))
    let certain = edges.filter {
      $0.guard.isEmpty && $0.options == 0 && $0.plus == nil && $0.latest < .forever
        && definition.transitions[$0.transition].data.isEmpty && !lasting.contains($0.transition)
    }
    return certain.min { $0.latest < $1.latest }.map { ($0.latest, $0.transition) }
  }
}
