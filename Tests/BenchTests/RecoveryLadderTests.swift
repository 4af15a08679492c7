@testable import Bench
import Basics
import TestSupport
import Testing

/// A dongle that comes back only by one rung, in virtual time.
private struct StubbornDongle: RecoverableWay {
  var now = Instant.zero
  var isWayLost = false
  /// What helps; `nil` for nothing.
  var cure: RecoveryRung?
  /// How long each rung takes, where it is not as long as it may.
  var duration: Interval?
  var tried: [RecoveryRung] = []
  var lines: [String] = []
  var attempts: [RecoveryLadder.Attempt] = []

  mutating func attempt(_ rung: RecoveryRung, until limit: Instant) -> String? {
    tried.append(rung)
    now = duration.map { now + $0 } ?? limit
    return rung == cure ? nil : "it does not answer"
  }

  mutating func note(_ line: String, _ attempt: RecoveryLadder.Attempt?) {
    lines.append(line)
    if let attempt { attempts.append(attempt) }
  }
}

extension RecoveryLadder {
  /// Climbs and gives what was tried, and the lines of the journal.
  fileprivate mutating func climb(
    _ dongle: inout StubbornDongle
  ) -> (works: Bool, tried: [RecoveryRung], lines: [String]) {
    dongle.tried = []
    dongle.lines = []
    let works = climb(&dongle) as Bool
    return (works, dongle.tried, dongle.lines)
  }
}

@Suite("The ladder by which a controller comes back")
struct RecoveryLadderTests {
  /// Controllers, what helps them, and what is tried for that.
  // swift-format-ignore
  static let climbs: [(hasUSBReset: Bool, hasPower: Bool, isWayLost: Bool, cure: RecoveryRung?, tried: [RecoveryRung])] = [
    (false, false, false, .reconnect, [.reconnect]),
    (false, false, false, .reopen, [.reconnect, .hciReset, .reopen]),
    (false, false, false, nil, [.reconnect, .hciReset, .reopen]),
    (false, false, true, .reopen, [.reopen]),
    (false, true, true, nil, [.reopen, .powerCycle]),
    (true, false, false, nil, [.reconnect, .hciReset, .reopen, .usbReset]),
    (true, true, true, .usbReset, [.reopen, .usbReset]),
    (true, true, false, .powerCycle, [.reconnect, .hciReset, .reopen, .usbReset, .powerCycle]),
  ]

  @Test("each rung that there is is tried once, in order, until one helps", arguments: climbs.indices)
  func climb(index: Int) {
    let (hasUSBReset, hasPower, isWayLost, cure, tried) = Self.climbs[index]
    var ladder = RecoveryLadder(hasUSBReset: hasUSBReset, powerSettles: hasPower ? .seconds(3) : nil)
    var dongle = StubbornDongle(isWayLost: isWayLost, cure: cure)
    let result = ladder.climb(&dongle)
    expect(result.tried, tried)
    expect(result.works, cure != nil)
    expect(ladder.isOutOfUse, cure == nil)
    expect(result.lines.count, tried.count + (cure == nil ? 1 : 0))
  }

  @Test("every try is a line with its place, its time and what came of it")
  func lines() {
    var ladder = RecoveryLadder(hasUSBReset: false, powerSettles: nil)
    var dongle = StubbornDongle(cure: .hciReset, duration: .milliseconds(1234))
    expect(
      ladder.climb(&dongle).lines,
      [
        "recovery, rung 1 of 3: reconnect failed after 1.234 s: it does not answer",
        "recovery, rung 2 of 3: HCI reset helped, after 1.234 s",
      ])
    dongle.cure = nil
    expect(
      ladder.climb(&dongle).lines.last, "recovery: no rung is left, the controller is out of use")
  }

  @Test("with every rung taking as long as it may, a hung dongle is back within twenty seconds")
  func time() {
    var ladder = RecoveryLadder(hasUSBReset: true, powerSettles: .seconds(3))
    var dongle = StubbornDongle(cure: .powerCycle)
    expect(ladder.climb(&dongle).works, true)
    expect(dongle.now, .zero + .seconds(20))
  }

  @Test("what was tried twice within an hour is passed over, and that is said")
  func escalation() {
    var ladder = RecoveryLadder(hasUSBReset: true, powerSettles: .seconds(3))
    var dongle = StubbornDongle(cure: .hciReset, duration: .seconds(1))
    for _ in 0..<2 { expect(ladder.climb(&dongle).tried, [.reconnect, .hciReset]) }
    dongle.cure = .reopen
    let result = ladder.climb(&dongle)
    expect(result.tried, [.reopen])
    expect(
      result.lines.first,
      "recovery: passed over, since it was tried enough in the last hour: reconnect (2 tries), HCI reset (2 tries)"
    )
    // An hour later all begins anew.
    dongle.now = dongle.now + .seconds(3600)
    dongle.cure = .reconnect
    expect(ladder.climb(&dongle).tried, [.reconnect])
  }

  @Test("the last rung has six tries an hour; after that the controller is out of use, and stays so")
  func lastRung() {
    var ladder = RecoveryLadder(hasUSBReset: true, powerSettles: .seconds(3))
    var dongle = StubbornDongle(cure: .powerCycle, duration: .seconds(1))
    for count in 1...6 {
      let result = ladder.climb(&dongle)
      expect(result.works, true)
      expect(result.tried.count, count <= 2 ? 5 : 1)
    }
    expect(ladder.climb(&dongle).tried, [])
    expect(ladder.isOutOfUse, true)
    dongle.now = dongle.now + .seconds(7200)
    expect(ladder.climb(&dongle).works, false)
  }

  @Test("what an earlier process tried counts")
  func recalled() {
    let now = BenchTime(wall: WallTime(nanoseconds: 0), boot: "b", uptime: .zero + .seconds(5000))
    var first = RecoveryLadder(hasUSBReset: false, powerSettles: nil)
    var dongle = StubbornDongle(now: now.uptime, cure: .hciReset, duration: .milliseconds(200))
    var records: [String] = []
    for _ in 0..<2 {
      expect(first.climb(&dongle).works, true)
    }
    for attempt in dongle.attempts {
      let time = BenchTime(wall: now.wall, boot: "b", uptime: attempt.begin)
      records.append("\(WearLine(attempt.record, at: time))")
    }
    expect(records[0], "1970-01-01T00:00:00.000Z reconnect failed 200 ms @b+5000.000")
    var second = RecoveryLadder(hasUSBReset: false, powerSettles: nil)
    for record in records + ["nonsense", "1970-01-01T00:00:00.000Z lock @b+5000"] {
      guard let line = WearLine(text: record), let rung = RecoveryRung(record: line.text) else { continue }
      second.recall(rung, at: line.uptime)
    }
    dongle.cure = .reopen
    expect(second.climb(&dongle).tried, [.reopen])
  }
}
