import Basics
public import Conformance

extension TestEngine {
  /// Joins the machine and the device of a target.
  public init(_ target: FuzzTarget, _ device: Device, _ settings: FuzzSettings, recorder: Recorder) {
    let specification = target.machine.specification(device.abilities)
    self.init(
      specification, target.alphabet(specification, device.abilities, settings), starts: target.starts,
      device,
      invariants: target.machine.invariants(on: target.device), recorder: recorder,
      maximumActuations: settings.actuations ?? .max)
  }

  /// The explorer that draws the tests of a campaign. If time on the device is real, it spends time and wear
  /// instead of events.
  public func explorer(_ settings: FuzzSettings) -> Explorer {
    var own = Explorer.Settings()
    own.length = settings.length
    own.longest = settings.longest
    own.without = settings.without
    own.isThrifty = !specification.isPlain
    own.isSimulated = lockstep.device.abilities.isSimulated
    own.isHasty = lockstep.device.abilities.takesCommandsInMotion
    return Explorer(alphabet, starts: starts.count, settings: own, seed: settings.generatorSeed)
  }

  /// The tour that a campaign makes before it draws tests; it visits all cells that the model has a path to.
  ///
  /// - Parameter visited: the cells that need no visit.
  /// - Returns: `nil` if time and wear are limited, since a tour needs much of both, and in all but one of
  ///   several workers.
  func tour(_ settings: FuzzSettings, visited: CellCoverage?) -> Tour? {
    let abilities = lockstep.device.abilities
    guard settings.shard.part == 1, specification.isPlain || abilities.isSimulated else { return nil }
    var own = Tour.Settings()
    own.length = settings.length
    own.budget = min(own.budget, settings.steps ?? .max)
    own.longestTimer = abilities.isSimulated ? .forever : nil
    let tour = Tour(
      specification, alphabet, starts: starts, standing: abilities.conditions, visited: visited, settings: own
    )
    return tour.isFinished ? nil : tour
  }

  /// The maximum number of attempts at a generated test that prove nothing since the air lost a link: fewer in real
  /// time, where each attempt costs time and wear.
  var maximumLosses: Int { isInVirtualTime ? 100 : 10 }

  var isInVirtualTime: Bool { lockstep.device.abilities.isInVirtualTime }

  /// Whether each test uses a new device.
  var usesNewDevices: Bool { source != nil }

  /// Continues with a new device in each test.
  mutating func useNewDevices(from source: @escaping () throws(LabFault) -> Device?) {
    self.source = source
    maximumActuations = .max
  }

  /// Runs tests one after the other on the same device, which is a new one if each test uses a new device.
  ///
  /// - Parameter done: receives each test, with the sessions that prepared the device for it.
  /// - Returns: the result of the last one.
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

  /// Repeats a test, see ``RepeatedTest``, until its attempts have a result.
  ///
  /// - Parameters:
  ///   - attempts: the maximum number of attempts; afterwards the attempts made.
  ///   - first: the result of an earlier attempt, and the fault that interrupted it.
  ///   - delay: how long after the start condition the test begins.
  ///   - misfits: what to do with choices that no longer apply.
  ///   - isStopped: whether to end the test before its next choice; nothing is awaited then.
  ///   - note: called for each attempt without a result, with its number and the device's time.
  mutating func run(
    _ test: TestCase, _ attempts: inout Attempts, following first: (Execution, LabFault?)? = nil,
    after delay: Interval = .zero, _ misfits: RepeatedTest.Misfits = .omitted,
    isStopped: () -> Bool = { false }, note: (LabFault, Int, Instant) -> Void = { _, _, _ in }
  ) throws(LabFault) -> Execution {
    let shift = usesNewDevices ? Attempts.shift : .zero
    let (result, fault) = try attempts.make(
      following: first.map { Attempts.Attempt($0, $1) }, isStopped: isStopped,
      note: { note($0, $1, lockstep.now) }, restart: { _ throws(LabFault) in try recover() }
    ) { losses in
      let (execution, trouble) = attempt(
        test, after: delay + shift * Int64(losses), misfits, isStopped: isStopped)
      return Attempts.Attempt(execution, trouble)
    }
    guard let fault else { return result }
    let isOfLab = fault.symptom == .programFailed
    var execution = result
    var divergence = Divergence(
      .stoppedAnswering(isOfLab ? fault.detail : fault.description), at: lockstep.now)
    (divergence.isOfLab, divergence.fault) = (isOfLab, fault)
    execution.divergence = divergence
    return execution
  }

  /// Repeats a test once, or up to three times after faults: the same fault after three restarts is a
  /// divergence.
  public mutating func run(
    _ test: TestCase, isStopped: () -> Bool = { false }
  ) throws(LabFault) -> Execution {
    var attempts = Attempts.single
    return try run(test, &attempts, isStopped: isStopped)
  }
}

extension Attempts.Attempt where Ending == Execution {
  /// Makes the attempt of a test of choices.
  fileprivate init(_ execution: Execution, _ trouble: LabFault?) {
    self =
      if let trouble {
        .broken(execution, trouble)
      } else {
        .ended(
          execution, execution.divergence.map { Attempts.Failure($0) }, wasDisturbed: execution.wasDisturbed)
      }
  }
}
