import Automata
public import Basics

/// Something that happened in a test, in the order in which it happened.
public enum TraceEvent: Equatable, Sendable {
  case stimulus(Stimulus)
  case fault(Fault)
  case observation(Observation)
}

/// Takes in a trace as it comes about: a journal, a list, or nothing at all.
public protocol TraceRecorder {
  /// Whether anything is kept: what nobody keeps need not be put together.
  static var isRecording: Bool { get }

  /// Whether it wants to know what the model holds possible.
  static var followsModel: Bool { get }

  /// Whether it wants to know of each step before it is done.
  static var followsSteps: Bool { get }

  /// Takes in that a test is about to begin.
  mutating func begin()

  /// Takes in that a step is about to be done, from 1; only where it wants to know.
  mutating func begin(step number: Int, _ action: TestAction, at time: Instant)

  /// Takes in whether the stimulus that is given next comes to the device, or is refused by the tester's own end; only
  /// where it wants to know of steps.
  mutating func ask(reaching isReaching: Bool)

  /// Takes in one event.
  mutating func record(_ event: TraceEvent, at time: Instant)

  /// Takes in what the model holds possible, after an event or after time has passed; only where it wants to know.
  mutating func follow(_ model: borrowing Tracker, at time: Instant)
}

extension TraceRecorder {
  /// Everything is kept.
  public static var isRecording: Bool { true }

  /// Nothing is kept of it.
  public mutating func begin() {}

  /// Steps are not followed.
  public static var followsSteps: Bool { false }

  /// Nothing is kept of it.
  public mutating func begin(step number: Int, _ action: TestAction, at time: Instant) {}

  /// Nothing is kept of it.
  public mutating func ask(reaching isReaching: Bool) {}

  /// The model is not followed.
  public static var followsModel: Bool { false }

  /// Nothing is kept of it.
  public mutating func follow(_ model: borrowing Tracker, at time: Instant) {}
}

/// A recorder that keeps nothing.
public struct NoRecorder: TraceRecorder {
  public static var isRecording: Bool { false }

  /// Makes one.
  public init() {}

  public mutating func record(_ event: TraceEvent, at time: Instant) {}
}

/// A recorder that keeps the whole trace of the last test.
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

/// What must never happen, whatever state the model is in.
public protocol Invariant: Sendable {
  /// Forgets what was seen: a test begins.
  ///
  /// - Parameter isNew: whether the device has no past: nothing that an earlier test did is left in it.
  mutating func reset(isNew: Bool)

  /// Looks at one event of the trace and says what is wrong with it, if anything is.
  ///
  /// - Parameter view: what the model knows at this moment; it has taken in the event.
  mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String?
}

/// What an invariant may know of the model.
public struct ModelView: Sendable {
  /// The names that model and device share.
  public let vocabulary: Vocabulary
  /// How far an observation's time may lie from when it happened.
  public let slack: Interval
  private let conditions: [Condition]
  private let holding: UInt64

  /// Names, and the conditions that hold.
  public init(_ vocabulary: Vocabulary, holding conditions: [String] = [], slack: Interval = .zero) {
    self.vocabulary = vocabulary
    self.slack = slack
    self.conditions = conditions.map { Condition($0) }
    holding = .max
  }

  /// What a tracker knows.
  public init(of tracker: borrowing Tracker, at now: Instant) {
    vocabulary = tracker.specification.vocabulary
    slack = tracker.slack
    conditions = tracker.specification.machine.definition.conditions
    holding = tracker.mayHold(at: now)
  }

  /// Whether a condition holds, or may.
  public func mayHold(_ condition: String) -> Bool {
    conditions.firstIndex { $0.name == condition }.map { holding >> UInt64($0) & 1 == 1 } ?? false
  }
}

