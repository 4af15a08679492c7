import Automata
import Basics

/// The model as a map: where the tester's choices lead, under which conditions, and at what cost.
///
/// A place is a state together with the conditions that hold. A spontaneous event is also a move: time passes. A
/// device that has a choice may take another move than planned, so callers must count failures.
struct ModelMap: Sendable {
  /// A state under conditions.
  struct Place: Hashable, Sendable {
    var state: Int
    var conditions: UInt64
  }

  /// A step from one place to another.
  struct Move: Sendable {
    /// The choice that makes the move; `nil` if time makes it.
    var choice: Choice?
    /// The number of the machine's edge; -1 for a fault.
    var edge: Int
    var target: Place
    var cost: Int
  }

  /// A fault that the tester can inject, with its choice and its effect on conditions.
  private struct FaultAction: Sendable {
    var choice: Choice
    var fault: Fault
    /// The conditions that it establishes, and those that it removes.
    var begins: UInt64
    var ends: UInt64
    /// Whether it is the first one with exactly this effect.
    var isFirst = true
  }

  let machine: Machine
  let alphabet: Alphabet
  /// The number of the first edge of each cell that the tester causes, then that of each state's first spontaneous
  /// edge.
  private let causedStart: [Int]
  private let spontaneousStart: [Int]
  /// The number of edges.
  let edgeCount: Int
  private var faultActions: [FaultAction] = []
  /// The steps that may leave each state at once without any visible sign.
  private let silentSteps: [[Specification.Step]]
  /// The rows of each state whose end the device does not show, by their numbers in the machine's definition.
  private let invisibleRows: [[Int]]
  /// Whether each state is left at once.
  private let momentary: [Bool]
  /// The acts that the device turned out not to have.
  private var isRemoved: [Bool]
  /// The maximum number of failures of each edge.
  private(set) var maximumAttempts: [Int] = []
  /// The conditions whose change has an effect from the next state on, as bits.
  private let fromEntry: UInt64
  /// The conditions that the status of each state ends on entry, as bits.
  private let endings: [UInt64]

  /// The maximum number of faults for one condition that are tried for an edge.
  private static let maximumFaultActions = 8
  /// The maximum number of places that one search visits.
  private static let limit = 100_000

  /// Makes the map of a machine and of what tests may do to it.
  ///
  /// - Parameter maximumAttempts: the maximum number of failures of an edge. An edge that requires conditions gets
  ///   one more for each fault that establishes one of them.
  init(_ specification: Specification, _ alphabet: Alphabet, maximumAttempts: Int) {
    let machine = specification.machine
    var silentSteps = [[Specification.Step]](repeating: [], count: machine.stateCount)
    var invisibleRows = [[Int]](repeating: [], count: machine.stateCount)
    for (number, node) in specification.nodes.enumerated() where specification.isResting[number] {
      let steps = specification.silent[specification.silentSteps(of: number)]
      silentSteps[node.state] += steps.filter { $0.earliest == .zero && $0.plus < 0 }
      invisibleRows[node.state] += steps.map { Int($0.transition) }
    }
    (self.silentSteps, self.invisibleRows) = (silentSteps, invisibleRows)
    momentary = specification.cells.isMomentary
    self.machine = machine
    self.alphabet = alphabet
    var count = 0
    causedStart = machine.caused.map { edges in
      count += edges.count
      return count - edges.count
    }
    spontaneousStart = machine.spontaneous.map { edges in
      count += edges.count
      return count - edges.count
    }
    edgeCount = count
    fromEntry = machine.definition.conditions.enumerated().reduce(0) { mask, item in
      item.element.countsFromEntry ? mask | 1 << UInt64(item.offset) : mask
    }
    endings = machine.definition.states.map { machine.environment.ended(by: $0.status) }
    isRemoved = [Bool](repeating: false, count: alphabet.acts.count)
    faultActions = alphabet.disturbances.flatMap { act in
      alphabet.acts[act].variants.enumerated().compactMap { variant, action in
        guard case .fault(let fault) = action else { return nil }
        return FaultAction(choice: Choice(act, variant: variant), fault: fault, begins: 0, ends: 0)
      }
    }
    for index in faultActions.indices {
      faultActions[index].begins = self.conditions(0, after: faultActions[index].fault)
      faultActions[index].ends = ~self.conditions(.max, after: faultActions[index].fault)
    }
    faultActions.removeAll { $0.begins | $0.ends == 0 }
    // In the order in which the machine names the faults: the simplest first.
    let names = machine.definition.conditions.flatMap(\.faults)
    let ranked = faultActions.enumerated().map {
      (names.firstIndex(of: $1.fault.name) ?? names.count, $0, $1)
    }
    faultActions = ranked.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    markFirstFaultActions()
    self.maximumAttempts = (machine.caused + machine.spontaneous).flatMap { edges in
      edges.map { maximumAttempts + min(faultActions(for: $0.guard.given).count, Self.maximumFaultActions) }
    }
  }

