import Automata
import Conformance
import Journal
import Basics

/// Runs one case: model and device in lockstep, step by step.
struct CaseRunner<Device: DeviceUnderTest> {
  /// How long a stimulus waits until it is allowed.
  private static var settlingTime: Interval { Lockstep<Device, TraceWriter>.settlingTime }

  private let steps: [Step]
  private let start: StartCondition
  private let seed: UInt64
  private(set) var lockstep: Lockstep<Device, TraceWriter>
  private let listener: (any JournalListener)?
  private let isStopped: () -> Bool
  /// The first fault, with its step and time.
  private var firstTrouble: (fault: LabFault, mark: StepMark, time: Instant)?
  /// Whether the scenario's expectations must be met: a bare machine is checked against the model only, since
  /// it does not show everything, such as readings.
  private let isDemanding: Bool
  /// Whether every status met the scenario's expectations.
  private(set) var isAsExpected = true
  private var mark = StepMark.start
  /// The status of the machine's start, until the device shows one.
  private var startStatus = 0
  /// Whether the device has reached the start; its time before that belongs to another test.
  private var hasBegun = false
  /// The previous case on the device, or an earlier attempt at this one.
  private(set) var earlier: EarlierCase?
  private let id: String

  init(
    _ test: Case, _ specification: Specification, _ device: Device, invariants: [any Invariant],
    after earlier: EarlierCase? = nil, listener: any JournalListener, isStopped: @escaping () -> Bool
  ) {
    (steps, start, seed) = (test.scenario.steps, test.start, test.seed)
    (self.earlier, id) = (earlier, test.id)
    self.listener = listener
    self.isStopped = isStopped
    isDemanding = true
    lockstep = Lockstep(
      specification, device, invariants: invariants,
      recorder: TraceWriter(listener, specification.vocabulary))
    lockstep.held = specification.machine.options(heldTo: test.scenario.assumed)
  }

  /// Prepares a scenario for a bare machine, without a record.
  init(_ scenario: Scenario, seed: UInt64, _ specification: Specification, bare device: Device) {
    (steps, start, self.seed) = (scenario.steps, scenario.start, seed)
    id = ""
    listener = nil
    isStopped = { false }
    isDemanding = false
    lockstep = Lockstep(specification, device, recorder: TraceWriter(nil, specification.vocabulary))
  }

  /// Runs the case once, judged by the model alone.
  ///
  /// - Returns: the divergence of model and device, if there is one.
  mutating func runBare() -> Divergence? {
    if case .divergence(let divergence) = attempt() { divergence } else { nil }
  }

  /// The test's time.
  private var now: Instant { hasBegun ? lockstep.now : .zero }

  /// The case as the predecessor of the next one.
  var last: EarlierCase? {
    hasBegun ? EarlierCase(id: id, actions: lockstep.recorder.actions) : earlier
  }

  /// The visited cells.
  var coverage: CellCoverage { lockstep.tracker.coverage }

  /// Why a case with an unmet expectation cannot be judged: a permitted deviation explains it; see
  /// ``Lockstep/permittedDeviation``.
  private func reason(for unmet: UnmetExpectation, _ conditions: [String]) -> String {
    guard let own = conditions.first else {
      return
        "the device disconnects after an input that no client sends, which is permitted; the case needs the link to stay up"
    }
    return "the device has \(own), which is permitted; the case expects a device without it: \(unmet.summary)"
  }

  /// Runs the case until its attempts have a result; see ``Attempts``.
  mutating func run() -> Outcome {
    var attempts = Attempts.written
    // A device that lives on has another radio each time.
    let shift = lockstep.device.abilities.keepsState ? .zero : Attempts.shift
    do {
      let (verdict, fault) = try attempts.make(
        isStopped: isStopped, note: { listener?.note($0, attempt: $1, at: now) },
        restart: { fault throws(LabFault) in if !restart() { throw fault } },
        { losses in judge(attempt(after: shift * Int64(losses))) })
      if let fault {
        var divergence = divergence(.stoppedAnswering(fault.description))
        divergence.fault = fault
        return outcome(.divergence(divergence))
      }
      guard verdict == .agree else { return outcome(verdict) }
      if lockstep.recorder.observations == 0 {
        return outcome(.skipped(lockstep.recorder.whyNothingWasCompared))
      }
      if attempts.losses > 0 { note(attempts.losses) }
      return outcome(.agree)
    } catch {
      // The next case needs a working transport.
      if attempts.lastFault.symptom == .transportLost { _ = restart() }
      var time = now
      if let firstTrouble, error == firstTrouble.fault { (_, mark, time) = firstTrouble }
      return outcome(Outcome.Verdict(error, in: mark, isStopped: isStopped()), at: time)
    }
  }

