/// Follows a plain machine of up to 64 nodes, where a set of nodes is one word: a step is a few table look-ups.
struct WordTracker: Sendable {
  /// The nodes that are possible.
  private(set) var possible: UInt64 = 0
  /// Those before the last operation.
  private(set) var before: UInt64 = 0
  /// How often what was seen can only be explained by a loss.
  private(set) var losses = 0
  /// Where the device would be if it refused the last stimulus.
  private var refusing: UInt64 = 0
  /// The nodes that are possible without any loss since the last one.
  private var undisturbed: UInt64 = 0

  // What the hot path needs of the specification, at hand.
  private let caused: [UInt64]
  private let visible: [UInt64]
  private let resting: UInt64
  private let eventCount: Int
  private let symbolCount: Int
  private let followsLosses: Bool
  private let causedWithoutLoss: [UInt64]
  private let visibleWithoutLoss: [UInt64]
  /// All nodes that there are.
  private let capacity: UInt64

  /// Prepares; for another machine than a small plain one it stays empty.
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

  /// The only node that is possible, or -1 when there is none or more than one.
  @inline(__always)
  var single: Int {
    possible != 0 && possible & (possible &- 1) == 0 ? possible.trailingZeroBitCount : -1
  }

  /// Goes to some nodes, at the beginning of a test.
  mutating func start(in nodes: [Int]) {
    possible = nodes.reduce(0) { $0 | 1 << UInt64($1) }
    before = possible
    refusing = 0
    undisturbed = possible
    losses = 0
    check()
  }

  /// Moves by a stimulus; whether some possible node allows it.
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

  /// Keeps what shows a symbol, and moves on with it; whether any is left.
  @inline(__always)
  mutating func reveal(_ symbol: Int) -> Bool {
    before = possible
    possible = targets(of: before, showing: symbol)
    if refusing != 0 { refusing = targets(of: refusing, showing: symbol) }
    if followsLosses { revealUndisturbed(symbol) }
    check()
    return possible != 0
  }

  /// Keeps what refuses the last stimulus.
  mutating func refuse() -> Bool {
    before = possible
    possible &= refusing
    if followsLosses { keepUndisturbed(undisturbed & possible) }
    check()
    return possible != 0
  }

  /// Keeps nothing.
  mutating func removeAll() {
    before = possible
    possible = 0
    refusing = 0
  }

  /// Something happened that moves nothing.
  mutating func stay() { before = possible }

  /// Keeps what is at rest; whether any is left.
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

  // What would have been possible without losses is followed beside what is, and apart from it: a machine without
  // losses pays one branch.

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

  /// Notes a loss when nothing else explains what the set of possible nodes has come to.
  private mutating func keepUndisturbed(_ nodes: UInt64) {
    undisturbed = nodes
    guard nodes == 0, possible != 0 else { return }
    losses += 1
    undisturbed = possible
  }

  /// What must hold of the tracker itself, whatever a device does.
  @inline(__always)
  private func check() {
    assert(possible & ~capacity == 0, "a node that the machine does not have")
    assert(refusing & ~possible == 0, "a refusal by what is not possible")
    assert(undisturbed & ~capacity == 0, "a node that the machine does not have")
  }
}

/// Calls the body with each bit that is set, in rising order.
func forEachBit(of word: UInt64, _ body: (Int) -> Void) {
  var word = word
  while word != 0 {
    body(word.trailingZeroBitCount)
    word &= word &- 1
  }
}
