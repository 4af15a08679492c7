import Conformance
public import Basics

/// The recent load on a lock's motor and battery, and what the limits allow next.
///
/// The budget starts from the lock's stored events and records what happens during the run, so that every run and
/// every process shares the limits with all earlier ones. Time is measured since the machine's start and does not
/// depend on the calendar.
///
/// - An *hour* is any sixty consecutive minutes, and a *shift* any twelve consecutive hours. Neither depends on the
///   calendar or a time zone, so that no midnight renews a budget; two shifts that begin at the same time of day and
///   last up to twelve hours do not share one.
/// - Each budget reserves one movement for parking.
/// - After a jam the motor rests; that delays parking too.
/// - A movement of the lock's own that was counted in advance counts as if it happened now, until it is seen.
/// - A battery that is low or falls fast stops everything except parking. An hour later cases may begin again, since
///   the battery may have been replaced: the next reading decides before anything moves.
public struct ActuationBudget: Equatable, Sendable {
  /// The purpose of a movement.
  public enum Purpose: Sendable {
    /// A case is about to begin; it is unknown whether it moves the motor.
    case begin
    /// The motor is to move.
    case movement
    /// The motor is to move in order to park the lock.
    case park
  }

  /// The window of ``LockLimits/perHour``.
  public static let hour = Interval.seconds(3600)
  /// The window of ``LockLimits/perShift``.
  public static let shift = Interval.seconds(12 * 3600)
  /// The window of battery readings from which the discharge rate follows.
  public static let slopeWindow = Interval.seconds(3 * 3600)
  /// How long the battery's voltage sag under load lasts.
  static let sagTime = Interval.seconds(600)
  /// How long a battery reading can prevent cases from beginning.
  static let readingLife = hour
  /// How much later than its event a movement may begin: the time that the disk may take to store the event.
  public static let lateness = Interval.seconds(1)
  /// The minimum number of movements, and of readings, to keep.
  private static let keep = 1024

  /// The movements, the oldest first.
  private var movements: [Instant] = []
  /// The number of movements that were counted in advance and not seen yet.
  public private(set) var awaited = 0
  /// Whether the lock is known to lock by itself after a while.
  public private(set) var isAutolockOn = false
  /// When the motor last jammed.
  public private(set) var lastJam: Instant?
  /// The pending park; `nil` while the lock is in its park position.
  public private(set) var pendingPark: PendingPark?
  private var readings: [Reading] = []

  /// The battery level at a moment.
  private struct Reading: Equatable {
    var time: Instant
    var percent: Int
  }

  /// The budget of a lock without events.
  public init() {}
}

extension ActuationBudget {
  /// When the motor last moved.
  public var lastMovement: Instant? { movements.last }

  /// The latest battery level, in percent.
  public var battery: Int? { readings.last?.percent }

  /// The number of movements in a window that ends now.
  public func count(in window: Interval, at now: Instant) -> Int {
    movements.count - firstIndex(after: now - window) + awaited
  }

  /// Records an event that happens now.
  public mutating func take(_ event: LockEvent, at now: Instant) {
    switch event.kind {
    // Setting autolock may cause a movement later, and causes none now.
    case .ownMovement, .movement("setAutolock"): expectMovements()
    case .movement: move(at: now)
    case .settled: resolveExpectedMovements(at: now)
    case .jam: jam(at: now)
    case .battery(let percent): read(battery: percent, at: now)
    case .served: serve()
    case .autolock(let isOn): isAutolockOn = isOn
    case .away(let goal, let autolock):
      pendingPark = PendingPark(goal, autolock: autolock, since: event.time.wall)
    case .parked: pendingPark = nil
    }
  }

  /// Records that the motor started only now: a busy machine may have delayed it after it was counted.
  public mutating func start(at now: Instant) {
    if let last = movements.last, last < now { movements[movements.count - 1] = now }
  }

  /// Records movements that are about to begin.
  public mutating func move(_ times: Int = 1, at now: Instant) {
    for _ in 0..<times { movements.append(max(now, movements.last ?? now)) }
    guard movements.count >= 2 * Self.keep, movements[Self.keep] < now - Self.shift else { return }
    movements.removeFirst(Self.keep)
  }

  /// Records movements that the lock will make by itself at an unknown time.
  public mutating func expectMovements(_ times: Int = 1) { awaited += times }

  /// Records that an autonomous movement took place, or is no longer expected.
  public mutating func resolveExpectedMovements(at now: Instant) {
    move(awaited, at: now)
    awaited = 0
  }