  /// Judges an attempt.
  ///
  /// A lock may hang up on an input that no client sends, or differ from a scenario in a permitted way: the
  /// expectations can then not be judged, and the case is skipped.
  private mutating func judge(_ verdict: Outcome.Verdict) -> Attempts.Attempt<Outcome.Verdict> {
    switch verdict {
    case .agree: return .ended(verdict, nil, wasDisturbed: lockstep.wasDisturbed)
    case .divergence(let divergence):
      return .ended(verdict, Attempts.Failure(divergence), wasDisturbed: lockstep.wasDisturbed)
    case .unmet(let unmet):
      if let own = lockstep.permittedDeviation { return .final(.skipped(reason(for: unmet, own))) }
      let wasDisturbed = lockstep.wasDisturbed || lockstep.lossMayExplain(unmet.explanation)
      return .ended(verdict, Attempts.Failure(unmet), wasDisturbed: wasDisturbed)
    case .labFault(let fault):
      writeDiagnostics()
      // A device that must be asked reports only at the start what it cannot do.
      if fault.symptom == .notPossible, mark == .start { return .final(.skipped(fault.detail)) }
      let ending = Outcome.Verdict(fault, in: mark, isStopped: false)
      guard ending == verdict else { return .final(ending) }
      firstTrouble = firstTrouble ?? (fault, mark, now)
      return .broken(verdict, fault)
    case .skipped, .incomplete, .limited: return .final(verdict)
    }
  }

  /// Records that there is a verdict although links were lost.
  private func note(_ losses: Int) {
    let attempts = losses == 1 ? "one attempt" : "\(losses) attempts"
    listener?.diagnostic("the link was lost in \(attempts), and the case was run again", at: now)
  }

  /// Records the lab's diagnostics.
  private mutating func writeDiagnostics() {
    for text in lockstep.takeDiagnostics() { listener?.diagnostic(text, at: now) }
  }

  private func writeDiagnostics(of other: inout Lockstep<Device, TraceWriter>) {
    for text in other.takeDiagnostics() { listener?.diagnostic(text, at: other.now) }
  }

  private mutating func restart() -> Bool {
    defer { writeDiagnostics() }
    do {
      try lockstep.restart()
      return true
    } catch {
      listener?.note(error, attempt: 0, at: now)
      return false
    }
  }

  private func outcome(_ verdict: Outcome.Verdict, at time: Instant? = nil) -> Outcome {
    var outcome = Outcome(verdict, mark, at: time ?? now)
    outcome.observations = lockstep.recorder.observations
    outcome.steps = lockstep.recorder.steps
    if verdict == .agree {
      outcome.shown = lockstep.tracker.specification.machine.shown(in: lockstep.tracker.options)
    }
    outcome.isBefore = verdict.word.isFailure && isBefore(verdict)
    if outcome.isBefore { outcome.earlier = earlier }
    return outcome
  }

  /// Whether a failure was already present before the case: possible only for a device that keeps its state between
  /// cases.
  private func isBefore(_ verdict: Outcome.Verdict) -> Bool {
    guard lockstep.device.abilities.keepsState else { return false }
    return switch verdict {
    case .divergence(let divergence): divergence.isInPreparation || !hasBegun
    case .labFault(let fault): !hasBegun && (fault.symptom == .noDevice || fault.isDevices)
    case .agree, .unmet, .skipped, .incomplete, .limited: false
    }
  }

  /// Runs the case once; a fault is a verdict here.
  ///
  /// - Parameter delay: how long to wait, after the device is in the start condition, before the first step.
  private mutating func attempt(after delay: Interval = .zero) -> Outcome.Verdict {
    if hasBegun { earlier = EarlierCase(id: id, actions: lockstep.recorder.actions) }
    mark = .start
    hasBegun = false
    lockstep.recorder.begin()
    do throws(StopReason) {
      let divergence: Divergence?
      do { divergence = try lockstep.reset(to: start) } catch { throw StopReason(.labFault(error)) }
      hasBegun = true
      writeDiagnostics()
      if let divergence { return .divergence(divergence) }
      let states = lockstep.tracker.possibleStates
      let definition = lockstep.tracker.specification.machine.definition
      startStatus = states.first.flatMap { lockstep.vocabulary.status(definition.states[$0].status) } ?? 0
      try pass(until: lockstep.now + delay)
      try run(steps, from: 1)
      // At the end, no output that the model promises may be missing; a stop request is noticed here, too.
      try check { lockstep throws(LabFault) in try lockstep.conclude() }
      return .agree
    } catch {
      return error.verdict
    }
  }
}

