import Automata
public import Basics

/// An event of a test's trace.
public enum TraceEvent: Equatable, Sendable {
  case stimulus(Stimulus)
  case fault(Fault)
  case observation(Observation)
}

/// Receives the trace of a running test, for example to write it to a journal, to keep it in a list, or to discard it.
public protocol TraceRecorder {
  /// Whether the trace is kept: if not, the caller need not assemble events.
  static var isRecording: Bool { get }

  /// Whether it needs the set of possible states.
  static var followsModel: Bool { get }

  /// Whether it needs each step before it is performed.
  static var followsSteps: Bool { get }

  /// Called when a test is about to begin.
  mutating func begin()

  /// Called when a step is about to be performed; numbers start at 1. Called only if ``followsSteps``.
  mutating func begin(step number: Int, _ action: TestAction, at time: Instant)

  /// Receives whether the next stimulus reaches the device or is refused by the tester's own client. Called only if
  /// ``followsSteps``.
  mutating func ask(reaching isReaching: Bool)

  /// Records one event.
  mutating func record(_ event: TraceEvent, at time: Instant)

  /// Receives the set of possible states after an event or after time has passed. Called only if ``followsModel``.
  mutating func follow(_ model: borrowing Tracker, at time: Instant)
}

extension TraceRecorder {
  /// True: everything is kept.
  public static var isRecording: Bool { true }

  /// Does nothing.
  public mutating func begin() {}

  /// False: steps are not needed.
  public static var followsSteps: Bool { false }

  /// Does nothing.
  public mutating func begin(step number: Int, _ action: TestAction, at time: Instant) {}

  /// Does nothing.
  public mutating func ask(reaching isReaching: Bool) {}

  /// False: the model is not needed.
  public static var followsModel: Bool { false }

  /// Does nothing.
  public mutating func follow(_ model: borrowing Tracker, at time: Instant) {}
}

/// A recorder that discards everything.
public struct NoRecorder: TraceRecorder {
  public static var isRecording: Bool { false }

  /// Makes a recorder.
  public init() {}

  public mutating func record(_ event: TraceEvent, at time: Instant) {}
}

/// A recorder that keeps the whole trace of the latest test.
public struct TraceList: TraceRecorder, Sendable {
  /// One event with its time.
  public struct Entry: Equatable, Sendable {
    /// When it happened.
    public var time: Instant
    /// What happened.
    public var event: TraceEvent
  }

  /// The trace so far.
  public private(set) var entries: [Entry] = []

  /// Makes an empty trace.
  public init() {}

  public mutating func begin() { entries = [] }

  public mutating func record(_ event: TraceEvent, at time: Instant) {
    entries.append(Entry(time: time, event: event))
  }
}

/// A property that must hold in every state of the model.
public protocol Invariant: Sendable {
  /// Starts a test, and discards what was seen before it.
  ///
  /// - Parameter isNew: whether the device is new, without effects of an earlier test.
  mutating func reset(isNew: Bool)

  /// Checks one event of the trace, and returns what is wrong with it; `nil` if nothing is.
  ///
  /// - Parameter view: the part of the model that the invariant may use, after the event.
  mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String?
}

/// The part of the model that an invariant may use.
public struct ModelView: Sendable {
  /// The vocabulary that model and device share.
  public let vocabulary: Vocabulary
  /// How far the time of an observation may deviate from that of the event.
  public let slack: Interval
  private let conditions: [Condition]
  /// The conditions that hold or may hold, as bits.
  private let possibleConditions: UInt64

  /// Makes a view from a vocabulary and the conditions that hold.
  public init(_ vocabulary: Vocabulary, holding conditions: [String] = [], slack: Interval = .zero) {
    self.vocabulary = vocabulary
    self.slack = slack
    self.conditions = conditions.map { Condition($0) }
    possibleConditions = .max
  }

