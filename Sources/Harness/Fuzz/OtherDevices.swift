import Journal
import Conformance

/// Whether another device than the one that lives on shows a finding, too: one of which nothing was asked before.
///
/// What went wrong with a device for good, in a test long before, is there for every shorter test that is tried on it.
/// Another device says whether it is: and where it does not show the finding, which of the tests before it takes. Of a
/// program that resets itself another one is the same, started afresh.
extension Campaign {
  /// Lets other devices show a finding, each of them new, where they can be had: by its test, by the test that came upon
  /// it, or by one that brings about what this device had left from those before.
  mutating func repeatOnOthers(_ finding: inout Finding, foundBy test: TestCase) throws(LimitReached) {
    finding.past = .unknown
    guard let past = history, (try? edge.another()) != nil, !edge.isStopped() else { return }
    // After a stop request not all were tried.
    defer { if finding.past == .needed, edge.isStopped() { finding.past = .unknown } }
    let tested = runner
    defer {
      (runner, history) = (tested, past)
      if keepsRunning { startAfresh() }
    }
    runner.takeOthers(from: edge.another)
    status.phase = "repeating finding \(finding.number) on other devices"
    let isConfirmed = finding.confirmation.verdict == .confirmed
    if finding.divergence.isInPreparation, try repeatPreparation(&finding) { return }
    if isConfirmed, finding.shrinking.isMinimal, let run = try calmRun(of: finding.test),
      run.divergence?.isLike(finding.divergence) == true
    {
      // That a program leaves nothing behind goes without saying.
      finding.past = keepsRunning ? nil : .irrelevant
      return
    }
    // From here on nothing is left of one test for the next.
    history = nil
    finding.past = .needed
    let length = finding.test.choices.count
    // What may be done to shrink it on this device may be done once more on others.
    let own = finding.shrinking
    var wanted = finding
    wanted.shrinking = Finding.Shrinking()
    for candidate in [finding.test, test] where !candidate.choices.isEmpty {
      guard let other = try self.finding(wanted, by: candidate) else { continue }
      take(other)
      return
    }
    if let whole = joined(to: test, finding.divergence, behind: past.tests),
      let other = try self.finding(wanted, by: whole)
    {
      take(other)
    }

    func take(_ other: Finding) {
      finding = other
      finding.shrinking.runs += own.runs
      finding.shrinking.events += own.events
      finding.past =
        isConfirmed && length < other.test.choices.count ? .included(own: length) : .irrelevant
    }
  }

  /// Goes on with a device that keeps running, and that was started afresh meanwhile for others' tests.
  private mutating func startAfresh() {
    history = DeviceHistory(runner.alphabet)
    // What is wrong with it shows in the next test.
    try? runner.lockstep.restart()
  }

  /// Makes other devices ready as this one was, with nothing to be done after it; says whether they show the finding.
  private mutating func repeatPreparation(_ finding: inout Finding) throws(LimitReached) -> Bool {
    let known = runner.knownPreparationFaults
    runner.knownPreparationFaults = []
    defer { runner.knownPreparationFaults = known }
    var bare = finding
    bare.test.choices = [Choice(runner.alphabet.settle)]
    bare.actions = [(.settle, false)]
    bare.shrinking.end = Finding.minimal
    bare.past = .irrelevant
    bare.confirmation = Confirmation()
    try confirm(&bare)
    guard bare.confirmation.verdict == .confirmed else { return false }
    finding = bare
    return true
  }

  /// One test that combines the necessary earlier tests and the test itself; `nil` if even all of them do not
  /// reproduce the finding on another device.
  ///
  /// They are first run separately, each from its own start, as before: that is closest to what happened.
  private mutating func joined(
    to test: TestCase, _ divergence: Divergence, behind tests: [TestCase]
  ) -> TestCase? {
    let begin = edge.elapsed()
    let eventsBefore = status.extraEvents
    var shown: DeviceHistory?

    func isShown(behind tests: [TestCase]) -> Bool {
      let before = runner.events
      defer { status.extraEvents += runner.events - before }
      var history = DeviceHistory(runner.alphabet)
      let execution = try? runner.run(inTurn: tests + [test]) { history.add($0, madeReadyBy: $1) }
      guard execution?.divergence?.isLike(divergence) == true else { return false }
      shown = history
      return true
    }

    var count = min(1, tests.count)
    while !isShown(behind: tests.suffix(count)) {
      if count == tests.count { return nil }
      count = min(3 * count, tests.count)
    }
    var needed = Array(tests.suffix(count))
    var size = max(1, needed.count / 2)
    while size > 0 {
      var index = 0
      while index < needed.count {
        if stop(shrinking: status.extraEvents - eventsBefore, since: begin) != nil { return shown?.whole }
        var fewer = needed
        fewer.removeSubrange(index..<min(index + size, needed.count))
        if isShown(behind: fewer) { needed = fewer } else { index += size }
      }
      size /= 2
    }
    return shown?.whole
  }
}