/// Why a case stops early.
private struct StopReason: Error {
  let verdict: Outcome.Verdict

  init(_ verdict: Outcome.Verdict) { self.verdict = verdict }
}

extension CaseRunner {
  /// - Parameter number: the number of the first of the steps, as written.
  private mutating func run(_ steps: [Step], from number: Int) throws(StopReason) {
    var number = number
    for step in steps {
      try checkStop()
      mark = StepMark(number, line: step.line)
      lockstep.recorder.mark = mark
      try run(step.action)
      writeDiagnostics()
      number += [step].writtenCount
    }
  }

  private mutating func run(_ action: Step.Action) throws(StopReason) {
    switch action {
    case .perform(let call): try perform(call, waits: true)
    case .performNow(let call): try perform(call, waits: false)
    case .refuse(let call): try refuse(call)
    case .fault(let fault): try carryOut(.fault(fault))
    case .wait(let interval): try carryOut(.wait(interval))
    case .settle: try carryOut(.settle)
    case .next: try carryOut(.next)
    case .expect(let expectation), .until(let expectation): try meet(expectation)
    case .fuzz(let events):
      try draw(events)
      lockstep.recorder.forgetPassing()
    case .repeated(let times, let steps):
      let first = mark.number + 1
      for _ in 0..<times { try run(steps, from: first) }
    case .note(let text): listener?.note(.note, text, mark, at: lockstep.now)
    }
  }

  /// Stops the case if a stop was requested.
  private func checkStop() throws(StopReason) {
    if isStopped() { throw StopReason(.incomplete("stopped after step \(mark.number)")) }
  }

  /// Performs something with model and device, and stops the case if they diverge.
  private mutating func check(
    _ body: (inout Lockstep<Device, TraceWriter>) throws(LabFault) -> Divergence?
  ) throws(StopReason) {
    let found: Divergence?
    do { found = try body(&lockstep) } catch { throw StopReason(.labFault(error)) }
    guard var divergence = found else { return }
    divergence.step = mark.number
    throw StopReason(.divergence(divergence))
  }

  private mutating func carryOut(_ action: TestAction) throws(StopReason) {
    lockstep.recorder.announce(action, at: lockstep.now)
    try check { lockstep throws(LabFault) in try lockstep.carryOut(action).divergence }
    switch action {
    case .stimulus, .fault, .drawn: break
    case .wait, .settle, .next, .edge: lockstep.recorder.forgetPassing()
    }
  }

  private mutating func pass(until limit: Instant) throws(StopReason) {
    try check { lockstep throws(LabFault) in try lockstep.pass(until: limit) }
  }

  private mutating func next(until limit: Instant) throws(StopReason) {
    lockstep.recorder.forgetPassing()
    try check { lockstep throws(LabFault) in try lockstep.next(until: limit) }
  }

  // MARK: Stimuli

  private func stimulus(_ call: Step.Call) -> Stimulus {
    guard let number = lockstep.vocabulary.stimulus(call.name) else {
      preconditionFailure("a scenario is read against its machine, which has no '\(call.name)'")
    }
    return Stimulus(number, call.arguments)
  }

  private mutating func perform(_ call: Step.Call, waits: Bool) throws(StopReason) {
    let stimulus = stimulus(call)
    // A real device may have shown something since the last check.
    try pass(until: lockstep.now)
    // The model receives a stimulus only when the device accepts it.
    while let ready = lockstep.readyTime(for: stimulus), ready > lockstep.now { try pass(until: ready) }
    let limit = lockstep.now + Self.settlingTime
    while waits, lockstep.now < limit, !lockstep.tracker.allows(stimulus.number),
      lockstep.tracker.mayAllow(stimulus.number)
    {
      try next(until: limit)
    }
    try carryOut(.stimulus(stimulus))
  }