  /// Removes an act that the device turned out not to have.
  mutating func remove(_ act: Int) {
    isRemoved[act] = true
    faultActions.removeAll { Int($0.choice.act) == act }
    markFirstFaultActions()
  }

  private mutating func markFirstFaultActions() {
    for (index, faultAction) in faultActions.enumerated() {
      faultActions[index].isFirst = !faultActions[..<index].contains {
        $0.begins == faultAction.begins && $0.ends == faultAction.ends
      }
    }
  }

  /// Returns whether a tester can never be certain that the device is in a place: it may leave the place at once
  /// without any visible sign.
  func isHidden(_ place: Place) -> Bool {
    silentSteps[place.state].contains { $0.guard.holds(under: place.conditions) }
  }

  /// Returns the place in which a test with a start condition begins.
  func place(of condition: StartCondition, standing: [String]) -> Place {
    let number = machine.start(for: condition) ?? machine.definition.starts.count - 1
    let faults = standing.map { Fault($0) } + condition.settings.map { Fault($0.name, $0.value) }
    return Place(
      state: machine.state(named: machine.definition.starts[number].state) ?? 0,
      conditions: faults.reduce(0) { conditions($0, after: $1) })
  }

  /// Returns the place to which an edge leads, without the conditions that the status there ends.
  private func place(after edge: Machine.Edge, under conditions: UInt64) -> Place {
    Place(
      state: edge.target,
      conditions: edge.enters ? self.conditions(conditions, entering: edge.target) : conditions)
  }

  /// Returns the conditions after a state is entered: those that its status ends are removed.
  func conditions(_ conditions: UInt64, entering state: Int) -> UInt64 { conditions & ~endings[state] }

  /// Returns the conditions after a fault.
  func conditions(_ conditions: UInt64, after fault: Fault) -> UInt64 {
    let environment = machine.environment
    let isOn = !fault.value.isNothing
    return environment.effects(of: fault.name).reduce(conditions) { result, effect in
      let bit: UInt64 = 1 << UInt64(effect.condition)
      // A momentary effect is over at once: no place has it.
      if effect.isMoment, !effect.isNamed { return result }
      if isOn { return result | bit }
      return environment.lasting & bit == 0 ? result & ~bit : result
    }
  }

  /// Returns the conditions after an allowed stimulus.
  func conditions(_ conditions: UInt64, after stimulus: Stimulus) -> UInt64 {
    let set = machine.environment.setBy[stimulus.number]
    let isOn = stimulus.arguments.first.map { !$0.value.isNothing } ?? false
    return isOn ? conditions | set : conditions & ~set
  }

  /// Returns the conditions after a choice, if the device obeys it.
  func conditions(_ conditions: UInt64, after choice: Choice) -> UInt64 {
    switch alphabet.action(of: choice) {
    case .stimulus(let stimulus) where !choice.isForbidden:
      self.conditions(conditions, after: stimulus)
    case .fault(let fault): self.conditions(conditions, after: fault)
    default: conditions
    }
  }

