import CShims
import Glibc
public import Basics

/// The clock that only ever counts on, whatever happens to the time of day.
public enum MonotonicClock {
  /// The time since some fixed moment in the past.
  public static var now: Interval { Interval(nanoseconds: lockstep_clock(CLOCK_MONOTONIC)) }
}

/// The time of day, for what people and other programs read. Nothing is measured by it.
public enum WallClock {
  /// The seconds since 1970 in UTC, as locks count them.
  public static var unixTime: UInt32 { UInt32(clamping: time.unixTime) }

  /// The microseconds since 1970 in UTC, as captures count them, but for their own epoch.
  public static var microseconds: UInt64 { UInt64(time.nanoseconds / 1000) }

  /// The time of day in UTC.
  public static var time: WallTime { WallTime(nanoseconds: lockstep_clock(CLOCK_REALTIME)) }

  /// The time of day in UTC, to the millisecond: `2026-11-21T00:50:17.042Z`.
  public static var now: String { time.description }
}

/// The clocks of this machine, for what outlives a process.
public enum BenchClock {
  /// The time by the calendar and since the machine was started.
  public static var now: BenchTime {
    BenchTime(
      wall: WallClock.time, boot: boot, uptime: Instant(nanoseconds: lockstep_clock(CLOCK_BOOTTIME)))
  }

  /// Where the kernel does not tell its starts apart, no two processes take theirs for the same.
  private static let boot: String = {
    let text = smallFile("/proc/sys/kernel/random/boot_id") ?? ""
    let word = text.prefix { $0 != "-" }
    return word.isEmpty ? SystemEntropy().next().hex(digits: 1) : String(word)
  }()
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
