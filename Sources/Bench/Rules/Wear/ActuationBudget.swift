import Conformance
public import Basics

/// What a lock's motor and battery have been through of late, and what may be asked of them next.
///
/// It is filled from what is kept of the lock when a run begins, and with what happens while the run lasts: so every run
/// and every process keeps to the limits together with all before it. Time is that since the machine's start, which
/// goes on whatever happens to the calendar.
///
/// - An *hour* is any sixty minutes, and a *shift* any twelve hours, on end. No calendar and no time zone is asked, so that
///   there is no midnight on either side of which a budget can be had; and two shifts that begin at the same time of day,
///   and last up to twelve hours, do not share one.
/// - Of each budget one movement is kept for parking.
/// - After a jam the motor rests, also from parking.
/// - What the lock is going to do by itself, and was paid for in advance, counts as if it were now until it was seen.
/// - A battery that is low or falls fast stops everything but parking. An hour later cases may begin again, since
///   batteries are changed: what the lock says of them then counts before anything moves.
public struct ActuationBudget: Equatable, Sendable {
  /// What is to be done.
  public enum Purpose: Sendable {
    /// A case is to begin, of which nobody knows whether it moves anything.
    case begin
    /// The motor is to move.
    case movement
    /// The motor is to move, so that the lock is left as it should be.
    case park
  }

  /// An hour's length, in which ``LockLimits/perHour`` counts.
  public static let hour = Interval.seconds(3600)
  /// A shift's length, in which ``LockLimits/perShift`` counts.
  public static let shift = Interval.seconds(12 * 3600)
  /// How far back readings of the battery tell how fast it falls.
  public static let slopeWindow = Interval.seconds(3 * 3600)
  /// For how long a battery may sag under load.
  static let sag = Interval.seconds(600)
  /// How long a reading of the battery keeps cases from beginning.
  static let readingLife = hour
  /// How much later than its event says a movement may have begun: what the disk may take to keep it.
  public static let lateness = Interval.seconds(1)
  /// How many movements, and readings, are kept at least.
  private static let keep = 1024

  /// The movements, the oldest first.
  private var movements: [Instant] = []
  /// The movements that were paid for and are yet to be seen.
  public private(set) var awaited = 0
  /// Whether the lock is known to lock by itself after a while.
  public private(set) var isAutolockOn = false
  /// When the motor jammed last.
  public private(set) var lastJam: Instant?
  /// What the lock is owed by whoever moved it last; `nil` while it is as it is to be left.
  public private(set) var owed: OwedPark?
  private var readings: [Reading] = []

  /// What the battery was at a moment.
  private struct Reading: Equatable {
    var time: Instant
    var percent: Int
  }

  /// A ledger of a lock of which nothing is known.
  public init() {}
}

extension ActuationBudget {
  /// When the motor moved last.
  public var lastMovement: Instant? { movements.last }

  /// What the battery was when it was last read.
  public var battery: Int? { readings.last?.percent }

  /// How many movements were counted in a time up to now.
  public func count(in window: Interval, at now: Instant) -> Int {
    movements.count - firstIndex(after: now - window) + awaited
  }

  /// Takes in what happens now.
  public mutating func take(_ event: LockEvent, at now: Instant) {
    switch event.kind {
    // What sets autolock may have the lock move by itself, and moves nothing now.
    case .ownMovement, .movement("setAutolock"): foresee()
    case .movement: move(at: now)
    case .settled: settle(at: now)
    case .jam: jam(at: now)
    case .battery(let percent): read(battery: percent, at: now)
    case .served: serve()
    case .autolock(let isOn): isAutolockOn = isOn
    case .away(let goal, let autolock): owed = OwedPark(goal, autolock: autolock, since: event.time.wall)
    case .parked: owed = nil
    }
  }

  /// The motor was started only now: between counting and starting a busy machine may have let time pass.
  public mutating func start(at now: Instant) {
    if let last = movements.last, last < now { movements[movements.count - 1] = now }
  }

