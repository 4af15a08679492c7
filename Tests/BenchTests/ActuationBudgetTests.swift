@testable import Bench
import Controllers
import Basics
import TestSupport
import Testing

private func minutes(_ count: Int64) -> Interval { .seconds(60 * count) }

@Suite("What a lock may be asked of next")
struct ActuationBudgetTests {
  private let start = Instant.zero + minutes(10_000)

  @Test("a motor that never moved may move, and one that did rests")
  func gap() {
    let limits = LockLimits(gap: .seconds(2))
    var ledger = ActuationBudget()
    expect(ledger.refusal(under: limits, at: start), nil)
    ledger.move(at: start)
    expect(
      ledger.refusal(under: limits, at: start + .milliseconds(1999)),
      .init(limit: .gap(.seconds(2)), until: start + .seconds(2)))
    expect(ledger.refusal(for: .begin, under: limits, at: start), nil)
    expect(ledger.refusal(under: limits, at: start + .seconds(2)), nil)
  }

  @Test("a motor rests from when it was started, and not from when it was counted")
  func started() {
    let limits = LockLimits(gap: .seconds(2))
    var ledger = ActuationBudget()
    ledger.start(at: start)
    expect(ledger.lastMovement, nil)
    ledger.move(at: start)
    ledger.start(at: start + .milliseconds(600))
    expect(ledger.refusal(under: limits, at: start + .seconds(2))?.until, start + .milliseconds(2600))
    // Nothing makes it rest less.
    ledger.start(at: start)
    expect(ledger.lastMovement, start + .milliseconds(600))
  }

  @Test("of the budget of any hour one movement is kept for parking, and it slides")
  func hour() {
    let limits = LockLimits(gap: .zero, perHour: 4)
    var ledger = ActuationBudget()
    for minute in [0, 10, 20] as [Int64] {
      expect(ledger.refusal(under: limits, at: start + minutes(minute)), nil)
      ledger.move(at: start + minutes(minute))
    }
    let refusal = ledger.refusal(under: limits, at: start + minutes(30))
    expect(refusal, .init(limit: .hour(used: 3, of: 4), until: start + minutes(60)))
    expect(
      refusal?.description,
      "3 movements were made in the last hour; the limit is 4, including one for parking")
    // An unlock that comes back by itself takes two.
    expect(ledger.refusal(of: 2, under: limits, at: start + minutes(30))?.until, start + minutes(70))
    expect(ledger.refusal(for: .park, under: limits, at: start + minutes(30)), nil)
    ledger.move(at: start + minutes(30))
    expect(ledger.refusal(for: .park, under: limits, at: start + minutes(31))?.until, start + minutes(60))
    // The first has slid out, and the room is the return's.
    expect(ledger.refusal(under: limits, at: start + minutes(60))?.until, start + minutes(70))
    expect(ledger.refusal(under: limits, at: start + minutes(70)), nil)
    expect(ledger.count(in: ActuationBudget.hour, at: start + minutes(70)), 2)
  }

  @Test("a budget without room for anything beside the return never allows anything")
  func narrow() {
    let limits = LockLimits(gap: .zero, perHour: 1)
    expect(ActuationBudget().refusal(under: limits, at: start)?.until, .never)
    expect(ActuationBudget().refusal(for: .park, under: limits, at: start), nil)
  }

  @Test("a night is any twelve hours, and the reason that lasts longest is told")
  func night() {
    let limits = LockLimits(gap: .zero, perHour: 3, perShift: 4)
    var ledger = ActuationBudget()
    for minute in [0, 100, 101] as [Int64] { ledger.move(at: start + minutes(minute)) }
    expect(
      ledger.refusal(under: limits, at: start + minutes(102)),
      .init(limit: .shift(used: 3, of: 4), until: start + minutes(720)))
    expect(ledger.refusal(under: limits, at: start + minutes(720)), nil)
  }

  @Test("after a jam the motor rests, from parking too, until somebody saw to the lock")
  func jam() {
    let limits = LockLimits(coolDown: minutes(5))
    var ledger = ActuationBudget()
    ledger.jam(at: start)
    let refusal = ActuationBudget.Refusal(limit: .coolDown(minutes(5)), until: start + minutes(5))
    for purpose in [ActuationBudget.Purpose.movement, .park] {
      expect(ledger.refusal(for: purpose, under: limits, at: start + minutes(4)), refusal)
      expect(ledger.refusal(for: purpose, under: limits, at: start + minutes(5)), nil)
    }
    expect(ledger.refusal(for: .begin, under: limits, at: start), nil)
    ledger.serve()
    expect(ledger.refusal(under: limits, at: start), nil)
  }

