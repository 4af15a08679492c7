import Basics

// How tests reach the bounds of timers, and what they do there.

extension Explorer {
  /// The stage of a test at a bound of a timer.
  enum EdgeStage: Equatable, Sendable {
    /// The test is not at a bound.
    case none
    /// The test has waited up to an edge, from a position. Stimuli there are counted by a hash of the edge and by a
    /// hash of its side of the timer's end.
    case reached(UInt64, side: UInt64, from: UInt64)
    /// The test has given a stimulus there, and lets the device show the result. The payload is the time at which the
    /// timer would have ended, or `.never`, and the position in which it ran.
    case given(Instant, position: UInt64)
    /// The device has shown the result, and may be back in the position in which the timer runs. If so, the test
    /// waits for its end.
    case shown(position: UInt64)
  }

  /// The share of tests that wait up to bounds of timers. If time is the cost, such tests are expensive, so faults
  /// that need none are searched first.
  var edgedTests: Double {
    mutating get {
      guard !isFree else { return 0.75 }
      return (costs?.spent ?? 0) < Self.edgesBegin ? 0 : 0.3
    }
  }

  /// Returns a wait up to an edge of the running timer, the one that tests tried least often here; `nil` if it is not
  /// time for one.
  mutating func edge(in explorationState: ExplorationState, slot: Int) -> Choice? {
    guard hasEdge(in: explorationState), chance(edgeShare(at: slot, in: explorationState)),
      mayWait(upTo: explorationState.deadline)
    else { return nil }
    return rarestEdge(in: explorationState)
  }

  /// Whether a timer runs whose bounds the test may try.
  ///
  /// Mutating, because it runs for every event, and a nonmutating member would copy the explorer.
  @inline(__always)
  private mutating func hasEdge(in explorationState: ExplorationState) -> Bool {
    explorationState.hasDeadline && !alphabet.distinctEdges.isEmpty && variantCounts[alphabet.edge] > 0
      && uses(.edges) && test.choices.count + 2 < min(plan.length, plan.end)
  }

  /// Returns the edge that tests tried least often in this position.
  private mutating func rarestEdge(in explorationState: ExplorationState) -> Choice {
    let context = Self.edges(at: explorationState.position)
    counts.add(context, Self.allEdges)
    let edges = alphabet.distinctEdges
    var best = edges[0]
    var minimum = Double.infinity
    for variant in edges {
      let count = (Double(counts[context, variant]) + unit()) / alphabet.edgeWeights[variant]
      if count < minimum { (best, minimum) = (variant, count) }
    }
    counts.add(context, best)
    let isBefore = alphabet.edgeWeights[best] > 1
    edgeStage = .reached(
      mix(context &+ UInt64(best)), side: mix(context &+ (isBefore ? 0xB4 : 0xAF)),
      from: explorationState.position)
    spent.edges += 3
    return Choice(alphabet.edge, variant: best)
  }

  /// Returns the probability of a wait up to an edge: the more rarely tests are where the timer runs, the higher.
  private mutating func edgeShare(at slot: Int, in explorationState: ExplorationState) -> Double {
    guard plan.edges > 0,
      Double(spent.edges) <= Self.maximumEdgeShare * weights[alphabet.edge]
        * Double(events + Self.eventOffset)
    else { return 0 }
    guard isFree else { return plan.edges }
    let usual = Double(events) / Double(max(positions.count, 1))
    let visits = Double(max(positions.visits[slot], 1))
    let share = plan.edges * max(usual / visits, 1).squareRoot()
    guard settings.isSimulated else { return min(share, Self.maximumEdgeProbability) }
    // The more stimuli are legal there, the more there is to try; once each has been tried, other positions are worth
    // more.
    let legal = Double((explorationState.legal & offered).nonzeroBitCount)
    let attempts = Double(counts[Self.edges(at: explorationState.position), Self.allEdges])
    let fresh = legal * Double(alphabet.distinctEdges.count) / max(attempts, 1)
    return min(
      share * (legal / Self.usuallyLegal).squareRoot() * min(fresh, 1).squareRoot(),
      Self.maximumEdgeProbability)
  }

