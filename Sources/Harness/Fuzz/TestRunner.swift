import Automata
public import Conformance
public import Basics

/// What came of one attempt at a test.
public enum Attempt: Sendable {
  /// The test came to its end, or to a divergence.
  case done(Execution)
  /// There was trouble in the lab, and so no verdict.
  case trouble(LabFault)
}

/// Runs tests of choices on one device, each from a reset.
public struct TestRunner<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// The same trouble so often in fresh starts is the device's doing.
  static var attempts: Int { 3 }

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
  /// The time that passed on the device in the tests before this one.
  private var earlier = Interval.zero
  /// How much of ``lockTime`` nothing was done in but wait: because a test said so, or because a motor had to rest.
  public private(set) var waited = Interval.zero
  /// What is known to be wrong with the device while it is made ready: where it can be made ready all the same, tests go on.
  var passedOver: [Divergence] = []
  /// The most times that the tester may do so.
  private var mostActuations: Int
  /// Where another device comes from for each test, if it does not go on with the same.
  private var source: (() throws(LabFault) -> Device?)?
  /// What the device said of each start that it cannot be brought to.
  private var refusals: [LabFault?]

  /// Joins a machine and a device.
  public init(_ target: FuzzTarget, _ device: Device, _ settings: FuzzSettings, recorder: Recorder) {
    let abilities = device.abilities
    let specification = target.machine.specification(abilities)
    lockstep = Lockstep(
      specification, device, invariants: target.machine.invariants, recorder: recorder)
    alphabet = Alphabet(
      specification, target.original.map(abilities.limited) ?? abilities, levels: settings.levels,
      weights: settings.weights + target.withheld.map { ($0, 0) }, moving: Actuation.stimuli)
    starts = target.starts
    refusals = target.starts.map { _ in nil }
    mostActuations = settings.actuations ?? .max
  }

  /// What draws the tests of a campaign. Where time passes on the device, time and wear are what it spends, and not events.
  public func explorer(_ settings: FuzzSettings) -> Explorer {
    var own = Explorer.Settings()
    own.length = settings.length
    if !specification.isPlain {
      own.isThrifty = true
      own.swarming = 0.25
    }
    return Explorer(alphabet, starts: starts.count, settings: own, seed: settings.generatorSeed)
  }

  /// The machine's tables.
  public var specification: Specification { lockstep.tracker.specification }

  /// The time that passed on the device in all tests, and to make it ready for them.
  public var lockTime: Interval { earlier + (lockstep.now - .zero) }

  /// Whether each test is another device's.
  var takesOthers: Bool { source != nil }

  /// Goes on with another device in each test, which wears out with it.
  mutating func takeOthers(from source: @escaping () throws(LabFault) -> Device?) {
    self.source = source
    mostActuations = .max
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
    if let other = try source?() { lockstep.exchangeDevice(for: other) }
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
    let before = lockTime
    if let other = try source?() { lockstep.exchangeDevice(for: other) }
    var divergence: Divergence?
    var fault: LabFault?
    do { divergence = try lockstep.reset(to: starts[start]) } catch { fault = error }
    earlier = before - (lockstep.now - .zero)
    for session in lockstep.preparations {
      earlier = earlier + session.length
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

  /// Whether the device cannot be brought to a start.
  public func isRefused(_ start: Int) -> Bool { refusals[start] != nil }

  /// Makes a choice, which the alphabet has.
  @inline(__always)
  public mutating func make(
    _ choice: Choice
  ) throws(LabFault) -> (done: TestAction, divergence: Divergence?) {
    guard let action = alphabet.action(of: choice) else { return (.wait(.zero), nil) }
    events += 1
    if choice.isForbidden, case .stimulus(let stimulus) = action,
      let ready = lockstep.readyTime(for: stimulus),
      ready > lockstep.now
    {
      let begin = lockstep.now
      let divergence = try lockstep.pass(until: ready)
      waited += lockstep.now - begin
      // What was to be refused and no longer is, now that a motor has had its rest, is left out.
      if divergence != nil || lockstep.tracker.allows(stimulus.number) {
        return (.wait(lockstep.now - begin), divergence)
      }
    }
    if mayMove(choice, action) {
      guard actuations < mostActuations else {
        throw LabFault(.safetyLimit, "the bolt was set in motion \(mostActuations) times (--actuations)")
      }
      actuations += 1
    }
    let begin = lockstep.now
    if let ready = readyTime(for: action), ready > begin { waited += ready - begin }
    let result = try lockstep.carryOut(action)
    switch action {
    case .wait, .edge: waited += lockstep.now - begin
    case .stimulus, .fault, .settle, .next: break
    }
    return result
  }

  /// Whether a choice may set the bolt in motion: also one that is to be refused, by a lock with a bug, where nothing
  /// before the lock keeps it back.
  private func mayMove(_ choice: Choice, _ action: TestAction) -> Bool {
    guard choice.isForbidden, case .stimulus(let stimulus) = action else { return alphabet.moves(choice) }
    return alphabet.moves(Choice(Int(choice.act))) && lockstep.device.reaches(stimulus)
  }

  /// When an action may be brought about at the earliest, where a motor is given its rest before.
  private func readyTime(for action: TestAction) -> Instant? {
    switch action {
    case .stimulus(let stimulus): lockstep.readyTime(for: stimulus)
    case .fault(let fault): lockstep.readyTime(for: fault)
    case .wait, .settle, .next, .edge: nil
    }
  }

  /// Runs a test; a choice that is no longer what it was meant to be is left out.
  ///
  /// The same trouble in three fresh starts is a divergence: the device stopped answering.
  ///
  /// - Parameters:
  ///   - delay: how long after its start the test is begun.
  ///   - patiently: whether time passes before a choice that cannot be made yet, until nothing more is awaited.
  ///   - isStopped: whether the test is to end before its next choice; nothing is awaited then.
  public mutating func run(
    _ test: TestCase, after delay: Interval = .zero, patiently: Bool = false,
    isStopped: () -> Bool = { false }
  ) throws(LabFault) -> Execution {
    var faults: [LabFault] = []
    while true {
      var execution = Execution()
      guard let fault = perform(test, after: delay, patiently, isStopped, &execution) else {
        // One that went well after trouble shows that the trouble was the lab's.
        if let fault = faults.first, execution.divergence == nil { throw fault }
        return execution
      }
      faults.append(fault)
      guard fault.isDevices, fault.symptom == faults[0].symptom else { throw faults[0] }
      if faults.count == Self.attempts {
        execution.divergence = stopped(fault)
        return execution
      }
      try lockstep.restart()
    }
  }

  /// The divergence of a device that stopped answering.
  func stopped(_ fault: LabFault) -> Divergence {
    Divergence(.stoppedAnswering(fault.description), at: lockstep.now)
  }

  /// Runs a test once; says what trouble there was.
  private mutating func perform(
    _ test: TestCase, after delay: Interval, _ patiently: Bool, _ isStopped: () -> Bool,
    _ execution: inout Execution
  ) -> LabFault? {
    do throws(LabFault) {
      try make(test, after: delay, patiently, isStopped, &execution)
      return nil
    } catch {
      return error
    }
  }

  private mutating func make(
    _ test: TestCase, after delay: Interval, _ patiently: Bool, _ isStopped: () -> Bool,
    _ execution: inout Execution
  ) throws(LabFault) {
    execution.divergence = try begin(test.start)
    if delay > .zero, execution.divergence == nil {
      execution.divergence = try lockstep.pass(until: lockstep.now + delay)
    }
    for choice in test.choices where execution.divergence == nil {
      if isStopped() { return }
      guard alphabet.action(of: choice) != nil else { continue }
      if patiently, !lockstep.situation.admits(choice, alphabet) {
        try make(Choice(alphabet.settle), &execution)
        if execution.divergence != nil { break }
      }
      if lockstep.situation.admits(choice, alphabet) { try make(choice, &execution) }
    }
    if execution.divergence == nil {
      execution.end = lockstep.situation
      execution.divergence = try lockstep.conclude()
    }
    execution.wasDisturbed = lockstep.wasDisturbed
  }

  /// Makes a choice and notes it.
  private mutating func make(_ choice: Choice, _ execution: inout Execution) throws(LabFault) {
    execution.performed.append(choice)
    execution.situations.append(lockstep.situation)
    execution.actions.append(.settle)
    let (done, divergence) = try make(choice)
    execution.actions[execution.actions.count - 1] = done
    execution.divergence = divergence
  }
}

extension LabFault {
  /// Whether it may be the device's own doing, if it comes again and again.
  var isDevices: Bool { [.noAnswer, .badAnswer, .ended].contains(symptom) }
}

/// What wears a lock's motor.
enum Actuation {
  /// The stimuli that set the bolt in motion, by name.
  static let stimuli = ["lock", "unlock", "toggle"]
}
