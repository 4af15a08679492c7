public import Basics

/// A line of an odometer, or of the notes beside it: `2026-11-21T03:40:00.123Z lock @3f2a9c01+12345.678`.
///
/// The last word, which older lines lack, tells the machine's start and the time since then.
public struct WearLine: Hashable, Sendable {
  /// When, by the calendar.
  public var wall: WallTime
  /// What, in words of its own.
  public var text: String
  /// In which start of the machine, and how long after it.
  public var boot: String?
  public var uptime: Instant

  /// Makes a line for what happens now.
  public init(_ text: String, at now: BenchTime) {
    wall = now.wall
    self.text = text
    boot = now.boot
    uptime = now.uptime
  }
}

extension WearLine: CustomStringConvertible {
  /// Reads a line; `nil` for one that was torn or never was one.
  public init?(text line: some StringProtocol) {
    var words = line.split(separator: " ").map { String($0) }
    guard words.count >= 2, let wall = WallTime(text: words.removeFirst()) else { return nil }
    self.wall = wall
    uptime = .zero
    if let mark = words.last, mark.hasPrefix("@") {
      let parts: [Substring] = mark.dropFirst().split(separator: "+", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, let uptime = Interval(text: parts[1] + "s"),
        uptime >= .zero
      else { return nil }
      boot = String(parts[0])
      self.uptime = .zero + uptime
      words.removeLast()
    }
    text = words.joined(separator: " ")
    if text.isEmpty { return nil }
  }

  /// The line without its end.
  public var description: String {
    "\(wall) \(text)" + (boot.map { " @\($0)+\(uptime.secondsText)" } ?? "")
  }

  /// Whether it is too old to count in any budget.
  public func isOver(at now: BenchTime) -> Bool { place(at: now) < now.uptime - WearLedger.night }

  /// When it was, on the scale of the time since the machine's start.
  ///
  /// What was written in this start is placed by the clock that nobody sets. What was written before it is as old as the
  /// calendar says and at least as old as the start: a calendar that was set back makes it younger, and so
  /// grants nothing. One that was set forward since the start is held to what it said before: ``Basics/BenchTime/held(to:)``.
  /// (That it was set forward across a start cannot be known.)
  public func place(at now: BenchTime) -> Instant {
    if boot == now.boot { return min(uptime, now.uptime) }
    let age = max(.zero, now.wall - wall)
    return min(now.uptime - age, boot == nil ? now.uptime : .zero)
  }
}

extension BenchTime {
  /// The same moment by the calendar as it was when a line was written in this start of the machine, if it was set forward
  /// since: what older lines tell has not become older by that.
  public func held(to line: WearLine) -> BenchTime {
    guard line.boot == boot, line.uptime <= uptime else { return self }
    var held = self
    held.wall = min(wall, line.wall + (uptime - line.uptime))
    return held
  }
}
