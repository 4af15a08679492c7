import Automata
public import Basics

/// The result of executing a test.
public struct Execution: Sendable {
  /// The number of the start.
  public var start = 0
  /// The choices that were made, without those that were skipped.
  public var performed: [Choice] = []
  /// The exploration state before each of them.
  public var explorationStates: [ExplorationState] = []
  /// The action of each of them; an edge is recorded as the wait that it led to.
  public var actions: [TestAction] = []
  /// The disagreement of model and device, if any: at the last choice, or after it, while the end was awaited.
  public var divergence: Divergence?
  /// The exploration state after the last choice, before the end was awaited; `nil` if the test failed before.
  public var end: ExplorationState?
  /// Whether the test showed something that only a loss explains, so that its rest may be a different test; see
  /// ``Tracker/losses``.
  public var wasDisturbed = false

  /// Makes the record of a test that has not begun.
  public init() {}

  /// The number of choices made.
  public var events: Int { performed.count }

  /// The choices made, as a test.
  public var test: TestCase { TestCase(start: start, performed) }

  /// Resets the record for another test, and keeps its storage.
  public mutating func clear() {
    performed.removeAll(keepingCapacity: true)
    explorationStates.removeAll(keepingCapacity: true)
    actions.removeAll(keepingCapacity: true)
    (divergence, end, wasDisturbed) = (nil, nil, false)
  }
}

extension Lockstep {
  /// The maximum time for which settling, and the end of a test, wait for the device.
  public static var settlingTime: Interval { .seconds(60) }

  /// Whether the device has shown something in this test that only a loss explains; see ``Tracker/losses``.
  public var wasDisturbed: Bool { tracker.losses > 0 }

  /// Whether a loss on the air may explain that the device does not show what a scenario expects: the radio loses packets, and
  /// the device did not cause what it shows, such as the end of a link.
  ///
  /// Unlike ``wasDisturbed``, also if something else explains the same, such as a frame that was tampered with.
  ///
  /// - Parameter explanation: why the device shows what it shows, if that is known.
  public func lossMayExplain(_ explanation: Explanation?) -> Bool {
    tracker.specification.loss != 0 && explanation?.isOfDevice == false
  }

  /// The names of the conditions of the permitted deviation that explains the current observation; `nil` if there is
  /// none. See ``Tracker/permittedDeviation``.
  public var permittedDeviation: [String]? {
    guard let taken = tracker.permittedDeviation else { return nil }
    return tracker.specification.machine.definition.conditions.enumerated()
      .filter { taken >> UInt64($0.offset) & 1 == 1 }.map(\.element.name)
  }

  /// Lets time pass until the model awaits nothing of the device.
  ///
  /// It does not wait for events without a deadline in the model, such as those over a link that loses frames.
  public mutating func settle() throws(LabFault) -> Divergence? {
    let limit = now + Self.settlingTime
    while tracker.isAwaiting, tracker.deadline != nil, now < limit {
      if let divergence = try next(until: limit) { return divergence }
    }
    return nil
  }

  /// Ends a test. The device must do everything that the model promises, and pending responses arrive. The options
  /// that the device has shown are then compared with those that it must keep to.
  public mutating func conclude() throws(LabFault) -> Divergence? {
    let limit = now + Self.settlingTime
    while true {
      if let divergence = try settle() { return divergence }
      guard now < limit, let due = device.answerDue, due >= now else { return contradiction() }
      if let divergence = try next(until: min(due, limit)) { return divergence }
    }
  }

  /// Lets time pass until the device shows something or the model's next deadline, if the model awaits something.
  public mutating func awaitNext() throws(LabFault) -> Divergence? {
    guard tracker.isAwaiting, tracker.deadline != nil else { return nil }
    return try next(until: now + Self.settlingTime)
  }

  /// Returns the earliest time for an action that must wait for the motor's rest; `nil` if it need not wait.
  @inline(__always)
  public func readyTime(for action: TestAction) -> Instant? {
    switch action {
    case .stimulus(let stimulus): device.readyTime(for: stimulus)
    case .fault(let fault): device.readyTime(for: fault)
    case .wait, .settle, .next, .edge, .drawn: nil
    }
  }

  /// Performs an action of the tester once the device is ready for it; see ``DeviceUnderTest/readyTime(for:)``.
  ///
  /// - Parameter isForbidden: whether the device must refuse the action. If the model allows it after the motor's
  ///   rest, it is skipped.
  /// - Returns: the action performed, which is a wait for an edge or a skipped action; and the divergence, if any.
  @inline(__always)
  public mutating func carryOut(
    _ action: TestAction, isForbidden: Bool = false
  ) throws(LabFault) -> (done: TestAction, divergence: Divergence?) {
    if case .drawn = action { return try carryOut(meaning(of: action), isForbidden: isForbidden) }
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
    case .drawn: preconditionFailure("a drawn stimulus without its values")
    case .edge:
      guard case .wait(let length) = meaning(of: action), length > .zero else {
        return (.wait(.zero), nil)
      }
      return (.wait(length), try pass(until: now + length))
    }
  }

  /// Returns what an action means in the current situation: an edge is a wait.
  ///
  /// A drawn stimulus gets the values that the model holds now.
  public func meaning(of action: TestAction) -> TestAction {
    switch action {
    case .edge(let edge):
      .wait(tracker.timerBounds(at: now).map { max($0.moment(of: edge) - now, .zero) } ?? .zero)
    case .drawn(let drawn): .stimulus(tracker.stimulus(drawn))
    case .stimulus, .fault, .wait, .settle, .next: action
    }
  }

  /// Begins a test with a start condition, and processes the device's immediate observations.
  public mutating func begin(_ start: StartCondition) throws(LabFault) -> Divergence? {
    if let divergence = try reset(to: start) { return divergence }
    return try pass(until: now)
  }
}

extension ExplorationState {
  /// Returns whether a choice still means here what it was made for.
  @inlinable
  public func admits(_ choice: Choice, _ alphabet: Alphabet) -> Bool {
    let act = Int(choice.act)
    guard act < alphabet.eventCount else { return act != alphabet.edge || hasDeadline }
    return (choice.isForbidden ? forbidden : legal) >> UInt64(act) & 1 == 1
  }
}
