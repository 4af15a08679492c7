import Basics

/// A machine with one wrong transition.
///
/// Here a transition is a cell of a table: all rows with the same state, trigger and targets, whatever their
/// conditions.
public struct Mutant: Sendable {
  /// The kinds of error in a mutant.
  public enum Kind: String, CaseIterable, Sendable {
    /// A transition leads to a state of another status.
    case wrongStatus = "wrong status"
    /// A transition leads to another state of the right status.
    case wrongState = "wrong state"
    /// A transition is missing: the machine refuses a stimulus, or something never happens by itself.
    case missing
    /// A stimulus leads to another state although the machine should refuse it.
    case extra
    /// Something happens by itself later or earlier than it should.
    case wrongTimer = "wrong timer"
    /// A transition ignores one of its conditions.
    case lostCondition = "lost condition"
    /// A row is taken under another condition on variables and arguments.
    case wrongGuard = "wrong guard"
    /// A row gives a variable another value, or none, or shows another one.
    case wrongValue = "wrong value"
  }

  /// The kind of the error.
  public let kind: Kind
  /// The state from which the transition leads.
  public let state: Int
  /// The stimulus that triggers the transition, or `nil` if it happens by itself.
  public let stimulus: Int?
  /// The error in one line.
  public let summary: String
  /// The machine.
  public let machine: Machine
}

/// The machines that differ from a machine in a single transition, in a fixed order.
///
/// For each transition, the mutants are:
/// - one with every other state as the only target;
/// - one without the transition;
/// - one without each of its conditions;
/// - one for each wrong operator, wrong number and missing operand in each of its expressions, and for each missing
///   assignment;
/// - for a transition that happens by itself within a window: one whose window is after the end of the original, and
///   one whose window is before its beginning. The latter exists only if there is time before the window, or if the
///   window moves with a value.
///
/// For each empty cell, there is a mutant for every other state to which the stimulus could lead. A narrower window,
/// or fewer of several targets, is not a mutant, because the machine permits it.
public struct Mutants: RandomAccessCollection, Sendable {
  /// A single change; its machine is made on demand.
  private enum Change: Sendable {
    case target(transition: Int, Int)
    case missing(transition: Int)
    case extra(state: Int, stimulus: Int, Int)
    case late(transition: Int)
    case early(transition: Int)
    case condition(transition: Int, isGiven: Bool, condition: Int)
    case data(DataMutation)
  }

  /// The rows that stand for one transition.
  private struct Cell: Sendable {
    var state: Int
    /// The stimulus, or `nil` if the transition happens by itself.
    var stimulus: Int?
    var trigger: Transition.Trigger
    var rows: [Int]
  }

  private let original: Machine
  private let cells: [Cell]
  private let changes: [Change]

  public var startIndex: Int { 0 }
  public var endIndex: Int { changes.count }

  /// Makes the mutants of a machine.
  public init(of machine: Machine) {
    original = machine
    let cells = Self.cells(of: machine)
    self.cells = cells
    changes = Self.changes(of: machine, cells)
  }

  /// Returns the mutant with a number.
  public subscript(number: Int) -> Mutant {
    let (state, stimulus) = place(of: changes[number])
    return Mutant(
      kind: kind(of: number), state: state, stimulus: stimulus, summary: summary(of: number),
      machine: machine(of: changes[number]))
  }

  /// Returns the numbers of some mutants, chosen by a seed: the same number of each kind, if there are so many.
  public func sample(_ count: Int, seed: UInt64) -> [Int] {
    guard count < changes.count else { return Array(indices) }
    var generator = SeededGenerator(seed: seed, for: "mutants")
    var byKind = Mutant.Kind.allCases.map { kind in indices.filter { self.kind(of: $0) == kind } }
    byKind.sort { $0.count < $1.count }
    var sample: [Int] = []
    for (number, kind) in byKind.enumerated() {
      var rest = kind
      let share = Swift.min((count - sample.count) / (byKind.count - number), rest.count)
      for place in 0..<share { rest.swapAt(place, place + generator.below(rest.count - place)) }
      sample += rest.prefix(share)
    }
    return sample.sorted()
  }

  /// Returns the kind of a mutant without making its machine.
  public func kind(of number: Int) -> Mutant.Kind {
    switch changes[number] {
    case .target(let transition, let target):
      let cell = cells[transition]
      let statuses = targets(of: cell).map { original.definition.states[$0].status }
      return statuses.contains(original.definition.states[target].status) ? .wrongState : .wrongStatus
    case .missing: return .missing
    case .extra: return .extra
    case .late, .early: return .wrongTimer
    case .condition: return .lostCondition
    case .data(let mutation): return mutation.place == .when ? .wrongGuard : .wrongValue
    }
  }

