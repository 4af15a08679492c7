public import Basics

/// Executes tests, each from a reset. Model and device do in lockstep what a source of choices requests.
public struct TestEngine<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// The model and the device.
  public var lockstep: Lockstep<Device, Recorder>
  /// The meaning of the choices.
  public let alphabet: Alphabet
  /// The start conditions. A test refers to its start by the index in this array.
  public let starts: [StartCondition]
  /// The number of choices made.
  public private(set) var events = 0
  /// How many times the tester set the bolt in motion, in tests and in preparation sessions.
  public private(set) var actuations = 0
  /// The number of sessions that prepared the device for tests.
  public private(set) var preparationCount = 0
  /// The device's time that passed before the current test.
  private var earlier = Interval.zero
  /// The part of ``lockTime`` spent only on waiting, because a test required it or a motor had to rest.
  public private(set) var waited = Interval.zero
  /// The part of ``waited`` that was the motor's rest.
  public private(set) var rested = Interval.zero
  /// The part of ``lockTime`` spent on the connection to the device, without other waits.
  public private(set) var air = Interval.zero
  /// The known failures in the preparation of the device. If the device can be prepared nevertheless, tests continue.
  package var knownPreparationFaults: [Divergence] = []
  /// The maximum of ``actuations``.
  package var maximumActuations: Int
  /// Makes another device for each test; `nil` if all tests use the same one.
  package var source: (() throws(LabFault) -> Device?)?
  /// The reason for each start to which the device cannot be brought.
  private var refusals: [LabFault?]
  /// Whether the device keeps its state between tests. The motor of such a device may have to rest.
  private let keepsState: Bool
  /// Whether a fault interrupted the last test, and the device was not restarted since.
  private var isBroken = false

  /// Makes an engine for a machine and a device.
  public init(
    _ specification: Specification, _ alphabet: Alphabet, starts: [StartCondition], _ device: Device,
    invariants: [any Invariant] = [], recorder: Recorder, maximumActuations: Int = .max
  ) {
    lockstep = Lockstep(specification, device, invariants: invariants, recorder: recorder)
    self.alphabet = alphabet
    self.starts = starts
    refusals = starts.map { _ in nil }
    keepsState = device.abilities.keepsState
    self.maximumActuations = maximumActuations
  }

  /// Makes an engine that continues a test which was begun elsewhere.
  package init(_ lockstep: Lockstep<Device, Recorder>, _ alphabet: Alphabet) {
    self.lockstep = lockstep
    self.alphabet = alphabet
    (starts, refusals, maximumActuations) = ([], [], .max)
    keepsState = lockstep.device.abilities.keepsState
  }

  /// The machine's tables.
  public var specification: Specification { lockstep.tracker.specification }

  /// The time that passed on the device in all tests and in preparation sessions.
  public var lockTime: Interval { earlier + (lockstep.now - .zero) }

  /// Replaces the device with another one, if there is a ``source``. The time of the previous device still counts.
  package mutating func takeOther() throws(LabFault) {
    guard let other = try source?() else { return }
    let before = lockTime
    lockstep.exchangeDevice(for: other)
    earlier = before - (lockstep.now - .zero)
  }

  /// Begins a test. A start that the device has refused is not requested again.
  public mutating func begin(_ start: Int) throws(LabFault) -> Divergence? {
    if let refusal = refusals[start] { throw refusal }
    lockstep.recorder.begin()
    try takeOther()
    let before = lockTime
    var divergence: Divergence?
    var fault: LabFault?
    let pace = lockstep.device.pace
    do { divergence = try lockstep.reset(to: starts[start]) } catch { fault = error }
    count(lockstep.device.pace, since: pace)
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
    if let divergence, !lockstep.isReady || !knownPreparationFaults.contains(where: { $0.isLike(divergence) })
    {
      return divergence
    }
    return try lockstep.pass(until: lockstep.now)
  }

  /// Counts the device's time that preparation sessions spent on the connection and the motor's rest.
  private mutating func count(_ pace: DevicePace, since before: DevicePace) {
    let rest = pace.rest - before.rest
    waited = waited + rest
    rested = rested + rest
    air = air + (pace.air - before.air)
  }

  /// Returns whether the device cannot be brought to a start.
  public func isRefused(_ start: Int) -> Bool { refusals[start] != nil }

  /// Carries out a choice. A choice that the alphabet does not have does nothing.
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
    let airBefore = keepsState ? lockstep.device.pace.air : .zero
    let result = try lockstep.carryOut(action, isForbidden: choice.isForbidden)
    if case .wait = result.done {
      waited += lockstep.now - begin
      if moves { actuations -= 1 }
      if let ready, ready > begin { rested += lockstep.now - begin }
    } else if let ready, ready > begin {
      waited += ready - begin
      rested += ready - begin
    } else if keepsState {
      air += lockstep.device.pace.air - airBefore
    }
    return result
  }

  /// Returns whether a choice may set the bolt in motion. A forbidden choice may, too, if the lock has a bug and the
  /// tester's client does not refuse the choice.
  private func mayMove(_ choice: Choice, _ action: TestAction) -> Bool {
    guard choice.isForbidden, case .stimulus(let stimulus) = action else { return alphabet.moves(choice) }
    return alphabet.moves(Choice(Int(choice.act))) && lockstep.device.reaches(stimulus)
  }

  /// Restarts the device after a fault, so that the next test finds it in a working state.
  package mutating func recover() throws(LabFault) {
    guard isBroken else { return }
    try lockstep.restart()
    isBroken = false
  }

  /// Repeats a test once. Returns the execution, also of an interrupted test, and the fault that interrupted it.
  ///
  /// - Parameters:
  ///   - delay: how long to wait, after the device is in the start condition, before the first choice.
  ///   - misfits: what to do with choices that no longer apply.
  ///   - isStopped: whether to stop before the next choice. If so, the engine does not wait for what the model still
  ///     expects of the device.
  public mutating func attempt(
    _ test: TestCase, after delay: Interval = .zero, _ misfits: RepeatedTest.Misfits = .omitted,
    isStopped: () -> Bool = { false }
  ) -> (execution: Execution, trouble: LabFault?) {
    var execution = Execution()
    var replay = RepeatedTest(test, alphabet, misfits)
    do throws(LabFault) {
      try perform(&replay, from: test.start, after: delay, isStopped: isStopped, &execution)
      return (execution, nil)
    } catch {
      return (execution, error)
    }
  }

  /// Executes the tests of a source until the source is finished, or until `maximum` choices were made.
  ///
  /// A start that the device refuses is excluded.
  ///
  /// - Returns: the first test that failed.
  public mutating func perform<Source: ChoiceSource>(
    all source: inout Source, maximum: Int = .max
  ) throws(LabFault) -> Execution? {
    let last = maximum == .max ? .max : events + maximum
    // A source whose tests end at once must not cause an infinite loop.
    var empty = 0
    var execution = Execution()
    while events < last, !source.isFinished, empty < 100 {
      let (start, before) = (source.begin(), events)
      execution.clear()
      do {
        let left = last == .max ? .max : last - events
        try perform(&source, from: start, maximum: left, &execution)
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

  /// Executes one test of a source once, from a start to the end of the test or to the first divergence.
  ///
  /// - Parameters:
  ///   - delay: how long to wait, after the device is in the start condition, before the first choice.
  ///   - maximum: the maximum number of choices.
  ///   - isStopped: whether to stop before the next choice. If so, the engine does not wait for what the model still
  ///     expects of the device.
  ///   - execution: the result, also of an interrupted test.
  @inline(__always)
  package mutating func perform<Source: ChoiceSource>(
    _ source: inout Source, from start: Int, after delay: Interval = .zero, maximum: Int = .max,
    isStopped: () -> Bool = { false }, _ execution: inout Execution
  ) throws(LabFault) {
    execution.start = start
    isBroken = true
    execution.divergence = try begin(start)
    if delay > .zero, execution.divergence == nil {
      execution.divergence = try lockstep.pass(until: lockstep.now + delay)
    }
    try make(from: &source, maximum: maximum, isStopped: isStopped, &execution)
    if execution.divergence == nil, !isStopped() {
      execution.end = lockstep.explorationState
      execution.divergence = try lockstep.conclude()
    }
    execution.wasDisturbed = lockstep.wasDisturbed
    isBroken = false
  }

  /// Carries out the choices of a source in the current test, up to the first divergence.
  @inline(__always)
  package mutating func make<Source: ChoiceSource>(
    from source: inout Source, maximum: Int, isStopped: () -> Bool, _ execution: inout Execution
  ) throws(LabFault) {
    let last = maximum == .max ? .max : events + maximum
    while execution.divergence == nil, events < last {
      if isStopped() { break }
      let explorationState = lockstep.explorationState
      if keepsState { source.take(lockstep.device.pace) }
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
        // The interrupted action counts as performed: without it, the test would be another one.
        if let action = alphabet.action(of: choice) {
          execution.actions[execution.actions.count - 1] = lockstep.meaning(of: action)
        }
        throw error
      }
    }
  }
}
