public import Automata
import Basics

/// An item that a tour did not cover, with the reason and the path to it.
public struct CoverageGap: Equatable, Sendable {
  /// What is missing.
  public enum Subject: Equatable, Sendable {
    /// A cell was not visited.
    case cell(CellCoverage.Cell)
    /// A row of a cell was not taken under a condition, or without any. If `isRefused`, the stimulus was not tried
    /// under conditions with which no row holds.
    case row(CellCoverage.Cell, conditions: [String], isRefused: Bool)
    /// The end of a timer was not reached: its state, its time window, and the state to which it leads.
    case timer(state: Int, Window, target: String)

    /// The number of the state to which it belongs.
    public var state: Int {
      switch self {
      case .cell(let cell), .row(let cell, _, _): cell.state
      case .timer(let state, _, _): state
      }
    }
  }

  /// The reason why an item is missing.
  public enum Reason: Equatable, Sendable {
    /// It was not tried.
    case open
    /// The device does not support the stimulus.
    case notServed(String)
    /// A tester can never be certain that the device is in the state.
    case hidden
    /// The path needs conditions or stimuli that the device does not offer.
    case notOffered(String)
    /// The device repeatedly took another transition than planned, or diverged.
    case notTaken(String)
    /// The timer takes longer than a tour waits in real time.
    case tooLong
    /// The device leaves the state before anything can be tried.
    case fleeting
    /// The device shows nothing when the timer ends.
    case unseen
    /// The model contains no path to it.
    case unreachable
  }

  /// What is missing.
  public var subject: Subject
  /// The reason why it is missing.
  public var reason: Reason
  /// The start and the moves from there, as text; the stimulus itself comes last.
  public var path: [String]
}

extension CoverageGap {
  /// Whether it could have been covered: the model contains a path to it that the device supports.
  public var isAvoidable: Bool {
    switch reason {
    case .open, .notTaken: true
    case .notServed, .hidden, .notOffered, .tooLong, .fleeting, .unseen, .unreachable: false
    }
  }

  /// Whether the device supports the stimulus.
  public var isServed: Bool { if case .notServed = reason { false } else { true } }

  /// The reason, as text.
  public var text: String {
    switch reason {
    case .open: "not tried"
    case .notServed(let stimulus): "this device does not take \(stimulus)"
    case .hidden: "never certain: nothing is shown when this state is left"
    case .notOffered(let need): "cannot be reached with this device: needs \(need)"
    case .notTaken(let reason): "given up: \(reason)"
    case .tooLong: "takes longer than a tour waits by the clock"
    case .fleeting: "the device leaves this state at once"
    case .unseen: "nothing is shown when it ends"
    case .unreachable: "no way in the model leads there"
    }
  }
}

/// Explains the gaps in a coverage.
public struct GapFinder: Sendable {
  private let specification: Specification
  private let machine: Machine
  private let alphabet: Alphabet
  /// The map of what can be done with this device, and the map of what can be done with any.
  private let own: ModelMap
  private let any: ModelMap
  private let starts: [ModelMap.Place]
  private let failures: [Int]
  private let tour: Tour?

  /// Makes a finder of gaps.
  ///
  /// - Parameters:
  ///   - alphabet: the acts that tests may use.
  ///   - starts: the conditions in which tests may start.
  ///   - standing: the names of the conditions that always hold with the device.
  ///   - tour: the completed tour, whose failures are reasons.
  public init(
    _ specification: Specification, _ alphabet: Alphabet, starts: [StartCondition], standing: [String] = [],
    after tour: Tour? = nil
  ) {
    self.specification = specification
    self.alphabet = alphabet
    machine = specification.machine
    own = tour?.map ?? ModelMap(specification, alphabet, maximumAttempts: 1)
    any = ModelMap(specification, Alphabet(specification, .everything(of: machine)), maximumAttempts: 1)
    let map = own
    self.starts = starts.map { map.place(of: $0, standing: standing) }
    failures = tour?.failures ?? [Int](repeating: 0, count: own.edgeCount)
    self.tour = tour
  }

