import Automata
public import Basics

/// What came of doing a test.
public struct Execution: Sendable {
  /// The number of the start.
  public var start = 0
  /// The choices that were made, without those that were left out.
  public var performed: [Choice] = []
  /// Where the test stood before each of them.
  public var explorationStates: [ExplorationState] = []
  /// What each of them meant: an edge is written as the wait that it came to.
  public var actions: [TestAction] = []
  /// Where model and device disagreed, if they did: at the last choice, or after it, while the end was awaited.
  public var divergence: Divergence?
  /// Where the test stood after the last choice, before the end was awaited; `nil` when it had failed by then.
  public var end: ExplorationState?
  /// Whether something was seen that only a loss explains, so that what came after it may be another test; see
  /// ``Tracker/losses``.
  public var wasDisturbed = false

  /// Makes the record of a test that has not begun.
  public init() {}

  /// How many choices were made.
  public var events: Int { performed.count }

  /// What was done, as a test.
  public var test: TestCase { TestCase(start: start, performed) }

  /// Makes the record of a test that has not begun, in the room that this one has taken.
  public mutating func clear() {
    performed.removeAll(keepingCapacity: true)
    explorationStates.removeAll(keepingCapacity: true)
    actions.removeAll(keepingCapacity: true)
    (divergence, end, wasDisturbed) = (nil, nil, false)
  }
}

extension Lockstep {
  /// How long settling, and the end of a test, wait for what is due at the most.
  public static var settlingTime: Interval { .seconds(60) }

  /// Whether something was seen in this test that only a loss explains; see ``Tracker/losses``.
  public var wasDisturbed: Bool { tracker.losses > 0 }

  /// The names of the conditions that explain what is shown, where the device may be so and need not; see
  /// ``Tracker/permittedDeviation``.
  public var permittedDeviation: [String]? {
    guard let taken = tracker.permittedDeviation else { return nil }
    return tracker.specification.machine.definition.conditions.enumerated()
      .filter { taken >> UInt64($0.offset) & 1 == 1 }.map(\.element.name)
  }

  /// Lets time pass until the model awaits nothing of the device.
  ///
  /// What the model does not promise by any time, such as what comes over a link that loses frames, is not awaited.
  public mutating func settle() throws(LabFault) -> Divergence? {
    let limit = now + Self.settlingTime
    while tracker.isAwaiting, tracker.deadline != nil, now < limit {
      if let divergence = try next(until: limit) { return divergence }
    }
    return nil
  }

  /// Ends a test: what the model promises is demanded, what the device was asked for is heard, and what it has shown of its
  /// choices is held against what it is held to.
  public mutating func conclude() throws(LabFault) -> Divergence? {
    let limit = now + Self.settlingTime
    while true {
      if let divergence = try settle() { return divergence }
      guard now < limit, let due = device.answerDue, due >= now else { return contradiction() }
      if let divergence = try next(until: min(due, limit)) { return divergence }
    }
  }

  /// Lets time pass until the device shows something, or to the model's next deadline, where it awaits something.
  public mutating func awaitNext() throws(LabFault) -> Divergence? {
    guard tracker.isAwaiting, tracker.deadline != nil else { return nil }
    return try next(until: now + Self.settlingTime)
  }

  /// When an action may be brought about at the earliest, where a motor is given its rest before.
  @inline(__always)
  public func readyTime(for action: TestAction) -> Instant? {
    switch action {
    case .stimulus(let stimulus): device.readyTime(for: stimulus)
    case .fault(let fault): device.readyTime(for: fault)
    case .wait, .settle, .next, .edge: nil
    }
  }

  /// Does what a tester does, when the device is ready for it; see ``DeviceUnderTest/readyTime(for:)``.
  ///
  /// - Parameter isForbidden: whether it is to be refused. What no longer is, now that a motor has had its rest, is left out.
  /// - Returns: what it came to, which for an edge, and for what is left out, is a wait, and the divergence if there is one.
  @inline(__always)
  public mutating func carryOut(
    _ action: TestAction, isForbidden: Bool = false
  ) throws(LabFault) -> (done: TestAction, divergence: Divergence?) {
    let begin = now
    while let ready = readyTime(for: action), ready > now {
      let divergence = try pass(until: ready)
      guard isForbidden, case .stimulus(let stimulus) = action else {
        if divergence != nil { return (action, divergence) }
        continue
      }
      if divergence != nil || tracker.allows(stimulus.number) { return (.wait(now - begin), divergence) }
    }
    switch action {
    case .stimulus(let stimulus): return (action, try perform(stimulus))
    case .fault(let fault): return (action, try bring(about: fault))
    case .wait(let interval): return (action, try pass(until: now + interval))
    case .settle: return (action, try settle())
    case .next: return (action, try awaitNext())
    case .edge:
      guard case .wait(let length) = meaning(of: action), length > .zero else {
        return (.wait(.zero), nil)
      }
      return (.wait(length), try pass(until: now + length))
    }
  }

  /// What an action comes to where the test stands: an edge is a wait.
  public func meaning(of action: TestAction) -> TestAction {
    guard case .edge(let edge) = action else { return action }
    return .wait(tracker.timerBounds(at: now).map { max($0.moment(of: edge) - now, .zero) } ?? .zero)
  }

  /// Starts a test in a condition, and processes the device's immediate observations.
  public mutating func begin(_ start: StartCondition) throws(LabFault) -> Divergence? {
    if let divergence = try reset(to: start) { return divergence }
    return try pass(until: now)
  }
}

extension ExplorationState {
  /// Whether a choice is here what it was meant to be.
  @inlinable
  public func admits(_ choice: Choice, _ alphabet: Alphabet) -> Bool {
    let act = Int(choice.act)
    guard act < alphabet.eventCount else { return act != alphabet.edge || hasDeadline }
    return (choice.isForbidden ? forbidden : legal) >> UInt64(act) & 1 == 1
  }
}
