/// Tracks a plain machine of up to 64 nodes, whose sets of nodes fit one word: a step takes a few table look-ups.
struct WordTracker: Sendable {
  /// The possible nodes.
  private(set) var possible: UInt64 = 0
  /// The possible nodes before the last operation.
  private(set) var before: UInt64 = 0
  /// The number of observations that only a loss explains.
  private(set) var losses = 0
  /// The nodes in which the device would be if it refused the last stimulus.
  private var refusing: UInt64 = 0
  /// The nodes that are possible without another loss since the last one counted.
  private var undisturbed: UInt64 = 0

  // Copies of the specification's tables for the hot path.
  private let caused: [UInt64]
  private let visible: [UInt64]
  private let resting: UInt64
  private let eventCount: Int
  private let symbolCount: Int
  private let followsLosses: Bool
  private let causedWithoutLoss: [UInt64]
  private let visibleWithoutLoss: [UInt64]
  /// All nodes of the machine, as bits.
  private let capacity: UInt64

  /// Prepares a machine; the tables stay empty unless it is small and plain.
  init(_ specification: Specification) {
    caused = specification.words.caused
    visible = specification.words.visible
    causedWithoutLoss = specification.words.causedWithoutLoss
    visibleWithoutLoss = specification.words.visibleWithoutLoss
    resting = specification.words.resting
    eventCount = specification.eventCount
    symbolCount = specification.symbolCount
    followsLosses = specification.isSmall && specification.loss != 0
    let count = specification.nodes.count
    capacity = count < 64 ? 1 << UInt64(count) - 1 : .max
  }

  /// The only possible node, or -1 if there are none or several.
  @inline(__always)
  var single: Int {
    possible != 0 && possible & (possible &- 1) == 0 ? possible.trailingZeroBitCount : -1
  }

  /// Starts a test in some nodes.
  mutating func start(in nodes: [Int]) {
    possible = nodes.reduce(0) { $0 | 1 << UInt64($1) }
    before = possible
    refusing = 0
    undisturbed = possible
    losses = 0
    check()
  }

  /// Moves by a stimulus, and returns whether a possible node allows it.
  @inline(__always)
  mutating func perform(_ event: Int) -> Bool {
    let nodes = possible
    before = nodes
    var next: UInt64 = 0
    var refused: UInt64 = 0
    var rest = nodes
    while rest != 0 {
      let node = rest.trailingZeroBitCount
      let targets = caused[node &* eventCount &+ event]
      next |= targets
      if targets == 0 { refused |= 1 &<< UInt64(truncatingIfNeeded: node) }
      rest &= rest &- 1
    }
    refusing = refused
    possible = next | refused
    if followsLosses { moveUndisturbed(on: event) }
    assert(possible != 0 || before == 0, "a stimulus after which nothing is possible")
    check()
    return next != 0
  }

  /// Keeps the nodes that show a symbol, follows their steps, and returns whether any is left.
  @inline(__always)
  mutating func reveal(_ symbol: Int) -> Bool {
    before = possible
    possible = targets(of: before, showing: symbol)
    if refusing != 0 { refusing = targets(of: refusing, showing: symbol) }
    if followsLosses { revealUndisturbed(symbol) }
    check()
    return possible != 0
  }

  /// Keeps the nodes that refuse the last stimulus, and returns whether any is left.
  mutating func refuse() -> Bool {
    before = possible
    possible &= refusing
    if followsLosses { keepUndisturbed(undisturbed & possible) }
    check()
    return possible != 0
  }

  /// Removes all nodes.
  mutating func removeAll() {
    before = possible
    possible = 0
    refusing = 0
  }

  /// Records an operation that changes nothing.
  mutating func stay() { before = possible }

  /// Keeps the resting nodes, and returns whether any is left.
  @inline(__always)
  mutating func settle() -> Bool {
    before = possible
    possible &= resting
    refusing &= resting
    if followsLosses { keepUndisturbed(undisturbed & resting) }
    check()
    return possible != 0
  }

  @inline(__always)
  private func targets(of nodes: UInt64, showing symbol: Int) -> UInt64 {
    var targets: UInt64 = 0
    var rest = nodes
    while rest != 0 {
      targets |= visible[rest.trailingZeroBitCount &* symbolCount &+ symbol]
      rest &= rest &- 1
    }
    return targets
  }

  // The nodes that are possible without losses are tracked in separate methods: a machine without losses pays for
  // one branch only.

  @inline(never)
  private mutating func moveUndisturbed(on event: Int) {
    var next: UInt64 = 0
    forEachBit(of: undisturbed) { node in
      let targets = causedWithoutLoss[node * eventCount + event]
      next |= targets == 0 ? 1 << UInt64(node) : targets
    }
    undisturbed = next
  }

  @inline(never)
  private mutating func revealUndisturbed(_ symbol: Int) {
    var next: UInt64 = 0
    forEachBit(of: undisturbed) { next |= visibleWithoutLoss[$0 * symbolCount + symbol] }
    keepUndisturbed(next)
  }

  /// Counts a loss if nothing else explains the set of possible nodes.
  private mutating func keepUndisturbed(_ nodes: UInt64) {
    undisturbed = nodes
    guard nodes == 0, possible != 0 else { return }
    losses += 1
    undisturbed = possible
  }

  /// Checks the invariants of the tracker itself.
  @inline(__always)
  private func check() {
    assert(possible & ~capacity == 0, "a node that the machine does not have")
    assert(refusing & ~possible == 0, "a refusal by what is not possible")
    assert(undisturbed & ~capacity == 0, "a node that the machine does not have")
  }
}

/// Calls the body with the number of each set bit, in ascending order.
func forEachBit(of word: UInt64, _ body: (Int) -> Void) {
  var word = word
  while word != 0 {
    body(word.trailingZeroBitCount)
    word &= word &- 1
  }
}
