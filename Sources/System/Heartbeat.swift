public import Basics
import Glibc
import Synchronization

/// Whether the part of this process that drives a radio still makes progress.
///
/// A caller that waits for a transport states its deadline, so that a driver call that does not return can be
/// distinguished from a long wait for a silent lock.
public enum Heartbeat {
  /// How much later than it was to happen something may happen, before it counts as stuck.
  public static let tolerance = Interval.seconds(2)

  private static let expected = Atomic<Int64>(.max)

  /// Says that something happens by a moment of ``Waiting/now``, if only that the waiting is over.
  public static func expect(by moment: Instant) {
    expected.store(moment.nanoseconds, ordering: .relaxed)
  }

  /// Says that the radio is done with: from now on nothing is expected.
  public static func end() { expect(by: .never) }

  /// Whether it does not get on. What has not used a transport yet does.
  public static var isStuck: Bool {
    let moment = Instant(nanoseconds: expected.load(ordering: .relaxed))
    return moment != .never && Waiting.now > moment + tolerance
  }
}

/// Waits, and does nothing else.
public func rest(for interval: Interval) {
  var none: [pollfd] = []
  _ = Kernel.poll(&none, for: interval.nanoseconds)
}
