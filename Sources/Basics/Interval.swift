/// A length of time, in whole nanoseconds.
///
/// Every duration in Lockstep is an interval: a bare number never represents time.
public struct Interval: Hashable, Comparable, AdditiveArithmetic, Sendable {
  /// The length in nanoseconds; negative lengths are allowed.
  public var nanoseconds: Int64

  /// Makes an interval from a number of nanoseconds.
  @inlinable
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The interval of length zero.
  @inlinable public static var zero: Interval { Interval(nanoseconds: 0) }

  /// The longest interval, for a wait without a limit.
  @inlinable public static var forever: Interval { Interval(nanoseconds: .max) }

  /// Makes an interval from a number of seconds.
  @inlinable
  public static func seconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1_000_000_000) }

  /// Makes an interval from a number of milliseconds.
  @inlinable
  public static func milliseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1_000_000) }

  /// Makes an interval from a number of microseconds.
  @inlinable
  public static func microseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1000) }

  /// The length in seconds, for display and for reports.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Returns whether the first interval is shorter; negative lengths come before zero.
  @inlinable
  public static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Returns the sum, saturated at the ends of the range: ``forever`` plus anything is ``forever``.
  @inlinable
  public static func + (left: Interval, right: Interval) -> Interval {
    Interval(nanoseconds: saturatingSum(left.nanoseconds, right.nanoseconds))
  }

  /// Returns the difference, saturated at the ends of the range.
  @inlinable
  public static func - (left: Interval, right: Interval) -> Interval {
    Interval(nanoseconds: saturatingDifference(left.nanoseconds, right.nanoseconds))
  }

  /// Returns a multiple of the interval, saturated at the ends of the range.
  @inlinable
  public static func * (left: Interval, count: Int64) -> Interval {
    let (product, overflow) = left.nanoseconds.multipliedReportingOverflow(by: count)
    guard overflow else { return Interval(nanoseconds: product) }
    return Interval(nanoseconds: (left.nanoseconds < 0) == (count < 0) ? .max : .min)
  }
}

extension Interval: CustomStringConvertible {
  /// The shortest exact text with a unit: `3 s`, `7.5 ms`, `2 min`; ``init(text:)`` reads it back.
  public var description: String {
    if self == .forever { return "forever" }
    let sign = nanoseconds < 0 ? "-" : ""
    let magnitude = nanoseconds.magnitude
    if magnitude == 0 { return "0 s" }
    for (unit, size) in [("h", 3_600_000_000_000), ("min", 60_000_000_000)] as [(String, UInt64)]
    where magnitude % size == 0 {
      return "\(sign)\(magnitude / size) \(unit)"
    }
    let (unit, size, digits): (String, UInt64, Int) =
      switch magnitude {
      case 1_000_000_000...: ("s", 1_000_000_000, 9)
      case 1_000_000...: ("ms", 1_000_000, 6)
      case 1000...: ("us", 1000, 3)
      default: ("ns", 1, 0)
      }
    return sign + decimal(magnitude, size: size, digits: digits) + " " + unit
  }

  /// Reads a text such as `3 s`, `7.5 ms`, `250us`, `2 min`, `1 h` or `forever`.
  ///
  /// The result is exact. It is `nil` for a text that is out of range or not a whole number of nanoseconds, and for
  /// any other text, including a bare number.
  public init?(text: some StringProtocol) {
    let trimmed = text.drop(while: { $0 == " " })
    if trimmed == "forever" {
      self = .forever
      return
    }
    let isNegative = trimmed.first == "-"
    let unsigned = trimmed.dropFirst(isNegative ? 1 : 0)
    let number = unsigned.prefix(while: { $0.isASCII && ($0.isNumber || $0 == ".") })
    let unit = unsigned.dropFirst(number.count).drop(while: { $0 == " " })
    guard let size = unitSize(String(unit)), let magnitude = exactProduct(String(number), size) else {
      return nil
    }
    let limit = Int64.max.magnitude + (isNegative ? 1 : 0)
    guard magnitude <= limit else { return nil }
    self.init(nanoseconds: Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude))
  }
}

