@testable import Bench
import Basics
import TestSupport
import Testing

/// A bench whose processes die, whose machine is started again and whose calendar is set back, and a motor that knows when
/// it really moved.
private struct RestlessBench {
  var random: SeededGenerator
  let limits: LockLimits
  /// The true time.
  var now = Instant.zero
  /// What the calendar is behind.
  var lag = Interval.zero
  var boot = 0
  var started = Instant.zero
  var events: [LockEvent] = []
  var ledger = ActuationBudget()
  /// When the motor really moved, and which of it was asked for.
  var movements: [(time: Instant, isAsked: Bool)] = []
  var jams: [Instant] = []
  /// When the bolt comes back by itself.
  var returns: Instant?

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    limits = LockLimits(
      gap: .seconds(Int64.random(in: 0...40, using: &random)),
      perHour: Bool.random(using: &random) ? Int.random(in: 2...20, using: &random) : nil,
      perShift: Int.random(in: 2...60, using: &random),
      coolDown: .seconds(Int64.random(in: 0...2000, using: &random)))
    reopen()
  }

  var clock: BenchTime {
    BenchTime(
      wall: WallTime(nanoseconds: 1_700_000_000_000_000_000) + (now - .zero) + (.zero - lag),
      boot: "b\(boot)",
      uptime: .zero + (now - started))
  }

  mutating func pass(_ interval: Interval) {
    let end = now + interval
    if let moment = returns, moment <= end {
      now = moment
      movements.append((moment, false))
      returns = nil
      // Somebody may look, and then it is known.
      if Bool.random(using: &random) {
        events.append(LockEvent(.settled, at: clock))
        ledger.resolveExpectedMovements(at: clock.uptime)
      }
    }
    now = end
  }

  mutating func reopen() {
    ledger = ActuationBudget(events, at: clock)
  }

  mutating func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: reopen()
    case 1:
      // The machine is off for a while.
      boot += 1
      pass(.seconds(Int64.random(in: 0...600, using: &random)))
      started = now
      reopen()
    case 2: lag = lag + .seconds(Int64.random(in: 0...100_000, using: &random))
    case 3:
      // A process dies once a movement is counted, before the motor moves.
      events.append(LockEvent(.movement("unlock"), at: clock))
      reopen()
    case 4:
      events.append(LockEvent(.jam("it is stuck"), at: clock))
      ledger.jam(at: clock.uptime)
      jams.append(now)
    default: move()
    }
    pass(.milliseconds([1, 1000, 30_000, 400_000][Int.random(in: 0..<4, using: &random)]))
  }

  mutating func move() {
    let returnsByItself = Int.random(in: 0..<5, using: &random) == 0
    let isParking = Int.random(in: 0..<8, using: &random) == 0
    let cost = returnsByItself && !isParking ? 2 : 1
    guard
      ledger.refusal(of: cost, for: isParking ? .park : .movement, under: limits, at: clock.uptime) == nil
    else { return }
    events.append(LockEvent(.movement("unlock"), at: clock))
    ledger.move(at: clock.uptime)
    if cost == 2 {
      events.append(LockEvent(.ownMovement, at: clock))
      ledger.expectMovements()
    }
    if Int.random(in: 0..<10, using: &random) == 0 { reopen() }
    movements.append((now, true))
    if cost == 2, returns == nil { returns = now + .seconds(Int64.random(in: 1...3000, using: &random)) }
  }

  /// What is wrong, counted without the ledger.
  var breach: String? {
    let times = movements.map(\.time)
    for (length, budget) in [
      (ActuationBudget.hour, limits.perHour), (ActuationBudget.shift, limits.perShift),
    ] {
      guard let budget else { continue }
      for end in times {
        let count = times.filter { $0 > end - length && $0 <= end }.count
        if count > budget { return "\(count) movements in \(length) up to \(end), of \(budget)" }
      }
    }
    let asked = movements.filter(\.isAsked).map(\.time)
    for (earlier, later) in zip(asked, asked.dropFirst()) where later - earlier < limits.gap {
      return "\(later - earlier) between movements at \(later)"
    }
    for jam in jams where asked.contains(where: { $0 >= jam && $0 < jam + limits.coolDown }) {
      return "a movement soon after the jam at \(jam)"
    }
    return nil
  }
}

@Suite("A lock among processes that die")
struct WearPropertyTests {
  @Test(
    "whatever dies, starts anew or sets the calendar back, no limit is passed, counted by the motor itself",
    arguments: 0..<150)
  func limits(seed: UInt64) {
    var bench = RestlessBench(seed: seed)
    for _ in 0..<300 {
      bench.step()
      #expect(bench.events.count(where: \.isMovement) >= bench.movements.count)
    }
    expect(bench.breach, nil)
  }

  @Test("the tests above are not about a motor that never moves, and would notice a ledger that forgets")
  func canary() {
    var moved = 0
    var breaches = 0
    for seed in 0..<40 as Range<UInt64> {
      var bench = RestlessBench(seed: seed)
      for step in 0..<300 {
        bench.step()
        if step % 10 == 0 { bench.ledger = ActuationBudget() }
      }
      moved += bench.movements.count
      breaches += bench.breach == nil ? 0 : 1
    }
    #expect(moved > 500)
    #expect(breaches > 20)
  }
}
