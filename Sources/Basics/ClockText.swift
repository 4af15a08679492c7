/// A time as a person reads it on a clock: `1:02:03`, or `2.5 s` where it is short.
public func clock(_ time: Interval) -> String {
  let seconds = time.nanoseconds / 1_000_000_000
  if seconds < 60 { return "\(seconds).\(time.nanoseconds / 100_000_000 % 10) s" }
  let tail = (seconds % 60).padded(to: 2)
  return seconds < 3600
    ? "\(seconds / 60):\(tail)" : "\(seconds / 3600):\((seconds / 60 % 60).padded(to: 2)):\(tail)"
}

/// So many of something, in the singular where it is one.
public func counted(_ count: Int, _ one: String, _ several: String? = nil) -> String {
  "\(grouped(count)) \(count == 1 ? one : several ?? one + "s")"
}
