import Basics

/// A bolt with its motor, an obstacle that may block it, and a hand that may turn it.
///
/// Times are those of a quarter turn: the motor takes the same time from one position to the other whatever
/// their angles, proportionally less for a part of the distance, and never more. An obstacle stands halfway
/// between the positions; a bolt that is already past it cannot move on at all. A blocked motor pushes for a
/// while and gives up. The hand is stronger than the motor and the obstacle, and takes no time.
///
///     resting ──drive──▶ running ──entered──▶ running ──rested──▶ resting
///                          │ obstacle
///                          └──── gives up ──stalled──▶ resting, stalled
///
/// It does no I/O and reads no clock; after each call, ``nextEvent`` says when ``advance(to:)`` is due.
struct Bolt: Equatable, Sendable {
  /// The goal of the motor.
  enum Goal: Equatable, Sendable {
    case locked
    case unlocked
    /// Halfway, as if an obstacle stood there: only a defect drives a bolt there.
    case between
  }

  /// An event of a running bolt.
  enum Event: Equatable, Sendable {
    /// It came into the range of its goal, and continues to the position.
    case entered
    /// It reached its position.
    case rested
    /// The motor gave up.
    case stalled
  }

  /// One run of the motor, in a straight line from one angle to another.
  private struct Run: Equatable, Sendable {
    var goal: Goal
    var from: BoltAngle
    var to: BoltAngle
    var start: Instant
    var end: Instant
    /// When the range of the goal begins, if it is still ahead.
    var entry: Instant?
    var isBlocked: Bool
  }

  private enum Motion: Equatable, Sendable {
    case resting(BoltAngle, isStalled: Bool)
    case running(Run)
  }

  /// The positions; `nil` if they were never set.
  var positions: BoltPositions?
  /// How long the motor takes from one position to the other.
  let travelTime: Interval
  /// How long the motor pushes before it gives up.
  let patience: Interval
  /// By how much the motor misses its position; only a defect changes it.
  var aimError = BoltAngle(units: 0)
  /// Whether an obstacle blocks the bolt.
  private(set) var isJammed = false

  private var motion: Motion

  /// Makes a bolt at rest.
  init(at angle: BoltAngle, positions: BoltPositions?, travelTime: Interval, patience: Interval) {
    self.positions = positions
    self.travelTime = travelTime
    self.patience = patience
    motion = .resting(angle, isStalled: false)
  }
}

extension Bolt {
  /// Whether the motor runs.
  var isRunning: Bool {
    if case .running = motion { true } else { false }
  }

  /// Whether the motor gave up, and nothing has moved the bolt since.
  var isStalled: Bool {
    if case .resting(_, true) = motion { true } else { false }
  }

  /// The target angle of a running motor.
  var target: BoltAngle? {
    guard case .running(let run) = motion, let positions else { return nil }
    return aim(run.goal, positions)
  }

  /// The goal of a running motor.
  var goal: Goal? {
    if case .running(let run) = motion { run.goal } else { nil }
  }

  /// Whether the motor turns towards greater angles.
  var isClockwise: Bool {
    if case .running(let run) = motion { run.to > run.from } else { false }
  }

  /// The angle of the bolt.
  func angle(at now: Instant) -> BoltAngle {
    switch motion {
    case .resting(let angle, _): return angle
    case .running(let run):
      let length = (run.end - run.start).nanoseconds
      guard now < run.end, length > 0 else { return run.to }
      let elapsed = max(now - run.start, .zero).nanoseconds
      let travelled = Int64(run.to.units - run.from.units) * elapsed / length
      return BoltAngle(units: run.from.units + Int32(truncatingIfNeeded: travelled))
    }
  }

  /// Whether the bolt counts as locked.
  func isInLockRange(at now: Instant) -> Bool { positions?.lockRange.contains(angle(at: now)) ?? false }

  /// Whether the bolt counts as unlocked.
  func isInUnlockRange(at now: Instant) -> Bool { positions?.unlockRange.contains(angle(at: now)) ?? false }

  /// When the next event is due.
  var nextEvent: Instant? {
    guard case .running(let run) = motion else { return nil }
    return run.entry ?? (run.isBlocked ? run.end + patience : run.end)
  }
}

