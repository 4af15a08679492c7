import Journal
import Conformance

/// Checks whether a new device shows a finding that a device with a history has shown.
///
/// If an earlier test has damaged the device, every shorter test shows the damage, too. A new device shows
/// whether the test itself causes the failure, and if not, which of the tests before it are needed. For a
/// program that resets itself, the new device is the same program, restarted.
extension Campaign {
  /// Tries a finding on new devices, if there are any: with its test, with the test in which it was found, or
  /// with one that reproduces the effects of the tests before.
  mutating func repeatOnOthers(_ finding: inout Finding, foundBy test: TestCase) throws(LimitReached) {
    finding.past = .unknown
    guard let past = history, (try? edge.another()) != nil, !edge.isStopped() else { return }
    // After a stop request, some tests were not tried.
    defer { if finding.past == .needed, edge.isStopped() { finding.past = .unknown } }
    let tested = runner
    defer {
      (runner, history) = (tested, past)
      if keepsRunning { startAfresh() }
    }
    runner.useNewDevices(from: edge.another)
    status.phase = "repeating finding \(finding.number) on other devices"
    let isConfirmed = finding.confirmation.verdict == .confirmed
    if finding.divergence.isInPreparation, try repeatPreparation(&finding) { return }
    if isConfirmed, finding.shrinking.isMinimal, let run = try calmRun(of: finding.test),
      run.divergence?.isLike(finding.divergence) == true
    {
      // A program is expected to leave nothing behind.
      finding.past = keepsRunning ? nil : .irrelevant
      return
    }
    // From here on each test has a new device.
    history = nil
    finding.past = .needed
    let length = finding.test.choices.count
    // The budget of shrinking on this device applies once more to others.
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

  /// Continues with the device that keeps running: as the other device, it was restarted meanwhile.
  private mutating func startAfresh() {
    history = DeviceHistory(runner.alphabet)
    // If the restart fails, the next test shows the fault.
    try? runner.lockstep.restart()
  }

  /// Prepares new devices like this one, with an empty test; returns whether they show the finding.
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
  /// reproduce the finding on a new device.
  ///
  /// The tests first run separately, each from its own start, since that is closest to the original run.
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