  /// Returns whether there is time to wait until a deadline.
  private mutating func mayWait(upTo deadline: Instant) -> Bool {
    settings.isSimulated || costs?.mayWait(deadline - (.zero + time)) ?? true
  }

  /// Returns a stimulus at an edge, then a choice that lets its effects show.
  mutating func edged(in explorationState: ExplorationState) -> Choice? {
    switch edgeStage {
    case .none: return nil
    case .reached(let context, let side, let position):
      edgeStage = .none
      // One timer has ended, visibly or not, and the next one runs: some tests continue to its bounds.
      if settings.isSimulated, explorationState.position != position, hasEdge(in: explorationState),
        chance(Self.chained)
      {
        return rarestEdge(in: explorationState)
      }
      guard let choice = stimulus(for: context, side, in: explorationState) else { return nil }
      edgeStage = .given(explorationState.deadline, position: position)
      return choice
    case .shown(let position):
      edgeStage = .none
      guard explorationState.position == position, explorationState.hasDeadline, chance(Self.shown),
        mayWait(upTo: explorationState.deadline)
      else { return nil }
      return alphabet.choice(of: .edge(.past))
    case .given(let due, let position):
      edgeStage = .none
      guard chance(Self.shown) else { return nil }
      guard explorationState.hasDeadline else {
        // A cancelled event must not occur.
        return due == .never || variantCounts[alphabet.wait] == 0 ? nil : past(due)
      }
      if explorationState.isAwaiting, variantCounts[alphabet.settle] > 0 {
        if settings.isSimulated { edgeStage = .shown(position: position) }
        return Choice(alphabet.settle)
      }
      return mayWait(upTo: explorationState.deadline) ? alphabet.choice(of: .edge(.past)) : nil
    }
  }

  /// Returns the stimulus that was given least often at an edge, on its side of the timer's end. It may be legal or
  /// forbidden here.
  private mutating func stimulus(
    for context: UInt64, _ side: UInt64, in explorationState: ExplorationState
  ) -> Choice? {
    let forbidden = uses(.refusals) && settings.refusals > 0 ? explorationState.forbidden & offered : 0
    var rest = explorationState.legal & offered | forbidden
    if isPaced { rest = withoutDeferred(rest, in: explorationState) }
    guard rest != 0 else { return nil }
    var best = 0
    var minimum = Double.infinity
    while rest != 0 {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      let tried = Double(counts[context, event]) + Double(counts[side, event]) / 2
      let count = (tried + unit() / 2) / weights[event]
      if count < minimum { (best, minimum) = (event, count) }
    }
    counts.add(context, best)
    counts.add(side, best)
    return Choice(best, variant: variant(of: best), isForbidden: forbidden >> UInt64(best) & 1 == 1)
  }

  /// The context that counts how often tests tried each edge from a position, and under ``allEdges`` how often they
  /// tried any.
  private static func edges(at position: UInt64) -> UInt64 { mix(position ^ 0xED6E) }
  private static var allEdges: Int { 0xA11 }
  /// The maximum probability of a wait up to an edge while its timer runs.
  private static var maximumEdgeProbability: Double { 0.3 }
  /// The device's time, in seconds, after which such waits begin, if time is the cost.
  private static var edgesBegin: Double { 1_200 }
  /// The number of legal stimuli with which an edge has its ordinary probability.
  private static var usuallyLegal: Double { 2 }
  /// The probability that a test continues to the bounds of a timer that starts when another one ends.
  private static var chained: Double { 0.3 }
  /// The probability that a test lets the device show the result of a stimulus at an edge; otherwise something else
  /// follows at once.
  private static var shown: Double { 0.75 }
}