  /// Returns the state and the stimulus of a mutant's transition; the stimulus is `nil` if it happens by itself.
  public func place(of number: Int) -> (state: Int, stimulus: Int?) { place(of: changes[number]) }

  private func place(of change: Change) -> (state: Int, stimulus: Int?) {
    switch change {
    case .extra(let state, let stimulus, _): (state, stimulus)
    case .target(let transition, _), .missing(let transition), .late(let transition), .early(let transition),
      .condition(let transition, _, _):
      (cells[transition].state, cells[transition].stimulus)
    case .data(let mutation):
      cells.first { $0.rows.contains(mutation.row) }.map { ($0.state, $0.stimulus) } ?? (0, nil)
    }
  }
}

extension Mutants {
  private static func cells(of machine: Machine) -> [Cell] {
    var cells: [Cell] = []
    for state in 0..<machine.stateCount {
      let first = cells.count
      func add(_ edge: Machine.Edge, stimulus: Int?) {
        let row = machine.definition.transitions[edge.transition]
        let known = cells[first...].firstIndex { cell in
          cell.stimulus == stimulus && cell.trigger == row.trigger
            && machine.definition.transitions[cell.rows[0]].to == row.to
        }
        guard let known else {
          cells.append(
            Cell(state: state, stimulus: stimulus, trigger: row.trigger, rows: [edge.transition]))
          return
        }
        if !cells[known].rows.contains(edge.transition) { cells[known].rows.append(edge.transition) }
      }
      for event in 0..<machine.eventCount {
        for edge in machine.edges(from: state, on: event) { add(edge, stimulus: event) }
      }
      for edge in machine.spontaneous[state] { add(edge, stimulus: nil) }
    }
    return cells
  }

  private static func changes(of machine: Machine, _ cells: [Cell]) -> [Change] {
    let definition = machine.definition
    var changes: [Change] = []
    for (number, cell) in cells.enumerated() {
      let rows = cell.rows.map { definition.transitions[$0] }
      let right = targets(of: cell, in: machine)
      for target in 0..<machine.stateCount where !right.contains(target) {
        changes.append(.target(transition: number, target))
      }
      changes.append(.missing(transition: number))
      if cell.stimulus == nil {
        if rows.contains(where: { $0.window.latest != .forever }) {
          changes.append(.late(transition: number))
        }
        if rows.allSatisfy({ $0.window.earliest > .zero || $0.window.plus != nil }) {
          changes.append(.early(transition: number))
        }
      }
      for (condition, item) in definition.conditions.enumerated() {
        for isGiven in [true, false]
        where rows.contains(where: { (isGiven ? $0.given : $0.unless).contains(item.name) }) {
          changes.append(
            .condition(transition: number, isGiven: isGiven, condition: condition))
        }
      }
    }
    for state in 0..<machine.stateCount {
      for event in 0..<machine.eventCount
      where machine.isStimulus(event) && machine.edges(from: state, on: event).isEmpty {
        for target in 0..<machine.stateCount where target != state {
          changes.append(.extra(state: state, stimulus: event, target))
        }
      }
    }
    return changes + DataMutation.all(of: definition).map { .data($0) }
  }

  private func targets(of cell: Cell) -> [Int] { Self.targets(of: cell, in: original) }

  private static func targets(of cell: Cell, in machine: Machine) -> [Int] {
    let edges =
      cell.stimulus.map { machine.edges(from: cell.state, on: $0) } ?? machine.spontaneous[cell.state]
    return edges.filter { $0.transition == cell.rows[0] }.map(\.target)
  }

  private func machine(of change: Change) -> Machine {
    let states = original.definition.states
    var rows = original.definition.transitions
    switch change {
    case .target(let transition, let target):
      replace(cells[transition], in: &rows) { $0.to = .states([states[target].name]) }
    case .missing(let transition):
      _ = withdraw(cells[transition], from: &rows)
    case .extra(let state, let stimulus, let target):
      rows.append(
        Transition(
          .event(original.definition.events[stimulus].name), from: .states([states[state].name]),
          to: .states([states[target].name])))
    case .late(let transition):
      let window = lateWindow(of: cells[transition])
      replace(cells[transition], in: &rows) { $0.window = window }
    case .early(let transition):
      let window = earlyWindow(of: cells[transition])
      replace(cells[transition], in: &rows) { $0.window = window }
    case .condition(let transition, let isGiven, let condition):
      let name = original.definition.conditions[condition].name
      replace(cells[transition], in: &rows) { row in
        if isGiven { row.given.removeAll { $0 == name } } else { row.unless.removeAll { $0 == name } }
      }
    case .data: break
    }
    if case .data(let mutation) = change { mutation.change(&rows[mutation.row].data) }
    return original.replacingRows(with: rows)
  }

