import Basics

/// The clock of an emulated lock, which may drift.
struct LockClock: Equatable, Sendable {
  /// Unix time in nanoseconds from which the drift is counted.
  private var reference: Int64
  /// When the clock showed the reference.
  private var since: Instant
  /// The drift in millionths; positive if the clock runs fast.
  private let drift: Int64

  /// Starts a clock that shows a Unix time, in seconds, at a moment.
  init(unix: UInt32, at now: Instant = .zero, drift: Int) {
    reference = Int64(unix) * 1_000_000_000
    since = now
    self.drift = Int64(drift)
  }

  /// The time shown, in Unix nanoseconds.
  private func nanoseconds(at now: Instant) -> Int64 {
    let elapsed = (now - since).nanoseconds
    return reference &+ elapsed &+ elapsed / 1_000_000 &* drift
  }

  /// The time shown, in Unix seconds; wraps at 32 bits.
  func seconds(at now: Instant) -> UInt32 {
    UInt32(truncatingIfNeeded: nanoseconds(at: now) / 1_000_000_000)
  }

  /// The time shown, in Unix milliseconds.
  func milliseconds(at now: Instant) -> UInt64 {
    UInt64(truncatingIfNeeded: nanoseconds(at: now) / 1_000_000)
  }

  /// Sets the clock.
  mutating func set(unix: UInt32, at now: Instant) {
    reference = Int64(unix) * 1_000_000_000
    since = now
  }

  /// Sets the clock forward, or back by a negative interval.
  mutating func shift(by interval: Interval, at now: Instant) {
    reference = nanoseconds(at: now) &+ interval.nanoseconds
    since = now
  }
}
