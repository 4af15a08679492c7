/// Detects cycles of the model in a test, and repeats them.
///
/// The path from the start is kept loop-erased: when it returns to a position, the part in between is a cycle that
/// visits no position twice, and is removed from the path. So the watch finds a session within a session as well as a
/// stimulus that changes nothing.
struct CycleWatch: Sendable {
  /// A cycle that has just closed.
  struct Closed {
    /// A hash of its choices.
    var hash: UInt64 = 0
    /// A hash of its stimuli and of the positions in which they are given. It depends neither on where the cycle
    /// begins nor on how long the test waits.
    var stimuli: UInt64 = 0
    /// The number of decisions in it.
    var decisions = 0
    /// How many times in a row the test has passed through the cycle from this position.
    var run = 1
    /// The number of choices in it.
    var length = 0
    /// Whether this is its first pass, and the cycle before was not the same one begun at another position.
    var isNew = false
  }

  /// A position on the path, and the choice that left it.
  private struct Frame: Sendable {
    var position: UInt64
    var choice = Choice(0)
    var isDecision = false
    var cycle: UInt64 = 0
    var run = 0
  }

  private static let size = 48
  /// The number of the act of settling; lower numbers are stimuli.
  private let settle: Int
  /// The number of decisions after a repetition that are tried systematically.
  private let exploring: Int
  private var path: [Frame] = []
  /// The cycle that closed last.
  private var closed: [Choice] = []
  private var closedHash: UInt64 = 0
  /// A hash of that cycle which does not depend on where it begins.
  private var lastRotation: UInt64 = 0
  private var wasDecision = false
  /// The cycle of the current or last repetition, the index of its next choice, and the number of passes left.
  private var steps: [Choice] = []
  private var index = 0
  private var left = 0
  /// A hash of the last repetition: its cycle and, roughly, its number of passes.
  private var repetition: UInt64 = 0
  /// Whether the current choice is the last one of a repetition.
  private var ends = false
  /// The number of decisions still to be tried systematically.
  private var decisionsLeft = 0
  /// The index of the choice that would continue with one more pass, or -1 once the test has left the cycle.
  private var nextPassIndex = -1
  /// The number of decisions since the repetition.
  private(set) var decisionsSince = 0

  /// - Parameters:
  ///   - settle: the number of the act of settling.
  ///   - exploring: the number of decisions after a repetition that are tried systematically.
  init(settle: Int, exploring: Int) {
    (self.settle, self.exploring) = (settle, exploring)
    path.reserveCapacity(Self.size)
    closed.reserveCapacity(Self.size)
    steps.reserveCapacity(Self.size)
  }

  /// Discards the path at the beginning of a test.
  mutating func reset() {
    path.removeAll(keepingCapacity: true)
    lastRotation = 0
    left = 0
    decisionsLeft = 0
    nextPassIndex = -1
    ends = false
  }

  /// Whether a repetition is in progress, or the decisions after it are being tried.
  var isBusy: Bool { left > 0 || decisionsLeft > 0 }
  /// The context of a decision soon after a repetition, a hash of its cycle and roughly its number of passes;
  /// otherwise `nil`.
  var context: UInt64? { decisionsLeft > 0 ? repetition : nil }
  /// The next choice of the repetition; `nil` if none is in progress.
  var nextOfRepetition: Choice? { left > 0 ? steps[index] : nil }

  /// The act that would begin one more pass, at the first decision after a repetition; otherwise `nil`.
  var nextPassAct: Int? {
    decisionsLeft > 0 && decisionsSince == 0 && nextPassIndex >= 0 ? Int(steps[nextPassIndex].act) : nil
  }
}

extension CycleWatch {
  /// Records the arrival at a position, by a choice or at the beginning of a test.
  ///
  /// - Returns: the cycle that this closes, if any.
  mutating func arrive(at position: UInt64, by choice: Choice?) -> Closed? {
    guard let choice, !path.isEmpty else {
      path.append(Frame(position: position))
      return nil
    }
    path[path.count - 1].choice = choice
    path[path.count - 1].isDecision = wasDecision
    guard let start = path.lastIndex(where: { $0.position == position }) else {
      if path.count == Self.size { path.removeAll(keepingCapacity: true) }
      path.append(Frame(position: position))
      return nil
    }
    var cycle = Closed()
    var rotation: UInt64 = 0
    closed.removeAll(keepingCapacity: true)
    for index in start..<path.count {
      cycle.hash = mix(cycle.hash ^ (path[index].choice.rank &+ 1))
      if path[index].isDecision { cycle.decisions += 1 }
      // A sum does not depend on where the cycle begins.
      let step = mix(path[index].position ^ mix(path[index].choice.rank &+ 1))
      rotation &+= step
      if Int(path[index].choice.act) < settle { cycle.stimuli &+= step }
      closed.append(path[index].choice)
    }
    closedHash = cycle.hash
    if path[start].cycle == cycle.hash { cycle.run = path[start].run + 1 }
    cycle.length = closed.count
    cycle.isNew = cycle.run == 1 && rotation != lastRotation
    lastRotation = rotation
    path[start].cycle = cycle.hash
    path[start].run = cycle.run
    path.removeLast(path.count - start - 1)
    return cycle
  }

  /// Starts to repeat the cycle that has just closed, up to a total number of passes.
  mutating func repeatLast(times: Int) {
    swap(&steps, &closed)
    index = 0
    left = times - 1
    repetition = mix(closedHash &+ UInt64(bucket(times)))
  }

  /// Advances past the next choice of the repetition.
  mutating func follow() {
    index += 1
    guard index == steps.count else { return }
    index = 0
    left -= 1
    guard left == 0 else { return }
    ends = true
    decisionsLeft = exploring
    decisionsSince = 0
    nextPassIndex = 0
    skipSettling()
  }

  /// Ends a repetition that cannot continue.
  mutating func abandon() { left = 0 }

  /// Records a choice: whether it was a decision, and whether it was a stimulus.
  mutating func note(_ choice: Choice, isDecision: Bool, isStimulus: Bool) {
    wasDecision = isDecision && isStimulus
    guard decisionsLeft > 0 else { return }
    guard !ends else { return ends = false }
    if isDecision {
      decisionsLeft -= 1
      decisionsSince += 1
    } else if isStimulus, nextPassIndex >= 0 {
      nextPassIndex = steps[nextPassIndex].act == choice.act ? (nextPassIndex + 1) % steps.count : -1
      skipSettling()
    }
  }

  private mutating func skipSettling() {
    guard nextPassIndex >= 0 else { return }
    for _ in steps where Int(steps[nextPassIndex].act) == settle {
      nextPassIndex = (nextPassIndex + 1) % steps.count
    }
  }
}
