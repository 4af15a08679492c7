import Automata
import Basics

/// Finds the possible positions of a device from the rows of its machine alone, for a machine without times,
/// conditions and choices.
///
/// A debug build compares every ``Tracker`` of such a machine with it after each operation. It gets the definition
/// from the ``ReferenceInterpreter``, and uses none of the tracker's tables.
struct TrackerCheck: Sendable {
  /// A state, the status last shown, and the symbols still to be shown; effects are numbered above the statuses.
  struct Place: Hashable, Sendable {
    var state: Int
    var shown: Int
    var pending: [Int]
  }

  private let interpreter: ReferenceInterpreter
  private let empty: ReferenceInterpreter.Configuration
  private let statusCount: Int
  private(set) var possible: Set<Place> = []
  /// The positions in which the device would be if it refused the last stimulus.
  private var refusing: Set<Place> = []

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
  mutating func start(in places: Set<Place>) { (possible, refusing) = (places, []) }

  /// Moves by a stimulus. A position with pending symbols, or without a row for the stimulus, refuses it.
  mutating func perform(_ event: Int) {
    refusing = []
    possible = possible.reduce(into: []) { next, place in
      let from = configuration(place)
      let branches = place.pending.isEmpty ? interpreter.branches(on: event, from: from) : []
      for branch in branches { next.insert(target(of: branch, from: from)) }
      if branches.isEmpty {
        refusing.insert(place)
        next.insert(place)
      }
    }
  }

  /// Keeps the positions that show a symbol, and follows their steps.
  mutating func reveal(_ symbol: Int) {
    possible = places(after: possible, showing: symbol)
    refusing = places(after: refusing, showing: symbol)
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

  private func places(after places: Set<Place>, showing symbol: Int) -> Set<Place> {
    places.reduce(into: []) { next, place in
      // A status may be repeated, but not in place of another one.
      if symbol == place.shown, (place.pending.first ?? .max) >= statusCount { next.insert(place) }
      if !place.pending.isEmpty { return insert(place, showing: symbol, into: &next) }
      let from = configuration(place)
      for option in interpreter.options(from: from) {
        let branch = interpreter.freeBranch(option.number, of: place.state)
        var target = target(of: branch, from: from)
        target.shown = place.shown
        insert(target, showing: symbol, into: &next)
      }
    }
  }

  private func insert(_ place: Place, showing symbol: Int, into next: inout Set<Place>) {
    guard place.pending.first == symbol else { return }
    next.insert(
      Place(
        state: place.state, shown: symbol < statusCount ? symbol : place.shown,
        pending: Array(place.pending.dropFirst())))
  }

  private func configuration(_ place: Place) -> ReferenceInterpreter.Configuration {
    var configuration = empty
    (configuration.state, configuration.shown) = (place.state, place.shown)
    return configuration
  }

  private func target(
    of branch: ReferenceInterpreter.Branch, from configuration: ReferenceInterpreter.Configuration
  ) -> Place {
    var after = configuration
    let pending = interpreter.take(branch, from: &after, at: .zero).map { observation in
      switch observation {
      case .status(let number): number
      case .effect(let number): statusCount + number
      case .unknown, .refused, .reading, .event, .violation: -1
      }
    }
    return Place(state: after.state, shown: configuration.shown, pending: pending)
  }
}
