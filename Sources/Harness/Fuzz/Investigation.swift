import Journal
import Conformance
import Basics

extension Campaign {
  /// Whether the device keeps the state that a test leaves for the next one.
  private var keepsState: Bool { history != nil && !keepsRunning }

  /// The maximum number of runs that confirm a finding.
  private var maximumConfirmations: Int { 10 }

  /// Shrinks and confirms a divergence, and records it as a finding.
  ///
  /// - Parameter sessions: the sessions that prepared the device for the test.
  mutating func investigate(
    _ divergence: Divergence, of test: TestCase, _ execution: Execution, madeReadyBy sessions: [Preparation]
  ) throws(LimitReached) {
    var finding = Finding(
      number: earlier.findings.count + findings.count + 1, signature: divergence.signature,
      divergence: divergence,
      foundAt: status.events, foundLength: test.choices.count, test: test, actions: execution.meaning)
    account()
    finding.foundAfter = (status.lockTime, status.actuations)
    let before = (time: runner.lockTime, shrinking: status.shrinking)
    worth = worthOfFinding
    defer {
      // Time that shrinking did not use is used for confirmation.
      status.confirming += runner.lockTime - before.time - (status.shrinking - before.shrinking)
      worth = nil
    }
    // For a divergence that the test alone does not reproduce.
    let longerTests = history?.leading(to: test, madeReadyBy: sessions) ?? []
    var limit: LimitReached?
    do {
      // A device that was wrong before the test began received nothing of the test.
      var steps: [Finding] = []
      if !divergence.isInPreparation, try isWorthShrinking(&finding) {
        finding.confirmation = Confirmation()
        steps = try shrink(execution, &finding)
      }
      if let known = known(where: { $0.test == finding.test || $0.divergence.isLike(finding.divergence) }) {
        findings[known].aliases.append(finding.signature)
        findings[known].count += 1
        status.repeats += 1
        return
      }
      if finding.divergence.signature != finding.signature {
        if countAgain(finding.divergence.signature) { return }
        finding.aliases.append(finding.signature)
      }
      if !divergence.isInPreparation { try confirm(&finding, shrunkBy: steps) }
      for longer in longerTests
      where finding.confirmation.verdict != .confirmed && !edge.isStopped() && !isWorthUsedUp {
        if let other = try self.finding(finding, by: longer) { finding = other }
      }
      if divergence.isInPreparation, finding.confirmation.runs == 0 {
        // No test reproduces it: only the preparation of the device for tests can be repeated.
        finding.shrinking.end = "it shows while the device is made ready, and not by a shorter test"
        let known = runner.knownPreparationFaults
        runner.knownPreparationFaults = []
        defer { runner.knownPreparationFaults = known }
        try confirm(&finding)
        if let last = longerTests.last { finding.test = last }
        finding.actions = finding.test.choices.compactMap { choice in
          runner.alphabet.action(of: choice).map { ($0, choice.isForbidden) }
        }
      }
      if history != nil { try repeatOnOthers(&finding, foundBy: test) }
    } catch {
      // The finding is kept although the investigation must end.
      if finding.confirmation.runs == 0 {
        finding.shrinking.end = "stopped by a safety limit: \(error.reason)"
      }
      limit = error
    }
    finding.signature = finding.divergence.signature
    finding.divergence.step = finding.test.choices.count
    edge.found(&finding)
    findings.append(finding)
    status.depths.append(finding.test.choices.count)
    status.depths.sort()
    edge.progress(status)
    if let limit { throw limit }
  }

  /// The device's time at which the investigation of a finding ends, if time is real: at most as long as the
  /// search took, and between one and ten minutes.
  private var worthOfFinding: Instant? {
    guard history != nil, !runner.isInVirtualTime, settings.shrinkTime == nil else { return nil }
    let time = min(max(runner.lockTime, Self.leastWorth), Self.mostWorth)
    return .zero + runner.lockTime + time
  }

  private static var leastWorth: Interval { .seconds(60) }
  private static var mostWorth: Interval { .seconds(600) }

  /// Whether the time for investigating the finding is over.
  private var isWorthUsedUp: Bool { worth.map { .zero + runner.lockTime >= $0 } ?? false }

  /// Whether a test shows its finding once more. In real time, a finding that is not reproduced is not
  /// shrunk: a shorter test would not show it either.
  private mutating func isWorthShrinking(_ finding: inout Finding) throws(LimitReached) -> Bool {
    guard worth != nil else { return true }
    for _ in 0..<Self.reproductionRuns {
      guard let run = try calmRun(of: finding.test) else { continue }
      let isShown = run.divergence?.isLike(finding.divergence) ?? false
      finding.confirmation.count(isShown: isShown)
      if isShown { return true }
    }
    finding.shrinking.end = Finding.unshown
    return false
  }

  /// The number of repetitions of a test that must show the finding at least once, or it is not shrunk.
  private static var reproductionRuns: Int { 2 }

