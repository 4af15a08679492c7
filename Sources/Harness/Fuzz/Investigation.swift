import Conformance
import Simulation

extension Campaign {
  /// The most times that a finding is tried again to be confirmed.
  private var mostConfirmations: Int { 10 }

  /// Shrinks and confirms a divergence, and notes it as a finding.
  mutating func investigate(
    _ divergence: Divergence, of test: TestCase, _ execution: Execution
  ) throws(LimitReached) {
    var finding = Finding(
      number: earlier.findings.count + findings.count + 1, signature: divergence.signature,
      divergence: divergence,
      foundAt: status.events, foundLength: test.choices.count, test: test, actions: execution.meaning)
    let shrunk = try shrink(test, execution, &finding)
    finding.test = shrunk.test
    finding.actions = shrunk.execution.meaning
    if let last = shrunk.execution.divergence {
      finding.divergence = last
      finding.signature = last.signature
    }
    try confirm(&finding)
    finding.divergence.step = finding.test.choices.count
    edge.found(&finding)
    findings.append(finding)
    status.depths.append(finding.test.choices.count)
    status.depths.sort()
    edge.progress(status)
  }

  /// Makes the test shorter as long as it fails in the same way.
  private mutating func shrink(
    _ test: TestCase, _ execution: Execution, _ finding: inout Finding
  ) throws(LimitReached) -> (test: TestCase, execution: Execution) {
    var best = (test: test, execution: execution)
    // What a lost link helped to bring about does not come out the same again: it is looked for without.
    if execution.wasDisturbed {
      guard let calm = try calmRun(of: test, finding.divergence, &finding.shrinking) else {
        finding.shrinking.end = "not shrunk: it did not show again without a lost link"
        return best
      }
      best = (TestCase(start: test.start, calm.performed), calm)
    }
    var shrinker = Shrinker(
      best.execution, of: best.test, specification: runner.specification, alphabet: runner.alphabet,
      starts: runner.starts)
    let begin = edge.elapsed()
    while let candidate = shrinker.next() {
      if let reason = stop(shrinking: finding.shrinking, since: begin) {
        finding.shrinking.end = reason
        break
      }
      status.phase = "shrinking finding \(finding.number): \(shrinker.phase)"
      edge.progress(status)
      let result = try verdict(on: candidate, finding.divergence, &finding.shrinking)
      shrinker.tell(result.execution, isSame: result.isSame)
      if result.isSame, shrinker.best == TestCase(start: candidate.start, result.execution.performed) {
        best = (shrinker.best, result.execution)
      }
    }
    return best
  }

  /// Why shrinking goes no further, if it does not.
  private func stop(shrinking: Finding.Shrinking, since begin: Interval) -> String? {
    if edge.isStopped() { return "stopped before it was minimal" }
    if let most = settings.shrinkEvents, shrinking.events >= most {
      return "stopped after \(shrinking.events) events of shrinking (--shrink-budget)"
    }
    if let most = settings.shrinkTime, edge.elapsed() - begin >= most {
      return "stopped after \(most) of shrinking (--shrink-budget)"
    }
    return nil
  }

  /// Runs a candidate; one that was disturbed says nothing and is tried again, a few times.
  private mutating func verdict(
    on candidate: TestCase, _ divergence: Divergence, _ shrinking: inout Finding.Shrinking
  ) throws(LimitReached) -> (execution: Execution, isSame: Bool) {
    var last = Execution()
    for _ in 0..<Self.mostTries {
      last = try count(&shrinking, running: candidate)
      if !last.wasDisturbed { return (last, last.divergence?.isLike(divergence) ?? false) }
    }
    return (last, false)
  }

  /// A run of a test that fails in the same way and that nothing disturbed.
  private mutating func calmRun(
    of test: TestCase, _ divergence: Divergence, _ shrinking: inout Finding.Shrinking
  ) throws(LimitReached) -> Execution? {
    for _ in 0..<Self.mostTries {
      let execution = try count(&shrinking, running: test)
      if !execution.wasDisturbed, execution.divergence?.isLike(divergence) ?? false { return execution }
    }
    return nil
  }

  private mutating func count(
    _ shrinking: inout Finding.Shrinking, running test: TestCase
  ) throws(LimitReached) -> Execution {
    let before = runner.events
    defer {
      shrinking.runs += 1
      shrinking.events += runner.events - before
      status.extraEvents += runner.events - before
    }
    do {
      return try runner.run(test)
    } catch {
      if error.symptom == .safetyLimit { throw LimitReached(reason: error.detail) }
      edge.trouble(error)
      status.labFaults += 1
      return Execution()
    }
  }

  /// Runs the test again from a reset until it is clear how sure it is.
  private mutating func confirm(_ finding: inout Finding) throws(LimitReached) {
    var tries = 0
    var unused = Finding.Shrinking()
    while !finding.confirmation.isDecided, finding.confirmation.runs < mostConfirmations,
      tries < 10 * mostConfirmations, !edge.isStopped()
    {
      tries += 1
      status.phase = "confirming finding \(finding.number): \(finding.confirmation)"
      edge.progress(status)
      let execution = try count(&unused, running: finding.test)
      let isShown = execution.divergence?.signature == finding.signature
      if execution.wasDisturbed {
        finding.confirmation.countDisturbed()
      } else {
        finding.confirmation.count(isShown: isShown)
      }
    }
  }
}
