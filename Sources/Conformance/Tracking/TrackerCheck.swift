import Automata
import Basics

/// Finds the possible positions of a device from the rows of its machine alone, for a machine without times,
/// conditions and choices.
///
/// A debug build compares every ``Tracker`` of such a machine with it after each operation. It gets the definition
/// from the ``ReferenceInterpreter``, and uses none of the tracker's tables.
struct TrackerCheck: Sendable {
  /// A state, the status last shown, and the symbols still to be shown; effects are numbered above the statuses.
  struct Position: Hashable, Sendable {
    var state: Int
    var shown: Int
    var pending: [Int]
  }

  private let interpreter: ReferenceInterpreter
  private let empty: ReferenceInterpreter.Configuration
  private let statusCount: Int
  private(set) var possible: Set<Position> = []
  /// The positions in which the device would be if it refused the last stimulus.
  private var refusing: Set<Position> = []

  /// Prepares a check; `nil` for a machine whose future depends on more than the position.
  init?(_ specification: Specification) {
    guard specification.isPlain, !specification.hasChoices, specification.reported.isEmpty else { return nil }
    let vocabulary = specification.vocabulary
    interpreter = ReferenceInterpreter(
      specification.machine.definition, vocabulary, showsEffects: specification.showsEffects)
    statusCount = vocabulary.statuses.count
    var empty = interpreter.start(0, specification.machine.allOptions)
    empty.holds = specification.held
    interpreter.enter(&empty)
    self.empty = empty
  }

  /// Starts in some positions.
  mutating func start(in positions: Set<Position>) { (possible, refusing) = (positions, []) }

  /// Moves by a stimulus. A position with pending symbols, or without a row for the stimulus, refuses it.
  mutating func perform(_ event: Int) {
    refusing = []
    possible = possible.reduce(into: []) { next, position in
      let from = configuration(position)
      let branches = position.pending.isEmpty ? interpreter.branches(on: event, from: from) : []
      for branch in branches { next.insert(target(of: branch, from: from)) }
      if branches.isEmpty {
        refusing.insert(position)
        next.insert(position)
      }
    }
  }

  /// Keeps the positions that show a symbol, and follows their steps.
  mutating func reveal(_ symbol: Int) {
    possible = positions(after: possible, showing: symbol)
    refusing = positions(after: refusing, showing: symbol)
  }

  /// Keeps the positions that refuse the last stimulus.
  mutating func refuse() { possible.formIntersection(refusing) }

  /// Removes all positions.
  mutating func removeAll() { (possible, refusing) = ([], []) }

  /// Keeps the positions without pending symbols.
  mutating func settle() {
    possible = possible.filter(\.pending.isEmpty)
    refusing = refusing.filter(\.pending.isEmpty)
  }

  private func positions(after positions: Set<Position>, showing symbol: Int) -> Set<Position> {
    positions.reduce(into: []) { next, position in
      // A status may be repeated, but not in place of another one.
      if symbol == position.shown, (position.pending.first ?? .max) >= statusCount { next.insert(position) }
      if !position.pending.isEmpty { return insert(position, showing: symbol, into: &next) }
      let from = configuration(position)
      for option in interpreter.options(from: from) {
        let branch = interpreter.freeBranch(option.number, of: position.state)
        var target = target(of: branch, from: from)
        target.shown = position.shown
        insert(target, showing: symbol, into: &next)
      }
    }
  }

  private func insert(_ position: Position, showing symbol: Int, into next: inout Set<Position>) {
    guard position.pending.first == symbol else { return }
    next.insert(
      Position(
        state: position.state, shown: symbol < statusCount ? symbol : position.shown,
        pending: Array(position.pending.dropFirst())))
  }

  private func configuration(_ position: Position) -> ReferenceInterpreter.Configuration {
    var configuration = empty
    (configuration.state, configuration.shown) = (position.state, position.shown)
    return configuration
  }

  private func target(
    of branch: ReferenceInterpreter.Branch, from configuration: ReferenceInterpreter.Configuration
  ) -> Position {
    var after = configuration
    let pending = interpreter.take(branch, from: &after, at: .zero).map { observation in
      switch observation {
      case .status(let number): number
      case .effect(let number): statusCount + number
      case .unknown, .refused, .reading, .event, .violation: -1
      }
    }
    return Position(state: after.state, shown: configuration.shown, pending: pending)
  }
}