  /// Readings by the minute, what they mean an hour and a half after the first under a floor of 20 and a slope of 5, and
  /// how many percent that is in an hour.
  // swift-format-ignore
  static let batteries: [(readings: [(Int64, Int)], limit: ActuationBudget.Refusal.Limit?, slope: Double?)] = [
    ([], nil, nil),
    ([(0, 20)], nil, nil),
    ([(0, 19)], .batteryFloor(19, floor: 20), nil),
    ([(0, 10), (80, 90)], nil, 0),
    ([(0, 60), (60, 55)], nil, 5),
    ([(0, 60), (60, 54)], .batterySlope(6, within: minutes(60), slope: 5), 6),
    ([(0, 60), (30, 54)], .batterySlope(6, within: minutes(30), slope: 5), 6),
    ([(0, 60), (30, 55)], nil, 5),
    // It sagged and came back.
    ([(0, 60), (60, 60), (65, 50)], nil, 0),
    ([(0, 60), (60, 50), (65, 60)], nil, 0),
    // Half an hour for each percent of ten is slow enough.
    ([(-180, 70), (0, 61), (60, 60), (90, 58)], nil, 2),
  ]

  @Test(
    "a battery that is low or falls fast stops everything but parking",
    arguments: batteries.indices)
  func battery(index: Int) {
    let (readings, limit, slope) = Self.batteries[index]
    let limits = LockLimits(batteryFloor: 20, batterySlope: 5)
    var ledger = ActuationBudget()
    for (minute, percent) in readings { ledger.read(battery: percent, at: start + minutes(minute)) }
    let now = start + minutes(90)
    expect(ledger.refusal(under: limits, at: now), limit.map { .init(limit: $0, until: .never) })
    expect(ledger.refusal(for: .park, under: limits, at: now), nil)
    expect(ledger.batteryRefusal(under: limits)?.limit, limit)
    expect(ledger.batterySlope, slope)
    guard limit != nil, let last = readings.last else { return }
    // Cases begin again an hour after the reading, since it may be another battery by then.
    let end = start + minutes(last.0 + 60)
    expect(ledger.refusal(for: .begin, under: limits, at: end)?.until, nil)
    expect(ledger.refusal(for: .begin, under: limits, at: end - .seconds(1))?.until, end)
  }

  @Test("what the lock will do by itself counts until it was seen")
  func own() {
    let limits = LockLimits(gap: .zero, perHour: 4)
    var ledger = ActuationBudget()
    ledger.move(at: start)
    ledger.expectMovements()
    expect(ledger.count(in: ActuationBudget.hour, at: start + minutes(600)), 1)
    ledger.move(at: start + minutes(1))
    expect(ledger.refusal(under: limits, at: start + minutes(59))?.until, start + minutes(60))
    ledger.resolveExpectedMovements(at: start + minutes(59))
    expect(ledger.awaited, 0)
    expect(ledger.refusal(under: limits, at: start + minutes(59))?.until, start + minutes(60))
    expect(ledger.count(in: ActuationBudget.hour, at: start + minutes(118)), 1)
  }

  @Test("a ledger keeps as much as it needs, however long it runs")
  func long() {
    let limits = LockLimits(gap: .seconds(1), perShift: 20_000)
    var ledger = ActuationBudget()
    for second in 0..<100_000 as Range<Int64> {
      ledger.move(at: start + .seconds(second))
      ledger.read(battery: 50, at: start + .seconds(second))
    }
    let now = start + .seconds(100_000)
    expect(ledger.count(in: ActuationBudget.shift, at: now), 43_199)
    expect(ledger.refusal(under: limits, at: now)?.limit, .shift(used: 43_199, of: 20_000))
  }
}

@Suite("What is kept of a lock")
struct LockEventTests {
  private let now = BenchTime(
    wall: WallTime(text: "2026-11-21T03:40:00.123Z")!, boot: "3f2a", uptime: .zero + .milliseconds(12_345_678)
  )