  /// Returns the choices of a stimulus that lead to different conditions, the one that changes nothing first.
  func choices(of event: Int, under conditions: UInt64) -> [Choice] {
    let count = alphabet.acts[event].variants.count
    guard count > 0, !isRemoved[event] else { return [] }
    guard machine.environment.setBy[event] != 0 else { return [Choice(event)] }
    var seen: [UInt64] = []
    var choices: [Choice] = []
    for variant in 0..<count {
      let choice = Choice(event, variant: variant)
      let result = self.conditions(conditions, after: choice)
      if seen.contains(result) { continue }
      seen.append(result)
      choices.insert(choice, at: result == conditions ? 0 : choices.count)
    }
    return choices
  }

  /// Returns the choices of the faults that establish one of some conditions, in the order in which the machine names
  /// them.
  func faultActions(for conditions: UInt64) -> [Choice] {
    faultActions.filter { $0.begins & conditions != 0 }
      .map(\.choice)
  }

  /// Returns all moves from a place.
  ///
  /// - Parameters:
  ///   - place: the place.
  ///   - allowed: the conditions that may be established.
  ///   - failures: how often each edge was tried in vain.
  func moves(from place: Place, allowed: UInt64, failures: [Int]) -> [Move] {
    var moves: [Move] = []
    let mask = place.conditions
    for event in 0..<machine.eventCount where machine.isStimulus(event) {
      let cell = place.state * machine.eventCount + event
      guard !machine.caused[cell].isEmpty else { continue }
      for choice in choices(of: event, under: mask) {
        let after = conditions(mask, after: choice)
        guard after & ~mask & ~allowed == 0 else { continue }
        // A change that has an effect from the next state on is better made before this state.
        let isLate = (after ^ mask) & fromEntry & timed(in: place.state) != 0
        for (index, edge) in machine.caused[cell].enumerated() where edge.guard.holds(under: mask) {
          let number = causedStart[cell] + index
          guard failures[number] < maximumAttempts[number] else { continue }
          moves.append(
            Move(
              choice: alphabet.choice(of: event, takingRow: edge.transition) ?? choice, edge: number,
              target: self.place(after: edge, under: after),
              cost: 1 + 3 * failures[number] + (isLate ? 3 : 0)))
        }
      }
    }
    for (index, edge) in machine.spontaneous[place.state].enumerated() where edge.guard.holds(under: mask) {
      let number = spontaneousStart[place.state] + index
      guard failures[number] < maximumAttempts[number] else { continue }
      moves.append(
        Move(
          choice: nil, edge: number, target: self.place(after: edge, under: mask),
          cost: 1 + 3 * failures[number]))
    }
    for faultAction in faultActions where faultAction.isFirst {
      let after = mask & ~faultAction.ends | faultAction.begins
      guard after != mask, after & ~mask & ~allowed == 0 else { continue }
      moves.append(
        Move(
          choice: faultAction.choice, edge: -1, target: Place(state: place.state, conditions: after),
          cost: 3 + 2 * (after & ~mask).nonzeroBitCount))
    }
    return moves
  }

  /// Returns whether the device may get from a place to a state by itself.
  func leads(from place: Place, to state: Int) -> Bool {
    var reached = [place]
    var next = 0
    while next < reached.count {
      let here = reached[next]
      next += 1
      for edge in machine.spontaneous[here.state] where edge.guard.holds(under: here.conditions) {
        if edge.target == state { return true }
        let place = self.place(after: edge, under: here.conditions)
        if !reached.contains(place) { reached.append(place) }
      }
    }
    return false
  }

  /// Returns the conditions on which the spontaneous edges of a state depend, as bits.
  private func timed(in state: Int) -> UInt64 {
    machine.spontaneous[state].reduce(0) { $0 | $1.guard.conditions | ($1.plus.map { 1 << UInt64($0) } ?? 0) }
  }

  /// Returns whether an edge depends on a condition that was changed in its state, and whose change has an effect
  /// only from the next state on.
  func isOutdated(_ edge: Machine.Edge, after changed: UInt64) -> Bool {
    (edge.guard.conditions | (edge.plus.map { 1 << UInt64($0) } ?? 0)) & fromEntry & changed != 0
  }

