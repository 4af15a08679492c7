import Automata
import Basics

/// Searches the pairs of a model and a machine that tests can reach, breadth first by the number of the tester's
/// moves.
struct ProductSearch {
  /// A move of the tester or the device.
  enum Move: Sendable {
    /// A stimulus, with the number of the branch that the device takes; negative if the device refuses it.
    case perform(Stimulus, branch: Int)
    case fault(Fault)
    case elapse(Interval)
    /// The device takes a spontaneous branch.
    case fire(Int)
    /// The device has nothing more to show.
    case settle

    /// Whether it counts as a move of the tester.
    var isTesters: Bool {
      switch self {
      case .perform, .fault, .elapse: true
      case .fire, .settle: false
      }
    }
  }

  /// A path from a start to a divergence.
  struct Path {
    var start: Int
    /// The device's permanent choices, as bits.
    var options: UInt64
    var moves: [Move]
  }

  /// The predecessor of a pair.
  private enum Origin {
    case start(Int)
    /// A pair of the search that this one continues.
    case base(Int)
    case visit(Int)
  }

  private struct Visit {
    var point: ProductPoint
    var origin: Origin
    var move: Move?
    var depth: Int
  }

  /// The moves to try.
  private enum Moves {
    case all
    case stimulus(Int)
    case withoutTester
  }

  private let specification: Specification
  private let interpreter: ReferenceInterpreter
  private let stimuli: [[Stimulus]]
  private let faults: [(condition: Int, name: String, isLasting: Bool)]
  private let limit: Int
  private var product: Product
  private var visits: [Visit] = []
  private var numbers: [ProductPoint: Int] = [:]
  /// The visits, by the state of the device.
  private var visitsByState: [[Int]]
  /// Whether every pair was added; false once the limit is reached.
  private(set) var isComplete = true

  /// The number of pairs.
  var count: Int { visits.count }

  init(
    _ specification: Specification, _ interpreter: ReferenceInterpreter, _ stimuli: [[Stimulus]],
    withFaults: Bool, limit: Int
  ) {
    self.specification = specification
    self.interpreter = interpreter
    self.stimuli = stimuli
    self.limit = limit
    product = Product(specification, interpreter)
    visitsByState = [[Int]](repeating: [], count: specification.machine.stateCount)
    faults =
      withFaults
      ? specification.machine.definition.conditions.enumerated().compactMap { number, item in
        item.faults.first.map { (number, $0, !item.until.isEmpty) }
      } : []
  }

  /// Searches everything reachable from some starts; returns the path to the first divergence.
  ///
  /// - Parameter continues: whether to continue after a divergence.
  mutating func search(_ starts: [StartCondition], continues: Bool = false) -> Path? {
    for (index, start) in starts.enumerated() {
      guard let number = specification.machine.start(for: start) else { continue }
      for options in specification.machine.variants {
        product.start(number, start.settings, options)
        _ = add(Visit(point: product.point(isSettled: false), origin: .start(index), move: nil, depth: 0))
      }
    }
    return search(nil, roots: [], .all, continues: continues)
  }

  /// Tries the mutated moves in every pair where a test of the machine can lead to them, then searches everything
  /// reachable from there.
  mutating func search(from base: ProductSearch, _ mutant: Mutant) -> Path? {
    var roots: [[Int]] = []
    for number in base.visitsByState[mutant.state] {
      let depth = base.visits[number].depth
      while roots.count <= depth { roots.append([]) }
      roots[depth].append(number)
    }
    return search(
      base, roots: roots, mutant.stimulus.map { .stimulus($0) } ?? .withoutTester, continues: false)
  }

  private mutating func search(
    _ base: ProductSearch?, roots: [[Int]], _ rootMoves: Moves, continues: Bool
  ) -> Path? {
    var layer = Array(visits.indices)
    var depth = 0
    while depth < roots.count || !layer.isEmpty {
      var next: [Int] = []
      var found: Path?
      func take(_ origin: Origin, _ point: ProductPoint, _ moves: Moves) -> Bool {
        for (move, target) in self.moves(moves, from: point) {
          guard let target else {
            if continues { continue }
            let before = path(to: origin, base)
            found = found ?? Path(start: before.start, options: before.options, moves: before.moves + [move])
            // A move of the device adds nothing to the depth, so no move of the tester leads to a shorter path.
            if move.isTesters { continue }
            found = Path(start: before.start, options: before.options, moves: before.moves + [move])
            return true
          }
          if base?.numbers[target] != nil { continue }
          let visit = Visit(
            point: target, origin: origin, move: move, depth: depth + (move.isTesters ? 1 : 0))
          guard let number = add(visit) else { continue }
          if move.isTesters { next.append(number) } else { layer.append(number) }
        }
        return false
      }
      if let base, depth < roots.count {
        for root in roots[depth] where take(.base(root), base.visits[root].point, rootMoves) { return found }
      }
      var index = 0
      while index < layer.count {
        if take(.visit(layer[index]), visits[layer[index]].point, .all) { return found }
        index += 1
      }
      if let found { return found }
      layer = next
      depth += 1
    }
    return nil
  }

