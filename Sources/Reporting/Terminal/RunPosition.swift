public import System
public import Journal
public import Basics

/// Where a run is, and how it goes so far.
public struct RunPosition {
  /// A case that is being driven.
  public struct Current {
    /// Its number among those that are driven.
    var place: Int
    var file: String
    var begin: Interval
    /// The number of the step that is being done.
    var step = 0
    /// How often it was said to be slow.
    var notices: Int64 = 0
  }

  /// How many cases there are; `nil` where that is not known before.
  public var total: Int?
  /// When it began, on the clock that only counts on.
  public var begin: Interval
  /// What came of the cases so far.
  public private(set) var tally = Tally()
  /// What came of the tries of the case that is being written down.
  private var attempts = CaseAttempts()
  /// Whether a case that agreed only at a later try counts as failed.
  private var failsFlaky = false
  public var done: Int { tally.cases }
  /// What is being driven, in the order in which it began.
  public private(set) var running: [Current] = []
  /// Whether it was asked to end.
  public var isStopping = false

  /// A run that begins.
  init(total: Int?, begin: Interval) { (self.total, self.begin) = (total, begin) }
}

extension RunPosition {
  /// Takes in what is written down.
  public mutating func take(_ record: Record) {
    switch record {
    case .run(let run): failsFlaky = run.failsFlaky
    case .verdict(let verdict):
      attempts.end(verdict.attemptEnding, isTriedAgain: verdict.isTriedAgain)
      if verdict.isTriedAgain { return attempts.beginAgain() }
      tally.count(attempts.ending(failsFlaky: failsFlaky))
      attempts = CaseAttempts()
    default: break
    }
  }

  /// Sees what happens in a case, and when.
  public mutating func see(_ record: Record, of place: Int, at now: Interval) {
    let index = running.firstIndex { $0.place == place }
    switch record {
    case .begin(let test):
      if let index { running.remove(at: index) }
      running.append(Current(place: place, file: test.place, begin: now))
    case .event(let event):
      if let index, let step = event.step { running[index].step = step }
    case .verdict:
      if let index { running.remove(at: index) }
    default: break
    }
  }

  /// Which of the running cases are slow, each time that one has taken as long once more.
  public mutating func notices(at now: Interval, after limit: Interval) -> [String] {
    running.indices.compactMap { index in
      let times = (now - running[index].begin).nanoseconds / limit.nanoseconds
      guard times > running[index].notices else { return nil }
      running[index].notices = times
      let current = running[index]
      let period = Interval(nanoseconds: limit.nanoseconds * times)
      return "SLOW [> \(period)]  \(current.file), at step \(current.step)"
    }
  }

  /// How many go on beside the one that is named.
  private var more: String { running.count > 1 ? "  +\(running.count - 1)" : "" }

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
    if let current = running.first {
      parts.append("now \(current.file), step \(current.step), \(clock(now - current.begin))\(more)")
    }
    return parts.joined(separator: "  ")
  }

  /// All there is to say to somebody who asks.
  public func answer(at now: Interval) -> String {
    var text = "lockstep: "
    if !running.isEmpty {
      text += "case \(done + 1)" + (total.map { " of \($0)" } ?? "") + ", "
      text += running.map { "\($0.file), at step \($0.step), for \(clock(now - $0.begin))" }
        .joined(separator: "; beside it ")
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
    if let current = running.first {
      parts.append("\(current.file)  step \(current.step)  \(clock(now - current.begin))\(more)")
    }
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