  /// Makes the view of a tracker.
  public init(of tracker: borrowing Tracker, at now: Instant) {
    vocabulary = tracker.specification.vocabulary
    slack = tracker.slack
    conditions = tracker.specification.machine.definition.conditions
    possibleConditions = tracker.mayHold(at: now)
  }

  /// Returns whether a condition holds or may hold.
  public func mayHold(_ condition: String) -> Bool {
    conditions.firstIndex { $0.name == condition }.map { possibleConditions >> UInt64($0) & 1 == 1 } ?? false
  }
}

/// Feeds the same events to a model and a device, and compares them after each event.
///
/// Scenarios, replays, benchmarks and fuzzing all drive devices through this loop. It is generic over the device and
/// the recorder, so that the benchmark measures what the scenarios use.
public struct Lockstep<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// The device.
  public private(set) var device: Device
  /// Tracks the states that the device may be in.
  public private(set) var tracker: Tracker
  /// The recorder of the trace.
  public var recorder: Recorder
  /// The number of the status last shown; `nil` before the device has shown any.
  public private(set) var status: Int?
  /// The reason for the refusal of the last stimulus, if the device refused it.
  public private(set) var refusal: String?

  /// The options of the machine's choices that are consistent with what the device showed in earlier tests, as bits;
  /// all options if it has shown none. A device that shows another option diverges.
  public var held: UInt64 {
    didSet { hasShownChoices = held != tracker.specification.machine.allOptions }
  }
  /// Whether ``held`` excludes an option; most devices have shown none.
  private var hasShownChoices = false

  /// Whether the device was brought to the start of this test.
  public private(set) var isReady = false
  /// The sessions that prepared the device for this test.
  public private(set) var preparations: [Preparation] = []

  private var invariants: [any Invariant]
  private var lastStimulus = -1
  /// Whether the current judgement concerns a preparation session.
  private var isJudgingPreparation = false
  private let hasInvariants: Bool
  /// Whether the device keeps no state between tests, so that each test is like its first.
  private let startsFresh: Bool
  /// The faults that are in effect in every test of this device.
  private let standingFaults: [Fault]
  private let isTimed: Bool

  /// Combines a model and a device.
  public init(
    _ specification: Specification, _ device: Device, invariants: [any Invariant] = [], recorder: Recorder
  ) {
    self.device = device
    self.device.adopt(specification.vocabulary)
    tracker = Tracker(specification, slack: device.abilities.slack)
    held = specification.machine.allOptions
    self.invariants = invariants
    self.recorder = recorder
    hasInvariants = !invariants.isEmpty
    startsFresh = !device.abilities.keepsState
    isTimed = !specification.isPlain
    standingFaults = device.abilities.conditions.map { Fault($0) }
  }

  /// The device's time.
  public var now: Instant { device.now }

  /// The vocabulary of the specification.
  public var vocabulary: Vocabulary { tracker.specification.vocabulary }

  /// The stimuli that every possible state allows, as bits; see ``Tracker/legalStimuli``.
  public var legalStimuli: UInt64 { mutating get { tracker.legalStimuli } }

  /// The model's position in its state space; see ``Tracker/explorationState``.
  public var explorationState: ExplorationState { mutating get { tracker.explorationState } }

  /// Starts a test in a condition.
  ///
  /// - Returns: the divergence found while the device was prepared, if there was one. The test can continue
  ///   nevertheless if ``isReady``.
  /// - Throws: a ``LabFault`` if the device cannot be brought into the condition, or the model has no such start.
  public mutating func reset(to start: StartCondition = StartCondition()) throws(LabFault) -> Divergence? {
    preparations = []
    guard let number = tracker.start(for: start) else {
      throw LabFault(.notPossible, "the machine has no start with these settings")
    }
    var fault: LabFault?
    do { try device.reset(to: start) } catch { fault = error }
    preparations = device.takePreparations()
    let divergence = preparations.isEmpty ? nil : judgePreparations()
    isReady = fault == nil
    if let fault {
      if let divergence { return divergence }
      throw fault
    }
    tracker.start(in: number)
    begin(with: start)
    if Recorder.followsModel { follow() }
    return divergence
  }

  /// Resets the conditions and invariants for a test. The model must be at its start already.
  private mutating func begin(with start: StartCondition) {
    for condition in standingFaults { tracker.apply(condition, at: .zero) }
    for setting in start.settings { tracker.apply(Fault(setting.name, setting.value), at: .zero) }
    tracker.completeConditionChanges()
    for index in invariants.indices { invariants[index].reset(isNew: startsFresh) }
    status = nil
    refusal = nil
    lastStimulus = -1
  }

  /// Gives model and device one stimulus, and compares the immediate result.
  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) -> Divergence? {
    lastStimulus = stimulus.number
    // Overwriting a `nil` would still cost a release.
    if refusal != nil { refusal = nil }
    // A stimulus that the model allows must reach the device: if a layer in front of the device refuses it, that
    // refusal counts as the device's.
    if Recorder.followsSteps {
      recorder.ask(reaching: tracker.allows(stimulus.number) || device.reaches(stimulus))
    }
    if Recorder.isRecording { recorder.record(.stimulus(stimulus), at: device.now) }
    tracker.perform(stimulus, at: device.now)
    if Recorder.followsModel { follow() }
    if hasInvariants, let broken = check(.stimulus(stimulus)) { return broken }
    try device.perform(stimulus)
    return try pass(until: device.now)
  }

  /// Injects a fault, and informs the model of the conditions that now hold.
  public mutating func bring(about fault: Fault) throws(LabFault) -> Divergence? {
    recorder.record(.fault(fault), at: device.now)
    tracker.apply(fault, at: device.now)
    if Recorder.followsModel { follow() }
    if hasInvariants, let broken = check(.fault(fault)) { return broken }
    try device.bring(about: fault)
    return try pass(until: device.now)
  }

  /// Lets time pass up to a limit, and compares everything that is observed meanwhile.
  public mutating func pass(until limit: Instant) throws(LabFault) -> Divergence? {
    while true {
      if let divergence = try next(until: limit) { return divergence }
      if device.now >= limit { return nil }
    }
  }

  /// Lets time pass up to the next observation, the model's next deadline or a limit, whichever is first.
  public mutating func next(until limit: Instant) throws(LabFault) -> Divergence? {
    let horizon = isTimed ? horizon(within: limit) : limit
    while true {
      guard let observation = try device.observe(until: horizon) else {
        assert(device.now >= horizon, "the device returned from observe(until:) before the deadline")
        return try settleModel()
      }
      if let divergence = try compare(observation) { return divergence }
      if device.now < horizon { return try drainObservations() }
    }
  }

  /// Processes all observations at the present time, then tells the model that there are no more.
  private mutating func drainObservations() throws(LabFault) -> Divergence? {
    let now = device.now
    while let observation = try device.observe(until: now) {
      if let divergence = try compare(observation) { return divergence }
    }
    return try settleModel()
  }

  /// Tells the model that nothing more was observed up to now: a missing observation is a divergence.
  private mutating func settleModel() throws(LabFault) -> Divergence? {
    if tracker.isUndecided { throw undecided }
    guard tracker.settle(at: device.now) else { return divergence(.overdue) }
    if Recorder.followsModel { follow() }
    // By now the device may have shown an option that `held` excludes.
    return hasShownChoices ? contradiction() : nil
  }

  /// The fault of a test in which too much is possible.
  private var undecided: LabFault {
    LabFault(
      .undecided,
      "more states and values are possible than the model can follow: the device has not shown enough of them"
    )
  }

  private mutating func compare(_ observation: Observation) throws(LabFault) -> Divergence? {
    if tracker.isUndecided { throw undecided }
    if Recorder.isRecording { recorder.record(.observation(observation), at: device.now) }
    guard tracker.observe(observation, at: device.now) else { return mismatch(observation) }
    if Recorder.followsModel { follow() }
    if case .status(let number) = observation {
      status = number
      if !hasInvariants { return nil }
    }
    return checkInvariants(after: observation)
  }

  @inline(never)
  private mutating func follow() { recorder.follow(tracker, at: device.now) }

  // The following methods are rarely called. They are not inlined, so that the common path does not pay for them, and
  // mutating, since a nonmutating method would need a copy of `self`.

  @inline(never)
  private mutating func horizon(within limit: Instant) -> Instant {
    max(min(tracker.horizon, limit), device.now)
  }

  @inline(never)
  private mutating func mismatch(_ observation: Observation) -> Divergence {
    if case .reading(let reading) = observation, tracker.isDue(reading.name) {
      if let wrong = tracker.wrong(reading) { return divergence(.wrongReading(wrong)) }
      return divergence(.unexpected(reading.name))
    }
    guard case .refused(let reason) = observation else {
      return divergence(.unexpected(vocabulary.text(of: observation)))
    }
    refusal = reason
    return divergence(.refusedLegal(reason))
  }

  /// Keeps the reason of a refusal, and checks the invariants after an observation.
  @inline(never)
  private mutating func checkInvariants(after observation: Observation) -> Divergence? {
    if case .refused(let reason) = observation { refusal = reason }
    return hasInvariants ? check(.observation(observation)) : nil
  }

  private mutating func check(_ event: TraceEvent) -> Divergence? { check(event, at: device.now) }

  private mutating func check(_ event: TraceEvent, at time: Instant) -> Divergence? {
    let view = ModelView(of: tracker, at: time)
    for index in invariants.indices {
      let problem = invariants[index].check(event, at: time, in: view)
      guard let problem else { continue }
      // A violation that the device reports and a broken invariant need no explanation: the rule names the error.
      if case .observation(.violation(let violation)) = event {
        return divergence(.violation(violation), at: time, because: nil)
      }
      return divergence(.invariant(problem), at: time, because: nil)
    }
    return nil
  }

  /// Returns a divergence if the device showed an option in this test that ``held`` excludes.
  @inline(never)
  mutating func contradiction() -> Divergence? {
    let machine = tracker.specification.machine
    guard hasShownChoices, let found = machine.contradiction(of: tracker.options, to: held) else {
      return nil
    }
    return divergence(.contradiction(found))
  }

  @inline(never)
  private mutating func divergence(_ kind: Divergence.Kind) -> Divergence {
    divergence(kind, at: device.now, because: explanation(of: kind))
  }

  private mutating func divergence(
    _ kind: Divergence.Kind, at time: Instant, because explanation: Explanation?
  ) -> Divergence {
    // A protocol violation is allowed in no state.
    let isForbidden = if case .violation = kind { true } else { false }
    return Divergence(
      kind, at: time, lastStimulus: lastStimulus < 0 ? nil : vocabulary.stimuli[lastStimulus],
      lastStatus: status.map { vocabulary.statuses[$0] },
      allowed: isForbidden ? [] : tracker.allowances(),
      explanation: explanation, injected: injected)
  }

  /// The actions injected by the tester to which the device may still react; see ``DeviceUnderTest/injected``. A
  /// preparation session has none.
  public var injected: [InjectedAction] { isJudgingPreparation ? [] : device.injected }

  /// Why the device has not shown the awaited observation; see ``DeviceUnderTest/explanation(ofSilence:)``.
  public var explanationOfSilence: Explanation? { device.explanation(ofSilence: true) }

  /// Returns why the device showed what it did; see ``DeviceUnderTest/explanation(ofSilence:)``.
  public func explanation(of kind: Divergence.Kind) -> Explanation? {
    switch kind {
    case .unexpected, .wrongReading: device.explanation(ofSilence: false)
    case .overdue: explanationOfSilence
    case .refusedLegal, .invariant, .violation, .stoppedAnswering, .contradiction: nil
    }
  }

  // MARK: Preparation sessions

  /// Returns the divergence found while the device was prepared, if any. A session with an observation that
  /// only a loss on the air explains proves nothing.
  private mutating func judgePreparations() -> Divergence? {
    isJudgingPreparation = true
    defer { isJudgingPreparation = false }
    for session in preparations {
      guard var divergence = judge(session), !wasDisturbed else { continue }
      for entry in session.entries where entry.time <= divergence.time {
        recorder.record(entry.event, at: entry.time)
      }
      divergence.isInPreparation = true
      return divergence
    }
    return nil
  }

  /// Compares a session with the model. A missing observation counts up to the last entry of the session and, if the
  /// device caused the silence after it, up to the end of that silence.
  private mutating func judge(_ session: Preparation) -> Divergence? {
    tracker.start(inAnyOf: session.start ?? StartCondition())
    begin(with: session.start ?? StartCondition())
    tracker.assureSettings()
    for name in session.unsure { tracker.makeUnknown(name) }
    let hasKnownStart = session.start != nil
    var time = Instant.zero
    for entry in session.entries {
      let isObservation = if case .observation = entry.event { true } else { false }
      while hasKnownStart, max(tracker.horizon, time) < entry.time {
        // An observation that is due at once comes next, even if a busy host recorded it later.
        if isObservation, tracker.horizon < time { break }
        time = max(tracker.horizon, time)
        guard tracker.settle(at: time) else {
          return divergence(.overdue, at: time, because: session.explanation)
        }
      }
      time = entry.time
      switch entry.event {
      case .stimulus(let stimulus):
        lastStimulus = stimulus.number
        if hasKnownStart { tracker.perform(stimulus, at: entry.time) }
      case .observation(let observation):
        if hasKnownStart, !tracker.observe(observation, at: entry.time) {
          let text = vocabulary.text(of: observation)
          return divergence(.unexpected(text), at: entry.time, because: session.explanation)
        }
        if case .status(let number) = observation {
          status = number
          let pendingStimuli = session.underWay.filter { $0.status == vocabulary.statuses[number] }
          for pending in pendingStimuli {
            guard let stimulus = vocabulary.stimulus(pending.stimulus) else { continue }
            tracker.perform(Stimulus(stimulus), at: entry.time)
          }
        }
      case .fault: break
      }
      if hasInvariants, let broken = check(entry.event, at: entry.time) { return broken }
    }
    // The silence after the last entry; its end is known only if the device caused the silence.
    while hasKnownStart, let end = session.silence, max(tracker.horizon, time) < end {
      time = max(tracker.horizon, time)
      guard tracker.settle(at: time) else {
        return divergence(.overdue, at: time, because: session.explanation)
      }
    }
    return nil
  }

  // MARK: The device

  /// Returns the earliest time for a stimulus; see ``DeviceUnderTest/readyTime(for:)-(Stimulus)``.
  public func readyTime(for stimulus: Stimulus) -> Instant? { device.readyTime(for: stimulus) }

  /// Returns the earliest time for a fault; see ``DeviceUnderTest/readyTime(for:)-(Fault)``.
  public func readyTime(for fault: Fault) -> Instant? { device.readyTime(for: fault) }

  /// Takes the lab's diagnostics since the last call; see ``DeviceUnderTest/takeDiagnostics()``.
  public mutating func takeDiagnostics() -> [String] { device.takeDiagnostics() }

  /// Restarts the device after a lab fault.
  public mutating func restart() throws(LabFault) {
    try device.restart()
    device.adopt(vocabulary)
  }

  /// Continues with another device of the same kind from the next test on.
  public mutating func exchangeDevice(for other: Device) {
    device = other
    device.adopt(vocabulary)
  }
}