  /// Removes the state of a cell from its rows, and returns copies of those rows for that state alone.
  private func withdraw(_ cell: Cell, from rows: inout [Transition]) -> [Transition] {
    let name = original.definition.states[cell.state].name
    return cell.rows.map { number in
      var copy = rows[number]
      copy.from = .states([name])
      let sources: [String] =
        switch rows[number].from {
        case .states(let names): names
        case .wildcard: sources(ofRow: number)
        }
      rows[number].from = .states(sources.filter { $0 != name })
      return copy
    }
  }

  private func sources(ofRow number: Int) -> [String] {
    original.definition.states.indices.filter { state in
      (0..<original.eventCount).contains { event in
        original.edges(from: state, on: event).contains { $0.transition == number }
      } || original.spontaneous[state].contains { $0.transition == number }
    }.map { original.definition.states[$0].name }
  }

  private func replace(
    _ cell: Cell, in rows: inout [Transition], with change: (inout Transition) -> Void
  ) {
    // The wrong rows come first, so that a device that takes the first possible transition takes a wrong one.
    let changed = withdraw(cell, from: &rows).map { row in
      var row = row
      change(&row)
      return row
    }
    rows.insert(contentsOf: changed, at: 0)
  }

  /// Returns a window after everything that the rows allow, and an hour later if a condition adds to their time.
  private func lateWindow(of cell: Cell) -> Window {
    let windows = cell.rows.map { original.definition.transitions[$0].window }.filter {
      $0.latest != .forever
    }
    let latest = windows.reduce(Interval.zero) { Swift.max($0, $1.latest) }
    if windows.contains(where: { $0.plus != nil }) { return .after(latest + .seconds(3600)) }
    return .after(latest + Swift.max(Interval(nanoseconds: latest.nanoseconds / 2), .milliseconds(500)))
  }

  /// Returns half the time before the earliest moment that the rows allow, ignoring what a condition adds.
  private func earlyWindow(of cell: Cell) -> Window {
    let earliest = cell.rows.map { original.definition.transitions[$0].window.earliest }
      .reduce(Interval.forever) { Swift.min($0, $1) }
    return .after(Interval(nanoseconds: Swift.max(earliest, .zero).nanoseconds / 2))
  }
}

extension Mutants {
  /// Returns one line that describes the error of a mutant.
  public func summary(of number: Int) -> String {
    func name(_ state: Int) -> String { original.definition.states[state].name }
    switch changes[number] {
    case .target(let transition, let target):
      return "\(text(of: cells[transition])) leads to \(name(target))"
    case .missing(let transition):
      let cell = cells[transition]
      return "\(text(of: cell)) \(cell.stimulus == nil ? "never happens" : "is refused")"
    case .extra(let state, let stimulus, let target):
      return
        "\(name(state)), \(original.definition.events[stimulus].name): is obeyed and leads to \(name(target))"
    case .late(let transition):
      let cell = cells[transition]
      return "\(text(of: cell)) comes after \(lateWindow(of: cell).earliest)"
    case .early(let transition):
      let cell = cells[transition]
      return "\(text(of: cell)) comes after \(earlyWindow(of: cell).earliest)"
    case .condition(let transition, let isGiven, let condition):
      let condition = original.definition.conditions[condition].name
      return "\(text(of: cells[transition])) does not depend on \(isGiven ? "" : "no ")\(condition)"
    case .data(let mutation): return mutation.summary(in: original.definition.transitions)
    }
  }

  /// Returns a transition and its correct targets: `state, event (targets):`.
  private func text(of cell: Cell) -> String {
    let row = original.definition.transitions[cell.rows[0]]
    let event: String =
      switch row.trigger {
      case .event(let name): name
      case .timer: row.window.latest == .forever ? "time" : "after \(row.window.latest)"
      }
    let names = targets(of: cell).map { original.definition.states[$0].name }
    let source = original.definition.states[cell.state].name
    return "\(source), \(event) (\(row.to == .stay ? "stays" : names.joined(separator: "/"))):"
  }
}
