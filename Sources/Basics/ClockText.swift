/// A time as a person reads it on a clock, rounded to what is shown: `1:02:03`, or `2.5 s` where it is short.
public func clock(_ time: Interval) -> String {
  /// Rounded half up.
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

/// So many of something, in the singular where it is one.
public func counted(_ count: Int, _ one: String, _ several: String? = nil) -> String {
  "\(grouped(count)) \(count == 1 ? one : several ?? one + "s")"
}