/// Returns the number of nanoseconds in a unit, or `nil` if there is no such unit.
private func unitSize(_ unit: String) -> UInt64? {
  switch unit {
  case "ns": 1
  case "us", "µs": 1000
  case "ms": 1_000_000
  case "s": 1_000_000_000
  case "min": 60_000_000_000
  case "h": 3_600_000_000_000
  default: nil
  }
}

/// Returns a decimal number such as `7.5` times a size, or `nil` if the text is not a number or the product not
/// whole.
private func exactProduct(_ number: String, _ size: UInt64) -> UInt64? {
  let parts = number.split(separator: ".", omittingEmptySubsequences: false)
  guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
  var fraction = parts.count == 2 ? parts[1] : ""
  while fraction.last == "0" { fraction.removeLast() }
  guard fraction.count <= 18, let digits = UInt64(parts[0] + fraction) else { return nil }
  var scale: UInt64 = 1
  for _ in 0..<fraction.count { scale *= 10 }
  let product = digits.multipliedFullWidth(by: size)
  guard product.high < scale else { return nil }
  let (quotient, remainder) = scale.dividingFullWidth(product)
  return remainder == 0 ? quotient : nil
}

/// A moment, as nanoseconds since the start of a test case.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the start of the test case.
  public var nanoseconds: Int64

  /// Makes an instant from nanoseconds since the start of the test case.
  @inlinable
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The start of the test case.
  @inlinable public static var zero: Instant { Instant(nanoseconds: 0) }

  /// A moment that never comes.
  @inlinable public static var never: Instant { Instant(nanoseconds: .max) }

  /// Seconds since the start of the test case, for display and for reports.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Returns whether the first moment comes before the second.
  @inlinable
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Returns the moment that is later by an interval; ``never`` stays ``never``.
  @inlinable
  public static func + (left: Instant, right: Interval) -> Instant {
    Instant(nanoseconds: saturatingSum(left.nanoseconds, right.nanoseconds))
  }

  /// Returns the moment that is earlier by an interval; ``never`` stays ``never``.
  @inlinable
  public static func - (left: Instant, right: Interval) -> Instant {
    left == .never ? .never : Instant(nanoseconds: saturatingDifference(left.nanoseconds, right.nanoseconds))
  }

  /// Returns the time from the second moment to the first.
  @inlinable
  public static func - (left: Instant, right: Instant) -> Interval {
    Interval(nanoseconds: saturatingDifference(left.nanoseconds, right.nanoseconds))
  }
}

extension Instant: CustomStringConvertible {
  /// The seconds with at least three decimals, and with more only if needed: `10.113 s`.
  public var description: String {
    self == .never ? "never" : secondsText + " s"
  }

  /// The number of seconds alone, exact, with at least three decimals, as in journals and reports.
  public var secondsText: String {
    let sign = nanoseconds < 0 ? "-" : ""
    let text = decimal(nanoseconds.magnitude, size: 1_000_000_000, digits: 9)
    let decimals = text.split(separator: ".").dropFirst().first?.count ?? 0
    let padding = "000".dropFirst(decimals)
    return sign + text + (decimals == 0 ? "." : "") + padding
  }
}

extension Instant {
  /// The whole milliseconds, rounded half up, as in reports of many cases.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 >= 500_000 ? 1 : 0) }
}

/// Returns `value / size`, exactly and without trailing zeros.
private func decimal(_ value: UInt64, size: UInt64, digits: Int) -> String {
  let whole = String(value / size)
  let rest = value % size
  guard rest > 0 else { return whole }
  var fraction = rest.padded(to: digits)
  while fraction.last == "0" { fraction.removeLast() }
  return whole + "." + fraction
}

@inlinable
func saturatingSum(_ left: Int64, _ right: Int64) -> Int64 {
  if left == .max || right == .max { return .max }
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? (right > 0 ? .max : .min) : sum
}

@inlinable
func saturatingDifference(_ left: Int64, _ right: Int64) -> Int64 {
  if left == .max { return .max }
  let (difference, overflow) = left.subtractingReportingOverflow(right)
  return overflow ? (right < 0 ? .max : .min) : difference
}
