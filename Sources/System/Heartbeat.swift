public import Basics
import Glibc
import Synchronization

/// Whether the part of this process that drives a radio still gets on.
///
/// Whoever waits for a transport says until when, so that a call into a driver that does not come back is told from a long
/// wait for a lock that has nothing to say.
public enum Heartbeat {
  /// How much later than it was to happen something may happen, before it counts as stuck.
  public static let patience = Interval.seconds(2)

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
    return moment != .never && Waiting.now > moment + patience
  }
}

/// Waits, and does nothing else.
public func rest(for interval: Interval) {
  var none: [pollfd] = []
  _ = Kernel.poll(&none, for: interval.nanoseconds)
}