/// Model and device, fed the same events and compared after each.
///
/// The one loop through which scenarios, replays, benchmarks and fuzzing drive a device. It is generic over
/// the device and the recorder, so that the benchmark measures what the scenarios use.
public struct Lockstep<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// The device.
  public private(set) var device: Device
  /// What the device could be in.
  public private(set) var tracker: Tracker
  /// Where the trace goes.
  public var recorder: Recorder
  /// The status last shown, by its number; the start's own before the device has shown any.
  public private(set) var status: Int?
  /// The refusal of the last stimulus, if the device said one.
  public private(set) var refusal: String?

  /// The options of the machine's choices that the device is held to, as bits; all of them unless it has shown some.
  public var held: UInt64 {
    didSet { isHeldToSome = held != tracker.specification.machine.allOptions }
  }
  /// Whether these are not all options: most devices have shown none.
  private var isHeldToSome = false

  /// Whether the device was brought to the start of this test.
  public private(set) var isReady = false
  /// The sessions in which the device was made ready for this test.
  public private(set) var preparations: [Preparation] = []

  private var invariants: [any Invariant]
  private var lastStimulus = -1
  /// Whether what is judged is a session before the test.
  private var isJudgingPreparation = false
  private let hasInvariants: Bool
  /// Whether each test is the device's first.
  private let isNew: Bool
  /// What holds in every test with this device.
  private let standing: [Fault]
  private let isTimed: Bool

  /// Joins a model and a device.
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
    isNew = !device.abilities.livesOn
    isTimed = !specification.isPlain
    standing = device.abilities.conditions.map { Fault($0) }
  }

  /// The device's time.
  public var now: Instant { device.now }

  /// The names of what is tracked.
  public var vocabulary: Vocabulary { tracker.specification.vocabulary }

  /// The stimuli that every possible state allows, as bits; see ``Tracker/legalStimuli``.
  public var legalStimuli: UInt64 { mutating get { tracker.legalStimuli } }

  /// Where the test stands; see ``Tracker/explorationState``.
  public var explorationState: ExplorationState { mutating get { tracker.explorationState } }

  /// Starts a test in a condition.
  ///
  /// - Returns: where model and device disagreed while the device was made ready, if they did. The test can be gone on with
  ///   all the same where ``isReady``.
  /// - Throws: a ``LabFault`` when the device cannot be brought there, or the model has no such start.
  public mutating func reset(to start: StartCondition = StartCondition()) throws(LabFault) -> Divergence? {
    preparations = []
    guard let number = tracker.start(for: start) else {
      throw LabFault(.notPossible, "the machine has no start of these settings")
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

  /// Lets conditions and rules begin, with the model at a start.
  private mutating func begin(with start: StartCondition) {
    for condition in standing { tracker.apply(condition, at: .zero) }
    for setting in start.settings { tracker.apply(Fault(setting.name, setting.value), at: .zero) }
    tracker.settleConditions()
    for index in invariants.indices { invariants[index].reset(isNew: isNew) }
    status = nil
    refusal = nil
    lastStimulus = -1
  }

  /// Gives model and device one stimulus and compares what comes of it at once.
  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) -> Divergence? {
    lastStimulus = stimulus.number
    // To overwrite what is nil already would still cost a release.
    if refusal != nil { refusal = nil }
    // What the model allows, nothing before the device may keep back.
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

  /// Brings about a fault and tells the model which conditions hold now.
  public mutating func bring(about fault: Fault) throws(LabFault) -> Divergence? {
    recorder.record(.fault(fault), at: device.now)
    tracker.apply(fault, at: device.now)
    if Recorder.followsModel { follow() }
    if hasInvariants, let broken = check(.fault(fault)) { return broken }
    try device.bring(about: fault)
    return try pass(until: device.now)
  }

  /// Lets time pass up to a limit, and compares everything that is observed on the way.
  public mutating func pass(until limit: Instant) throws(LabFault) -> Divergence? {
    while true {
      if let divergence = try next(until: limit) { return divergence }
      if device.now >= limit { return nil }
    }
  }

  /// Lets time pass up to the next observation, the model's next deadline or a limit, and no further.
  public mutating func next(until limit: Instant) throws(LabFault) -> Divergence? {
    let horizon = isTimed ? horizon(within: limit) : limit
    while true {
      guard let observation = try device.observe(until: horizon) else {
        assert(device.now >= horizon, "a device that ended its silence before its time")
        return takeSilence()
      }
      if let divergence = take(observation) { return divergence }
      if device.now < horizon { return try settleAtOnce() }
    }
  }

  /// Takes in everything that is observed at this very moment, then lets silence count.
  private mutating func settleAtOnce() throws(LabFault) -> Divergence? {
    let now = device.now
    while let observation = try device.observe(until: now) {
      if let divergence = take(observation) { return divergence }
    }
    return takeSilence()
  }

  /// Lets silence up to now count.
  private mutating func takeSilence() -> Divergence? {
    guard tracker.settle(at: device.now) else { return divergence(.overdue) }
    if Recorder.followsModel { follow() }
    // What comes after it is that of a device with another option.
    return isHeldToSome ? contradiction() : nil
  }

  private mutating func take(_ observation: Observation) -> Divergence? {
    if Recorder.isRecording { recorder.record(.observation(observation), at: device.now) }
    guard tracker.observe(observation, at: device.now) else { return mismatch(observation) }
    if Recorder.followsModel { follow() }
    if case .status(let number) = observation {
      status = number
      if !hasInvariants { return nil }
    }
    return note(observation)
  }

  @inline(never)
  private mutating func follow() { recorder.follow(tracker, at: device.now) }

  // What follows is rare. Kept apart and mutating, it costs the path of every event nothing: a method that only
  // reads would have to be handed a copy.

  @inline(never)
  private mutating func horizon(within limit: Instant) -> Instant {
    max(min(tracker.horizon, limit), device.now)
  }

  @inline(never)
  private mutating func mismatch(_ observation: Observation) -> Divergence {
    guard case .refused(let reason) = observation else {
      return divergence(.unexpected(vocabulary.text(of: observation)))
    }
    refusal = reason
    return divergence(.refusedLegal(reason))
  }

  @inline(never)
  private mutating func note(_ observation: Observation) -> Divergence? {
    if case .refused(let reason) = observation { refusal = reason }
    return hasInvariants ? check(.observation(observation)) : nil
  }

  private mutating func check(_ event: TraceEvent) -> Divergence? { check(event, at: device.now) }

  private mutating func check(_ event: TraceEvent, at time: Instant) -> Divergence? {
    let view = ModelView(of: tracker, at: time)
    for index in invariants.indices {
      let rule = invariants[index].check(event, at: time, in: view)
      guard let rule else { continue }
      // Neither needs an explanation: the rule says what is wrong.
      if case .observation(.violation(let violation)) = event {
        return divergence(.violation(violation), at: time, because: nil)
      }
      return divergence(.invariant(rule), at: time, because: nil)
    }
    return nil
  }

  /// The choice of which the device showed another option in this test than it is held to, if it did.
  @inline(never)
  mutating func contradiction() -> Divergence? {
    let machine = tracker.specification.machine
    guard isHeldToSome, let found = machine.contradiction(of: tracker.options, to: held) else { return nil }
    return divergence(.contradiction(found))
  }

  @inline(never)
  private mutating func divergence(_ kind: Divergence.Kind) -> Divergence {
    divergence(kind, at: device.now, because: explanation(of: kind))
  }

  private mutating func divergence(
    _ kind: Divergence.Kind, at time: Instant, because explanation: Explanation?
  ) -> Divergence {
    // What breaks a rule of the protocol is allowed in no state.
    let isForbidden = if case .violation = kind { true } else { false }
    return Divergence(
      kind, at: time, lastStimulus: lastStimulus < 0 ? nil : vocabulary.stimuli[lastStimulus],
      lastStatus: status.map { vocabulary.statuses[$0] },
      allowed: isForbidden ? [] : tracker.allowances(),
      explanation: explanation, injected: injected)
  }

  /// What the tester has sent that no client sends, and to which the device may still react; see
  /// ``DeviceUnderTest/injected``. In a session before the test nothing is.
  public var injected: [InjectedAction] { isJudgingPreparation ? [] : device.injected }

  /// Why the device has not shown what was awaited; see ``DeviceUnderTest/explanation(ofSilence:)``.
  public var explanationOfSilence: Explanation? { device.explanation(ofSilence: true) }

  /// Why the device showed what it did; see ``DeviceUnderTest/explanation(ofSilence:)``.
  public func explanation(of kind: Divergence.Kind) -> Explanation? {
    switch kind {
    case .unexpected: device.explanation(ofSilence: false)
    case .overdue: explanationOfSilence
    case .refusedLegal, .invariant, .violation, .stoppedAnswering, .contradiction: nil
    }
  }

  // MARK: What happened before a test

  /// Where model and device disagreed while the device was made ready. A session that needs a lost link to be explained
  /// proves nothing.
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

  /// Lets the model follow what was done and shown. Silence counts up to the last of it, or as far as it is the device's.
  private mutating func judge(_ session: Preparation) -> Divergence? {
    tracker.start(inAnyOf: session.start ?? StartCondition())
    begin(with: session.start ?? StartCondition())
    tracker.assureSettings()
    for name in session.unsure { tracker.doubt(name) }
    let isFollowed = session.start != nil
    var time = Instant.zero
    for entry in session.entries {
      let isShown = if case .observation = entry.event { true } else { false }
      while isFollowed, max(tracker.horizon, time) < entry.time {
        // What is due at once comes next, however much later the clock says that a busy machine looked.
        if isShown, tracker.horizon < time { break }
        time = max(tracker.horizon, time)
        guard tracker.settle(at: time) else {
          return divergence(.overdue, at: time, because: session.explanation)
        }
      }
      time = entry.time
      switch entry.event {
      case .stimulus(let stimulus):
        lastStimulus = stimulus.number
        if isFollowed { tracker.perform(stimulus, at: entry.time) }
      case .observation(let observation):
        if isFollowed, !tracker.observe(observation, at: entry.time) {
          let text = vocabulary.text(of: observation)
          return divergence(.unexpected(text), at: entry.time, because: session.explanation)
        }
        if case .status(let number) = observation {
          status = number
          let words = session.underWay.filter { $0.status == vocabulary.statuses[number] }
          for word in words {
            guard let stimulus = vocabulary.stimulus(word.stimulus) else { continue }
            tracker.perform(Stimulus(stimulus), at: entry.time)
          }
        }
      case .fault: break
      }
      if hasInvariants, let broken = check(entry.event, at: entry.time) { return broken }
    }
    // Silence at the end counts where it is the device's own doing.
    while isFollowed, let end = session.silence, max(tracker.horizon, time) < end {
      time = max(tracker.horizon, time)
      guard tracker.settle(at: time) else {
        return divergence(.overdue, at: time, because: session.explanation)
      }
    }
    return nil
  }

  // MARK: The device

  /// When a stimulus may be given at the earliest; see ``DeviceUnderTest/readyTime(for:)``.
  public func readyTime(for stimulus: Stimulus) -> Instant? { device.readyTime(for: stimulus) }

  /// When a fault may be brought about at the earliest; see ``DeviceUnderTest/readyTime(for:)-(Fault)``.
  public func readyTime(for fault: Fault) -> Instant? { device.readyTime(for: fault) }

  /// What the lab has to say since it was last asked; see ``DeviceUnderTest/takeDiagnostics()``.
  public mutating func takeDiagnostics() -> [String] { device.takeDiagnostics() }

  /// Starts the device afresh after a lab fault.
  public mutating func restart() throws(LabFault) {
    try device.restart()
    device.adopt(vocabulary)
  }

  /// Goes on with another device of the same kind, from the next test on.
  public mutating func exchangeDevice(for other: Device) {
    device = other
    device.adopt(vocabulary)
  }
}
