public import System
public import Journal
public import Basics

/// Where a run is, and how it goes so far.
public struct RunPosition {
  /// What is being driven.
  public struct Current {
    public var file: String
    public var begin: Interval
    /// The number of the step that is being done.
    public var step = 0
  }

  /// How many cases there are; `nil` where that is not known before.
  public var total: Int?
  /// When it began, on the clock that only counts on.
  public var begin: Interval
  /// What came of the cases so far, each of their tries.
  public private(set) var tally = Tally()
  public var done: Int { tally.cases }
  public var current: Current?
  /// Whether it was asked to end.
  public var isStopping = false
}

extension RunPosition {
  /// Takes in what happens, and when.
  public mutating func take(_ record: Record, at now: Interval) {
    switch record {
    case .begin(let test): current = Current(file: test.place, begin: now)
    case .event(let event): if let step = event.step { current?.step = step }
    case .verdict(let verdict):
      current = nil
      tally.count(verdict)
    default: break
    }
  }

  /// How long it will go on, by what it took so far; `nil` where nobody can say.
  public func left(at now: Interval) -> Interval? {
    guard let total, done > 0, total > done else { return nil }
    return Interval(nanoseconds: (now - begin).nanoseconds / Int64(done) * Int64(total - done))
  }

  /// `12/50`, or `12` where the total is not known.
  private var share: String { "\(done)" + (total.map { "/\($0)" } ?? "") }

  /// A line for a log.
  public func line(at now: Interval, _ paint: Painter) -> String {
    var parts = ["[\(share)]", clock(now - begin)]
    if done > 0 { parts.append(tally.counts(paint)) }
    if let left = left(at: now) { parts.append("\(clock(left)) left") }
    if let current {
      parts.append("now \(current.file), step \(current.step), \(clock(now - current.begin))")
    }
    return parts.joined(separator: "  ")
  }

  /// All there is to say to somebody who asks.
  public func answer(at now: Interval) -> String {
    var text = "lockstep: "
    if let current {
      text += "case \(done + 1)" + (total.map { " of \($0)" } ?? "")
      text += ", \(current.file), at step \(current.step), for \(clock(now - current.begin))"
    } else {
      text += "\(share) cases done, none is being driven"
    }
    let counts = tally.counts(Painter(isOn: false))
    return text
      + "; so far \(counts.isEmpty ? "none is judged" : counts); \(clock(now - begin)) since the start"
      + (isStopping ? "; it is stopping" : "")
  }

  /// A line for the bottom of a terminal, no wider than it.
  ///
  /// What is most worth knowing stands first; what does not fit is cut off at the end.
  public func bar(at now: Interval, columns: Int, _ paint: Painter) -> String {
    var parts = [share, clock(now - begin)]
    if let left = left(at: now) { parts.append("\(clock(left)) left") }
    if isStopping { parts.append("stopping") }
    let counts = tally.counts(Painter(isOn: false))
    if !counts.isEmpty { parts.append(counts) }
    if let current { parts.append("\(current.file)  step \(current.step)  \(clock(now - current.begin))") }
    let bar = drawing(width: columns >= 100 ? 24 : columns >= 60 ? 12 : 0)
    // The last column stays free: what a terminal does after it differs.
    let room = max(columns - 1 - bar.count, 0)
    let text = parts.joined(separator: "  ")
    let fitted = text.count > room ? text.prefix(max(room - 1, 0)) + (room > 0 ? "…" : "") : text[...]
    guard !counts.isEmpty, let range = fitted.firstRange(of: counts) else { return bar + fitted }
    return bar + fitted[..<range.lowerBound] + tally.counts(paint) + fitted[range.upperBound...]
  }

  private func drawing(width: Int) -> String {
    guard let total, total > 0, width > 0 else { return "" }
    let full = min(done * width / total, width)
    return "[" + String(repeating: "=", count: full) + spaces(width - full) + "] "
  }
}
