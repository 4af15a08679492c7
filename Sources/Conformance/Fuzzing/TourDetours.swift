import Automata
import Basics

/// How a tour reaches behaviour that depends on earlier events, such as a lock that is found unlocked because it was
/// left so.
extension Tour {
  /// The detours tried for an edge that the device did not take on the shortest path.
  struct Detour: Equatable, Sendable {
    /// The number of the next detour.
    var number = 0
    /// Whether a test made this detour, and whether it led there. If so, the tour makes it again for everything left.
    var isMade = false
    var hasSucceeded = false
  }

  /// The number of detours tried for an edge.
  private static var maximumDetours: Int { 8 }

  /// Returns a test that takes a detour to an edge which the device did not take so far: through another state, first
  /// through those with the same status as the edge's target.
  mutating func detour() -> (start: Int, moves: [ModelMap.Move], scope: Scope)? {
    let allowed = allowance(of: .lasting)
    let none = [Int](repeating: 0, count: map.edgeCount)
    while true {
      var open = none
      for (edge, detour) in detours where detour.number >= Self.maximumDetours {
        open[edge] = map.maximumAttempts[edge]
      }
      for edge in hasDiverged.indices where hasDiverged[edge] { open[edge] = map.maximumAttempts[edge] }
      let wanted = map.path(from: openStarts.map { starts[$0] }, allowed: allowed, failures: open) {
        isWanted($0)
      }
      guard let wanted, let move = wanted.moves.first(where: { isFailed($0) && $0.choice == nil }) else {
        return nil
      }
      var detour = detours[move.edge] ?? Detour()
      if detour.isMade, !detour.hasSucceeded { detour.number += 1 }
      (detour.isMade, detour.hasSucceeded) = (false, false)
      while detour.number < Self.maximumDetours {
        if let test = test(through: detour.number, to: move) {
          detour.isMade = true
          detours[move.edge] = detour
          return (test.start, test.moves, .lasting)
        }
        detour.number += 1
      }
      detours[move.edge] = detour
    }
  }

  /// Returns whether a move takes an edge that has failed as often as the tour tries it, in some scope.
  private func isFailed(_ move: ModelMap.Move) -> Bool {
    move.edge >= 0 && isFailed(edge: move.edge)
  }

  /// Returns a test that takes an edge after a detour: through the n-th state, first of those with the same status as
  /// the edge's target, then of the others.
  private func test(through number: Int, to move: ModelMap.Move) -> (start: Int, moves: [ModelMap.Move])? {
    let states = map.machine.definition.states
    let (origin, _, target) = map.place(of: move.edge)
    let all = states.indices.filter { $0 != origin && $0 != target && !map.isMomentary($0) }
    let alike = all.filter { states[$0].status == states[target].status }
    let order = alike + all.filter { !alike.contains($0) }
    guard number < order.count else { return nil }
    let allowed = allowance(of: .lasting)
    // Edges that failed in any scope are excluded.
    let failures = map.maximumAttempts.indices.map { isFailed(edge: $0) ? map.maximumAttempts[$0] : 0 }
    func path(from places: [ModelMap.Place], to state: Int) -> (start: Int, moves: [ModelMap.Move])? {
      map.path(from: places, allowed: allowed, failures: failures) { $0.state == state }
    }
    guard let there = path(from: openStarts.map { starts[$0] }, to: order[number]) else { return nil }
    let middle = there.moves.last?.target ?? starts[openStarts[there.start]]
    guard let back = path(from: [middle], to: origin) else { return nil }
    let place = back.moves.last?.target ?? middle
    let none = [Int](repeating: 0, count: map.edgeCount)
    guard
      let last = map.moves(from: place, allowed: allowed, failures: none).first(where: {
        $0.edge == move.edge
      })
    else { return nil }
    return (openStarts[there.start], there.moves + back.moves + [last])
  }
}
