import Glibc
public import Basics

/// The time scale of transports, and waiting for it or for any of several descriptors.
public enum Waiting {
  private static let start = MonotonicClock.now

  /// The monotonic clock, counted from its first use in this process: one scale for every transport.
  public static var now: Instant { .zero + (MonotonicClock.now - start) }

  /// Waits until one of the descriptors is ready or has failed, or until a moment.
  ///
  /// - Parameter descriptors: each with its events, `POLLIN` or `POLLOUT` of poll(2) or both.
  /// - Returns: whether one is ready. A signal ends the wait early, with none ready.
  @discardableResult
  public static func wait(
    for descriptors: [(descriptor: Int32, events: Int16)], until limit: Instant
  ) -> Bool {
    var polled = descriptors.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    let left = limit == .never ? -1 : max(0, (limit - now).nanoseconds)
    Heartbeat.expect(by: limit)
    defer { Heartbeat.expect(by: now) }
    return Kernel.poll(&polled, for: left) > 0
  }
}
