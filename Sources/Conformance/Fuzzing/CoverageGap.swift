import Automata
import Basics

/// A cell that was not visited, with why, and the way to it.
public struct CoverageGap: Equatable, Sendable {
  /// Why a cell is missing.
  public enum Reason: Equatable, Sendable {
    /// Nobody tried.
    case open
    /// The device does not take the stimulus.
    case notServed(String)
    /// No tester who watches can tell the state from another one.
    case hidden
    /// It takes conditions or stimuli that the device does not offer.
    case notOffered(String)
    /// The device was led there again and again and went elsewhere.
    case notTaken(String)
    /// No way in the model leads there.
    case unreachable
  }

  /// The cell.
  public var cell: CellCoverage.Cell
  /// Why it is missing.
  public var reason: Reason
  /// The condition of the start, and what to do from there, in words; the stimulus itself comes last.
  public var path: [String]
}

extension CoverageGap {
  /// Why the cell is missing, in words.
  public var text: String {
    switch reason {
    case .open: "not tried"
    case .notServed(let stimulus): "this device does not take \(stimulus)"
    case .hidden: "never certain: nothing is shown when this state is left"
    case .notOffered(let need): "cannot be reached with this device: needs \(need)"
    case .notTaken(let way): "given up: \(way)"
    case .unreachable: "no way in the model leads there"
    }
  }
}

/// Explains what is missing in a coverage.
public struct GapFinder: Sendable {
  private let specification: Specification
  private let machine: Machine
  private let alphabet: Alphabet
  /// What can be done with the device, and with any.
  private let own: ModelMap
  private let any: ModelMap
  private let starts: [ModelMap.Place]
  private let failures: [Int]

  /// Prepares to explain.
  ///
  /// - Parameters:
  ///   - alphabet: what could be done.
  ///   - starts: the conditions in which tests could start.
  ///   - tour: the tour that was made, whose failures are reasons.
  public init(
    _ specification: Specification, _ alphabet: Alphabet, starts: [StartCondition], standing: [String] = [],
    after tour: Tour? = nil
  ) {
    self.specification = specification
    self.alphabet = alphabet
    machine = specification.machine
    own = tour?.map ?? ModelMap(specification, alphabet, tries: 1)
    any = ModelMap(specification, Alphabet(specification, .everything(of: machine)), tries: 1)
    let map = own
    self.starts = starts.map { map.place(of: $0, standing: standing) }
    failures = tour?.failures ?? [Int](repeating: 0, count: own.edgeCount)
  }

  /// What is missing, with the reasons and the ways.
  public func gaps(in coverage: CellCoverage) -> [CoverageGap] {
    let missing = coverage.missing
    guard !missing.isEmpty else { return [] }
    let none = [Int](repeating: 0, count: own.edgeCount)
    let tried = own.search(from: starts, allowed: .max, failures: failures) { _ in false }
    let offered = own.search(from: starts, allowed: .max, failures: none, throughHidden: true) { _ in false }
    let everywhere = (0..<machine.definition.starts.count).map { number in
      ModelMap.Place(
        state: machine.state(named: machine.definition.starts[number].state) ?? 0, conditions: 0)
    }
    let all = any.search(
      from: starts + everywhere, allowed: .max, failures: none, throughHidden: true
    ) { _ in false }
    return missing.map { cell in
      let name = machine.definition.events[cell.event].name
      let way =
        place(of: cell, in: offered).map { (own, offered, $0) }
        ?? place(of: cell, in: all).map { (any, all, $0) }
      guard let (map, search, number) = way else {
        return CoverageGap(cell: cell, reason: .unreachable, path: [])
      }
      let (start, moves) = search.way(to: number)
      let path = ["start: \(describe(start))"] + moves.map(map.text) + [name]
      let reason: CoverageGap.Reason =
        if alphabet.acts[cell.event].variants.isEmpty {
          .notServed(name)
        } else if place(of: cell, in: offered) == nil {
          .notOffered(need(of: moves, from: start))
        } else if isHidden(cell, in: offered) {
          .hidden
        } else if place(of: cell, in: tried) == nil {
          .notTaken(failure(in: moves))
        } else {
          .open
        }
      return CoverageGap(cell: cell, reason: reason, path: path)
    }
  }

  /// The nearest place in which a cell can be tried.
  private func place(of cell: CellCoverage.Cell, in search: StateSpace<ModelMap.Place, ModelMap.Move>) -> Int?
  {
    var best: Int?
    for (number, place) in search.places.enumerated() where isPlace(place, of: cell) {
      if best.map({ search.costs[number] < search.costs[$0] }) ?? true { best = number }
    }
    return best
  }

  /// Whether a cell can be tried in a place.
  private func isPlace(_ place: ModelMap.Place, of cell: CellCoverage.Cell) -> Bool {
    guard place.state == cell.state else { return false }
    let edges = machine.caused[cell.state * machine.eventCount + cell.event]
    return edges.isEmpty || edges.contains { $0.guard.holds(under: place.conditions) }
  }

  /// Whether nobody can be certain of being where a cell can be tried.
  private func isHidden(
    _ cell: CellCoverage.Cell, in search: StateSpace<ModelMap.Place, ModelMap.Move>
  ) -> Bool {
    search.places.allSatisfy { !isPlace($0, of: cell) || own.isHidden($0) }
  }

  /// The first thing on a way that the device does not offer.
  private func need(of moves: [ModelMap.Move], from start: ModelMap.Place) -> String {
    for move in moves {
      guard let choice = move.choice else { continue }
      let name = any.alphabet.acts[Int(choice.act)].name
      if let act = alphabet.acts.first(where: { $0.name == name }), !act.variants.isEmpty { continue }
      let item = machine.definition.conditions.first { $0.faults.contains(name) }
      return item.map { "\($0.name) (\($0.faults.joined(separator: ", ")))" } ?? name
    }
    return "to start \(describe(start))"
  }

  /// The first thing on a way that was tried in vain.
  private func failure(in moves: [ModelMap.Move]) -> String {
    for move in moves where move.edge >= 0 && failures[move.edge] >= own.tries[move.edge] {
      let (state, event, target) = own.place(of: move.edge)
      let states = machine.definition.states
      let cause = event.map { machine.definition.events[$0].name } ?? "time"
      return
        "\(cause) did not lead from \(states[state].name) to \(states[target].name) in \(failures[move.edge]) tries"
    }
    return "the way was not taken"
  }

  private func describe(_ place: ModelMap.Place) -> String {
    let names = machine.definition.conditions.enumerated().filter {
      place.conditions >> UInt64($0.offset) & 1 == 1
    }.map(\.element.name)
    return ([machine.definition.states[place.state].name] + names).joined(separator: ", ")
  }
}