  /// The same finding with another test, shrunk and confirmed, if that test shows it.
  mutating func finding(
    _ finding: Finding, by test: TestCase
  ) throws(LimitReached) -> Finding? {
    guard let run = try calmRun(of: test, patiently: true), let shown = run.divergence,
      !shown.isInPreparation, shown.isLike(finding.divergence)
    else { return nil }
    var whole = finding
    whole.confirmation = Confirmation()
    whole.test = test
    whole.shrinking.end = Finding.shorterUnconfirmed
    whole.take(run)
    try confirm(&whole)
    guard whole.confirmation.verdict == .confirmed else { return nil }
    // If the failure is intermittent, single runs mislead shrinking, and the result may no longer show it.
    var short = whole
    short.confirmation = Confirmation()
    short.shrinking.end = Finding.minimal
    let steps = try shrink(run, &short)
    try confirm(&short, shrunkBy: steps)
    return short.confirmation.verdict == .confirmed ? short : whole
  }

  /// Shrinks the test of a finding as long as the failure stays the same.
  ///
  /// - Returns: the earlier versions of the finding, the longest first.
  private mutating func shrink(
    _ execution: Execution, _ finding: inout Finding
  ) throws(LimitReached) -> [Finding] {
    var steps: [Finding] = []
    var shrinker = Shrinker(
      execution, of: finding.test, specification: runner.specification, alphabet: runner.alphabet,
      starts: runner.starts)
    let begin = edge.elapsed()
    let before = runner.lockTime
    // The time of other devices is not this device's.
    defer { if !runner.usesNewDevices { status.shrinking += runner.lockTime - before } }
    while let candidate = shrinker.next() {
      if let reason = stop(shrinking: finding.shrinking.events, since: begin) {
        finding.shrinking.end = reason
        break
      }
      status.phase = "shrinking finding \(finding.number): \(shrinker.phase)"
      edge.progress(status)
      guard let result = try verdict(on: candidate, of: finding, &finding.shrinking) else {
        finding.shrinking.end = "stopped, since the device cannot be made ready"
        break
      }
      shrinker.noteResult(result.execution, isSame: result.isSame)
      if result.isSame, shrinker.best == result.execution.test {
        steps.append(finding)
        finding.take(result.execution)
        finding.test.start = candidate.start
      }
    }
    return steps
  }

  /// Why shrinking must end; `nil` if it may continue.
  func stop(shrinking events: Int, since begin: Interval) -> String? {
    if edge.isStopped() { return "stopped before it was minimal" }
    if let maximum = settings.shrinkEvents, events >= maximum {
      return "stopped after \(events) events of shrinking (--shrink-budget)"
    }
    if let maximum = settings.shrinkTime, edge.elapsed() - begin >= maximum {
      return "stopped after \(maximum) of shrinking (--shrink-budget)"
    }
    if isWorthUsedUp { return "stopped after as much time as the search had taken (--shrink-budget)" }
    return nil
  }

  /// Runs a candidate; `nil` if the device cannot be prepared for it. A device that keeps its state must show it
  /// twice in a row, the second time a little later after its preparation: this excludes effects of the previous run,
  /// and of the moment at which the device happened to advertise.
  private mutating func verdict(
    on candidate: TestCase, of finding: Finding, _ shrinking: inout Finding.Shrinking
  ) throws(LimitReached) -> (execution: Execution, isSame: Bool)? {
    let first = try calmVerdict(on: candidate, of: finding, &shrinking)
    guard let first, first.isSame, keepsState else { return first }
    return try calmVerdict(on: candidate, of: finding, after: Attempts.shift, &shrinking)
  }

  /// Runs a candidate; `nil` if the device cannot be prepared. A candidate whose every run the air disturbed does not
  /// show the finding.
  private mutating func calmVerdict(
    on candidate: TestCase, of finding: Finding, after delay: Interval = .zero,
    _ shrinking: inout Finding.Shrinking
  ) throws(LimitReached) -> (execution: Execution, isSame: Bool)? {
    for _ in 0..<Self.maximumTroubles {
      guard
        let execution = try calmRun(
          of: candidate, maximumLosses: Self.maximumAttempts, after: delay, &shrinking)
      else {
        return (.disturbed, false)
      }
      if execution.divergence?.isInPreparation != true {
        return (execution, execution.divergence.map { finding.isShown(by: $0) } ?? false)
      }
    }
    return nil
  }

  /// The first undisturbed run of a test, whatever its result.
  ///
  /// - Parameter patiently: whether to wait for a choice that cannot be made yet.
  mutating func calmRun(of test: TestCase, patiently: Bool = false) throws(LimitReached) -> Execution? {
    var unused = Finding.Shrinking()
    return try calmRun(of: test, maximumLosses: runner.maximumLosses, patiently: patiently, &unused)
  }

  private mutating func calmRun(
    of test: TestCase, maximumLosses: Int, after delay: Interval = .zero, patiently: Bool = false,
    _ shrinking: inout Finding.Shrinking
  ) throws(LimitReached) -> Execution? {
    let attempts = Attempts.drawn(maximumLosses: maximumLosses, followsPrograms: true)
    for _ in 0..<Self.maximumTroubles where !edge.isStopped() && !runner.isRefused(test.start) {
      if let execution = try count(&shrinking, running: test, attempts, after: delay, patiently: patiently) {
        return execution.wasDisturbed ? nil : execution
      }
    }
    return nil
  }