  @Test("a moment of the calendar is read back as it was written", arguments: 0..<200)
  func wallTime(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let time = WallTime(nanoseconds: Int64.random(in: 0...4_000_000_000_000, using: &random) * 1_000_000)
    expect(WallTime(text: time.description), time)
    #expect(Day(unixTime: time.unixTime).description == time.description.prefix(10))
  }

  /// Movements, by when they were counted, and how old they are held to be: a second less, in which the motor may have been
  /// waiting for the disk.
  // swift-format-ignore
  static let ages: [(wall: String, boot: String, uptime: Int64, age: Interval)] = [
    // By the clock that nobody sets, whatever the calendar says.
    ("2026-11-21T03:39:59.123Z", "3f2a", 12_340_678, .seconds(4)),
    ("2031-01-01T00:00:00Z", "3f2a", 12_340_678, .seconds(4)),
    ("2001-01-01T00:00:00Z", "3f2a", 12_340_678, .seconds(4)),
    ("2026-11-21T03:40:00Z", "3f2a", 99_999_000, .zero),
    // Of an earlier start: by the calendar, but not younger than this start.
    ("2026-11-20T03:40:00.123Z", "ffff", 5000, .seconds(86_399)),
    ("2026-11-21T03:39:59.123Z", "ffff", 5000, .milliseconds(12_344_678)),
    ("2031-01-01T00:00:00Z", "ffff", 5000, .milliseconds(12_344_678)),
  ]

  @Test("how old a movement is", arguments: ages.indices)
  func age(index: Int) {
    let (wall, boot, uptime, age) = Self.ages[index]
    let time = BenchTime(wall: WallTime(text: wall)!, boot: boot, uptime: .zero + .milliseconds(uptime))
    let ledger = ActuationBudget([LockEvent(.movement("lock"), at: time)], at: now)
    expect(ledger.lastMovement.map { now.uptime - $0 }, age)
  }

  @Test("a calendar that was set forward since the machine's start makes nothing older")
  func setForward() {
    // It was behind by three hours when the machine started, and was set right after both movements.
    let behind = now.wall + .seconds(-3 * 3600)
    let start = behind + (Instant.zero - now.uptime)
    let before = BenchTime(wall: start + .seconds(-600), boot: "ffff", uptime: .zero)
    let since = BenchTime(wall: start + .seconds(100), boot: now.boot, uptime: .zero + .seconds(100))
    let window = now.uptime - Instant.zero + .seconds(600)
    /// How many movements are counted of one before the start, and what was kept since.
    func count(_ kinds: LockEvent.Kind...) -> Int {
      let events = [LockEvent(.movement("lock"), at: before)] + kinds.map { LockEvent($0, at: since) }
      return ActuationBudget(events, at: now).count(in: window, at: now.uptime)
    }
    // A note tells it as well; where nothing was kept in between, the calendar is believed.
    expect([count(.movement("lock")), count(.parked), count()], [2, 1, 0])
  }

  @Test("what happened is taken in its order, and nothing is older than what was before it")
  func order() {
    func event(_ seconds: Int64, _ kind: LockEvent.Kind = .movement("lock")) -> LockEvent {
      LockEvent(kind, at: BenchTime(wall: now.wall, boot: "3f2a", uptime: .zero + .seconds(seconds)))
    }
    let ledger = ActuationBudget([event(12_000), event(11_000)], at: now)
    expect(ledger.count(in: .seconds(346), at: now.uptime), 2)
    let served = ActuationBudget(
      [event(10, .battery(57)), event(20, .jam("after lock")), event(30, .served), event(40, .battery(80))],
      at: now)
    expect([served.battery, served.lastJam == nil ? 0 : 1], [80, 0])
    let own = [event(12_000), event(12_000, .ownMovement)]
    expect(ActuationBudget(own, at: now).awaited, 1)
    let settled = ActuationBudget(own + [event(12_300, .settled)], at: now)
    expect([settled.awaited, settled.count(in: .seconds(60), at: now.uptime)], [0, 1])
    // What comes within the second that a movement is given for the disk comes after it all the same.
    expect(ActuationBudget(own + [event(12_000, .settled)], at: now).awaited, 0)
    expect(ActuationBudget([event(12_000, .movement("setAutolock"))], at: now).awaited, 1)
  }
}
