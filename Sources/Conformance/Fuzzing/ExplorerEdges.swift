import Basics

// How tests come to the bounds of timers, and what they do there.

extension Explorer {
  /// Where a test stands that goes to a bound of a timer.
  enum EdgeStage: Equatable, Sendable {
    /// It does not.
    case none
    /// It has waited up to an edge, from a position; what is given there is counted under a number for the edge, and one for its side.
    case reached(UInt64, side: UInt64, from: UInt64)
    /// Something was given there, whose outcome the device is let show; when the timer would have ended, or never, and where it ran.
    case given(Instant, position: UInt64)
    /// The device has shown it, and may be back where the timer runs: then that is waited for.
    case shown(position: UInt64)
  }

  /// Of all tests, those that go to bounds of timers. Where time is what is spent they are dear, and what is found without them is
  /// looked for first.
  var edgedTests: Double {
    mutating get {
      guard !isFree else { return 0.75 }
      return (costs?.spent ?? 0) < Self.edgesBegin ? 0 : 0.3
    }
  }

  /// A wait up to a bound of the timer that runs, or some time around it: the edge that was gone to least often here.
  mutating func edge(in explorationState: ExplorationState, slot: Int) -> Choice? {
    guard hasEdge(in: explorationState), chance(edgeShare(at: slot, in: explorationState)),
      mayWait(upTo: explorationState.deadline)
    else { return nil }
    return rarestEdge(in: explorationState)
  }

  /// Whether a timer runs to whose bounds a test may go.
  ///
  /// Mutating, because it is on the path of every event, and what only reads would be handed a copy.
  @inline(__always)
  private mutating func hasEdge(in explorationState: ExplorationState) -> Bool {
    explorationState.hasDeadline && !alphabet.distinctEdges.isEmpty && variantCounts[alphabet.edge] > 0
      && uses(.edges) && test.choices.count + 2 < min(plan.length, plan.end)
  }

  /// The edge that was gone to least often here.
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

  /// How often an edge is gone to: the oftener, the seldomer tests are where its timer runs.
  private mutating func edgeShare(at slot: Int, in explorationState: ExplorationState) -> Double {
    guard plan.edges > 0,
      Double(spent.edges) <= Self.edged * weights[alphabet.edge] * Double(events + Self.shallowest)
    else { return 0 }
    guard isFree else { return plan.edges }
    let usual = Double(events) / Double(max(positions.count, 1))
    let visits = Double(max(positions.visits[slot], 1))
    let share = plan.edges * max(usual / visits, 1).squareRoot()
    guard settings.isSimulated else { return min(share, Self.mostEdged) }
    // The more can be asked for there, the more there is to try; once all of it has had its turn, others are worth more.
    let legal = Double((explorationState.legal & offered).nonzeroBitCount)
    let turns = Double(counts[Self.edges(at: explorationState.position), Self.allEdges])
    let fresh = legal * Double(alphabet.distinctEdges.count) / max(turns, 1)
    return min(share * (legal / Self.usuallyLegal).squareRoot() * min(fresh, 1).squareRoot(), Self.mostEdged)
  }

  /// Whether there is time to wait so long.
  private mutating func mayWait(upTo deadline: Instant) -> Bool {
    settings.isSimulated || costs?.mayWait(deadline - (.zero + time)) ?? true
  }

  /// A stimulus at an edge, and then time for its effects.
  mutating func edged(in explorationState: ExplorationState) -> Choice? {
    switch edgeStage {
    case .none: return nil
    case .reached(let context, let side, let position):
      edgeStage = .none
      // One timer has ended, shown or not, and the next one runs: some tests go on to its bounds.
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
        // What was called off must not come all the same.
        return due == .never || variantCounts[alphabet.wait] == 0 ? nil : past(due)
      }
      if explorationState.isAwaiting, variantCounts[alphabet.settle] > 0 {
        if settings.isSimulated { edgeStage = .shown(position: position) }
        return Choice(alphabet.settle)
      }
      return mayWait(upTo: explorationState.deadline) ? alphabet.choice(of: .edge(.past)) : nil
    }
  }

  /// Of all stimuli that are allowed or must be refused here, the one given least often at an edge, on its side of
  /// the timer's end.
  private mutating func stimulus(
    for context: UInt64, _ side: UInt64, in explorationState: ExplorationState
  ) -> Choice? {
    let forbidden = uses(.refusals) && settings.refusals > 0 ? explorationState.forbidden & offered : 0
    var rest = explorationState.legal & offered | forbidden
    if isPaced { rest = timely(rest, in: explorationState) }
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

  /// The context in which it is counted how often each edge was gone to from a position, and under a number of its own how often any.
  private static func edges(at position: UInt64) -> UInt64 { mix(position ^ 0xED6E) }
  private static var allEdges: Int { 0xA11 }
  /// How often an edge is gone to at the most where its timer runs.
  private static var mostEdged: Double { 0.3 }
  /// After how many seconds of the device's time that begins, where time is what is spent.
  private static var edgesBegin: Double { 1_200 }
  /// How many stimuli are legal where an edge is as likely as its share says.
  private static var usuallyLegal: Double { 2 }
  /// How often a test continues to the bounds of a timer that begins where another one ends.
  private static var chained: Double { 0.3 }
  /// How often the device is let show what came of a stimulus at an edge: now and then something else follows at once.
  private static var shown: Double { 0.75 }
}