  /// Returns the gaps, with their reasons and paths: cells, then rows, then timers.
  public func gaps(in coverage: CellCoverage) -> [CoverageGap] {
    let wanted = missing(in: coverage)
    guard !wanted.isEmpty else { return [] }
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
    return wanted.map { item in
      let nearestPlace =
        nearest(in: offered, item.isPlace).map { (own, offered, $0) }
        ?? nearest(in: all, item.isPlace).map { (any, all, $0) }
      guard let (map, search, number) = nearestPlace else {
        // A tester cannot bring about such a condition.
        if case .row(_, let conditions, _) = item.subject, !conditions.isEmpty {
          return CoverageGap(
            subject: item.subject, reason: .notOffered(conditions.joined(separator: " and ")), path: [])
        }
        return CoverageGap(subject: item.subject, reason: .unreachable, path: [])
      }
      let (start, moves) = search.path(to: number)
      let name = item.event.map { machine.definition.events[$0].name } ?? "wait"
      let path = ["start: \(describe(start))"] + moves.map(map.text) + [name]
      let reason: CoverageGap.Reason =
        if let event = item.event, alphabet.acts[event].variants.isEmpty {
          .notServed(name)
        } else if nearest(in: offered, item.isPlace) == nil {
          .notOffered(need(of: moves, from: start))
        } else if offered.places.allSatisfy({ !item.isPlace($0) || own.isHidden($0) }) {
          .hidden
        } else if let reason = item.reason {
          reason
        } else if tour?.isFleeting(item.subject.state) == true {
          .fleeting
        } else if nearest(in: tried, item.isPlace) == nil {
          .notTaken(failure(in: moves))
        } else {
          .open
        }
      return CoverageGap(subject: item.subject, reason: reason, path: path)
    }
  }

  /// A missing item, and the places in which it can be tried.
  private struct Missing {
    var subject: CoverageGap.Subject
    /// The stimulus to give there; `nil` for a wait.
    var event: Int?
    /// The reason why it is missing in every place, if it is known in advance.
    var reason: CoverageGap.Reason?
    var isPlace: (ModelMap.Place) -> Bool
  }

  private func missing(in coverage: CellCoverage) -> [Missing] {
    let machine = machine
    var all = coverage.missing.map { cell in
      let edges = machine.caused[cell.state * machine.eventCount + cell.event]
      return Missing(subject: .cell(cell), event: cell.event) { place in
        place.state == cell.state
          && (edges.isEmpty || edges.contains { $0.guard.holds(under: place.conditions) })
      }
    }
    guard let goals = tour?.goals else { return all }
    let conditions = machine.definition.conditions.map(\.name)
    for row in goals.missingRows {
      let cell = CellCoverage.Cell(
        state: row.cell / machine.eventCount, event: row.cell % machine.eventCount, isLegal: true)
      // An unvisited cell needs no further detail.
      guard coverage.isVisited(cell) else { continue }
      all.append(
        Missing(
          subject: .row(
            cell,
            conditions: conditions.enumerated().filter { row.conditions >> UInt64($0.offset) & 1 == 1 }.map(
              \.element),
            isRefused: row.isRefused),
          event: cell.event
        ) { $0.state == cell.state && row.holds(under: $0.conditions) })
    }
    for timer in goals.missingTimers {
      let (state, _, target) = own.place(of: timer)
      let edge = own.edge(timer, from: state)
      let window = machine.definition.transitions[edge.transition].window
      all.append(
        Missing(
          subject: .timer(state: state, window, target: machine.definition.states[target].name), event: nil,
          reason: tour?.hasDiverged[timer] == true
            ? .notTaken("the device diverged when it was waited for") : reason(for: goals.timer(timer))
        ) { $0.state == state && edge.guard.holds(under: $0.conditions) })
    }
    return all
  }

  private func reason(for timer: TourGoals.Timer) -> CoverageGap.Reason? {
    switch timer.progress {
    case .tooLong: .tooLong
    case _ where timer.endsInvisibly: .unseen
    case .abandoned: .notTaken("something else came first, in \(timer.attempts) tries")
    case .wanted, .done: nil
    }
  }

  /// Returns the nearest place in which an item can be tried.
  private func nearest(
    in search: StateSpace<ModelMap.Place, ModelMap.Move>, _ isPlace: (ModelMap.Place) -> Bool
  ) -> Int? {
    var best: Int?
    for (number, place) in search.places.enumerated() where isPlace(place) {
      if best.map({ search.costs[number] < search.costs[$0] }) ?? true { best = number }
    }
    return best
  }

  /// Returns the first requirement of a path that the device does not offer.
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

  /// Returns a description of the first move of a path that failed.
  private func failure(in moves: [ModelMap.Move]) -> String {
    for move in moves where move.edge >= 0 && failures[move.edge] >= own.maximumAttempts[move.edge] {
      let (state, event, target) = own.place(of: move.edge)
      let states = machine.definition.states
      let cause = event.map { machine.definition.events[$0].name } ?? "time"
      let ends = "from \(states[state].name) to \(states[target].name)"
      if tour?.hasDiverged[move.edge] == true { return "the device diverged on \(cause) \(ends)" }
      return "\(cause) did not lead \(ends) in \(failures[move.edge]) tries"
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