  /// Draws random events from the device's current state.
  private mutating func draw(_ events: Step.RandomEvents) throws(StopReason) {
    let alphabet = Alphabet(
      lockstep.tracker.specification, lockstep.device.abilities, levels: events.levels,
      weights: events.weights.map { ($0.name, $0.weight) })
    var generator = SeededGenerator(seed: seed, for: "step \(mark.number)")
    var explorer = Explorer(alphabet, starts: 1, seed: generator.next())
    _ = explorer.begin()
    var engine = TestEngine(lockstep, alphabet)
    engine.lockstep.recorder.isDrawing = true
    defer {
      lockstep = engine.lockstep
      lockstep.recorder.isDrawing = false
    }
    for _ in 0..<events.count {
      try checkStop()
      var execution = Execution()
      try check { _ throws(LabFault) in
        try engine.make(from: &explorer, maximum: 1, isStopped: { false }, &execution)
        return execution.divergence
      }
      writeDiagnostics(of: &engine.lockstep)
      guard execution.performed.isEmpty else { continue }
      // The explorer's test ends here, and the next one continues from this state.
      _ = explorer.end(in: engine.lockstep.explorationState)
      _ = explorer.begin()
    }
  }

  /// Sends a stimulus that the model forbids in the present state.
  ///
  /// The model is checked before any wait, since the scenario means the present state. A stimulus that the client
  /// refuses moves no motor and never waits. A stimulus that reaches the lock waits until the motor may move, since a
  /// defective lock may obey. If the model allows the stimulus by then, the step cannot be performed, and the case is
  /// skipped. The same happens in real time if the device has changed its state before the step.
  private mutating func refuse(_ call: Step.Call) throws(StopReason) {
    let stimulus = stimulus(call)
    try pass(until: lockstep.now)
    guard !lockstep.tracker.allows(stimulus.number) else {
      guard isDemanding else { return isAsExpected = false }
      guard lockstep.device.abilities.isInVirtualTime else {
        throw skipped(
          "this device: \(call.name) must be forbidden here, but the device now shows \(status), in which the model "
            + "allows it")
      }
      throw unmet([
        .init("refusal", expected: "of \(call.name)", seen: "none, since the model allows it here")
      ])
    }
    let begin = lockstep.now
    var done = TestAction.stimulus(stimulus)
    try check { lockstep throws(LabFault) in
      let result = try lockstep.carryOut(done, isForbidden: true)
      done = result.done
      return result.divergence
    }
    guard case .stimulus = done else {
      throw skipped(
        "this lock: \(call.name) may be given only \(lockstep.now - begin) later, since its motor rests, and by then "
          + "the model allows it")
    }
  }

  /// Stops the case because the step cannot be performed as intended.
  private func skipped(_ reason: String) -> StopReason {
    StopReason(.skipped("step \(mark.number) cannot be done with \(reason)"))
  }

  // MARK: Expectations

  private mutating func meet(_ expectation: Expectation) throws(StopReason) {
    listener?.note(.expect, expectation.text, mark, at: lockstep.now)
    if case .quiet(let interval) = expectation.conditions.first {
      try pass(until: lockstep.now)
      return try beQuiet(for: interval)
    }
    // What the previous step caused counts, even if a real device has changed its state since.
    if expectation.time == .now, take(expectation) { return }
    try pass(until: lockstep.now)
    switch expectation.time {
    case .now:
      if !take(expectation) { try miss(expectation) }
    case .within(let interval):
      let limit = lockstep.now + interval
      while !take(expectation) {
        guard lockstep.now < limit else { return try miss(expectation) }
        try next(until: limit)
      }
    case .lasting(let interval):
      lockstep.recorder.forgetPassing()
      let limit = lockstep.now + interval
      while holds(expectation), lockstep.now < limit { try next(until: limit) }
      guard !holds(expectation) else { return }
      try miss(expectation)
      try pass(until: limit)
    }
  }

  /// Handles an unmet expectation.
  private mutating func miss(_ expectation: Expectation) throws(StopReason) {
    guard isDemanding else { return isAsExpected = false }
    throw unmet(wrong(expectation))
  }

  private func unmet(_ items: [UnmetExpectation.Item]) -> StopReason {
    StopReason(
      .unmet(
        UnmetExpectation(
          items, at: lockstep.now, lastStimulus: lockstep.recorder.lastStimulus,
          explanation: lockstep.explanationOfSilence, injected: lockstep.injected)))
  }

  private mutating func beQuiet(for interval: Interval) throws(StopReason) {
    let limit = lockstep.now + interval
    let count = lockstep.recorder.count
    while lockstep.now < limit {
      try next(until: limit)
      guard lockstep.recorder.count == count || !isDemanding else {
        let seen = lockstep.recorder.last.map { lockstep.vocabulary.text(of: $0) } ?? "nothing"
        throw unmet([.init("quiet", expected: "for \(interval)", seen: seen)])
      }
    }
  }

