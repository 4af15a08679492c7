/// Watches a test for cycles of the model, and repeats them.
///
/// The path from the start is kept loop-erased: when it comes back to a position, what lies between is a cycle that
/// passes no position twice, and is taken out. So a session within a session is found as well as a stimulus that
/// changes nothing.
struct CycleWatch: Sendable {
  /// A cycle that has just closed.
  struct Closed {
    /// A number for the choices on it.
    var hash: UInt64 = 0
    /// A number for the stimuli on it and where they are given: the same wherever the cycle begins, however long is waited.
    var stimuli: UInt64 = 0
    /// How many decisions they took.
    var decisions = 0
    /// How often in a row the cycle was gone around at this place.
    var run = 1
    /// How many choices it has.
    var length = 0
    /// Whether something else was done before, and not this cycle from another of its places.
    var isNew = false
  }

  /// A position on the path, and how it was left.
  private struct Frame: Sendable {
    var position: UInt64
    var choice = Choice(0)
    var isDecision = false
    var cycle: UInt64 = 0
    var run = 0
  }

  private static let size = 48
  /// The act of settling, which is no part of a cycle.
  private let settle: Int
  /// How many decisions after a repetition are tried out systematically.
  private let exploring: Int
  private var path: [Frame] = []
  /// The cycle that closed last.
  private var closed: [Choice] = []
  private var closedHash: UInt64 = 0
  /// A number for it that is the same wherever it begins.
  private var lastRotation: UInt64 = 0
  private var wasDecision = false
  /// The cycle that is or was repeated, the next choice on it, and how many rounds are left.
  private var steps: [Choice] = []
  private var index = 0
  private var left = 0
  /// A number for the repetition that was made last.
  private var repetition: UInt64 = 0
  /// Whether the choice that is being made is the last of a repetition.
  private var ends = false
  /// How many decisions are still to be tried out.
  private var ahead = 0
  /// Where one more round would be now, or -1 when the test has left it.
  private var beyond = -1
  /// How many decisions were made since the repetition.
  private(set) var decisionsSince = 0

  /// - Parameters:
  ///   - settle: the act of settling.
  ///   - exploring: how many decisions after a repetition are tried out.
  init(settle: Int, exploring: Int) {
    (self.settle, self.exploring) = (settle, exploring)
    path.reserveCapacity(Self.size)
    closed.reserveCapacity(Self.size)
    steps.reserveCapacity(Self.size)
  }

  /// Discards the path: a test begins.
  mutating func reset() {
    path.removeAll(keepingCapacity: true)
    lastRotation = 0
    left = 0
    ahead = 0
    beyond = -1
    ends = false
  }

  /// A repetition is being made, or what follows it is being tried out.
  var isBusy: Bool { left > 0 || ahead > 0 }
  /// The context of a decision soon after a repetition: which cycle, and about how often.
  var context: UInt64? { ahead > 0 ? repetition : nil }
  /// The choice that is to be repeated now.
  var nextOfRepetition: Choice? { left > 0 ? steps[index] : nil }

  /// The act that would go around once more, for the first decision after a repetition.
  var wayOn: Int? { ahead > 0 && decisionsSince == 0 && beyond >= 0 ? Int(steps[beyond].act) : nil }
}

extension CycleWatch {
  /// Comes to a position by a choice, or begins there.
  ///
  /// - Returns: the cycle that this closes, if it closes one.
  mutating func arrive(at position: UInt64, by choice: Choice?) -> Closed? {
    guard let choice, !path.isEmpty else {
      path.append(Frame(position: position))
      return nil
    }
    path[path.count - 1].choice = choice
    path[path.count - 1].isDecision = wasDecision
    guard let place = path.lastIndex(where: { $0.position == position }) else {
      if path.count == Self.size { path.removeAll(keepingCapacity: true) }
      path.append(Frame(position: position))
      return nil
    }
    var cycle = Closed()
    var rotation: UInt64 = 0
    closed.removeAll(keepingCapacity: true)
    for index in place..<path.count {
      cycle.hash = mix(cycle.hash ^ (path[index].choice.rank &+ 1))
      if path[index].isDecision { cycle.decisions += 1 }
      // A sum does not depend on where the cycle begins.
      let step = mix(path[index].position ^ mix(path[index].choice.rank &+ 1))
      rotation &+= step
      if Int(path[index].choice.act) < settle { cycle.stimuli &+= step }
      closed.append(path[index].choice)
    }
    closedHash = cycle.hash
    if path[place].cycle == cycle.hash { cycle.run = path[place].run + 1 }
    cycle.length = closed.count
    cycle.isNew = cycle.run == 1 && rotation != lastRotation
    lastRotation = rotation
    path[place].cycle = cycle.hash
    path[place].run = cycle.run
    path.removeLast(path.count - place - 1)
    return cycle
  }

  /// Repeats the cycle that has just closed up to a total number of times.
  mutating func repeatLast(times: Int) {
    swap(&steps, &closed)
    index = 0
    left = times - 1
    repetition = mix(closedHash &+ UInt64(bucket(times)))
  }

  /// The next choice of the repetition is made now.
  mutating func follow() {
    index += 1
    guard index == steps.count else { return }
    index = 0
    left -= 1
    guard left == 0 else { return }
    ends = true
    ahead = exploring
    decisionsSince = 0
    beyond = 0
    skipSettling()
  }

  /// The repetition cannot continue.
  mutating func abandon() { left = 0 }

  /// A choice was made; whether it was a decision, and one for a stimulus.
  mutating func note(_ choice: Choice, isDecision: Bool, isStimulus: Bool) {
    wasDecision = isDecision && isStimulus
    guard ahead > 0 else { return }
    guard !ends else { return ends = false }
    if isDecision {
      ahead -= 1
      decisionsSince += 1
    } else if isStimulus, beyond >= 0 {
      beyond = steps[beyond].act == choice.act ? (beyond + 1) % steps.count : -1
      skipSettling()
    }
  }

  private mutating func skipSettling() {
    guard beyond >= 0 else { return }
    for _ in steps where Int(steps[beyond].act) == settle { beyond = (beyond + 1) % steps.count }
  }
}
