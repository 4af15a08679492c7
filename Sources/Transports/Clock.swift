import Glibc
public import Simulation

/// The clock that only ever counts on, whatever happens to the time of day.
public enum MonotonicClock {
  /// The time since some fixed moment in the past.
  public static var now: Interval {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(Int64(time.tv_sec)) + Interval(nanoseconds: Int64(time.tv_nsec))
  }
}

/// The time of day, for what people and other programs read. Nothing is measured by it.
public enum WallClock {
  /// The seconds since 1970 in UTC, as locks count them.
  public static var unixTime: UInt32 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UInt32(clamping: time.tv_sec)
  }

  /// The microseconds since 1970 in UTC, as captures count them, but for their own epoch.
  public static var microseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }

  /// The time of day in UTC, to the millisecond: `2026-11-21T00:50:17.042Z`.
  public static var now: String {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    var parts = unsafe tm()
    unsafe gmtime_r(&time.tv_sec, &parts)
    let date = unsafe [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
    let clock = unsafe [(parts.tm_hour, 2), (parts.tm_min, 2), (parts.tm_sec, 2)]
    return date.map(padded).joined(separator: "-") + "T" + clock.map(padded).joined(separator: ":") + "."
      + padded(Int32(time.tv_nsec / 1_000_000), 3) + "Z"
  }

  private static func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// Randomness of the operating system: for keys, tokens and nonces of real locks, and for drawing seeds.
public struct SystemEntropy: RandomNumberGenerator, Sendable {
  /// Makes a source; they are all the same one.
  public init() {}

  /// Eight random bytes as a number.
  public func next() -> UInt64 {
    bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// As many random bytes as are asked for.
  public func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var start = 0
    while start < count {
      // The system gives at most 256 bytes at a time.
      let end = min(start + 256, count)
      let status = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe getentropy(buffer.baseAddress! + start, end - start)
      }
      precondition(status == 0, "the operating system has no randomness")
      start = end
    }
    return bytes
  }
}