  /// Returns whether a state is left at once.
  func isMomentary(_ state: Int) -> Bool { momentary[state] }

  /// Returns the timers of a state: the edges with a latest time and without an event.
  func timers(in state: Int) -> [Int] {
    machine.spontaneous[state].enumerated().compactMap { index, edge in
      edge.event == nil && edge.latest != .forever ? spontaneousStart[state] + index : nil
    }
  }

  /// Returns whether the device shows nothing when it takes an edge by itself, so that a tester cannot tell when it
  /// did.
  func isInvisible(_ edge: Machine.Edge, from state: Int) -> Bool {
    invisibleRows[state].contains(edge.transition)
  }

  /// Returns the edges that a stimulus may take in a place.
  func edges(of event: Int, in place: Place) -> [Int] {
    let cell = place.state * machine.eventCount + event
    return machine.caused[cell].indices.filter {
      machine.caused[cell][$0].guard.holds(under: place.conditions)
    }.map { causedStart[cell] + $0 }
  }

  /// Returns a spontaneous edge of a state.
  func edge(_ number: Int, from state: Int) -> Machine.Edge {
    machine.spontaneous[state][number - spontaneousStart[state]]
  }

  /// Returns the timers of a place, as moves.
  func timers(in place: Place) -> [Move] {
    timers(in: place.state).compactMap { number in
      let edge = edge(number, from: place.state)
      guard edge.guard.holds(under: place.conditions) else { return nil }
      let target = self.place(after: edge, under: place.conditions)
      return Move(choice: nil, edge: number, target: target, cost: 1)
    }
  }

  /// Returns the state, the event and the target of an edge. A spontaneous edge of a timer has no event.
  func place(of number: Int) -> (state: Int, event: Int?, target: Int) {
    if let state = spontaneousStart.lastIndex(where: { $0 <= number }), number >= spontaneousStart[0] {
      let edge = machine.spontaneous[state][number - spontaneousStart[state]]
      return (state, edge.event, edge.target)
    }
    let cell = causedStart.lastIndex { $0 <= number } ?? 0
    let edge = machine.caused[cell][number - causedStart[cell]]
    return (cell / machine.eventCount, edge.event, edge.target)
  }

  /// Searches for the cheapest path from one of several places to a wanted one; visits all places if none is wanted.
  ///
  /// - Parameter throughHidden: whether the path may lead through hidden places.
  func search(
    from starts: [Place], allowed: UInt64, failures: [Int], throughHidden: Bool = false,
    isWanted: (Place) -> Bool
  ) -> StateSpace<Place, Move> {
    StateSpace(from: starts, limit: Self.limit) { place, go in
      for move in moves(from: place, allowed: allowed, failures: failures)
      where throughHidden || !isHidden(move.target) {
        go(move, move.target, move.cost)
      }
    } isGoal: {
      isWanted($0)
    }
  }

  /// Returns the cheapest path from one of several places to a wanted one; `nil` if there is none. The path leads
  /// through hidden places only if there is no other.
  func path(
    from starts: [Place], allowed: UInt64, failures: [Int], isWanted: (Place) -> Bool
  ) -> (start: Int, moves: [Move])? {
    for throughHidden in [false, true] {
      let search = search(
        from: starts, allowed: allowed, failures: failures, throughHidden: throughHidden, isWanted: isWanted)
      guard let found = search.found else { continue }
      let path = search.path(to: found)
      return (starts.firstIndex(of: path.start) ?? 0, path.steps)
    }
    return nil
  }

  /// Returns a description of a move.
  func text(of move: Move) -> String {
    guard let choice = move.choice else { return "wait" }
    switch alphabet.action(of: choice) {
    case .stimulus(let stimulus):
      let name = alphabet.acts[Int(choice.act)].name
      let arguments = stimulus.arguments.map(\.value.description).joined(separator: ", ")
      return arguments.isEmpty ? name : "\(name): \(arguments)"
    case .fault(let fault): return "fault \(fault.name): \(fault.value)"
    default: return "wait"
    }
  }
}