  /// Adds a pair, and returns its number; `nil` if the pair is known or the limit is reached.
  private mutating func add(_ visit: Visit) -> Int? {
    guard numbers[visit.point] == nil else { return nil }
    guard visits.count < limit else {
      isComplete = false
      return nil
    }
    numbers[visit.point] = visits.count
    visitsByState[visit.point.state].append(visits.count)
    visits.append(visit)
    return visits.count - 1
  }

  private func path(to origin: Origin, _ base: ProductSearch?) -> Path {
    var moves: [Move] = []
    var origin = origin
    var options: UInt64 = 0
    while true {
      switch origin {
      case .start(let number): return Path(start: number, options: options, moves: moves.reversed())
      case .base(let number):
        let before = base?.path(to: .visit(number), nil) ?? Path(start: 0, options: 0, moves: [])
        return Path(start: before.start, options: before.options, moves: before.moves + moves.reversed())
      case .visit(let number):
        // All points of a path have the same choices.
        options = visits[number].point.configuration.options
        if let move = visits[number].move { moves.append(move) }
        origin = visits[number].origin
      }
    }
  }
}

extension ProductSearch {
  /// Returns the possible moves at a point, each with its target; `nil` if model and device disagree.
  private mutating func moves(
    _ moves: Moves, from point: ProductPoint
  ) -> [(move: Move, target: ProductPoint?)] {
    var list: [(move: Move, target: ProductPoint?)] = []
    switch moves {
    case .all:
      guard point.isSettled else { break }
      for event in stimuli.indices { perform(event, from: point, &list) }
      bringAboutFaults(from: point, &list)
    case .stimulus(let event):
      if point.isSettled { perform(event, from: point, &list) }
      return list
    case .withoutTester: break
    }
    addOwnMoves(from: point, &list)
    return list
  }

  private mutating func perform(
    _ event: Int, from point: ProductPoint, _ list: inout [(move: Move, target: ProductPoint?)]
  ) {
    for stimulus in stimuli[event] {
      product.move(to: point)
      let branches = interpreter.branches(on: stimulus, from: &product.configuration, at: product.now)
      if branches.isEmpty {
        // A stimulus that both refuse changes neither.
        if point.model.environment.changes.isEmpty, !product.tracker.allows(event) { continue }
        product.tracker.perform(stimulus, at: product.now)
        let agrees = product.tracker.observe(.refused(""), at: product.now)
        list.append((.perform(stimulus, branch: -1), agrees ? product.point(isSettled: false) : nil))
      }
      for (number, branch) in branches.enumerated() {
        if number > 0 {
          product.move(to: point)
          _ = interpreter.branches(on: stimulus, from: &product.configuration, at: product.now)
        }
        product.tracker.perform(stimulus, at: product.now)
        interpreter.apply(stimulus, to: &product.configuration)
        let agrees = take(branch)
        list.append((.perform(stimulus, branch: number), agrees ? product.point(isSettled: false) : nil))
      }
    }
  }

  /// Lets the device take a branch; returns whether the model allows the observations.
  private mutating func take(_ branch: ReferenceInterpreter.Branch) -> Bool {
    let shows = interpreter.take(branch, from: &product.configuration, at: product.now)
    return shows.allSatisfy { product.tracker.observe($0, at: product.now) }
  }

  private mutating func bringAboutFaults(
    from point: ProductPoint, _ list: inout [(move: Move, target: ProductPoint?)]
  ) {
    for (number, name, isLasting) in faults {
      let holds = point.configuration.holds >> UInt64(number) & 1 == 1
      if holds && isLasting { continue }
      let fault = Fault(name, .flag(!holds))
      product.move(to: point)
      product.tracker.apply(fault, at: product.now)
      interpreter.apply(fault, to: &product.configuration, at: product.now)
      list.append((.fault(fault), product.point(isSettled: false)))
    }
  }

  /// Adds the spontaneous moves of the device, and the passage of time.
  private mutating func addOwnMoves(
    from point: ProductPoint, _ list: inout [(move: Move, target: ProductPoint?)]
  ) {
    product.move(to: point)
    let (now, state) = (product.now, point.state)
    let options = interpreter.options(from: &product.configuration, at: product.now)
    let deadline = options.reduce(Instant.never) { min($0, $1.latest) }
    for option in options
    where option.earliest <= now && (option.latest >= now || option.latest == deadline) {
      product.move(to: point)
      let agrees = take(interpreter.freeBranch(option.number, of: state))
      list.append((.fire(option.number), agrees ? product.point(isSettled: false) : nil))
    }
    guard deadline > now else { return }
    product.move(to: point)
    if point.isSettled {
      guard let edge = product.nextEdge(options) else { return }
      let length = min(edge, deadline == .never ? edge : deadline - now)
      product.now = now + length
      list.append((.elapse(length), product.point(isSettled: false)))
    } else {
      let agrees = product.tracker.settle(at: now)
      list.append((.settle, agrees ? product.point(isSettled: true) : nil))
    }
  }
}
