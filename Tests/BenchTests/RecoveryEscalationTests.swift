@testable import Bench
import Basics
import TestSupport
import Testing

/// A dongle that comes back only by one step, in virtual time.
private struct StubbornDongle: RecoverableTransport {
  var now = Instant.zero
  var isTransportLost = false
  /// What helps; `nil` for nothing.
  var cure: RecoveryStep?
  /// How long each step takes, where it is not as long as it may.
  var duration: Interval?
  var tried: [RecoveryStep] = []
  var lines: [String] = []
  var attempts: [RecoveryEscalation.Attempt] = []

  mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String? {
    tried.append(step)
    now = duration.map { now + $0 } ?? limit
    return step == cure ? nil : "it does not answer"
  }

  mutating func note(_ line: String, _ attempt: RecoveryEscalation.Attempt?) {
    lines.append(line)
    if let attempt { attempts.append(attempt) }
  }
}

extension RecoveryEscalation {
  /// Climbs and gives what was tried, and the lines of the journal.
  fileprivate mutating func climb(
    _ dongle: inout StubbornDongle
  ) -> (works: Bool, tried: [RecoveryStep], lines: [String]) {
    dongle.tried = []
    dongle.lines = []
    let works = climb(&dongle) as Bool
    return (works, dongle.tried, dongle.lines)
  }
}

@Suite("The escalation by which a controller comes back")
struct RecoveryEscalationTests {
  /// Controllers, what helps them, and what is tried for that.
  // swift-format-ignore
  static let climbs: [(hasUSBReset: Bool, hasPower: Bool, isTransportLost: Bool, cure: RecoveryStep?, tried: [RecoveryStep])] = [
    (false, false, false, .reconnect, [.reconnect]),
    (false, false, false, .reopen, [.reconnect, .hciReset, .reopen]),
    (false, false, false, nil, [.reconnect, .hciReset, .reopen]),
    (false, false, true, .reopen, [.reopen]),
    (false, true, true, nil, [.reopen, .powerCycle]),
    (true, false, false, nil, [.reconnect, .hciReset, .reopen, .usbReset]),
    (true, true, true, .usbReset, [.reopen, .usbReset]),
    (true, true, false, .powerCycle, [.reconnect, .hciReset, .reopen, .usbReset, .powerCycle]),
  ]

  @Test("each step that there is is tried once, in order, until one helps", arguments: climbs.indices)
  func climb(index: Int) {
    let (hasUSBReset, hasPower, isTransportLost, cure, tried) = Self.climbs[index]
    var escalation = RecoveryEscalation(hasUSBReset: hasUSBReset, powerSettles: hasPower ? .seconds(3) : nil)
    var dongle = StubbornDongle(isTransportLost: isTransportLost, cure: cure)
    let result = escalation.climb(&dongle)
    expect(result.tried, tried)
    expect(result.works, cure != nil)
    expect(escalation.isOutOfUse, cure == nil)
    expect(result.lines.count, tried.count + (cure == nil ? 1 : 0))
  }

  @Test("every try is a line with its place, its time and what came of it")
  func lines() {
    var escalation = RecoveryEscalation(hasUSBReset: false, powerSettles: nil)
    var dongle = StubbornDongle(cure: .hciReset, duration: .milliseconds(1234))
    expect(
      escalation.climb(&dongle).lines,
      [
        "recovery, step 1 of 3: reconnect failed after 1.234 s: it does not answer",
        "recovery, step 2 of 3: HCI reset helped, after 1.234 s",
      ])
    dongle.cure = nil
    expect(
      escalation.climb(&dongle).lines.last, "recovery: no step is left, the controller is out of use")
  }

  @Test("with every step taking as long as it may, a hung dongle is back within twenty seconds")
  func time() {
    var escalation = RecoveryEscalation(hasUSBReset: true, powerSettles: .seconds(3))
    var dongle = StubbornDongle(cure: .powerCycle)
    expect(escalation.climb(&dongle).works, true)
    expect(dongle.now, .zero + .seconds(20))
  }

  @Test("what was tried twice within an hour is passed over, and that is said")
  func escalation() {
    var escalation = RecoveryEscalation(hasUSBReset: true, powerSettles: .seconds(3))
    var dongle = StubbornDongle(cure: .hciReset, duration: .seconds(1))
    for _ in 0..<2 { expect(escalation.climb(&dongle).tried, [.reconnect, .hciReset]) }
    dongle.cure = .reopen
    let result = escalation.climb(&dongle)
    expect(result.tried, [.reopen])
    expect(
      result.lines.first,
      "recovery: passed over, since it was tried enough in the last hour: reconnect (2 tries), HCI reset (2 tries)"
    )
    // An hour later all begins anew.
    dongle.now = dongle.now + .seconds(3600)
    dongle.cure = .reconnect
    expect(escalation.climb(&dongle).tried, [.reconnect])
  }

  @Test("the last step has six tries an hour; after that the controller is out of use, and stays so")
  func lastStep() {
    var escalation = RecoveryEscalation(hasUSBReset: true, powerSettles: .seconds(3))
    var dongle = StubbornDongle(cure: .powerCycle, duration: .seconds(1))
    for count in 1...6 {
      let result = escalation.climb(&dongle)
      expect(result.works, true)
      expect(result.tried.count, count <= 2 ? 5 : 1)
    }
    expect(escalation.climb(&dongle).tried, [])
    expect(escalation.isOutOfUse, true)
    dongle.now = dongle.now + .seconds(7200)
    expect(escalation.climb(&dongle).works, false)
  }

  @Test("what an earlier process tried counts")
  func recalled() {
    let now = BenchTime(wall: WallTime(nanoseconds: 0), boot: "b", uptime: .zero + .seconds(5000))
    var first = RecoveryEscalation(hasUSBReset: false, powerSettles: nil)
    var dongle = StubbornDongle(now: now.uptime, cure: .hciReset, duration: .milliseconds(200))
    for _ in 0..<2 {
      expect(first.climb(&dongle).works, true)
    }
    var second = RecoveryEscalation(hasUSBReset: false, powerSettles: nil)
    for attempt in dongle.attempts { second.recall(attempt.step, at: attempt.begin) }
    dongle.cure = .reopen
    expect(second.climb(&dongle).tried, [.reopen])
  }
}