  /// Records a jam or a stall.
  public mutating func jam(at now: Instant) { lastJam = max(now, lastJam ?? now) }

  /// Records the battery level, in percent.
  public mutating func read(battery percent: Int, at now: Instant) {
    readings.append(Reading(time: now, percent: percent))
    guard readings.count >= 2 * Self.keep else { return }
    readings.removeFirst(Self.keep)
  }

  /// Records that a person serviced the lock: jams and battery readings are discarded, but movements still
  /// count.
  public mutating func serve() {
    lastJam = nil
    readings = []
  }

  /// Whether a jam or a battery reading that ``serve()`` would discard holds the lock back.
  public func isBlocked(under limits: LockLimits, at now: Instant) -> Bool {
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
  /// Why a movement or a case is refused.
  public struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of limit.
    public enum Limit: Equatable, Sendable {
      case gap(Interval)
      case coolDown(Interval)
      case hour(used: Int, of: Int)
      case shift(used: Int, of: Int)
      case batteryFloor(Int, floor: Int)
      case batterySlope(Int, within: Interval, slope: Int)
    }

    /// The limit that refuses.
    public var limit: Limit
    /// When this limit no longer refuses; ``Basics/Instant/never`` if time alone does not help.
    public var until: Instant

    public var description: String {
      switch limit {
      case .gap(let gap): "the motor rests \(gap) after each movement"
      case .coolDown(let time): "the motor rests \(time) after a jam"
      case .hour(let used, let budget):
        "\(used) movements were made in the last hour; the limit is \(budget), including one for parking"
      case .shift(let used, let budget):
        "\(used) movements were made in the last twelve hours; the limit is \(budget), including one for parking"
      case .batteryFloor(let percent, let floor):
        "the battery is at \(percent) %, and below \(floor) % the lock is left alone"
      case .batterySlope(let lost, let time, let slope):
        "the battery lost \(lost) % in \(Self.minutes(time)) min, and with more than \(slope) % an hour the lock is left "
          + "alone"
      }
    }

    private static func minutes(_ time: Interval) -> Int64 { time.nanoseconds / 60_000_000_000 }
  }

  /// Why a movement or a case is refused now; `nil` if it is allowed. Of several reasons it returns the one that
  /// lasts longest.
  ///
  /// - Parameter cost: the number of movements that it needs.
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

  /// Until when movements must wait for a budget; `nil` if they fit now.
  private func wait(for cost: Int, of budget: Int, in window: Interval, at now: Instant) -> Instant? {
    let first = firstIndex(after: now - window)
    let excess = movements.count - first + awaited + cost - budget
    guard excess > 0 else { return nil }
    // A cost that exceeds even an empty window never fits.
    guard first + excess <= movements.count else { return .never }
    return movements[first + excess - 1] + window
  }

  /// Why the latest battery reading stops everything except parking; `nil` if it does not.
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

  /// The battery's discharge rate in percent per hour, from the readings within ``slopeWindow``; `nil` with fewer
  /// than two readings. A period shorter than an hour counts as an hour.
  public var batterySlope: Double? {
    guard let (lost, time) = batteryLoss, time > .zero else { return nil }
    return Double(max(lost, 0)) * Self.hour.seconds / max(time, Self.hour).seconds
  }

  /// The loss in percent up to the last reading, and its duration.
  private var batteryLoss: (percent: Int, time: Interval)? {
    guard let last = readings.last,
      let first = readings.first(where: { $0.time >= last.time - Self.slopeWindow })
    else { return nil }
    // A battery sags under load: the best recent reading counts.
    let best = readings.lazy.filter { $0.time >= last.time - Self.sagTime }.map(\.percent).max()
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

// MARK: - Stored events

extension ActuationBudget {
  /// Restores a budget from a lock's stored events, in their order.
  ///
  /// - Parameters:
  ///   - events: all that are recent enough to count, and before those the latest of each kind that is no movement.
  ///   - now: the current time.
  public init(_ events: [LockEvent], at now: BenchTime) {
    self.init()
    let now = events.reduce(now) { $0.held(to: $1.time) }
    var latest = Instant(nanoseconds: .min)
    for event in events {
      // No event is older than its predecessor.
      latest = max(latest, event.time.place(at: now))
      guard event.isMovement else {
        take(event, at: latest)
        continue
      }
      let begin = min(latest + Self.lateness, now.uptime)
      // An autonomous movement that was never seen is assumed to be over after this time.
      if begin > now.uptime - Self.shift { take(event, at: begin) } else { move(at: begin) }
    }
  }
}