  /// Takes in movements that are about to begin.
  public mutating func move(_ times: Int = 1, at now: Instant) {
    for _ in 0..<times { movements.append(max(now, movements.last ?? now)) }
    guard movements.count >= 2 * Self.keep, movements[Self.keep] < now - Self.shift else { return }
    movements.removeFirst(Self.keep)
  }

  /// Takes in movements that the lock will make by itself, nobody knows when.
  public mutating func foresee(_ times: Int = 1) { awaited += times }

  /// Takes in that what the lock was to do by itself is done, or was not needed.
  public mutating func settle(at now: Instant) {
    move(awaited, at: now)
    awaited = 0
  }

  /// Takes in a jam or a stall.
  public mutating func jam(at now: Instant) { lastJam = max(now, lastJam ?? now) }

  /// Takes in what the battery is, in percent.
  public mutating func read(battery percent: Int, at now: Instant) {
    readings.append(Reading(time: now, percent: percent))
    guard readings.count >= 2 * Self.keep else { return }
    readings.removeFirst(Self.keep)
  }

  /// Takes in that a person saw to the lock: what was held against it is forgotten, and what was counted is not.
  public mutating func serve() {
    lastJam = nil
    readings = []
  }

  /// Whether something is held against the lock that ``serve()`` forgets.
  public func isHeldBack(under limits: LockLimits, at now: Instant) -> Bool {
    lastJam.map { now < $0 + limits.coolDown } ?? false || batteryRefusal(under: limits) != nil
  }

