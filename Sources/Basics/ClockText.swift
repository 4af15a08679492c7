/// Returns a time as on a clock, rounded to the digits shown: `1:02:03`, or `2.5 s` for a short time.
public func clock(_ time: Interval) -> String {
  /// Returns the number of units, rounded half up.
  func count(of unit: Int64) -> Int64 {
    time.nanoseconds / unit + (time.nanoseconds % unit * 2 >= unit ? 1 : 0)
  }
  let tenths = count(of: 100_000_000)
  if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
  let seconds = count(of: 1_000_000_000)
  let tail = (seconds % 60).padded(to: 2)
  return seconds < 3600
    ? "\(seconds / 60):\(tail)" : "\(seconds / 3600):\((seconds / 60 % 60).padded(to: 2)):\(tail)"
}

/// Returns a count with its noun, in the singular for one.
public func counted(_ count: Int, _ one: String, _ several: String? = nil) -> String {
  "\(grouped(count)) \(count == 1 ? one : several ?? one + "s")"
}
