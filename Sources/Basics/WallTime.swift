/// A moment of calendar time in UTC, to the nanosecond, for people and other programs.
///
/// Its text is `2026-11-21T03:40:00.123Z`, to the millisecond. People and time servers set the calendar clock, so
/// durations are measured by another clock if possible; see ``BenchTime``.
public struct WallTime: Hashable, Comparable, Sendable {
  /// The nanoseconds since 1970 in UTC.
  public var nanoseconds: Int64

  /// Makes a moment from the nanoseconds since 1970 in UTC.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The whole seconds since 1970 in UTC.
  public var unixTime: Int64 { nanoseconds / 1_000_000_000 }

  /// Returns whether the first moment comes before the second.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Returns the time from the second moment to the first.
  public static func - (left: WallTime, right: WallTime) -> Interval {
    Interval(nanoseconds: left.nanoseconds) - Interval(nanoseconds: right.nanoseconds)
  }

  /// Returns the moment that is later by an interval.
  public static func + (left: WallTime, right: Interval) -> WallTime {
    WallTime(nanoseconds: (Interval(nanoseconds: left.nanoseconds) + right).nanoseconds)
  }
}

extension WallTime: CustomStringConvertible {
  /// Reads a text such as `2026-11-21T03:40:00.123Z`, with or without a fraction; returns `nil` for any other text.
  public init?(text: some StringProtocol) {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = Day(text: parts[0]), parts[1].last == "Z" else { return nil }
    let halves = parts[1].dropLast().split(separator: ".", omittingEmptySubsequences: false)
    let clock = halves[0].split(separator: ":", omittingEmptySubsequences: false)
    guard (1...2).contains(halves.count), clock.map(\.utf8.count) == [2, 2, 2],
      let hour = Self.number(clock[0], below: 24), let minute = Self.number(clock[1], below: 60),
      let second = Self.number(clock[2], below: 61)
    else { return nil }
    var fraction: Int64 = 0
    if halves.count == 2 {
      let digits = halves[1]
      guard (1...9).contains(digits.utf8.count), let number = Self.number(digits, below: .max) else {
        return nil
      }
      fraction = (digits.utf8.count..<9).reduce(number) { value, _ in value * 10 }
    }
    let seconds = day.unixTime + hour * 3600 + minute * 60 + second
    // The range covers every year to which a clock was ever set.
    guard seconds.magnitude < 9_000_000_000 else { return nil }
    nanoseconds = seconds * 1_000_000_000 + fraction
  }

  private static func number(_ text: some StringProtocol, below limit: Int64) -> Int64? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int64(text).flatMap { $0 < limit ? $0 : nil }
  }

  /// The text that ``init(text:)`` reads, to the millisecond.
  public var description: String {
    let second = max(0, unixTime)
    let clock = [second / 3600 % 24, second / 60 % 60, second % 60].map { $0.padded(to: 2) }
    return "\(Day(unixTime: second))T" + clock.joined(separator: ":") + "."
      + (max(0, nanoseconds) / 1_000_000 % 1000).padded(to: 3) + "Z"
  }

  /// The time of day alone: `03:40:00 UTC`.
  public var timeOfDay: String { String(description.dropFirst(11).prefix(8)) + " UTC" }
}

extension Day {
  /// The seconds from 1970 to the beginning of the day, in UTC.
  var unixTime: Int64 {
    // A year that begins in March ends with the leap day.
    let shifted = Int64(month > 2 ? year : year - 1)
    let monthsSinceMarch = Int64((month + 9) % 12)
    let dayOfYear = (153 * monthsSinceMarch + 2) / 5 + Int64(day) - 1
    let dayOfEra = shifted % 400 * 365 + shifted % 400 / 4 - shifted % 400 / 100 + dayOfYear
    return (shifted / 400 * 146_097 + dayOfEra - 719_468) * 86_400
  }
}
