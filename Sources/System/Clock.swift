import CShims
import Glibc
public import Basics

/// The clock that advances steadily, regardless of changes to the time of day.
public enum MonotonicClock {
  /// The time since a fixed moment in the past.
  public static var now: Interval { Interval(nanoseconds: lockstep_clock(CLOCK_MONOTONIC)) }
}

/// The time of day, for display and for other programs. It is never used for measurements.
public enum WallClock {
  /// The seconds since 1970 in UTC, as in locks.
  public static var unixTime: UInt32 { UInt32(clamping: time.unixTime) }

  /// The microseconds since 1970 in UTC, as in captures except for their epoch.
  public static var microseconds: UInt64 { UInt64(time.nanoseconds / 1000) }

  /// The time of day in UTC.
  public static var time: WallTime { WallTime(nanoseconds: lockstep_clock(CLOCK_REALTIME)) }

  /// The time of day in UTC, to the millisecond: `2026-11-21T00:50:17.042Z`.
  public static var now: String { time.description }
}

/// The clocks of this machine, for data that outlive a process.
public enum BenchClock {
  /// The time by the calendar, and since the start of the machine.
  public static var now: BenchTime {
    BenchTime(
      wall: WallClock.time, boot: boot, uptime: Instant(nanoseconds: lockstep_clock(CLOCK_BOOTTIME)))
  }

  /// If the kernel has no identifier of the machine's start, each process uses a unique one.
  private static let boot: String = {
    let text = smallFile("/proc/sys/kernel/random/boot_id") ?? ""
    let word = text.prefix { $0 != "-" }
    return word.isEmpty ? SystemEntropy().next().hex(digits: 1) : String(word)
  }()
}

/// The random number generator of the operating system: for keys, tokens and nonces of real locks, and for
/// seeds.
public struct SystemEntropy: RandomNumberGenerator, Sendable {
  /// Makes a source; all sources are equal.
  public init() {}

  /// Eight random bytes as a number.
  public func next() -> UInt64 {
    bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Random bytes.
  public func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var start = 0
    while start < count {
      // The system returns at most 256 bytes at a time.
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
