public import Basics
import Glibc
import Synchronization

/// Whether the part of this process that drives a radio still makes progress.
///
/// A caller that waits for a transport states its deadline, so that a driver call that does not return can be
/// distinguished from a long wait for a silent lock.
public enum Heartbeat {
  /// How much later than its deadline an operation may end before it counts as stuck.
  public static let tolerance = Interval.seconds(2)

  private static let expected = Atomic<Int64>(.max)

  /// Announces that the current operation ends by a moment of ``Waiting/now``, even if only by its timeout.
  public static func expect(by moment: Instant) {
    expected.store(moment.nanoseconds, ordering: .relaxed)
  }

  /// Announces that the radio is no longer used: nothing is expected from now on.
  public static func end() { expect(by: .never) }

  /// Whether an operation is stuck; false before the first use of a transport.
  public static var isStuck: Bool {
    let moment = Instant(nanoseconds: expected.load(ordering: .relaxed))
    return moment != .never && Waiting.now > moment + tolerance
  }
}

/// Sleeps.
public func rest(for interval: Interval) {
  var none: [pollfd] = []
  _ = Kernel.poll(&none, for: interval.nanoseconds)
}