  /// The index of the first movement after a moment.
  private func firstIndex(after moment: Instant) -> Int {
    var (low, high) = (0, movements.count)
    while low < high {
      let middle = (low + high) / 2
      if movements[middle] > moment { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

// MARK: - The rules

extension ActuationBudget {
  /// Why something may not be done now.
  public struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The limit.
    public enum Limit: Equatable, Sendable {
      case gap(Interval)
      case coolDown(Interval)
      case hour(used: Int, of: Int)
      case shift(used: Int, of: Int)
      case batteryFloor(Int, floor: Int)
      case batterySlope(Int, within: Interval, slope: Int)
    }

    /// The limit.
    public var limit: Limit
    /// When it may be done, unless something else hinders it then; ``Basics/Instant/never`` where time alone does
    /// not help.
    public var until: Instant

    public var description: String {
      switch limit {
      case .gap(let gap): "the motor rests \(gap) after each movement"
      case .coolDown(let time): "the motor rests \(time) after a jam"
      case .hour(let used, let budget):
        "\(used) movements were made in the last hour, of which \(budget) may be made, one of them parking"
      case .shift(let used, let budget):
        "\(used) movements were made in the last twelve hours, of which \(budget) may be made, one of them parking"
      case .batteryFloor(let percent, let floor):
        "the battery is at \(percent) %, and below \(floor) % the lock is left alone"
      case .batterySlope(let lost, let time, let slope):
        "the battery lost \(lost) % in \(Self.minutes(time)) min, and with more than \(slope) % an hour the lock is left "
          + "alone"
      }
    }

    private static func minutes(_ time: Interval) -> Int64 { time.nanoseconds / 60_000_000_000 }
  }

  /// Why something may not be done now; `nil` when it may. Of several reasons it is the one that lasts longest.
  ///
  /// - Parameter cost: how many movements it takes.
  public func refusal(
    of cost: Int = 1, for purpose: Purpose = .movement, under limits: LockLimits, at now: Instant
  ) -> Refusal? {
    var all: [Refusal] = []
    if purpose != .park, let refusal = batteryRefusal(for: purpose, under: limits, at: now) {
      all.append(refusal)
    }
    if purpose != .begin {
      let kept = purpose == .park ? 0 : 1
      if let budget = limits.perShift,
        let until = wait(for: cost + kept, of: budget, in: Self.shift, at: now)
      {
        all.append(Refusal(limit: .shift(used: count(in: Self.shift, at: now), of: budget), until: until))
      }
      if let budget = limits.perHour,
        let until = wait(for: cost + kept, of: budget, in: Self.hour, at: now)
      {
        all.append(Refusal(limit: .hour(used: count(in: Self.hour, at: now), of: budget), until: until))
      }
      if let jam = lastJam, now < jam + limits.coolDown {
        all.append(Refusal(limit: .coolDown(limits.coolDown), until: jam + limits.coolDown))
      }
      if let last = lastMovement, now < last + limits.gap {
        all.append(Refusal(limit: .gap(limits.gap), until: last + limits.gap))
      }
    }
    // The first of those that last equally long.
    return all.reduce(nil) { longest, next in
      longest.map { $0.until < next.until ? next : $0 } ?? next
    }
  }

  /// Until when movements have to wait for a budget; `nil` when there is room for them.
  private func wait(for cost: Int, of budget: Int, in window: Interval, at now: Instant) -> Instant? {
    let first = firstIndex(after: now - window)
    let excess = movements.count - first + awaited + cost - budget
    guard excess > 0 else { return nil }
    // What does not fit with the window empty never fits.
    guard first + excess <= movements.count else { return .never }
    return movements[first + excess - 1] + window
  }

  /// Why everything but parking is stopped because of the battery, as it was last read; `nil` where nothing is.
  public func batteryRefusal(under limits: LockLimits) -> Refusal? {
    guard let last = readings.last else { return nil }
    if let floor = limits.batteryFloor, last.percent < floor {
      return Refusal(limit: .batteryFloor(last.percent, floor: floor), until: .never)
    }
    if let slope = limits.batterySlope, let (lost, time) = batteryLoss {
      let span = max(time, Self.hour)
      if lost > 0, Double(lost) * Self.hour.seconds > Double(slope) * span.seconds {
        return Refusal(limit: .batterySlope(lost, within: time, slope: slope), until: .never)
      }
    }
    return nil
  }

  /// How many percent of the battery are lost in an hour, going by the readings of ``slopeWindow``; `nil` where there is
  /// but one. In less than an hour as much may be lost as in an hour.
  public var batterySlope: Double? {
    guard let (lost, time) = batteryLoss, time > .zero else { return nil }
    return Double(max(lost, 0)) * Self.hour.seconds / max(time, Self.hour).seconds
  }

  /// How many percent the battery lost up to its last reading, and in which time.
  private var batteryLoss: (percent: Int, time: Interval)? {
    guard let last = readings.last,
      let first = readings.first(where: { $0.time >= last.time - Self.slopeWindow })
    else { return nil }
    // A battery at work sags for a while: the best that it showed of late counts.
    let best = readings.lazy.filter { $0.time >= last.time - Self.sag }.map(\.percent).max()
    return (first.percent - (best ?? last.percent), last.time - first.time)
  }

  private func batteryRefusal(
    for purpose: Purpose, under limits: LockLimits, at now: Instant
  ) -> Refusal? {
    guard let last = readings.last, var refusal = batteryRefusal(under: limits) else { return nil }
    guard purpose == .begin else { return refusal }
    refusal.until = last.time + Self.readingLife
    return now < refusal.until ? refusal : nil
  }
}

// MARK: - From the disk

extension ActuationBudget {
  /// Fills a budget from what was kept of a lock, in its order.
  ///
  /// - Parameters:
  ///   - events: all that are not too old to count, and of those before them the latest of each kind that counts no movement.
  ///   - now: when.
  public init(_ events: [LockEvent], at now: BenchTime) {
    self.init()
    let now = events.reduce(now) { $0.held(to: $1.time) }
    var latest = Instant(nanoseconds: .min)
    for event in events {
      // None is older than the one before it.
      latest = max(latest, event.time.place(at: now))
      guard event.isMovement else {
        take(event, at: latest)
        continue
      }
      let begin = min(latest + Self.lateness, now.uptime)
      // What the lock was to do by itself, and was never seen, is done after so long.
      if begin > now.uptime - Self.shift { take(event, at: begin) } else { move(at: begin) }
    }
  }
}
