public import Conformance
public import Basics

/// Executes tests, each from a reset: whatever says what is done next, model and device do it in lockstep here.
public struct TestEngine<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// By how much later another device's test is begun after each attempt that the air disturbed: devices advertise every
  /// half second, and every second, and what disturbed one new device would disturb the next.
  static var shift: Interval { .milliseconds(170) }

  /// Model and device.
  public var lockstep: Lockstep<Device, Recorder>
  /// What the choices stand for.
  public let alphabet: Alphabet
  /// The conditions that the numbers of starts stand for.
  public let starts: [StartCondition]
  /// How many choices were made.
  public private(set) var events = 0
  /// How often the tester set the bolt in motion, in tests and to make the device ready for them.
  public private(set) var actuations = 0
  /// In how many sessions the device was made ready for tests.
  public private(set) var preparationCount = 0
  /// The time that passed on the device in the tests before this one.
  private var earlier = Interval.zero
  /// How much of ``lockTime`` nothing was done in but wait: because a test said so, or because a motor had to rest.
  public private(set) var waited = Interval.zero
  /// How much of ``waited`` was for a motor's rest.
  public private(set) var rested = Interval.zero
  /// How much of ``lockTime`` the way to the device has taken, where nothing else was waited for.
  public private(set) var air = Interval.zero
  /// What is known to be wrong with the device while it is made ready: where it can be made ready all the same, tests go on.
  var passedOver: [Divergence] = []
  /// The most times that the tester may do so.
  private var maximumActuations: Int
  /// Where another device comes from for each test, if it does not go on with the same.
  private var source: (() throws(LabFault) -> Device?)?
  /// What the device said of each start that it cannot be brought to.
  private var refusals: [LabFault?]
  let isInVirtualTime: Bool
  /// Whether the device goes on from test to test, with a motor that may have to rest.
  private let livesOn: Bool
  /// Whether trouble broke the last test off, and the device was not started afresh since.
  private var isBroken = false

  /// Joins a machine and a device.
  public init(_ target: FuzzTarget, _ device: Device, _ settings: FuzzSettings, recorder: Recorder) {
    let abilities = device.abilities
    let specification = target.machine.specification(abilities)
    lockstep = Lockstep(
      specification, device, invariants: target.machine.invariants(on: target.device), recorder: recorder)
    alphabet = target.alphabet(specification, abilities, settings)
    starts = target.starts
    isInVirtualTime = abilities.isInVirtualTime
    livesOn = abilities.livesOn
    refusals = target.starts.map { _ in nil }
    maximumActuations = settings.actuations ?? .max
  }

  /// What draws the tests of a campaign. Where time passes on the device, time and wear are what it spends, and not events.
  public func explorer(_ settings: FuzzSettings) -> Explorer {
    var own = Explorer.Settings()
    own.length = settings.length
    own.longest = settings.longest
    own.without = settings.without
    own.isThrifty = !specification.isPlain
    own.isPlayed = lockstep.device.abilities.isPlayed
    own.isHasty = lockstep.device.abilities.takesCommandsInMotion
    return Explorer(alphabet, starts: starts.count, settings: own, seed: settings.generatorSeed)
  }

  /// What a campaign does before it draws tests: it visits what the model shows a way to. `nil` where time and wear are what
  /// is spent, of which a tour asks for much, and in all but one of several workers.
  ///
  /// - Parameter visited: what need not be visited.
  func tour(_ settings: FuzzSettings, visited: CellCoverage?) -> Tour? {
    let abilities = lockstep.device.abilities
    guard settings.shard.part == 1, specification.isPlain || abilities.isPlayed else { return nil }
    var own = Tour.Settings()
    own.length = settings.length
    own.budget = min(own.budget, settings.steps ?? .max)
    own.longestTimer = abilities.isPlayed ? .forever : nil
    let tour = Tour(
      specification, alphabet, starts: starts, standing: abilities.conditions, visited: visited, settings: own
    )
    return tour.isFinished ? nil : tour
  }

  /// Joins a machine and a device that nothing else is known of than the choices it takes.
  public init(
    _ specification: Specification, _ alphabet: Alphabet, starts: [StartCondition], _ device: Device,
    invariants: [any Invariant] = [], recorder: Recorder
  ) {
    lockstep = Lockstep(specification, device, invariants: invariants, recorder: recorder)
    self.alphabet = alphabet
    self.starts = starts
    refusals = starts.map { _ in nil }
    isInVirtualTime = device.abilities.isInVirtualTime
    livesOn = device.abilities.livesOn
    maximumActuations = .max
  }

  /// The machine's tables.
  public var specification: Specification { lockstep.tracker.specification }

  /// The time that passed on the device in all tests, and to make it ready for them.
  public var lockTime: Interval { earlier + (lockstep.now - .zero) }

  /// The most attempts at a drawn test that may prove nothing, since the air lost a link: with a device that wears out,
  /// and with one that only costs us time.
  var maximumLosses: Int { isInVirtualTime ? 100 : 10 }

  /// Whether each test is another device's.
  var takesOthers: Bool { source != nil }

  /// Goes on with another device in each test, which wears out with it.
  mutating func takeOthers(from source: @escaping () throws(LabFault) -> Device?) {
    self.source = source
    maximumActuations = .max
  }

  /// Goes on with another device, where there are others. The time of the one before counts.
  private mutating func takeOther() throws(LabFault) {
    guard let other = try source?() else { return }
    let before = lockTime
    lockstep.exchangeDevice(for: other)
    earlier = before - (lockstep.now - .zero)
  }

  /// Runs tests one after the other on the same device, another one than before where tests are others'.
  ///
  /// - Parameter done: told of each test, with how the device was made ready for it.
  /// - Returns: what came of the last one.
  mutating func run(
    inTurn tests: [TestCase], done: (TestCase, [Preparation]) -> Void
  ) throws(LabFault) -> Execution {
    let own = source
    defer { source = own }
    try takeOther()
    source = nil
    var execution = Execution()
    for test in tests {
      execution = try run(test)
      done(test, lockstep.preparations)
    }
    return execution
  }

  /// Begins a test. A start that the device refused once is not asked for again.
  public mutating func begin(_ start: Int) throws(LabFault) -> Divergence? {
    if let refusal = refusals[start] { throw refusal }
    lockstep.recorder.begin()
    try takeOther()
    let before = lockTime
    var divergence: Divergence?
    var fault: LabFault?
    let pace = lockstep.device.pace
    do { divergence = try lockstep.reset(to: starts[start]) } catch { fault = error }
    take(lockstep.device.pace, since: pace)
    earlier = before - (lockstep.now - .zero)
    for session in lockstep.preparations {
      earlier = earlier + session.length
      preparationCount += 1
      actuations += session.stimuli.count { alphabet.moves(Choice($0.number)) }
    }
    if let fault {
      if fault.symptom == .notPossible { refusals[start] = fault }
      throw fault
    }
    if let divergence, !lockstep.isReady || !passedOver.contains(where: { $0.isLike(divergence) }) {
      return divergence
    }
    return try lockstep.pass(until: lockstep.now)
  }

  /// Takes in what the sessions before a test took of the device's time that was not its own.
  private mutating func take(_ pace: DevicePace, since before: DevicePace) {
    let rest = pace.rest - before.rest
    waited = waited + rest
    rested = rested + rest
    air = air + (pace.air - before.air)
  }

  /// Whether the device cannot be brought to a start.
  public func isRefused(_ start: Int) -> Bool { refusals[start] != nil }

  /// Makes a choice, which the alphabet has.
  @inline(__always)
  public mutating func make(
    _ choice: Choice
  ) throws(LabFault) -> (done: TestAction, divergence: Divergence?) {
    guard let action = alphabet.action(of: choice) else { return (.wait(.zero), nil) }
    events += 1
    let moves = mayMove(choice, action)
    if moves {
      guard actuations < maximumActuations else {
        throw LabFault(.safetyLimit, "the bolt was set in motion \(maximumActuations) times (--actuations)")
      }
      actuations += 1
    }
    let (begin, ready) = (lockstep.now, lockstep.readyTime(for: action))
    let way = livesOn ? lockstep.device.pace.air : .zero
    let result = try lockstep.carryOut(action, isForbidden: choice.isForbidden)
    if case .wait = result.done {
      waited += lockstep.now - begin
      if moves { actuations -= 1 }
      if let ready, ready > begin { rested += lockstep.now - begin }
    } else if let ready, ready > begin {
      waited += ready - begin
      rested += ready - begin
    } else if livesOn {
      air += lockstep.device.pace.air - way
    }
    return result
  }

  /// Whether a choice may set the bolt in motion: also one that is to be refused, by a lock with a bug, where nothing
  /// before the lock keeps it back.
  private func mayMove(_ choice: Choice, _ action: TestAction) -> Bool {
    guard choice.isForbidden, case .stimulus(let stimulus) = action else { return alphabet.moves(choice) }
    return alphabet.moves(Choice(Int(choice.act))) && lockstep.device.reaches(stimulus)
  }

  /// Does a test again, see ``RepeatedTest``, until its attempts come to something: the same trouble in three fresh
  /// starts is a divergence.
  ///
  /// - Parameters:
  ///   - delay: how long after its start the test is begun.
  ///   - patiently: whether time passes before a choice that cannot be made yet, until nothing more is awaited.
  ///   - isStopped: whether the test is to end before its next choice; nothing is awaited then.
  public mutating func run(
    _ test: TestCase, after delay: Interval = .zero, patiently: Bool = false,
    isStopped: () -> Bool = { false }
  ) throws(LabFault) -> Execution {
    var attempts = Attempts.single
    return try run(test, &attempts, after: delay, patiently: patiently, isStopped: isStopped)
  }

  /// Does a test again until its attempts come to something.
  ///
  /// - Parameters:
  ///   - attempts: how many there may be; afterwards those that there were.
  ///   - first: what came of an attempt that was made already, and the trouble that broke it off.
  ///   - note: told of each attempt that came to nothing, with its number and the device's time.
  mutating func run(
    _ test: TestCase, _ attempts: inout Attempts, following first: (Execution, LabFault?)? = nil,
    after delay: Interval = .zero, patiently: Bool = false, isStopped: () -> Bool = { false },
    note: (LabFault, Int, Instant) -> Void = { _, _, _ in }
  ) throws(LabFault) -> Execution {
    var (execution, trouble) =
      first ?? attempt(test, after: delay, patiently: patiently, isStopped: isStopped)
    while true {
      if let trouble, trouble.symptom == .stopped { throw trouble }
      let before = attempts.count
      let ruling =
        trouble.map { attempts.rule(on: $0) }
        ?? attempts.rule(on: execution.divergence, wasDisturbed: execution.wasDisturbed)
      if attempts.count > before { note(attempts.lastFault, attempts.count, lockstep.now) }
      switch ruling {
      case .stands: return execution
      case .noVerdict(let fault): throw fault
      case .stoppedAnswering(let fault):
        let isOfLab = fault.symptom == .programFailed
        var divergence = Divergence(
          .stoppedAnswering(isOfLab ? fault.detail : fault.description), at: lockstep.now)
        (divergence.isOfLab, divergence.fault) = (isOfLab, fault)
        execution.divergence = divergence
        return execution
      case .again(let afresh):
        if isStopped() { throw attempts.lastFault }
        if afresh { try recover() }
      }
      let shift = takesOthers ? Self.shift * Int64(attempts.losses) : .zero
      (execution, trouble) = attempt(test, after: delay + shift, patiently: patiently, isStopped: isStopped)
    }
  }

  /// Starts the device afresh after trouble, so that the next test finds it in order.
  mutating func recover() throws(LabFault) {
    guard isBroken else { return }
    try lockstep.restart()
    isBroken = false
  }

  /// Does a test again, once: what came of it, as far as it came, and what broke it off.
  private mutating func attempt(
    _ test: TestCase, after delay: Interval, patiently: Bool, isStopped: () -> Bool
  ) -> (Execution, LabFault?) {
    var execution = Execution()
    var replay = RepeatedTest(test, alphabet, patiently: patiently)
    do throws(LabFault) {
      try perform(&replay, from: test.start, after: delay, isStopped: isStopped, &execution)
      return (execution, nil)
    } catch {
      return (execution, error)
    }
  }

  /// Does what a source says, test after test, until it is finished or so many choices were made.
  ///
  /// A start that the device refuses is left out.
  ///
  /// - Returns: the first test that failed.
  public mutating func perform<Source: ChoiceSource>(
    all source: inout Source, maximum: Int = .max
  ) throws(LabFault) -> Execution? {
    let last = maximum == .max ? .max : events + maximum
    // A source that ends its tests at once must not go on for ever.
    var empty = 0
    var execution = Execution()
    while events < last, !source.isFinished, empty < 100 {
      let (start, before) = (source.begin(), events)
      execution.clear()
      do {
        let left = last == .max ? .max : last - events
        try perform(&source, from: start, maximum: left, isStopped: { false }, &execution)
      } catch {
        guard isRefused(start), source.exclude(start: start) else { throw error }
        continue
      }
      if execution.divergence != nil { return execution }
      _ = source.end(in: lockstep.explorationState)
      empty = events == before ? empty + 1 : 0
    }
    return nil
  }

  /// Does one test once: what a source says, from a start to the end of the test, or to the first disagreement.
  ///
  /// - Parameters:
  ///   - delay: how long after its start the test is begun.
  ///   - maximum: how many choices may be made.
  ///   - isStopped: whether the test is to end before its next choice; nothing is awaited then.
  ///   - execution: what came of it, as far as it came.
  @inline(__always)
  mutating func perform<Source: ChoiceSource>(
    _ source: inout Source, from start: Int, after delay: Interval = .zero, maximum: Int = .max,
    isStopped: () -> Bool, _ execution: inout Execution
  ) throws(LabFault) {
    execution.start = start
    isBroken = true
    execution.divergence = try begin(start)
    if delay > .zero, execution.divergence == nil {
      execution.divergence = try lockstep.pass(until: lockstep.now + delay)
    }
    let last = maximum == .max ? .max : events + maximum
    while execution.divergence == nil, events < last {
      if isStopped() { break }
      let explorationState = lockstep.explorationState
      if livesOn { source.take(lockstep.device.pace) }
      guard let choice = source.next(in: explorationState) else { break }
      execution.performed.append(choice)
      execution.explorationStates.append(explorationState)
      execution.actions.append(.settle)
      if Recorder.followsSteps, let action = alphabet.action(of: choice) {
        let meaning = lockstep.meaning(of: action)
        lockstep.recorder.begin(step: execution.performed.count, meaning, at: lockstep.now)
      }
      let before = lockstep.now
      do throws(LabFault) {
        let (done, divergence) = try make(choice)
        source.spend(lockstep.now - before)
        execution.actions[execution.actions.count - 1] = done
        execution.divergence = divergence
      } catch {
        // What broke it off was done all the same: without it the test is another one.
        if let action = alphabet.action(of: choice) {
          execution.actions[execution.actions.count - 1] = lockstep.meaning(of: action)
        }
        throw error
      }
    }
    if execution.divergence == nil, !isStopped() {
      execution.end = lockstep.explorationState
      execution.divergence = try lockstep.conclude()
    }
    execution.wasDisturbed = lockstep.wasDisturbed
    isBroken = false
  }
}

/// What wears a lock's motor.
enum Actuation {
  /// The stimuli that set the bolt in motion, by name.
  static let stimuli = ["lock", "unlock", "toggle"]
}