extension Bolt {
  /// Starts the motor, or reverses a running one.
  ///
  /// - Returns: whether it does anything: not if the positions were never set, if the bolt already rests in
  ///   the range of this goal only, or if the motor already runs to the goal.
  mutating func drive(to goal: Goal, at now: Instant) -> Bool {
    guard let positions else { return false }
    let current = angle(at: now)
    switch motion {
    case .resting(_, isStalled: false) where isOnlyInRange(of: goal, current, positions):
      return false
    case .running(let run) where run.goal == goal:
      return false
    case .resting, .running:
      motion = .running(run(from: current, to: goal, positions, at: now))
      return true
    }
  }

  /// Turns the bolt by hand. A running motor continues from the new position.
  mutating func turn(to angle: BoltAngle, at now: Instant) {
    if case .running(let old) = motion, let positions {
      motion = .running(run(from: angle, to: old.goal, positions, at: now))
    } else {
      motion = .resting(angle, isStalled: false)
    }
  }

  /// Adds or removes the obstacle.
  mutating func jam(_ isJammed: Bool, at now: Instant) {
    guard isJammed != self.isJammed else { return }
    let current = angle(at: now)
    self.isJammed = isJammed
    if case .running(let old) = motion, let positions {
      motion = .running(run(from: current, to: old.goal, positions, at: now))
    }
  }

  /// Cuts the motor's power: the bolt stays where it is.
  mutating func cutPower(at now: Instant) {
    if isRunning { motion = .resting(angle(at: now), isStalled: false) }
  }

  /// Lets time pass up to the next event, if it is due.
  mutating func advance(to now: Instant) -> Event? {
    guard case .running(var run) = motion, let due = nextEvent, due <= now else { return nil }
    if run.entry != nil {
      run.entry = nil
      motion = .running(run)
      return .entered
    }
    motion = .resting(run.to, isStalled: run.isBlocked)
    return run.isBlocked ? .stalled : .rested
  }
}

extension Bolt {
  private func run(from origin: BoltAngle, to goal: Goal, _ positions: BoltPositions, at now: Instant) -> Run
  {
    let aim = aim(goal, positions)
    let to = isJammed ? obstacle(from: origin, to: aim, positions) : aim
    var run = Run(
      goal: goal, from: origin, to: to, start: now, end: now + time(from: origin, to: to, positions),
      isBlocked: to != aim || goal == .between)
    if let range = range(of: goal, positions), !range.contains(origin), origin != to {
      let border = origin < range.lowerBound ? range.lowerBound : range.upperBound
      if min(origin, to) <= border, border <= max(origin, to) {
        run.entry =
          now
          + share(of: run.end - now, Int64(origin.distance(to: border).units), in: origin.distance(to: to))
      }
    }
    return run
  }

  private func aim(_ goal: Goal, _ positions: BoltPositions) -> BoltAngle {
    switch goal {
    case .locked: positions.lock + aimError
    case .unlocked: positions.unlock + aimError
    case .between: positions.between
    }
  }

  /// Whether an angle is in the range of a goal only: where two ranges overlap, the motor must still move.
  private func isOnlyInRange(of goal: Goal, _ angle: BoltAngle, _ positions: BoltPositions) -> Bool {
    switch goal {
    case .locked: positions.lockRange.contains(angle) && !positions.unlockRange.contains(angle)
    case .unlocked: positions.unlockRange.contains(angle) && !positions.lockRange.contains(angle)
    case .between: false
    }
  }

  private func range(of goal: Goal, _ positions: BoltPositions) -> ClosedRange<BoltAngle>? {
    switch goal {
    case .locked: positions.lockRange
    case .unlocked: positions.unlockRange
    case .between: nil
    }
  }

  private func obstacle(from origin: BoltAngle, to aim: BoltAngle, _ positions: BoltPositions) -> BoltAngle {
    let middle = positions.middle
    return min(origin, aim) < middle && middle < max(origin, aim) ? middle : origin
  }

  /// The time after which a part of a distance is covered, rounded up.
  private func share(of time: Interval, _ part: Int64, in whole: BoltAngle) -> Interval {
    let whole = Int64(whole.units)
    return Interval(nanoseconds: (time.nanoseconds * part + whole - 1) / whole)
  }

  private func time(from: BoltAngle, to: BoltAngle, _ positions: BoltPositions) -> Interval {
    let travel = Int64(positions.travel.units)
    let distance = min(Int64(from.distance(to: to).units), travel)
    return Interval(nanoseconds: travelTime.nanoseconds * distance / travel)
  }
}
