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
    account()
    finding.foundAfter = (status.lockTime, status.actuations)
    var limit: LimitReached?
    do {
      try shrink(execution, &finding)
      if let known = findings.firstIndex(where: { $0.test == finding.test }) {
        findings[known].aliases.append(finding.signature)
        findings[known].count += 1
        status.repeats += 1
        return
      }
      try confirm(&finding)
    } catch {
      // What was found is not lost with the right to look closer.
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

  /// Makes the test of a finding shorter as long as it fails alike.
  private mutating func shrink(
    _ execution: Execution, _ finding: inout Finding
  ) throws(LimitReached) {
    var failure = execution
    // What a lost link helped to bring about does not come out the same again: it is looked for without.
    if execution.wasDisturbed {
      guard let calm = try calmRun(of: finding.test, finding.divergence, &finding.shrinking) else {
        finding.shrinking.end = "not shrunk: it did not show again without a lost link"
        return
      }
      finding.take(calm)
      failure = calm
    }
    var shrinker = Shrinker(
      failure, of: finding.test, specification: runner.specification, alphabet: runner.alphabet,
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
        finding.take(result.execution)
        finding.test.start = candidate.start
      }
    }
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
      let isShown = execution.divergence?.isLike(finding.divergence) ?? false
      if execution.wasDisturbed {
        finding.confirmation.countDisturbed()
      } else {
        finding.confirmation.count(isShown: isShown)
      }
    }
  }
}

extension Finding {
  /// Takes a run that shows it as its test.
  fileprivate mutating func take(_ execution: Execution) {
    test.choices = execution.performed
    actions = execution.meaning
    if let last = execution.divergence { divergence = last }
  }
}