  /// Whether everything is as expected, and nothing else was shown in between.
  private mutating func holds(_ expectation: Expectation) -> Bool {
    for case .status(let names) in expectation.conditions where interlude(among: names) != nil {
      return false
    }
    return take(expectation)
  }

  /// A status shown in between that is none of these.
  private func interlude(among names: [String]) -> String? {
    lockstep.recorder.passing.lazy.map { lockstep.vocabulary.statuses[$0] }.first { !names.contains($0) }
  }

  /// Whether everything is as expected; observations that meet it are used up.
  private mutating func take(_ expectation: Expectation) -> Bool {
    var taken = Taken()
    for condition in expectation.conditions where isDemanding || condition.isStatus {
      guard isMet(condition, expectation.time, &taken) else { return false }
    }
    lockstep.recorder.use(taken.used, passing: taken.passed)
    return true
  }

  /// The unmet parts of an expectation, each with what was seen instead.
  private func wrong(_ expectation: Expectation) -> [UnmetExpectation.Item] {
    var taken = Taken()
    return expectation.conditions.compactMap { condition in
      let isMet =
        isMet(condition, expectation.time, &taken) && interlude(in: condition, expectation.time) == nil
      guard !isMet else { return nil }
      return UnmetExpectation.Item(
        condition.what, expected: condition.expected + expectation.time.words,
        seen: shown(condition, expectation.time))
    }
  }

  /// The observations that meet the conditions of an expectation.
  private struct Taken {
    /// The indices of the effects and readings.
    var used: [Int] = []
    /// The number of statuses shown in between.
    var passed = 0
  }

  private func isMet(
    _ condition: Expectation.Condition, _ time: Expectation.Time, _ taken: inout Taken
  ) -> Bool {
    switch condition {
    case .status(let names):
      let passing = lockstep.recorder.passing
      if let index = passing.firstIndex(where: { names.contains(lockstep.vocabulary.statuses[$0]) }) {
        taken.passed = max(taken.passed, index + 1)
        return true
      }
      return passing.isEmpty && names.contains(status)
    case .refusal(let text):
      return lockstep.refusal.map { text.isEmpty || $0.contains(text) } ?? false
    case .effect(let name):
      guard let number = lockstep.vocabulary.effect(name),
        let index = lockstep.recorder.index(of: { $0 == .effect(number) }, besides: taken.used)
      else { return false }
      taken.used.append(index)
      return true
    case .reading(let name, let comparison):
      if time == .now { return lockstep.recorder.latest[name].map(comparison.holds) ?? false }
      let index = lockstep.recorder.index(of: { comparison.holds($0, name) }, besides: taken.used)
      guard let index else { return false }
      taken.used.append(index)
      return true
    case .quiet: return true
    }
  }

  private var status: String { lockstep.vocabulary.statuses[lockstep.status ?? startStatus] }

  /// The statuses shown while one status was to last.
  private func interlude(in condition: Expectation.Condition, _ time: Expectation.Time) -> String? {
    guard case .status(let names) = condition, case .lasting = time else { return nil }
    return interlude(among: names)
  }

  /// What the device has shown instead of the expected value.
  private func shown(_ condition: Expectation.Condition, _ time: Expectation.Time) -> String {
    switch condition {
    case .status: return interlude(in: condition, time) ?? status
    case .refusal: return lockstep.refusal.map { $0.isEmpty ? "one without a reason" : $0 } ?? "none"
    case .effect: return lockstep.recorder.effects ?? "nothing"
    case .reading(let name, _):
      guard let value = lockstep.recorder.latest[name]?.told else { return "nothing" }
      // An earlier report counts only for an expectation about the present moment.
      let isOld = time != .now && !lockstep.recorder.hasReading(name)
      return isOld ? "nothing in that time, and \(value) before it" : "\(value)"
    case .quiet: return "nothing"
    }
  }

  private func divergence(_ kind: Divergence.Kind) -> Divergence {
    Divergence(
      kind, at: lockstep.now, step: mark.number, lastStimulus: lockstep.recorder.lastStimulus,
      lastStatus: status, allowed: lockstep.tracker.allowances(),
      explanation: lockstep.explanation(of: kind), injected: lockstep.injected)
  }
}

extension Expectation.Condition {
  /// Whether it concerns a status.
  fileprivate var isStatus: Bool { if case .status = self { true } else { false } }
}