  /// Runs a test outside of exploration; `nil` after a fault, which proves nothing either way.
  private mutating func count(
    _ shrinking: inout Finding.Shrinking, running test: TestCase, _ attempts: Attempts,
    after delay: Interval = .zero, patiently: Bool = false
  ) throws(LimitReached) -> Execution? {
    var attempts = attempts
    let before = runner.events
    let isRefused = runner.isRefused(test.start)
    defer {
      shrinking.runs += 1
      shrinking.events += runner.events - before
      status.extraEvents += runner.events - before
    }
    do {
      return try runner.run(test, &attempts, after: delay, patiently ? .awaited : .omitted)
    } catch {
      if error.symptom == .stopped { return nil }
      if attempts.areUsedUp { return .disturbed }
      if error.symptom == .safetyLimit { throw LimitReached(reason: error.detail) }
      if runner.isRefused(test.start) {
        if !isRefused { exclude(test.start, because: error) }
        return nil
      }
      edge.trouble(error)
      status.labFaults += 1
      try? runner.recover()
      return nil
    }
  }

  /// Confirms a finding, or the shortest confirmed one of its earlier versions: with a device that keeps its
  /// state, a candidate may have failed because of the run before.
  private mutating func confirm(_ finding: inout Finding, shrunkBy steps: [Finding]) throws(LimitReached) {
    try confirm(&finding)
    guard finding.confirmation.verdict != .confirmed else { return }
    var (sure, unsure) = (-1, steps.count)
    while unsure - sure > 1, !edge.isStopped() {
      let middle = (sure + unsure) / 2
      var longer = steps[middle]
      longer.shrinking = finding.shrinking
      longer.shrinking.end = Finding.shorterUnconfirmed
      try confirm(&longer)
      if longer.confirmation.verdict == .confirmed {
        (finding, sure) = (longer, middle)
      } else {
        unsure = middle
      }
    }
    if sure < 0, finding.shrinking.isMinimal { finding.shrinking.end = Finding.unconfirmed }
  }

  /// Repeats the test from a reset until the confirmation is clear.
  mutating func confirm(_ finding: inout Finding) throws(LimitReached) {
    var attempts = 0
    var troubles = 0
    var unused = Finding.Shrinking()
    runner.lockstep.recorder.trace = TraceList()
    defer { runner.lockstep.recorder.trace = nil }
    while !finding.confirmation.isDecided, finding.confirmation.runs < maximumConfirmations,
      attempts < 10 * maximumConfirmations, troubles < Self.maximumTroubles, !edge.isStopped()
    {
      attempts += 1
      status.phase = "confirming finding \(finding.number): \(finding.confirmation)"
      edge.progress(status)
      let later = keepsState ? attempts : runner.usesNewDevices ? finding.confirmation.disturbed : 0
      let delay = Attempts.shift * Int64(later)
      edge.link?.begin()
      defer { edge.link?.end() }
      guard let execution = try count(&unused, running: finding.test, .ofCampaign, after: delay) else {
        troubles += 1
        continue
      }
      let isReady = execution.divergence?.isInPreparation != true
      let isShown =
        execution.divergence?.isLike(finding.divergence) ?? false
        || !isReady && finding.divergence.isInPreparation
      if !isShown, !isReady {
        troubles += 1
        continue
      }
      troubles = 0
      if execution.wasDisturbed {
        finding.confirmation.countDisturbed()
      } else {
        finding.confirmation.count(isShown: isShown)
        if isShown, let trace = runner.lockstep.recorder.trace {
          finding.take(trace, execution.divergence, edge.link?.taken)
        }
      }
    }
  }
}

extension Execution {
  /// The execution of a test that never ran with intact links, which is no evidence.
  fileprivate static var disturbed: Execution {
    var execution = Execution()
    execution.wasDisturbed = true
    return execution
  }
}

extension Finding {
  /// Whether a divergence in a shorter test shows the finding. The tester's last action must be the same, but
  /// may be missing if it had to be refused or had no effect.
  fileprivate func isShown(by divergence: Divergence) -> Bool {
    if divergence.isLike(self.divergence) { return true }
    return actions.last(where: \.action.isStimulus)?.isForbidden == true
      && divergence.looksLike(self.divergence)
  }

  /// Adopts the trace of a run that confirms it.
  fileprivate mutating func take(
    _ trace: TraceList, _ divergence: Divergence?, _ packets: (any LinkPackets)?
  ) {
    (self.trace, self.packets) = (trace.entries, packets)
    // The divergence must be of the same run.
    guard let divergence, divergence.isInPreparation == self.divergence.isInPreparation,
      divergence.signature == self.divergence.signature
    else { return }
    self.divergence = divergence
  }

  /// Adopts the test of a run that shows it.
  fileprivate mutating func take(_ execution: Execution) {
    test.choices = execution.performed
    actions = execution.meaning
    if let last = execution.divergence { divergence = last }
  }
}

extension TestAction {
  fileprivate var isStimulus: Bool { if case .stimulus = self { true } else { false } }
}
